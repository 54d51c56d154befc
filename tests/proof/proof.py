"""What the proofs share: the numbers of a run, the rows that it leaves for the
table of what was broken (table.py), and the line at its end."""
import os
import random
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.path.join(ROOT, os.environ.get("BUILD") or "build")
ROWS = os.path.join(BUILD, "proof")


def number(name, default):
    """ROUNDS or another one; make exports it empty where nobody gave it."""
    text = os.environ.get(name) or str(default)
    if not text.isdigit():
        sys.exit("%s=%s is no whole number" % (name, text))
    return int(text)


def seed():
    """SEED, or one that is drawn; below 2 to the 31 each program takes it."""
    return number("SEED", random.SystemRandom().randrange(1, 1 << 31))


def write_rows(name, rows):
    """What was broken, how often, what was lost, the command."""
    os.makedirs(ROWS, exist_ok=True)
    with open(os.path.join(ROWS, name + ".tsv"), "w",
              encoding="utf-8") as file:
        for row in rows:
            file.write("\t".join(row) + "\n")


def end(name, passed, failed):
    """The last line, and the exit status."""
    print("%s: %d passed, %d failed" % (name, passed, failed))
    return 1 if failed else 0
