"""The tasks API: every request of its table, through real servers."""
import json
import re

from harness.case import JSON, on
from harness.servers import ApacheFcgid, ApacheProxy, Direct, Lighttpd


@on(Direct, Lighttpd, ApacheFcgid, ApacheProxy)
class Tasks:
    def make(self, matn, **more):
        return self.assertFirst(self.post(dict(matn=matn, **more))).json

    def put(self, target, task, fields=()):
        return self.request("PUT", target, [JSON] + list(fields),
                            self.body(task))

    def patch(self, target, change, fields=()):
        return self.request("PATCH", target, [JSON] + list(fields),
                            self.body(change))

    # --- making -----------------------------------------------------------
    def test_members_in_order(self):
        got = self.post({"matn": "Non olish #uy", "bajarildi": True,
                         "boshqa": [1]})
        self.assertFirst(got)
        self.assertEqual(list(json.loads(got.body)), [
            "id", "matn", "bajarildi", "teglar", "yaratilgan"])
        self.assertEqual(got.json["bajarildi"], True)
        self.assertEqual(got.field("Location"),
                         "/vazifalar/%d" % got.json["id"])
        self.assertRegex(got.json["yaratilgan"],
                         r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")

    def test_text_is_trimmed_and_tagged(self):
        for matn, kept, tags in [
                ("  Sut \t", "Sut", []),
                ("\u00a0\u2003Sut\u3000", "Sut", []),
                ("#uy ish #Uy #uy", "#uy ish #Uy #uy", ["uy", "Uy"]),
                ("a#b,#c_1-#2", "a#b,#c_1-#2", ["b", "c_1", "2"]),
                ("#o'zbek #oʻz #oʼz #o'", "#o'zbek #oʻz #oʼz #o'",
                 ["o'zbek", "oʻz", "oʼz", "o"]),
                ("#çiçek #дом", "#çiçek #дом", ["çiçek", "дом"]),
                ("# ##x", "# ##x", ["x"])]:
            with self.subTest(matn=matn):
                made = self.make(matn)
                self.assertEqual(made["matn"], kept)
                self.assertEqual(made["teglar"], tags)

    def test_length_of_the_text(self):
        self.assertEqual(self.make("o" * 500)["matn"], "o" * 500)
        self.assertEqual(self.make("\U0001f600" * 500)["matn"],
                         "\U0001f600" * 500)
        for bad in ("", " \t\u00a0", "o" * 501, "\U0001f600" * 501):
            got = self.post({"matn": bad})
            self.assertProblem(got, 422, "tekshiruv")
            self.assertEqual([e["maydon"] for e in got.json["xatolar"]],
                             ["matn"])

    def test_wrong_types(self):
        for task, fields in [
                ({}, ["matn"]), ({"matn": 1}, ["matn"]),
                ({"matn": None}, ["matn"]), ({"matn": ["x"]}, ["matn"]),
                ({"matn": "x", "bajarildi": 1}, ["bajarildi"]),
                ({"matn": "x", "bajarildi": "true"}, ["bajarildi"]),
                ({"matn": "a\x00b"}, ["matn"]),
                ({"matn": 1, "bajarildi": 1}, ["matn", "bajarildi"])]:
            with self.subTest(task=task):
                got = self.post(task)
                self.assertProblem(got, 422, "tekshiruv")
                self.assertEqual([e["maydon"] for e in got.json["xatolar"]],
                                 fields)
                for error in got.json["xatolar"]:
                    self.assertGreater(len(error["xabar"]), 3)

    def test_member_names_are_case_sensitive(self):
        got = self.post({"Matn": "x"})
        self.assertProblem(got, 422, "tekshiruv")

    def test_what_is_no_object(self):
        for body in (b"[]", b'"x"', b"1", b"null"):
            self.assertProblem(self.post(body), 422, "tekshiruv")

    def test_what_is_no_json(self):
        for body in (b"", b"{", b"{'matn':'x'}", b'{"matn":"x"}x',
                     b'\xef\xbb\xbf{"matn":"x"}', b'{"matn":"\xff"}',
                     b'{"matn":"x",}', b"NaN", b'{"matn":"a\nb"}'):
            with self.subTest(body=body):
                self.assertProblem(self.post(body), 400, "json-yaroqsiz")

    def test_a_name_twice_is_refused(self):
        got = self.post(b'{"matn":"a","matn":"b"}')
        self.assertIn((got.status, got.json["kod"]),
                      [(400, "json-yaroqsiz"), (422, "tekshiruv")])

    def test_media_types(self):
        for media in ("application/json", "application/json; charset=utf-8",
                      "APPLICATION/JSON"):
            self.assertFirst(self.post({"matn": "x"}, None,
                                       [("Content-Type", media)]))
        for media in ("text/plain", "application/x-www-form-urlencoded",
                      "application/jsonx", "multipart/form-data"):
            got = self.post({"matn": "x"}, None, [("Content-Type", media)])
            self.assertProblem(got, 415, "media-turi")

    # --- reading ----------------------------------------------------------
    def test_one_task(self):
        made = self.make("bitta")
        target = "/vazifalar/%d" % made["id"]
        got = self.assertFirst(self.get(target), 200)
        self.assertEqual(got.json, made)
        etag = got.field("ETag")
        self.assertRegex(etag, r'^(W/)?"[^"]+"$')
        same = self.get(target, [("If-None-Match", etag)])
        self.assertStatus(same, 304)
        self.assertEqual(same.body, b"")
        self.assertEqual(same.field("ETag"), etag)
        self.assertStatus(self.get(target, [("If-None-Match",
                                             '"x", ' + etag)]), 304)
        self.assertStatus(self.get(target, [("If-None-Match", "*")]), 304)
        self.put(target, {"matn": "boshqa"})
        changed = self.get(target, [("If-None-Match", etag)])
        self.assertStatus(changed, 200)
        self.assertNotEqual(changed.field("ETag"), etag)

    def test_head(self):
        made = self.make("bosh")
        target = "/vazifalar/%d" % made["id"]
        full = self.get(target)
        head = self.request("HEAD", target)
        self.assertStatus(head, 200)
        self.assertEqual(head.body, b"")
        self.assertEqual(head.field("ETag"), full.field("ETag"))
        self.assertStatus(self.request("HEAD", "/vazifalar"), 200)
        self.assertStatus(self.request("HEAD", "/vazifalar/999999999"), 404)

    def test_wrong_ids(self):
        for name in ("0", "-1", "x", "1x", "01", "1.0", "",
                     "99999999999999999999"):
            with self.subTest(name=name):
                got = self.get("/vazifalar/" + name)
                self.assertProblem(got, 404, "topilmadi")

    def test_lists(self):
        tag = self.fresh_tag()
        made = [self.make("%d #%s" % (n, tag), bajarildi=n % 2 == 0)
                for n in range(7)]
        ids = [task["id"] for task in made]
        page = self.get("/vazifalar?teg=%s&soni=3" % tag).json
        self.assertEqual(page["vazifalar"], made[:3])
        self.assertEqual(page["keyingi"], ids[2])
        page = self.get("/vazifalar?teg=%s&soni=3&keyin=%d"
                        % (tag, page["keyingi"])).json
        self.assertEqual([t["id"] for t in page["vazifalar"]], ids[3:6])
        page = self.get("/vazifalar?teg=%s&soni=3&keyin=%d"
                        % (tag, page["keyingi"])).json
        self.assertEqual([t["id"] for t in page["vazifalar"]], ids[6:])
        self.assertIsNone(page["keyingi"])
        for said, odd in (("true", 0), ("false", 1)):
            page = self.get("/vazifalar?teg=%s&bajarildi=%s"
                            % (tag, said)).json
            self.assertEqual([t["id"] for t in page["vazifalar"]],
                             ids[odd::2])
        self.assertEqual(self.get("/vazifalar?teg=yoq-bunday").json,
                         {"vazifalar": [], "keyingi": None})

    def test_a_tag_in_the_query_is_decoded(self):
        tag = self.fresh_tag() + "aʻo"
        self.make("#" + tag)
        quoted = "".join("%%%02X" % b for b in tag.encode())
        self.assertEqual(len(self.tasks(quoted)), 1)

    def test_bad_queries(self):
        for query in ("soni=0", "soni=201", "soni=x", "soni=", "keyin=x",
                      "keyin=-1", "bajarildi=ha", "bajarildi=1"):
            with self.subTest(query=query):
                got = self.get("/vazifalar?" + query)
                self.assertProblem(got, 422, "tekshiruv")
                self.assertEqual([e["maydon"] for e in got.json["xatolar"]],
                                 [query.split("=")[0]])

    def test_default_page(self):
        tag = self.fresh_tag()
        for _ in range(51):
            self.make("#" + tag)
        page = self.get("/vazifalar?teg=" + tag).json
        self.assertEqual(len(page["vazifalar"]), 50)
        self.assertEqual(page["keyingi"], page["vazifalar"][-1]["id"])

    # --- changing ---------------------------------------------------------
    def test_put(self):
        made = self.make("eski #a", bajarildi=True)
        target = "/vazifalar/%d" % made["id"]
        got = self.assertFirst(self.put(target, {"matn": "yangi #b"}), 200)
        self.assertEqual(got.json, dict(made, matn="yangi #b",
                                        bajarildi=False, teglar=["b"]))
        self.assertEqual(self.get(target).json, got.json)
        self.assertProblem(self.put(target, {"bajarildi": True}), 422,
                           "tekshiruv")
        self.assertProblem(self.put("/vazifalar/999999999", {"matn": "x"}),
                           404, "topilmadi")

    def test_put_if_match(self):
        target = "/vazifalar/%d" % self.make("shart")["id"]
        etag = self.get(target).field("ETag")
        got = self.put(target, {"matn": "bir"}, [("If-Match", etag)])
        self.assertFirst(got, 200)
        got = self.put(target, {"matn": "ikki"}, [("If-Match", etag)])
        self.assertProblem(got, 412, "shart-bajarilmadi")
        self.assertEqual(self.get(target).json["matn"], "bir")
        got = self.put(target, {"matn": "uch"}, [("If-Match", "*")])
        self.assertFirst(got, 200)
        got = self.put("/vazifalar/999999999", {"matn": "x"},
                       [("If-Match", "*")])
        self.assertIn(got.status, (404, 412))

    def test_merge_patch(self):
        made = self.make("asl #a", bajarildi=True)
        target = "/vazifalar/%d" % made["id"]
        got = self.assertFirst(self.patch(target, {"matn": "yangi #b"}), 200)
        self.assertEqual(got.json, dict(made, matn="yangi #b",
                                        teglar=["b"]))
        got = self.patch(target, {"bajarildi": None})
        self.assertFirst(got, 200)
        self.assertEqual(got.json["bajarildi"], False)
        self.assertProblem(self.patch(target, {"matn": None}), 422,
                           "tekshiruv")
        got = self.patch(target, {})
        self.assertFirst(got, 200)
        self.assertEqual(got.json["matn"], "yangi #b")
        got = self.request("PATCH", target, [
            ("Content-Type", "application/merge-patch+json")],
            b'{"bajarildi":true}')
        self.assertFirst(got, 200)

    def test_delete(self):
        target = "/vazifalar/%d" % self.make("ketadi")["id"]
        got = self.assertFirst(self.request("DELETE", target), 204)
        self.assertEqual(got.body, b"")
        self.assertProblem(self.get(target), 404, "topilmadi")
        self.assertProblem(self.request("DELETE", target), 404, "topilmadi")

    def test_an_id_is_not_used_again(self):
        last = self.make("oxirgi")["id"]
        self.request("DELETE", "/vazifalar/%d" % last)
        self.assertEqual(self.make("keyingi")["id"], last + 1)

    # --- methods and head -------------------------------------------------
    def test_methods(self):
        for target, method, offered in [
                ("/vazifalar", "DELETE", {"GET", "HEAD", "POST", "OPTIONS"}),
                ("/vazifalar/1", "POST",
                 {"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"}),
                ("/idempotentlik", "POST", {"GET", "HEAD", "OPTIONS"})]:
            with self.subTest(target=target):
                got = self.request(method, target, [JSON], b"{}")
                self.assertProblem(got, 405, "metod")
                self.assertEqual(set(re.split(r",\s*", got.field("Allow"))),
                                 offered)

    def test_request_ids(self):
        for said in ("a", "A-1._b", "x" * 64):
            got = self.get("/vazifalar", [("X-Request-Id", said)])
            self.assertEqual(got.field("X-Request-Id"), said)
        seen = set()
        for said in ("", "x" * 65, "a b", "a;b", "<a>"):
            fields = [("X-Request-Id", said)] if said else []
            got = self.get("/vazifalar", fields)
            told = got.field("X-Request-Id")
            self.assertRegex(told, r"^[A-Za-z0-9._-]{1,64}$")
            self.assertNotEqual(told, said)
            seen.add(told)
        self.assertEqual(len(seen), 5)

    def test_without_cors_nothing_is_said(self):
        got = self.get("/vazifalar", [("Origin", "https://a.example")])
        self.assertFalse(got.has("Access-Control-Allow-Origin"), got)

    def test_paths(self):
        made = self.make("yo'l")
        got = self.get("/vazifala%%72/%d" % made["id"])
        self.assertStatus(got, 200)
        self.assertProblem(self.get("/vazifalar%%2F%d" % made["id"]), 404,
                           "topilmadi")
        self.assertProblem(self.get("/vazifalar/%d/" % made["id"]), 404,
                           "topilmadi")


@on(Direct, Lighttpd, ApacheFcgid, settings={
    "IDEM_CORS_ORIGINS": "https://a.example,https://b.example:8443"})
class Cors:
    ALLOWED = {"content-type", "idempotency-key", "x-request-id", "if-match",
               "prefer"}
    EXPOSED = {"location", "etag", "x-request-id", "idempotency-replayed",
               "idempotency-body", "retry-after"}

    @staticmethod
    def names(text):
        return {n.strip().lower() for n in text.split(",")}

    def test_preflight(self):
        got = self.request("OPTIONS", "/vazifalar", [
            ("Origin", "https://b.example:8443"),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers",
             "content-type,idempotency-key")])
        self.assertIn(got.status, (200, 204))
        self.assertEqual(got.field("Access-Control-Allow-Origin"),
                         "https://b.example:8443")
        self.assertEqual(self.names(got.field("Access-Control-Allow-Headers")),
                         self.ALLOWED)
        self.assertIn("post", self.names(
            got.field("Access-Control-Allow-Methods")))
        self.assertEqual(got.field("Access-Control-Max-Age"), "600")
        self.assertIn("origin", self.names(got.field("Vary")))

    def test_answers_and_errors(self):
        origin = ("Origin", "https://a.example")
        for got in (self.get("/vazifalar", [origin]),
                    self.post({"matn": "x"}, "a b", [origin]),
                    self.get("/yoq", [origin]),
                    self.request("PATCH", "/vazifalar", [origin], b"{}")):
            self.assertEqual(got.field("Access-Control-Allow-Origin"),
                             "https://a.example", got)
            self.assertEqual(self.names(
                got.field("Access-Control-Expose-Headers")), self.EXPOSED)
            self.assertIn("origin", self.names(got.field("Vary")))

    def test_other_origins(self):
        for origin in ("https://c.example", "http://a.example",
                       "https://a.example.evil", "null"):
            got = self.get("/vazifalar", [("Origin", origin)])
            self.assertStatus(got, 200)
            self.assertFalse(got.has("Access-Control-Allow-Origin"), got)
            self.assertIn("origin", self.names(got.field("Vary")))


@on(Lighttpd, settings={"IDEM_CORS_ORIGINS": "*"})
class CorsForAll:
    def test_any_origin(self):
        got = self.get("/vazifalar", [("Origin", "https://x.example")])
        self.assertEqual(got.field("Access-Control-Allow-Origin"), "*")


@on(Lighttpd, ApacheFcgid, ApacheProxy, base="/api/v1")
class Base:
    """Everything below a prefix: IDEM_BASE and the server's own setting."""

    def test_below_the_prefix(self):
        made = self.assertFirst(self.post({"matn": "asos"}))
        target = "/vazifalar/%d" % made.json["id"]
        self.assertEqual(made.field("Location"), "/api/v1" + target)
        self.assertStatus(self.get(target), 200)

    def test_a_problem_points_below_the_prefix(self):
        refused = self.post({"matn": "asos"}, "a b")
        self.assertEqual(refused.field("Link"),
                         '</api/v1/idempotentlik>; rel="describedby"')
        self.assertStatus(self.get("/idempotentlik"), 200)

    def test_outside_the_prefix(self):
        got = self.server.send("GET", "/vazifalar").answer()
        self.assertIn(got.status, (403, 404))   # the server's own answer
