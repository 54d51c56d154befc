"""Processes and servers that end at the wrong moment: each key is worked for at
most once, and its retry is right."""
import os
import signal
import socket

from harness import proc
from harness.case import OwnSiteCase, fresh_key, on
from harness.load import Load
from harness.servers import (ApacheFcgid, ApacheProxy, Direct, Lighttpd,
                             Workers)
from harness.world import AtGate


def settled(case, task, key):
    """Send until the answer is final, as a client with retries does."""
    def once():
        try:
            answer = case.post(task, key)
        except OSError:
            return None
        return answer if answer.status < 409 else None
    return proc.wait_until(once, "a final answer for " + key, 60)


@on(Workers, Lighttpd, ApacheFcgid, ApacheProxy)
class KilledAtRandom:
    """kill -9 at any moment, under load."""

    def test_workers_killed_under_load(self):
        with Load(self) as load:
            for _ in range(8):
                load.until_done(4)
                for pid in self.server.workers()[:2]:
                    proc.send_signal(pid, signal.SIGKILL)
            load.until_done(10)
        load.check()

    def test_killed_before_it_began(self):
        """Workers stop before they read the request, then are killed."""
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "oldin #" + tag}
        self.assertTasks(tag, 0)    # mod_fcgid has a worker now
        workers = self.server.workers()
        for pid in workers:
            proc.send_signal(pid, signal.SIGSTOP)
        pending = self.send_post(task, key)
        proc.end(workers)
        try:
            answer = pending.answer()
        except OSError:
            answer = None
        # The server may have started a worker that did it after all.
        if answer is not None and answer.status != 201:
            self.assertGreaterEqual(answer.status, 500, answer)
        self.assertStatus(settled(self, task, key), 201)
        self.assertTasks(tag, 1)

    def test_killed_after_the_commit(self):
        """The answer is stored and lost with its worker."""
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "keyin #" + tag}
        pending = self.send_post(task, key)
        proc.wait_until(lambda: len(self.tasks(tag)) == 1, "the task")
        proc.end(self.server.workers())
        pending.leave()
        again = settled(self, task, key)
        self.assertStatus(again, 201)
        self.assertTrue(again.replayed, again)
        self.assertTasks(tag, 1)


@on(Workers, Lighttpd, ApacheFcgid, ApacheProxy)
class KilledWhileItWorks(AtGate):
    def test_the_retry_does_the_work(self):
        """The creation had not happened, so the retry runs it: 201, once."""
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "o'rtada #" + tag}
        pending = self.at_work(task, key)
        proc.end(self.server.workers())
        try:
            self.assertGreaterEqual(pending.answer().status, 500)
        except OSError:
            pass
        self.assertTasks(tag, 0)
        self.gate.open()
        first = settled(self, task, key)
        self.assertFirst(first)
        self.assertReplay(self.post(task, key), first)
        self.assertTasks(tag, 1)


@on(Workers, ApacheProxy)
class StoppedWhileItWorks(AtGate):
    def test_a_stopped_worker_keeps_its_key(self):
        """Slow is not dead: nobody takes the key from it, however long."""
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "to'xtadi #" + tag}
        pending = self.at_work(task, key)
        self.assertEqual([pid for pid in self.server.workers()
                          if proc.holds_claim(pid)], [self.owner])
        proc.send_signal(self.owner, signal.SIGSTOP)
        try:
            self.gate.open()    # it would go on now
            for _ in range(20):
                self.assertProblem(self.post(task, key), 409,
                                   "idempotentlik-jarayonda")
        finally:
            proc.send_signal(self.owner, signal.SIGCONT)
        first = self.assertFirst(pending.answer())
        self.assertReplay(self.post(task, key), first)
        self.assertTasks(tag, 1)


@on(Lighttpd, ApacheFcgid, ApacheProxy)
class Reload:
    """A server that is reloaded or stopped under load."""

    def test_reload_under_load(self):
        with Load(self) as load:
            for _ in range(3):
                load.until_done(10)
                self.server.signal(self.server.reload_signal)
            load.until_done(30)
        load.check()

    def test_stop_and_start_under_load(self):
        with Load(self) as load:
            load.until_done(10)
            self.server.stop()
            self.server.start()
            load.until_done(10)
        load.check()


@on(Lighttpd, ApacheFcgid, settings={"IDEM_TASK_DELAY_MS": "100"})
class ReloadWhileItWorks:
    def test_reload_under_load(self):
        with Load(self) as load:
            load.until_done(8)
            self.server.signal(self.server.reload_signal)
            load.until_done(12)
        load.check()

    def test_stop_and_start_under_load(self):
        with Load(self) as load:
            load.until_done(8)
            self.server.stop()
            self.server.start()
            load.until_done(8)
        load.check()


class Revived(Direct):
    """One worker on a socket that stays when it dies; the test starts the
    next one, without the pause of a supervisor."""

    def start(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.address)
        self.listener.listen(64)
        os.chmod(self.address, 0o666)
        self.revive()

    def revive(self):
        self.spawn([self.site.program], self.site.worker_environment(),
                   "workers.log", stdin=self.listener, cwd=self.site.dir,
                   **self.site.as_worker())

    def destroy(self):
        super().destroy()
        self.listener.close()


class KilledAtEveryStep(OwnSiteCase):
    """kill -9 before the 1st, 2nd, ... write or flush of a keyed POST: every
    boundary between nothing done and answer sent."""
    server_class = Revived
    settings = {}
    fewest = 4      # pages, flush, meta page, and the answer

    def setUp(self):
        super().setUp()
        self.order = self.site.path("run", "killat")
        self.site.preload = {
            "KILLAT": self.order,
            "LD_PRELOAD": self.site.tool("tests/killat.so")}
        self.start()
        self.assertFirst(self.post({"matn": "birinchi"}, fresh_key()))

    def arm(self, n):
        with open(self.order + ".new", "w", encoding="ascii") as file:
            file.write(str(n))
        os.rename(self.order + ".new", self.order)

    def disarm(self):
        """True: the worker lived, since it makes fewer calls than that."""
        try:
            os.unlink(self.order)
            return True
        except FileNotFoundError:
            return False

    def step(self, n):
        """Die before the nth call; True: there are not so many."""
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "%d #%s" % (n, tag)}
        self.arm(n)
        try:
            answer = self.post(task, key)
        except OSError:
            answer = None
        lived = self.disarm()
        if not lived:
            self.server.process.wait(proc.SECONDS)
            self.server.revive()
        again = self.assertStatus(self.post(task, key), 201)
        self.assertTasks(tag, 1)
        self.assertReplay(self.post(task, key), again)
        if answer is not None:
            self.assertEqual(answer.body, again.body)
        return lived

    def test_every_step(self):
        n = 1
        while not self.step(n):
            n += 1
        self.assertGreater(n, self.fewest)
        code = self.site.idem("check").returncode
        self.assertEqual(code, 0)


class KilledAtEveryStepOfSlowWork(KilledAtEveryStep):
    """Two commits: the claim, and the work's end with its answer."""
    settings = {"IDEM_TASK_DELAY_MS": "1"}
    fewest = 7
