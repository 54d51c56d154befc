"""What tests/world.so makes of the world of workers and of the operator's
command: another time, and work that ends when the test says so."""
import contextlib
import os

from . import proc

AT_GATE = {"IDEM_TASK_DELAY_MS": "7777"}    # with world.c


def preload(site, **names):
    site.preload.update(LD_PRELOAD=site.tool("tests/world.so"), **names)


class Clock:
    """Moves the clock."""

    def __init__(self, site):
        self.path = site.path("run", "clock")
        preload(site, WORLD_CLOCK=self.path)
        self.set(0)

    def set(self, seconds):
        with open(self.path + ".new", "w", encoding="ascii") as file:
            file.write(str(seconds))
        os.rename(self.path + ".new", self.path)


class Gate:
    """Where the creation of a task waits (AT_GATE), after its claim."""

    def __init__(self, site):
        self.path = site.path("run", "gate")
        preload(site, WORLD_GATE=self.path)

    def close(self):
        with open(self.path, "w", encoding="ascii"):
            pass

    def open(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)

    def arrived(self):
        """The pids of those that ever came to it, in order."""
        try:
            with open(self.path + ".at", encoding="ascii") as file:
                return [int(line) for line in file.read().split()]
        except FileNotFoundError:
            return []


class AtGate:
    """With ServerCase: requests that are at work for as long as is wanted."""
    settings = AT_GATE

    @classmethod
    def furnish(cls, site):
        super().furnish(site)
        cls.gate = Gate(site)

    def at_work(self, task, key=None, fields=()):
        """A POST whose work has begun; it ends when the gate is opened."""
        self.addCleanup(self.gate.open)
        self.gate.close()
        before = len(self.gate.arrived())
        pending = self.send_post(task, key, fields)
        self.owner = proc.wait_until(lambda: self.gate.arrived()[before:],
                                     "the work to begin")[0]
        return pending

    def somebody_waits(self):
        """For the end of another one's request; the pids."""
        return proc.wait_until(
            lambda: [pid for pid in self.server.workers() if proc.waits(pid)],
            "a waiter")
