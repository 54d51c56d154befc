"""Processes that share a store in ways that they should not, or of which there
are too many: each is told so, or works; none works unprotected."""
import os
import re
import resource
import shutil
import subprocess
import unittest

from harness import fcgi, proc
from harness.case import OwnSiteCase, fresh_key
from harness.harm import DOWN, GONE, Harm, each, kind_of, record
from harness.load import Load, all_tasks
from harness.servers import Direct, Workers
from harness.site import AS_ROOT, WORKER

LONG = bool(os.environ.get("LONG"))
# statfs(2), linux/magic.h
DISKS = [("NFS", 0x6969), ("SMB2", 0xfe534d42), ("FUSE", 0x65735546),
         ("Ceph", 0x00c36400)]


@each(DISKS)
class Disks(Harm):
    """The store's directory says that it lies on another machine."""
    module = "processes"

    def one_row(self, name, number):
        disk = self.site.path("run", "disk")
        self.site.preload = {"LD_PRELOAD": self.site.tool("tests/world.so"),
                             "WORLD_DISK": disk}
        self.begin()

        def harm():
            with open(disk, "w", encoding="ascii") as file:
                file.write(str(number))
            proc.end(self.server.workers())
        self.harm("a store on " + name, harm, (DOWN, GONE),
                  r"error: store \S+: lies on a network file system \(%s\), "
                  "where locks do not hold: set IDEM_STORE to a directory on "
                  "a local disk" % name, lambda: os.unlink(disk), (DOWN, GONE))


class Schemas(Harm):
    module = "processes"

    def test_a_newer_program_was_there(self):
        """It has raised the schema; the programs of before come back."""
        self.begin()

        def schema(*number):
            subprocess.run([self.site.tool("tests/newer"), self.site.store,
                            *number], check=True, **self.site.as_worker())

        def harm():
            schema()
            proc.end(self.server.workers())
        line = r"error: store \S+: its schema is 99, this program knows up "\
               r"to (\d+): run a newer version"
        self.harm("a store of a newer schema", harm, (DOWN, GONE), line,
                  lambda: schema(re.search(line, self.site.log()).group(1)),
                  (DOWN, GONE))


def can_unshare():
    return AS_ROOT and shutil.which("setpriv") and subprocess.run(
        ["unshare", "--pid", "--fork", "--mount-proc", "true"],
        capture_output=True, check=False).returncode == 0


class Apart(Direct):
    """In a pid namespace of its own, where it is process 1."""
    name = "tasks.fcgi in a pid namespace"

    def argv(self):
        return ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
                "setpriv", "--reuid", str(WORKER.pw_uid), "--regid",
                str(WORKER.pw_gid), "--clear-groups"] + super().argv()

    def start(self):
        self.spawn(self.argv(), self.site.worker_environment(),
                   "workers.log", cwd=self.site.dir)
        proc.wait_until(self.listening, "start of " + self.name)
        # The next one comes to a store that this one has open.
        proc.wait_until(lambda: any(map(proc.polls, self.mine())),
                        "a worker of " + self.name)

    def mine(self):
        return [pid for pid in proc.running(self.site.program)
                if self.is_mine(pid)]

    def end(self):
        """It alone; unshare takes what it started with it."""
        mine = self.mine()
        self.process.kill()
        self.process.wait()
        proc.end(mine)
        os.unlink(self.address)

    def is_mine(self, pid):
        while pid > 1:
            pid = proc.parent_of(pid)
            if pid == self.process.pid:
                return True
        return False


@unittest.skipUnless(can_unshare(), "needs unshare --pid as root")
class Namespaces(OwnSiteCase):
    """Process numbers are not what they seem."""

    def apart(self, name):
        server = Apart(self.site, address=self.site.path("run", name))
        server.start()
        self.addCleanup(server.destroy)
        return server

    def through(self, server, task, key):
        mine, self.server = self.server, server
        try:
            return self.post(task, key)
        finally:
            self.server = mine

    def test_two_of_one_number(self):
        """Both are process 1: LMDB cannot tell them apart.  The second one is
        refused, until the first one has gone."""
        one, two = self.apart("1.sock"), self.apart("2.sock")
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "bir #" + tag}
        first = self.assertFirst(self.through(one, task, key))
        for _ in range(3):
            got = self.through(two, {"matn": "#" + tag}, fresh_key())
            self.assertProblem(got, 503, "idempotentlik-ombor")
        line = self.logged("error: store ", ": programs in several pid "
                           "namespaces share the store: run them in one")
        self.assertReplay(self.through(one, task, key), first)
        one.end()
        proc.wait_until(lambda: kind_of(lambda: self.through(
            two, task, key)) == "201", "an answer of the second one")
        self.assertReplay(self.through(two, task, key), first)
        self.server = two
        self.assertTasks(tag, 1)
        self.server = None
        two.end()
        record("processes", [("two pid namespaces, one number", DOWN,
                              line, "nothing", 1, 4)])

    def test_two_of_different_numbers(self):
        """They cannot share their commits, and that is all."""
        self.start(Workers)
        other = self.apart("2.sock")
        with Load(self) as load:
            for n in range(30):
                key, tag = fresh_key(), self.fresh_tag()
                task = {"matn": "ikki %d #%s" % (n, tag)}
                first = self.assertFirst(self.through(other, task, key))
                self.assertReplay(self.post(task, key), first)
                self.assertTasks(tag, 1)
            load.until_done(10)
        load.check()
        for key, (task, answer) in load.done.items():
            self.assertReplay(self.through(other, task, key), answer)
        line = self.logged("no group commit: used in another pid "
                           "namespace")
        other.end()
        record("processes", [("two pid namespaces, different numbers", "201",
                              line, "nothing", 30 + len(load.done),
                              60 + load.ntries)])


class Crowd(OwnSiteCase):
    """Plain CGI processes in a crowd work at once: 2,000 in the long form, of
    which 1,024 could write.  Who does not get his turn is sent away, and
    nothing runs unprotected."""
    settings = {"IDEM_TASK_DELAY_MS": "8000" if LONG else "1000"}
    n = 2000 if LONG else 300

    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE,
                        (soft, hard))
        if hard < self.n + 500:
            self.skipTest("needs %d open files" % (self.n + 500))
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    def begin(self, task, key):
        """A request whose body is still to come; it has the store open."""
        path = self.site.path("run", key)
        pairs = dict(fcgi.variables("POST", "/vazifalar", self.fields(
            key, ()), task))
        with open(path, "wb") as out:
            child = subprocess.Popen(
                [self.site.program], stdin=subprocess.PIPE, stdout=out,
                stderr=self.errors,
                env=dict(self.site.worker_environment(), **pairs),
                **self.site.as_worker())
        return child, path

    def all_at_once(self, intents):
        """The answers, by key."""
        children = [(key, task) + self.begin(task, key)
                    for key, task in intents]
        self.addCleanup(proc.end, [child.pid for _, _, child, _ in children])
        self.assertEqual(len(proc.running(self.site.program)), self.n)
        for _, task, child, _ in children:
            child.stdin.write(task)
            child.stdin.close()
        answers = {}
        for key, _, child, path in children:
            self.assertEqual(child.wait(120), 0)
            with open(path, "rb") as file:
                answers[key] = fcgi.parse_cgi(file.read())
        return answers

    def test_at_once(self):
        tag = self.fresh_tag()
        intents = [(fresh_key(), self.body({"matn": "%d #%s" % (i, tag)}))
                   for i in range(self.n)]
        with open(self.site.path("log", "cgi.log"), "ab") as self.errors:
            answers = self.all_at_once(intents)
        refused = [key for key, got in answers.items() if got.status != 201]
        for key in refused:
            self.assertProblem(answers[key], 503, "idempotentlik-ombor")
        if LONG:
            self.logged("no group commit: no free slot: too many "
                              "processes")
        self.again(intents, answers, tag)
        record("processes", [(
            "{:,} processes at once".format(self.n),
            "201 {:,} times, {} {:,} times".format(
                self.n - len(refused), DOWN, len(refused)),
            "", "nothing", self.n, 2 * self.n)])

    def again(self, intents, answers, tag):
        """Each comes once more, at a server that is not slow.  Who waited in
        vain may have been served all the same: by then it is done."""
        self.site.write_settings(IDEM_TASK_DELAY_MS="0")
        self.start(Workers)
        ndone, nreplayed = len(all_tasks(self, tag)), 0
        for key, task in intents:
            got = self.assertStatus(self.post(task, key), 201)
            if answers[key].status == 201:
                self.assertReplay(got, answers[key])
            nreplayed += got.replayed
        self.assertEqual(nreplayed, ndone)
        self.assertEqual(len(all_tasks(self, tag)), self.n)
