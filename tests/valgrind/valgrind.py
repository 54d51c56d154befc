#!/usr/bin/env python3
"""Runs the unit tests and the programs of the end to end tests under memcheck,
and judges what it wrote.  A part (a unit test's program, a class of end to end
tests) that ended well is not run again before its programs or tests change.

usage: valgrind.py FOLDER [anew] [unit] [e2e] [PATTERN...]
    FOLDER: where they were built; anew: every part is run;
    a PATTERN is part of a unit test's name or one of tests/e2e/run.py
"""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, folder) for folder in (
    "../proof", "../e2e")]
# Before tests/e2e is imported, which asks for both.
SLOW = os.environ.setdefault("IDEM_SLOW", "6")

import proof                # noqa: E402
import run                  # noqa: E402
from proof import ROOT      # noqa: E402

TOOL = [shutil.which("valgrind"), "--quiet", "--vgdb=no", "--leak-check=full",
        "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite",
        "--child-silent-after-fork=no", "--trace-children=yes",
        "--trace-children-skip=/bin/*,/usr/*,/sbin/*"]
# What memcheck cannot follow: how the name of a test, module.Class.test,
# begins, and why.
NOT_HERE = (
    ("test_static.", "memcheck takes the place of malloc() in shared "
     "libraries, and a static program has none; an empty root directory "
     "has no valgrind in it"),
    ("test_harm_limits.Limits.test_address_space_at_start",
     "valgrind has no room in so little address space"),
    ("test_harm_room.Ends.test_no_address_space",
     "what valgrind needs of the address space counts, too"),
    ("test_harm_limits.Limits.test_open_files_at_start",
     "valgrind needs more files than that"),
    ("test_operator.Explain.test_closed_descriptors",
     "valgrind opens what is closed of descriptors 0 to 2"),
    ("test_harm_processes.Crowd.",
     "300 valgrinds at once want more memory than most machines have"),
    ("test_process.Memory", "valgrind has memory of its own"),
    ("test_process.OneWorker.test_no_descriptor_of_the_parent_is_kept_open",
     "valgrind has files of its own"),
    ("test_process.Supervisor.test_sighup_replaces_all_and_loses_nothing",
     "the program that a process runs is valgrind"),
    ("test_make.Experiment.", "its clients wait for 200 ms and no longer"),
    ("test_make_interrupt.", "it interrupts other builds of the programs"),
)
# How a process is ended by somebody, or by a file that was cut under it; not by
# a fault of its own.
ENDED = re.compile(r"\s*Process terminating with default action of signal "
                   r"(?!4 |6 |8 |11 )")
WORDS_STAND_HERE = b"the words of valgrind stand here"      # self.c
PROGRAMS = ("tasks.fcgi", "guard.fcgi", "idem", "tests/ledger.fcgi")
UNIT_SECONDS = 1200
WORDS = ("anew", "unit", "e2e")


class Part:
    """A folder for what memcheck writes, a file for each process, and the
    result beside it."""

    def __init__(self, place, kind, name):
        self.name = name
        self.path = os.path.join(place, kind, name)
        self.logs = os.path.join(self.path, "log")

    def begin(self):
        shutil.rmtree(self.path, ignore_errors=True)
        os.makedirs(self.logs)
        os.chmod(self.logs, 0o1777)

    def tool(self):
        return TOOL + ["--suppressions=%s/known.supp" % os.path.dirname(
            os.path.dirname(self.path))]

    def option(self, name):
        return "--log-file=%s/%s.%%p.%%n" % (self.logs, name)

    def end(self, owner=None, **result):
        """Keep what came of it, with what was found."""
        result.update(name=self.name, processes=len(os.listdir(self.logs)),
                      found=self.found(owner))
        with open(self.path + "/result.json", "w", encoding="utf-8") as file:
            json.dump(result, file)
        return result

    def before(self, files):
        """The result of a run that ended well and is newer than the files."""
        path = self.path + "/result.json"
        try:
            if os.path.getmtime(path) < max(map(os.path.getmtime, files)):
                return None
            with open(path, encoding="utf-8") as file:
                result = json.load(file)
        except (OSError, ValueError):
            return None
        return None if result["failed"] or result["found"] else result

    def found(self, owner):
        """What was found, each kind once: same finding, same three callers.
        Leaks are those of the owner, if one is named: what a forked child had
        from its parent it does not free."""
        kinds = {}
        for path in glob.glob(self.logs + "/*"):
            with open(path, encoding="utf-8", errors="replace") as log:
                # Other lines are no findings: what valgrind cannot do, or
                # what a program wrote that has no output.
                text = "\n".join(re.findall(r"(?m)^==\d+== ?(.*)",
                                            log.read()))
            for part in text.split("\n\n"):
                if " lost in loss record " in part and owner and (
                        ".%d." % owner not in path):
                    continue
                if part.strip() and not ENDED.match(part):
                    kind = re.sub(r"0x[0-9A-F]+|\d[\d,]* bytes", "",
                                  "\n".join(part.split("\n")[:5]))
                    kinds.setdefault(kind, part.strip())
        return list(kinds.values())


def say(text):
    print(text)
    sys.stdout.flush()


def run_unit(part, program):
    """Of a unit test's program: how many tests it ran, and the rest."""
    part.begin()
    child = subprocess.Popen(part.tool() + [part.option(part.name), program],
                             cwd=ROOT, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    try:
        said = child.communicate(timeout=UNIT_SECONDS)[0]
    except subprocess.TimeoutExpired:
        child.kill()
        said = child.communicate()[0] + b"stopped after its time"
    said, passed = said.decode(errors="replace"), child.returncode == 0
    ran = re.search(r"\[==========\].* (\d+) test", said)
    # A check that fails leaves by longjmp(), and what was allocated stays.
    result = part.end(child.pid if passed else -1, failed=int(not passed),
                      ran=int(ran.group(1)) if ran else 0)
    say("%-28s %s%s" % (
        part.name, "" if passed else "its own checks failed; ",
        "%d found" % len(result["found"]) if result["found"] else "clean"))
    if not passed:
        say("\n".join(line for line in said.split("\n")
                      if "ERROR" in line or "FAILED" in line
                      or "error:" in line))
    return result


def unit(place, patterns):
    jobs = []
    for path in sorted(glob.glob(ROOT + "/tests/unit/test_*.c")):
        name = os.path.basename(path)[:-len(".c")]
        program = os.path.join(place, "built/san", name)
        if not patterns or any(p in name for p in patterns):
            jobs.append((Part(place, "unit", name), [program], run_unit,
                         program))
    return jobs, 0


def arm(place, part):
    """A folder of programs that start themselves under memcheck."""
    build = os.path.join(part.path, "build")
    shutil.copytree(os.path.join(place, "built/tests"), build + "/tests")
    for name in PROGRAMS:
        words = part.tool() + [part.option(os.path.basename(name))]
        shutil.copy(os.path.join(place, "built", name),
                    os.path.join(build, name))
        with open(os.path.join(build, name), "r+b") as file:
            at = file.read().index(WORDS_STAND_HERE)
            file.seek(at)
            file.write("\n".join(words).encode() + b"\0")
    return build


def run_e2e(part, place, names):
    part.begin()
    build = arm(place, part)
    result = run.run_class(part.name, names, dict(os.environ, BUILD=build))
    shutil.rmtree(build)
    run.report(result)
    return part.end(ran=result["passed"], failed=result["failed"],
                    skipped=result["skipped"])


def why_not(test):
    """Why memcheck cannot follow it, or None."""
    return next((why for begin, why in NOT_HERE if test.startswith(begin)),
                None)


def e2e(place, patterns):
    files = [os.path.join(place, "built", name) for name in PROGRAMS]
    files += glob.glob(place + "/built/tests/*")
    files += glob.glob(ROOT + "/tests/e2e/harness/*.py")
    jobs, left = [], {}
    for group, names in sorted(run.chosen(patterns).items()):
        here = []
        for name in names:
            why = why_not("%s.%s" % (group, name))
            if why:
                left.setdefault(why, []).append("%s.%s" % (group, name))
            else:
                here.append(name)
        if here:
            test = "%s/tests/e2e/%s.py" % (ROOT, group.partition(".")[0])
            jobs.append((Part(place, "e2e", group), files + [test], run_e2e,
                         place, here))
    for why, tests in left.items():
        say("not under memcheck: %s\n    %s" % (why, "\n    ".join(tests)))
    return jobs, sum(len(tests) for tests in left.values())


KINDS = {"unit": unit, "e2e": e2e}


def run_all(jobs, anew):
    """The results, two parts at a time."""
    def one(part, files, function, *args):
        done = None if anew else part.before(files)
        if done:
            say("%-44s %3d before" % (part.name, done["ran"]))
        proof.reached("%s is the last part begun" % part.name)
        return done or function(part, *args)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda job: one(*job), jobs))


def write_row(counts):
    names = {"unit": "unit", "e2e": "end to end"}
    named = [(ran, names[name], processes)
             for name, ran, processes, _ in counts]
    proof.write_rows("valgrind", [(
        "nothing: memcheck looks at every access to memory",
        "%s | %d more that it cannot follow, listed with the reason" % (
            "; ".join("{:,} {} tests in {:,} processes".format(*count[:3])
                      for count in named), sum(c[3] for c in counts)),
        "nothing found: no bad access, no unset value used or written, "
        "no leak", "make valgrind")])


def main():
    place, words = sys.argv[1], sys.argv[2:]
    patterns = [word for word in words if word not in WORDS]
    shutil.copy(os.path.join(HERE, "known.supp"), place)
    counts, bad = [], []
    for name, function in KINDS.items():
        if name not in words:
            continue
        jobs, nleft = function(place, patterns)
        results = run_all(jobs, "anew" in words)
        ran, processes, failed = (sum(r[key] for r in results) for key in (
            "ran", "processes", "failed"))
        found = {text for r in results for text in r["found"]}
        counts.append((name, ran, processes, nleft))
        bad += found
        say("%s under memcheck: %d tests, %d processes, %d found%s" % (
            name, ran, processes, len(found),
            "; %d tests failed of their own" % failed if failed else ""))
    for text in bad:
        print("---\n" + text)
    ran = sum(count[1] for count in counts)
    if not bad and not patterns and len(counts) == len(KINDS):
        write_row(counts)
    return proof.end("valgrind", ran, len(bad) + (ran == 0))


if __name__ == "__main__":
    sys.exit(proof.run("valgrind", main))
