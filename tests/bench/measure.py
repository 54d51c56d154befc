"""How a row is measured: rounds of all variants in turn, so that what else the
machine does meets each alike; medians; ratios."""
import statistics


class Row:
    """One line of the table: ours against theirs, and the ratio that is aimed
    at.  better is "more" (operations a second) or "less" (time, bytes)."""

    def __init__(self, name, unit, against, least, better="more"):
        self.name, self.unit, self.against = name, unit, against
        self.least, self.better = least, better
        self.ours, self.theirs = [], []
        self.note = ""

    def add(self, ours, theirs):
        self.ours.append(ours)
        self.theirs.append(theirs)

    def ratio(self):
        return statistics.median(self.ours) / statistics.median(self.theirs)

    def met(self):
        if self.least is None:
            return None
        return (self.ratio() >= self.least if self.better == "more"
                else self.ratio() <= self.least)

    def cells(self):
        said = {True: "yes", False: "short", None: "-"}[self.met()]
        sign = ">=" if self.better == "more" else "<="
        return [self.name, self.against,
                "%.4g" % statistics.median(self.ours),
                "%.4g" % statistics.median(self.theirs), self.unit,
                "%.2f" % self.ratio(),
                "-" if self.least is None else "%s %g" % (sign, self.least),
                said, self.note]


HEADINGS = ["row", "against", "ours", "theirs", "unit", "ratio", "aim",
            "met", "note"]


def rounds(n, variants):
    """Run every variant n times, in turn, each round in the other order; a
    list of results for each name."""
    got = {name: [] for name in variants}
    for i in range(n):
        names = list(variants)
        for name in names if i % 2 == 0 else reversed(names):
            got[name].append(variants[name]())
    return got


def row_of(got, ours, theirs, *args, **more):
    row = Row(*args, **more)
    for a, b in zip(got[ours], got[theirs]):
        row.add(a, b)
    return row
