"""idem copy as an operator uses it: while the store is worked on, cut off in
the middle, and put in the place of the store."""
import itertools
import json
import os
import signal
import subprocess

from harness import proc
from harness.case import ServerCase, fresh_key, on
from harness.load import Load, all_tasks
from harness.outside import Outside
from harness.servers import Lighttpd, Workers
from harness.site import AS_ROOT, WORKER


def copy(site, name, *words, **more):
    """Copy the store of a site; the directory, and what was printed."""
    path = site.path(name)
    done = site.idem("copy", path, "--json", *words, check=True, **more)
    return path, json.loads(done.stdout)


def check(case, path):
    """The store at path is sound; how many records it has."""
    done = case.site.idem("check", "--json", "--store", path)
    case.assertEqual((done.returncode, done.stderr), (0, b""))
    return json.loads(done.stdout)["records"]


def restore(case, path):
    """As the manual page says it: end the programs, change the directories,
    start the programs."""
    case.server.stop()
    os.rename(case.site.store, case.site.path("old"))
    os.rename(path, case.site.store)
    case.server.start()


@on(Workers, Lighttpd)
class CopyUnderLoad:
    def one(self, load, name, *words):
        """What was answered before the copy began, and the copy."""
        known = dict(load.done)
        path, figures = copy(self.site, name, *words)
        self.assertEqual(figures["damaged"], 0)
        self.assertEqual(check(self, path), figures["records"])
        self.assertGreaterEqual(figures["records"], len(known))
        return known, path, figures

    def test_every_answer_before_is_in_it(self):
        """Workers die meanwhile.  In the copy, too, each task is there once
        and with its record: both are one commit."""
        with Load(self) as load:
            for n in range(6):
                load.until_done(8)
                for pid in self.server.workers()[:2]:
                    proc.send_signal(pid, signal.SIGKILL)
                known, path, figures = self.one(
                    load, "copy%d" % n, *(["--compact"] if n % 2 else []))
            load.until_done(8)
        load.check()
        self.assertGreater(len(load.done), len(known))
        restore(self, path)
        for key, (task, answer) in known.items():
            self.assertReplay(self.post(task, key), answer)
        tasks = all_tasks(self, load.tag)
        self.assertEqual(len(tasks), figures["records"])
        self.assertEqual(len({t["matn"] for t in tasks}), len(tasks))
        task = {"matn": "yangi #" + load.tag}
        first = self.assertFirst(self.post(task, "fresh"))
        self.assertEqual(first.json["id"], len(tasks) + 1)
        self.assertReplay(self.post(task, "fresh"), first)


class Cut(ServerCase):
    """The command is killed before each of its writes and flushes."""
    server_class = Workers

    def killed_at(self, n, path):
        order = self.site.path("run", "killat")
        with open(order, "w", encoding="ascii") as file:
            file.write(str(n))
        os.chown(order, WORKER.pw_uid, WORKER.pw_gid)
        env = dict(self.site.worker_environment(), KILLAT=order,
                   LD_PRELOAD=self.site.tool("tests/killat.so"))
        return subprocess.run([self.site.tool("idem"), "copy", path],
                              env=env, capture_output=True, timeout=60,
                              check=False, **self.site.as_worker())

    def partial(self):
        return [n for n in os.listdir(self.site.dir) if ".partial-" in n]

    def test_a_copy_is_whole_or_not_there(self):
        for i in range(30):
            self.assertFirst(self.post({"matn": "Non %d" % i}, fresh_key()))
        absent = 0
        for n in itertools.count(1):
            path = self.site.path("cut%d" % n)
            done = self.killed_at(n, path)
            if done.returncode == 0:
                break
            self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
            if os.path.exists(path):
                self.assertEqual(check(self, path), 30)
            else:
                self.assertEqual(len(self.partial()), absent + 1)
                absent += 1
        self.assertEqual(check(self, path), 30)
        self.assertGreaterEqual(absent, 3)  # the file, and two flushes
        self.assertGreater(n, absent + 1)   # and behind the rename
        self.assertFirst(self.post({"matn": "Yana"}, fresh_key()))
        self.assertEqual(check(self, self.site.store), 31)

    def test_who_owns_it(self):
        path, _ = copy(self.site, "mine", user={})  # root, where we are it
        owners = {os.stat(os.path.join(path, name)).st_uid
                  for name in [".", "data.mdb", "workers"]}
        self.assertEqual(owners, {WORKER.pw_uid})
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o700)
        closed = self.site.path("bin", "copy")
        if AS_ROOT:
            done = self.site.idem("copy", closed, user={})
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(b"the owner of the store must be able to write to "
                          b"the directory above it", done.stderr)
            self.assertFalse(os.path.exists(closed))


class RanMeanwhile(Outside):
    """Work outside the store runs while the copy is made, and ends well."""
    nworkers = 2

    def copied(self):
        self.begin()
        key = fresh_key()
        pending = self.send(key)
        proc.wait_until(lambda: self.count() == 1, "the work to begin")
        path, figures = copy(self.site, "copy")
        self.assertEqual((figures["records"], figures["running"]), (1, 1))
        self.let_go()
        first = self.assertFirst(pending.answer())
        self.assertReplay(self.send(key).answer(), first)
        return key, path

    def state(self):
        listed = self.site.idem("list", "--json", check=True).stdout
        return [r["state"] for r in json.loads(listed)["records"]]

    def test_it_is_held(self):
        """The old store knows how it ended, the copy does not."""
        key, path = self.copied()
        restore(self, path)
        self.assertEqual(self.state(), ["orphaned"])
        for _ in range(2):
            self.assertProblem(self.send(key).answer(), 409,
                               "idempotentlik-nomalum")
        self.assertEqual(self.count(), 1)
        self.assertEqual(self.state(), ["unknown"])
        self.site.idem("resolve", "--key", key, "--complete", "200",
                       check=True)
        got = self.send(key).answer()
        self.assertEqual((got.status, got.replayed), (200, True))
        self.assertEqual(self.count(), 1)

    def test_a_sweep_holds_it_too(self):
        key, path = self.copied()
        restore(self, path)
        done = self.site.idem("sweep", "--json", check=True)
        self.assertEqual(json.loads(done.stdout)["held"], 1)
        self.assertProblem(self.send(key).answer(), 409,
                           "idempotentlik-nomalum")
        self.assertEqual(self.count(), 1)


class RanMeanwhileAndMayRepeat(RanMeanwhile):
    settings = {"IDEM_ON_UNKNOWN": "retry"}

    def test_it_is_held(self):
        """Not so: it is done again, as the setting says."""
        key, path = self.copied()
        restore(self, path)
        first = self.assertFirst(self.send(key).answer())
        self.assertReplay(self.send(key).answer(), first)
        self.assertEqual(self.count(), 2)

    def test_a_sweep_holds_it_too(self):
        """Not so: it gives the key back."""
        key, path = self.copied()
        restore(self, path)
        done = self.site.idem("sweep", "--json", check=True)
        self.assertEqual(json.loads(done.stdout)["released"], 1)
        self.assertFirst(self.send(key).answer())
        self.assertEqual(self.count(), 2)
