"""What a run of the soak showed, held against what it has to show."""
import collections

import attack
import logs
import proof
import watch
from harness import proc

# LMDB keeps, for the life of a process, the pages of the largest batch that it
# led: those of a sweep's step of 500 records are two megabytes.  So a worker
# grows by leaps, ever fewer of them, up to that; a leak grows from each tenth
# of the time to the next.  A worker answers some 180 requests a second, so that
# what a step may add is a byte a request in ten minutes, and 22 in 20 seconds.
STEADY_BYTES = 8 * 1024
MEMORY_BYTES = 4 * 1024 * 1024
# What a connection that nobody's web server would open may take a worker for:
# WORKER_RECEIVE_MS for silence and as much again for what is still read after
# it, FASTCGI_SEND_MS for an answer that is not read; and the time in the
# queue before, as long as for an honest one.
WAIT_MS = 3000      # the longest that an honest request may take
HELD_S = 10 + WAIT_MS / 1000
KINDS_MIN = 10      # of each kind of request there were at least so many


class Run:
    def __init__(self, soak, seconds):
        self.soak, self.seconds = soak, seconds
        self.passed = self.failed = 0
        self.rows = []

    def that(self, true, what):
        self.passed += bool(true)
        self.failed += not true
        print("soak: %s: %s" % ("ok" if true else "FAILED", what), flush=True)

    # --- before and after -------------------------------------------------
    def descriptors(self):
        found = {}
        for pid in self.pids():
            try:
                found[pid] = watch.descriptors(pid)
            except OSError:     # it has ended
                pass
        return found

    def pids(self):
        ours, fcgid = self.soak.workers()
        return ours + fcgid + self.soak.web_processes()

    def before(self):
        self.workers_before = self.soak.workers()
        self.fds_before = self.descriptors()

    def after(self, got, memory, beside, sweeps):
        self.answers(got)
        self.attacks(beside)
        self.workers(memory)
        self.open_files()
        self.store(beside, sweeps)
        self.logs()
        self.tell(got, beside)

    # --- one thing each ---------------------------------------------------
    def answers(self, got):
        n = sum(got["kinds"].values())
        self.that(got["wrong"] == 0, "%d answers, %d of them wrong" % (
            n, got["wrong"]))
        self.that(min(got["kinds"].values()) >= KINDS_MIN,
                  "of each kind: %s" % ", ".join(
                      "%s %d" % kind for kind in got["kinds"].items()))
        self.that(got["conflicts"] > 0, "%d were told 409" % got["conflicts"])
        for name, server in zip(("lighttpd", "Apache"), got["servers"]):
            self.that(server["worst_ms"] <= WAIT_MS,
                      "%s: the longest wait of %d answers %d ms (at most %d), "
                      "99 of 100 below %d ms" % (
                          name, server["answers"], server["worst_ms"],
                          WAIT_MS, server["p99_below_ms"]))

    def attacks(self, beside):
        for one in beside:
            self.that(not one.is_alive() and not one.wrong,
                      "%s %d: %s%s" % (type(one).__name__, one.number,
                                       dict(one.times),
                                       "".join("\n  " + w
                                               for w in one.wrong[:20])))
        direct = [one for one in beside if isinstance(one, attack.Direct)]
        self.held = max(direct, key=lambda one: one.held_s)
        self.that(self.held.held_s <= HELD_S,
                  "held longest, from connecting on, %.1f s (at most %.0f): %s"
                  % (self.held.held_s, HELD_S, self.held.held_by))

    def workers(self, memory):
        self.that(self.soak.workers()[0] == self.workers_before[0],
                  "the workers of the socket are the same: %s" %
                  self.workers_before[0])
        growth = memory.growth()
        self.that(len(growth) >= len(self.workers_before[0]),
                  "%d workers were there all the time" % len(growth))
        self.worst_growth = max([least[-1] - least[0]
                                 for least in growth.values()] or [0])
        for pid, least in sorted(growth.items()):
            steady = watch.steady(least)
            self.that(steady <= STEADY_BYTES and
                      least[-1] - least[0] <= MEMORY_BYTES,
                      "memory of worker %d: %s KiB, %d with each step" % (
                          pid, " ".join(str(n // 1024) for n in least),
                          steady // 1024))

    def open_files(self):
        """The same number as before; a web server may take a moment to see
        that its clients have gone."""
        def leaked():
            now = self.descriptors()
            return {pid: (n, now[pid]) for pid, n in self.fds_before.items()
                    if pid in now and now[pid] > n}
        try:
            proc.wait_until(lambda: not leaked(), "descriptors", 20)
        except AssertionError:
            pass
        left = leaked()
        for pid in self.fds_before:
            self.that(pid not in left, "descriptors of process %d: %d%s" % (
                pid, self.fds_before[pid],
                ", then %d" % left[pid][1] if pid in left else ""))

    def store(self, beside, sweeps):
        """Ids count up without gaps, so the last one is their number."""
        n = self.soak.effects + sum(one.effects for one in beside
                                    if isinstance(one, attack.Direct))
        ask = self.soak.lighttpd.request
        self.that(ask("GET", "/vazifalar/%d" % n).status == 200,
                  "%d tasks, as many as there were first answers" % n)
        more = ask("GET", "/vazifalar?soni=1&keyin=%d" % n).json
        self.that(more["vazifalar"] == [], "and no more: %r" % more)
        self.that(not sweeps.failed, "%d sweeps, %d records expired%s" % (
            sweeps.n, sweeps.nexpired, "".join(
                "\n  " + line.strip() for line in sweeps.failed[:1])))
        check = self.soak.site.idem("check")
        self.that(check.returncode == 0, "idem check: " +
                  (check.stdout + check.stderr[-200:]).decode().strip())

    def logs(self):
        for site in (self.soak.site, self.soak.apache_site):
            n, odd = logs.read(site.path("log"))
            self.that(not odd, "%d lines in the logs, %d unexplained%s" % (
                n, len(odd), "".join("\n  %s: %s" % line
                                     for line in odd[:20])))

    # --- what the README says ---------------------------------------------
    def tell(self, got, beside):
        times = collections.Counter()
        for one in beside:
            for what, n in one.times.items():
                times[what if isinstance(one, attack.Direct) else "web"] += n
        n = sum(got["kinds"].values())
        self.rows.append((
            "200 connections, a mix of new, repeated, simultaneous, changed "
            "and bad requests", "{:,} answers in {} s, {:,} of them 409"
            .format(n, self.seconds, got["conflicts"]),
            "nothing; longest wait {:.1f} s, memory of a worker at most {} KiB "
            "more".format(max(s["worst_ms"] for s in got["servers"]) / 1000,
                          max(0, self.worst_growth) // 1024)))
        self.rows.append((
            "garbage, halves and silence straight to the workers' socket, slow "
            "clients to the web servers", "{:,} requests of garbage, {:,} slow "
            "ones to the socket, {:,} to the web servers".format(
                times["garbage"], times["slow"], times["web"]),
            "nothing; no worker ended, none was taken for more than {:.1f} s"
            .format(self.held.held_s)))

    def report(self):
        proof.write_rows("soak", (
            row + ("make soak SECONDS=%d" % self.seconds,)
            for row in self.rows))
        return proof.end("soak", self.passed, self.failed)
