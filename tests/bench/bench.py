#!/usr/bin/python3
"""The bench: one table, every row a ratio measured in one run.

usage: bench.py [--quick] [PART...]
       PART: store http reads json records sweep process guard
BENCH_LARGE=1: also ten million records.
Writes docs/bench.tsv and docs/bench.svg; a part, or --quick, only prints."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time

import draw
import guard
import load
import place
from measure import Row, rounds, row_of

sys.path.insert(0, os.path.join(place.ROOT, "tests", "e2e"))
from harness import fcgi    # noqa: E402


# --- claim and finish, without a web server -----------------------------------
def pairs(durability, nworkers, seconds, plain=False):
    with place.folder() as d:
        store = os.path.join(d, "store")
        if plain:
            place.only_plain(store)
        return place.figures("pairs", store, durability, nworkers, seconds)


def note_group(row, ncommits, nrequests, ntimeouts, nrecoveries):
    """A sleep that nobody ended, or a recovery, is a fault where nobody was
    killed."""
    row.note("%.1f requests a commit" % (nrequests / max(1, ncommits)))
    if ntimeouts > 0 or nrecoveries > 0:
        row.fail("%d sleeps that nobody ended, %d recoveries" % (
            ntimeouts, nrecoveries))
    return row


def store_rows(o):
    for nworkers, least in ((1, 0.95), (16, 5), (32, 12), (64, 18)):
        got = rounds(2 * o.rounds - 1 if nworkers == 1 else o.rounds, {
            "group": lambda: pairs("full", nworkers, 1),
            "plain": lambda: pairs("full", nworkers, 1, True)})
        row = Row("store", "claim and finish, durable, %d worker%s" % (
            nworkers, "s" if nworkers > 1 else ""), "pairs/s",
            "one commit after another", least)
        for a, b in zip(got["group"], got["plain"]):
            row.add(a[0], b[0])
        yield note_group(row, *(sum(x[4 + i] for x in got["group"])
                                for i in range(4)))


# --- behind lighttpd ----------------------------------------------------------
def loads(o, sites, plan):
    """plan: (site's kind, mode) each; requests a second of each, by round."""
    return rounds(o.rounds, {
        (kind, mode): lambda kind=kind, mode=mode:
            sites[kind].load(mode, o.seconds)[0] for kind, mode in plan})


def checked(row, sites, *kinds):
    for fault in (f for kind in kinds for f in sites[kind].faults()):
        row.fail(fault)
    return row


def http_rows(o):
    for nworkers in (32, 64):
        with load.sites(("durable", "none", "single", "bare"),
                        nworkers) as sites:
            got = loads(o, sites, [(kind, "new") for kind in sites])
            counts = place.figures("counts", sites["durable"].workers.store)
            for other, against, least in (
                    ("none", "durability none", 0.75),
                    ("bare", "the least libfcgi program", 0.50),
                    ("single", "one commit after another", 4)):
                row = row_of(got, ("durable", "new"), (other, "new"), "http",
                             "new keys, durable, %d workers" % nworkers,
                             "requests/s", against, least)
                yield checked(note_group(row, *counts), sites, "durable",
                              other)


def read_rows(o):
    with load.sites(("durable", "none", "bare"), 16) as sites:
        for site in sites.values():
            site.warm()
        got = loads(o, sites, [("none", "new"), ("bare", "new"),
                               ("durable", "replay"), ("bare", "replay"),
                               ("durable", "read"), ("bare", "read")])
        for name, kind, mode, least in (
                ("new keys, durability none, 16 workers", "none", "new", 0.75),
                ("replays, 16 workers", "durable", "replay", 0.90),
                ("reads without a key, 16 workers", "durable", "read", 0.95)):
            yield checked(row_of(got, (kind, mode), ("bare", mode), "http",
                                 name, "requests/s",
                                 "the least libfcgi program", least),
                          sites, kind, "bare")


# --- canonical form -----------------------------------------------------------
def json_rows(_):
    """Of three kinds of JSON the one that does worst."""
    sizes = {}
    for line in place.output([place.build_path("bench", "json"),
                              "--tsv"]).splitlines():
        kind, nbytes, *ns = line.split("\t")
        size = 10 ** (len(nbytes) - 1)
        sizes.setdefault(size, []).append((kind, [float(x) for x in ns]))
    names = {100: "100 B", 1000: "1 KB", 100000: "100 KB"}
    for size, kinds in sizes.items():
        for name, against, least, ours, theirs in (
                ("canonical form and SHA-256, ", "SHA-256 alone", 0.25, 2, 0),
                ("canonical form, ", "cJSON_Parse", 1.0, 1, 3)):
            kind, ns = min(kinds, key=lambda k: k[1][theirs] / k[1][ours])
            yield Row("json", name + names[size], "documents/s", against,
                      least).add(1e9 / ns[ours], 1e9 / ns[theirs]).note(
                          "worst of three kinds: " + kind)


# --- many records -------------------------------------------------------------
def record_rows(o):
    sizes = [10000, 100000 if o.quick else 1000000] + (
        [10000000] if os.environ.get("BENCH_LARGE") else [])
    with place.folder() as d:
        variants = {n: lambda n=n: place.figures(
            "records", os.path.join(d, str(n)), n) for n in sizes}
        got = rounds(o.rounds, variants)    # filled at the first call
    for n in sizes[1:]:
        for at, name, least in ((0, "median", 1.5), (1, "99th percentile", 2)):
            row = Row("records", "a claim among %s records, %s" % (
                "{:,}".format(n), name), "us", "among 10,000", least, "less")
            for ours, theirs in zip(got[n], got[sizes[0]]):
                row.add(ours[at], theirs[at])
            yield row.note("%.0f bytes on disk a record" % got[n][0][2])


# --- sweep --------------------------------------------------------------------
def swept(filled, how, n):
    with place.folder() as d:
        store = os.path.join(d, "store")
        shutil.copytree(filled, store)
        os.sync()
        return place.figures("sweep", how, store, n)[0]


def sweep_rows(o):
    n = 100000 if o.quick else 1000000
    with place.folder() as d:
        filled = os.path.join(d, "filled")
        place.output([place.build_path("bench", "sweep"), "fill", filled,
                      str(n)])
        got = rounds(1 if o.quick else 2, {
            "ours": lambda: swept(filled, "idem", n),
            "lmdb": lambda: swept(filled, "lmdb", n)})
        yield row_of(got, "ours", "lmdb", "sweep",
                     "sweep of %s expired records" % "{:,}".format(n),
                     "records/s", "a bare LMDB loop, 500 a batch", 0.8)
        yield from beside_rows(o, filled)


def beside(store, what):
    """what() while the operator's command sweeps; how many went, too."""
    sweep = subprocess.Popen([place.build_path("idem"), "sweep", "--json",
                              "--store", store], stdout=subprocess.PIPE)
    try:
        got = what()
        if sweep.poll() is not None:
            raise RuntimeError("the sweep ended before the load did")
    finally:
        place.end(sweep)
        sweep.stdout.close()
    return got


def beside_rows(o, filled):
    with load.site("durable", 16,
                   lambda store: shutil.copytree(filled, store)) as site:
        store = site.workers.store
        got = rounds(o.rounds, {
            "with": lambda: beside(store, lambda: site.load("new", 1)),
            "without": lambda: site.load("new", 1)})
        row = Row("sweep", "99th percentile of new keys beside a sweep", "us",
                  "without the sweep", 2, "less")
        for a, b in zip(got["with"], got["without"]):
            row.add(a[1], b[1])
        row.note("%.2f of the requests a second" % statistics.median(
            a[0] / b[0] for a, b in zip(got["with"], got["without"])))
        yield checked(row, {"durable": site}, "durable")
    with place.folder() as d:
        store = os.path.join(d, "store")
        shutil.copytree(filled, store)
        waits = rounds(o.rounds, {
            "with": lambda: beside(store, lambda: place.figures(
                "pairs", store, "full", 4, 1)),
            "without": lambda: place.figures("pairs", store, "full", 4, 1)})
    row = Row("sweep", "longest wait of 4 writers beside a sweep", "ms",
              "50 ms", 1, "less")
    for x in waits["with"]:
        row.add(x[3] / 1000, 50)
    yield row.note("without a sweep %.1f ms" % statistics.median(
        x[3] / 1000 for x in waits["without"]))


# --- memory, start, CGI -------------------------------------------------------
def private_kib(pid):
    with open("/proc/%d/smaps_rollup" % pid) as f:
        return sum(int(line.split()[1]) for line in f
                   if line.startswith(("Private_Dirty", "Private_Clean")))


def process_rows(o):
    with load.sites(("durable", "bare"), 32) as sites:
        for site in sites.values():
            site.load("new", o.seconds)
        row = Row("process", "private memory of a worker after load, "
                  "32 workers", "KiB", "4 MiB", 1, "less")
        for pid in sites["durable"].workers.pids:
            row.add(private_kib(pid), 4096)
        yield checked(row.note("the bare program: %.0f KiB" %
                               statistics.median(
                                   private_kib(pid) for pid in
                                   sites["bare"].workers.pids)),
                      sites, "durable")
    got = rounds(o.rounds, {kind: lambda kind=kind: started_ms(kind)
                            for kind in ("durable", "bare")})
    yield row_of(got, "durable", "bare", "process",
                 "start of 32 workers to the first answer", "ms",
                 "the least libfcgi program", None, "less")
    yield from cgi_rows(o)


REQUEST = fcgi.variables("POST", "/vazifalar", [
    ("Content-Type", "application/json"), ("Idempotency-Key", "start")],
    b'{"matn":"Non olish #uy"}')


def started_ms(kind):
    with place.folder() as d:
        began = time.monotonic()
        with load.KINDS[kind](d, 32) as workers:
            got = fcgi.request(workers.path, REQUEST,
                               b'{"matn":"Non olish #uy"}')
            took = time.monotonic() - began
            if got.status != 201:
                raise RuntimeError("%s: status %d" % (kind, got.status))
    return took * 1000


def cgi(*program, **more):
    env = dict(REQUEST, CONTENT_LENGTH="24", PATH=os.environ["PATH"], **more)
    del env["HTTP_IDEMPOTENCY_KEY"]     # a fresh one each
    return float(place.output([place.build_path("bench", "spawns"), "30",
                               place.build_path(*program)], env=env))


def cgi_rows(o):
    """One plain CGI request, from the start to the end of the process."""
    with place.folder() as d:
        got = rounds(2 * o.rounds - 1, {
            "none": lambda: cgi("tasks.fcgi", IDEM_STORE=d + "/none",
                                IDEM_DURABILITY="none"),
            "bare": lambda: cgi("bench", "barecgi"),
            "full": lambda: cgi("tasks.fcgi", IDEM_STORE=d + "/full")})
    for durability, least in (("none", 2), ("full", None)):
        yield row_of(got, durability, "bare", "process",
                     "plain CGI, a keyed POST, durability " + durability,
                     "us", "a bare CGI program", least, "less")


PARTS = {"store": store_rows, "http": http_rows, "reads": read_rows,
         "json": json_rows, "records": record_rows, "sweep": sweep_rows,
         "process": process_rows, "guard": guard.guard_rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS])
    parser.add_argument("--quick", action="store_true")
    o = parser.parse_args()
    o.rounds = 1 if o.quick else 5
    o.seconds = 1
    rows, began = [], time.monotonic()
    for name in o.parts or PARTS:
        for row in PARTS[name](o):
            rows.append(row)
            print("\t".join(row.cells()), flush=True)
    print("%.0f s" % (time.monotonic() - began), file=sys.stderr)
    if not o.quick and not o.parts:     # a part is no result
        draw.write_tsv(rows)
        draw.write_svg(rows)
    return any(row.wrong for row in rows)


if __name__ == "__main__":
    sys.exit(main())
