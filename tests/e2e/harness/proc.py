"""Processes: waiting for what happens, and looking at what runs."""
import os
import signal
import time

# How many times slower the programs are: make valgrind.
SLOW = int(os.environ.get("IDEM_SLOW", "1"))
SECONDS = 20 * SLOW


def wait_until(happened, what, seconds=SECONDS):
    """Wait for an event, looking every 5 ms; its value, once it is true."""
    end = time.monotonic() + seconds
    while True:
        value = happened()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("%s: not within %d s" % (what, seconds))
        time.sleep(0.005)


def alive(pid):
    """A zombie does no harm any more."""
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def minor_faults(pid):
    """Pages that the process had from the kernel so far, without a disk."""
    with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
        return int(file.read().rpartition(")")[2].split()[7])


def program_of(pid):
    """The path that the process runs; under `make valgrind` it stands among
    valgrind's options."""
    try:
        exe = os.readlink("/proc/%d/exe" % pid)
        if "/valgrind/" not in exe:
            return exe[:-len(" (deleted)")] if exe.endswith(
                " (deleted)") else exe
        with open("/proc/%d/cmdline" % pid, encoding="latin-1") as file:
            for word in file.read().split("\0"):
                if word.startswith("--xml-user-comment="):
                    return word.partition("=")[2]
    except OSError:
        pass
    return None


def runs(pid, program):
    """Does the process run this very path?"""
    return program_of(pid) == program


def running(*programs):
    """The pids of the processes that run these very paths, in order."""
    return sorted(int(name) for name in os.listdir("/proc")
                  if name.isdigit() and program_of(int(name)) in programs)


def parent_of(pid):
    """0: it has ended."""
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def children(pid):
    """The pids of its children."""
    with open("/proc/%d/task/%d/children" % (pid, pid),
              encoding="ascii") as file:
        return [int(text) for text in file.read().split()]


def send_signal(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def end(pids, seconds=SECONDS):
    """SIGKILL, and wait until they are gone."""
    for pid in pids:
        send_signal(pid, signal.SIGKILL)
    for pid in pids:
        wait_until(lambda: not alive(pid), "end of process %d" % pid, seconds)


def private_bytes(pid):
    """Memory that only this process holds."""
    with open("/proc/%d/smaps_rollup" % pid, encoding="latin-1") as file:
        return sum(int(line.split()[1]) * 1024 for line in file
                   if line.startswith("Private_"))


def locks(pid, ending):
    """How many locks the process holds on a file of that name; none when it
    has ended."""
    folder = "/proc/%d/fd" % pid
    n = 0
    try:
        fds = os.listdir(folder)
    except OSError:
        return 0
    for fd in fds:
        try:
            name = os.readlink(os.path.join(folder, fd))
            with open("/proc/%d/fdinfo/%s" % (pid, fd)) as file:
                if name.endswith(ending):
                    n += file.read().count("lock:")
        except OSError:
            pass
    return n


def polls(pid):
    """Has it an epoll instance?  A worker makes one when all else is open."""
    folder = "/proc/%d/fd" % pid
    try:
        return any(os.readlink(os.path.join(folder, fd)).endswith(
            "[eventpoll]") for fd in os.listdir(folder))
    except OSError:
        return False


def holds_claim(pid):
    """Does the process hold a byte of the file "workers"?  That is what a
    claim is, as long as it lives."""
    return locks(pid, "/workers") > 0


def waits(pid):
    """Does it wait for another one's request?  One byte of the file "waiting"
    is its seat as a worker, a second one that of a waiter."""
    return locks(pid, "/waiting") > 1


def describe(pid):
    """What can be seen of a process that should not be there."""
    text = "process %d:\n" % pid
    for name in ("status", "wchan", "syscall"):
        try:
            with open("/proc/%d/%s" % (pid, name), encoding="latin-1") as f:
                text += f.read().rstrip() + "\n"
        except OSError as err:
            text += "%s: %s\n" % (name, err)
    return text
