"""The operator's command as a process: where its settings come from, many
sweeps at once, who is refused, and the rows of the vectors."""
import json
import os
import pwd
import re
import subprocess
import unittest

from harness import proc
from harness.case import ServerCase, fresh_key
from harness.load import Load
from harness.outside import Outside
from harness.servers import Workers
from harness.site import AS_ROOT, BUILD, ROOT, WORKER, Site

IDEM = os.path.join(BUILD, "idem")
FIGURES = re.compile(rb"seen=\d+ expired=\d+ unknown_expired=\d+ held=\d+ "
                     rb"released=\d+ ms=\d+ more=(yes|no)\n")


def idem(*words, stdin=b"", program=IDEM, env=None, **more):
    return subprocess.run([program] + list(words), input=stdin,
                          capture_output=True, timeout=120, check=False,
                          env=env or {"PATH": "/usr/bin:/bin"}, **more)


def rows(name):
    """(line in the file, cells) of each row."""
    with open(os.path.join(ROOT, "tests/vectors", name), "rb") as file:
        for number, line in enumerate(file.read().split(b"\n")[:-1], 1):
            if not line.startswith(b"#"):
                yield number, line.split(b"\t")


class Explain(unittest.TestCase):
    """canonical and --help, as a person types them."""

    # The offset of the byte that is the reason, by line of the file.
    WHERE = {25: 1, 26: 1, 27: 7, 28: 7, 29: 12, 30: 0, 31: 1, 32: 3, 33: 7,
             34: 1, 35: 1, 36: 1, 37: 2, 38: 0, 39: 0, 40: 2, 41: 0, 42: 0,
             43: 1, 44: 2, 45: 5, 46: 4, 47: 3, 48: 4, 49: 3, 50: 5, 52: 64,
             54: 0, 55: 0}
    WHY = {b"INVALID": b"not JSON from here on\n",
           b"INEXACT": b"JSON without a canonical form: "}

    def test_canonical(self):
        where = dict(self.WHERE)
        for number, (text, want) in rows("json_canonical.tsv"):
            done = idem("canonical", stdin=text)
            if want not in self.WHY:
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (0, want + b"\n", b""), "row %d" % number)
                continue
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertTrue(done.stderr.startswith(
                b"idem: byte %d: %s" % (where.pop(number), self.WHY[want])),
                "row %d: %r" % (number, done.stderr))
        self.assertEqual(where, {})

    def test_no_setting_is_read(self):
        done = idem("canonical", stdin=b"1.0", env={"IDEM_TTL": "nonsense"})
        self.assertEqual((done.returncode, done.stdout), (0, b"1\n"))

    def test_a_closed_pipe_is_told(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([IDEM, "--help"], stdout=writer, timeout=60,
                              stderr=subprocess.PIPE, check=False)
        os.close(writer)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr,
                         b"idem: cannot write the output: Broken pipe\n")


    def test_closed_descriptors(self):
        """What is closed is not taken for the next file that is opened."""
        for redirect, err in (
                (">&-", b"idem: cannot write the output: "
                 b"Bad file descriptor\n"),
                ("<&-", b"idem: cannot read standard input: "
                 b"Bad file descriptor\n"), (">&- 2>&-", b""),
                ("<&- >&- 2>&-", b"")):
            done = subprocess.run(
                ["sh", "-c", "echo 1 | exec \"$0\" canonical " + redirect,
                 IDEM], capture_output=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (1, b"", err), redirect)


class Settings(unittest.TestCase):
    """Where the command finds its settings."""

    def setUp(self):
        self.site = Site(program="idem")
        self.addCleanup(self.site.remove)

    def line_of(self, name, *words, env=None):
        done = idem("--check-config", "--store", "/x", *words, env=env,
                    program=self.site.program)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        lines = [line for line in done.stdout.decode().splitlines()
                 if line.startswith(name + "=")]
        self.assertEqual(len(lines), 1)
        return lines[0].split("\t")[:2]

    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_the_file_beside_the_program(self):
        path = self.site.path("bin", ".htidem.conf")
        self.write(path, "# a comment\nIDEM_MAX_KEYS=77\n")
        self.assertEqual(self.line_of("IDEM_MAX_KEYS"),
                         ["IDEM_MAX_KEYS=77", path + ":2"])

    def test_the_higher_source_wins(self):
        path = self.site.path("some.conf")
        self.write(path, "IDEM_MAX_KEYS=1\n")
        env = {"IDEM_CONFIG": path}
        self.assertEqual(self.line_of("IDEM_MAX_KEYS", env=env),
                         ["IDEM_MAX_KEYS=1", path + ":1"])
        env["IDEM_MAX_KEYS"] = "2"
        self.assertEqual(self.line_of("IDEM_MAX_KEYS", env=env),
                         ["IDEM_MAX_KEYS=2", "environment"])
        self.assertEqual(self.line_of("IDEM_MAX_KEYS", "--max-keys", "3",
                                      env=env),
                         ["IDEM_MAX_KEYS=3", "command line"])

    def test_a_wrong_line_is_named(self):
        path = self.site.path("some.conf")
        self.write(path, "IDEM_TTL=24h\nIDEM_MAX_STORE=1T\n")
        done = idem("sweep", "--config", path)
        self.assertEqual((done.returncode, done.stdout), (78, b""))
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertTrue(done.stderr.startswith(
            b"idem: %s:2: IDEM_MAX_STORE=1T " % path.encode()), done.stderr)


class ManySweeps(ServerCase):
    server_class = Workers
    settings = {"IDEM_TTL": "1ms"}

    def create(self, n):
        for _ in range(n):
            self.assertFirst(self.post({"matn": "Non"}, fresh_key()))

    def start(self, *words):
        return subprocess.Popen(
            [self.site.tool("idem"), "sweep"] + list(words),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.site.worker_environment(),
            **self.site.as_worker())

    def test_each_record_is_counted_once(self):
        self.create(200)
        sweeps = [self.start("--json") for _ in range(6)]
        got = [sweep.communicate(timeout=60) for sweep in sweeps]
        self.assertEqual([s.returncode for s in sweeps], [0] * 6, got)
        figures = [json.loads(out) for out, _ in got]
        self.assertEqual(sum(f["expired"] for f in figures), 200)
        for f in figures:
            if f["busy"]:
                self.assertEqual(f["seen"], 0)

    def test_a_killed_sweep_leaves_no_lock(self):
        self.create(1)
        with self.start() as sweep:
            sweep.kill()
        done = self.site.idem("sweep")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout, FIGURES)


class StatsBesideLoad(ServerCase):
    """Slow creations: each record is running for a while."""
    server_class = Workers
    settings = {"IDEM_TASK_DELAY_MS": "1"}

    def test_no_living_worker_counts_as_dead(self):
        """Answers are stored between the look at a record and the question
        whether its worker lives."""
        running = 0
        with Load(self) as load:
            load.until_done(1)
            for _ in range(200):
                run = self.site.idem("stats", "--json", check=True)
                stats = json.loads(run.stdout)
                self.assertEqual(stats["orphaned"], 0, stats)
                running += stats["running"]
            load.until_done(1)
        self.assertGreater(running, 0)


class Held(Outside):
    """A worker is killed in the middle of work outside the store: nobody but
    the operator can say how it ended."""
    nworkers = 2

    def held(self):
        """The key of a held record, and its id."""
        self.begin()
        key = fresh_key()
        self.die(key)
        self.assertProblem(self.send(key).answer(), 409,
                           "idempotentlik-nomalum")
        listed = self.json("list", "--state", "unknown")
        self.assertEqual((len(listed["records"]), listed["more"]), (1, False))
        self.assertIsNone(listed["records"][0]["status"])
        return key, listed["records"][0]["id"]

    def json(self, *words):
        return json.loads(self.site.idem(*words, "--json", check=True).stdout)

    def refused(self, *words, status=1):
        done = self.site.idem(*words)
        self.assertEqual((done.returncode, done.stdout), (status, b""))
        return done.stderr.decode()

    def test_list_and_show(self):
        key, found = self.held()
        self.assertRegex(found, "^[0-9a-f]{64}$")
        text = self.site.idem("list", check=True).stdout.decode()
        self.assertRegex(text, "\n%s unknown  20" % found[:16])
        by_id = self.json("show", "--id", found[:8])
        self.assertEqual(self.json("show", "--key", key), by_id)
        self.assertEqual((by_id["id"], by_id["state"], by_id["status"]),
                         (found, "unknown", None))
        want = self.site.idem("fingerprint", "--method", "POST", "--target",
                              "/ish", "--type", "application/json",
                              stdin=b"{}", check=True).stdout.decode()
        self.assertEqual(by_id["fingerprint"] + "\n", want)
        text = self.site.idem("show", "--id", found, check=True).stdout
        self.assertNotIn(key.encode(), text)
        self.refused("show", "--key", key, "--scope", "REMOTE_USER=ali")

    def test_release(self):
        """The next retry does the work."""
        key, found = self.held()
        done = self.site.idem("resolve", "--key", key, "--release",
                              check=True)
        self.assertEqual(done.stdout,
                         b"id=%s state=released\n" % found.encode())
        first = self.assertFirst(self.send(key).answer())
        self.assertReplay(self.send(key).answer(), first)
        self.assertEqual(self.count(), 2)
        self.assertIn("nothing to resolve",
                      self.refused("resolve", "--key", key, "--release"))

    def test_complete(self):
        """The next retry gets these very bytes."""
        key, found = self.held()
        body = bytes(range(256)) * 12
        path = self.site.path("body")
        with open(path, "wb") as file:
            file.write(body)
        self.site.idem("resolve", "--id", found[:8], "--complete", "202",
                       "--body", path, "--header", "Content-Type: x/y",
                       "--header", "Link: <a>", "--header", "Link: <b>",
                       check=True)
        for _ in range(2):
            got = self.send(key).answer()
            self.assertStatus(got, 202)
            self.assertTrue(got.replayed)
            self.assertEqual(got.body, body)
            self.assertEqual(got.all("Link"), ["<a>", "<b>"])
            self.assertEqual(got.field("Content-Type"), "x/y")
        self.assertEqual(self.count(), 1)
        shown = self.json("show", "--key", key)
        self.assertEqual((shown["state"], shown["status"],
                          shown["body_bytes"]), ("done", 202, len(body)))
        raw = self.site.idem("show", "--key", key, "--body", check=True)
        self.assertTrue(raw.stdout.endswith(b"\nLink: <b>\n\n" + body))

    def test_while_its_worker_lives(self):
        self.begin()
        key = fresh_key()
        pending = self.send(key)
        proc.wait_until(lambda: self.count() == 1, "the work to begin")
        for words in (("--release",), ("--complete", "200")):
            self.assertIn("its worker lives", self.refused(
                "resolve", "--key", key, *words))
        self.assertEqual(self.json("show", "--key", key)["state"], "running")
        self.let_go()
        self.assertFirst(pending.answer())
        self.assertEqual(self.count(), 1)

    def test_an_orphan_that_nobody_asked_for(self):
        self.begin()
        key = fresh_key()
        self.die(key)
        self.assertEqual(self.json("show", "--key", key)["state"], "orphaned")
        self.site.idem("resolve", "--key", key, "--complete", "204",
                       check=True)
        got = self.send(key).answer()
        self.assertEqual((got.status, got.body), (204, b""))
        self.assertEqual(self.count(), 1)

    @unittest.skipUnless(AS_ROOT, "needs a file that only root can read")
    def test_root_reads_its_own_file(self):
        key, _ = self.held()
        path = self.site.path("bin", "secret")
        with open(path, "wb", opener=lambda name, flags:
                  os.open(name, flags, 0o600)) as file:
            file.write(b"paid")
        self.site.idem("resolve", "--key", key, "--complete", "200", "--body",
                       path, user={}, check=True)
        self.assertEqual(self.send(key).answer().body, b"paid")


@unittest.skipUnless(AS_ROOT, "needs other users: run it as root")
class Access(unittest.TestCase):
    """Folders of other users; none of them holds a store."""

    def setUp(self):
        self.site = Site(program="idem")
        self.addCleanup(self.site.remove)
        nobody = pwd.getpwnam("nobody")
        self.nobody = {"user": nobody.pw_uid, "group": nobody.pw_gid,
                       "extra_groups": []}

    def folder(self, name, owner, mode=0o755):
        path = self.site.path(name)
        os.mkdir(path)
        os.chmod(path, mode)
        os.chown(path, owner, owner)
        return path

    def refused(self, path, *words, **user):
        done = idem(*words, "--store", path, program=self.site.program, **user)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        return done.stderr.decode()

    def test_the_owner_is_named(self):
        path = self.folder("store", WORKER.pw_uid)
        for command in ("sweep", "stats", "check"):
            self.assertEqual(self.refused(path, command, **self.nobody), (
                "idem: {0} belongs to {1}: run this as root, from the "
                "crontab of {1}, or with su -s /bin/sh {1} -c "
                "'idem {2} --store {0}'\n").format(path, WORKER.pw_name,
                                                   command))

    def test_an_owner_without_a_name(self):
        path = self.folder("store", 54321)
        self.assertEqual(self.refused(path, "stats", **self.nobody), (
            "idem: %s belongs to user id 54321, which has no name here: run "
            "this as root, or as that user\n") % path)

    def test_a_closed_folder(self):
        path = os.path.join(self.folder("closed", 0, 0o700), "store")
        self.assertEqual(self.refused(path, "stats", **self.nobody), (
            "idem: cannot look at %s: Permission denied; run this as root "
            "or as the user of the web program\n") % path)

    def test_root_makes_nothing_there(self):
        path = self.folder("store", 54321)
        for command in ("sweep", "stats", "check"):
            text = self.refused(path, command)
            self.assertTrue(text.startswith("idem: "), text)
            self.assertEqual(text.count("\n"), 1, text)
            self.assertEqual(os.listdir(path), [])
