#!/usr/bin/env python3
"""Runs the tests on programs that count which of their lines ran, and prints
the share of each file, the lowest first.

usage: coverage.py FOLDER [unit] [e2e]     FOLDER: where they were built
"""
import glob
import os
import subprocess
import sys

import lines

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../proof"))

import proof                # noqa: E402
from proof import ROOT      # noqa: E402

FILE_PERCENT, TOTAL_PERCENT = 90, 95    # of the lines of src/
# They build the programs anew, without counters.
NOT_E2E = ("test_make", "test_make_interrupt", "test_static")


def run_unit(place):
    names = [os.path.basename(path)[:-len(".c")]
             for path in glob.glob(ROOT + "/tests/unit/test_*.c")]
    return subprocess.call(
        [ROOT + "/tests/run-unit.sh"]
        + [os.path.join(place, "san", name) for name in sorted(names)],
        cwd=ROOT)


def run_e2e(place):
    names = [os.path.basename(path)[:-len("py")]
             for path in glob.glob(ROOT + "/tests/e2e/test_*.py")]
    chosen = [name for name in sorted(names) if name[:-1] not in NOT_E2E]
    return subprocess.call(
        [sys.executable, ROOT + "/tests/e2e/run.py"] + chosen,
        cwd=ROOT, env=dict(os.environ, BUILD=place))


RUNS = {"unit": run_unit, "e2e": run_e2e}


class Share:
    """What was run of some lines."""

    def __init__(self):
        self.ran = self.all = 0

    def add(self, other):
        self.ran += other.ran
        self.all += other.all

    @property
    def percent(self):
        return 100.0 * self.ran / self.all if self.all else 100.0

    def row(self, name):
        return "%6.1f %%  %5d of %5d lines  %s" % (
            self.percent, self.ran, self.all, name)


def share_of(counts):
    """(Share, the lines that did not run)"""
    share, idle = Share(), []
    for line, count in sorted(counts.items()):
        share.all += 1
        share.ran += count > 0
        if count == 0:
            idle.append(line)
    return share, idle


def ranges(numbers):
    """1 2 3 7: "1-3 7"."""
    out = []
    for n in numbers:
        if out and n == out[-1][1] + 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return " ".join("%d" % a if a == b else "%d-%d" % (a, b)
                    for a, b in out)


def report(counted):
    """Print the table; the sums of src/ and fcgi/, and the files below."""
    total = {"src/": Share(), "fcgi/": Share()}
    rows, low = [], []
    for path, counts in counted.items():
        share, idle = share_of(counts)
        part = "fcgi/" if path.startswith("fcgi/") else "src/"
        total[part].add(share)
        rows.append((share.percent, share.row(path), ranges(idle)))
        if part == "src/" and share.percent < FILE_PERCENT:
            low.append(path)
    for _, row, idle in sorted(rows):
        print(row + ("\n           not run: " + idle if idle else ""))
    for part, share in total.items():
        print(share.row("all of " + part))
    return total, low


def write_row(total):
    src, fcgi = total["src/"], total["fcgi/"]
    proof.write_rows("coverage", [(
        "nothing: which lines the tests run",
        "{:,} of {:,} lines of src/, {:,} of {:,} of fcgi/".format(
            src.ran, src.all, fcgi.ran, fcgi.all),
        "%.1f %% and %.1f %% ran | no line is left out of the count" % (
            src.percent, fcgi.percent),
        "make coverage")])


def main():
    place, chosen = sys.argv[1], sys.argv[2:] or list(RUNS)
    for name in chosen:
        if name not in RUNS:
            sys.exit("COVERAGE=%s: it must be unit, e2e or both" % name)
    lines.clear(place)
    failed = []
    for name in chosen:
        proof.reached("the tests of " + name)
        if RUNS[name](place) != 0:
            failed.append(name)
    total, low = report(lines.collect(place, ROOT))
    for path in low:
        print("below %d %%: %s" % (FILE_PERCENT, path))
    if total["src/"].percent < TOTAL_PERCENT:
        low.append("src/")
        print("below %d %%: src/" % TOTAL_PERCENT)
    for name in failed:
        print("the tests themselves failed: " + name)
    if not failed:
        write_row(total)
    bad = len(low) + len(failed)
    return proof.end("coverage", len(glob.glob(ROOT + "/src/*/*.c")) + 1 +
                     len(chosen) - bad, bad)


if __name__ == "__main__":
    sys.exit(proof.run("coverage", main))
