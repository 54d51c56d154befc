"""Something that a store rests on is broken under load, and mended: clients
that do not give up must find everything done once, and the log must say what
it is."""
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
from .site import BUILD

SECONDS = 25        # for what the log must say, and for the way back
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
    folder = os.path.join(BUILD, "proof")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "harm.lock"), "w",
              encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = read(folder)
        for row in rows:
            known[module, row[0]] = list(row)
        with open(os.path.join(folder, "harm-rows.tsv"), "w",
                  encoding="utf-8") as file:
            for (name, _), row in sorted(known.items()):
                file.write("\t".join([name] + [str(c) for c in row]) + "\n")
        write_sums(folder, known)


def read(folder):
    known = {}
    with contextlib.suppress(FileNotFoundError):
        with open(os.path.join(folder, "harm-rows.tsv"),
                  encoding="utf-8") as file:
            for line in file:
                cells = line.rstrip("\n").split("\t")
                known[cells[0], cells[1]] = cells[1:]
    return known


def write_sums(folder, known):
    words = {"disk": "the disk under the store: ",
             "files": "each file of the store, alone: ",
             "limits": "limits and rights of the processes: "}
    with open(os.path.join(folder, "harm.tsv"), "w",
              encoding="utf-8") as file:
        for module, head in words.items():
            rows = [row for (m, _), row in sorted(known.items())
                    if m == module]
            if rows:
                file.write("\t".join([
                    head + ", ".join(row[0] for row in rows),
                    "{:,} ways under load; {:,} intents, {:,} tries of "
                    "them".format(len(rows),
                                  *(sum(int(row[i]) for row in rows)
                                    for i in (4, 5))),
                    "nothing", "make harm"]) + "\n")


class Harm(OwnSiteCase):
    """How a test breaks something and what it expects."""
    module = ""
    server_class = Workers
    nclients = 3

    def begin(self):
        self.start()
        self.key, self.task = fresh_key(), {"matn": "eski"}
        self.first = self.assertFirst(self.post(self.task, self.key))
        self.loads = [Load(self, self.nclients)]

    def kinds(self, n=8):
        """What new requests and a retry of an old one are answered."""
        new = {kind_of(lambda: self.post({"matn": "yangi"}, fresh_key()))
               for _ in range(n)}
        old = {kind_of(lambda: self.post(self.task, self.key))
               for _ in range(n // 2)}
        return new, old

    def until_said(self, line):
        proc.wait_until(lambda: re.search(line, self.site.log()),
                        "in the log: " + line, SECONDS)
        return re.search(".*(?:%s).*" % line, self.site.log()).group(0)

    def harm(self, name, harm, answers, line, mend, old=(MADE,),
             quiet=False):
        """Break under load by harm(); quiet: nobody asks in that moment.  New
        requests are answered with some of answers, at last with the first of
        them, and the old key with some of old; the log has line; mend(); then
        everything is done, each once."""
        with self.loads[0] as load:
            load.until_done(10)
            if not quiet:
                seen = self.broken(harm, answers[0], line)
                self.mended(mend)
        if quiet:
            self.loads.append(Load(self, self.nclients))
            harm()
            with self.loads[1]:
                seen = self.broken(lambda: None, answers[0], line)
                self.mended(mend)
        self.judge(name, seen, answers, old)
        record(self.module, [(name, ", ".join(sorted(seen[0])), seen[2],
                              "nothing",
                              sum(len(load.done) for load in self.loads),
                              sum(load.ntries for load in self.loads))])

    def broken(self, harm, must, line):
        """What new requests and the old one are answered, and the line."""
        seen, seen_old, said = set(), set(), ""
        harm()
        end = time.monotonic() + SECONDS
        while must not in seen and time.monotonic() < end:
            new, again = self.kinds()
            seen |= new
            seen_old |= again
        if line:
            said = self.until_said(line)
        self.assertIn(must, seen)
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
        """All workers are there, and new requests get through."""
        proc.wait_until(lambda: {MADE} == {
            kind_of(lambda: self.post({"matn": "yana"}, fresh_key()))
            for _ in range(25)}, "good answers again", SECONDS)


def each(rows):
    """Make a test of each row: (its name, the arguments of one_row)."""
    def decorate(cls):
        for row in rows:
            name = "test_" + re.sub(r"\W+", "_", row[0])
            assert not hasattr(cls, name), name
            setattr(cls, name, lambda self, row=row: self.one_row(*row))
        return cls
    return decorate


@contextlib.contextmanager
def mounted(case, what, path, *options):
    """A file system on path until the test is over."""
    done = subprocess.run(["mount", *options, what, path],
                          capture_output=True, check=False)
    if done.returncode != 0:
        case.skipTest("mount: " + done.stderr.decode().strip())
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", path], check=False)
