"""Every allocation fails once: the units' scenarios, then the programs; and the
rows for the table of what was broken.

run.py [short]: $ROUNDS says how many of each scenario's allocations fail in
either way, 0: all (the long form); $SEED which ones."""
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
sys.path.insert(0, HERE)
from harness.site import BUILD      # noqa: E402
import programs                     # noqa: E402
import workers                      # noqa: E402
from fault import Tally             # noqa: E402

SHORT_ROUNDS = "1"


def units():
    """The counts of the units' own program: passed, failed, scenarios,
    absorbed, faults."""
    counts = os.path.join(BUILD, "proof", "oom.counts")
    env = dict(os.environ, OOM_COUNTS=counts)
    subprocess.run([os.path.join(BUILD, "san/oom")], env=env, check=False)
    with open(counts, encoding="ascii") as file:
        return [int(n) for n in file.read().split()]


def write_rows(rows):
    with open(os.path.join(BUILD, "proof", "oom.tsv"), "w",
              encoding="utf-8") as file:
        for row in rows:
            file.write("\t".join(row) + "\n")


def lost(failed, held=0):
    if failed:
        return "%d tries went wrong" % failed
    return "nothing" + ("; {:,} outcomes unknown, held and listed".format(held)
                        if held else "")


def main():
    short = sys.argv[1:] == ["short"]
    if short and not os.environ.get("ROUNDS"):
        os.environ["ROUNDS"] = SHORT_ROUNDS
    if not os.environ.get("SEED"):
        os.environ["SEED"] = str(random.randrange(1000000))
    os.makedirs(os.path.join(BUILD, "proof"), exist_ok=True)
    passed, failed, nscenarios, nabsorbed, nfaults = units()
    tally = Tally(int(os.environ.get("ROUNDS") or 0), int(os.environ["SEED"]))
    programs.everything(tally)
    workers.everything(tally)
    write_rows([
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
    print("oom: %d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
