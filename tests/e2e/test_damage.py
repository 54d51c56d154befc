"""A store that breaks under workers that live: no wrong answer, nothing done
twice, a line that says what to do, and a copy in its place is the cure."""
import json
import os
import shutil

from harness import proc
from harness.case import ServerCase, fresh_key, on
from harness.servers import Direct, Lighttpd, Workers

PAGE = 4096


def data(site):
    return os.path.join(site.store, "data.mdb")


class FlippedBit(ServerCase):
    """One bit of a stored answer."""
    server_class = Workers

    def flip(self, right):
        """Change the last bit of each place where these bytes stand."""
        with open(data(self.site), "r+b") as file:
            content = file.read()
            at, n = content.find(right), 0
            while at >= 0:
                file.seek(at)
                file.write(bytes([right[0] ^ 1]))
                at, n = content.find(right, at + 1), n + 1
        self.assertGreater(n, 0)

    def test_it_is_not_replayed(self):
        tag, key, other = self.fresh_tag(), fresh_key(), fresh_key()
        task, good = {"matn": "buzuq #" + tag}, {"matn": "butun #" + tag}
        self.assertFirst(self.post(task, key))
        first = self.assertFirst(self.post(good, other))
        found = self.site.idem("show", "--key", key, "--json", check=True)
        self.flip(b"buzuq #" + tag.encode() + b'","bajarildi":false,"teglar":'
                  b'["' + tag.encode() + b'"],"yar')
        for _ in range(2):
            self.assertProblem(self.post(task, key), 503,
                               "idempotentlik-ombor")
            self.assertProblem(self.post({"matn": "boshqa"}, key), 503,
                               "idempotentlik-ombor")
        self.assertRegex(self.logged("error: ", " is damaged: "),
                         "error: store %s: record [0-9]+ is damaged: see "
                         "\"idem check\"" % self.site.store)
        self.assertReplay(self.post(good, other), first)
        self.assertFirst(self.post(good, fresh_key()))
        done = self.site.idem("check", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["damaged"], 1)
        listed = self.site.idem("list", "--state", "damaged", "--json",
                                check=True)
        self.assertEqual(len(json.loads(listed.stdout)["records"]), 1)
        found = json.loads(found.stdout)["id"]
        for words in (["show"], ["resolve", "--release"]):
            done = self.site.idem(*words, "--id", found)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
        done = self.site.idem("sweep", "--json", check=True)
        self.assertEqual(json.loads(done.stdout)["expired"], 0)


@on(Workers, Lighttpd)
class CutShort:
    """Pages of the file go under workers that have it mapped."""

    def attempt(self, task, key):
        try:
            return self.post(task, key)
        except (OSError, ConnectionError):
            return None

    def settled(self, task, key):
        def once():
            answer = self.attempt(task, key)
            return answer if answer and answer.status < 409 else None
        return proc.wait_until(once, "a final answer for " + key, 60)

    def deaths(self):
        return self.site.log().count("error: store %s: this process dies of a "
                                     "signal" % self.site.store)

    def see_no_wrong_answer(self, known):
        """Each is the stored answer or none."""
        for key, (task, first) in known.items():
            got = self.attempt(task, key)
            if got is not None and got.status < 500:
                self.assertReplay(got, first)

    def cut_and_restore(self, npages):
        """Returns how many workers died."""
        known = {}
        for i in range(40):
            key, task = fresh_key(), {"matn": "%d " % i + "x" * 400}
            known[key] = (task, self.assertFirst(self.settled(task, key)))
        copy = self.site.path("copy%d" % npages)
        self.site.idem("copy", copy, check=True)
        before = self.deaths()
        self.assertGreater(os.path.getsize(data(self.site)), 8 * PAGE)
        os.truncate(data(self.site), npages * PAGE)
        for _ in range(2):
            self.see_no_wrong_answer(known)
        deaths = self.deaths() - before
        os.rename(self.site.store, self.site.path("bad%d" % npages))
        os.rename(copy, self.site.store)
        for key, (task, first) in known.items():
            self.assertReplay(self.settled(task, key), first)
        task = {"matn": "yangi"}
        self.assertFirst(self.settled(task, fresh_key()))
        return deaths

    def test_a_copy_cures_it(self):
        deaths = [self.cut_and_restore(npages) for npages in (0, 2, 8)]
        self.assertGreater(deaths[0], 0)
        self.assertGreater(deaths[1], 0)
        self.logged("is cut short or damaged")
        done = self.site.idem("check", "--json", check=True)
        self.assertEqual(json.loads(done.stdout),
                         {"records": 123, "damaged": 0})


class EmptiedBesideAnother(ServerCase):
    """The process that made the store has written nothing since, and comes
    back to it when another one has met the empty file."""

    def beside(self, task, key):
        """The answer of a process that is there for one request."""
        other = Direct(self.site, address=self.site.path("run", "other.sock"))
        other.start()
        try:
            return other.request("POST", "/vazifalar", self.fields(key, ()),
                                 self.body(task))
        finally:
            other.process.terminate()
            other.process.wait(30)

    def test_no_key_is_new_to_it(self):
        proc.wait_until(lambda: os.path.exists(self.site.path(
            "store", "workers")), "a store")
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "bir marta #" + tag}
        first = self.assertFirst(self.beside(task, key))
        kept = self.site.path("kept")
        shutil.copy(data(self.site), kept)
        os.truncate(data(self.site), 0)
        self.assertProblem(self.beside(task, key), 503, "idempotentlik-ombor")
        try:
            self.assertStatus(self.post(task, key), 503)
        except ConnectionError:
            self.server.process.wait(30)    # it died of the empty file
        self.assertEqual(os.path.getsize(data(self.site)), 0)
        self.server.destroy()
        shutil.copyfile(kept, data(self.site))
        self.server.start()
        self.assertReplay(self.post(task, key), first)
        self.assertTasks(tag, 1)
