"""The clock jumps, and processes stand still in the worst place: what has
expired is what the clock says, nothing is done twice, and nothing hangs."""
import os
import signal
import subprocess
import time

from harness import proc
from harness.case import OwnSiteCase, fresh_key
from harness.harm import DOWN, GONE, MADE, Harm, record
from harness.outside import Outside
from harness.servers import Workers
from harness.site import WORKER
from harness.world import AtGate, Clock

HOUR = 3600
DAY = 24 * HOUR
LONG = bool(os.environ.get("LONG"))
STUCK = "nobody has committed for IDEM_STORE_WAIT"
STILL = "a process stands still while it writes"


def stopped(pids):
    """Those that a SIGSTOP holds."""
    held = []
    for pid in pids:
        try:
            with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
                if file.read().rpartition(")")[2].split()[0] == "T":
                    held.append(pid)
        except OSError:     # it has ended
            pass
    return held


class ClockUnderLoad(Harm):
    module = "time"
    settings = {"IDEM_TTL": "3d"}   # what was kept a day ago is still there

    def test_it_jumps_while_clients_ask(self):
        """Forward a day, back, back a day, and to where it was: nobody dies,
        and what was done before is there."""
        clock = Clock(self.site)
        self.begin()
        before = self.server.workers()
        with self.loads[0] as load:
            load.until_done(10)
            for seconds in (DAY + 1, 0, -HOUR, -DAY - 1, 0):
                clock.set(seconds)
                load.until_done(10)
        load.check()
        self.assertReplay(self.post(self.task, self.key), self.first)
        self.assertEqual(self.server.workers(), before)
        self.assertEqual(self.said("(warning|error): "), [])
        record("time", [("the clock, a day forward and a day back",
                         MADE, "no line", "nothing", len(load.done),
                         load.ntries)])


class ClockAndRecords(AtGate, OwnSiteCase):
    """What expires is what is as old as it may get; what runs does not."""
    server_class = Workers

    def done(self, seconds_later):
        """A key is done, and the clock moves: the answer to its retry."""
        clock = Clock(self.site)
        self.start()
        key, self.tag = fresh_key(), self.fresh_tag()
        task = {"matn": "kun #" + self.tag}
        self.first = self.assertFirst(self.post(task, key))
        clock.set(seconds_later)
        self.again = self.post(task, key)
        return clock, task, key

    def replays(self, seconds_later):
        self.done(seconds_later)
        self.assertReplay(self.again, self.first)
        self.assertTasks(self.tag, 1)

    def test_a_day_back(self):
        self.replays(-DAY)

    def test_a_day_less_a_minute(self):
        self.replays(DAY - 60)

    def test_a_day_forward(self):
        """An expired key is a new key; and the new record is from a day that
        is not yet there, so it stays for that day and the one after."""
        clock, task, key = self.done(DAY + 5)
        self.assertFirst(self.again)
        self.assertTasks(self.tag, 2)
        for seconds in (0, DAY + 5):
            clock.set(seconds)
            self.assertReplay(self.post(task, key), self.again)
        clock.set(2 * DAY + 60)
        self.assertEqual(self.site.idem("sweep", "--json").returncode, 0)
        self.assertFirst(self.post(task, key))

    def test_what_runs_does_not_expire(self):
        clock = Clock(self.site)
        self.start()
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "kun #" + tag}
        pending = self.at_work(task, key)
        self.assertEqual(self.running(), 1)
        for seconds in (DAY + 5, 400 * DAY, -DAY):
            clock.set(seconds)
            self.assertProblem(self.post(task, key), 409,
                               "idempotentlik-jarayonda")
            swept = self.site.idem("sweep", "--json")
            self.assertIn(b'"expired":0', swept.stdout, swept)
            self.assertIn(b'"held":0', swept.stdout, swept)
        clock.set(0)
        self.gate.open()
        first = self.assertFirst(pending.answer())
        self.assertReplay(self.post(task, key), first)
        self.assertTasks(tag, 1)


class ClockAndUnknown(Outside):
    """An outcome that nobody knows waits for 30 days, not for one."""

    def test_it_is_held_for_thirty_days(self):
        clock = Clock(self.site)
        self.begin()
        key = fresh_key()
        self.die(key)
        self.server = None
        os.unlink(self.site.socket)
        self.begin()
        for days in (0, 1, 29, -1):
            clock.set(days * DAY)
            self.assertProblem(self.send(key).answer(), 409,
                               "idempotentlik-nomalum")
        clock.set(31 * DAY)
        swept = self.site.idem("sweep", "--json")
        self.assertIn(b'"unknown_expired":1', swept.stdout, swept)
        self.assertStatus(self.send(key).answer(), 201)
        self.assertEqual(self.count(), 2)


class Stopped(Harm):
    """The first write of a commit never comes: all who write wait for its
    process, the group's leader, the only writer or a sweep, and no longer
    than they are told to.  Replays and reads go on."""
    module = "time"
    hold_s = 30 if LONG else 4
    wait = "3s" if LONG else "1s"
    sweep = None

    def kill_at(self):
        """Whoever writes next is stopped."""
        self.order = self.site.path("run", "killat")
        with open(self.order + ".new", "w", encoding="ascii") as file:
            file.write("-1")
        os.rename(self.order + ".new", self.order)

    def stop_one(self):
        self.kill_at()
        self.held = proc.wait_until(lambda: stopped(self.server.workers()),
                                    "a stopped worker")
        self.began = time.monotonic()

    def prepare(self, **settings):
        self.site.write_settings(IDEM_STORE_WAIT=self.wait, **settings)
        self.site.preload.update({
            "LD_PRELOAD": ":".join(map(self.site.tool, (
                "tests/killat.so", "tests/world.so"))),
            "KILLAT": self.site.path("run", "killat")})
        self.begin()

    def stand_still(self):
        """Meanwhile a replay is there at once."""
        end = self.began + self.hold_s
        while time.monotonic() < end:
            began = time.monotonic()
            self.assertReplay(self.post(self.task, self.key), self.first)
            self.assertStatus(self.get("/vazifalar?soni=1"), 200)
            self.assertLess(time.monotonic() - began, 7 if LONG else 4)
            time.sleep(0.2)
        self.assertEqual(stopped(self.held), self.held)

    def go_on(self):
        self.stand_still()
        for pid in self.held:
            proc.send_signal(pid, signal.SIGCONT)

    def test_the_leader_of_a_group(self):
        self.prepare()
        self.harm("the leader of a group commit, stopped", self.stop_one,
                  (DOWN, GONE), STUCK + "|" + STILL, self.go_on)

    def test_a_writer_alone(self):
        """Where there is no flush to share."""
        self.prepare(IDEM_DURABILITY="none")
        self.harm("a writer without a group commit, stopped", self.stop_one,
                  (DOWN,), STUCK, self.go_on)
        self.assertIn(self.held[0], self.named())

    def test_a_writer_where_no_group_can_be(self):
        os.makedirs(os.path.join(self.site.store, "group.2"))
        for path in (self.site.store, self.site.store + "/group.2"):
            os.chmod(path, 0o700)
            os.chown(path, WORKER.pw_uid, WORKER.pw_gid)
        self.prepare()
        self.harm("a writer where no group commit can be, stopped",
                  self.stop_one, (DOWN,), STUCK, self.go_on)
        self.assertIn(self.held[0], self.named())

    def named(self):
        """The processes that the log names to be looked at."""
        return [int(line.split(": process ")[1].split()[0])
                for line in self.said(STUCK + ": process ")]

    def stop_sweep(self):
        """One outside the group: within it a worker may carry it out."""
        env = dict(self.site.worker_environment(), IDEM_DURABILITY="none",
                   KILLAT=self.site.path("run", "killsweep"))
        with open(env["KILLAT"], "w", encoding="ascii") as file:
            file.write("-1")
        os.chown(env["KILLAT"], WORKER.pw_uid, WORKER.pw_gid)
        self.sweep = subprocess.Popen(
            [self.site.tool("idem"), "sweep"], env=env,
            stdout=subprocess.DEVNULL, **self.site.as_worker())
        self.held = proc.wait_until(lambda: stopped([self.sweep.pid]),
                                    "a stopped sweep")
        self.began = time.monotonic()

    def end_sweep(self):
        self.stand_still()
        self.sweep.kill()
        self.sweep.wait()

    def test_a_sweep_outside_the_group(self):
        """It has one record to sweep, of the day before yesterday."""
        clock = Clock(self.site)
        self.prepare()
        clock.set(-2 * DAY)
        self.assertFirst(self.post(self.task, fresh_key()))
        clock.set(0)
        try:
            self.harm("idem sweep without the group commit, stopped",
                      self.stop_sweep, (DOWN, GONE), STUCK + "|" + STILL,
                      self.end_sweep)
        finally:
            if self.sweep is not None:
                self.sweep.kill()
                self.sweep.wait()
        self.assertIn(self.held[0], self.named())


class Reader(Harm):
    """A process begins to read and is stopped: no page that is freed can be
    used again."""
    module = "time"
    settings = {"IDEM_TTL": "1ms"}

    def test_it_never_ends(self):
        self.begin()
        self.settings_of_reader()
        reader = subprocess.Popen(
            [self.site.tool("tests/reader"), self.site.store],
            stdout=subprocess.PIPE, **self.site.as_worker())
        try:
            self.assertEqual(reader.stdout.readline(), b"reads\n")
            reader.send_signal(signal.SIGSTOP)
            self.with_reader(reader.pid)
        finally:
            reader.kill()
            reader.wait()
            reader.stdout.close()
        self.without_reader()

    def settings_of_reader(self):
        self.size = self.used()

    def used(self):
        run = self.site.idem("stats", "--json")
        return int(run.stdout.split(b'"used_bytes":')[1].split(b",")[0])

    def with_reader(self, pid):
        """More than a thousand commits later."""
        for n in range(1100):
            self.assertFirst(self.post({"matn": "o'sadi %d" % n},
                                       fresh_key()))
        grown = self.used()
        for command in ("sweep", "check", "stats"):
            run = self.site.idem(command)
            self.line = run.stderr.decode().strip()
            self.assertRegex(self.line, r"process %d has been reading the "
                             r"store for \d{4,} commits: .*: end it" % pid)
            self.assertEqual(run.returncode, 0, run)
        self.assertGreater(grown, self.size)
        self.grown = grown

    def without_reader(self):
        for command in ("sweep", "check"):
            run = self.site.idem(command)
            self.assertEqual((run.returncode, run.stderr), (0, b""))
        for n in range(20):
            self.assertFirst(self.post({"matn": "yana %d" % n}, fresh_key()))
        self.assertLess(self.used(), self.grown)
        record("time", [("a reader that never ends", MADE, self.line,
                         "nothing", 1120, 1120)])
