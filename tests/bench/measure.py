"""How a row is measured: rounds of all variants in turn, so that what else the
machine does meets each alike; the ratio is the median of the rounds' ratios."""
import statistics


class Row:
    """One line of the table: ours against theirs, and the ratio that is aimed
    at.  better is "more" (operations a second) or "less" (time, bytes); least
    None: nothing is aimed at."""

    def __init__(self, part, name, unit, against, least, better="more"):
        self.part, self.name, self.unit = part, name, unit
        self.against, self.least, self.better = against, least, better
        self.ours, self.theirs = [], []
        self.notes = []
        self.wrong = False      # something went wrong: it is no result

    def add(self, ours, theirs):
        self.ours.append(ours)
        self.theirs.append(theirs)
        return self

    def note(self, text):
        self.notes.append(text)
        return self

    def fail(self, text):
        self.wrong = True
        return self.note(text)

    def ratio(self):
        return statistics.median(a / b for a, b in zip(self.ours, self.theirs))

    def met(self):
        if self.wrong:
            return False
        if self.least is None:
            return None
        return (self.ratio() >= self.least if self.better == "more"
                else self.ratio() <= self.least)

    def aim(self):
        sign = ">=" if self.better == "more" else "<="
        return "-" if self.least is None else "%s %g" % (sign, self.least)

    def said(self):
        return "failed" if self.wrong else {
            True: "yes", False: "short", None: "-"}[self.met()]

    def cells(self):
        if not self.ours:
            return [self.part, self.name, self.against, "-", "-", self.unit,
                    "-", self.aim(), self.said(), "; ".join(self.notes)]
        return [self.part, self.name, self.against,
                figure(statistics.median(self.ours)),
                figure(statistics.median(self.theirs)), self.unit,
                "%.2f" % self.ratio(), self.aim(), self.said(),
                "; ".join(self.notes)]


HEADINGS = ["part", "row", "against", "ours", "theirs", "unit", "ratio", "aim",
            "met", "note"]


def figure(x):
    return "%.0f" % x if abs(x) >= 100 else "%.3g" % x


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
