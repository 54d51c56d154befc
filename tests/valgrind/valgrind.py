#!/usr/bin/env python3
"""Runs the unit tests and the programs of the end to end tests under memcheck,
and judges what it wrote.

usage: valgrind.py FOLDER [unit] [e2e] [PATTERN...]
    FOLDER: where they were built; a PATTERN is one of tests/e2e/run.py
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../proof"))

import proof                # noqa: E402
from proof import ROOT      # noqa: E402

TOOL = ["valgrind", "--quiet", "--vgdb=no", "--leak-check=full",
        "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite",
        "--child-silent-after-fork=no", "--trace-children=yes",
        "--trace-children-skip=/bin/*,/usr/*,/sbin/*",
        "--suppressions=" + HERE + "/known.supp"]
# Their programs are built anew by the tests, or are killed on purpose by a
# library that is loaded before everything else, valgrind included.
NOT_E2E = ("test_make", "test_static", "test_kill")
PROGRAMS = ("tasks.fcgi", "guard.fcgi", "idem", "tests/ledger.fcgi")
UNIT_SECONDS = 1200


class Logs:
    """A folder for what memcheck writes: a file for each process."""

    def __init__(self, place, name):
        self.path = os.path.join(place, name)
        shutil.rmtree(self.path, ignore_errors=True)
        os.mkdir(self.path)
        os.chmod(self.path, 0o1777)

    def option(self, name):
        return "--log-file=%s/%s.%%p.%%n" % (self.path, name)

    def found(self, name="", owner=None):
        """What was found, each kind once: same finding, same three callers.
        Leaks are those of the owner, if one is named: what a forked child had
        from its parent it does not free."""
        kinds = {}
        for file in glob.glob("%s/%s*" % (self.path, name)):
            with open(file, encoding="utf-8", errors="replace") as log:
                # Other lines are no findings: what valgrind cannot do, or
                # what a program wrote that has no output.
                text = "\n".join(re.findall(r"(?m)^==\d+== ?(.*)",
                                            log.read()))
            for part in text.split("\n\n"):
                if " lost in loss record " in part and owner and (
                        ".%d." % owner not in file):
                    continue
                if part.strip() and "Process terminating" not in part:
                    kind = re.sub(r"0x[0-9A-F]+|\d[\d,]* bytes", "",
                                  "\n".join(part.split("\n")[:5]))
                    kinds.setdefault(kind, part.strip())
        return list(kinds.values())

    def processes(self):
        return len(os.listdir(self.path))


def run_test(logs, program):
    """(name, did the test pass, what memcheck found)"""
    name = os.path.basename(program)
    run = subprocess.Popen(TOOL + [logs.option(name), program], cwd=ROOT,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        said = run.communicate(timeout=UNIT_SECONDS)[0]
    except subprocess.TimeoutExpired:
        run.kill()
        said = run.communicate()[0] + b"stopped after its time"
    said, passed = said.decode(errors="replace"), run.returncode == 0
    ran = re.search(r"\[==========\].* (\d+) test", said)
    # A check that fails leaves by longjmp(), and what was allocated stays.
    found = logs.found(name + ".", run.pid if passed else -1)
    print("%-28s %s%s" % (name, "" if passed else "its own checks failed; ",
                          "%d found" % len(found) if found else "clean"))
    if not passed:
        print("\n".join(line for line in said.split("\n")
                        if "ERROR" in line or "FAILED" in line
                        or "error:" in line))
    sys.stdout.flush()
    return int(ran.group(1)) if ran else 0, found


def unit(place, _):
    """(how many tests, of how many processes, findings)"""
    logs = Logs(place, "unit")
    names = [os.path.basename(path)[:-len(".c")]
             for path in glob.glob(ROOT + "/tests/unit/test_*.c")]
    programs = [os.path.join(place, "built/san", n) for n in sorted(names)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda p: run_test(logs, p), programs))
    return (sum(ran for ran, _ in results), logs.processes(),
            [text for _, found in results for text in found])


def wrap(place, logs):
    """A folder of programs that start the real ones under memcheck.  The
    harness finds such a process by the comment among its options."""
    build = os.path.join(place, "wrapped")
    shutil.rmtree(build, ignore_errors=True)
    shutil.copytree(os.path.join(place, "built/tests"), build + "/tests")
    for name in PROGRAMS:
        with open(os.path.join(build, name), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec %s %s \"--xml-user-comment=$0\" %s "
                       "\"$@\"\n" % (
                           " ".join("'%s'" % word for word in TOOL),
                           logs.option(os.path.basename(name)),
                           os.path.join(place, "built", name)))
        os.chmod(os.path.join(build, name), 0o755)
    return build


def e2e(place, patterns):
    logs = Logs(place, "e2e")
    names = [os.path.basename(path)[:-len("py")]
             for path in glob.glob(ROOT + "/tests/e2e/test_*.py")]
    chosen = patterns or [name for name in sorted(names)
                          if name[:-1] not in NOT_E2E]
    run = subprocess.Popen(
        [sys.executable, ROOT + "/tests/e2e/run.py"] + chosen, cwd=ROOT,
        env=dict(os.environ, BUILD=wrap(place, logs), IDEM_SLOW="6"),
        stdout=subprocess.PIPE)
    passed = 0
    for line in run.stdout:
        text = line.decode(errors="replace")
        print(text, end="")
        sys.stdout.flush()
        total = re.match(r"e2e: (\d+) passed", text)
        passed = int(total.group(1)) if total else passed
    run.wait()
    return passed, logs.processes(), logs.found()


KINDS = {"unit": unit, "e2e": e2e}


def write_row(counts):
    proof.write_rows("valgrind", [(
        "nothing: memcheck looks at every access to memory",
        "; ".join("%d %s tests in %d processes" % (
            ran, name, processes) for name, ran, processes in counts),
        "nothing found: no bad access, no unset value used or written, "
        "no leak", "make valgrind")])


def main():
    place, words = sys.argv[1], sys.argv[2:]
    patterns = [word for word in words if word not in KINDS]
    counts, bad = [], []
    for name, function in KINDS.items():
        if name not in words:
            continue
        ran, processes, found = function(place, patterns)
        counts.append((name, ran, processes))
        bad += found
        print("%s under memcheck: %d tests, %d processes, %d found" % (
            name, ran, processes, len(found)))
    for text in bad:
        print("---\n" + text)
    ran = sum(count[1] for count in counts)
    if ran and not bad:
        write_row(counts)
    return proof.end("valgrind", ran, len(bad) + (ran == 0))


if __name__ == "__main__":
    sys.exit(main())
