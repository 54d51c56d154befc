"""The programs without any shared library: what is in them, and that they run
where nothing else is."""
import json
import os
import re
import shutil
import subprocess
import unittest

from harness import fcgi, proc
from harness.site import AS_ROOT, BUILD, WORKER, Site, free_port

STATIC = os.path.join(BUILD, "static")
PROGRAMS = [name for name in ("tasks.fcgi", "guard.fcgi", "idem")
            if os.path.exists(os.path.join(BUILD, name))]
BYTES_MAX = 6 * 1000 * 1000
TASK = b'{"matn":"Non"}'
ENV = {"IDEM_STORE": "/var/store"}


def readelf(option, program):
    return subprocess.run(["readelf", "-W", option, program], check=True,
                          capture_output=True, text=True).stdout


class Static(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(os.path.join(STATIC, "cjson/cJSON.c")):
            raise unittest.SkipTest(
                "the source of cJSON could not be had: see what "
                "tools/cjson-source.sh says")

    def test_what_they_are(self):
        for name in PROGRAMS:
            with self.subTest(name):
                path = os.path.join(STATIC, name)
                self.assertLess(os.path.getsize(path), BYTES_MAX)
                self.assertIn(" DYNAMIC ", readelf("-l", path))
                self.assertNotIn("INTERP", readelf("-l", path))
                self.assertNotIn("NEEDED", readelf("-d", path))
                self.assertNotIn(".symtab", readelf("-S", path))

    def test_version_says_what_is_inside(self):
        inside = {"tasks.fcgi": ["cjson", "lmdb", "openssl",
                                 "libunistring", "glibc"],
                  "guard.fcgi": ["lmdb", "openssl", "glibc"],
                  "idem": ["lmdb", "openssl", "glibc"]}
        for name, wanted in inside.items():
            if name not in PROGRAMS:
                continue
            out = subprocess.run([os.path.join(STATIC, name), "--version"],
                                 capture_output=True, check=True,
                                 text=True).stdout
            self.assertRegex(out, r"\A%s [0-9.]+\ninside: .+\n\Z"
                             % re.escape(name))
            for package in wanted:
                self.assertRegex(out, r"[ ,]%s \d+\.\d+" % package)
            self.assertEqual("cjson" in out, "cjson" in wanted)

    def test_addresses_by_number_only(self):
        site = Site()
        self.addCleanup(site.remove)
        run = subprocess.run(
            [os.path.join(STATIC, "tasks.fcgi"), "--listen", "localhost:0"],
            env=site.worker_environment(), stdin=subprocess.DEVNULL,
            capture_output=True, timeout=60, text=True, check=False,
            **site.as_worker())
        self.assertEqual(run.returncode, 71)
        self.assertIn("--listen: localhost:0: a static program knows "
                      "addresses by number only: 127.0.0.1:9000\n",
                      run.stderr)


@unittest.skipUnless(AS_ROOT, "an empty root directory needs root")
class EmptyRoot(unittest.TestCase):
    """Only the programs are there: no /etc, /proc, /dev, /lib."""
    setUpClass = Static.setUpClass

    def setUp(self):
        self.site = Site()
        self.addCleanup(self.site.remove)
        self.root = self.site.path("root")
        os.makedirs(os.path.join(self.root, "var"))
        os.chmod(self.root, 0o755)
        os.chown(os.path.join(self.root, "var"), WORKER.pw_uid, WORKER.pw_gid)
        for name in PROGRAMS:
            shutil.copy(os.path.join(STATIC, name), self.root)

    def argv(self, program, *words):
        return ["chroot", "--userspec=%d:%d" % (WORKER.pw_uid, WORKER.pw_gid),
                "--groups=", self.root, "/" + program] + list(words)

    def run_there(self, program, *words, env=None, stdin=b""):
        return subprocess.run(
            self.argv(program, *words), input=stdin, capture_output=True,
            timeout=60, check=False,
            env=dict(ENV, PATH="/usr/sbin:/usr/bin:/sbin:/bin", **env or {}))

    def cgi(self, key):
        pairs = fcgi.variables("POST", "/vazifalar", [
            ("Content-Type", "application/json"), ("Idempotency-Key", key)],
            TASK)
        done = self.run_there("tasks.fcgi", env=dict(pairs), stdin=TASK)
        self.assertEqual((done.returncode, done.stdout[:7]), (0, b"Status:"),
                         done.stderr)
        return fcgi.parse_cgi(done.stdout)

    def stats(self):
        done = self.run_there("idem", "stats", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return json.loads(done.stdout)

    def test_one_cgi_request(self):
        first = self.cgi("k-1")
        self.assertEqual((first.status, first.json["id"]), (201, 1))
        again = self.cgi("k-1")
        self.assertEqual((again.status, again.body), (201, first.body))
        self.assertTrue(again.replayed)
        self.assertEqual(self.stats()["done"], 1)

    def test_fastcgi(self):
        for number, address in enumerate((
                os.path.join(self.root, "var/sock"),
                ("127.0.0.1", free_port())), 1):
            where = ("unix:/var/sock" if number == 1
                     else "%s:%d" % address)
            with self.serving(where, address):
                for replayed in (False, True):
                    got = self.ask(address, "k-%d" % number)
                    self.assertEqual((got.status, got.json["id"],
                                      got.replayed),
                                     (201, number, replayed))
        self.assertEqual(self.stats()["done"], 2)

    def ask(self, address, key):
        return fcgi.request(address, fcgi.variables(
            "POST", "/vazifalar", [("Content-Type", "application/json"),
                                   ("Idempotency-Key", key)], TASK), TASK)

    def serving(self, where, address):
        server = subprocess.Popen(
            self.argv("tasks.fcgi", "--listen", where, "--workers", "2"),
            stdin=subprocess.DEVNULL, env=dict(
                ENV, PATH="/usr/sbin:/usr/bin:/sbin:/bin"))
        self.addCleanup(server.kill)
        test = self

        class Serving:
            def __enter__(self):
                proc.wait_until(lambda: test.listening(address, server),
                                "the start of a static tasks.fcgi")

            def __exit__(self, *_):
                server.terminate()
                test.assertEqual(server.wait(30), 0)

        return Serving()

    def listening(self, address, server):
        self.assertIsNone(server.poll(), "it ended at once")
        try:
            fcgi.connect(address, 1).close()
            return True
        except (FileNotFoundError, ConnectionRefusedError):
            return False

    def test_an_owner_has_no_name_there(self):
        """Nobody can be asked for it."""
        store = os.path.join(self.root, "var/store")
        os.mkdir(store)
        os.chown(store, 0, 0)
        done = self.run_there("idem", "stats")
        self.assertEqual((done.returncode, done.stderr), (
            1, b"idem: /var/store belongs to user id 0, which has no name "
            b"here: run this as root, or as that user\n"))
