#!/usr/bin/env python3
"""Runs the end to end tests, each class in a process of its own, two at a
time.

usage: run.py [-j N] [--shuffle [--seed SEED]] [--times N] [--name NAME]
              [PATTERN...]
a PATTERN is part of module.Class.test; --shuffle: the classes and the tests
of each in another order, the one of the seed that it prints
"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../proof"))

import proof                # noqa: E402

# For one class; then it is stopped and has failed.
SECONDS = 300 * int(os.environ.get("IDEM_SLOW", "1"))


def every_test(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from every_test(item)
        else:
            yield item


def chosen(patterns):
    """module.Class -> names of its tests, as far as a pattern fits."""
    classes = {}
    for test in every_test(unittest.TestLoader().discover(HERE)):
        if patterns and not any(p in test.id() for p in patterns):
            continue
        group, _, name = test.id().rpartition(".")
        classes.setdefault(group, []).append(name)
    return classes


def in_order_of(seed, classes):
    """Another order, the same for the same seed and tests."""
    rng = random.Random(seed)
    groups = sorted(classes.items())
    rng.shuffle(groups)
    return {group: rng.sample(names, len(names)) for group, names in groups}


def run_class(group, names, env=None):
    """Run one class; a dict with counts, skips and what it printed."""
    began = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, os.path.join(HERE, "one.py"), group] + names,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    try:
        out, err = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        child.terminate()
        out, err = child.communicate()
        err += b"\nstopped after %d s\n" % SECONDS
    try:
        result = json.loads(out.decode().strip().split("\n")[-1])
    except ValueError:
        result = {"passed": 0, "failed": len(names), "skipped": []}
    return dict(result, group=group, text=err.decode(errors="replace"),
                seconds=time.monotonic() - began)


def report(result):
    print("%-44s %3d passed %s%5.1f s" % (
        result["group"], result["passed"],
        "%3d FAILED " % result["failed"] if result["failed"] else "",
        result["seconds"]))
    for name, why in result["skipped"]:
        print("    skipped %s: %s" % (name, why))
    if result["failed"]:
        print(result["text"])
    sys.stdout.flush()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--shuffle", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--times", type=int, default=1, metavar="N")
    parser.add_argument("--name", default="e2e", help="of the last line")
    parser.add_argument("patterns", nargs="*")
    return parser.parse_args()


def main(args):
    sys.path.insert(0, HERE)
    classes = chosen(args.patterns)
    if not classes:
        print("%s: no test fits %r" % (args.name, args.patterns))
        return 1
    if args.shuffle:
        print("%s: --shuffle --seed %d" % (args.name, args.seed), flush=True)
        classes = in_order_of(args.seed, classes)
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        jobs = [pool.submit(run_class, group, names)
                for _ in range(args.times)
                for group, names in classes.items()]
        for job in concurrent.futures.as_completed(jobs):
            result = job.result()
            report(result)
            passed += result["passed"]
            failed += result["failed"]
            skipped += len(result["skipped"])
            proof.reached("%d passed, %d failed" % (passed, failed))
    print("%s: %d passed, %d failed%s" % (
        args.name, passed, failed, ", %d skipped" % skipped if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    ARGS = arguments()
    sys.exit(proof.run(ARGS.name, lambda: main(ARGS)))
