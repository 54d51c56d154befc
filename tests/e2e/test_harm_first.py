"""The first start of a store where its disk has hardly any room, with every
number of free pages that matters: refused with a line that says what to do, and
as soon as there is room the store is made as if nothing had been."""
import os
import re
import subprocess
import unittest

from harness import fcgi, proc
from harness.case import JSON, fresh_key
from harness.harm import DOWN, FULL, MADE, can_mount, kind_of, record, run
from harness.servers import Direct
from harness.site import WORKER, Site

PAGE = 4096
PAGES = range(49)       # from some 44 on there is room for all of it
BACKEND = """#!/bin/sh
printf 'Status: 201 Created\\r\\nContent-Type: text/plain\\r\\n\\r\\nmade\\n'
"""
NO_ROOM = "No space left on device: make room on the disk"


@unittest.skipUnless(can_mount(), "needs root and the right to mount")
class First(unittest.TestCase):
    """A store for each number of pages, each on a disk of its own."""
    program = "tasks.fcgi"
    target = "/vazifalar"

    def setUp(self):
        self.site = Site({"IDEM_ANONYMOUS": "allow"}, program=self.program)
        self.servers, self.mounted = {}, []
        self.ntries = 0
        backend = self.site.path("bin", "backend")
        with open(backend, "w", encoding="ascii") as file:
            file.write(BACKEND)
        os.chmod(backend, 0o755)
        self.site.write_settings(IDEM_BACKEND="cgi:" + backend)
        os.mkdir(self.site.path("disks"))

    def tearDown(self):
        try:
            for server in self.servers.values():
                server.destroy()
        finally:
            for disk in self.mounted:
                run("umount", disk)
            self.site.remove()

    def disk(self, npages):
        return self.site.path("disks", str(npages))

    def mount(self, npages):
        """A disk of one page more, which is taken: size=0 has no limit."""
        disk = self.disk(npages)
        os.mkdir(disk)
        run("mount", "-t", "tmpfs", "-o", "size=%d,mode=0700,uid=%d,gid=%d" % (
            (npages + 1) * PAGE, WORKER.pw_uid, WORKER.pw_gid), "idem-test",
            disk)
        self.mounted.append(disk)
        with open(os.path.join(disk, "filler"), "wb") as file:
            file.write(b"f" * PAGE)

    def give_room(self, npages):
        run("mount", "-o", "remount,size=16m", self.disk(npages))

    def start(self, npages):
        self.site.preload["IDEM_STORE"] = self.disk(npages)
        server = Direct(self.site, address=self.site.path(
            "run", "%d.sock" % npages))
        server.start()
        self.servers[npages] = server

    def stop(self):
        for server in self.servers.values():
            server.process.terminate()
        for server in self.servers.values():
            server.stop()
        self.servers = {}

    def ask(self, npages, key):
        self.ntries += 1
        return self.servers[npages].request(
            "POST", self.target, [JSON, ("Idempotency-Key", key)],
            b'{"matn":"birinchi"}')

    def ask_cgi(self, npages, key):
        self.ntries += 1
        body = b'{"matn":"birinchi"}'
        done = subprocess.run(
            [self.site.program], input=body, capture_output=True, timeout=60,
            check=False, **self.site.as_worker(),
            env=dict(self.site.worker_environment(), REQUEST_METHOD="POST",
                     GATEWAY_INTERFACE="CGI/1.1", REQUEST_URI=self.target,
                     SERVER_PROTOCOL="HTTP/1.1", SCRIPT_NAME="",
                     PATH_INFO=self.target, CONTENT_TYPE="application/json",
                     CONTENT_LENGTH=str(len(body)), HTTP_IDEMPOTENCY_KEY=key,
                     IDEM_STORE=self.disk(npages)))
        with open(self.site.path("log", "cgi.log"), "ab") as log:
            log.write(done.stderr)
        self.assertEqual(done.returncode, 0, done)
        return fcgi.parse_cgi(done.stdout)

    def first_starts(self):
        """What a server on each disk answers."""
        kinds = set()
        for npages in PAGES:
            self.mount(npages)
            self.start(npages)
            kinds.add(self.refused(npages, self.ask))
        return kinds

    def refused(self, npages, ask):
        """What comes of the first start on a disk with so few pages."""
        kind = kind_of(lambda: ask(npages, fresh_key()))
        self.assertIn(kind, (MADE, FULL, DOWN), "%d pages" % npages)
        if kind != MADE:
            self.assertRegex(
                self.site.log(), r"(error|warning): store %s: .*%s" % (
                    re.escape(self.disk(npages)), NO_ROOM),
                "%d pages" % npages)
        return kind

    def well(self, npages, ask):
        """There is room now: once, twice, and nothing is damaged."""
        key = fresh_key()
        first = ask(npages, key)
        again = ask(npages, key)
        self.assertEqual((first.status, again.status, again.body,
                          again.replayed), (201, 201, first.body, True))
        self.site.preload["IDEM_STORE"] = self.disk(npages)
        check = self.site.idem("check")
        self.assertIn(b" damaged=0", check.stdout, check)
        self.assertEqual(check.stderr, b"")
        self.assertFalse(os.path.exists(os.path.join(
            self.disk(npages), "data.mdb.unfinished")))

    def ended(self, name, kinds):
        self.assertIn(DOWN, kinds)
        self.assertIn(MADE, kinds)
        lines = re.findall("error: store .*" + NO_ROOM, self.site.log())
        record("disk", [(name, ", ".join(sorted(kinds)), lines[-1], "nothing",
                         len(PAGES), self.ntries)])


class Tasks(First):
    def test_a_worker_waits_for_room(self):
        kinds = self.first_starts()
        for npages in PAGES:
            self.give_room(npages)
        for npages in PAGES:
            proc.wait_until(lambda n=npages: self.ask(n, fresh_key()).status
                            == 201, "the store of %d pages" % npages)
            self.well(npages, self.ask)
        self.stop()
        self.ended("few pages free at the first start", kinds)

    def test_plain_cgi(self):
        kinds = set()
        for npages in PAGES:
            self.mount(npages)
            kinds.add(self.refused(npages, self.ask_cgi))
            self.give_room(npages)
            self.well(npages, self.ask_cgi)
        self.ended("few pages free at the first start (plain CGI)", kinds)


class Guard(First):
    program = "guard.fcgi"
    target = "/p"

    def test_a_worker_is_started_again(self):
        kinds = self.first_starts()
        self.stop()
        for npages in PAGES:
            self.give_room(npages)
            self.start(npages)
            self.well(npages, self.ask)
        self.stop()
        self.ended("few pages free at the first start (guard)", kinds)

    def test_plain_cgi(self):
        for npages in PAGES:
            self.mount(npages)
            self.refused(npages, self.ask_cgi)
            self.give_room(npages)
            self.well(npages, self.ask_cgi)
