"""What the proofs share: the numbers of a run, the rows that it leaves for the
table of what was broken (table.py), the line at its end, and an end that
leaves nothing behind (clean.py)."""
import os
import random
import re
import sys

from clean import begin, keep, memory, reached, run, scratch  # noqa: F401

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.path.join(ROOT, os.environ.get("BUILD") or "build")
ROWS = os.path.join(BUILD, "proof")
MOST = {"ROUNDS": 10 ** 9, "SECONDS": 10 ** 7, "SEED": 2 ** 31 - 1,
        "NJOBS": 1000}


def number(name, default, least=1):
    """ROUNDS or another one; make exports it empty where nobody gave it.  Each
    program of the proofs takes the largest."""
    text = os.environ.get(name) or str(default)
    if not re.fullmatch("[0-9]{1,12}", text) or not (
            least <= int(text) <= MOST[name]):
        sys.stderr.write("%s=%s: it must be a whole number from %d to %d\n" % (
            name, text, least, MOST[name]))
        sys.exit(2)
    return int(text)


def seed():
    """SEED, or one that is drawn."""
    return number("SEED", random.SystemRandom().randint(1, MOST["SEED"]))


def write_rows(name, rows):
    """What was broken, how often, what was lost, the command; table.py says
    how long a cell may be."""
    os.makedirs(ROWS, exist_ok=True)
    with open(os.path.join(ROWS, name + ".tsv"), "w",
              encoding="utf-8") as file:
        for row in rows:
            file.write("\t".join(row) + "\n")


def end(name, passed, failed):
    """The last line, and the exit status."""
    print("%s: %d passed, %d failed" % (name, passed, failed))
    return 1 if failed else 0
