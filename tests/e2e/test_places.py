"""Bad places and bad settings: one clear line in the log that says what to do,
a problem document for the client, and nothing lost or done."""
import os
import shutil
import subprocess
import unittest

from harness import fcgi, proc
from harness.case import OwnSiteCase, fresh_key
from harness.servers import ApacheFcgid, Lighttpd
from harness.site import AS_ROOT, WORKER


class Place(OwnSiteCase):
    """A server whose store lies where it cannot lie."""

    def own(self, path):
        os.chown(path, WORKER.pw_uid, WORKER.pw_gid)

    def refused(self, *words):
        """Every request is 503, and the log has no other error than the one
        that names the store and says what to do."""
        for _ in range(3):
            got = self.post({"matn": "x"}, fresh_key())
            self.assertProblem(got, 503, "idempotentlik-ombor")
            self.assertEqual(got.json["code"], "store-unavailable")
            self.assertEqual(got.field("Retry-After"), "1")
        got = self.post({"matn": "kalitsiz"})
        self.assertProblem(got, 503, "idempotentlik-ombor")
        self.logged("error: ")
        lines = [line for line in self.site.log().splitlines()
                 if "error: " in line]
        for line in lines:
            for word in (self.site.store,) + words:
                self.assertIn(word, line)


@unittest.skipUnless(AS_ROOT, "needs two users: run it as root")
class OtherOwner(Place):
    def test_directory_of_another_user(self):
        os.mkdir(self.site.store, 0o777)
        os.chmod(self.site.store, 0o777)
        self.start()
        self.refused("belongs to user 0", "run it as its owner")
        self.assertEqual(os.listdir(self.site.store), [])


class Unwritable(Place):
    def test_the_directory_cannot_be_made(self):
        if AS_ROOT:
            os.chown(self.site.dir, 0, 0)
        os.chmod(self.site.dir, 0o555)
        self.start()
        try:
            self.refused("Permission denied", "let this user write there")
        finally:
            os.chmod(self.site.dir, 0o755)

    def test_the_directory_cannot_be_written(self):
        os.mkdir(self.site.store, 0o500)
        self.own(self.site.store)
        self.start()
        self.refused("Permission denied", "must belong to the user")

    def test_a_file_stands_there(self):
        with open(self.site.store, "w", encoding="ascii") as file:
            file.write("x")
        self.own(self.site.store)
        self.start()
        self.refused("is not a directory", "set IDEM_STORE")


class Damaged(Place):
    def make_store(self):
        """A store with one record; the key and its task."""
        key, task = fresh_key(), {"matn": "bor"}
        self.start()
        self.assertFirst(self.post(task, key))
        self.server.stop()
        self.server = None
        return key, task

    def data(self):
        return os.path.join(self.site.store, "data.mdb")

    def test_garbage(self):
        self.make_store()
        size = os.path.getsize(self.data())
        with open(self.data(), "r+b") as file:
            file.write(os.urandom(size))
        self.start()
        self.refused("not an LMDB file", "put a copy of the store")
        self.assertEqual(os.path.getsize(self.data()), size)

    def test_cut_short(self):
        self.make_store()
        os.truncate(self.data(), 100)
        self.start()
        self.refused("not an LMDB file", "put a copy of the store")

    def test_unreadable(self):
        self.make_store()
        os.chmod(self.data(), 0)
        self.start()
        self.refused("Permission denied", "must belong to the user")

    def test_repaired_it_serves_again(self):
        key, task = self.make_store()
        kept = self.data() + ".kept"
        shutil.copy2(self.data(), kept)
        os.truncate(self.data(), 100)
        self.start()
        self.refused("not an LMDB file")
        os.replace(kept, self.data())
        self.own(self.data())
        self.server.stop()
        self.start()
        got = self.post(task, key)
        self.assertStatus(got, 201)
        self.assertTrue(got.replayed, got)

    def test_made_by_a_newer_version(self):
        self.make_store()
        subprocess.run([self.site.tool("tests/newer"), self.site.store],
                       check=True, **self.site.as_worker())
        self.start()
        self.refused("its schema is 99", "run a newer version")


class InDocumentRoot(Place):
    """Anybody could fetch the answers of others."""

    def test_the_store_lies_in_the_document_root(self):
        place = self.site.path("www", "ombor")
        os.mkdir(place, 0o700)
        self.own(place)
        os.symlink(place, self.site.store)
        for server_class in (Lighttpd, ApacheFcgid):
            self.start(server_class)
            got = self.post({"matn": "x"}, fresh_key())
            self.assertProblem(got, 503, "idempotentlik-ombor")
            self.logged("error: ", self.site.path("www"))
            self.server.stop()
            self.server = None

    def test_nothing_is_made_there(self):
        """Plain CGI knows the document root before it looks at the store; a
        worker does where its environment says it."""
        place = self.site.path("www", "ombor")
        if AS_ROOT:
            self.own(self.site.path("www"))
        self.site.preload = {"DOCUMENT_ROOT": self.site.path("www"),
                             "IDEM_STORE": place}
        run = subprocess.run(
            [self.site.program], input=b'{"matn":"x"}', capture_output=True,
            timeout=20, check=True, **self.site.as_worker(),
            env=dict(self.site.worker_environment(), REQUEST_METHOD="POST",
                     GATEWAY_INTERFACE="CGI/1.1", REQUEST_URI="/vazifalar",
                     CONTENT_TYPE="application/json", CONTENT_LENGTH="12",
                     HTTP_IDEMPOTENCY_KEY=fresh_key()))
        self.assertProblem(fcgi.parse_cgi(run.stdout), 503,
                           "idempotentlik-ombor")
        self.assertEqual(os.listdir(self.site.path("www")), [])
        line = ("store %s: lies inside the document root %s, where the web "
                "server might serve it: set IDEM_STORE to a directory "
                "outside" % (place, self.site.path("www")))
        self.assertIn(line, run.stderr.decode())
        self.start()
        self.assertProblem(self.post({"matn": "x"}, fresh_key()), 503,
                           "idempotentlik-ombor")
        self.assertEqual(os.listdir(self.site.path("www")), [])
        self.assertIn(line, self.site.log())


class Replaced(Place):
    def test_the_directory_was_replaced_under_the_worker(self):
        """It must not go on in the old one, which nobody sees any more."""
        self.start()
        key = fresh_key()
        self.assertFirst(self.post({"matn": "eski"}, key))
        os.rename(self.site.store, self.site.store + ".old")
        got = self.post({"matn": "yangi"}, fresh_key())
        self.assertIn(got.status, (201, 503), got)
        self.server.process.wait(proc.SECONDS)
        errors = [line for line in self.site.log().splitlines()
                  if "error: " in line]
        self.assertEqual(len(errors), 1, errors)
        self.assertRegex(errors[0], r"store %s: \S+ is not the file that was "
                         "opened: this process leaves" % self.site.store)
        self.start()
        self.assertFirst(self.post({"matn": "yangi"}, fresh_key()))


class WrongSetting(Place):
    def start_fails(self, settings, *words, env=None):
        self.site.write_settings(**settings)
        run = subprocess.run(
            [self.site.program, "--listen", "unix:" + self.site.socket],
            env=dict(self.site.worker_environment(), **(env or {})),
            capture_output=True, timeout=proc.SECONDS, check=False,
            **self.site.as_worker())
        for name in settings:
            del self.site.settings[name]
        self.assertEqual(run.returncode, 78, run.stderr)
        lines = run.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        for word in words:
            self.assertIn(word, lines[0])

    def test_wrong_values_in_the_file(self):
        for name, value in [("IDEM_TTL", "24"), ("IDEM_TTL", "x"),
                            ("IDEM_MAX_BODY", "10"),
                            ("IDEM_WHEN_FULL", "maybe"),
                            ("IDEM_TASK_DELAY_MS", "3s"),
                            ("IDEM_LANG", "xx"),
                            ("IDEM_NO_SUCH_NAME", "1")]:
            with self.subTest(name=name, value=value):
                self.start_fails({name: value}, self.site.config, name, value)

    def test_wrong_values_in_the_environment(self):
        self.start_fails({}, "IDEM_TTL", "never", env={"IDEM_TTL": "never"})
        self.start_fails({}, "IDEM_X", env={"IDEM_X": "1"})

    def test_no_store(self):
        env = {"IDEM_STORE": ""}
        self.start_fails({}, "IDEM_STORE", env=env)

    def test_a_settings_file_that_is_not_there(self):
        missing = self.site.path("yoq.conf")
        self.start_fails({}, missing, env={"IDEM_CONFIG": missing})

    def test_wrong_values_in_a_parameter(self):
        self.start()
        tag = self.fresh_tag()
        for name, value in [("IDEM_TTL", "5"), ("IDEM_STORE", "/tmp/x"),
                            ("IDEM_NO_SUCH", "1"),
                            ("REDIRECT_IDEM_TTL", "x")]:
            got = self.post({"matn": "#" + tag}, fresh_key(),
                            more=[(name, value)])
            self.assertProblem(got, 500, "ichki-xato")
            self.logged(name.replace("REDIRECT_", ""))
        self.assertTasks(tag, 0)

    def test_good_values_in_a_parameter(self):
        self.start()
        got = self.post({"matn": "x"}, more=[("IDEM_REQUIRE_KEY", "on")])
        self.assertProblem(got, 400, "idempotentlik-kalit-kerak")
        got = self.post({"matn": "x"}, fresh_key(),
                        [("IDEM-REQUIRE-KEY", "on")])
        self.assertFirst(got)

    def test_beside_the_program(self):
        """.htidem.conf is found without any environment."""
        path = self.site.path("bin", ".htidem.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write("IDEM_STORE=%s\nIDEM_REQUIRE_KEY=on\n"
                       % self.site.store)
        run = subprocess.run([self.site.program, "--check-config"],
                             env={}, capture_output=True, timeout=proc.SECONDS,
                             check=True)
        lines = run.stdout.decode().splitlines()
        for name, value in (("IDEM_STORE", self.site.store),
                            ("IDEM_REQUIRE_KEY", "on")):
            line = [one for one in lines if one.startswith(name + "=")]
            self.assertEqual(len(line), 1, lines)
            self.assertTrue(line[0].startswith("%s=%s\t%s:" % (
                name, value, path)), line)

    def test_file_below_environment_below_option(self):
        def value_of(argv, env):
            run = subprocess.run(
                [self.site.program, "--check-config"] + argv,
                env=dict(self.site.worker_environment(), **env),
                capture_output=True, timeout=proc.SECONDS, check=True)
            line = [one for one in run.stdout.decode().splitlines()
                    if one.startswith("IDEM_MAX_KEYS=")]
            return line[0].split("\t")[0].partition("=")[2]
        self.assertEqual(value_of([], {}), "1000000")
        self.assertEqual(value_of([], {"IDEM_MAX_KEYS": "7"}), "7")
        self.assertEqual(value_of(["--max-keys=5"], {"IDEM_MAX_KEYS": "7"}),
                         "5")


class Full(Place):
    """No room: 503 store-full, what is there stays, and room comes back."""
    settings = {"IDEM_MAX_STORE": "1M"}

    def fill(self):
        """Until the store is full; the keys that were taken."""
        taken = []
        for n in range(5000):
            key, task = fresh_key(), {"matn": "%d " % n + "x" * 400}
            got = self.post(task, key)
            if got.status != 201:
                self.assertProblem(got, 503, "idempotentlik-ombor-tola")
                self.assertTrue(got.has("Retry-After"), got)
                return taken
            taken.append((key, task))
        self.fail("never full")

    def test_a_full_map(self):
        self.start()
        taken = self.fill()
        self.assertGreater(len(taken), 100)
        for key, task in taken[:5] + taken[-5:]:
            got = self.post(task, key)
            self.assertStatus(got, 201)
            self.assertTrue(got.replayed, got)
        self.assertStatus(self.get("/vazifalar"), 200)
        self.logged("IDEM_MAX_STORE")


class TooManyKeys(Place):
    settings = {"IDEM_MAX_KEYS": "20", "IDEM_WHEN_FULL": "refuse"}

    def test_refuse(self):
        self.start()
        kept = [(fresh_key(), {"matn": str(n)}) for n in range(20)]
        firsts = [self.assertFirst(self.post(task, key))
                  for key, task in kept]
        tag = self.fresh_tag()
        got = self.post({"matn": "#" + tag}, fresh_key())
        self.assertProblem(got, 503, "idempotentlik-ombor-tola")
        self.assertTrue(got.has("Retry-After"), got)
        self.assertTasks(tag, 0)
        self.assertFirst(self.post({"matn": "kalitsiz"}))
        for (key, task), first in zip(kept, firsts):
            self.assertReplay(self.post(task, key), first)
        self.logged("IDEM_MAX_KEYS")


class Evicting(Place):
    settings = {"IDEM_MAX_KEYS": "20", "IDEM_MIN_KEEP": "0"}

    def test_the_oldest_answer_goes(self):
        self.start()
        kept = [(fresh_key(), {"matn": str(n)}) for n in range(20)]
        for key, task in kept:
            self.assertFirst(self.post(task, key))
        self.assertFirst(self.post({"matn": "yangi"}, fresh_key()))
        got = self.post(kept[1][1], kept[1][0])
        self.assertTrue(got.replayed, got)
        self.assertFirst(self.post(kept[0][1], kept[0][0]))
