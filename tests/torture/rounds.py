"""One round in a yard: clients and mischief, then a checkpoint at which every
intent of the round is looked at and forgotten."""
import collections
import json
import random

from harness import proc
from harness.load import Crowd
import mischief
from yards import record_id

NCLIENTS = 14
KILL_SECONDS = 0.4      # for each kill of a round, at the slowest
QUIET = 60              # seconds until nobody is at work any more
PASSES = 20             # of an operator
ANSWER = b"resolved by hand\n"


class Clients(Crowd):
    manners = {"insist": 20, "leave": 15, "hasty": 15, "twice": 20,
               "again": 15, "another_body": 5, "give_up": 10}
    think = 0.01


class Round:
    def __init__(self, yard, seed, tally):
        self.yard, self.seed, self.tally = yard, seed, tally
        self.crowd = Clients(yard, NCLIENTS, "%s/client" % seed)
        self.resolved = {}      # key -> the answer given by hand, or None
        self.counts = collections.Counter()

    def rng(self, name):
        return random.Random("%s/%s" % (self.seed, name))

    def wrong(self, what):
        self.tally.wrong("%s: %s" % (self.seed, what))

    # --- while it lasts ---------------------------------------------------
    def torture(self, nkills):
        makers = mischief.all_of(self.yard, self.rng, self.tally, self.crowd)
        with self.crowd:
            for maker in makers:
                maker.start()
            came = mischief.wait_for_kills(
                makers[0], nkills, 10 + nkills * KILL_SECONDS,
                lambda: self.tally.come(makers[0].nkills) or
                self.crowd.errors)
            for maker in makers:
                maker.stop()
        self.tally.check(came or self.crowd.errors,
                         "%s: only %d kills" % (self.seed, makers[0].nkills))
        for maker in makers:
            self.counts.update(maker.counts)

    # --- the checkpoint ---------------------------------------------------
    def checkpoint(self):
        crowd = self.crowd
        crowd.each(crowd.left, crowd.end)
        effects = collections.Counter()
        self.settle(effects)
        self.check_effects(effects)
        self.check_held()
        crowd.each(crowd.intents, self.retry)
        self.resolve(effects)
        self.check_effects(effects)
        self.tally.check(not self.unknown(), "%s: still unknown: %s" % (
            self.seed, self.unknown()))
        self.check_store()
        for error in crowd.errors:
            self.wrong(error)
        self.counts["intents"] = len(crowd.intents)
        self.counts.update(crowd.counts)

    def check_effects(self, effects):
        """Each intent has one; who is held at most one; nobody else has any.
        """
        known = set()
        for intent in self.crowd.intents:
            n = effects[intent.key]
            known.add(intent.key)
            self.tally.check(n == 1 or (n == 0 and intent.held),
                             "%s: %d effects%s" % (
                                 intent.key, n, " of a held one"
                                 if intent.held else ""))
        strangers = set(effects) - known
        if strangers:
            self.wrong("effects of nobody: %s" % sorted(strangers)[:5])

    def unknown(self):
        got = self.yard.idem("list", "--state", "unknown", "--max", "1000000",
                             "--json")
        if got.returncode != 0:
            self.wrong("idem list: %r" % got.stderr)
            return set()
        return {row["id"] for row in json.loads(got.stdout)["records"]}

    def check_held(self):
        """What clients were told is what the operator sees."""
        held = [i for i in self.crowd.intents if i.held]
        self.counts["held"] = len(held)
        told, listed = {record_id(i.key) for i in held}, self.unknown()
        self.tally.check(told == listed, "%s: held %d, listed %d" % (
            self.seed, len(told), len(listed)))

    def retry(self, intent, rng, counts):
        self.tally.check(self.crowd.ask_again(intent, rng, counts),
                         "%s: its retry" % intent.key)
        counts["retries"] += 1

    # --- what an operator does --------------------------------------------
    def resolve(self, effects):
        """The ledger says what happened: who is in it is completed, who is not
        is released.  Where workers still die, a release may be followed by
        the next death, and the operator has to come again."""
        for _ in range(PASSES if self.yard.armed else 1):
            held = [i for i in self.crowd.intents if i.held]
            for intent in held:
                self.resolve_one(intent, effects[intent.key] == 1)
            self.crowd.each(held, self.after_resolve)
            self.settle(effects)

    def settle(self, effects):
        proc.wait_until(lambda: not self.yard.busy(), "quiet", QUIET)
        effects.update(self.yard.effects())

    def resolve_one(self, intent, happened):
        more = ("--complete", "201", "--header", "Location: /by-hand",
                "--header", "Content-Type: text/plain", "--body",
                "-") if happened else ("--release",)
        run = self.yard.home.idem("resolve", "--key", intent.key, *more,
                                  stdin=ANSWER)
        self.tally.check(run.returncode == 0, "%s: resolve %s: %r" % (
            intent.key, more[0], run.stderr))
        self.counts["completed" if happened else "released"] += 1
        intent.held = False
        self.resolved[intent.key] = happened

    def after_resolve(self, intent, rng, counts):
        crowd = self.crowd
        ended = crowd.until_ended(intent, rng, counts)
        if ended and intent.held and self.yard.armed:
            return      # it died again
        right = ended and not intent.held
        if right and self.resolved[intent.key]:
            answer = intent.answer
            right = intent.nfirst == 0 and (
                answer.status, answer.body, answer.field("Location")) == (
                    201, ANSWER, "/by-hand")
        self.tally.check(right and crowd.ask_again(intent, rng, counts),
                         "%s: after it was resolved: %r" % (
                             intent.key, intent.answer))

    def check_store(self):
        run = self.yard.idem("check")
        self.tally.check(run.returncode == 0, "%s: idem check: %r" % (
            self.seed, run.stdout + run.stderr))
        stats = self.yard.stats()
        self.tally.check(stats["running"] + stats["orphaned"] == 0,
                         "%s: %r" % (self.seed, stats))


class Phase:
    """Rounds in one yard, and what is left when its servers are gone."""

    def __init__(self, yard, seed, tally):
        self.yard, self.tally = yard, tally
        self.seed = "%s/%s" % (seed, yard.name)
        self.counts = collections.Counter()
        self.failed = False

    def run(self, nkills, round_kills):
        """Up to the last checkpoint; finish() comes after it."""
        self.guarded(lambda: self.rounds(nkills, round_kills))

    def guarded(self, do):
        try:
            do()
            return
        except Exception as err:    # whatever it is, the servers must end
            self.tally.wrong("%s: %r" % (self.seed, err))
        print(self.yard.last_words(), flush=True)
        self.failed = True

    def rounds(self, nkills, round_kills):
        self.yard.start()
        while (self.counts["kills of workers"] < nkills
               and not self.tally.nfailed):
            left = nkills - self.counts["kills of workers"]
            self.one_round(min(left, round_kills))

    def finish(self):
        if not self.failed:
            self.guarded(self.leave)
        self.yard.remove()

    def one_round(self, nkills):
        self.counts["rounds"] += 1
        r = Round(self.yard, "%s/%d" % (self.seed, self.counts["rounds"]),
                  self.tally)
        r.torture(nkills)
        r.checkpoint()
        self.counts.update(r.counts)
        self.tally.say(r)
        if not self.tally.nfailed:
            self.yard.forget_logs()

    def leave(self):
        """No process, no lock, and a store that is whole."""
        self.yard.stop()
        left = proc.running(*self.yard.programs())
        self.tally.check(not left, "%s: left: %s" % (
            self.seed, "".join(proc.describe(pid) for pid in left)))
        locks = self.yard.locks_left()
        self.tally.check(not locks, "%s: locked: %s" % (self.seed, locks))
        run = self.yard.idem("check")
        self.tally.check(run.returncode == 0, "%s: idem check at the end: %r"
                         % (self.seed, run.stdout + run.stderr))
