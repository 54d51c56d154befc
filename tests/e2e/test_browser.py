"""A person at the shop's plain form: a real Chromium, lighttpd, guard.fcgi
with the shipped preset, php-fpm."""
import unittest
import uuid

from harness import proc
from harness.browser import CHROMIUM, DRIVER, Browser
from test_presets import PresetCase

# The first one's request is out when the second comes; a browser on a busy
# machine needs longer for that, and else sends only the second.
APART_MS = (700, 3000, 9000)


@unittest.skipUnless(CHROMIUM and DRIVER, "NO BROWSER: chromium and "
                     "chromedriver are not installed (make deps)")
class AtTheForm:
    """With PresetCase; see below."""
    language = "en"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            cls.browser = Browser(cls.language)
        except BaseException:
            super().tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        try:
            cls.browser.stop()
        finally:
            super().tearDownClass()

    def open_form(self, do):
        self.browser.visit("http://127.0.0.1:%d/order.php?do=%s&amount=%s" % (
            self.server.port, do, self.amount))
        self.browser.wait_for("document.title === 'Order' && document."
                              "querySelector('input[name=amount]').value === "
                              "'%s'" % self.amount)

    def click_twice(self, do, pause_ms):
        n = len(self.site.waiting()) + 1
        self.open_form(do)
        self.browser.click("button", times=2, pause_ms=pause_ms)
        self.wait_for(n)

    def click_twice_apart(self, do):
        """Two requests, of which the second waits for the first."""
        for pause_ms in APART_MS:
            self.click_twice(do, pause_ms)
            try:
                proc.wait_until(self.second_came, "the second one", 10)
                return
            except AssertionError:
                self.site.let_go()
                self.amount = uuid.uuid4().hex
        self.fail("no second one came")

    def second_came(self):
        return any(proc.waits(pid) for pid in self.server.workers())

    def assertThanked(self):
        """By the shop itself, for the order that it booked."""
        self.browser.wait_for("document.title === 'Thank you'")
        self.assertCharges(1)
        self.assertEqual(self.browser.see("location.pathname"), "/thanks.php")
        self.assertEqual(
            self.browser.see("document.querySelector('b').textContent"),
            str(len(self.site.lines("ledger"))))


class DoubleClick(AtTheForm, PresetCase):
    def test_a_double_click(self):
        self.click_twice("slow", 80)
        self.site.let_go()
        self.assertThanked()

    def test_the_second_is_woken_when_the_first_ends(self):
        self.click_twice_apart("slow")
        self.site.let_go()
        self.assertThanked()

    def test_the_second_takes_over_when_the_first_was_released(self):
        self.click_twice_apart("busy")
        self.assertCharges(0)
        self.site.let_go()
        self.browser.wait_for("document.title === 'Thank you'")
        self.assertThanked()
        self.assertBooked("busy " + self.amount, 1)


class GivesUp(AtTheForm, PresetCase):
    more = dict(PresetCase.more, IDEM_WAIT="1s")
    language = "tr"

    def second_came(self):
        """Its wait is over before the browser tells us anything."""
        return " status=409 " in self.site.log()

    def test_with_a_page_in_the_language_of_the_person(self):
        self.click_twice_apart("slow")
        self.browser.wait_for("document.body.dataset.kod === "
                              "'idempotentlik-jarayonda'")
        self.assertEqual(self.browser.see("document.documentElement.lang"),
                         "tr")
        self.assertEqual(self.browser.see(
            "document.querySelector('h1').textContent"), "İstek işleniyor")
        self.site.let_go()
        proc.wait_until(lambda: self.site.charges(self.amount),
                        "the first one's order")
        self.assertCharges(1)
