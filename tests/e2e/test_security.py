"""What an attacker may try, as far as no other file shows it; and that each
test that SECURITY.md names is there."""
import os
import re
import stat
import subprocess
import sys
import unittest

from harness.case import OwnSiteCase, fresh_key, on
from harness.servers import (ApacheCgi, ApacheFcgid, ApacheProxy, Direct,
                             Lighttpd, Workers)
from harness.site import AS_ROOT, ROOT

# As another user: what may it do with each path?  A line for each that it may.
NEIGHBOUR = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
store, address = sys.argv[1:]
def may(what, call, *args):
    try:
        call(*args)
        print(what)
    except OSError:
        pass
may("list", os.listdir, store)
for name in ("data.mdb", "lock.mdb", "workers", "waiting", "sightings"):
    may("read " + name, open, os.path.join(store, name), "rb")
may("create", os.mkdir, os.path.join(store, "x"))
may("connect", socket.socket(socket.AF_UNIX).connect, address)
may("remove the socket", os.remove, address)
print("ran")
"""


@on(Lighttpd, ApacheFcgid, ApacheProxy, ApacheCgi, Direct)
class Spoofed:
    """Header fields named like parameters and settings are only HTTP_*."""

    def test_fields_that_look_like_parameters(self):
        key, task = fresh_key(), {"matn": "x #" + self.fresh_tag()}
        first = self.assertFirst(self.post(task, key))
        for name, value in (
                ("Remote-User", "ali"), ("X-Remote-User", "ali"),
                ("Redirect-Remote-User", "ali"), ("Remote-Addr", "10.1.1.1"),
                ("X-Forwarded-For", "10.1.1.1"), ("X-Real-IP", "10.1.1.1"),
                ("Forwarded", "for=10.1.1.1"), ("Idem-Ttl", "1s"),
                ("Idem-Scope", "header:X"), ("Idem-Store", "/tmp/x"),
                ("Redirect-Idem-Ttl", "1s"), ("Request-Uri", "/boshqa"),
                ("Script-Filename", "/etc/passwd"),
                ("Request-Method", "DELETE"), ("Document-Root", "/"),
                ("X-HTTP-Method-Override", "DELETE"),
                ("Idempotency-Replayed", "true")):
            with self.subTest(name):
                self.assertReplay(self.post(task, key, [(name, value)]),
                                  first)


class Neighbour(OwnSiteCase):
    """Another user of the same machine."""
    server_class = Workers

    def start_openly(self):
        """As under a careless umask."""
        before = os.umask(0)
        try:
            self.start()
        finally:
            os.umask(before)
        self.assertFirst(self.post({"matn": "x"}, fresh_key()))

    def test_modes_whatever_the_umask(self):
        self.start_openly()
        mode = stat.S_IMODE(os.stat(self.site.store).st_mode)
        self.assertEqual(mode, 0o700)
        names = os.listdir(self.site.store)
        self.assertIn("data.mdb", names)
        for name in names:
            mode = os.stat(os.path.join(self.site.store, name)).st_mode
            self.assertEqual(stat.S_IMODE(mode), 0o600, name)

    @unittest.skipUnless(AS_ROOT, "needs root to become another user")
    def test_another_user_reaches_nothing(self):
        self.start_openly()
        run = subprocess.run(
            [sys.executable, "-c", NEIGHBOUR, self.site.store,
             self.server.address], capture_output=True, text=True, check=True)
        self.assertEqual(run.stdout, "ran\n", run.stderr)

    def refused(self, *words):
        """No request is served, the log says why, and nothing is stored."""
        self.start()
        key = fresh_key()
        self.assertProblem(self.post({"matn": "x"}, key), 503,
                           "idempotentlik-ombor")
        for word in words:
            self.logged(word)

    def make_store(self, mode):
        os.mkdir(self.site.store)
        os.chmod(self.site.store, mode)
        if AS_ROOT:
            worker = self.site.as_worker()
            os.chown(self.site.store, worker["user"], worker["group"])

    def test_a_directory_that_others_may_write(self):
        self.make_store(0o777)
        self.refused("other users may write in it (mode 0777): chmod 700 it")
        self.server.stop()
        os.chmod(self.site.store, 0o700)
        self.start()
        self.assertFirst(self.post({"matn": "x"}, fresh_key()))

    def test_links_in_the_store(self):
        victim = self.site.path("run", "victim")
        with open(victim, "wb") as file:
            file.write(b"not yours\n" * 1000)
        os.chmod(victim, 0o666)
        self.make_store(0o700)
        for name in ("data.mdb", "lock.mdb", "workers", "waiting",
                     "sightings", "group.2", "open.lock"):
            with self.subTest(name):
                link = os.path.join(self.site.store, name)
                os.symlink(victim, link)
                self.refused(name + " in it is a symbolic link")
                self.server.stop()
                os.remove(link)
        self.assertEqual(os.listdir(self.site.store), [])
        with open(victim, "rb") as file:
            self.assertEqual(file.read(), b"not yours\n" * 1000)


class Stolen(OwnSiteCase):
    """Whoever reads the files of the store or a copy."""

    def test_no_key_and_no_user_name(self):
        self.start(Workers)
        key = fresh_key()
        for value in ("Bearer sirli-belgi-4711", "Basic c2lybGk6cGFyb2w="):
            self.assertFirst(self.post({"matn": "javob"}, key,
                                       [("Authorization", value)]))
        copy = self.site.path("copy")
        self.site.idem("copy", copy, check=True)
        self.server.stop()
        self.server = None
        for folder in (self.site.store, copy):
            self.holds_answers_only(folder, key)

    def holds_answers_only(self, folder, key):
        stored = b""
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                stored += file.read()
        self.assertIn(b'"matn":"javob"', stored)    # answers are there
        for secret in (key, key.replace("-", ""), "sirli-belgi-4711",
                       "c2lybGk6cGFyb2w", "sirli", "parol"):
            self.assertNotIn(secret.encode(), stored)


class Document(unittest.TestCase):
    """SECURITY.md: `tests/e2e/test_x.py` Class.test, or a test of a C file."""

    def test_every_test_that_it_names_is_there(self):
        with open(os.path.join(ROOT, "SECURITY.md"), encoding="utf-8") as f:
            text = f.read()
        named = re.findall(r"`(test_\w+)\.(py|c) ([\w.]+)`", text)
        self.assertGreater(len(named), 40)
        self.assertEqual(len(named), len(re.findall(r"`test_\w+\.", text)))
        for module, kind, name in named:
            folder = "e2e" if kind == "py" else "unit"
            path = os.path.join(ROOT, "tests", folder, module + "." + kind)
            with self.subTest(module=module, name=name), \
                    open(path, encoding="utf-8") as file:
                source = file.read()
                for part in name.split("."):
                    self.assertTrue(re.search(
                        r"(?m)^(class |    def |)%s\b[(:]" % part, source),
                        part)
