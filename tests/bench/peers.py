#!/usr/bin/python3
"""make bench-peers: new keyed POSTs a second here, on disk before the answer
leaves, against middlewares of the field.  Needs node, npm and redis-server; the
packages go to var/bench/peers.  Prints and writes docs/bench-peers.tsv."""
import contextlib
import json
import os
import shutil
import socket
import statistics
import subprocess

import load
import place
from measure import rounds

PACKAGES = ["express", "express-idempotency", "@node-idempotency/core",
            "@node-idempotency/storage-adapter-redis"]
HERE = os.path.dirname(os.path.abspath(__file__))
HOME = os.path.join(place.ROOT, "var", "bench", "peers")
OUT = os.path.join(place.ROOT, "docs", "bench-peers.tsv")
SECONDS, CONNECTIONS, ROUNDS = 2, 64, 3


def install():
    os.makedirs(HOME, exist_ok=True)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent",
                    "--prefix", HOME, *PACKAGES], check=True)
    shutil.copy(os.path.join(HERE, "peers.js"), HOME)


def version(package):
    with open(os.path.join(HOME, "node_modules", package,
                           "package.json")) as f:
        return json.load(f)["version"]


@contextlib.contextmanager
def running(argv, port):
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    try:
        place.wait_for(lambda: place.connects(socket.AF_INET,
                                              ("127.0.0.1", port)))
        yield
    finally:
        place.end(process)


@contextlib.contextmanager
def peer(how, fsync=None):
    """One node process, as these run; gives its URL."""
    port, redis = place.free_port(), place.free_port()
    with place.folder() as d, contextlib.ExitStack() as stack:
        if fsync:
            stack.enter_context(running(
                ["redis-server", "--port", str(redis), "--bind", "127.0.0.1",
                 "--dir", d, "--save", "", "--appendonly",
                 "no" if fsync == "no" else "yes", "--appendfsync", fsync],
                redis))
        stack.enter_context(running(
            ["node", os.path.join(HOME, "peers.js"), how, str(port),
             str(redis)], port))
        yield "http://127.0.0.1:%d" % port


def rate(url, n=[0]):
    n[0] += 1
    env = dict(os.environ, MODE="new", PREFIX="p%d" % n[0])
    out = place.output(["wrk", "-t1", "-c%d" % CONNECTIONS,
                        "-d%ds" % SECONDS, "-s",
                        os.path.join(HERE, "post.lua"), url], env=env)
    line = [l for l in out.splitlines() if l.startswith("RESULT")][0].split()
    if int(line[3]) > 0:
        raise RuntimeError("wrk saw errors:\n" + out)
    return int(line[1]) / (int(line[2]) / 1e6)


def main():
    install()
    with load.site("durable", 32) as ours, peer("memory") as memory, \
            peer("redis", "no") as redis, peer("redis", "always") as always:
        got = rounds(ROUNDS, {
            "idem, on disk, 32 workers behind lighttpd":
                lambda: ours.load("new", SECONDS)[0],
            "express-idempotency %s, in memory" % version(
                "express-idempotency"): lambda: rate(memory),
            "@node-idempotency/core %s, Redis in memory" % version(
                "@node-idempotency/core"): lambda: rate(redis),
            "@node-idempotency/core %s, Redis appendfsync always" % version(
                "@node-idempotency/core"): lambda: rate(always)})
    first = statistics.median(next(iter(got.values())))
    lines = ["what\tnew keys a second\tidem is so many times as fast"]
    for name, rates in got.items():
        mine = statistics.median(rates)
        lines.append("%s\t%.0f\t%.1f" % (name, mine, first / mine))
    print("\n".join(lines))
    with open(OUT, "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
