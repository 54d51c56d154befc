"""What a process holds: memory that is its own, and descriptors."""
import os
import threading

from harness import proc

TENTHS = 10


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
    """Samples every worker twice a second."""

    def __init__(self, programs):
        super().__init__(daemon=True)
        self.programs = programs
        self.samples = {}       # pid -> bytes
        self.nsamples = 0
        self._end = threading.Event()

    def run(self):
        while not self._end.wait(0.5):
            self.sample()

    def sample(self):
        self.nsamples += 1
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
        """pid -> (the least that it held in each tenth of the time), of those
        that were there all the time.  What lies above the least belongs to
        requests: an answer of 400 KB that nobody reads is held for ten
        seconds."""
        found = {}
        for pid, values in self.samples.items():
            n = len(values) // TENTHS
            if n > 0 and len(values) >= self.nsamples - 3:
                found[pid] = [min(values[i * n:(i + 1) * n])
                              for i in range(TENTHS - 1)] + [
                                  min(values[(TENTHS - 1) * n:])]
        return found


def steady(least):
    """What seven of the nine steps from tenth to tenth add at least."""
    return sorted(b - a for a, b in zip(least, least[1:]))[2]
