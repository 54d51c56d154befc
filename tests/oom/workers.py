"""Workers that serve FastCGI with each of their allocations failing once: a
fresh one that opens its store, one that has served before, and one of a
supervisor."""
import contextlib
import itertools
import os

from harness import proc
from harness.php import GuardDirect
from harness.servers import Direct

from fault import COUNT, FROM
from programs import (BY_HAND, Place, clear, guard_place, no_memory, pay,
                      task)


class Serving:
    """A worker of its own, started anew when it has ended."""

    def __init__(self, place, server_class, nworkers=None):
        self.place, self.server_class = place, server_class
        self.nworkers, self.server, self.seen = nworkers, None, 0
        self.numbers = itertools.count(1)   # no two requests share a key
        place.site.preload = dict(place.fault.env, IDEM_STORE=place.store)

    def start(self):
        self.stop()
        self.server = self.server_class(self.place.site,
                                        nworkers=self.nworkers)
        self.place.fault.disarm()
        self.seen = len(self.place.site.log())
        self.server.start()

    def stop(self):
        if self.server is not None:
            self.server.destroy()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.server.address)

    def dead(self):
        return self.server.process.poll() is not None

    def log(self):
        """What it said: of one text a process says only the first."""
        return self.place.site.log()[self.seen:]

    def ask(self, request):
        """The answer, or None where the worker sent none."""
        method, target, fields, body = request
        try:
            return self.server.send(method, target, fields, body).answer()
        except (OSError, AssertionError):
            return None


    def ask_patiently(self, request):
        """A store that could not be opened is tried again each second."""
        answers = []

        def served():
            answers.append(self.ask(request))
            return answers[-1] is None or answers[-1].status != 503
        with contextlib.suppress(AssertionError):
            proc.wait_until(served, "", seconds=3)
        return answers[-1]


def ended(serving):
    """Without an answer: is the worker gone, or did it drop the request?  It
    ends soon if it does."""
    with contextlib.suppress(AssertionError):
        proc.wait_until(serving.dead, "", seconds=0.3)
    return serving.dead()


def request(tally, serving, name, make, effects, fresh):
    """make(number) gives a request with a key of its own, the wanted status,
    a part of the answer; effects(number) counts what it did."""
    place, numbers = serving.place, serving.numbers

    def first(number):
        asked, status, part = make(number)
        if fresh or serving.server is None or serving.dead():
            serving.start()
        return asked, status, part

    asked, status, part = first(next(numbers))
    place.fault.arm(COUNT)
    serving.ask(asked)
    place.fault.disarm()
    count = place.fault.ncalls

    def attempt(mode, n):
        number = next(numbers)
        asked, status, part = first(number)
        place.fault.arm(mode, n)
        answer = serving.ask(asked)
        place.fault.disarm()
        nfailed = place.fault.nfailed
        gone = answer is None and ended(serving)
        said, wrong = serving.log(), None
        same = answer is not None and answer.status == status
        if same and part not in answer.body:
            wrong = "lacks %r: %r" % (part, answer)
        elif not same and not no_memory(said):
            wrong = "%r, and no line says why: %s" % (answer, said[-300:])
        elif answer is not None and not same and (
                answer.status not in (500, 503)):
            wrong = "%r" % answer
        tally.deaths += gone
        if gone:
            serving.start()
        again = serving.ask_patiently(asked)
        by_hand = mode == FROM and BY_HAND in said
        held = (again is not None and again.status == 409 and
                (by_hand or not same and effects(number) == 1))
        tally.held += held
        if not held and (again is None or again.status != status
                         or part not in again.body):
            wrong = wrong or "the next try: %r %s" % (again,
                                                      serving.log()[-300:])
        if effects(number) != 1 and not (held and by_hand):
            wrong = wrong or "%d effects" % effects(number)
        return wrong, same, nfailed

    tally.each(name, count, attempt)
    checked = place.check()
    if checked is not True:
        tally.failed += 1
        print(name, checked)


def tasks_workers(tally):
    place = Place("tasks.fcgi")
    serving = Serving(place, Direct)

    def make(number):
        return (task("key-%d" % number, b'{"matn":"Non #n%d"}' % number), 201,
                b'"teglar":["n%d"]' % number)

    def effects(number):
        answer = serving.ask(("GET", "/vazifalar?teg=n%d" % number, [], None))
        return len(answer.json["vazifalar"])

    def read(number):
        return ("GET", "/vazifalar?soni=1", [], None), 200, b'{"vazifalar":['

    try:
        for name, how, count, fresh in (
                ("a fresh one, a new key", make, effects, True),
                ("a new key", make, effects, False),
                ("the list", read, lambda number: 1, False)):
            request(tally, serving, "FastCGI, tasks, " + name, how, count,
                    fresh)
    finally:
        serving.stop()
        place.remove()


def guard_workers(tally):
    place = guard_place()
    serving = Serving(place, GuardDirect)

    def make(number):
        clear(place)
        return pay("key-%d" % number), 201, b"made"

    try:
        for name, fresh in (("a fresh one, a new key", True),
                            ("a new key", False)):
            request(tally, serving, "FastCGI, guard, " + name, make,
                    lambda number: int(place.ran()), fresh)
    finally:
        serving.stop()
        place.remove()


def supervised(tally):
    """A worker that has no memory to begin with ends with a line, and has a
    successor once there is some."""
    place = Place("tasks.fcgi")
    serving = Serving(place, Direct, nworkers=1)
    try:
        serving.start()
        serving.ask(task("before"))
        place.fault.arm(FROM, 1)
        proc.end(serving.server.workers())
        proc.wait_until(lambda: "cannot begin: out of memory" in
                        serving.log(), "a worker without memory")
        place.fault.disarm()
        answer = serving.ask_patiently(task("after"))
        good = answer is not None and answer.status == 201
        tally.passed += good
        tally.failed += not good
        tally.deaths += 1
        tally.nscenarios += 1
        tally.faults += place.fault.nfailed
        print("  supervised: %r after %d failures" % (
            answer and answer.status, place.fault.nfailed))
    finally:
        serving.stop()
        place.remove()


def everything(tally):
    tasks_workers(tally)
    guard_workers(tally)
    supervised(tally)
