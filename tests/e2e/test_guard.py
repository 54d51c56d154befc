"""guard.fcgi in front of a PHP shop that knows nothing of keys, by php-cgi and
php-fpm, alone and behind lighttpd: the ledger shows one charge an intent."""
import concurrent.futures
import os
import signal
import uuid

from harness import proc
from harness.case import ServerCase, fresh_key, start_all
from harness.php import (PHP_CGI, Fpm, GuardLighttpd, GuardWorkers, Shop)

FORM = ("Content-Type", "application/x-www-form-urlencoded")
PROBLEM = "application/problem+json"


class ShopCase(ServerCase):
    """The shop behind the guard, by php-cgi or php-fpm."""
    server_class = GuardWorkers
    by_fpm = by_number = False
    more = {}       # settings
    environment = {}
    routes = None   # the routes file

    @classmethod
    def setUpClass(cls):
        cls.fpm = None
        cls.site = Shop(dict({"IDEM_ANONYMOUS": "allow"}, **cls.more))
        cls.site.preload = cls.environment
        if cls.routes:
            cls.site.write_routes(cls.routes)
        if cls.by_fpm:
            cls.fpm = Fpm(cls.site, cls.by_number)
        cls.site.write_settings(IDEM_BACKEND="fcgi:" + cls.fpm.where
                                if cls.fpm else "cgi:" + PHP_CGI)
        cls.server = cls.server_class(cls.site)
        start_all(cls.site, *filter(None, (cls.fpm, cls.server)))

    @classmethod
    def tearDownClass(cls):
        try:
            cls.server.stop()
        finally:
            if cls.fpm:
                cls.fpm.stop()
            cls.site.remove()

    def setUp(self):
        self.amount = uuid.uuid4().hex

    def buy(self, key, do="", fields=(), amount=None, **more):
        return self.send_buy(key, do, fields, amount, **more).answer()

    def send_buy(self, key, do="", fields=(), amount=None, **more):
        every = [FORM] + list(fields)
        if key is not None:
            every.append(("Idempotency-Key", key))
        body = b"amount=" + (amount or self.amount).encode()
        target = "/shop.php" + ("?do=" + do if do else "")
        return self.server.send("POST", target, every, body, **more)

    def assertCharges(self, n):
        self.assertEqual(self.site.charges(self.amount), n, "charges")

    def wait_for(self, n):
        """The process that waits, once n of them did."""
        return proc.wait_until(
            lambda: len(self.site.waiting()) >= n and
            self.site.waiting()[n - 1], "the shop to wait")

    def kill_the_worker(self, pending):
        """The guard's own, which has the one key that is at work."""
        worker = [pid for pid in self.server.workers()
                  if proc.holds_claim(pid)]
        self.assertEqual(len(worker), 1)
        proc.end(worker)
        pending.leave()


class GuardCases:
    """With ShopCase; see below."""
    links = ['</a>; rel="next"', '</b>; rel="prev"']

    # --- answers ----------------------------------------------------------
    def test_a_retry_is_replayed(self):
        key = fresh_key()
        first = self.assertFirst(self.buy(key))
        self.assertTrue(first.has("Set-Cookie"), first)
        again = self.buy(key)
        self.assertReplay(again, first)
        self.assertFalse(again.has("Set-Cookie"), again)
        self.assertEqual(again.field("Location"), first.field("Location"))
        self.assertCharges(1)

    def test_without_a_key_each_try_charges(self):
        for _ in range(2):
            answer = self.buy(None)
            self.assertFirst(answer)
            self.assertTrue(answer.has("Set-Cookie"), answer)
        self.assertCharges(2)

    def test_a_lost_answer(self):
        """The client leaves while the shop works; its retry gets what the
        first one would have got."""
        key, n = fresh_key(), len(self.site.waiting()) + 1
        pending = self.send_buy(key, "waitsilent")
        self.wait_for(n)
        pending.leave()
        self.assertProblem(self.buy(key, "waitsilent"), 409,
                           "idempotentlik-jarayonda")
        self.site.let_go()
        answer = proc.wait_until(lambda: self.settled(key, "waitsilent"),
                                 "the first to end")
        self.assertStatus(answer, 200)
        self.assertTrue(answer.replayed, answer)
        self.assertTrue(answer.body.startswith(b"end "), answer)
        self.assertCharges(1)

    def settled(self, key, do):
        answer = self.buy(key, do)
        return answer if answer.status != 409 else None

    def test_a_double_submit(self):
        key, n = fresh_key(), len(self.site.waiting()) + 1
        first = self.send_buy(key, "waitsilent")
        self.wait_for(n)
        for _ in range(3):
            self.assertProblem(self.buy(key, "waitsilent"), 409,
                               "idempotentlik-jarayonda")
        self.site.let_go()
        first = self.assertFirst(first.answer(), 200)
        self.assertReplay(self.buy(key, "waitsilent"), first)
        self.assertCharges(1)

    def test_another_body_under_the_same_key(self):
        key = fresh_key()
        first = self.assertFirst(self.buy(key))
        refused = self.assertProblem(
            self.buy(key, amount="other" + self.amount), 422,
            "idempotentlik-boshqa-tana")
        self.assertFalse(refused.has("Link"), refused)  # nothing to point to
        self.assertReplay(self.buy(key), first)
        self.assertCharges(1)
        self.assertEqual(self.site.charges("other" + self.amount), 0)

    def test_a_fatal_error_after_the_charge(self):
        key = fresh_key()
        first = self.assertFirst(self.buy(key, "fatal"), 500)
        again = self.buy(key, "fatal")
        self.assertStatus(again, 500)
        self.assertTrue(again.replayed, again)
        self.assertEqual(again.body, first.body)
        self.assertCharges(1)

    def test_php_is_killed_after_the_charge(self):
        """In the middle of its work, and in the middle of its answer."""
        for do in ("waitsilent", "wait"):
            with self.subTest(do):
                self.amount = uuid.uuid4().hex
                key, n = fresh_key(), len(self.site.waiting()) + 1
                pending = self.send_buy(key, do)
                os.kill(self.wait_for(n), signal.SIGKILL)
                self.assertProblem(pending.answer(), 502, "ilova-uzildi")
                for _ in range(2):
                    self.assertProblem(self.buy(key, do), 409,
                                       "idempotentlik-nomalum")
                self.assertCharges(1)

    def test_redirects_by_php(self):
        key = fresh_key()
        first = self.assertFirst(self.buy(key, "redirect"), 303)
        self.assertTrue(first.field("Location").startswith("/thanks.php?"))
        again = self.buy(key, "redirect")
        self.assertStatus(again, 303)
        self.assertEqual(again.field("Location"), first.field("Location"))
        self.assertTrue(again.replayed, again)
        self.assertCharges(1)

    def test_every_status(self):
        for status in (200, 202, 301, 302, 303, 307, 308, 400, 404, 409, 410,
                       422, 500, 501, 502, 503, 504):
            with self.subTest(status):
                self.amount = uuid.uuid4().hex
                key = fresh_key()
                first = self.assertFirst(
                    self.buy(key, "status&status=%d" % status), status)
                again = self.buy(key, "status&status=%d" % status)
                self.assertEqual((again.status, again.body),
                                 (status, first.body))
                self.assertTrue(again.replayed, again)
                self.assertEqual(again.all("Link"), self.links)
                self.assertCharges(1)

    def test_statuses_that_are_not_kept(self):
        for status in (401, 403, 408, 412, 423, 425, 428, 429):
            with self.subTest(status):
                self.amount = uuid.uuid4().hex
                key = fresh_key()
                for n in (1, 2):
                    self.assertFirst(self.buy(
                        key, "status&status=%d" % status), status)
                    self.assertCharges(n)

    def test_an_empty_answer(self):
        key = fresh_key()
        self.assertFirst(self.buy(key, "status&status=204"), 204)
        again = self.buy(key, "status&status=204")
        self.assertStatus(again, 204)
        self.assertEqual(again.body, b"")
        self.assertTrue(again.replayed, again)
        self.assertCharges(1)

    def test_binary_bytes(self):
        key, every = fresh_key(), bytes(range(256)) * 4
        self.assertEqual(self.buy(key, "binary").body, every)
        again = self.buy(key, "binary")
        self.assertEqual(again.body, every)
        self.assertTrue(again.replayed, again)
        self.assertCharges(1)

    def test_a_large_answer(self):
        key, whole = fresh_key(), b"0123456789abcde\n" * (5 * 65536)
        first = self.assertFirst(self.buy(key, "big"), 200)
        self.assertEqual(first.body, whole)
        again = self.buy(key, "big")
        self.assertStatus(again, 200)
        self.assertEqual(again.body, b"")
        self.assertEqual(again.field("Idempotency-Body"), "omitted")
        self.assertEqual(again.field("ETag"), '"big"')
        self.assertCharges(1)
        self.assertEqual(self.buy(None, "big").body, whole)

    def test_a_large_body(self):
        """Unkeyed it passes whatever its length; keyed up to the limit."""
        body = b"x" * (3 << 20)
        fields = [("Content-Type", "application/octet-stream")]
        answer = self.server.send("POST", "/shop.php?do=length", fields,
                                  body).answer()
        self.assertEqual(answer.body, b"3145728 3145728\n")
        answer = self.server.send(
            "POST", "/shop.php?do=length",
            fields + [("Idempotency-Key", fresh_key())], body).answer()
        self.assertProblem(answer, 413, "tana-katta")

    def test_what_the_shop_is_told(self):
        answer = self.server.send("GET", "/shop.php", [
            ("Idempotency-Key", "k1")]).answer()
        self.assertEqual(answer.body, b"key k1 idem 0\n")

    def test_many_at_once(self):
        key = fresh_key()
        pending = [self.send_buy(key) for _ in range(30)]
        answers = [p.answer() for p in pending]
        self.assertEqual({a.status for a in answers} - {409}, {201})
        self.assertEqual(len({a.body for a in answers if a.status == 201}),
                         1)
        self.assertCharges(1)


class AsItComes:
    """lighttpd collects an answer and takes a connection that closes for its
    end, with the guard or without it."""

    def test_an_answer_without_a_key_streams(self):
        n = len(self.site.waiting()) + 1
        pending = self.send_buy(None, "wait")
        pending.conn.read_until(b"beginning ")
        self.wait_for(n)
        self.site.let_go()
        self.assertIn(b"beginning end ", pending.answer().body)

    def test_an_answer_that_broke_off_does_not_look_whole(self):
        n = len(self.site.waiting()) + 1
        pending = self.send_buy(None, "wait")
        os.kill(self.wait_for(n), signal.SIGKILL)
        with self.assertRaises((ConnectionError, ValueError)):
            self.fail(pending.answer())


class GuardCgi(AsItComes, GuardCases, ShopCase):
    pass


class GuardFpm(AsItComes, GuardCases, ShopCase):
    by_fpm = True

    def test_php_is_not_there_and_comes_back(self):
        key = fresh_key()
        self.fpm.stop()
        for _ in range(2):
            self.assertProblem(self.buy(key), 502, "ilova-ulanmadi")
        self.assertCharges(0)
        self.fpm.start()
        first = self.assertFirst(self.buy(key))
        self.assertReplay(self.buy(key), first)
        self.assertCharges(1)

    def try_until_settled(self, amount):
        """As a client would: the same key until an answer is final."""
        key = fresh_key()

        def attempt():
            answer = self.buy(key, amount=amount)
            free = answer.status == 502 and (
                answer.json["kod"] == "ilova-ulanmadi")
            return None if free else answer
        answer = proc.wait_until(attempt, "an answer")
        return answer if answer.status == 201 else self.buy(
            key, amount=amount)

    def test_php_is_restarted_under_load(self):
        amounts = [uuid.uuid4().hex for _ in range(60)]
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            jobs = [pool.submit(self.try_until_settled, a) for a in amounts]
            proc.wait_until(lambda: sum(job.done() for job in jobs) >= 10,
                            "some of them")
            self.fpm.stop()
            self.fpm.start()
            answers = [job.result() for job in jobs]
        for amount, answer in zip(amounts, answers):
            charged = self.site.charges(amount)
            if answer.status == 201:
                self.assertEqual(charged, 1)
            else:
                self.assertProblem(answer, 409, "idempotentlik-nomalum")
                self.assertLessEqual(charged, 1)
        self.assertGreater(sum(a.status == 201 for a in answers), 40)

    # --- what may run -----------------------------------------------------
    def test_only_scripts_that_the_web_server_let_through(self):
        www = self.site.path("www")
        with open(os.path.join(www, "pic.jpg"), "w", encoding="ascii") as f:
            f.write("<?php echo 'ran';")
        os.symlink(self.site.path("idem.conf"), os.path.join(www, "s.php"))
        for more in ([("REDIRECT_STATUS", None)],
                     [("SCRIPT_FILENAME", www + "/pic.jpg")],
                     [("SCRIPT_FILENAME", www + "/pic.jpg/x.php")],
                     [("SCRIPT_FILENAME", www + "/s.php")],
                     [("SCRIPT_FILENAME", www + "/../run/x.php")],
                     [("SCRIPT_FILENAME", "/etc/passwd")],
                     [("DOCUMENT_ROOT", None)]):
            with self.subTest(more):
                answer = self.server.send("GET", "/shop.php", [],
                                          more=more).answer()
                self.assertStatus(answer, 403)
                self.assertEqual(answer.body, b"403 Forbidden\n")
        # PHP would rather run PATH_TRANSLATED; it is not told
        answer = self.server.send("GET", "/shop.php", [], more=[
            ("PATH_TRANSLATED", www + "/pic.jpg"), ("REDIRECT_URL", "/x"),
            ("PATH_INFO", "/pic.jpg")]).answer()
        self.assertEqual(answer.body, b"key none idem 0\n")


class GuardWorkerDies(ShopCase):
    """The guard's own worker is killed while the shop works."""

    def test_a_held_key_is_not_run_again(self):
        key, n = fresh_key(), len(self.site.waiting()) + 1
        pending = self.send_buy(key, "waitfirst")
        shop = self.wait_for(n)
        self.kill_the_worker(pending)
        self.assertProblem(self.buy(key, "waitfirst"), 409,
                           "idempotentlik-nomalum")
        self.assertTrue(proc.alive(shop))
        self.site.let_go()
        proc.wait_until(lambda: not proc.alive(shop), "the shop to end")
        self.assertCharges(1)
        self.assertProblem(self.buy(key, "waitfirst"), 409,
                           "idempotentlik-nomalum")
        self.assertCharges(1)


class GuardWorkerDiesAndRetries(ShopCase):
    """The same where the owner says that repeating is safe."""
    more = {"IDEM_ON_UNKNOWN": "retry"}

    def test_the_program_dies_with_it_and_the_retry_runs(self):
        key, n = fresh_key(), len(self.site.waiting()) + 1
        pending = self.send_buy(key, "waitfirst")
        shop = self.wait_for(n)
        self.kill_the_worker(pending)
        proc.wait_until(lambda: not proc.alive(shop), "the shop to end")
        again = self.send_buy(key, "waitfirst")
        self.wait_for(n + 1)
        self.assertCharges(0)
        self.site.let_go()
        first = self.assertFirst(again.answer(), 200)
        self.assertReplay(self.buy(key, "waitfirst"), first)
        self.assertCharges(1)


class GuardKeysInForms(ShopCase):
    """The key is what the shop's own page sends, on one route."""
    by_fpm = True
    routes = ("POST /shop.php\n"
              "    IDEM_KEY_FROM=form:nonce\n"
              "    IDEM_WAIT=0\n")

    def submit(self, nonce, amount, do="redirect"):
        body = b"nonce=%s&amount=%s" % (nonce.encode(), amount.encode())
        return self.server.send("POST", "/shop.php?do=" + do, [FORM],
                                body).answer()

    def test_a_double_submit_of_a_form(self):
        first = self.assertFirst(self.submit("n1", self.amount), 303)
        again = self.submit("n1", self.amount)
        self.assertStatus(again, 303)
        self.assertTrue(again.replayed, again)
        self.assertEqual(again.field("Location"), first.field("Location"))
        self.assertCharges(1)
        self.logged('route="POST /shop.php"')

    def test_a_corrected_form_runs(self):
        self.assertFirst(self.submit("n2", "wrong" + self.amount), 303)
        self.assertFirst(self.submit("n2", self.amount), 303)
        self.assertTrue(self.submit("n2", self.amount).replayed)
        self.assertCharges(1)
        self.assertEqual(self.site.charges("wrong" + self.amount), 1)

    def test_an_empty_field_is_no_key(self):
        for n in (1, 2):
            self.assertFirst(self.submit("", self.amount), 303)
            self.assertCharges(n)

    def test_the_header_is_none_here(self):
        key = fresh_key()
        for n in (1, 2):
            self.assertFirst(self.buy(key))
            self.assertCharges(n)

    def test_a_large_body_is_no_shoppers_fault(self):
        body = b"amount=" + self.amount.encode() + b"&x=" + b"x" * (2 << 20)
        for n in (1, 2):
            self.assertFirst(self.server.send(
                "POST", "/shop.php", [FORM], body).answer())
            self.assertCharges(n)


class GuardDoubleClick(ShopCase):
    """Of a double click on a plain form the browser shows the answer to the
    second request: it waits for the first one's, for 25 s by itself."""
    by_fpm = True
    routes = ("POST /shop.php\n"
              "    IDEM_KEY_FROM=form:nonce\n")

    def click(self, do="waitsilent"):
        body = b"nonce=n&amount=" + self.amount.encode()
        return self.server.send("POST", "/shop.php?do=" + do, [
            FORM, ("Sec-Fetch-Mode", "navigate"), ("Accept-Language", "en")],
            body)

    def somebody_waits(self):
        return proc.wait_until(
            lambda: [pid for pid in self.server.workers() if proc.waits(pid)],
            "a waiter")

    def test_the_second_click_gets_the_first_ones_page(self):
        n = len(self.site.waiting())
        first = self.click()
        self.wait_for(n + 1)
        second = self.click()
        self.somebody_waits()
        self.site.let_go()
        page = self.assertFirst(first.answer(), 200)
        again = second.answer()
        self.assertEqual((again.status, again.body), (200, page.body))
        self.assertTrue(again.replayed, again)
        self.assertEqual(again.field("Cache-Control"), "private, no-cache")
        self.assertCharges(1)

    def test_a_page_in_their_language_where_nobody_may_wait_longer(self):
        """The process of the second click is told to stop."""
        n = len(self.site.waiting())
        first = self.click()
        self.wait_for(n + 1)
        second = self.click()
        for pid in self.somebody_waits():
            proc.send_signal(pid, signal.SIGTERM)
        page = self.assertStatus(second.answer(), 409)
        self.assertIn(b'data-kod="idempotentlik-jarayonda"', page.body)
        self.assertEqual(page.field("Content-Language"), "en")
        self.site.let_go()
        self.assertFirst(first.answer(), 200)
        self.assertCharges(1)


class GuardFpmByNumber(ShopCase):
    """php-fpm on a port, and a store that cannot be opened."""
    by_fpm = by_number = True
    environment = {"IDEM_STORE": "/proc/no-store-can-be-here"}

    def test_keyed_requests_wait_for_the_store(self):
        key = fresh_key()
        for _ in range(2):
            self.assertProblem(self.buy(key), 503, "idempotentlik-ombor")
        self.assertCharges(0)

    def test_unkeyed_ones_do_not(self):
        self.assertFirst(self.buy(None))
        self.assertCharges(1)


class GuardFpmOnLighttpd(GuardCases, ShopCase):
    by_fpm = True
    server_class = GuardLighttpd


class GuardCgiOnLighttpd(GuardCases, ShopCase):
    server_class = GuardLighttpd
