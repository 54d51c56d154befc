"""Ctrl-C in the middle of a proof: one line, exit status 130, nothing left."""
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from harness import clean, proc
from harness.harm import can_mount
from harness.site import BUILD, ROOT

SECONDS = 60


class Interrupted(unittest.TestCase):
    """A command with a folder for temporary files of its own."""

    def start(self, argv, **more):
        self.name = clean.fresh_name()
        self.folders = [os.path.join(base, self.name)
                        for base in clean.BASES]
        self.addCleanup(self.forget)
        self.out = tempfile.TemporaryFile()
        self.addCleanup(self.out.close)
        env = dict(os.environ, **more)
        env[clean.NAME] = self.name
        for make in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
            env.pop(make, None)
        self.child = subprocess.Popen(
            argv, cwd=ROOT, env=env, stdin=subprocess.DEVNULL,
            stdout=self.out, stderr=subprocess.STDOUT,
            start_new_session=True)
        self.addCleanup(self.end)

    def end(self):
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGTERM)
            self.child.wait(SECONDS)

    def forget(self):
        for folder in filter(os.path.isdir, self.folders):
            os.rmdir(folder)

    def said(self):
        self.out.seek(0)
        return self.out.read().decode()

    def below(self, pattern):
        return [path for folder in self.folders for path in
                glob.glob(os.path.join(folder, "*", pattern))]

    def ours(self):
        """The processes that work in the folders, or know of them."""
        found = []
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                places = [os.readlink("/proc/%d/%s" % (pid, name))
                          for name in ("exe", "cwd")]
                with open("/proc/%d/environ" % pid, "rb") as file:
                    places.append(file.read().decode(errors="replace"))
            except OSError:
                continue
            if proc.alive(pid) and any(self.name in p for p in places):
                found.append(pid)
        return found

    def until(self, began):
        def look():
            self.assertIsNone(self.child.poll(), self.said())
            return began()
        proc.wait_until(look, "its first progress", SECONDS)

    def interrupt(self, number=signal.SIGINT):
        """To all of the group, as a terminal does; (the exit status, what
        was said)"""
        running = self.ours()
        self.assertNotEqual(running, [])
        segments = clean.shared_memory(running)
        os.killpg(self.child.pid, number)
        status = self.child.wait(SECONDS)
        proc.wait_until(lambda: not self.ours(), "the end of all: %s\n%s" % (
            self.ours(), self.said()))
        self.assertEqual([p for p in segments if os.path.exists(p)], [])
        self.assertEqual(clean.mounts_below(self.folders), [])
        return status, self.said()

    def nothing_left(self):
        left = [path for folder in filter(os.path.isdir, self.folders)
                for path in os.listdir(folder)]
        self.assertEqual(left, [])


class Proofs(Interrupted):
    """The commands themselves, by make."""

    def one(self, name, needed, began, settings="SEED=42", goal=None):
        if not os.path.exists(os.path.join(BUILD, needed)):
            self.skipTest("make %s was not built" % name)
        self.start(["make", "--no-print-directory", goal or name, "BUILD=" +
                    os.path.relpath(BUILD, ROOT), "SEED=42"],
                   TARGETS="key")
        self.until(began)
        status, said = self.interrupt()
        self.assertEqual(status, -signal.SIGINT, said)
        self.assertRegex(said, r"(?m)^%s: interrupted after \d+ s: .*\(%s" % (
            name, settings))
        self.assertNotIn("Traceback", said)
        self.nothing_left()

    def created(self):
        """A request was served."""
        for path in self.below("idem-*/log/*"):
            with open(path, encoding="utf-8", errors="replace") as file:
                if "outcome=created" in file.read():
                    return True
        return False

    def test_torture(self):
        self.one("torture", "fail/guard.fcgi", self.created)

    def test_soak(self):
        def under_load():
            return proc.running(os.path.join(BUILD, "soak/load"))
        self.one("soak", "soak/load",
                 lambda: self.created() and under_load())

    def test_powercut(self):
        self.one("powercut", "powercut/powercut",
                 lambda: self.below("powercut.*/log"))

    def test_flip(self):
        self.one("flip", "tests/flip", lambda: self.below("flip-*/work"))

    def test_oom(self):
        self.one("oom", "san/oom", lambda: self.below("idem*"))

    def test_fuzz(self):
        self.one("fuzz", "fuzz/key",
                 lambda: proc.running(os.path.join(BUILD, "fuzz/key")))


class Commands(Interrupted):
    """Without make, which ends by the signal itself."""

    @unittest.skipUnless(can_mount(), "needs mounts")
    def test_end_to_end_tests_with_mounts(self):
        self.start([sys.executable, "-B", "tests/e2e/run.py", "--name",
                    "harm", "test_harm_disk.Tmpfs"])
        self.until(lambda: clean.mounts_below(self.folders))
        status, said = self.interrupt()
        self.assertEqual(status, 130, said)
        self.assertRegex(said, r"^harm: interrupted after \d+ s\b.*\n$")
        self.nothing_left()

    def shell(self, script):
        self.start([sys.executable, "-B", "tests/proof/clean.py", "shell",
                    "sh", "-c", script])

    # One that left its session and whose parent is gone, one that is deaf.
    SCRIPT = """cd "$TMPDIR" && mkdir folder other && : >other/kept
        (setsid sh -c ': >folder/far; exec sleep 600' &)
        sh -c 'trap "" INT TERM HUP; : >folder/deaf; sleep 600; sleep 600'"""

    def test_whatever_the_processes_do(self):
        for number, status, word in (
                (signal.SIGINT, 130, "interrupted"),
                (signal.SIGTERM, 143, "ended by SIGTERM"),
                (signal.SIGHUP, 129, "ended by SIGHUP")):
            self.shell(self.SCRIPT)
            self.until(lambda: len(self.below("folder/*")) == 2)
            self.assertGreaterEqual(len(self.ours()), 4)
            ended, said = self.interrupt(number)
            self.assertEqual(ended, status)
            self.assertRegex(said, r"^shell: %s after \d+ s\n$" % word)
            kept, = self.below("*")
            self.assertEqual(os.path.basename(kept), "other")
            os.unlink(os.path.join(kept, "kept"))
            os.removedirs(kept)

    def test_its_own_end(self):
        for script, status in (("exit 0", 0), ("exit 7", 7),
                               ("kill -9 $$", 137)):
            self.shell('(setsid sleep 600 &); : >"$TMPDIR/file"; ' + script)
            self.assertEqual(self.child.wait(SECONDS), status)
            self.assertEqual((self.ours(), self.said()), ([], ""))
            self.nothing_left()

    def test_who_is_deaf_to_it_from_the_start(self):
        self.start(["sh", "-c", 'trap "" INT; exec "$@"', "sh",
                    sys.executable, "-B", "tests/proof/clean.py", "shell",
                    "sh", "-c", ': >"$TMPDIR/file"; exec sleep 600'])
        self.until(lambda: self.below("file"))
        os.killpg(self.child.pid, signal.SIGINT)
        status, said = self.interrupt(signal.SIGTERM)
        self.assertEqual(status, 143, said)


class Numbers(unittest.TestCase):
    """What is no number, or too large a one, and what is no target."""

    def refused(self, argv, line, **more):
        env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **more)
        run = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True,
                             check=False, timeout=SECONDS, text=True)
        self.assertEqual(run.returncode, 2, run)
        self.assertRegex(run.stderr, line)

    def test_each_proof(self):
        billion, million = 1000000000, 10000000
        for name, variable, least, most, text in (
                ("torture/torture", "ROUNDS", 1, billion, "abc"),
                ("torture/torture", "SEED", 1, 2147483647, "0"),
                ("powercut/powercut", "ROUNDS", 1, billion, "0"),
                ("powercut/powercut", "SEED", 1, 2147483647, "2147483648"),
                ("flip/flip", "ROUNDS", 1, billion, "-1"),
                ("flip/flip", "SECONDS", 1, million, "1.5"),
                ("soak/soak", "SECONDS", 1, million, "10000001"),
                ("soak/soak", "SEED", 1, 2147483647, "1e3"),
                ("oom/run", "ROUNDS", 0, billion, "99999999999999999999"),
                ("oom/run", "SEED", 1, 2147483647, "\u0663"),
                ("fuzz/run", "SECONDS", 1, million, "0"),
                ("fuzz/run", "NJOBS", 1, 1000, "0")):
            words = ["long", "key"] if name == "fuzz/run" else []
            self.refused(
                [sys.executable, "tests/%s.py" % name] + words,
                "%s=%s: it must be a whole number from %d to %d\n$" % (
                    variable, text, least, most), **{variable: text})

    def test_threads(self):
        for text in ("abc", "0", "-1", "10001"):
            self.refused(["tests/tsan/run.sh", "crowd"],
                         "^ROUNDS=%s: it must be a whole number from 1 to "
                         "10000\n$" % text, ROUNDS=text)

    def test_targets_of_fuzz(self):
        for targets in ("nosuch", "key nosuch", " "):
            self.refused(["make", "fuzz", "TARGETS=" + targets],
                         r"TARGETS=(nosuch|\"\"): there is no such target; "
                         r"there are: key json ")
