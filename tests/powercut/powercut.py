#!/usr/bin/env python3
"""Power cuts: loads are recorded, disks rebuilt as a cut at each point may
leave them, and each is opened and compared with what clients had been told.

usage: powercut.py [--short]
environment: BUILD, ROUNDS (disks to rebuild), SEED
"""
import collections
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import web

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../proof"))

import proof                # noqa: E402
from proof import BUILD     # noqa: E402

TOOLS = os.path.join(BUILD, "powercut")
SHORT_ROUNDS = 1000
LONG_ROUNDS = 20000
DISKS_OF_A_LOAD = 2500

# kill: of a thousand writes and flushes so many end their process; cut: of a
# thousand synchronous writes so many do when they are seen but not on the
# disk.  Only the group commit asks before it relies on such a write.
Kind = collections.namedtuple("Kind", "name words deeds kill cut")
KINDS = [Kind("group commit", [], 60, 2, 40),
         Kind("first start", [], 4, 5, 20),
         Kind("one after another", ["plain"], 50, 3, 0),
         Kind("group commit", [], 60, 0, 0),
         Kind("one worker at a time", ["lone"], 150, 1, 60),
         Kind("both at once", ["mixed"], 60, 3, 0)]
# A data file that outgrows its first map of 16 MiB.
GROWTH = Kind("a map that grows", ["huge"], 30, 2, 5)
DISKS_OF_GROWTH = 40
# tasks.fcgi, and one CGI request for each look: a hundred times as slow.
WEB = Kind("the program itself", [], 0, 8, 0)
DISKS_OF_WEB = 12
COPIES = [Kind("a copy under load", [], 150, 0, 0)]
COPY_FROM = 4 << 20     # bytes of the log, when it begins
DISKS_OF_A_COPY = 60
# These lose answers, and it must be seen.
BROKEN = [Kind("no flush at all", ["nosync"], 20, 0, 0),
          Kind("answers before the commit", ["early"], 20, 0, 0)]
BROKEN_DISKS = 150


class Trouble(Exception):
    pass


@contextlib.contextmanager
def scratch():
    """A folder in memory where there is some: nothing here rests on a real
    disk.  Kept where keep() was called on it."""
    where = proof.memory()
    if shutil.disk_usage(where).free < 300 << 20:
        where = proof.scratch()
    folder = Folder(tempfile.mkdtemp(prefix="powercut.", dir=where))
    try:
        yield folder
    finally:
        if not folder.kept:
            shutil.rmtree(folder)


class Folder(str):
    kept = False

    def keep(self):
        self.kept = True
        proof.keep(self)


def recorded(log, directory, **settings):
    """The environment of a process whose writes to directory are recorded."""
    with open(log, "w", encoding="ascii"):
        pass
    # LD_PRELOAD knows no spaces, and BUILD may have some in its name
    recorder = shutil.copy(os.path.join(TOOLS, "record.so"), log + ".so")
    return dict(os.environ, POWERCUT_DIR=directory, POWERCUT_LOG=log,
                LD_PRELOAD=recorder, **settings)


def start_load(folder, kind, seed):
    log, store = os.path.join(folder, "log"), os.path.join(folder, "store")
    env = recorded(log, store, POWERCUT_SEED=str(seed),
                   POWERCUT_KILL=str(kind.kill), POWERCUT_CUT=str(kind.cut),
                   POWERCUT_FLUSH_US="300")
    return subprocess.Popen(
        [os.path.join(TOOLS, "load"), store, log, str(seed),
         str(kind.deeds)] + kind.words, env=env, stdout=subprocess.PIPE)


def end_load(load, folder, kind):
    """The number of processes that were killed in it."""
    out = load.communicate(timeout=300)[0]
    if load.returncode != 0:
        raise Trouble("the load failed with exit status %d" % load.returncode)
    with open(os.path.join(folder, "log"), "rb") as file:
        grouped = b"group.2" in file.read()
    if grouped == ("plain" in kind.words or "nosync" in kind.words):
        raise Trouble("the load did not commit as it should")
    return int(out)


def record(folder, kind, seed):
    return end_load(start_load(folder, kind, seed), folder, kind)


def record_copy(folder, kind, seed, words):
    """Copy a store while a load uses it.  What was told before the copy began
    stays in "log", the making of the copy in "copylog"."""
    load = start_load(folder, kind, seed)
    log, copylog = (os.path.join(folder, name) for name in ("log", "copylog"))
    while os.path.getsize(log) < COPY_FROM and load.poll() is None:
        time.sleep(0.002)
    told = os.path.getsize(log)
    env = recorded(copylog, os.path.join(folder, ".backup"),
                   IDEM_STORE=os.path.join(folder, "store"))
    done = subprocess.run(
        [os.path.join(BUILD, "idem"), "copy", "--quiet"] + words +
        [os.path.join(folder, "backup")], env=env, check=False)
    if load.poll() is not None or done.returncode != 0:
        raise Trouble("no copy under load: exit status %d" % done.returncode)
    killed = end_load(load, folder, kind)
    os.truncate(log, told)
    return killed


def record_web(folder, kind, seed):
    env = recorded(os.path.join(folder, "log"), os.path.join(folder, "store"),
                   POWERCUT_SEED=str(seed), POWERCUT_KILL=str(kind.kill),
                   POWERCUT_FLUSH_US="300", POWERCUT_SENT="1",
                   IDEM_STORE=os.path.join(folder, "store"))
    failed = web.serve(os.path.join(BUILD, "tasks.fcgi"), folder, env)
    if failed:
        raise Trouble("the program under load: %s" % "; ".join(failed))
    return 0    # the supervisor alone knows how many died


def rebuild(folder, seed, ndisks, quiet, judge=None):
    """Rebuild and judge: the figures, by name, and the command."""
    command = [os.path.join(TOOLS, "powercut"), os.path.join(folder, "log"),
               str(seed), str(ndisks), folder]
    if os.path.exists(os.path.join(folder, "copylog")):
        command.append(os.path.join(folder, "copylog"))
    if judge:
        command += ["--with", os.path.join(HERE, judge)]
    env = dict(os.environ, POWERCUT_BUILD=BUILD, PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    text = done.stdout.decode()
    figures = {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", text)}
    if "states" not in figures:
        raise Trouble("no figures: %s" % done.stderr.decode())
    if figures["answers"] == 0:
        raise Trouble("no answer left, so none could be lost")
    if not quiet:
        sys.stdout.write(done.stderr.decode())
    return figures, " ".join(command)


def record_any(folder, kind, seed):
    if kind in COPIES:
        return record_copy(folder, kind, seed, ["--compact"] * (seed % 2))
    return (record_web if kind == WEB else record)(folder, kind, seed)


def one(kind, seed, ndisks, total, rounds):
    """One load and its disks."""
    with scratch() as folder:
        killed = record_any(folder, kind, seed)
        figures, command = rebuild(folder, seed, ndisks, False,
                                   "web_judge.py" if kind == WEB else None)
        total.update(figures)
        total.update(killed=killed, loads=1)
        write_row(total, rounds)
        proof.reached("{states:,} disks of {loads} loads".format(**total))
        print("%s, seed %d: %d disks of %d cuts, %d answers had left, %d "
              "killed; %d refused, %d lost something, %d otherwise wrong" % (
                  kind.name, seed, figures["states"], figures["cuts"],
                  figures["answers"], killed, figures["refused"],
                  figures["lost"], figures["bad"]), flush=True)
        if figures["lost"] + figures["bad"]:
            folder.keep()
            print("kept: once more by %s" % command, flush=True)


def prove_the_check(seed):
    """How many of the broken stores were not found out."""
    missed = 0
    for kind in BROKEN:
        proof.reached("loads that are broken on purpose")
        with scratch() as folder:
            record(folder, kind, seed)
            lost = rebuild(folder, seed, BROKEN_DISKS, True)[0]["lost"]
        print("broken on purpose, %s: %d of %d disks lost answers" % (
            kind.name, lost, BROKEN_DISKS), flush=True)
        missed += lost == 0
    return missed


def write_row(total, rounds):
    """After every load: also where the run is ended early."""
    wrong = total["lost"] + total["bad"]
    lost = "nothing" if wrong == 0 else "%d disks with faults" % wrong
    if total["refused"]:
        lost += "; %d half-made first stores refused with the reason" % (
            total["refused"])
    row = ["power cut, at every write, flush and answer of a load: unflushed"
           " sectors, sizes and names kept, dropped or torn",
           "{states:,} disks rebuilt from {cuts:,} points of {loads} loads;"
           " {answers:,} answers had left | {killed} workers were killed;"
           " {retried:,} requests sent again".format(**total),
           lost, "make powercut ROUNDS=%d" % rounds]
    proof.write_rows("powercut", [row])


def main():
    short = "--short" in sys.argv[1:]
    rounds = proof.number("ROUNDS", SHORT_ROUNDS if short else LONG_ROUNDS)
    seed = proof.seed()
    proof.begin("powercut", SEED=seed, ROUNDS=rounds)
    total = collections.Counter()
    failed = prove_the_check(seed)
    nloads = max(len(KINDS), -(-rounds // DISKS_OF_A_LOAD))
    one(GROWTH, seed, max(DISKS_OF_GROWTH, rounds // 500), total, rounds)
    one(WEB, seed, max(DISKS_OF_WEB, rounds // 500), total, rounds)
    for i in range(max(2, nloads // 5)):
        one(COPIES[0], seed + i, DISKS_OF_A_COPY, total, rounds)
    for i in range(nloads):
        one(KINDS[i % len(KINDS)], seed + i, rounds // nloads, total,
            rounds)
    failed += total["lost"] + total["bad"]
    return proof.end("powercut", total["states"] + total["loads"] +
                     len(BROKEN) - failed, failed)


def powercut():
    try:
        return main()
    except Trouble as trouble:
        print("powercut: %s" % trouble)
        return proof.end("powercut", 0, 1)


if __name__ == "__main__":
    sys.exit(proof.run("powercut", powercut))
