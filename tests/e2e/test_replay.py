"""What is kept and what comes back: the first answer again, once the work is
done, whatever became of the client."""
import concurrent.futures
import json

from harness import proc
from harness.case import fresh_key, on
from harness.servers import (ApacheCgi, ApacheFcgid, ApacheProxy, Direct,
                             Lighttpd, Workers)
from harness.world import AtGate

ORIGIN = ("Origin", "https://vazifalar.example")


@on(Direct, Lighttpd, ApacheFcgid, ApacheProxy, ApacheCgi)
class ThreeCommands:
    """The three commands of the README, on a store that is empty."""
    COMMAND = b'{"matn":"Non olish #uy"}'

    def test_three_commands(self):
        key = "kanon-24-0001"
        first = self.assertFirst(self.post(self.COMMAND, key))
        self.assertEqual(first.field("Location"), "/vazifalar/1")
        self.assertEqual(first.field("Content-Type"), "application/json")
        self.assertRegex(first.body.decode(), (
            r'^\{"id":1,"matn":"Non olish #uy","bajarildi":false,'
            r'"teglar":\["uy"\],"yaratilgan":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d'
            r'\.\d{3}Z"\}\n?$'))
        again = self.post(self.COMMAND, key)
        self.assertReplay(again, first)
        other = self.post(b'{"matn":"Boshqa"}', key)
        self.assertProblem(other, 422, "idempotentlik-boshqa-tana")
        self.assertEqual(other.json["title"],
                         "Idempotency-Key qayta ishlatildi")
        self.assertEqual(other.json["instance"], "/vazifalar")
        self.assertTasks("uy", 1)


@on(Direct, Lighttpd, ApacheFcgid, settings={
    "IDEM_CORS_ORIGINS": "https://vazifalar.example"})
class Kept:
    def twice(self, task, status, fields=(), **more):
        key = fresh_key()
        first = self.assertFirst(self.post(task, key, fields, **more), status)
        again = self.post(task, key, fields, **more)
        self.assertReplay(again, first)
        return first, again

    def test_a_replay_has_its_own_head(self):
        key = fresh_key()
        first = self.post({"matn": "bosh"}, key, [
            ("X-Request-Id", "birinchi-1"), ORIGIN])
        again = self.post({"matn": "bosh"}, key, [
            ("X-Request-Id", "ikkinchi-2"), ORIGIN])
        self.assertReplay(again, first)
        self.assertEqual(first.field("X-Request-Id"), "birinchi-1")
        self.assertEqual(again.field("X-Request-Id"), "ikkinchi-2")
        for answer in (first, again):
            self.assertEqual(answer.field("Access-Control-Allow-Origin"),
                             ORIGIN[1])
        other = self.post({"matn": "bosh"}, key)
        self.assertReplay(other, first)
        self.assertFalse(other.has("Access-Control-Allow-Origin"), other)

    def test_the_mark_means_nothing_in_a_request(self):
        tag = self.fresh_tag()
        got = self.post({"matn": "#" + tag}, fresh_key(),
                        [("Idempotency-Replayed", "true")])
        self.assertFirst(got)
        self.assertTasks(tag, 1)

    def test_answers_about_the_body_are_kept(self):
        bad, _ = self.twice({"matn": ""}, 422)
        self.assertProblem(bad, 422, "tekshiruv")
        bad, _ = self.twice(b"{", 400)
        self.assertProblem(bad, 400, "json-yaroqsiz")
        bad, _ = self.twice(b"matn=x", 415,
                            [("Content-Type", "text/plain")])
        self.assertProblem(bad, 415, "media-turi")

    def test_404_stays_404_for_its_key(self):
        key = fresh_key()
        last = self.assertFirst(self.post({"matn": "oxirgi"})).json["id"]
        target = "/vazifalar/%d" % (last + 1)
        fields = self.fields(key, ())
        first = self.request("PATCH", target, fields, b'{"bajarildi":true}')
        self.assertProblem(first, 404, "topilmadi")
        made = self.assertFirst(self.post({"matn": "keyin"}))
        self.assertEqual(made.json["id"], last + 1)
        again = self.request("PATCH", target, fields, b'{"bajarildi":true}')
        self.assertReplay(again, first)
        fresh = self.request("PATCH", target, self.fields(fresh_key(), ()),
                             b'{"bajarildi":true}')
        self.assertFirst(fresh, 200)

    def test_412_is_not_kept(self):
        made = self.post({"matn": "etag"}).json
        target = "/vazifalar/%d" % made["id"]
        key = fresh_key()
        fields = self.fields(key, [("If-Match", '"yoq"')])
        got = self.request("PATCH", target, fields, b'{"matn":"yangi"}')
        self.assertProblem(got, 412, "shart-bajarilmadi")
        etag = self.get(target).field("ETag")
        fields = self.fields(key, [("If-Match", etag)])
        got = self.request("PATCH", target, fields, b'{"matn":"yangi"}')
        self.assertFirst(got, 200)

    def test_patch_replays(self):
        made = self.post({"matn": "patch"}).json
        target = "/vazifalar/%d" % made["id"]
        fields = self.fields(fresh_key(), ())
        first = self.request("PATCH", target, fields, b'{"bajarildi":true}')
        self.assertFirst(first, 200)
        self.request("PUT", target, [("Content-Type", "application/json")],
                     b'{"matn":"orada"}')
        again = self.request("PATCH", target, fields, b'{"bajarildi":true}')
        self.assertReplay(again, first)
        self.assertEqual(self.get(target).json["matn"], "orada")

    def test_chunked_bodies(self):
        key, tag = fresh_key(), self.fresh_tag()
        whole = json.dumps({"matn": "bolak #" + tag}).encode()
        pieces = [whole[:3], whole[3:9], whole[9:]]
        first = self.request("POST", "/vazifalar", self.fields(key, ()), None,
                             pieces=pieces)
        self.assertFirst(first)
        self.assertReplay(self.post(whole, key), first)
        self.assertTasks(tag, 1)

    def test_bodies_of_many_sizes(self):
        """Over the servers' own buffers, exact to the byte."""
        for size in (1, 8192, 65535, 65536, 131072, 200000):
            with self.subTest(size=size):
                body = b'{"matn":"hajm"'
                body += b" " * max(0, size - len(body) - 1) + b"}"
                self.twice(body, 201)


@on(Direct, Lighttpd, settings={"IDEM_METHODS": "POST,PATCH,DELETE",
                                "IDEM_MAX_RESPONSE": "120B"})
class Unusual:
    def test_an_empty_answer_replays(self):
        made = self.post({"matn": "ketadi"}).json
        target = "/vazifalar/%d" % made["id"]
        fields = [("Idempotency-Key", fresh_key())]
        first = self.assertFirst(self.request("DELETE", target, fields), 204)
        self.assertEqual(first.body, b"")
        self.assertStatus(self.get(target), 404)
        again = self.request("DELETE", target, fields)
        self.assertReplay(again, first)
        self.assertProblem(self.request("DELETE", target, [
            ("Idempotency-Key", fresh_key())]), 404, "topilmadi")

    def test_an_answer_over_the_limit(self):
        """The first client has all of it; a retry has the head, and the work
        is not done again."""
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "uzun " * 20 + "#" + tag}
        first = self.assertFirst(self.post(task, key))
        self.assertGreater(len(first.body), 120)
        again = self.post(task, key)
        self.assertStatus(again, 201)
        self.assertEqual(again.body, b"")
        self.assertEqual(again.field("Idempotency-Body"), "omitted")
        self.assertEqual(again.field("Idempotency-Replayed"), "true")
        self.assertEqual(again.field("Location"), first.field("Location"))
        self.assertFalse(again.has("Content-Type"), again)
        self.assertFalse(first.has("Idempotency-Body"), first)
        self.assertTasks(tag, 1)


@on(Direct, Lighttpd, ApacheFcgid, ApacheProxy, ApacheCgi)
class LostAnswer:
    def test_the_answer_is_lost(self):
        """The client is gone before it read; its retry has the answer."""
        for leave in ("leave", "reset"):
            key, tag = fresh_key(), self.fresh_tag()
            task = {"matn": "yo'qolgan #" + tag}
            pending = self.send_post(task, key)
            proc.wait_until(lambda: len(self.tasks(tag)) == 1, "the task")
            getattr(pending, leave)()
            again = self.post(task, key)
            self.assertStatus(again, 201)
            self.assertTrue(again.replayed, again)
            self.assertTasks(tag, 1)

    def test_the_client_leaves_at_any_moment(self):
        """It sends and goes at once; whatever ran, the retry is right."""
        for _ in range(20):
            key, tag = fresh_key(), self.fresh_tag()
            task = {"matn": "shoshqaloq #" + tag}
            self.send_post(task, key).reset()
            again = self.retry(task, key)
            self.assertStatus(again, 201)
            self.assertTasks(tag, 1)
            self.assertReplay(self.post(task, key), again)

    def retry(self, task, key):
        """Until it is no longer running."""
        def settled():
            got = self.post(task, key)
            return got if got.status != 409 else None
        return proc.wait_until(settled, "an answer other than 409")


@on(Workers, Lighttpd, ApacheFcgid, ApacheProxy)
class Parallel:
    """Many at once with one key."""

    def test_one_key_many_clients(self):
        for _ in range(10):
            key, tag = fresh_key(), self.fresh_tag()
            task = {"matn": "birga #" + tag}
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(
                    lambda _: self.post(task, key), range(8)))
            self.judge(answers, tag)
            self.assertTrue(self.post(task, key).replayed)

    def judge(self, answers, tag):
        firsts = [a for a in answers if a.status == 201 and not a.replayed]
        self.assertEqual(len(firsts), 1, answers)
        for answer in answers:
            if answer.status == 409:
                self.assertProblem(answer, 409, "idempotentlik-jarayonda")
                self.assertEqual(answer.field("Retry-After"), "1")
            else:
                self.assertStatus(answer, 201)
                self.assertEqual(answer.body, firsts[0].body)
        self.assertTasks(tag, 1)

    def test_many_keys_many_clients(self):
        """Ids count up without a gap, whoever gets them."""
        tag = self.fresh_tag()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda n: self.post(
                {"matn": "%d #%s" % (n, tag)}, fresh_key()), range(64)))
        ids = sorted(self.assertFirst(a).json["id"] for a in answers)
        self.assertEqual(ids, list(range(ids[0], ids[0] + 64)))
        self.assertTasks(tag, 64)


@on(Workers, Lighttpd, ApacheFcgid, ApacheProxy)
class Slow(AtGate):
    """The handler takes its time."""

    def test_a_retry_while_it_works(self):
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "sekin #" + tag}
        pending = self.at_work(task, key)
        busy = self.post(task, key)
        self.assertProblem(busy, 409, "idempotentlik-jarayonda")
        self.assertEqual(busy.field("Retry-After"), "1")
        other = self.post({"matn": "boshqa"}, key)
        self.assertProblem(other, 422, "idempotentlik-boshqa-tana")
        self.gate.open()
        first = self.assertFirst(pending.answer())
        self.assertReplay(self.post(task, key), first)
        self.assertTasks(tag, 1)

    def test_the_client_leaves_while_it_works(self):
        """Its work goes on, and the retry has the answer."""
        for leave in ("leave", "reset"):
            key, tag = fresh_key(), self.fresh_tag()
            task = {"matn": "ketdi #" + tag}
            pending = self.at_work(task, key)
            getattr(pending, leave)()
            # lighttpd may send it to the worker that is busy, which it thinks
            # free when the client has gone.
            late = self.send_post(task, key)
            self.gate.open()
            self.assertIn(late.answer().status, (201, 409))
            again = self.until_settled(task, key)
            self.assertStatus(again, 201)
            self.assertTrue(again.replayed, again)
            self.assertTasks(tag, 1)

    def until_settled(self, task, key):
        def settled():
            got = self.post(task, key)
            return got if got.status != 409 else None
        return proc.wait_until(settled, "an answer other than 409")

    def test_without_a_key_each_attempt_counts(self):
        tag = self.fresh_tag()
        both = [self.at_work({"matn": "kalitsiz #" + tag}) for _ in range(2)]
        for pending in both:
            pending.leave()
        self.gate.open()
        proc.wait_until(lambda: len(self.tasks(tag)) == 2, "two tasks")
