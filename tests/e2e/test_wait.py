"""A retry waits for its running request: woken when that ends, told 409 when
its time is over or its process has to stop, never all workers at once."""
import signal
import time

from harness import proc
from harness.case import OwnSiteCase, ServerCase, fresh_key, on
from harness.servers import Direct, Lighttpd, Workers

PATIENT = [("Prefer", "wait=20")]


@on(Workers, Lighttpd, settings={"IDEM_TASK_DELAY_MS": "1500"})
class Waiting:
    """The handler takes 1.5 s."""

    def setUp(self):
        self.key, self.tag = fresh_key(), self.fresh_tag()
        self.task = {"matn": "kutish #" + self.tag}

    def begin(self):
        pending = self.send_post(self.task, self.key)
        proc.wait_until(self.running, "a running record")
        return pending

    def test_the_end_is_waited_for(self):
        pending = self.begin()
        late = self.post(self.task, self.key, PATIENT)
        first = self.assertFirst(pending.answer())
        self.assertReplay(late, first)
        self.assertTasks(self.tag, 1)

    def test_many_at_once(self):
        """Whoever has no seat is told 409 at once; nobody works twice."""
        every = [self.send_post(self.task, self.key, PATIENT)
                 for _ in range(4)]
        answers = [pending.answer() for pending in every]
        self.assertEqual({a.status for a in answers} - {201, 409}, set())
        first = [a for a in answers if a.status == 201 and not a.replayed]
        self.assertEqual(len(first), 1, answers)
        self.assertTrue([a for a in answers if a.replayed], answers)
        self.assertTasks(self.tag, 1)

    def test_time_ends(self):
        pending = self.begin()
        began = time.monotonic()
        late = self.post(self.task, self.key, [("Prefer", "wait=1")])
        self.assertProblem(late, 409, "idempotentlik-jarayonda")
        self.assertGreaterEqual(time.monotonic() - began, 0.9)
        self.assertFirst(pending.answer())

    def test_without_being_asked_nobody_waits(self):
        pending = self.begin()
        self.assertProblem(self.post(self.task, self.key), 409,
                           "idempotentlik-jarayonda")
        self.assertFirst(pending.answer())

    def test_other_content_is_told_at_once(self):
        pending = self.begin()
        self.assertProblem(self.post({"matn": "boshqa"}, self.key, PATIENT),
                           422, "idempotentlik-boshqa-tana")
        self.assertFirst(pending.answer())


class Kept(ServerCase):
    """IDEM_WAIT, and a wait that the client lowers."""
    server_class = Workers
    settings = {"IDEM_TASK_DELAY_MS": "1000", "IDEM_WAIT": "20s"}

    def test_all_retries_wait(self):
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "hamma #" + tag}
        pending = self.send_post(task, key)
        proc.wait_until(self.running, "a running record")
        self.assertProblem(self.post(task, key, [("Prefer", "wait=0")]), 409,
                           "idempotentlik-jarayonda")
        late = self.post(task, key)
        self.assertReplay(late, self.assertFirst(pending.answer()))
        self.assertTasks(tag, 1)


class Ends(OwnSiteCase):
    """The worker that is waited for dies, or the one that waits must stop."""
    settings = {"IDEM_TASK_DELAY_MS": "3000", "IDEM_WAIT": "20s"}

    def begin(self):
        self.server = Workers(self.site)
        self.server.start()
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "oxiri #" + tag}
        pending = self.send_post(task, key)
        proc.wait_until(self.running, "a running record")
        owner = [pid for pid in self.server.workers()
                 if proc.holds_claim(pid)]
        return key, tag, task, pending, owner

    def somebody_waits(self):
        proc.wait_until(lambda: any(map(proc.waits, self.server.workers())),
                        "a waiter")

    def test_the_owner_is_killed(self):
        """Its work stands in its last commit only: it is simply done again."""
        key, tag, task, pending, owner = self.begin()
        late = self.send_post(task, key)
        self.somebody_waits()
        proc.end(owner)
        with self.assertRaises(OSError):
            pending.answer()
        self.assertFirst(late.answer())
        self.assertTasks(tag, 1)

    def test_the_waiter_must_stop(self):
        key, _, task, pending, owner = self.begin()
        late = self.send_post(task, key)
        self.somebody_waits()
        began = time.monotonic()
        for pid in self.server.workers():
            if pid not in owner:
                proc.send_signal(pid, signal.SIGTERM)
        self.assertProblem(late.answer(), 409, "idempotentlik-jarayonda")
        self.assertLess(time.monotonic() - began, 2)
        self.assertFirst(pending.answer())


class Alone(OwnSiteCase):
    """One worker never waits: it is the one that would have to finish."""
    settings = {"IDEM_WAIT": "20s"}

    def test_it_serves(self):
        self.server = Direct(self.site)
        self.server.start()
        key, tag = fresh_key(), self.fresh_tag()
        first = self.assertFirst(self.post({"matn": "bir #" + tag}, key))
        self.assertReplay(self.post({"matn": "bir #" + tag}, key), first)
