"""Every allocation fails once: the units' scenarios, then the programs; and the
rows for the table of what was broken.

run.py [short]: $ROUNDS says how many of each scenario's allocations fail in
either way, 0: all (the long form); $SEED which ones."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../e2e"),
                os.path.join(HERE, "../proof")]

import programs             # noqa: E402
import proof                # noqa: E402
import workers              # noqa: E402
from fault import Tally     # noqa: E402
from proof import BUILD     # noqa: E402

SHORT_ROUNDS = "1"


def units():
    """The counts of the units' own program: passed, failed, scenarios,
    absorbed, faults."""
    counts = os.path.join(BUILD, "oom.counts")
    env = dict(os.environ, OOM_COUNTS=counts, TMPDIR=proof.memory())
    subprocess.run([os.path.join(BUILD, "san/oom")], env=env, check=False)
    with open(counts, encoding="ascii") as file:
        return [int(n) for n in file.read().split()]


def lost(failed, held=0):
    if failed:
        return "%d tries went wrong" % failed
    return "nothing" + ("; {:,} outcomes unknown, held and listed".format(held)
                        if held else "")


def main():
    short = sys.argv[1:] == ["short"]
    if short and not os.environ.get("ROUNDS"):
        os.environ["ROUNDS"] = SHORT_ROUNDS
    rounds, seed = proof.number("ROUNDS", 0, least=0), proof.seed()
    os.environ["SEED"] = str(seed)
    proof.begin("oom", SEED=seed, ROUNDS=rounds)
    tally = Tally(rounds, seed)
    proof.reached("the scenarios of the units")
    passed, failed, nscenarios, nabsorbed, nfaults = units()
    programs.everything(tally)
    workers.everything(tally)
    proof.write_rows("oom", [
        ("no memory inside a function, also of LMDB, cJSON and libc",
         "{:,} failed allocations in {:,} tries of {:,} scenarios; {:,} did "
         "without".format(nfaults, passed + failed, nscenarios, nabsorbed),
         lost(failed), "make oom"),
        ("no memory in a program or a command, from its first line on",
         "{:,} failed allocations in {:,} processes and requests of {:,} "
         "kinds; {:,} did without, {:,} workers ended".format(
             tally.faults, tally.passed + tally.failed, tally.nscenarios,
             tally.absorbed, tally.deaths),
         lost(tally.failed, tally.held), "make oom")])
    passed, failed = passed + tally.passed, failed + tally.failed
    return proof.end("oom", passed, failed) or not passed


if __name__ == "__main__":
    sys.exit(proof.run("oom", main))
