"""Something that a store rests on is broken under load, and mended: clients
that do not give up must find everything done once, and the log must say what
it is."""
import collections
import contextlib
import fcntl
import os
import re
import subprocess
import time

from . import proc
from .case import OwnSiteCase, fresh_key
from .load import Load, all_tasks
from .servers import Workers
from .site import AS_ROOT, BUILD

COMMAND = "make harm" + (" LONG=1" if os.environ.get("LONG") else "")
SECONDS = 25 * proc.SLOW     # for what the log must say, and for the way back
FULL = "503 idempotentlik-ombor-tola"
DOWN = "503 idempotentlik-ombor"
GONE = "ended"      # the connection closed without an answer
MADE = "201"


def kind_of(ask):
    """What came of a request, in a word or two."""
    try:
        answer = ask()
    except (OSError, ConnectionError):
        return GONE
    kod = ""
    if answer.status >= 400 and answer.body.startswith(b"{"):
        kod = " " + answer.json["kod"]
    return "%d%s" % (answer.status, kod)


def record(module, rows):
    """Add to what the last run found: one line a thing that was broken, and
    the sum of them for the README's table."""
    folder = os.path.join(BUILD, "proof/harm")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = read(folder)
        for row in rows:
            known[module, row[0]] = list(row)
        with open(os.path.join(folder, "rows.tsv"), "w",
                  encoding="utf-8") as file:
            for (name, _), row in sorted(known.items()):
                file.write("\t".join([name] + [str(c) for c in row]) + "\n")
        write_sums(folder, known)


def read(folder):
    known = {}
    with contextlib.suppress(FileNotFoundError):
        with open(os.path.join(folder, "rows.tsv"),
                  encoding="utf-8") as file:
            for line in file:
                cells = line.rstrip("\n").split("\t")
                known[cells[0], cells[1]] = cells[1:]
    return known


# The module's rows in the README's table; some are named there, one by one.
HEADS = {
    "disk": ("the disk under the store: full, at its quota, read-only, gone",
             True),
    "files": ("each file of the store and its directory, alone: deleted, "
              "emptied, closed, given to another user", False),
    "time": ("the clock, and processes that stand still", True),
    "processes": ("processes that share a store", True),
    "limits": ("limits of the processes and of the store", True),
}


def write_sums(folder, known):
    with open(folder + ".tsv", "w", encoding="utf-8") as file:
        for module, (head, named) in HEADS.items():
            rows = [row for (m, _), row in sorted(known.items())
                    if m == module]
            if not rows:
                continue
            names = " | " + "; ".join(row[0] for row in rows)
            intents, tries = (sum(int(row[i]) for row in rows)
                              for i in (4, 5))
            file.write("\t".join([
                head + (names if named else ""),
                "{:,} ways; {:,} intents, {:,} tries of them".format(
                    len(rows), intents, tries), "nothing", COMMAND]) + "\n")


class Harm(OwnSiteCase):
    """How a test breaks something and what it expects."""
    module = ""
    server_class = Workers
    nclients = 3

    def begin(self):
        self.start()
        self.server.until_ready(4)
        self.key, self.task = fresh_key(), {"matn": "eski"}
        self.first = self.assertFirst(self.post(self.task, self.key))
        self.loads = [Load(self, self.nclients)]

    key = task = first = None       # of an old request, where there is one

    def kinds(self, n=8):
        """What new requests and a retry of an old one are answered."""
        new = {kind_of(lambda: self.post({"matn": "yangi"}, fresh_key()))
               for _ in range(n)}
        old = {kind_of(lambda: self.post(self.task, self.key))
               for _ in range(n // 2 if self.key else 0)}
        return new, old

    def said(self, line):
        return [found.group() for found in re.finditer(
            ".*(?:%s).*" % line, self.site.log())]

    def until_said(self, line, before=0):
        """The line, once it stands there more often than before."""
        try:
            proc.wait_until(lambda: len(self.said(line)) > before,
                            "in the log: " + line, SECONDS)
        except AssertionError as err:
            raise AssertionError("%s; but\n%s" % (err, "\n".join(
                self.said("(warning|error): ")[-10:]))) from err
        return self.said(line)[-1].strip()

    def harm(self, name, harm, answers, line, mend, old=(MADE,),
             quiet=False):
        """Break under load by harm(); quiet: nobody asks in that moment.  New
        requests are answered with some of answers, at last with the first of
        them (None: nobody waits for an answer), and the old key with some of
        old; the log has line; mend(); then everything is done, each once."""
        with self.loads[0] as load:
            load.until_done(10)
            if not quiet:
                seen = self.broken(harm, answers[0], line)
                self.mended(mend)
        if quiet:
            with contextlib.ExitStack() as stack:
                self.loads.append(Load(self, self.nclients))
                seen = self.broken(lambda: (harm(), stack.enter_context(
                    self.loads[1])), answers[0], line)
                self.mended(mend)
        self.judge(name, seen, answers, old)
        record(self.module, [(name, ", ".join(sorted(seen[0])), seen[2],
                              "nothing",
                              sum(len(load.done) for load in self.loads),
                              sum(load.ntries for load in self.loads))])

    def at_start(self, name, answers, line, mend):
        """The same where the server starts on what is broken."""
        self.loads = [Load(self, self.nclients)]
        self.server = self.server_class(self.site)
        with self.loads[0] as load:
            seen = self.broken(self.server.start, answers[0], line)
            self.mended(mend)
        self.assertLessEqual(seen[0], set(answers), name)
        load.check()
        record(self.module, [(name, ", ".join(sorted(seen[0])), seen[2],
                              "nothing", len(load.done), load.ntries)])

    def broken(self, harm, must, line):
        """What new requests and the old one are answered, and the line."""
        seen, seen_old, said = set(), set(), ""
        before = len(self.said(line)) if line else 0
        harm()
        end = time.monotonic() + SECONDS
        while must and must not in seen and time.monotonic() < end:
            new, again = self.kinds()
            seen |= new
            seen_old |= again
        if line:
            said = self.until_said(line, before)
        self.assertIn(must, seen | {None})
        return seen, seen_old, said

    def mended(self, mend):
        mend()
        self.until_well()
        self.loads[-1].until_done(10)

    def judge(self, name, seen, answers, old):
        self.assertLessEqual(seen[0], set(answers), name)
        self.assertLessEqual(seen[1], set(old), name)
        for load in self.loads:
            load.check()
        self.assertReplay(self.post(self.task, self.key), self.first)
        check = self.site.idem("check")
        self.assertIn(b"damaged=0", check.stdout, check)

    def until_well(self):
        """New requests get through, whichever worker takes them: one that
        could not open the store looks at it again only with a request."""
        before = self.made_by()

        def well():
            workers = self.server.workers()
            kinds = self.at_once(4 * len(workers))
            made = self.made_by() - before
            return kinds == {MADE} and all(made[pid] for pid in workers)
        proc.wait_until(well, "good answers again, of each worker", SECONDS)

    def at_once(self, n):
        """What n new requests at once are answered."""
        pending = []
        with contextlib.suppress(OSError):
            for _ in range(n):
                pending.append(self.send_post({"matn": "yana"}, fresh_key()))
        return {kind_of(p.answer) for p in pending} | (
            {GONE} if len(pending) < n else set())

    def made_by(self):
        """How many tasks each worker made, as the log says."""
        return collections.Counter(int(pid) for pid in re.findall(
            r"\[(\d+)\] info: outcome=created ", self.site.log()))


def each(rows):
    """Make a test of each row: (its name, the arguments of one_row)."""
    def decorate(cls):
        for row in rows:
            name = "test_" + re.sub(r"\W+", "_", row[0])
            assert not hasattr(cls, name), name
            setattr(cls, name, lambda self, row=row: self.one_row(*row))
        return cls
    return decorate


def can_mount():
    return AS_ROOT and subprocess.run(
        ["unshare", "--mount", "--propagation", "unchanged", "true"],
        capture_output=True, check=False).returncode == 0


def run(*argv):
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError("%s: %s" % (argv, done.stderr.decode()))


def fill(path):
    """Write to a file until its disk is full."""
    with open(path, "ab", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass
