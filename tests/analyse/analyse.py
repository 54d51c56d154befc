#!/usr/bin/env python3
"""Reads the C code with programs that do not run it, and has them find faults
that were planted: one that is blind looks like clean code.

usage: analyse.py [--short]     --short: the quick programs, src and fcgi only
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys

import tools

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../proof"))

import proof                # noqa: E402
from proof import ROOT      # noqa: E402

PLANTED = "tests/analyse/planted"
# The others are tools that end where something goes wrong, and leave to the
# kernel what they hold; each has its own way of being compiled.
TESTS = ["tests/%s/*.c" % name for name in ("unit", "e2e", "bench", "tsan")]


def read(tool, path, test=False):
    """(did it find something, what it said)"""
    run = subprocess.run(tool.argv(path, test), cwd=ROOT,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return run.returncode != 0, run.stdout.decode(errors="replace")


def check_code(tool, path, test):
    """None, or what is wrong."""
    found, said = read(tool, path, test)
    return "%s: %s\n%s" % (tool.name, path, said) if found else None


def marks(path):
    """Of a planted file: the line with the fault (0: none), and who sees it."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = re.search(r"/\* FAULT: (.*) \*/", line)
            if match:
                return number, match.group(1).split(", ")
    return 0, []


def check_planted(tool, path):
    line, seers = marks(path)
    found, said = read(tool, path)
    if tool.program not in seers:
        if line == 0 and found:
            return "%s finds fault with %s:\n%s" % (tool.name, path, said)
        return None
    # Some name the line before: where the way to the fault was taken.
    at = re.search(r"%s:(%d|%d):" % (re.escape(os.path.basename(path)),
                                     line - 1, line), said)
    return None if found and at else (
        "%s does not see the fault planted in %s:%d\n%s" % (
            tool.name, path, line, said))


def files(*patterns):
    found = []
    for pattern in patterns:
        found += glob.glob(os.path.join(ROOT, pattern))
    return sorted(os.path.relpath(path, ROOT) for path in found)


def jobs(chosen, short):
    """(function, its arguments), all of them."""
    for path in files(PLANTED + "/*.c"):
        for tool in chosen:
            if marks(path)[0] == 0 or tool.program in marks(path)[1]:
                yield check_planted, (tool, path)
    for path in files("src/*/*.c", "fcgi/*/*.c"):
        for tool in chosen:
            yield check_code, (tool, path, False)
    for path in [] if short else files(*TESTS):
        for tool in chosen:
            if tool.reads_tests:
                yield check_code, (tool, path, True)


def write_row(chosen, nfiles, nfaults):
    proof.write_rows("analyse", [(
        "the code itself, read by " + ", ".join(t.name for t in chosen),
        "%d files; %d planted faults" % (nfiles, nfaults),
        "nothing found that is not explained beside the code; each "
        "planted fault seen", "make analyse")])


def missing(chosen):
    names = [t.program for t in chosen if shutil.which(t.program) is None]
    for name in names:
        print("analyse: %s is not installed: tools/deps.sh analyse" % name)
    return bool(names)


def main():
    short = sys.argv[1:] == ["--short"]
    name = "analyse-short" if short else "analyse"
    chosen = [t for t in tools.ALL if t.short or not short]
    if missing(chosen):
        return 1
    todo = list(jobs(chosen, short))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [text for text in pool.map(
            lambda job: job[0](*job[1]), todo) if text]
    for text in wrong:
        print(text)
    nfaults = len([p for p in files(PLANTED + "/*.c") if marks(p)[0]])
    nfiles = len({args[1] for _, args in todo}) - nfaults
    print("%s: %s" % (name, ", ".join(t.name for t in chosen)))
    if not wrong and not short:
        write_row(chosen, nfiles, nfaults)
    return proof.end(name, len(todo) - len(wrong), len(wrong))


if __name__ == "__main__":
    sys.exit(proof.run("analyse", main))
