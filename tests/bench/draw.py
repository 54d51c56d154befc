"""The results as a table in a file, and as a picture: one bar a row, its ratio
as a multiple of what was aimed at, so that the line at 1 is the aim."""
import html
import math
import os

from measure import HEADINGS
from place import ROOT

TSV = os.path.join(ROOT, "docs", "bench.tsv")
SVG = os.path.join(ROOT, "docs", "bench.svg")

LINE, LABEL, BARS, RIGHT, TOP = 22, 430, 380, 120, 44


def write_tsv(rows):
    os.makedirs(os.path.dirname(TSV), exist_ok=True)
    with open(TSV, "w") as f:
        for cells in [HEADINGS] + [row.cells() for row in rows]:
            f.write("\t".join(cells) + "\n")


def reached(row):
    """1 is the aim, more is better."""
    ratio = row.ratio()
    return ratio / row.least if row.better == "more" else row.least / ratio


def place_of(value):
    """Logarithmic from 1/4 to 16 times the aim."""
    at = (math.log2(max(0.25, min(16, value))) + 2) / 6
    return LABEL + at * BARS


def text(x, y, s, more=""):
    return '<text x="%.1f" y="%.1f" %s>%s</text>' % (x, y, more,
                                                     html.escape(s))


def bar(i, row):
    y = TOP + i * LINE
    one, end = place_of(1), place_of(reached(row))
    colour = "#2f7d4f" if row.met() else "#b5472f"
    left, width = min(one, end), max(1.5, abs(end - one))
    sign = "×" if row.better == "more" else "×, less"
    return "\n".join([
        text(LABEL - 8, y + 14, "%s / %s" % (row.name, row.against),
             'text-anchor="end"'),
        '<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (
            left, y + 3, width, LINE - 7, colour),
        text(LABEL + BARS + 8, y + 14, "%.2f%s" % (row.ratio(), sign))])


def axis(nrows):
    bottom = TOP + nrows * LINE
    out = []
    for value, name in ((0.5, "half"), (1, "the aim"), (2, "2"), (4, "4"),
                        (8, "8")):
        x = place_of(value)
        out.append('<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s"/>'
                   % (x, TOP - 6, x, bottom,
                      "#333" if value == 1 else "#ddd"))
        out.append(text(x, TOP - 12, name, 'text-anchor="middle"'))
    return out


def write_svg(rows):
    rows = [row for row in rows if row.least is not None]
    width = LABEL + BARS + RIGHT
    height = TOP + len(rows) * LINE + 12
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
             'font-family="sans-serif" font-size="11">' % (width, height),
             "<title>Idem: ratios of one run of make bench, against what was "
             "aimed at</title>",
             '<rect width="100%" height="100%" fill="#fff"/>']
    lines += axis(len(rows))
    lines += [bar(i, row) for i, row in enumerate(rows)]
    lines.append("</svg>")
    with open(SVG, "w") as f:
        f.write("\n".join(lines) + "\n")
