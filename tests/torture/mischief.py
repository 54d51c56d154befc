"""What is done to a yard while its clients are at work: workers killed, servers
and supervisors killed, reloaded and restarted, and the operator's commands run
beside it.  The seed fixes the order and the pauses, and which of those who are
there is taken."""
import collections
import glob
import json
import os
import shutil
import signal
import subprocess
import threading
import time

from harness import proc
from harness.load import kept
from harness.site import WORKER
from yards import record_id

PACE = (0.005, 0.060)       # seconds from one kill to the next
TROUBLE = (0.2, 1.2)        # from one thing done to a server to the next
LONG = 60                   # seconds; a command that takes longer is stuck


class Mischief:
    """A thread that goes on until it is told to stop."""

    def __init__(self, yard, rng, tally):
        self.yard, self.rng, self.tally = yard, rng, tally
        self.counts = collections.Counter()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()

    def stop(self):
        self._stop.set()
        self._thread.join(2 * LONG)
        if self._thread.is_alive():
            self.tally.wrong("%s does not end" % type(self).__name__)

    def pause(self, between):
        """False: it was told to stop."""
        return not self._stop.wait(self.rng.uniform(*between))

    def _run(self):
        try:
            self.run()
        except Exception as err:    # the round goes on and has failed
            self.tally.wrong("%s: %r" % (type(self).__name__, err))


class Killer(Mischief):
    """SIGKILL for one worker after the other."""

    def run(self):
        while self.pause(PACE):
            victims = self.yard.victims()
            pid = self.rng.choice(victims) if victims else None
            if pid and self.yard.is_victim(pid):
                proc.send_signal(pid, signal.SIGKILL)
                self.counts["kills of workers"] += 1

    @property
    def nkills(self):
        return self.counts["kills of workers"]


class Steps(Mischief):
    """Nobody is killed here: the workers do it themselves."""

    def __init__(self, yard, rng, tally):
        super().__init__(yard, rng, tally)
        self.before, self.nkills = yard.deaths(), 0

    def run(self):
        while self.pause((0.2, 0.2)):
            self.nkills = self.yard.deaths() - self.before
            self.counts["kills of workers"] = self.nkills

    def stop(self):
        super().stop()
        self.nkills = self.yard.deaths() - self.before
        self.counts["kills of workers"] = self.nkills


class Trouble(Mischief):
    """The servers and supervisors: one after the other."""

    def run(self):
        kinds = self.yard.troubles
        names, weights = zip(*kinds.items())
        while self.pause(TROUBLE):
            name = self.rng.choices(names, weights)[0]
            what = getattr(self.yard, name)(self.rng)
            if what:
                self.counts[what] += 1


class Beside(Mischief):
    """One of the operator's commands, again and again; one in six is killed
    in the middle."""
    between = (0.02, 0.3)
    args = ()

    def run(self):
        while self.pause(self.between):
            self.once(self.rng.random() < 1 / 6)

    def once(self, killed):
        done, out, err = self.command(
            self.args, self.rng.uniform(0, 0.03) if killed else None)
        if done == -signal.SIGKILL and killed:
            self.counts["kills of idem %s" % self.args[0]] += 1
        else:
            self.ended(done, out, err)

    def command(self, args, kill_after=None):
        """Its exit status and what it wrote."""
        home = self.yard.home
        child = subprocess.Popen(
            [home.tool("idem")] + list(args), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=home.worker_environment(), **home.as_worker())
        try:
            out, err = child.communicate(
                timeout=LONG if kill_after is None else kill_after)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            if kill_after is None:
                self.tally.wrong("idem %s is stuck" % args[0])
        return child.returncode, out, err

    def ended(self, status, out, err):
        self.counts["runs of idem %s" % self.args[0]] += 1
        self.tally.check(status == 0, "idem %s: %d, %r" % (
            " ".join(self.args), status, (out + err)[-600:]))


class Sweep(Beside):
    args = ("sweep", "--json")

    def ended(self, status, out, err):
        super().ended(status, out, err)
        if status == 0:
            figures = json.loads(out)
            self.counts["expired answers swept"] += figures["expired"]
            self.counts["orphans held by a sweep"] += figures["held"]


class Check(Beside):
    args = ("check",)


class Copy(Beside):
    """Each copy is opened and checked, and holds every answer that came before
    it began."""
    between = (0.1, 0.6)

    def __init__(self, yard, rng, tally, crowd):
        super().__init__(yard, rng, tally)
        self.crowd = crowd
        self.folder = os.path.join(yard.home.dir, "copies")
        self.place = os.path.join(self.folder, "copy")
        os.makedirs(self.folder, exist_ok=True)
        os.chown(self.folder, WORKER.pw_uid, WORKER.pw_gid)

    def once(self, killed):
        for path in glob.glob(os.path.join(self.folder, "*")) + self.parts():
            shutil.rmtree(path)
        acknowledged = list(self.crowd.intents)
        self.args = ("copy", self.place)
        super().once(killed)
        if os.path.isdir(self.place):
            self.look(acknowledged)
        if not killed:
            self.tally.check(not self.parts(), "idem copy left %s" %
                             self.parts())

    def parts(self):
        return glob.glob(os.path.join(self.folder, ".*"))

    def look(self, acknowledged):
        if self.of_copy("check") is None:
            return
        out = self.of_copy("list", "--max", "1000000", "--json")
        if out is None:
            return
        states = {row["id"]: row["state"]
                  for row in json.loads(out)["records"]}
        for intent in acknowledged:
            self.tally.check(states.get(record_id(intent.key)) ==
                       ("unknown" if intent.held else "done"),
                       "%s: not in the copy" % intent.key)
        finals = [i for i in acknowledged if not i.held]
        for intent in self.rng.sample(finals, min(3, len(finals))):
            answer = self.yard.ask_copy(self.place, intent)
            self.tally.check(answer.replayed and
                       kept(answer) == kept(intent.answer),
                       "%s: of the copy: %r" % (intent.key, answer))

    def of_copy(self, *args):
        status, out, err = self.command(args + ("--store", self.place))
        self.tally.check(status == 0, "idem %s of a copy: %d, %r" % (
            args[0], status, (out + err)[-600:]))
        return out if status == 0 else None


def all_of(yard, rngs, tally, crowd):
    """Everything that is done to this yard."""
    kinds = [Steps if hasattr(yard, "deaths") else Killer, Trouble, Sweep,
             Check]
    return [kind(yard, rngs(kind.__name__), tally) for kind in kinds] + [
        Copy(yard, rngs("Copy"), tally, crowd)]


def wait_for_kills(killer, n, seconds, stopped):
    """Until n are killed.  False: not within that time."""
    end = time.monotonic() + seconds
    while killer.nkills < n and time.monotonic() < end and not stopped():
        time.sleep(0.05)
    return killer.nkills >= n
