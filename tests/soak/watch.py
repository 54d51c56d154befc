"""What a process holds: memory that is its own, and descriptors."""
import os
import threading

from harness import proc


def anonymous_bytes(pid):
    """Memory that lies in no file: of the store's pages, which are mapped, a
    process would seem to own whatever no other one looks at just now."""
    with open("/proc/%d/smaps_rollup" % pid, encoding="latin-1") as file:
        for line in file:
            if line.startswith("Anonymous:"):
                return int(line.split()[1]) * 1024
    raise AssertionError("no Anonymous: in smaps_rollup")


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


class Memory(threading.Thread):
    """Samples every worker once a second."""

    def __init__(self, programs):
        super().__init__(daemon=True)
        self.programs = programs
        self.samples = {}       # pid -> bytes, one a second
        self.nseconds = 0
        self._end = threading.Event()

    def run(self):
        while not self._end.wait(1):
            self.sample()

    def sample(self):
        self.nseconds += 1
        for pid in sum(map(proc.running, self.programs), []):
            try:
                self.samples.setdefault(pid, []).append(anonymous_bytes(pid))
            except OSError:     # it has ended
                pass

    def finish(self):
        """With a last sample of workers that have nothing to do."""
        self._end.set()
        self.join()
        self.sample()

    def growth(self):
        """pid -> (the least of the first third, of the last), of those that
        were there all the time.  What lies above the least belongs to requests:
        an answer of 400 KB that nobody reads is held for ten seconds."""
        found = {}
        for pid, values in self.samples.items():
            third = len(values) // 3
            if third > 0 and len(values) >= self.nseconds - 2:
                found[pid] = min(values[:third]), min(values[-third:])
        return found
