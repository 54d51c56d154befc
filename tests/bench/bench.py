#!/usr/bin/python3
"""The bench: one table, every row a ratio measured in one run.

usage: bench.py [--quick] [ROWS...]      ROWS: store http reads json records
                                               sweep memory guard
Writes var/bench/results.tsv and docs/bench.svg (see draw.py)."""
import argparse
import os
import statistics
import subprocess
import sys

import draw
import guard
import measure
import place
from measure import Row, rounds, row_of

HERE = os.path.dirname(os.path.abspath(__file__))


# --- claim and finish, without a web server -----------------------------------
def pairs(durability, nworkers, seconds, plain=False):
    with place.folder() as d:
        store = os.path.join(d, "store")
        if plain:
            place.only_plain(store)
        out = place.output([place.build_path("bench", "pairs"), store,
                            durability, str(nworkers), str(seconds)])
        return float(out.split("\t")[0])


def store_rows(o):
    for nworkers, least in ((1, 0.95), (16, 5), (32, 12), (64, 18)):
        got = rounds(o.rounds, {
            "group": lambda: pairs("full", nworkers, o.seconds),
            "plain": lambda: pairs("full", nworkers, o.seconds, True)})
        yield row_of(got, "group", "plain",
                     "claim+finish, durable, %d worker%s" % (
                         nworkers, "s" if nworkers > 1 else ""),
                     "pairs/s", "one commit after another", least)


# --- behind lighttpd ----------------------------------------------------------
def wrk(url, mode, prefix, seconds, nconnections):
    env = dict(os.environ, MODE=mode, PREFIX=prefix)
    out = place.output(["wrk", "-t1", "-c%d" % nconnections,
                        "-d%ds" % seconds, "-s",
                        os.path.join(HERE, "post.lua"), url], env=env)
    line = [l for l in out.splitlines() if l.startswith("RESULT")][0]
    _, done, micros, errors, p99 = line.split()
    if int(errors) > 0:
        raise RuntimeError("wrk saw %s errors:\n%s" % (errors, out))
    return int(done) / (int(micros) / 1e6), int(p99)


def loaded(what, nworkers, mode, seconds):
    """Requests a second of one program behind lighttpd."""
    with place.folder() as d, what(d, nworkers) as path, \
            place.lighttpd(d, path) as url:
        if mode != "new":
            wrk(url, "replay", "warm", 1, 2)
        return wrk(url, mode, "warm" if mode == "replay" else "k", seconds,
                   2 * nworkers)[0]


def durable(d, n):
    return place.tasks(d, n, "full")


def not_durable(d, n):
    return place.tasks(d, n, "none")


def one_by_one(d, n):
    return place.tasks(d, n, "full", plain=True)


def http_rows(o):
    for nworkers in (32, 64):
        got = rounds(o.rounds, {
            name: (lambda f=f: loaded(f, nworkers, "new", o.seconds))
            for name, f in (("durable", durable), ("none", not_durable),
                            ("bare", place.bare), ("single", one_by_one))})
        for other, against, least in (
                ("none", "durability none", 0.75),
                ("bare", "the least libfcgi program", 0.50),
                ("single", "one commit after another", 4)):
            yield row_of(got, "durable", other,
                         "HTTP, durable, new keys, %d workers" % nworkers,
                         "requests/s", against, least)


def read_rows(o):
    for name, what, mode, least in (
            ("HTTP, durability none, new keys, 16 workers", not_durable,
             "new", 0.75),
            ("HTTP, replays, 16 workers", durable, "replay", 0.90),
            ("HTTP, reads without a key, 16 workers", durable, "read", 0.95)):
        got = rounds(o.rounds, {
            "idem": lambda: loaded(what, 16, mode, o.seconds),
            "bare": lambda: loaded(place.bare, 16, mode, o.seconds)})
        yield row_of(got, "idem", "bare", name, "requests/s",
                     "the least libfcgi program", least)


# --- canonical form -----------------------------------------------------------
def json_rows(o):
    """bench_json measures in rounds itself; its lines: size, kind, ratio of
    SHA-256 alone to canonical form with SHA-256, ratio of cJSON_Parse to the
    canonical form."""
    out = place.output([place.build_path("bench", "json"), "--tsv"])
    for line in out.splitlines():
        size, kind, sha, both, cjson, canonical = line.split("\t")
        row = Row("canonical form + SHA-256, %s, %s" % (size, kind), "MB/s",
                  "SHA-256 alone", 0.25)
        row.add(float(both), float(sha))
        yield row
        row = Row("canonical form, %s, %s" % (size, kind), "MB/s",
                  "cJSON_Parse", 1.0)
        row.add(float(canonical), float(cjson))
        yield row


# --- many records -------------------------------------------------------------
def claims(d, n):
    out = place.output([place.build_path("bench", "records"), d, str(n)])
    p50, p99, per_record = (float(x) for x in out.split("\t"))
    return p50, p99, per_record


def record_rows(o):
    sizes = [10000, 1000000] + ([] if o.quick else [10000000])
    with place.folder() as d:
        stores = {n: os.path.join(d, str(n)) for n in sizes}
        got = {n: [] for n in sizes}
        for _ in range(o.rounds):
            for n in sizes:         # filled at the first call
                got[n].append(claims(stores[n], n))
    for n in sizes[1:]:
        for at, name, least in ((0, "median", 1.5), (1, "99th percentile", 2)):
            row = Row("claim among %d records, %s" % (n, name),
                      "us", "among %d" % sizes[0], least, "less")
            for ours, theirs in zip(got[n], got[sizes[0]]):
                row.add(ours[at], theirs[at])
            row.note = "%.0f bytes on disk a record" % statistics.median(
                x[2] for x in got[n])
            yield row


# --- sweep --------------------------------------------------------------------
def swept(how, n):
    with place.folder() as d:
        out = place.output([place.build_path("bench", "sweep"), how, d,
                            str(n)])
        return float(out)


def latency(d, url, name, o, sweep):
    beside = None
    if sweep:
        beside = subprocess.Popen(
            [place.build_path("bench", "sweep"), "go", d + "/store"],
            stdout=subprocess.PIPE, text=True)
    p99 = wrk(url, "new", name, o.seconds, 32)[1]
    if beside is not None:
        beside.kill()
        beside.wait()
    return p99


def sweep_rows(o):
    n = 100000 if o.quick else 1000000
    got = rounds(o.rounds, {"ours": lambda: swept("idem", n),
                            "lmdb": lambda: swept("lmdb", n)})
    yield row_of(got, "ours", "lmdb", "sweep of %d expired records" % n,
                 "records/s", "a bare LMDB loop, 500 a batch", 0.8)


# --- memory, start, CGI -------------------------------------------------------
def private_kib(pid):
    total = 0
    with open("/proc/%d/smaps_rollup" % pid) as f:
        for line in f:
            if line.startswith("Private_"):
                total += int(line.split()[1])
    return total


def workers_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        return [int(x) for x in f.read().split()]


def memory_rows(o):
    def ours():
        with place.folder() as d, place.tasks(d, 32, "full") as path, \
                place.lighttpd(d, path) as url:
            wrk(url, "new", "m", o.seconds, 64)
            pids = [int(p) for p in place.output(
                ["pgrep", "-f", "tasks.fcgi.*unix:" + path]).split()]
            return statistics.median(private_kib(p) for p in pids)
    row = Row("private memory of a worker, 32 workers after load", "KiB",
              "4 MiB", 1, "less")
    for _ in range(o.rounds):
        row.add(ours(), 4096)
    yield row
    yield from cgi_rows(o)


CGI = dict(REQUEST_METHOD="POST", REQUEST_URI="/vazifalar",
           SCRIPT_NAME="", PATH_INFO="/vazifalar",
           CONTENT_TYPE="application/json", CONTENT_LENGTH="24",
           SERVER_PROTOCOL="HTTP/1.1", GATEWAY_INTERFACE="CGI/1.1",
           REMOTE_ADDR="127.0.0.1")


def cgi_rows(o):
    """One plain CGI request, from start to end of the process."""
    n = 40

    def ours():
        with place.folder() as d:
            env = dict(CGI, PATH=os.environ["PATH"],
                       IDEM_STORE=d + "/store", IDEM_DURABILITY="none")
            return float(place.output(
                [place.build_path("bench", "spawns"), str(n),
                 place.build_path("tasks.fcgi")], env=env))

    def theirs():
        return float(place.output(
            [place.build_path("bench", "spawns"), str(n),
             place.build_path("bench", "barecgi")],
            env=dict(CGI, PATH=os.environ["PATH"])))

    got = rounds(o.rounds, {"ours": ours, "bare": theirs})
    yield row_of(got, "ours", "bare", "plain CGI, one keyed POST", "us",
                 "a bare CGI program", 2, "less")


GROUPS = {"store": store_rows, "http": http_rows, "reads": read_rows,
          "json": json_rows, "records": record_rows, "sweep": sweep_rows,
          "memory": memory_rows, "guard": guard.guard_rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*", choices=[[], *GROUPS])
    parser.add_argument("--quick", action="store_true")
    o = parser.parse_args()
    o.rounds = 1 if o.quick else 3
    o.seconds = 1 if o.quick else 3
    rows = []
    for name in o.rows or GROUPS:
        for row in GROUPS[name](o):
            rows.append(row)
            print("\t".join(row.cells()), flush=True)
    if o.quick or o.rows:
        return                  # a part is no result
    draw.write_tsv(rows)
    draw.write_svg(rows)


if __name__ == "__main__":
    sys.exit(main())
