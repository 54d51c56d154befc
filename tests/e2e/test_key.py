"""The key and the order of the checks: who runs, who is refused, and that a
refused request leaves nothing."""
import base64
import os
import re

import vectors
from harness import http, proc
from harness.case import fresh_key, on
from harness.servers import (ApacheCgi, ApacheFcgid, ApacheProxy, Direct,
                             Lighttpd)


def is_control(value):
    """Does a web server refuse this value itself?"""
    return re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", value) is not None


@on(Direct, Lighttpd, ApacheFcgid, ApacheProxy)
class Keys:
    def test_every_row_of_the_vectors(self):
        rows = vectors.keys()
        self.assertGreater(len(rows), 40)
        for value, verdict, key in rows:
            with self.subTest(value=value):
                if verdict == "OK":
                    self.good_row(value, key)
                else:
                    self.bad_row(value)

    def good_row(self, value, key):
        """The key that was read is the row's: its quoted form finds the same
        record."""
        task = {"matn": key.hex()[:400]}
        self.assertStatus(self.post(task, value), 201)
        again = self.post(task, vectors.quoted(key))
        self.assertStatus(again, 201)
        self.assertTrue(again.replayed, again)

    def bad_row(self, value):
        if not value.strip(b" \t") and not isinstance(self.server, Direct):
            return      # a server may drop a field without a value
        tag = self.fresh_tag()
        got = self.post({"matn": "#" + tag}, value)
        if is_control(value) and not isinstance(self.server, Direct):
            self.assertStatus(got, 400)     # the server's own refusal
        else:
            self.assertProblem(got, 400, "idempotentlik-kalit")
            self.assertEqual(got.json["code"], "key-invalid")
        self.assertTasks(tag, 0)

    def test_two_field_lines_are_refused(self):
        for first, second in [("k-1", "k-2"), ("k-1", "k-1"),
                              ('"k-1"', '"k-1"')]:
            tag = self.fresh_tag()
            got = self.post({"matn": "#" + tag}, None, [
                ("Idempotency-Key", first), ("Idempotency-Key", second)])
            self.assertProblem(got, 400, "idempotentlik-kalit")
            self.assertTasks(tag, 0)

    def test_case_counts(self):
        key = fresh_key()
        a = self.post({"matn": "a"}, "K" + key)
        b = self.post({"matn": "b"}, "k" + key)
        self.assertFirst(a)
        self.assertFirst(b)
        self.assertNotEqual(a.json["id"], b.json["id"])

    def test_random_keys_of_255_bytes(self):
        """Every byte that a bare key may hold, at full length."""
        alphabet = [c for c in range(0x21, 0x7f) if c not in b'"\\,;']
        for _ in range(8):
            key = bytes(alphabet[b % len(alphabet)] for b in os.urandom(255))
            first = self.assertFirst(self.post({"matn": "uzun"}, key))
            self.assertReplay(self.post({"matn": "uzun"}, key), first)
            self.assertProblem(self.post({"matn": "uzun"}, key + b"x"), 400,
                               "idempotentlik-kalit")

    def test_no_key_runs_unprotected(self):
        tag = self.fresh_tag()
        for _ in range(2):
            self.assertFirst(self.post({"matn": "#" + tag}))
        self.assertTasks(tag, 2)

    def test_other_body_is_refused_and_the_record_untouched(self):
        key, tag = fresh_key(), self.fresh_tag()
        first = self.assertFirst(self.post({"matn": "bir #" + tag}, key))
        for task in ({"matn": "ikki #" + tag},
                     {"matn": "bir #" + tag, "bajarildi": True}):
            got = self.post(task, key)
            self.assertProblem(got, 422, "idempotentlik-boshqa-tana")
        self.assertReplay(self.post({"matn": "bir #" + tag}, key), first)
        self.assertTasks(tag, 1)

    def test_the_same_json_in_another_shape_is_the_same_request(self):
        key = fresh_key()
        first = self.post(b'{"matn":"shakl","bajarildi":false}', key)
        again = self.post(b'{ "bajarildi" : false,\n"m\\u0061tn":"shakl" }',
                          key, [("Content-Type",
                                 "Application/JSON; charset=utf-8")])
        self.assertReplay(again, first)

    def test_the_target_belongs_to_the_request(self):
        key = fresh_key()
        self.assertFirst(self.post({"matn": "manzil"}, key))
        self.assertProblem(self.post({"matn": "manzil"}, key, (),
                                     "/vazifalar?x=1"),
                           422, "idempotentlik-boshqa-tana")

    def test_unprotected_methods_ignore_the_key(self):
        made = self.post({"matn": "bir"}).json
        target = "/vazifalar/%d" % made["id"]
        key = fresh_key()
        for text in ("ikki", "uch"):
            got = self.request("PUT", target, self.fields(key, ()),
                               self.body({"matn": text}))
            self.assertFirst(got, 200)
            self.assertEqual(got.json["matn"], text)
        got = self.request("GET", target, [("Idempotency-Key", "a b")])
        self.assertFirst(got, 200)

    def test_unknown_route_and_method_store_nothing(self):
        key = fresh_key()
        self.assertProblem(self.post({"matn": "x"}, key, (), "/yoq"),
                           404, "topilmadi")
        got = self.request("PATCH", "/vazifalar", self.fields(key, ()), b"{}")
        self.assertProblem(got, 405, "metod")
        self.assertIn("POST", got.field("Allow"))
        self.assertFirst(self.post({"matn": "endi"}, key))

    def test_two_users_do_not_meet(self):
        """A key belongs to who asks; the shipped files pass Authorization."""
        key = fresh_key()
        answers = {}
        for user in ("ali:1", "vali:1"):
            basic = base64.b64encode(user.encode()).decode()
            answers[user] = self.post({"matn": user}, key, [
                ("Authorization", "Basic " + basic)])
        bearer = self.post({"matn": "bearer"}, key, [
            ("Authorization", "Bearer abc")])
        nobody = self.post({"matn": "hech kim"}, key)
        ids = [self.assertFirst(a).json["id"] for a in
               list(answers.values()) + [bearer, nobody]]
        self.assertEqual(len(set(ids)), 4)
        basic = base64.b64encode(b"ali:1").decode()
        self.assertReplay(self.post({"matn": "ali:1"}, key, [
            ("Authorization", "Basic " + basic)]), answers["ali:1"])

    def test_other_schemes_count_as_nobody(self):
        """Their value changes from try to try."""
        key = fresh_key()
        first = self.assertFirst(self.post({"matn": "digest"}, key, [
            ("Authorization", 'Digest username="a", nc=00000001')]))
        self.assertReplay(self.post({"matn": "digest"}, key, [
            ("Authorization", 'Digest username="a", nc=00000002')]), first)


@on(Lighttpd, ApacheFcgid, settings={"IDEM_REQUIRE_KEY": "on",
                                     "IDEM_ANONYMOUS": "refuse",
                                     "IDEM_MAX_BODY": "64K"})
class Strict:
    """The settings that refuse."""
    USER = ("Authorization", "Bearer kim")

    def test_a_key_is_required(self):
        tag = self.fresh_tag()
        got = self.post({"matn": "#" + tag}, None, [self.USER])
        self.assertProblem(got, 400, "idempotentlik-kalit-kerak")
        self.assertEqual(got.json["title"], "Idempotency-Key kerak")
        self.assertTasks(tag, 0)

    def test_a_scope_is_required(self):
        tag, key = self.fresh_tag(), fresh_key()
        got = self.post({"matn": "#" + tag}, key)
        self.assertProblem(got, 400, "idempotentlik-egasi")
        self.assertEqual(got.json["code"], "scope-required")
        self.assertTasks(tag, 0)
        self.assertFirst(self.post({"matn": "#" + tag}, key, [self.USER]))

    def test_a_body_over_the_limit(self):
        key = fresh_key()
        big = b'{"matn":"katta"' + b" " * 65536 + b"}"
        got = self.post(big, key, [self.USER])
        self.assertProblem(got, 413, "tana-katta")
        self.assertFirst(self.post({"matn": "kichik"}, key, [self.USER]))
        fits = b'{"matn":"sigdi"'
        fits += b" " * (65536 - len(fits) - 1) + b"}"
        self.assertEqual(len(fits), 65536)
        self.assertFirst(self.post(fits, fresh_key(), [self.USER]))

    def test_the_key_is_judged_before_the_body(self):
        got = self.post(b"x" * 65537, "a b", [self.USER])
        self.assertProblem(got, 400, "idempotentlik-kalit")


@on(ApacheCgi)
class PlainCgi:
    """The same protection without a process that stays."""

    def test_first_replay_and_mismatch(self):
        key, tag = fresh_key(), self.fresh_tag()
        first = self.assertFirst(self.post({"matn": "cgi #" + tag}, key))
        self.assertReplay(self.post({"matn": "cgi #" + tag}, key), first)
        self.assertProblem(self.post({"matn": "boshqa"}, key), 422,
                           "idempotentlik-boshqa-tana")
        self.assertTasks(tag, 1)

    def test_two_field_lines_are_refused(self):
        got = self.post({"matn": "x"}, None, [("Idempotency-Key", "a"),
                                              ("Idempotency-Key", "b")])
        self.assertProblem(got, 400, "idempotentlik-kalit")

    def test_chunked_body(self):
        """mod_cgid shows the program the same end where the client left in
        the middle: such a body is refused, and its key stays free."""
        for pieces in ([b'{"matn":', b'"bo', b'lak"}'], []):
            key = fresh_key()
            fields = self.fields(key, [])
            got = self.request("POST", "/vazifalar", fields, None,
                               pieces=pieces)
            self.assertProblem(got, 400, "tana-uzunligi")
            self.assertFirst(self.post({"matn": "bolak"}, key))

    def test_a_client_leaves_inside_a_chunked_body(self):
        key, tag = fresh_key(), self.fresh_tag()
        task = {"matn": "bolak #" + tag}
        conn = http.Connection(self.server.port)
        conn.send(http.request_bytes(
            "POST", "/vazifalar", self.fields(key, []), None,
            pieces=[self.body(task)[:9]])[:-len(b"0\r\n\r\n")])
        conn.reset()
        proc.wait_until(lambda: "AH01270" in self.log_text(),
                        "Apache's word about the broken body")
        self.assertFirst(self.post(task, key))
        self.assertTasks(tag, 1)

    def test_scope_by_authorization(self):
        key = fresh_key()
        a = self.post({"matn": "a"}, key, [("Authorization", "Bearer a")])
        b = self.post({"matn": "b"}, key, [("Authorization", "Bearer b")])
        self.assertNotEqual(self.assertFirst(a).json["id"],
                            self.assertFirst(b).json["id"])
