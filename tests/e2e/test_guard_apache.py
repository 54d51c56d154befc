"""guard.fcgi behind Apache on a server of one's own, by mod_fcgid and by
mod_proxy_fcgi, with php-fpm behind both."""
import os

from harness.case import fresh_key
from harness.php import GuardFcgid, GuardProxyFcgi
from test_guard import FORM, GuardCases, ShopCase

GUARD = b"403 Forbidden\n"      # Apache's own 403 is a page
RAN = "<?php header('Content-Type: text/plain'); echo 'ran';"


def multipart(boundary, amount, picture):
    """An upload: its type and its body."""
    body = (b'--%s\r\nContent-Disposition: form-data; name="amount"\r\n\r\n'
            b'%s\r\n--%s\r\nContent-Disposition: form-data; name="picture"; '
            b'filename="p.bin"\r\nContent-Type: application/octet-stream\r\n'
            b'\r\n%s\r\n--%s--\r\n' % (boundary, amount.encode(), boundary,
                                       picture, boundary))
    return ("Content-Type", "multipart/form-data; boundary="
            + boundary.decode()), body


class SaysNothing:
    def conf_path(self):
        path = super().conf_path()
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        kept = [line for line in lines if "REDIRECT_STATUS 200" not in line]
        assert len(kept) == len(lines) - 1
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(kept)
        return path


class OnApache(GuardCases):
    by_fpm = True
    links = ['</a>; rel="next", </b>; rel="prev"']   # Apache joins them

    def post(self, target="/shop.php", fields=(), body=b""):
        return self.server.send("POST", target, list(fields), body).answer()

    def write(self, text, *names):
        path = self.site.path("www", *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_a_path_after_the_script(self):
        fields = [FORM, ("Idempotency-Key", fresh_key())]
        body = b"amount=" + self.amount.encode()
        first = self.assertFirst(self.post("/shop.php/orders/7", fields, body))
        self.assertReplay(self.post("/shop.php/orders/7", fields, body), first)
        self.assertCharges(1)

    def test_headers_that_look_like_settings(self):
        """They are HTTP_*, and the key is kept as without them."""
        key = fresh_key()
        spoofed = [("Idem-Anonymous", "refuse"), ("IDEM_METHODS", "GET"),
                   ("Idem-Key-From", "header:X"), ("Idem-Length", "1"),
                   ("REDIRECT_IDEM_LENGTH", "1"), ("Redirect-Status", "404")]
        first = self.assertFirst(self.buy(key, fields=spoofed))
        self.assertReplay(self.buy(key), first)
        self.assertCharges(1)

    # --- what may run -----------------------------------------------------
    def refused(self, target):
        """Whose answer it is."""
        answer = self.post(target, [FORM, ("Idempotency-Key", fresh_key()),
                                    ("Redirect-Status", "200")], b"a=b")
        self.assertStatus(answer, 403)
        self.assertNotIn(b"ran", answer.body)
        return "guard" if answer.body == GUARD else "Apache"

    def test_only_what_apache_let_through(self):
        with open(self.site.path("www", ".htidem.conf"), "wb"):
            pass
        with open(self.site.path("run", "outside.php"), "w",
                  encoding="ascii") as file:
            file.write(RAN)
        os.symlink("../run/outside.php", self.site.path("www", "link.php"))
        os.link(self.site.program, self.site.path("www", "program.php"))
        for target, whose in (("/.htidem.conf", "Apache"),
                              ("/.htidem.conf/x.php", "Apache"),
                              ("/link.php", "guard"),
                              ("/program.php", "guard")):
            with self.subTest(target):
                self.assertEqual(self.refused(target), whose)

    def test_a_folder_that_apache_closed(self):
        self.write(RAN, "closed", "x.php")
        self.write("Require all denied\n", "closed", ".htaccess")
        for target in ("/closed/x.php", "/closed/x.php/more",
                       "/shop/../closed/x.php", "/%63losed/x.php"):
            with self.subTest(target):
                self.assertEqual(self.refused(target), "Apache")

    def test_a_folder_that_lost_phps_handler(self):
        self.write(RAN, "uploads", "x.php")
        for rule in ("SetHandler none", "SetHandler default-handler"):
            self.write('<FilesMatch "\\.php$">\n%s\n</FilesMatch>\n' % rule,
                       "uploads", ".htaccess")
            for method in ("GET", "POST"):
                with self.subTest(rule + " " + method):
                    answer = self.server.send(method, "/uploads/x.php", [
                        FORM], b"a=b").answer()
                    self.assertNotEqual(answer.body, b"ran")

    def test_what_is_no_script_stays_a_file(self):
        self.write(RAN, "pic.jpg")
        for target in ("/pic.jpg", "/pic.jpg/x.php"):
            with self.subTest(target):
                answer = self.post(target, [FORM], b"a=b")
                self.assertNotEqual(answer.body, b"ran")
                self.assertFalse(answer.has("Idempotency-Replayed"), answer)

    def test_no_address_names_the_guard(self):
        for target in ("/guard.fcgi", "/guard.fcgi/shop.php"):
            with self.subTest(target):
                self.assertStatus(self.post(
                    target, [FORM, ("Idempotency-Key", fresh_key())],
                    b"amount=" + self.amount.encode()), 404)
        self.assertCharges(0)

    def test_the_page_of_a_folder(self):
        os.symlink("shop.php", self.site.path("www", "index.php"))
        self.addCleanup(os.remove, self.site.path("www", "index.php"))
        fields = [FORM, ("Idempotency-Key", fresh_key())]
        body = b"amount=" + self.amount.encode()
        first = self.assertFirst(self.post("/", fields, body))
        self.assertReplay(self.post("/", fields, body), first)
        self.assertCharges(1)


class GuardFpmOnFcgid(OnApache, ShopCase):
    server_class = GuardFcgid

    def test_what_can_not_be_keyed_does_without_it(self):
        """The guard would refuse what lies outside the document root."""
        with open(self.site.path("run", "free.php"), "w",
                  encoding="ascii") as file:
            file.write(RAN)
        os.symlink("../run/free.php", self.site.path("www", "free.php"))
        answer = self.server.send("GET", "/free.php").answer()
        self.assertEqual((answer.status, answer.body), (200, b"ran"))
        self.assertEqual(self.refused("/free.php"), "guard")


class GuardFpmOnProxyFcgi(OnApache, ShopCase):
    server_class = GuardProxyFcgi


class NobodySaysSo:
    """The shipped file without its word that Apache led the request here."""
    by_fpm = True

    def test_nothing_runs(self):
        for more in ([], [("Redirect-Status", "200")],
                     [("REDIRECT_STATUS", "200")]):
            with self.subTest(more):
                answer = self.buy(fresh_key(), fields=more)
                self.assertStatus(answer, 403)
                self.assertEqual(answer.body, GUARD)
        self.assertCharges(0)


class FcgidSaysNothing(SaysNothing, GuardFcgid):
    pass


class ProxyFcgiSaysNothing(SaysNothing, GuardProxyFcgi):
    pass


class NobodySaysSoOnFcgid(NobodySaysSo, ShopCase):
    server_class = FcgidSaysNothing


class NobodySaysSoOnProxyFcgi(NobodySaysSo, ShopCase):
    server_class = ProxyFcgiSaysNothing


class LongBodies:
    """Keyed and longer than what mod_fcgid takes by itself."""
    by_fpm = True
    more = {"IDEM_MAX_BODY": "8M", "IDEM_SCOPE": "cookie:PHPSESSID"}

    def upload(self, key, session, boundary, picture):
        kind, body = multipart(boundary, self.amount, picture)
        return self.server.send("POST", "/shop.php", [
            kind, ("Idempotency-Key", key),
            ("Cookie", "PHPSESSID=" + session)], body).answer()

    def test_three_megabytes(self):
        key, picture = fresh_key(), bytes(range(256)) * (3 << 12)
        first = self.assertFirst(self.upload(key, "a", b"one", picture))
        self.assertReplay(self.upload(key, "a", b"one", picture), first)
        self.assertProblem(self.upload(key, "a", b"one", picture + b"x"), 422,
                           "idempotentlik-boshqa-tana")
        self.assertCharges(1)

    def test_all_of_it_reaches_php(self):
        answer = self.server.send("POST", "/shop.php?do=length", [
            ("Content-Type", "application/octet-stream"),
            ("Cookie", "PHPSESSID=a"), ("Idempotency-Key", fresh_key())],
            b"x" * (3 << 20)).answer()
        self.assertEqual(answer.body, b"3145728 3145728\n")

    def test_another_user_with_the_same_key(self):
        key = fresh_key()
        first = self.assertFirst(self.upload(key, "a", b"one", b"p"))
        other = self.assertFirst(self.upload(key, "b", b"one", b"p"))
        self.assertNotEqual(first.body, other.body)
        self.assertReplay(self.upload(key, "a", b"one", b"p"), first)
        self.assertReplay(self.upload(key, "b", b"one", b"p"), other)
        self.assertCharges(2)

    def test_an_upload_with_another_boundary(self):
        key = fresh_key()
        first = self.assertFirst(self.upload(key, "a", b"one", b"\0\r\n--"))
        again = self.upload(key, "a", b"another", b"\0\r\n--")
        self.assertReplay(again, first)
        self.assertCharges(1)


class LongBodiesOnFcgid(LongBodies, ShopCase):
    server_class = GuardFcgid


class LongBodiesOnProxyFcgi(LongBodies, ShopCase):
    server_class = GuardProxyFcgi
