"""apache/shared-hosting, on Apache with mod_fcgid and suexec: one charge an
intent, and nothing runs that the web server's own rules keep from running."""
import json
import os
import socket
import subprocess
import unittest
import uuid

from harness import proc
from harness.case import fresh_key
from harness.hosting import (CUSTOMER, POSSIBLE, SAYS_BY_WHAT, CustomerFpm,
                             Home, SharedHost)
from test_guard import FORM, ShopCase

MOST = 131072       # bytes of a body
SCRIPT = SAYS_BY_WHAT + """
file_put_contents(dirname($_SERVER['DOCUMENT_ROOT']) . '/run/ran', "ran\\n",
    FILE_APPEND);
echo 'ran';
"""
GUARDED, HOSTED = "cgi-fcgi", "fpm-fcgi"    # PHP's names for itself


class HostCase(ShopCase):
    server_class = SharedHost

    @classmethod
    def setUpClass(cls):
        cls.site = Home()
        cls.fpm, cls.server = CustomerFpm(cls.site), cls.server_class(cls.site)
        try:
            cls.prepare()
            cls.fpm.start()
            cls.server.start()
        except BaseException:
            cls.server.destroy()
            cls.fpm.destroy()
            cls.site.remove()
            raise

    @classmethod
    def prepare(cls):
        """What else there is in the home."""

    def assertRunBy(self, what, answer):
        self.assertEqual(answer.field("X-Run-By"), what, answer)


class Customer(HostCase):
    def send_buy(self, key, do="", fields=(), amount=None, page="checkout.php",
                 token="", filler=0, session="s1"):
        body = "order_token=%s&amount=%s" % (token, amount or self.amount)
        body += "&x=" + "x" * (filler - len(body) - 3) if filler else ""
        every = [FORM, ("Cookie", "PHPSESSID=" + session)] + list(fields)
        if key is not None:
            every.append(("Idempotency-Key", key))
        return self.server.send("POST", "/%s?do=%s" % (page, do), every,
                                body.encode())


@unittest.skipUnless(POSSIBLE, "needs root and suexec")
class LimitStays(Customer):
    """The host's LimitRequestBody, where .htaccess does not lift it: mod_fcgid
    hands on an empty body, and IDEM_LENGTH gives that away."""

    @classmethod
    def prepare(cls):
        with open(cls.site.path("www", ".htaccess"), encoding="utf-8") as file:
            text = file.read()
        cls.site.write(text.replace("LimitRequestBody 0\n", ""),
                       "www", ".htaccess")

    def test_an_empty_body_is_not_taken_for_the_one_announced(self):
        answer = self.buy(fresh_key(), filler=100001)
        self.assertProblem(answer, 503, "tana-chala")
        self.assertCharges(0)


@unittest.skipUnless(POSSIBLE, "needs root and suexec")
class SharedHosting(Customer):
    def test_a_retry(self):
        key = fresh_key()
        first = self.assertFirst(self.buy(key))
        again = self.buy(key)
        self.assertReplay(again, first)
        self.assertCharges(1)

    def test_who_runs_what(self):
        self.assertFirst(self.buy(fresh_key()))
        for pid in self.server.workers():
            self.assertEqual(os.stat("/proc/%d" % pid).st_uid,
                             CUSTOMER.pw_uid)
        self.assertTrue(self.server.workers())
        store = os.stat(self.site.path("idem", "store"))
        self.assertEqual((store.st_uid, store.st_mode & 0o777),
                         (CUSTOMER.pw_uid, 0o700))
        ledger = os.stat(self.site.path("run", "ledger"))
        self.assertEqual(ledger.st_mode & 0o777, 0o644)

    def test_the_command_beside_its_settings(self):
        """As the panel's cron runs it: with no environment to speak of."""
        self.assertFirst(self.buy(fresh_key()))
        idem = self.site.path("idem", "idem")
        for args in (["sweep", "--quiet"], ["stats", "--json"]):
            run = subprocess.run([idem] + args, env={}, cwd="/", check=True,
                                 capture_output=True, user=CUSTOMER.pw_uid,
                                 group=CUSTOMER.pw_gid, extra_groups=[])
        self.assertGreater(json.loads(run.stdout)["done"], 0)

    def test_a_lost_answer(self):
        key, n = fresh_key(), len(self.site.waiting()) + 1
        pending = self.send_buy(key, "waitsilent")
        self.wait_for(n)
        pending.leave()
        self.site.let_go()
        answer = proc.wait_until(lambda: self.settled(key), "the first's end")
        self.assertStatus(answer, 200)
        self.assertTrue(answer.replayed, answer)
        self.assertTrue(answer.body.startswith(b"end "), answer)
        self.assertCharges(1)

    def settled(self, key):
        answer = self.buy(key, "waitsilent")
        return answer if answer.status != 409 else None

    def test_a_form_that_is_sent_twice(self):
        token = uuid.uuid4().hex
        first = self.assertFirst(self.buy(None, "redirect", token=token), 303)
        again = self.buy(None, "redirect", token=token)
        self.assertStatus(again, 303)
        self.assertTrue(again.replayed, again)
        self.assertEqual(again.field("Location"), first.field("Location"))
        self.assertCharges(1)

    def test_another_session(self):
        key = fresh_key()
        self.assertFirst(self.buy(key))
        self.assertFirst(self.buy(key, session="s2"))
        self.assertCharges(2)

    def test_other_pages_are_the_web_servers(self):
        """With a key, too; and any GET without one."""
        with open(self.site.path("www", "checkout.php"),
                  encoding="utf-8") as file:
            self.site.write(file.read(), "www", "other.php")
        key = fresh_key()
        self.assertRunBy(GUARDED, self.buy(key))
        for n in (2, 3):
            answer = self.assertFirst(self.buy(key, page="other.php"))
            self.assertRunBy(HOSTED, answer)
            self.assertCharges(n)
        answer = self.server.send("GET", "/checkout.php").answer()
        self.assertEqual(answer.body, b"key none idem 0\n")
        self.assertRunBy(HOSTED, answer)

    def test_a_folder_without_php(self):
        """Its owner took the handler away; no rule leads to the guard."""
        self.site.write('<FilesMatch "\\.php$">\nSetHandler None\n'
                        '</FilesMatch>\n', "www", "uploads", ".htaccess")
        self.site.write(SCRIPT, "www", "uploads", "x.php")
        answer = self.buy(fresh_key(), page="uploads/x.php")
        self.assertTrue(answer.body.startswith(b"<?php\n"), answer)
        self.assertEqual(self.site.lines("ran"), [])

    def test_the_longest_body(self):
        key = fresh_key()
        first = self.assertFirst(self.buy(key, filler=MOST))
        self.assertReplay(self.buy(key, filler=MOST), first)
        self.assertCharges(1)

    def test_a_body_that_breaks_off(self):
        key = fresh_key()
        head = (b"POST /checkout.php HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/x-www-form-urlencoded\r\n"
                b"Cookie: PHPSESSID=s1\r\n"
                b"Idempotency-Key: %s\r\nContent-Length: 80000\r\n\r\n"
                b"amount=%s&x=" % (key.encode(), self.amount.encode()))
        with socket.create_connection(("127.0.0.1", self.server.port)) as s:
            s.sendall(head)
            s.shutdown(socket.SHUT_WR)
            self.assertIn(b" 500 ", s.recv(4096))
        self.assertCharges(0)
        self.assertFirst(self.buy(key))
        self.assertCharges(1)

    def test_a_longer_body_with_a_key(self):
        self.assertStatus(self.buy(fresh_key(), filler=MOST + 1), 413)
        self.assertCharges(0)

    def test_a_longer_body_without_one(self):
        """As before: PHP gets all of it, each time."""
        token = uuid.uuid4().hex
        for n in (1, 2):
            self.assertRunBy(HOSTED, self.assertFirst(
                self.buy(None, filler=MOST + 1, token=token)))
            self.assertCharges(n)


# A rule for every script, which leaves it to the guard what may run.
EVERY_SCRIPT = """
RewriteCond %{REQUEST_URI} !/guard\\.fcgi
RewriteCond %{REQUEST_FILENAME} -f
RewriteRule ^(.+\\.php)(/.*)?$ guard.fcgi/$1$2 [L]
"""
GUARD = b"403 Forbidden\n"      # its own words; Apache's are longer


@unittest.skipUnless(POSSIBLE, "needs root and suexec")
class WaysAround(HostCase):
    @classmethod
    def prepare(cls):
        site = cls.site
        with open(site.path("www", ".htaccess"), encoding="utf-8") as file:
            site.write(file.read() + EVERY_SCRIPT, "www", ".htaccess")
        site.write("Require all denied\n", "www", "admin", ".htaccess")
        site.write('<Files "*.php">\nRequire all denied\n</Files>\n',
                   "www", "uploads", ".htaccess")
        for name in ("free.php", "admin/x.php", "uploads/x.php",
                     "uploads/pic.jpg"):
            site.write(SCRIPT, "www", *name.split("/"))
        site.write(SCRIPT, "idem", "outside.php")
        for name, to in (("outside.php", "../idem/outside.php"),
                         ("idem", "../idem"), ("picture.php",
                                               "uploads/pic.jpg"),
                         ("wrapper.php", "guard.fcgi"), ("rooms", "admin")):
            os.symlink(to, site.path("www", name))
        os.link(site.program, site.path("www", "program.php"))
        site.own("www")

    def refused(self, target, fields=()):
        """Whose answer it is, to a GET and to a POST with a key."""
        words = set()
        for method, more, body in (
                ("GET", [], None),
                ("POST", [FORM, ("Idempotency-Key", fresh_key())], b"a=b")):
            answer = self.server.send(method, target, list(fields) + more,
                                      body).answer()
            self.assertEqual(answer.status, 403, (target, answer))
            words.add("guard" if answer.body == GUARD else "Apache")
        self.assertEqual(self.site.lines("ran"), [], target)
        return words

    def test_by_the_rewritten_path(self):
        for target, whose in (
                ("/admin/x.php", "Apache"),
                ("/admin/x.php/more", "Apache"),
                ("/free/../admin/x.php", "Apache"),
                ("/%61dmin/%2e%2e/admin/x.php", "Apache"),
                ("/rooms/x.php", "Apache"),
                ("/uploads/x.php", "Apache"),
                ("/uploads/pic.jpg/x.php", "guard"),
                ("/picture.php", "guard"),
                ("/outside.php", "guard"),
                ("/idem/outside.php", "guard"),
                ("/wrapper.php", "guard"),
                ("/program.php", "guard")):
            with self.subTest(target):
                self.assertEqual(self.refused(target), {whose})

    def test_by_the_direct_path(self):
        """Nothing at all runs there, an open page neither."""
        for path in ("/free.php", "/checkout.php", "/admin/x.php",
                     "/rooms/x.php", "/uploads/x.php", "/uploads/pic.jpg",
                     "/uploads/pic.jpg/x.php", "/picture.php", "/outside.php",
                     "/idem/outside.php", "/wrapper.php", "/program.php",
                     "/guard.fcgi", "/guard.fcgi/free.php", "/", ""):
            with self.subTest(path):
                self.assertEqual(self.refused("/guard.fcgi" + path),
                                 {"guard"})

    def test_steps_up_by_the_direct_path(self):
        """Apache takes them first: what is left is another path."""
        for target, whose in (
                ("/guard.fcgi/../admin/x.php", "Apache"),
                ("/guard.fcgi/%2e%2e/admin/x.php", "Apache"),
                ("/guard.fcgi/a/../free.php", "guard"),
                ("/guard.fcgi/a/.%2e/admin/x.php", "guard")):
            with self.subTest(target):
                self.assertEqual(self.refused(target), {whose})

    def test_a_header_is_not_the_web_servers_word(self):
        for name in ("REDIRECT_STATUS", "Redirect-Status",
                     "Idem-Scripts", "SCRIPT_FILENAME"):
            with self.subTest(name):
                self.assertEqual(self.refused("/guard.fcgi/free.php", [
                    (name, "200")]), {"guard"})

    def test_what_is_open_runs(self):
        self.addCleanup(os.remove, self.site.path("run", "ran"))
        for n, target in enumerate(("/free.php", "/free.php/more",
                                    "/a/../free.php")):
            answer = self.server.send("POST", target, [FORM], b"").answer()
            self.assertEqual((answer.status, answer.body), (200, b"ran"))
            self.assertRunBy(GUARDED, answer)
            self.assertEqual(len(self.site.lines("ran")), n + 1)
