"""A store that is full: of what has expired, of what is held, of what is good;
and an application that the guard cannot start or keep.  The application counts
how often it worked."""
import json
import os
import resource
import subprocess
import unittest

from harness import proc
from harness.case import OwnSiteCase, fresh_key
from harness.harm import (FULL, MADE, can_mount, fill, kind_of, record,
                          run)
from harness.servers import Workers
from harness.site import AS_ROOT, WORKER, Site
from harness.world import Clock

BACKEND = """#!/bin/sh
echo x >>"$(dirname "$0")/../run/ledger"
test "$QUERY_STRING" != kill || kill -9 $$
printf 'Status: 201 Created\\r\\nContent-Type: text/plain\\r\\n\\r\\n'
head -c "${QUERY_STRING:-1}" /dev/zero | tr '\\0' x
"""
UNREACHABLE = "502 ilova-ulanmadi"
BROKEN = "502 ilova-uzildi"
UNKNOWN = "409 idempotentlik-nomalum"


class Room(OwnSiteCase):
    """guard.fcgi before a program that answers as many bytes as it is told."""
    module = "limits"
    settings = {"IDEM_ANONYMOUS": "allow"}

    def setUp(self):
        self.site = Site(self.settings, program="guard.fcgi")
        backend = self.site.path("bin", "backend")
        with open(backend, "w", encoding="ascii") as file:
            file.write(BACKEND)
        os.chmod(backend, 0o755)
        self.site.write_settings(IDEM_BACKEND="cgi:" + backend)
        self.server = None
        self.ntries = self.nintents = 0

    def worked(self):
        try:
            with open(self.site.path("run", "ledger"),
                      encoding="ascii") as file:
                return file.read().count("x\n")
        except FileNotFoundError:
            return 0

    def ask(self, key, what="60000", body=None):
        self.ntries += 1
        return self.request("POST", "/p?%s" % what, self.fields(key, ()),
                            body or b"{}")

    def kind(self, key, what="60000"):
        return kind_of(lambda: self.ask(key, what))

    def insist(self, key, what="60000"):
        """The client that does not give up."""
        self.nintents += 1
        answers = []
        proc.wait_until(lambda: answers.append(self.ask(key, what)) or
                        answers[-1].status < 400, "a good answer for " + key)
        return answers

    def fill(self):
        """Keys with large answers until there is no room; and the key that
        found none."""
        keys = []
        while len(keys) < 500:
            key = fresh_key()
            kind = self.kind(key)
            if kind != MADE:
                self.assertEqual(kind, FULL)
                return keys, key
            keys.append(key)
        self.fail("never full")

    def stats(self):
        return json.loads(self.site.idem("stats", "--json").stdout)

    def limit(self, name, soft):
        for pid in self.server.workers():
            subprocess.run(["prlimit", "--pid", str(pid),
                            "--%s=%s:" % (name, soft)], check=True,
                           **self.site.as_worker())

    def row(self, name, answers, line):
        record(self.module, [(name, answers, line, "nothing",
                              self.nintents, self.ntries)])


class Full(Room):
    settings = dict(Room.settings, IDEM_MAX_STORE="1M", IDEM_TTL="1h")

    def setUp(self):
        super().setUp()
        self.clock = Clock(self.site)

    def expire(self, n):
        """All n answers."""
        self.clock.set(2 * 3600)
        self.assertEqual(self.stats()["expired"], n)

    def full_and_refused(self):
        self.start(Workers)
        keys, key = self.fill()
        self.assertEqual(self.worked(), len(keys))
        line = self.logged("the store is full: IDEM_MAX_STORE=1048576 is "
                           "met, ")
        self.assertIn('new keys are refused: run "idem sweep", or raise it',
                      line)
        return keys, key, line

    def test_sweep_makes_room(self):
        keys, key, line = self.full_and_refused()
        self.expire(len(keys))
        swept = self.site.idem("sweep")
        self.assertIn(b" expired=%d " % len(keys), swept.stdout)
        first = self.insist(key)[-1]
        self.assertReplay_(self.ask(key), first)
        self.assertEqual(self.worked(), len(keys) + 1)
        again, _ = self.fill()
        self.assertGreater(len(again), len(keys) * 3 // 4)
        self.row("a full map, swept", FULL, line)

    def test_nobody_sweeps(self):
        """What has expired goes first, and nothing depends on cron."""
        keys, key, line = self.full_and_refused()
        self.expire(len(keys))
        self.assertEqual(len(self.insist(key)), 1)
        for _ in range(len(keys) // 2):
            self.assertEqual(len(self.insist(fresh_key())), 1)
        self.assertIn(b"damaged=0", self.site.idem("check").stdout)
        self.row("a full map of expired records, nobody sweeps", MADE, line)

    def test_raised(self):
        keys, key, line = self.full_and_refused()
        self.server.stop()
        self.site.write_settings(IDEM_MAX_STORE="4M")
        self.server.start()
        self.insist(key)
        for old in keys:
            self.assertTrue(self.ask(old).replayed)
        self.assertEqual(self.worked(), len(keys) + 1)
        self.row("a full map, IDEM_MAX_STORE raised", FULL, line)

    def assertReplay_(self, answer, first):
        self.assertEqual((answer.status, answer.body),
                         (first.status, first.body))
        self.assertTrue(answer.replayed)


class Held(Room):
    settings = dict(Room.settings, IDEM_MAX_KEYS="20")

    def test_full_of_held_records(self):
        """The log says so, and the command that it names shows them."""
        self.start(Workers)
        held = [fresh_key() for _ in range(20)]
        for key in held:
            self.assertEqual(self.kind(key, "kill"), BROKEN)
        key = fresh_key()
        self.assertEqual(self.kind(key), FULL)
        line = self.logged("the store is full: IDEM_MAX_KEYS=20 is met, 20 "
                           "records are held; ")
        self.assertIn('most of them are of unknown outcome, see "idem list '
                      '--state unknown" and "idem resolve"', line)
        self.assertEqual(self.worked(), 20)
        listed = self.site.idem("list", "--state", "unknown").stdout.decode()
        ids = [row.split()[0] for row in listed.splitlines()[1:]]
        self.assertEqual(len(ids), 20, listed)
        self.assertEqual(self.kind(held[0], "kill"), UNKNOWN)
        self.site.idem("resolve", "--id", ids[0], "--release", check=True)
        self.insist(key)
        self.assertEqual(self.worked(), 21)
        self.row("a store full of unknown outcomes", FULL, line)


class Ends(Room):
    """Work that is done finds no room for its answer: such keys are held, no
    more than one for each worker, and no other work begins."""

    def until_refused(self):
        """All keys, and what they were answered."""
        self.server.until_ready(4)
        keys, kinds = [], set()
        while len(keys) < 300 and FULL not in kinds:
            keys.append(fresh_key())
            kinds.add(self.kind(keys[-1], "200000"))
        self.assertEqual(kinds, {MADE, FULL})
        self.refused = keys.pop()
        return keys

    def held(self, keys):
        """How many of these are; the others have their answer."""
        kinds = [self.kind(key, "200000") for key in keys]
        self.assertLessEqual(set(kinds), {MADE, UNKNOWN})
        return kinds.count(UNKNOWN)

    def well_again(self, keys, name, line):
        self.assertIn(self.held(keys), range(1, 5))
        self.insist(self.refused, "200000")
        self.assertEqual(self.worked(), len(keys) + 1)
        self.logged("there is still no room for the answer of finished "
                    "work: no other work begins")
        self.row(name, FULL + ", 201 with the key held", line)

    def test_no_address_space(self):
        self.start(Workers)
        self.server.until_ready(4)
        self.assertEqual(self.kind(fresh_key()), MADE)
        os.unlink(self.site.path("run", "ledger"))
        self.limit("as", self.largest() + (8 << 20))
        keys = self.until_refused()
        line = self.logged("growing the map: Cannot allocate memory: raise "
                           "the limit on address space, or lower "
                           "IDEM_MAX_STORE")
        self.limit("as", "unlimited")
        self.well_again(keys, "RLIMIT_AS while the map grows", line)

    @unittest.skipUnless(can_mount(), "needs root and the right to mount")
    def test_no_disk(self):
        os.mkdir(self.site.store, 0o700)
        run("mount", "-t", "tmpfs", "-o", "size=16m,mode=0700,uid=%d,gid=%d"
            % (WORKER.pw_uid, WORKER.pw_gid), "idem-test", self.site.store)
        self.addCleanup(run, "umount", self.site.store)
        self.start(Workers)
        keys = self.until_refused()
        line = self.logged("commit: No space left on device: make room on "
                           "the disk")
        run("mount", "-o", "remount,size=64m", self.site.store)
        self.well_again(keys, "full while work is done", line)
        self.server.stop()
        self.server = None

    def largest(self):
        sizes = []
        for pid in self.server.workers():
            with open("/proc/%d/statm" % pid, encoding="ascii") as file:
                sizes.append(int(file.read().split()[0]) * 4096)
        return max(sizes)


class Application(Room):
    """What the guard needs for its application is not to be had."""

    def test_no_process(self):
        """RLIMIT_NPROC: nothing ran, so the key is free again."""
        if not AS_ROOT:
            self.skipTest("an ordinary user's processes are not only ours")
        self.start(Workers)
        self.server.until_ready(4)
        self.limit("nproc", "1")
        key = fresh_key()
        self.assertEqual(self.kind(key), UNREACHABLE)
        line = self.logged("bin/backend: Resource temporarily unavailable: "
                           "raise the limit on the processes of this user")
        self.assertEqual(self.worked(), 0)
        self.limit("nproc", resource.getrlimit(resource.RLIMIT_NPROC)[0])
        self.insist(key)
        self.assertTrue(self.ask(key).replayed)
        self.assertEqual(self.worked(), 1)
        self.row("RLIMIT_NPROC of the guard", UNREACHABLE, line)

    def test_no_room_for_a_large_body(self):
        """TMPDIR is full: nothing runs, and the retry does."""
        if not AS_ROOT:
            self.skipTest("needs the right to mount: run it as root")
        place = self.site.path("spool")
        os.mkdir(place)
        run("mount", "-t", "tmpfs", "-o", "size=256k,mode=1777", "idem-test",
            place)
        try:
            self.site.preload["TMPDIR"] = place
            self.start(Workers)
            self.large_body(place)
            self.server.stop()
            self.server = None
        finally:
            run("umount", place)

    def large_body(self, place):
        key, body = fresh_key(), b"b" * 100000
        fill(os.path.join(place, "filler"))
        refused = self.ask(key, "1", body)
        self.assertStatus(refused, 503)
        line = self.logged("cannot be kept in %s: No space left on device: "
                           "make room there, or set TMPDIR" % place)
        self.assertEqual(self.worked(), 0)
        os.unlink(os.path.join(place, "filler"))
        self.assertStatus(self.ask(key, "1", body), 201)
        self.assertTrue(self.ask(key, "1", body).replayed)
        self.assertEqual(self.worked(), 1)
        self.row("no room for a large body", kind_of(lambda: refused), line)
