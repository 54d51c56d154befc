"""The allocator's front in another process: the file that its preloaded library
maps, and what was counted there (fault.h)."""
import mmap
import os
import struct

import proof

COUNT, ONE, FROM = 0, 1, 2
NAMES = ("none", "alone", "and all after it")
LAYOUT = struct.Struct("=IIQQQqII")


class Fault:
    def __init__(self, site):
        self.path = site.path("run", "fault")
        with open(self.path, "wb") as file:
            file.write(bytes(LAYOUT.size))
        os.chmod(self.path, 0o666)
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), LAYOUT.size)
        self.env = {"LD_PRELOAD": site.tool("tests/oom.so"),
                    "OOM_FILE": self.path}

    def arm(self, mode, n=0):
        trace = 1 if os.environ.get("OOM_TRACE") else 0
        self.map[:] = LAYOUT.pack(mode, 1, n, 0, 0, 0, trace, 0)

    def disarm(self):
        values = list(LAYOUT.unpack(self.map[:]))
        values[1] = 0
        self.map[:] = LAYOUT.pack(*values)

    @property
    def ncalls(self):
        return LAYOUT.unpack(self.map[:])[3]

    @property
    def nfailed(self):
        return LAYOUT.unpack(self.map[:])[4]


class Tally:
    """What was tried, and what of it went wrong."""

    def __init__(self, rounds, seed):
        self.rounds, self.seed = rounds, seed
        self.passed = self.failed = self.faults = self.absorbed = 0
        self.nscenarios = self.deaths = self.held = 0

    def picks(self, count):
        """Which allocations fail: all of them, or about as many as rounds."""
        step = 1 if not self.rounds else -(-count // self.rounds)
        return range(1 + self.seed % max(step, 1), count + 1, max(step, 1))

    def each(self, name, count, attempt):
        """Call attempt(mode, n) for each; it returns what is wrong, or None,
        and whether the failure was done without."""
        self.nscenarios += 1
        tries = absorbed = bad = 0
        for mode in (ONE, FROM):
            for n in self.picks(count):
                wrong, without, nfailed = attempt(mode, n)
                tries += 1
                absorbed += without
                self.faults += nfailed
                if wrong:
                    bad += 1
                    print("%s: allocation %d of %d fails (%s): %s" % (
                        name, n, count, NAMES[mode], wrong), flush=True)
        if count == 0:
            bad += 1
        self.passed += tries - bad
        self.failed += bad
        self.absorbed += absorbed
        proof.reached("{:,} failed allocations in programs".format(
            self.faults))
        print("  %-44s %4d allocations, %5d tries, %4d absorbed%s" % (
            name, count, tries, absorbed, "  FAILED" if bad else ""),
              flush=True)
