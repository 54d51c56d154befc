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
from harness.site import BUILD      # noqa: E402

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


def main():
    short = sys.argv[1:] == ["short"]
    if short and not os.environ.get("ROUNDS"):
        os.environ["ROUNDS"] = SHORT_ROUNDS
    if not os.environ.get("SEED"):
        os.environ["SEED"] = str(random.randrange(1000000))
    os.makedirs(os.path.join(BUILD, "proof"), exist_ok=True)
    passed, failed, nscenarios, nabsorbed, nfaults = units()
    write_rows([(
        "no memory inside a function",
        "{:,} failed allocations of the library and the programs' parts, in "
        "{:,} tries of {:,} scenarios ({:,} did without)".format(
            nfaults, passed + failed, nscenarios, nabsorbed),
        "nothing" if failed == 0 else "%d tries went wrong" % failed,
        "make oom")])
    print("oom: %d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
