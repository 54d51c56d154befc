#!/usr/bin/env python3
"""The experiment: a client that gives up too early and tries again, without a
key and with one, against a real lighttpd and the real program.

The handler takes 300 ms, the client gives up after 100 ms.  It tries at once,
once more at once, and a third time 400 ms later.
"""
import os
import sys
import time
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from harness import http, proc
from harness.servers import Lighttpd
from harness.site import Site

HANDLER_MS = 300
PATIENCE_MS = 100
LATER_MS = 400


def attempt(server, task, key, patience_ms):
    """One try of the impatient client; None: it gave up."""
    fields = [("Content-Type", "application/json")]
    if key:
        fields.append(("Idempotency-Key", key))
    try:
        return server.request("POST", "/vazifalar", fields, task,
                              seconds=patience_ms / 1000)
    except TimeoutError:
        return None


def attempts(server, tag, key, patience_ms, until_later):
    """The three tries; until_later(tag, key): before the last."""
    task = b'{"matn":"Non olish #%s"}' % tag.encode()
    answers = [attempt(server, task, key, patience_ms) for _ in range(2)]
    until_later(tag, key)
    return answers + [attempt(server, task, key, patience_ms)]


def count(server, tag):
    got = server.request("GET", "/vazifalar?teg=" + tag, seconds=http.SECONDS)
    return len(got.json["vazifalar"])


def told(answer):
    if answer is None:
        return "time-out"
    marks = "".join("  %s: %s" % (name, answer.field(name)) for name in
                    ("Idempotency-Replayed", "Retry-After", "Location")
                    if answer.has(name))
    return "%d%s" % (answer.status, marks)


def summary(answer):
    if answer is None:
        return "time-out"
    return "%d%s" % (answer.status, " replayed" if answer.replayed else "")


def outcome(server, tag, key, answers):
    """What was told, and how many tasks there are in the end."""
    # What still runs is finished before it is counted.
    due = 1 if key else sum(1 for a in answers if a is None)
    proc.wait_until(lambda: count(server, tag) >= due, "the tasks")
    return [summary(a) for a in answers], count(server, tag)


def sleep(_tag, _key):
    time.sleep(LATER_MS / 1000)


def run(server):
    """Both runs: {"without": ([...], tasks), "with": ([...], tasks)}."""
    found = {}
    for name, key, title in (
            ("without", None, "Without a key:"),
            ("with", str(uuid.uuid4()), "With one key:")):
        tag = "t" + uuid.uuid4().hex
        print(title)
        answers = attempts(server, tag, key, PATIENCE_MS, sleep)
        for number, answer in enumerate(answers, 1):
            print("  attempt %d: %s" % (number, told(answer)))
        found[name] = outcome(server, tag, key, answers)
        print("  tasks: %d\n" % found[name][1])
    return found


EXPECTED = {"without": (["time-out"] * 3, 3),
            "with": (["time-out", "409", "201 replayed"], 1)}


def main():
    site = Site({"IDEM_TASK_DELAY_MS": str(HANDLER_MS)})
    server = Lighttpd(site)
    try:
        server.start()
        print("The handler takes %d ms; the client gives up after %d ms and "
              "tries again\nat once, and a third time %d ms later.\n" % (
                  HANDLER_MS, PATIENCE_MS, LATER_MS))
        found = run(server)
    finally:
        server.stop()
        site.remove()
    if found != EXPECTED:
        print("expected %r" % EXPECTED, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
