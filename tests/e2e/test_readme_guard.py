"""What README tells a shop's owner to copy, as it stands there: the settings,
the routes and the lines for a lighttpd that runs already."""
import os
import re
import subprocess
import uuid

from harness.case import fresh_key, start_all
from harness.php import Fpm, GuardLighttpd, Shop
from harness.site import AS_ROOT, ROOT
from test_guard import FORM, ShopCase

BEGINS = "## Protect an application that you do not want to change\n"
RUNS_ALREADY = """\
server.bind = "127.0.0.1"
server.port = env.SITE_PORT
server.username = env.SITE_USER
server.groupname = env.SITE_GROUP
server.document-root = env.SITE_DIR + "/www"
server.errorlog = env.SITE_DIR + "/log/error.log"
static-file.exclude-extensions = ( ".php" )
"""
# Where README's places lie in a site.
PLACES = (("/etc/idem", "etc"), ("/var/lib/idem", "store"),
          ("/var/log/lighttpd", "log"), ("/run/lighttpd", "run"),
          ("/usr/local/lib/idem", "bin"),
          ("/run/php/php8.2-fpm.sock", "run/fpm.sock"))


def block(begin):
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        section = file.read().partition(BEGINS)[2].partition("\n## ")[0]
    return next(text for text in re.split(r"^```\n", section, flags=re.M)[1::2]
                if text.startswith(begin))


class CopyingShop(Shop):
    def here(self, text):
        for place, name in PLACES:
            text = text.replace(place, self.path(name))
        return text if AS_ROOT else text.replace("-o www-data -g www-data",
                                                 "")


class Copied(GuardLighttpd):
    max_procs = 8

    def conf_path(self):
        path = self.site.path("lighttpd.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(RUNS_ALREADY + self.site.here(block("server.")))
        return path


class ReadmeGuard(ShopCase):
    @classmethod
    def setUpClass(cls):
        cls.site = CopyingShop()
        os.rename(cls.site.path("www", "shop.php"),
                  cls.site.path("www", "checkout.php"))
        subprocess.run(["sh", "-e"], check=True, text=True,
                       input=cls.site.here(block("install")))
        cls.fpm, cls.server = Fpm(cls.site), Copied(cls.site)
        start_all(cls.site, cls.fpm, cls.server)

    def submit(self, token=None, key=None, amount=None, do="redirect",
               session="s1"):
        body = "order_token=%s&amount=%s" % (token or "",
                                             amount or self.amount)
        fields = [FORM, ("Cookie", "PHPSESSID=" + session)]
        if key:
            fields.append(("Idempotency-Key", key))
        return self.server.send("POST", "/checkout.php?do=" + do, fields,
                                body.encode())

    def test_a_header(self):
        key = fresh_key()
        first = self.assertFirst(self.submit(key=key, do="").answer())
        self.assertReplay(self.submit(key=key, do="").answer(), first)
        self.assertCharges(1)

    def test_a_token_of_the_page(self):
        token = uuid.uuid4().hex
        first = self.assertFirst(self.submit(token).answer(), 303)
        again = self.assertStatus(self.submit(token).answer(), 303)
        self.assertTrue(again.replayed, again)
        self.assertEqual(again.field("Location"), first.field("Location"))
        self.assertCharges(1)

    def test_a_corrected_form(self):
        token = uuid.uuid4().hex
        wrong = self.amount + "0"
        self.assertFirst(self.submit(token, amount=wrong).answer(), 303)
        self.assertFirst(self.submit(token).answer(), 303)
        self.assertCharges(1)
        self.assertEqual(self.site.charges(wrong), 1)

    def test_neither(self):
        for n in (1, 2):
            self.assertFirst(self.submit().answer(), 303)
            self.assertCharges(n)

    def test_another_session(self):
        token = uuid.uuid4().hex
        self.assertFirst(self.submit(token).answer(), 303)
        self.assertFirst(self.submit(token, session="s2").answer(), 303)
        self.assertCharges(2)

    def test_the_second_click_waits(self):
        token, n = uuid.uuid4().hex, len(self.site.waiting()) + 1
        first = self.submit(token, do="waitsilent")
        self.wait_for(n)
        second = self.submit(token, do="waitsilent")
        self.site.let_go()
        page = self.assertFirst(first.answer(), 200)
        self.assertEqual(second.answer().body, page.body)
        self.assertCharges(1)
