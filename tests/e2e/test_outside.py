"""Work outside the store: a finish that fails, a worker that dies in the middle
of the work, and what its retry is told."""
import json
import os
import signal
import subprocess
import unittest

from harness import proc
from harness.case import fresh_key
from harness.outside import Outside
from harness.site import AS_ROOT, WORKER

DISK = 4 * 1024 * 1024


def can_mount():
    """A real full disk needs a small file system of its own."""
    return AS_ROOT and subprocess.run(
        ["unshare", "--mount", "--propagation", "unchanged", "true"],
        capture_output=True, check=False).returncode == 0


class DiedAtWork(Outside):
    nworkers = 2

    def test_held(self):
        """Nobody can say how it ended, so nobody does it again."""
        self.begin()
        key = fresh_key()
        self.die(key)
        for _ in range(3):
            self.assertProblem(self.send(key).answer(), 409,
                               "idempotentlik-nomalum")
        self.assertEqual(self.count(), 1)
        stats = json.loads(self.site.idem("stats", "--json").stdout)
        self.assertEqual((stats["unknown"], stats["records"]), (1, 1))

    def test_held_by_the_sweep(self):
        self.begin()
        key = fresh_key()
        self.die(key)
        run = self.site.idem("sweep", check=True)
        self.assertIn(b"held=1", run.stdout)
        self.assertProblem(self.send(key).answer(), 409,
                           "idempotentlik-nomalum")
        self.assertEqual(self.count(), 1)

    def test_run_again_where_that_is_safe(self):
        self.site.write_settings(IDEM_ON_UNKNOWN="retry")
        self.begin()
        key = fresh_key()
        self.die(key)
        first = self.assertFirst(self.send(key).answer())
        self.assertReplay(self.send(key).answer(), first)
        self.assertEqual(self.count(), 2)


class AtWork(Outside):
    """The client leaves and the program is told to stop; the work goes on."""

    def test_the_client_leaves(self):
        self.nworkers = 2
        self.begin()
        key = fresh_key()
        pending = self.send(key)
        proc.wait_until(lambda: self.count() == 1, "the work to begin")
        pending.leave()
        self.assertProblem(self.send(key).answer(), 409,
                           "idempotentlik-jarayonda")
        self.let_go()
        answer = proc.wait_until(self.settled(key), "the answer")
        self.assertStatus(answer, 201)
        self.assertTrue(answer.replayed)
        self.assertEqual(self.count(), 1)

    def settled(self, key):
        def once():
            got = self.send(key).answer()
            return got if got.status != 409 else None
        return once

    def test_it_is_told_to_stop(self):
        self.begin()
        key = fresh_key()
        pending = self.send(key)
        proc.wait_until(lambda: self.count() == 1, "the work to begin")
        self.server.signal(signal.SIGTERM)
        self.let_go()
        first = self.assertFirst(pending.answer())
        self.assertEqual(self.server.process.wait(proc.SECONDS), 0)
        self.begin()
        self.assertReplay(self.send(key).answer(), first)
        self.assertEqual(self.count(), 1)


class NoRoom(Outside):
    """The disk takes nothing more while the work runs: its end cannot be
    stored.  Here every write to a file fails, which needs no rights."""

    def fill(self):
        self.limit("0")

    def free(self):
        self.limit("unlimited")

    def limit(self, soft):
        """As the worker's own user, who needs no rights for it."""
        subprocess.run(["prlimit", "--pid", str(self.server.process.pid),
                        "--fsize=%s:unlimited" % soft], check=True,
                       **self.site.as_worker())

    def test_a_finish_that_fails(self):
        """The client has its answer, the log an error, and the retry, which
        comes to the same worker, is not worked for again."""
        self.begin()
        key = fresh_key()
        pending = self.send(key)
        proc.wait_until(lambda: self.count() == 1, "the work to begin")
        self.fill()
        self.let_go()
        first = pending.answer()
        self.assertFirst(first)
        self.assertEqual(first.body, b"written\n")
        while_full = self.send(key).answer()
        self.assertIn(while_full.status, (409, 503), while_full)
        self.free()
        for _ in range(2):
            self.assertProblem(self.send(key).answer(), 409,
                               "idempotentlik-nomalum")
        self.assertEqual(self.count(), 1)
        self.assertFirst(self.send(fresh_key()).answer())
        self.assertEqual(self.count(), 2)

    def test_no_new_work_begins(self):
        self.begin()
        self.let_go()
        key = fresh_key()
        first = self.assertFirst(self.send(key).answer())
        self.fill()
        refused = self.send(fresh_key()).answer()
        self.assertStatus(refused, 503)
        self.assertIn(refused.json["kod"], ("idempotentlik-ombor-tola",
                                            "idempotentlik-ombor"))
        self.assertReplay(self.send(key).answer(), first)
        self.assertEqual(self.count(), 1)
        self.free()
        self.assertFirst(self.send(fresh_key()).answer())


@unittest.skipUnless(can_mount(), "needs root and the right to mount")
class FullDisk(NoRoom):
    """The same on a file system that is really full."""

    def setUp(self):
        super().setUp()
        self.disk = self.site.path("disk")
        os.mkdir(self.disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d,mode=0755,"
                        "uid=%d,gid=%d" % (DISK, WORKER.pw_uid,
                                           WORKER.pw_gid),
                        "idem-test", self.disk], check=True)
        self.site.preload["IDEM_STORE"] = os.path.join(self.disk, "store")

    def tearDown(self):
        try:
            super().tearDown()
        finally:
            subprocess.run(["umount", self.disk], check=True)
            self.site.remove()

    def fill(self):
        with open(os.path.join(self.disk, "filler"), "wb",
                  buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 4096)
            except OSError:
                pass

    def free(self):
        os.unlink(os.path.join(self.disk, "filler"))

    def test_a_finish_that_fails(self):
        super().test_a_finish_that_fails()
        self.logged("could not be stored")
