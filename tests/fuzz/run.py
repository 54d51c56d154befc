"""Runs the fuzz targets, each from the corpus in the tree, and says what came
of it; or takes what was found into the corpus.

usage: run.py long|short|merge TARGET...
   environment: BUILD, NJOBS, SECONDS (for each target), SEED
   SEEDS: merge takes inputs from there, too: a folder for each target
"""
import os
import re
import shutil
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../proof"))

import proof                # noqa: E402
from proof import BUILD     # noqa: E402

FUZZ = os.path.join(BUILD, "fuzz")
DEFAULT_SECONDS = {"long": 3600, "short": 30}
# An input longer than this finds nothing that a shorter one does not.
MAX_LEN = {"json": 4000, "multipart": 1500, "wire": 1024, "request": 1024,
           "settings": 1024, "pointer": 1024, "routes": 800, "print": 1024}
OTHERS_MAX_LEN = 400
CORPUS_FILES = 199
CORPUS_FILE_BYTES = 200 * 1024


def environment():
    return dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1",
                ASAN_OPTIONS="detect_leaks=1:quarantine_size_mb=16")


def inputs_of(target):
    """The folders of the tree that hold inputs."""
    return [path for path in (os.path.join(HERE, kind, target)
                              for kind in ("corpus", "kept"))
            if os.path.isdir(path)]


def fresh(*parts):
    path = os.path.join(FUZZ, *parts)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def wait_for(process):
    """Its exit status, and the seconds of a core that it took."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


class Run:
    """One target, once."""

    def __init__(self, target, kind, seconds, seed):
        self.target, self.kind = target, kind
        self.seconds, self.seed = seconds, seed
        self.prefix = os.path.join(FUZZ, "found", target + "-")
        self.log = os.path.join(FUZZ, "log", target)
        self.executions = 0
        self.took_s = self.cpu_s = 0.0
        self.status = None

    def command(self):
        work = os.path.join(FUZZ, "work", self.target)
        if self.kind == "short":
            work = fresh("short", self.target)
        os.makedirs(work, exist_ok=True)
        words = [os.path.join(FUZZ, self.target), "-seed=%d" % self.seed,
                 "-max_total_time=%d" % self.seconds, "-timeout=25",
                 "-rss_limit_mb=2048", "-print_final_stats=1",
                 "-max_len=%d" % MAX_LEN.get(
                     self.target, OTHERS_MAX_LEN),
                 "-artifact_prefix=" + self.prefix]
        words_of = os.path.join(HERE, "dict", self.target)
        if os.path.exists(words_of):
            words.append("-dict=" + words_of)
        return words + [work] + inputs_of(self.target)

    def run(self):
        began = time.monotonic()
        for folder in ("found", "log"):
            os.makedirs(os.path.join(FUZZ, folder), exist_ok=True)
        with open(self.log, "wb") as log:
            process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env=environment())
            self.status, self.cpu_s = wait_for(process)
        self.took_s = time.monotonic() - began
        with open(self.log, encoding="utf-8", errors="replace") as log:
            text = log.read()
        count = re.search(r"number_of_executed_units: *(\d+)", text)
        self.executions = int(count.group(1)) if count else 0
        self.found = re.findall(r"Test unit written to (\S+)", text)
        self.tail = text.split("\n")[-60:]

    def good(self):
        return self.status == 0 and self.executions > 0 and not self.found

    def report(self):
        print("%-10s %12s inputs in %4d s (%d s of a core): %s" % (
            self.target, "{:,}".format(self.executions), self.took_s,
            self.cpu_s,
            "good" if self.good() else "FAILED (exit %s)" % self.status),
            flush=True)
        if self.good():
            return
        print("\n".join(self.tail))
        for path in self.found:
            print("fuzz: the input is %s" % path)
            print("fuzz: once more:  %s %s" % (
                os.path.join(FUZZ, self.target), path))
            print("fuzz: to keep it: mkdir -p tests/fuzz/kept/%s && "
                  "cp %s tests/fuzz/kept/%s/" % (
                      self.target, path, self.target))
        print("fuzz: the log is %s" % self.log, flush=True)


def run_all(runs, njobs):
    waiting, lock = list(runs), threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                run = waiting.pop(0)
            run.run()
            with lock:
                run.report()
                proof.reached("%d of %d targets" % (
                    sum(r.status is not None for r in runs), len(runs)))

    threads = [threading.Thread(target=work, daemon=True)
               for _ in range(min(njobs, len(runs)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def write_rows(runs, kind):
    """For the README, and for whoever wants each target's numbers."""
    findings = sum(not run.good() for run in runs)
    seconds = sum(run.took_s for run in runs)
    proof.write_rows("fuzz", [(
        "the bytes that come from outside, by libFuzzer, against a second "
        "implementation (%d readers)" % len(runs),
        "{:,} inputs in {:,} s".format(
            sum(run.executions for run in runs), round(seconds)),
        "nothing" if findings == 0 else "%d findings" % findings,
        "make fuzz%s SECONDS=%d" % (
            "" if kind == "long" else "-short", runs[0].seconds))])
    with open(os.path.join(FUZZ, "runs.tsv"), "a") as out:
        for run in runs:
            out.write("%s\t%d inputs\t%d s\t%d s of a core\t%d findings\t"
                      "SEED=%d\n" % (
                          run.target, run.executions, run.took_s, run.cpu_s,
                          not run.good(), run.seed))


def fuzz(kind, targets):
    seconds = proof.number("SECONDS", DEFAULT_SECONDS[kind])
    seed = proof.seed()
    njobs = proof.number("NJOBS", 2)
    proof.begin("fuzz", SEED=seed, SECONDS=seconds)
    runs = [Run(target, kind, seconds, seed + i)
            for i, target in enumerate(targets)]
    proof.reached("none of %d targets" % len(runs))
    run_all(runs, njobs)
    write_rows(runs, kind)
    failed = sum(not run.good() for run in runs)
    return proof.end("fuzz", len(runs) - failed, failed)


def contents(folder):
    """Bytes of a file -> its name."""
    found = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        with open(os.path.join(folder, name), "rb") as file:
            found[file.read()] = name
    return found


def cover(target, first, others, counters=1):
    """Add to the folder first what of the others reaches more places, and with
    counters reaches them more often."""
    subprocess.run(
        [os.path.join(FUZZ, target), "-set_cover_merge=1",
         "-use_counters=%d" % counters, first] +
        [folder for folder in others if os.path.isdir(folder)],
        check=True, env=environment(), stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    return contents(first)


def merge(target, folders):
    """Few inputs with the same coverage: what is in the corpus stays, unless
    that makes too many."""
    corpus = os.path.join(HERE, "corpus", target)
    os.makedirs(corpus, exist_ok=True)
    names = contents(corpus)
    for folder in folders:
        for data, name in contents(folder).items():
            names.setdefault(data, name)
    merged = fresh("merged", target)
    shutil.copytree(corpus, merged, dirs_exist_ok=True)
    kept = cover(target, merged, folders)
    for counters in (1, 0):
        if len(kept) > CORPUS_FILES:
            kept = cover(target, fresh("merged", target), [corpus] + folders,
                         counters)
    smallest = sorted((data for data in kept
                       if len(data) <= CORPUS_FILE_BYTES), key=len)
    shutil.rmtree(corpus)
    os.makedirs(corpus)
    for data in smallest[:CORPUS_FILES]:
        name = names.get(data, kept[data])
        with open(os.path.join(corpus, name), "wb") as file:
            file.write(data)
    print("%-10s %d files of %d, %d bytes" % (
        target, min(len(smallest), CORPUS_FILES), len(kept),
        sum(map(len, smallest[:CORPUS_FILES]))), flush=True)


def main():
    kind, targets = sys.argv[1], sys.argv[2:]
    if kind == "merge":
        for target in targets:
            extra = os.environ.get("SEEDS")
            merge(target, [os.path.join(FUZZ, "work", target)] +
                  ([os.path.join(extra, target)] if extra else []))
        return 0
    return fuzz(kind, targets)


if __name__ == "__main__":
    sys.exit(proof.run("fuzz", main))
