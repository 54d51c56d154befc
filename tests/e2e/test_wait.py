"""A retry waits for its running request: woken when that ends, told 409 when
its time is over or its process has to stop, never all workers at once."""
import signal
import time

from harness import proc
from harness.case import OwnSiteCase, ServerCase, fresh_key, on
from harness.servers import Direct, Lighttpd, Workers
from harness.world import AT_GATE, AtGate

PATIENT = [("Prefer", "wait=20")]


@on(Workers, Lighttpd)
class Waiting(AtGate):
    def setUp(self):
        self.key, self.tag = fresh_key(), self.fresh_tag()
        self.task = {"matn": "kutish #" + self.tag}

    def begin(self):
        return self.at_work(self.task, self.key)

    def end(self, pending):
        self.gate.open()
        return self.assertFirst(pending.answer())

    def test_the_end_is_waited_for(self):
        pending = self.begin()
        late = self.send_post(self.task, self.key, PATIENT)
        self.somebody_waits()
        first = self.end(pending)
        self.assertReplay(late.answer(), first)
        self.assertTasks(self.tag, 1)

    def test_many_at_once(self):
        """Whoever has no seat is told 409 at once; nobody works twice.  Of
        those who sit down in one moment all may have to get up again, so one
        comes first."""
        every = [self.at_work(self.task, self.key, PATIENT)]
        every.append(self.send_post(self.task, self.key, PATIENT))
        self.somebody_waits()
        every += [self.send_post(self.task, self.key, PATIENT)
                  for _ in range(2)]
        self.gate.open()
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
        self.end(pending)

    def test_without_being_asked_nobody_waits(self):
        pending = self.begin()
        self.assertProblem(self.post(self.task, self.key), 409,
                           "idempotentlik-jarayonda")
        self.end(pending)

    def test_other_content_is_told_at_once(self):
        pending = self.begin()
        self.assertProblem(self.post({"matn": "boshqa"}, self.key, PATIENT),
                           422, "idempotentlik-boshqa-tana")
        self.end(pending)


class Kept(AtGate, ServerCase):
    """IDEM_WAIT, and a wait that the client lowers."""
    server_class = Workers
    settings = dict(AT_GATE, IDEM_WAIT="20s")

    def test_all_retries_wait(self):
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "hamma #" + tag}
        pending = self.at_work(task, key)
        self.assertProblem(self.post(task, key, [("Prefer", "wait=0")]), 409,
                           "idempotentlik-jarayonda")
        late = self.send_post(task, key)
        self.somebody_waits()
        self.gate.open()
        first = self.assertFirst(pending.answer())
        self.assertReplay(late.answer(), first)
        self.assertTasks(tag, 1)


class Ends(AtGate, OwnSiteCase):
    """The worker that is waited for dies, or the one that waits must stop."""
    settings = dict(AT_GATE, IDEM_WAIT="10m", IDEM_MAX_WAIT="10m")

    def begin(self):
        """The first one works, the second one waits for it."""
        self.start(Workers)
        key, self.tag = fresh_key(), self.fresh_tag()
        task = {"matn": "oxiri #" + self.tag}
        pending = self.at_work(task, key)
        late = self.send_post(task, key)
        self.waiters = self.somebody_waits()
        return pending, late

    def test_the_owner_is_killed(self):
        """Its work stands in its last commit only: it is simply done again."""
        pending, late = self.begin()
        proc.end([self.owner])
        with self.assertRaises(OSError):
            pending.answer()
        self.gate.open()
        self.assertFirst(late.answer())
        self.assertTasks(self.tag, 1)

    def test_the_waiter_must_stop(self):
        """Long before its time is over."""
        pending, late = self.begin()
        for pid in self.waiters:
            proc.send_signal(pid, signal.SIGTERM)
        self.assertProblem(late.answer(), 409, "idempotentlik-jarayonda")
        self.gate.open()
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
