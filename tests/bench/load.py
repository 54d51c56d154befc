"""Servers of several kinds side by side, and wrk's load on each in turn."""
import contextlib
import os
import urllib.request

import place


class Site:
    """One server: who answers, how many workers, what was asked of it."""

    def __init__(self, kind, nworkers, workers, url):
        self.kind, self.nworkers = kind, nworkers
        self.workers, self.url = workers, url
        self.ncreated = 0           # by wrk's count
        self.nfailed = 0
        self.nruns = 0

    def load(self, mode, seconds):
        """Requests a second, and the 99th percentile in microseconds."""
        self.nruns += 1
        prefix = "warm" if mode == "replay" else "k%d" % self.nruns
        done, micros, failed, p99 = wrk(self.url, mode, prefix, seconds,
                                        2 * self.nworkers)
        self.nfailed += failed
        if mode == "new":
            self.ncreated += done
        # what this one left unwritten is not to be the next one's burden
        os.sync()
        return done / (micros / 1e6), p99

    def warm(self):
        """Make the keys of mode replay, and with them task 1."""
        for i in range(100):
            post(self.url, "warm-%d" % i)
        again = post(self.url, "warm-99")
        if self.kind != "bare" and again.get("Idempotency-Replayed") != "true":
            raise RuntimeError("%s does not replay" % self.kind)

    def faults(self):
        """What is wrong with the answers that were counted."""
        out = []
        if self.nfailed > 0:
            out.append("%s: %d requests failed" % (self.kind, self.nfailed))
        if self.kind != "bare" and self.ncreated > 0:
            stored = place.idem("stats", self.workers.store)["records"]
            if stored < self.ncreated:
                out.append("%s: %d answers, %d records" % (
                    self.kind, self.ncreated, stored))
        return out


def wrk(url, mode, prefix, seconds, nconnections):
    env = dict(os.environ, MODE=mode, PREFIX=prefix)
    out = place.output(["wrk", "-t1", "-c%d" % nconnections,
                        "-d%ds" % seconds, "-s",
                        os.path.join(place.HERE, "post.lua"), url], env=env)
    line = [l for l in out.splitlines() if l.startswith("RESULT")][0]
    return [int(x) for x in line.split()[1:]]


def post(url, key):
    request = urllib.request.Request(
        url + "/vazifalar", b'{"matn":"Non olish #uy"}',
        {"Content-Type": "application/json", "Idempotency-Key": key})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.headers


KINDS = {
    "durable": lambda d, n: place.tasks(d, n, "full"),
    "none": lambda d, n: place.tasks(d, n, "none"),
    "single": lambda d, n: place.tasks(d, n, "full", plain=True),
    "bare": place.bare,
}


@contextlib.contextmanager
def site(kind, nworkers, prepare=None):
    with place.folder() as d:
        if prepare is not None:
            prepare(os.path.join(d, "store"))
        with KINDS[kind](d, nworkers) as workers, \
                place.lighttpd(d, workers.path) as url:
            yield Site(kind, nworkers, workers, url)


@contextlib.contextmanager
def sites(kinds, nworkers):
    """All of them at once: idle ones cost nothing."""
    with contextlib.ExitStack() as stack:
        yield {kind: stack.enter_context(site(kind, nworkers))
               for kind in kinds}
