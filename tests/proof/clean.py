#!/usr/bin/env python3
"""Runs a proof so that nothing of it is left, however it ends: no process, no
mount, no temporary file, no shared memory.  It knows nothing of what is proved.

The proof is a child in a session of its own, so that Ctrl-C reaches only the
parent; that one becomes the father of every orphan, and so finds them all.

usage: clean.py NAME COMMAND...     a command instead of a function
"""
import ctypes
import mmap
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time

# Where temporary folders are made: the last is for suexec, which runs nothing
# elsewhere.
BASES = DISK, MEMORY, WEB = "/tmp", "/dev/shm", "/var/www"
NAME = "PROOF_SCRATCH"      # the environment: our folder below each of them
KEPT = "kept"               # a file: this folder is to be looked at
ENDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM",
        signal.SIGHUP: "ended by SIGHUP"}
PR_SET_CHILD_SUBREAPER = 36
KILL_SECONDS = 30


class Note:
    """What the child tells its parent: two lines, in memory that both see."""
    BYTES = 4096

    def __init__(self):
        self.map = mmap.mmap(-1, self.BYTES)
        self.lines = {"settings": "", "reached": ""}

    def write(self, **lines):
        self.lines.update(lines)
        text = "\n".join(self.lines.values()).encode()[:self.BYTES]
        self.map[:] = text.ljust(self.BYTES, b"\0")

    def read(self):
        text = self.map[:].rstrip(b"\0").decode(errors="replace")
        settings, _, reached = text.partition("\n")
        return settings, reached


NOTE = Note()


def begin(name, **settings):
    """The first line of a proof: with these it can be run once more."""
    text = " ".join("%s=%d" % pair for pair in settings.items())
    NOTE.write(settings=text)
    print("%s: %s" % (name, text), flush=True)


def reached(text):
    """How far the proof has come, for the line of one that is interrupted."""
    NOTE.write(reached=text)


def scratch(base=DISK):
    """The folder of this run where temporary files are made."""
    path = base
    for name in filter(None, os.environ.get(NAME, "").split("/")):
        path = os.path.join(path, name)
        if not os.path.isdir(path):
            os.makedirs(path, exist_ok=True)
            os.chmod(path, 0o1777)
    return path


def fresh_name():
    """Below that of the run that this one is a part of.  Short: the path of a
    unix socket ends at 107 bytes."""
    above = os.environ.get(NAME)
    return (os.path.join(above, secrets.token_hex(3)) if above
            else "idem-" + secrets.token_hex(4))


def memory():
    """The same in memory, where there is a file system in it."""
    return scratch(MEMORY if os.access(MEMORY, os.W_OK) else DISK)


def keep(folder):
    """It stays, for whoever wants to look at a fault."""
    with open(os.path.join(folder, KEPT), "w", encoding="ascii"):
        pass


# --- the parent --------------------------------------------------------------
def descendants():
    children = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="latin-1") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(pid))
    found = []
    todo = [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def shared_memory(pids):
    """What Apache would remove at its end, and nobody else."""
    found = set()
    for pid in pids:
        try:
            with open("/proc/%d/maps" % pid, encoding="latin-1") as file:
                found.update(re.findall(r" (/dev/shm/ShM\.\w+)$",
                                        file.read(), re.M))
        except OSError:
            pass
    return found


def reap():
    """{pid: how it ended} of the children that have; None: there are none."""
    ended = {}
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return ended
            ended[pid] = status
    except ChildProcessError:
        return ended or None


def end_all():
    """SIGKILL, until no descendant is left: some start others meanwhile."""
    segments = set()
    end = time.monotonic() + KILL_SECONDS
    while time.monotonic() < end:
        pids = descendants()
        segments |= shared_memory(pids)
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if reap() is None:
            break
        signal.sigtimedwait([signal.SIGCHLD], 0.05)
    for path in filter(os.path.exists, segments):
        os.unlink(path)


def mounts_below(folders):
    """The last one first."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        places = [line.split()[4] for line in file]
    return [place for place in reversed(places)
            if place.startswith(tuple(folder + "/" for folder in folders))]


def remove(name):
    folders = [os.path.join(base, name) for base in BASES]
    for place in mounts_below(folders):
        subprocess.run(["umount", place], check=False)
    for folder in filter(os.path.isdir, folders):
        for entry in os.listdir(folder):
            path = os.path.join(folder, entry)
            if os.path.isdir(path) and not os.path.islink(path):
                if not os.path.exists(os.path.join(path, KEPT)):
                    shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        try:
            os.rmdir(folder)
        except OSError:
            pass        # something in it is kept


def exit_status(code):
    """As a shell has it: 128 and its number where a signal ended it."""
    return code if code >= 0 else 128 - code


def watch(child, ends):
    """(the number of the signal that ends all, None), or (None, how the child
    ended)."""
    while True:
        number = signal.sigwait([signal.SIGCHLD] + ends)
        if number != signal.SIGCHLD:
            return number, None
        status = (reap() or {}).get(child)
        if status is not None:
            return None, exit_status(os.waitstatus_to_exitcode(status))


def say(name, number, seconds):
    settings, text = NOTE.read()
    print("%s: %s after %d s%s%s" % (
        name, ENDS[number], seconds, text and ": " + text,
        settings and " (%s)" % settings), flush=True)


def run(name, main):
    """Run main(), whose value is the exit status, in a child; the exit status
    here: the child's, or 128 and the number of the signal that ended all."""
    began = time.monotonic()
    # Whom a shell started deaf to Ctrl-C stays so.
    ends = [n for n in ENDS if signal.getsignal(n) != signal.SIG_IGN]
    sys.stdout.flush()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = signal.pthread_sigmask(signal.SIG_BLOCK,
                                    [signal.SIGCHLD] + ends)
    ours = fresh_name()
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.environ[NAME] = ours
        os.environ["TMPDIR"] = scratch()
        return main()
    number, status = watch(child, ends)
    end_all()
    remove(ours)
    if number is None:
        return status
    say(name, number, time.monotonic() - began)
    return 128 + number


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    name, command = sys.argv[1], sys.argv[2:]
    return run(name, lambda: exit_status(subprocess.call(command)))


if __name__ == "__main__":
    sys.exit(main())
