"""The operator's command, alone and beside servers under load."""
import json
import os
import threading
import unittest

import vectors
from harness import proc
from harness.case import ServerCase, fresh_key
from harness.load import Load, all_tasks
from harness.servers import Direct, Workers
from harness.world import AtGate
from harness.site import AS_ROOT, ROOT

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}


class Command(ServerCase):
    server_class = Direct
    settings = {"IDEM_TTL": "1h"}

    def idem(self, *args, **more):
        run = self.site.idem(*args, **more)
        return run.returncode, run.stdout.decode(), run.stderr.decode()

    def stats(self):
        code, out, err = self.idem("stats", "--json")
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_the_fingerprint_of_the_readme(self):
        code, out, err = self.idem(
            "fingerprint", "--method", "POST", "--target", "/vazifalar",
            "--type", "application/json",
            stdin=b'{"matn":"Non olish #uy","bajarildi":false}')
        self.assertEqual((code, out, err), (
            0, "ghTmeqI8oMD7Dq2wzGoX9zAwB932TTlCtB7713d6_3o\n", ""))

    def test_fingerprints_of_the_vectors(self):
        with open(os.path.join(ROOT, "tests/vectors/fingerprints.tsv"),
                  "rb") as file:
            rows = [line.rstrip(b"\n").split(b"\t") for line in file
                    if not line.startswith(b"#")]
        self.assertGreater(len(rows), 10)
        for method, target, media, body, expected in rows:
            args = ["--method", method, "--target", target]
            if media:
                args += ["--type", media]
            with self.subTest(target=target, body=body):
                code, out, err = self.idem(
                    "fingerprint", *args, stdin=vectors.unescape(body))
                self.assertEqual((code, out, err),
                                 (0, expected.decode() + "\n", ""))

    def test_canonical(self):
        for text, canonical in [
                (b'{ "b" : 1.0 , "a" : 1e2 }', '{"a":100,"b":1}\n'),
                (b'"\\u0041\\/"', '"A/"\n'),
                (b"9007199254740993", "9007199254740993\n"),
                (b"0.10000000000000001", "0.10000000000000001\n"),
                (b"-0", "0\n"), (b" [ ] ", "[]\n")]:
            with self.subTest(text=text):
                self.assertEqual(self.idem("canonical", stdin=text),
                                 (0, canonical, ""))

    def test_no_canonical_form(self):
        for text, at in [(b'{"a":1,"a":2}', 7), (b"[1,]", 3), (b"[1", 2),
                         (b'"\\ud800"', 1), (b"\xef\xbb\xbf1", 0)]:
            with self.subTest(text=text):
                code, out, err = self.idem("canonical", stdin=text)
                self.assertEqual((code, out), (1, ""))
                self.assertIn("byte %d:" % at, err)

    def test_stats_and_check(self):
        before = self.stats()["done"]
        for n in range(3):
            self.assertFirst(self.post({"matn": str(n)}, fresh_key()))
        after = self.stats()
        self.assertEqual(after["done"], before + 3)
        self.assertEqual(after["running"], 0)
        self.assertEqual(after["unknown"], 0)
        self.assertEqual(after["max_records"], 1000000)
        code, out, err = self.idem("check")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("damaged=0", out)

    def test_sweep_with_nothing_due(self):
        key = fresh_key()
        first = self.assertFirst(self.post({"matn": "turadi"}, key))
        code, out, err = self.idem("sweep")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("expired=0", out)
        self.assertReplay(self.post({"matn": "turadi"}, key), first)

    def test_wrong_usage(self):
        for args in (["nosuch"], ["sweep", "--nosuch"],
                     ["fingerprint", "--method"]):
            code, out, err = self.idem(*args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertTrue(err.startswith("idem: "), err)

    def test_help_and_version(self):
        for args in (["--help"], ["sweep", "--help"], ["--version"]):
            code, out, err = self.idem(*args)
            self.assertEqual((code, err), (0, ""))
            self.assertGreater(len(out), 3)

    def test_it_never_makes_a_store(self):
        missing = self.site.path("yoq")
        code, out, err = self.idem("stats", "--store=" + missing)
        self.assertEqual((code, out), (1, ""))
        self.assertIn(missing, err)
        self.assertFalse(os.path.exists(missing))

    @unittest.skipUnless(AS_ROOT, "needs two users: run it as root")
    def test_as_another_user_it_refuses(self):
        for command in ("sweep", "stats", "check"):
            code, out, err = self.idem(command, user=NOBODY)
            self.assertEqual((code, out), (1, ""))
            self.assertIn(self.site.store, err)

    @unittest.skipUnless(AS_ROOT, "needs two users: run it as root")
    def test_root_becomes_the_owner(self):
        """A file that root makes would lock the workers out."""
        code, _, err = self.idem("sweep", user={})
        self.assertEqual((code, err), (0, ""))
        owners = {os.stat(os.path.join(self.site.store, name)).st_uid
                  for name in os.listdir(self.site.store)}
        self.assertEqual(owners, {os.stat(self.site.store).st_uid})
        self.assertFirst(self.post({"matn": "keyin"}, fresh_key()))


class SweepBesideLoad(ServerCase):
    """Records expire at once and are swept while clients work."""
    server_class = Workers
    settings = {"IDEM_TTL": "300ms"}

    def sweeps(self, stop, failed, codes):
        while not stop.is_set():
            run = self.site.idem("sweep")
            codes.append(run.returncode)
            if run.returncode != 0:
                failed.append(run.stderr)
                return

    def test_two_sweeps_beside_load(self):
        stop, failed, codes = threading.Event(), [], []
        threads = [threading.Thread(target=self.sweeps,
                                    args=(stop, failed, codes))
                   for _ in range(2)]
        with Load(self) as load:
            load.until_done(1)  # there is a store now
            for thread in threads:
                thread.start()
            load.until_done(60)
            proc.wait_until(lambda: len(codes) > 6 or failed, "sweeps")
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(failed, [])
        self.assertEqual(load.errors, [])
        self.assertEqual(load.ntries, len(load.done))
        self.assertTasksOfLoad(load)
        proc.wait_until(self.swept, "an empty store")

    def assertTasksOfLoad(self, load):
        self.assertEqual(
            sorted(t["matn"] for t in all_tasks(self, load.tag)),
            sorted(t["matn"] for t, _ in load.done.values()))

    def swept(self):
        self.site.idem("sweep", check=True)
        run = self.site.idem("stats", "--json", check=True)
        return json.loads(run.stdout)["records"] == 0


class SweepOfTheDead(AtGate, ServerCase):
    """A worker that died in the middle: its record is found by the sweep."""
    server_class = Workers

    def test_an_orphan_that_may_run_again_is_released(self):
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "yetim #" + tag}
        pending = self.at_work(task, key)
        proc.end(self.server.workers())
        pending.leave()
        self.gate.open()
        run = self.site.idem("sweep", "--json", check=True)
        self.assertEqual(json.loads(run.stdout)["released"], 1, run)
        self.assertFirst(self.post(task, key))
        self.assertTasks(tag, 1)

    def test_a_running_record_is_left_alone(self):
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "tirik #" + tag}
        pending = self.at_work(task, key)
        self.site.idem("sweep", check=True)
        self.gate.open()
        first = self.assertFirst(pending.answer())
        self.assertReplay(self.post(task, key), first)
        self.assertTasks(tag, 1)
