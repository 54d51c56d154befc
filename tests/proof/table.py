#!/usr/bin/env python3
"""The table of what was broken on purpose.  A cell is what README.md shows, at
most 120 characters, and where there is more to say " | " and the rest, which
only docs/proof.tsv has.

usage: table.py take [NAME...]   rows that the proofs left in BUILD/proof, all
                                 or of these names, into docs/proof.tsv and
                                 README.md
       table.py print            the table as it stands in README.md
"""
import glob
import os
import sys

from proof import ROOT, ROWS

KEPT = os.path.join(ROOT, "docs/proof.tsv")
README = os.path.join(ROOT, "README.md")
COLUMNS = ["proof", "what was broken", "how often", "what was lost",
           "command"]
ORDER = ["torture", "powercut", "flip", "harm", "oom", "fuzz", "soak",
         "analyse", "valgrind", "tsan", "coverage"]
MORE = " | "
SHOWN = 120         # characters of a cell
HEAD = ["| what was broken | how often | what was lost | command |",
        "|---|---|---|---|"]


def read(path):
    """Lists of cells; a row with another number of them is a mistake."""
    rows = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            rows.append(line.rstrip("\n").split("\t"))
    return rows


def kept():
    """proof -> its rows, in the order of the table."""
    proofs = {}
    if os.path.exists(KEPT):
        for row in read(KEPT)[1:]:
            if len(row) != len(COLUMNS):
                raise SystemExit("docs/proof.tsv: wrong row: %r" % row)
            proofs.setdefault(row[0], []).append(row[1:])
    return proofs


def shown(cell):
    """What people see of a cell."""
    head, _, more = cell.partition(MORE)
    if not head.strip() or len(head) > SHOWN or "|" in head + more:
        raise SystemExit("no headline of at most %d characters: %r" % (
            SHOWN, cell))
    return head


def table(proofs):
    """The lines of the table for people."""
    return HEAD + ["| %s | %s | %s | `%s` |" % tuple(map(shown, row))
                   for name in ordered(proofs) for row in proofs[name]]


def ordered(proofs):
    return sorted(proofs, key=lambda name: (
        ORDER.index(name) if name in ORDER else len(ORDER), name))


def in_readme(text):
    """Where the table begins and ends in README's lines."""
    lines = text.split("\n")
    begin = lines.index(HEAD[0])
    end = begin
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return lines, begin, end


def take(names):
    proofs = kept()
    for path in glob.glob(os.path.join(ROWS, "*.tsv")):
        name = os.path.basename(path)[:-len(".tsv")]
        if names and name not in names:
            continue
        proofs[name] = read(path)
        if any(len(row) != len(COLUMNS) - 1 for row in proofs[name]):
            raise SystemExit(path + ": a row has not four cells")
    shown_lines = table(proofs)     # or nothing is written
    with open(KEPT, "w", encoding="utf-8") as file:
        for row in [COLUMNS] + [[name] + row for name in ordered(proofs)
                                for row in proofs[name]]:
            file.write("\t".join(row) + "\n")
    with open(README, encoding="utf-8") as file:
        lines, begin, end = in_readme(file.read())
    lines[begin:end] = shown_lines
    with open(README, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def main():
    if sys.argv[1:2] == ["take"]:
        take(sys.argv[2:])
    elif sys.argv[1:] == ["print"]:
        print("\n".join(table(kept())))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
