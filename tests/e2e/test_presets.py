"""The shipped presets of etc/routes/, as they are, in front of small PHP
applications that would do everything twice: lighttpd, guard.fcgi, php-fpm."""
import base64
import glob
import hashlib
import json
import os
import urllib.parse
import uuid

from harness.case import JSON
from harness.php import GuardLighttpd
from harness.site import ROOT
from test_guard import FORM, ShopCase


def shipped_routes():
    """All of them in one file."""
    text = ""
    for name in sorted(glob.glob(os.path.join(ROOT, "etc/routes/*"))):
        with open(name, encoding="utf-8") as file:
            text += file.read() + "\n"
    return text


class PresetCase(ShopCase):
    """A shop whose pages know a shopper by the session's cookie."""
    by_fpm = True
    server_class = GuardLighttpd
    more = {"IDEM_SCOPE": "cookie:PHPSESSID", "IDEM_ANONYMOUS": "refuse"}
    routes = shipped_routes()

    def setUp(self):
        super().setUp()
        self.intent = uuid.uuid4().hex

    def post(self, target, body, *fields):
        return self.server.send("POST", target, list(fields), body).answer()

    def assertRuns(self, answer, status=200):
        self.assertStatus(answer, status)
        self.assertFalse(answer.replayed, answer)
        return answer

    def assertSame(self, answer, first):
        self.assertTrue(answer.replayed, answer)
        self.assertEqual((answer.status, answer.body),
                         (first.status, first.body))

    def assertBooked(self, what, n):
        self.assertEqual(self.site.lines("ledger").count(what), n, what)


class PlainForm(PresetCase):
    def submit(self, token, amount, session="ali"):
        body = urllib.parse.urlencode({"order_token": token,
                                       "amount": amount})
        return self.post("/checkout.php", body.encode(), FORM,
                         ("Cookie", "PHPSESSID=" + session))

    def test_a_double_submit(self):
        first = self.assertRuns(self.submit(self.intent, self.amount), 303)
        again = self.submit(self.intent, self.amount)
        self.assertSame(again, first)
        self.assertRegex(again.field("Location"), r"/thanks\.php\?order=\d+$")
        self.assertEqual(again.field("Location"), first.field("Location"))
        self.assertCharges(1)

    def test_a_double_submit_with_a_file(self):
        """Another boundary, the same form."""
        answers = []
        for boundary in ("first", "second"):
            parts = [("order_token", self.intent), ("amount", self.amount)]
            body = "".join(
                "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n"
                "%s\r\n" % (boundary, name, value) for name, value in parts)
            answers.append(self.post(
                "/checkout.php", (body + "--%s--\r\n" % boundary).encode(),
                ("Content-Type", "multipart/form-data; boundary=" + boundary),
                ("Cookie", "PHPSESSID=ali")))
        self.assertRuns(answers[0], 303)
        self.assertSame(answers[1], answers[0])
        self.assertCharges(1)

    def test_a_corrected_form_runs(self):
        wrong = "x" + self.amount
        for n in (1, 2):
            page = self.assertRuns(self.submit(self.intent, wrong))
            self.assertIn(b"What amount?", page.body)
            self.assertBooked("wrong " + wrong, n)
        first = self.assertRuns(self.submit(self.intent, self.amount), 303)
        self.assertSame(self.submit(self.intent, self.amount), first)
        self.assertCharges(1)

    def test_an_empty_field_is_no_key(self):
        for n in (1, 2):
            self.assertRuns(self.submit("", self.amount), 303)
            self.assertCharges(n)

    def test_two_shoppers_do_not_meet(self):
        for n, session in ((1, "ali"), (2, "vali")):
            self.assertRuns(
                self.submit(self.intent, self.amount, session), 303)
            self.assertCharges(n)


class PayPal(PresetCase):
    def pay(self, key, more="", token="A1"):
        fields = [JSON, ("Authorization", "Bearer " + token)]
        if key is not None:
            fields.append(("PayPal-Request-Id", key))
        body = json.dumps({"amount": self.amount, "more": more})
        return self.post("/paypal.php", body.encode(), *fields)

    def test_the_same_id(self):
        first = self.assertRuns(self.pay(self.intent), 201)
        self.assertSame(self.pay(self.intent), first)
        self.assertCharges(1)

    def test_the_same_id_for_another_request(self):
        self.assertRuns(self.pay(self.intent), 201)
        self.assertProblem(self.pay(self.intent, "other"), 422,
                           "idempotentlik-boshqa-tana")
        self.assertCharges(1)

    def test_without_it_each_call_runs(self):
        for n in (1, 2):
            self.assertRuns(self.pay(None), 201)
            self.assertCharges(n)

    def test_two_clients_do_not_meet(self):
        for n, token in ((1, "A1"), (2, "A2")):
            self.assertRuns(self.pay(self.intent, token=token), 201)
            self.assertCharges(n)


class Square(PresetCase):
    def pay(self, key, source="cnon:ok", **more):
        call = dict({"idempotency_key": key, "source_id": source,
                     "note": self.amount}, **more)
        return self.post("/square.php", json.dumps(call).encode(), JSON,
                         ("Authorization", "Bearer A1"))

    def test_the_same_key(self):
        first = self.assertRuns(self.pay(self.intent))
        self.assertSame(self.pay(self.intent), first)
        self.assertCharges(1)

    def test_the_same_key_in_another_order_of_members(self):
        first = self.assertRuns(self.pay(self.intent))
        body = ('{"note": "%s",\n "source_id": "cnon:ok",'
                ' "idempotency_key": "%s"}' % (self.amount, self.intent))
        self.assertSame(self.post("/square.php", body.encode(), JSON,
                                  ("Authorization", "Bearer A1")), first)
        self.assertCharges(1)

    def test_other_content_runs(self):
        self.assertRuns(self.pay(self.intent))
        self.assertRuns(self.pay(self.intent, amount=2))
        self.assertCharges(2)

    def test_a_refusal_is_not_kept(self):
        for n in (1, 2):
            self.assertRuns(self.pay(self.intent, "declined"), 402)
            self.assertBooked("declined " + self.amount, n)

    def test_no_key(self):
        for n, key in ((1, ""), (2, None), (3, "")):
            self.assertRuns(self.pay(key))
            self.assertCharges(n)


class Payme(PresetCase):
    def send_call(self, method, number=1, password="secret", **params):
        call = {"jsonrpc": "2.0", "id": number, "method": method,
                "params": dict({"id": self.intent}, **params)}
        login = base64.b64encode(b"Paycom:" + password.encode()).decode()
        return self.server.send("POST", "/payme.php", [
            ("Content-Type", "text/json; charset=UTF-8"),
            ("Authorization", "Basic " + login)], json.dumps(call).encode())

    def call(self, *args, **more):
        return self.assertStatus(self.send_call(*args, **more).answer(), 200)

    def create(self, **more):
        return self.call("CreateTransaction", amount=500000,
                         time=1399114284039, account={"order": "7"}, **more)

    def assertState(self, number, state):
        """What a check sees, which is never a replay."""
        result = self.assertRuns(
            self.call("CheckTransaction", number)).json["result"]
        self.assertEqual(result["state"], state, result)
        return result

    def test_a_payment_with_every_call_repeated(self):
        created = self.assertRuns(self.create())
        self.assertSame(self.create(), created)
        self.assertState(2, 1)
        performed = self.assertRuns(self.call("PerformTransaction", 3))
        self.assertSame(self.call("PerformTransaction", 3), performed)
        seen = self.assertState(2, 2)
        self.assertState(2, 2)
        for name in ("create_time", "perform_time"):
            self.assertEqual(seen[name], performed.json["result"][name])
        self.assertEqual(seen["create_time"],
                         created.json["result"]["create_time"])
        self.assertBooked("create " + self.intent, 1)
        self.assertBooked("perform " + self.intent, 1)

    def test_a_repeat_with_a_number_of_its_own(self):
        self.assertRuns(self.create())
        first = self.assertRuns(self.call("PerformTransaction", 3))
        self.assertSame(self.call("PerformTransaction", 4), first)
        self.assertBooked("perform " + self.intent, 1)

    def test_a_repeat_while_the_first_is_at_work(self):
        """It waits for the first one's answer."""
        self.assertRuns(self.create())
        pending = [self.send_call("PerformTransaction", 3) for _ in "12"]
        answers = [self.assertStatus(p.answer(), 200) for p in pending]
        self.assertEqual(answers[0].body, answers[1].body)
        self.assertEqual(sorted(a.replayed for a in answers), [False, True])
        self.assertBooked("perform " + self.intent, 1)

    def test_an_error_is_not_kept(self):
        answer = self.assertRuns(self.call("PerformTransaction", 3))
        self.assertEqual(answer.json["error"]["code"], -31003)
        self.assertRuns(self.create())
        answer = self.assertRuns(self.call("PerformTransaction", 3))
        self.assertEqual(answer.json["result"]["state"], 2)
        self.assertBooked("perform " + self.intent, 1)

    def test_a_wrong_password_gets_no_replay(self):
        first = self.assertRuns(self.create())
        answer = self.assertRuns(self.create(password="guess"))
        self.assertEqual(answer.json["error"]["code"], -32504)
        self.assertSame(self.create(), first)


class Click(PresetCase):
    def call(self, action, prepare="", secret="secret", **more):
        form = {"click_trans_id": self.intent, "service_id": "1",
                "click_paydoc_id": "5", "merchant_trans_id": self.amount,
                "amount": "1000.0", "action": action, "error": "0",
                "error_note": "Success",
                "sign_time": "2026-01-01 10:00:00"}
        if prepare:
            form["merchant_prepare_id"] = str(prepare)
        form.update(more)
        signed = (form["click_trans_id"] + form["service_id"] + secret
                  + form["merchant_trans_id"] + str(prepare) + form["amount"]
                  + action + form["sign_time"])
        form["sign_string"] = hashlib.md5(signed.encode()).hexdigest()
        return self.assertStatus(self.post(
            "/click.php", urllib.parse.urlencode(form).encode(), FORM), 200)

    def test_prepare_and_complete_repeated(self):
        prepared = self.assertRuns(self.call("0"))
        self.assertEqual(prepared.json["error"], 0)
        self.assertSame(self.call("0"), prepared)
        number = prepared.json["merchant_prepare_id"]
        completed = self.assertRuns(self.call("1", number))
        self.assertIn("merchant_confirm_id", completed.json)
        self.assertSame(self.call("1", number), completed)
        self.assertSame(self.call("0"), prepared)
        self.assertBooked("prepare " + self.amount, 1)
        self.assertBooked("complete " + self.amount, 1)

    def test_a_forged_call_does_not_lock_out_the_real_one(self):
        for _ in range(2):
            forged = self.assertRuns(self.call("1", 7, "guess"))
            self.assertEqual(forged.json["error"], -1)
        first = self.assertRuns(self.call("1", 7))
        self.assertEqual(first.json["error"], 0)
        self.assertSame(self.call("1", 7), first)
        self.assertBooked("complete " + self.amount, 1)

    def test_a_forged_call_is_not_told_the_answer(self):
        self.assertRuns(self.call("1", 7))
        forged = self.assertRuns(self.call("1", 7, "guess"))
        self.assertEqual(forged.json["error"], -1)
        self.assertBooked("complete " + self.amount, 1)
