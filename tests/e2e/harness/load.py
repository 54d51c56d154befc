"""Clients that want an answer: each takes a fresh key for each intent and sends
it until it has a final answer, whatever happens to the server meanwhile.  A
crowd of them may also leave early, have little patience, or send twice."""
import collections
import json
import random
import threading
import time
import uuid

from . import proc

PAUSE = 0.02        # between two tries of one intent
SECONDS = 60        # for one intent
PATIENCE = 5.0      # for one answer
HELD = b"idempotentlik-nomalum"
# What is kept of an answer; the rest is each try's own.
KEPT = ("Content-Type", "Content-Language", "Content-Disposition",
        "Content-Encoding", "Location", "Content-Location", "ETag",
        "Last-Modified", "Link", "Allow")


class Intent:
    """One thing that somebody wants done, under one key."""
    __slots__ = ("key", "body", "answer", "nfirst", "held", "final_at")

    def __init__(self, key, body):
        self.key, self.body = key, body
        self.answer = None      # the first final one
        self.nfirst = 0         # final ones that were no replay
        self.held = False       # nobody knows how it ended
        self.final_at = None

    @property
    def ended(self):
        return self.held or self.answer is not None


def kept(answer):
    """What must be the same on each retry."""
    return (answer.status, answer.body,
            [(name, answer.all(name)) for name in KEPT])


class Crowd:
    """n clients of a yard, which has fresh(rng) for an intent and
    send(intent, rng, seconds, body) for a request that is on its way.  The
    seed fixes what each client does, not what happens to it."""
    manners = {"insist": 1}
    think = 0.0         # seconds between two intents, at most
    status = 201        # of what was done

    def __init__(self, yard, nclients, seed):
        self.yard = yard
        self.intents = []       # those that ended
        self.left = []          # given up, to be asked for again
        self.errors = []
        self.counts = collections.Counter()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._client, daemon=True,
                             args=(random.Random("%s/%d" % (seed, i)),))
            for i in range(nclients)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join(SECONDS + 10)

    def wrong(self, intent, what):
        self.errors.append("%s: %s" % (intent.key, what))

    def _client(self, rng):
        names, weights = zip(*self.manners.items())
        counts = collections.Counter()
        while not self._stop.is_set() and len(self.errors) < 20:
            intent = self.yard.fresh(rng)
            manner = rng.choices(names, weights)[0]
            counts[manner] += 1
            getattr(self, manner)(intent, rng, counts)
            if self.think:
                time.sleep(rng.uniform(0, self.think))
        self.counts.update(counts)

    # --- one try ----------------------------------------------------------
    def send(self, intent, rng, counts, seconds=PATIENCE, body=None):
        """None: nobody takes it."""
        counts["tries"] += 1
        try:
            return self.yard.send(intent, rng, seconds, body)
        except OSError:
            return None

    def read(self, pending):
        if pending is None:
            return None
        try:
            return pending.answer()
        except OSError:
            return None

    def take(self, intent, answer):
        """See what came.  True: the intent has ended."""
        if answer is None or answer.status >= 500:
            return False
        if answer.status == 409 and HELD in answer.body:
            if intent.answer is not None:
                self.wrong(intent, "held after %r" % intent.answer)
            intent.held = True
            return True
        if answer.status == 409:
            return False
        self.take_final(intent, answer)
        return True

    def take_final(self, intent, answer):
        if answer.status != self.status or intent.held:
            self.wrong(intent, "%s%r" % ("held, then " if intent.held else "",
                                         answer))
        if not answer.replayed:
            intent.nfirst += 1
        if intent.answer is None:
            intent.answer, intent.final_at = answer, time.monotonic()
        elif kept(answer) != kept(intent.answer):
            self.wrong(intent, "%r is not %r" % (answer, intent.answer))
        if intent.nfirst > 1:
            self.wrong(intent, "two first answers")

    def until_ended(self, intent, rng, counts, seconds=SECONDS, patience=None):
        """Come again until there is an answer.  False: there is none."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pending = self.send(intent, rng, counts, patience or PATIENCE)
            if self.take(intent, self.read(pending)):
                return True
            time.sleep(PAUSE)
        return False

    def end(self, intent, rng, counts):
        if self.until_ended(intent, rng, counts):
            self.intents.append(intent)
        else:
            self.wrong(intent, "no answer within %d s" % SECONDS)

    # --- how clients are --------------------------------------------------
    def insist(self, intent, rng, counts):
        self.end(intent, rng, counts)

    def leave(self, intent, rng, counts):
        """Close the connection before the answer, a few times."""
        for _ in range(rng.randint(1, 3)):
            self.go_away(self.send(intent, rng, counts), rng)
        self.end(intent, rng, counts)

    @staticmethod
    def go_away(pending, rng):
        how = rng.random()
        time.sleep(rng.uniform(0, 0.02))
        if pending is not None:
            (pending.leave if how < 0.5 else pending.reset)()

    def hasty(self, intent, rng, counts):
        """Time-outs that are too short."""
        for _ in range(rng.randint(2, 5)):
            pending = self.send(intent, rng, counts, rng.uniform(0.002, 0.05))
            if self.take(intent, self.read(pending)):
                break
        self.end(intent, rng, counts)

    def twice(self, intent, rng, counts):
        """Two at once with one key."""
        pair = [self.send(intent, rng, counts) for _ in range(2)]
        for pending in pair:
            self.take(intent, self.read(pending))
        self.end(intent, rng, counts)

    def again(self, intent, rng, counts):
        """Once more after it succeeded."""
        self.end(intent, rng, counts)
        self.ask_again(intent, rng, counts)

    def another_body(self, intent, rng, counts):
        """422, whatever became of the first."""
        self.end(intent, rng, counts)
        answer = self.read(self.send(intent, rng, counts,
                                     body=intent.body[::-1]))
        if answer is not None and answer.status < 500 and (
                answer.status != 422):
            self.wrong(intent, "another body: %r" % answer)

    def give_up(self, intent, rng, counts):
        self.go_away(self.send(intent, rng, counts), rng)
        self.left.append(intent)

    # --- afterwards -------------------------------------------------------
    def ask_again(self, intent, rng, counts):
        """True: it came, and it was a replay (or is held, as before)."""
        nfirst, was_held = intent.nfirst, intent.held
        if not self.until_ended(intent, rng, counts):
            self.wrong(intent, "no answer to the retry")
        elif not was_held and intent.nfirst != nfirst:
            self.wrong(intent, "worked for again")
        else:
            return True
        return False

    def each(self, intents, do, nthreads=8):
        """do(intent, rng, counts) for all of them, some at a time."""
        queue = collections.deque(intents)

        def run(n):
            rng, counts = random.Random(n), collections.Counter()
            while len(self.errors) < 20:
                try:
                    intent = queue.popleft()
                except IndexError:
                    break
                do(intent, rng, counts)
            self.counts.update(counts)
        threads = [threading.Thread(target=run, args=(n,), daemon=True)
                   for n in range(nthreads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class CaseYard:
    """A test's server; a tag marks all the tasks that are made here."""

    def __init__(self, case):
        self.case, self.tag = case, case.fresh_tag()

    def fresh(self, _):
        key = str(uuid.uuid4())
        return Intent(key, self.case.body(
            {"matn": "%s #%s" % (key, self.tag)}))

    def send(self, intent, _rng, _seconds, body=None):
        return self.case.send_post(body or intent.body, intent.key)


class Load(Crowd):
    """A crowd of a test's class, whose clients all insist."""

    def __init__(self, case, nclients=4):
        super().__init__(CaseYard(case), nclients, uuid.uuid4())
        self.case, self.tag = case, self.yard.tag

    @property
    def ntries(self):
        return self.counts["tries"]

    @property
    def done(self):
        """key -> (task, first final answer)."""
        return {i.key: (json.loads(i.body), i.answer) for i in self.intents}

    def until_done(self, n):
        """Wait until n more intents have their answer."""
        goal = len(self.intents) + n
        proc.wait_until(lambda: len(self.intents) >= goal or self.errors,
                        "%d more answers" % n, SECONDS)

    def check(self):
        """Each intent was done once, and each retry has its answer."""
        case = self.case
        case.assertEqual(self.errors, [])
        case.assertGreater(len(self.done), 0)
        for key, (task, answer) in self.done.items():
            case.assertStatus(answer, 201)
            case.assertReplay(case.post(task, key), answer)
        texts = [t["matn"] for t in all_tasks(case, self.tag)]
        case.assertEqual(sorted(texts),
                         sorted(t["matn"] for t, _ in self.done.values()))


def all_tasks(case, tag):
    """Every task with a tag, page by page."""
    found, after = [], 0
    while True:
        page = case.get("/vazifalar?soni=200&teg=%s&keyin=%d" % (tag, after))
        case.assertStatus(page, 200)
        found += page.json["vazifalar"]
        if page.json["keyingi"] is None:
            return found
        after = page.json["keyingi"]
