"""Each file of the store alone is deleted, emptied, closed or given to another
user while it is in use, and the directory, too."""
import os
import shutil
import signal
import unittest

from harness import proc
from harness.harm import DOWN, GONE, MADE, Harm, each
from harness.load import Load
from harness.site import AS_ROOT, WORKER

MOVED = r"%s is not the file that was opened: this process leaves; never "\
        r"replace a store"
DIES = r"error: store \S+: this process dies of a signal: one of its files "\
       r"is cut short or damaged, .*: see \"idem check\""
LOST = r"error: store \S+: data.mdb is gone or was emptied: put a copy of it "\
       r"back; or remove the whole directory"
OTHERS = r"Permission denied: its files must belong to the user that this "\
         r"program runs as"
OTHER = r"/%s: Permission denied: it must belong to the user that this "\
        r"program runs as"
CLOSED = r"store \S+/store: open: Permission denied: it must belong to the "\
         r"user that this program runs as"
SHUT = r"Permission denied: let this user enter the directory"
MADE_ANEW = r"info: store \S+: made: every key is new"
SOON = (MADE, DOWN, GONE)       # some workers have not looked yet


def label(name):
    return "the directory" if name == "." else name


class Files(Harm):
    module = "files"

    def at(self, name):
        return os.path.normpath(os.path.join(self.site.store, name))

    def deleted(self, name):
        os.link(self.at(name), self.site.path("kept"))
        os.unlink(self.at(name))

    def emptied(self, name):
        shutil.copy(self.at(name), self.site.path("kept"))
        os.truncate(self.at(name), 0)

    def closed(self, name):
        """Nobody may open it, and new workers would have to."""
        os.chmod(self.at(name), 0)
        self.kill()

    def given(self, name):
        os.chown(self.at(name), 0, 0)
        self.kill()

    def kill(self):
        for pid in self.server.workers():
            proc.send_signal(pid, signal.SIGKILL)

    def by_itself(self, name):
        """Nothing has to be done."""

    def put_back(self, name):
        if os.path.exists(self.at(name)):
            os.unlink(self.at(name))
        os.rename(self.site.path("kept"), self.at(name))
        os.chown(self.at(name), WORKER.pw_uid, WORKER.pw_gid)
        self.kill()

    def opened(self, name):
        os.chmod(self.at(name), 0o700 if name == "." else 0o600)

    def taken(self, name):
        os.chown(self.at(name), WORKER.pw_uid, WORKER.pw_gid)


@each([
    # file, answers, line, what has to be done, whether nobody asks meanwhile
    ("data.mdb", (DOWN, MADE, GONE), LOST, Files.put_back),
    ("lock.mdb", SOON, MOVED % "lock.mdb", Files.by_itself),
    ("workers", SOON, MOVED % "workers", Files.by_itself),
    ("waiting", (MADE,), None, Files.by_itself),
    ("sightings", (MADE,), None, Files.by_itself),
    ("open.lock", (MADE,), None, Files.by_itself),
    ("group.2", (MADE,), None, Files.by_itself),
])
class Deleted(Files):
    def one_row(self, name, answers, line, mend):
        self.begin()
        self.harm(name + " deleted", lambda: self.deleted(name), answers,
                  line, lambda: mend(self, name), old=SOON)


@each([
    ("data.mdb", (DOWN, MADE, GONE), LOST, Files.put_back, True),
    ("lock.mdb", SOON, DIES, Files.by_itself, True),
    ("workers", (MADE,), None, Files.by_itself, False),
    ("waiting", (MADE,), None, Files.by_itself, False),
    ("sightings", SOON, DIES, Files.by_itself, False),
    ("open.lock", (MADE,), None, Files.by_itself, False),
    ("group.2", SOON, DIES, Files.by_itself, False),
])
class Emptied(Files):
    settings = {"IDEM_STORE_WAIT": "1s"}

    def one_row(self, name, answers, line, mend, quiet):
        self.begin()
        self.harm(name + " emptied", lambda: self.emptied(name), answers,
                  line, lambda: mend(self, name), old=SOON, quiet=quiet)


@each([
    ("data.mdb", (DOWN, GONE), OTHERS),
    ("lock.mdb", (DOWN, GONE), OTHERS),
    ("workers", (DOWN, GONE), OTHER % "workers"),
    ("open.lock", (DOWN, GONE), OTHER % "open.lock"),
    ("waiting", (MADE, GONE), "/waiting: Permission denied: no retry will "
     "wait"),
    ("sightings", (MADE, GONE), "/sightings: Permission denied: one key under "
     "two users will not be noticed"),
    ("group.2", (MADE, GONE), "/group.2: no group commit: Permission denied"),
    (".", (DOWN, GONE), CLOSED),
])
class Closed(Files):
    def one_row(self, name, answers, line):
        self.begin()
        self.harm(label(name) + " closed (mode 0)", lambda: self.closed(name),
                  answers, line, lambda: self.opened(name), old=SOON)


@unittest.skipUnless(AS_ROOT, "needs two users: run it as root")
@each([
    ("data.mdb", (DOWN, GONE), OTHERS),
    ("lock.mdb", (DOWN, GONE), OTHERS),
    ("workers", (DOWN, GONE), OTHER % "workers"),
    ("open.lock", (DOWN, GONE), OTHER % "open.lock"),
    ("waiting", (MADE, GONE), "/waiting: Permission denied: no retry will "
     "wait"),
    ("sightings", (MADE, GONE), "/sightings: Permission denied: one key under "
     "two users will not be noticed"),
    ("group.2", (MADE, GONE), "/group.2: no group commit: Permission denied"),
    (".", (DOWN, GONE), CLOSED),
])
class OfAnother(Files):
    def one_row(self, name, answers, line):
        self.begin()
        self.harm(label(name) + " given to another user",
                  lambda: self.given(name), answers, line,
                  lambda: self.taken(name), old=SOON)


class Directory(Files):
    def test_replaced_under_load(self):
        """By an older copy, which nobody should do: who used the store that was
        there leaves.  What came after the copy is new, what is in it is
        replayed."""
        self.begin()
        with self.loads[0] as load:
            load.until_done(10)
            self.site.idem("copy", self.site.path("older"), check=True)
            load.until_done(10)
            os.rename(self.site.store, self.site.path("replaced"))
            os.rename(self.site.path("older"), self.site.store)
            self.until_said(MOVED % r"data\.mdb")
            self.until_well()
        with Load(self, self.nclients) as anew:
            anew.until_done(20)
        anew.check()
        self.assertReplay(self.post(self.task, self.key), self.first)
        self.assertEqual(self.site.idem("check").returncode, 0)

    def test_closed_to_workers_that_run(self):
        self.begin()
        self.harm("the directory closed to workers that run",
                  lambda: os.chmod(self.site.store, 0), (DOWN, GONE), SHUT,
                  lambda: os.chmod(self.site.store, 0o700), old=SOON)

    def test_read_only(self):
        """All that is written is there already."""
        self.begin()
        self.harm("the directory without write permission",
                  lambda: (os.chmod(self.site.store, 0o500), self.kill()),
                  (MADE, GONE), None,
                  lambda: os.chmod(self.site.store, 0o700), old=SOON)

    def test_deleted_under_load(self):
        """What lay in it is lost, and the log says that all is new; from then
        on each is done once."""
        self.begin()
        with self.loads[0] as load:
            load.until_done(10)
            before = len(self.said(MADE_ANEW))
            shutil.rmtree(self.site.store)
            self.until_said(MADE_ANEW, before)
            self.until_said(MOVED % "data.mdb")
            self.until_well()
        with Load(self, self.nclients) as anew:
            anew.until_done(20)
        anew.check()
        self.assertFirst(self.post(self.task, self.key))
