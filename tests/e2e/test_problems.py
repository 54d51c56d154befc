"""Problem documents and pages: the table of the answers, through real
servers."""
import re

from harness.case import fresh_key, on
from harness.servers import ApacheFcgid, ApacheProxy, Direct, Lighttpd

BASE = "https://vazifalar-api.example/xatolar/"
POLICY = '</idempotentlik>; rel="describedby"'
PAGE = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")

# kod, code, status, title in Uzbek: the rows that tasks.fcgi can answer with.
ROWS = [
    ("idempotentlik-kalit-kerak", "key-required", "Idempotency-Key kerak"),
    ("idempotentlik-kalit", "key-invalid", "Idempotency-Key yaroqsiz"),
    ("idempotentlik-egasi", "scope-required", "So'rov egasi noma'lum"),
    ("idempotentlik-boshqa-tana", "key-reused",
     "Idempotency-Key qayta ishlatildi"),
    ("idempotentlik-jarayonda", "in-progress", "So'rov bajarilmoqda"),
    ("idempotentlik-nomalum", "outcome-unknown", "Natija noma'lum"),
    ("idempotentlik-ombor", "store-unavailable",
     "Kalit ombori ishlamayapti"),
    ("idempotentlik-ombor-tola", "store-full", "Kalit ombori to'la"),
    ("tana-katta", "body-too-large", "So'rov tanasi juda katta"),
    ("tana-chala", "body-truncated", "So'rov tanasi to'liq kelmadi"),
    ("json-yaroqsiz", "json-invalid", "JSON yaroqsiz"),
    ("tekshiruv", "validation", "Ma'lumot tekshiruvdan o'tmadi"),
    ("topilmadi", "not-found", "Topilmadi"),
    ("metod", "method-not-allowed", "Bu metod qo'llanmaydi"),
    ("shart-bajarilmadi", "precondition-failed", "Shart bajarilmadi"),
    ("media-turi", "media-type", "Media turi qo'llanmaydi"),
    ("buyurtma-tolangan", "order-paid", "Buyurtma allaqachon to'langan"),
    ("buyurtma-band", "order-busy", "Buyurtma hozir to'lanmoqda"),
    ("tolov-rad", "payment-declined", "To'lov rad etildi"),
    ("tolov-xizmati", "provider-unavailable", "To'lov xizmati ishlamayapti"),
    ("tolov-nomalum", "provider-unknown", "To'lov natijasi noma'lum"),
    ("ilova-ulanmadi", "backend-unreachable", "Ilovaga ulanib bo'lmadi"),
    ("ilova-uzildi", "backend-broken", "Ilova javobi uzildi"),
    ("ilova-kechikdi", "backend-timeout", "Ilova javob bermadi"),
    ("ichki-xato", "internal", "Ichki xato"),
]
CODES = {kod: code for kod, code, _ in ROWS}
TITLES = {kod: title for kod, _, title in ROWS}


@on(Direct, Lighttpd, ApacheFcgid, ApacheProxy)
class Problems:
    def cases(self):
        """(answer, status, kod, path) of what can be had at once."""
        used = fresh_key()
        self.post({"matn": "bor"}, used)
        return [
            (self.post({"matn": "x"}, "a b"), 400, "idempotentlik-kalit",
             "/vazifalar"),
            (self.post({"matn": "boshqa"}, used), 422,
             "idempotentlik-boshqa-tana", "/vazifalar"),
            (self.post(b"{", fresh_key()), 400, "json-yaroqsiz",
             "/vazifalar"),
            (self.post({"matn": 1}, fresh_key()), 422, "tekshiruv",
             "/vazifalar"),
            (self.get("/vazifalar/999999999"), 404, "topilmadi",
             "/vazifalar/999999999"),
            (self.get("/yoq?x=1"), 404, "topilmadi", "/yoq"),
            (self.request("PATCH", "/vazifalar", [], b"{}"), 405, "metod",
             "/vazifalar"),
            (self.post(b"x", None, [("Content-Type", "text/plain")]), 415,
             "media-turi", "/vazifalar"),
        ]

    def test_documents(self):
        for answer, status, kod, path in self.cases():
            with self.subTest(kod=kod, path=path):
                self.assertProblem(answer, status, kod)
                told = answer.json
                self.assertEqual(told["type"], BASE + kod)
                self.assertEqual(told["title"], TITLES[kod])
                self.assertEqual(told["code"], CODES[kod])
                self.assertEqual(told["instance"], path)
                self.assertGreater(len(told["detail"]), 10)
                self.assertEqual(answer.field("Content-Language"), "uz")
                self.assertEqual(answer.field("Cache-Control"), "no-store")
                self.assertRegex(answer.field("X-Request-Id"),
                                 r"^[A-Za-z0-9._-]{1,64}$")
                self.assertEqual(answer.field("Link"), POLICY
                                 if kod.startswith("idempotentlik") else None)

    def test_details_in_uzbek(self):
        told = self.post({"matn": "x"}, "a b").json["detail"]
        self.assertEqual(told, "Idempotency-Key — 1..255 ko'rinadigan "
                         "ASCII belgi")
        key = fresh_key()
        self.post({"matn": "x"}, key)
        told = self.post({"matn": "y"}, key).json["detail"]
        self.assertEqual(told, "Bu Idempotency-Key boshqa so'rov tanasi "
                         "bilan ishlatilgan")

    def test_languages(self):
        for accept, lang, title in [
                ("en", "en", "Idempotency-Key invalid"),
                ("tr-TR,tr;q=0.9,en;q=0.5", "tr", "Idempotency-Key geçersiz"),
                ("fr, en;q=0.2, uz;q=0.4", "uz", "Idempotency-Key yaroqsiz"),
                ("EN-gb;q=0.8, uz;q=0.1", "en", "Idempotency-Key invalid"),
                ("de,fr", "uz", "Idempotency-Key yaroqsiz"),
                ("*", "uz", "Idempotency-Key yaroqsiz")]:
            with self.subTest(accept=accept):
                got = self.post({"matn": "x"}, "a b",
                                [("Accept-Language", accept)])
                self.assertProblem(got, 400, "idempotentlik-kalit")
                self.assertEqual(got.field("Content-Language"), lang)
                self.assertEqual(got.json["title"], title)
                self.assertEqual(got.json["code"], "key-invalid")

    def test_a_page_for_people(self):
        for fields in ([PAGE], [("Sec-Fetch-Mode", "navigate")]):
            got = self.post({"matn": "x"}, "a b",
                            fields + [("Accept-Language", "en")])
            self.assertStatus(got, 400)
            self.assertRegex(got.field("Content-Type"), r"^text/html\b")
            self.assertEqual(got.field("Content-Language"), "en")
            page = got.body.decode()
            self.assertIn('data-kod="idempotentlik-kalit"', page)
            self.assertIn('lang="en"', page)
            self.assertIn("Idempotency-Key invalid", page)
            self.assertNotRegex(page, re.compile(r"<script|<form", re.I))

    def test_a_program_is_no_person(self):
        for fields in ([("Accept", "application/json, text/html;q=0.9")],
                       [PAGE, ("X-Requested-With", "XMLHttpRequest")],
                       [("Accept", "*/*")]):
            got = self.post({"matn": "x"}, "a b", fields)
            self.assertProblem(got, 400, "idempotentlik-kalit")

    def test_a_page_for_each_type(self):
        for kod, code, title in ROWS:
            with self.subTest(kod=kod):
                got = self.get("/xatolar/" + kod)
                self.assertStatus(got, 200)
                text = got.body.decode()
                self.assertIn(kod, text)
                self.assertIn(code, text)
                self.assertIn(title.split("'")[0], text)
        self.assertProblem(self.get("/xatolar/yoq"), 404, "topilmadi")

    def test_the_published_policy(self):
        got = self.assertStatus(self.get("/idempotentlik"), 200)
        text = got.body.decode()
        for word in ("Idempotency-Key", "POST", "PATCH", "255", "24"):
            self.assertIn(word, text)


@on(Lighttpd, settings={
    "IDEM_LANG": "en", "IDEM_PROBLEM_BASE": "https://x.example/p/"})
class OtherTexts:
    def test_default_language_and_base(self):
        got = self.post({"matn": "x"}, "a b")
        self.assertProblem(got, 400, "idempotentlik-kalit")
        self.assertEqual(got.json["type"],
                         "https://x.example/p/idempotentlik-kalit")
        self.assertEqual(got.json["title"], "Idempotency-Key invalid")
        self.assertEqual(got.field("Content-Language"), "en")
