#!/usr/bin/env python3
"""make torture: real web servers, killed, reloaded and restarted under load
with their workers and supervisors, until ROUNDS workers were killed (default
10,000).

SEED fixes the schedule: what each client does and with which pauses, when
somebody is killed, and what is done to the servers.  It does not fix who is
there to be killed at that moment, nor how the kernel lets processes run; so a
run with the same seed is a run like it, not the same.

PHASES=guard,tasks runs some of the phases only.
"""
import os
import random
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE] + [os.path.join(HERE, "..", name)
                        for name in ("e2e", "proof")]

from harness.php import PHP_CGI, find_fpm       # noqa: E402
import proof                                    # noqa: E402
import rounds                                   # noqa: E402
import yards                                    # noqa: E402

ROUND_KILLS = 300       # then a checkpoint
# Of the kills of a run; the steps' own are counted by the servers' logs.
SHARES = (("tasks", 0.35), ("guard", 0.25), ("steps", 0.2),
          ("guardsteps", 0.2))
SHOWN = 30              # faults


class Tally:
    def __init__(self):
        self.npassed = self.nfailed = self.nkills = 0
        self.lock = threading.Lock()

    def check(self, right, what):
        if right:
            with self.lock:
                self.npassed += 1
        else:
            self.wrong(what)

    def wrong(self, what):
        with self.lock:
            self.nfailed += 1
            if self.nfailed <= SHOWN:
                print("WRONG %s" % what, flush=True)

    def come(self, nkills):
        """So many in the round that goes on."""
        proof.reached("%s kills of workers" % format(
            self.nkills + nkills, ","))

    def say(self, r):
        self.nkills += r.counts["kills of workers"]
        print("%s: %s" % (r.seed, ", ".join(
            "%d %s" % (n, name) for name, n in sorted(r.counts.items()))),
              flush=True)


def make_yard(name, seed):
    if name == "tasks":
        return yards.TasksYard()
    if name == "guard":
        return yards.GuardYard()
    kind = yards.TasksSteps if name == "steps" else yards.GuardSteps
    return kind(random.Random("%s/%s" % (seed, name)).getrandbits(19))


def run_all(seed, nkills, tally):
    """The servers of a phase end while the next one begins."""
    wanted = os.environ.get("PHASES", "").split(",")
    done, ends = [], []
    for name, share in SHARES:
        if wanted != [""] and name not in wanted:
            continue
        phase = rounds.Phase(make_yard(name, seed), seed, tally)
        phase.run(max(1, round(nkills * share)), ROUND_KILLS)
        done.append(phase)
        ends.append(threading.Thread(target=phase.finish))
        ends[-1].start()
    for end in ends:
        end.join()
    return done


def number(n, what):
    return "%s %s" % (format(n, ","), what)


# Counted in every phase, and in this order.
BROKEN = ("kills of workers", "kills of a supervisor",
          "stops of a supervisor", "renewals of a supervisor",
          "reloads of a web server", "stops of a web server",
          "kills of the application")
COMMANDS = ("sweep", "check", "copy")


def row(phase, nkills, failed):
    counts = phase.counts
    often = [number(counts[name], name) for name in BROKEN if counts[name]]
    for name in COMMANDS:
        if counts["runs of idem " + name]:
            often.append("%s (and %s)" % (
                number(counts["runs of idem " + name],
                       "runs of idem %s beside it" % name),
                number(counts["kills of idem " + name], "killed")))
    if counts["expired answers swept"]:
        often.append(number(counts["expired answers swept"],
                            "expired answers swept"))
    often.insert(1, "%s in %s" % (number(counts["intents"], "intents"),
                                  number(counts["tries"], "requests")))
    lost = "SEE THE LOG" if failed else "nothing: each intent had one effect"
    if counts["held"]:
        lost += "; %s held, listed and resolved by hand, none run again" % (
            number(counts["held"], "outcomes unknown"))
    return (phase.yard.what,
            "; ".join(often[:2]) + " | " + "; ".join(often[2:]), lost,
            "make torture ROUNDS=%d" % nkills)


def can_run():
    """None, or what is missing."""
    for path in ("/usr/sbin/lighttpd", "/usr/sbin/apache2", find_fpm(),
                 PHP_CGI):
        if not os.path.exists(path):
            return path
    return None


def main():
    missing = can_run()
    if missing:
        print("torture: skipped, there is no %s" % missing)
        return proof.end("torture", 0, 0)
    nkills = proof.number("ROUNDS", 10000)
    seed = proof.seed()
    proof.begin("torture", SEED=seed, ROUNDS=nkills)
    tally, began = Tally(), time.monotonic()
    phases = run_all(seed, nkills, tally)
    proof.write_rows("torture", (row(phase, nkills, tally.nfailed)
                                 for phase in phases))
    print("torture: %d kills of workers in %d s" % (
        sum(p.counts["kills of workers"] for p in phases),
        time.monotonic() - began))
    return proof.end("torture", tally.npassed, tally.nfailed)


if __name__ == "__main__":
    sys.exit(proof.run("torture", main))
