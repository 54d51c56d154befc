"""What the shipped server files promise beyond carrying requests: the variant
in a comment, who is asking, and files that nobody may fetch."""
import base64
import hashlib
import os

from harness import http
from harness.case import JSON, OwnSiteCase, ServerCase, fresh_key, on
from harness.servers import (ApacheCgi, ApacheFcgid, ApacheProxy, Lighttpd,
                             SocketVariant)
from harness.site import ROOT


def basic(user):
    text = base64.b64encode((user + ":" + user).encode()).decode()
    return ("Authorization", "Basic " + text)


class LighttpdWithASocket(ServerCase):
    server_class = SocketVariant

    @classmethod
    def tearDownClass(cls):
        try:
            cls.server.stop()
            cls.server.backend.stop()
        finally:
            cls.server.destroy()
            cls.site.remove()

    def test_first_and_replay(self):
        key = fresh_key()
        first = self.assertFirst(self.post({"matn": "rozetka"}, key))
        self.assertReplay(self.post({"matn": "rozetka"}, key), first)

    def test_a_restart_leaves_the_workers_alone(self):
        before = self.server.workers()
        key = fresh_key()
        first = self.assertFirst(self.post({"matn": "qayta"}, key))
        self.server.stop()
        self.server.start()
        self.assertReplay(self.post({"matn": "qayta"}, key), first)
        self.assertEqual(self.server.workers(), before)


AUTH = """
LoadModule auth_basic_module ${modules}/mod_auth_basic.so
LoadModule authn_core_module ${modules}/mod_authn_core.so
LoadModule authn_file_module ${modules}/mod_authn_file.so
LoadModule authz_user_module ${modules}/mod_authz_user.so
<Location "/">
	AuthType Basic
	AuthName "vazifalar"
	AuthUserFile "${SITE_DIR}/users"
	Require valid-user
</Location>
"""


class SignedIn(OwnSiteCase):
    """Apache asks for the password; REMOTE_USER is who asks."""

    def with_users(self, server_class):
        """server_class on a file that includes the shipped one."""
        with open(self.site.path("users"), "w", encoding="ascii") as file:
            for user in ("ali", "vali"):
                digest = hashlib.sha1(user.encode()).digest()
                file.write("%s:{SHA}%s\n" % (
                    user, base64.b64encode(digest).decode()))
        path = self.site.path("httpd-auth.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write('Include "%s"\n%s' % (
                os.path.join(ROOT, server_class.conf), AUTH))
        return type("SignedIn" + server_class.__name__, (server_class,),
                    {"conf_path": lambda _: path})

    def test_two_users_do_not_meet(self):
        for server_class in (ApacheFcgid, ApacheProxy, ApacheCgi):
            with self.subTest(server=server_class.name):
                self.start(self.with_users(server_class))
                self.two_users()
                self.server.stop()
                self.server = None

    def two_users(self):
        key = fresh_key()
        ali = self.assertFirst(self.post({"matn": "ali"}, key,
                                         [basic("ali")]))
        vali = self.assertFirst(self.post({"matn": "vali"}, key,
                                          [basic("vali")]))
        self.assertNotEqual(ali.json["id"], vali.json["id"])
        self.assertReplay(self.post({"matn": "ali"}, key, [basic("ali")]),
                          ali)
        self.assertStatus(self.post({"matn": "ali"}, key), 401)
        wrong = ("Authorization", basic("ali")[1][:-4] + "AAAA")
        self.assertStatus(self.post({"matn": "ali"}, key, [wrong]), 401)

    def test_remote_user_counts_before_authorization(self):
        """The same user with another scheme is the same user."""
        self.start(self.with_users(ApacheFcgid))
        key = fresh_key()
        first = self.assertFirst(self.post({"matn": "x"}, key,
                                           [basic("ali")]))
        run = self.site.idem("stats", check=True)
        self.assertIn(b"done                       1", run.stdout)
        self.assertReplay(self.post({"matn": "x"}, key, [basic("ali")]),
                          first)


class Hidden(OwnSiteCase):
    """Settings files are called .ht* and nobody may fetch them."""

    def test_a_settings_file_in_the_document_root(self):
        for server_class in (Lighttpd, ApacheFcgid):
            with open(self.site.path("www", ".htidem.conf"), "w",
                      encoding="ascii") as file:
                file.write("IDEM_TTL=77h\n")
            self.start(server_class)
            for target in ("/.htidem.conf", "/x/.htidem.conf"):
                got = self.get(target)
                self.assertIn(got.status, (403, 404))
                self.assertNotIn(b"77h", got.body)
            self.server.stop()
            self.server = None


@on(Lighttpd, ApacheFcgid, ApacheProxy, ApacheCgi, settings={
    "IDEM_MAX_BODY": "4M"})
class LargeBodies:
    """Whole, or refused; never cut short without a word."""

    def test_a_body_of_a_megabyte(self):
        """Over the 131,072 bytes that mod_fcgid takes where nothing else is
        said."""
        key = fresh_key()
        body = b'{"matn":"katta"' + b" " * 1000000 + b"}"
        first = self.assertFirst(self.post(body, key))
        self.assertReplay(self.post(body, key), first)

    def test_over_the_programs_limit(self):
        body = b'{"matn":"katta"' + b" " * (5 << 20) + b"}"
        got = self.post(body, fresh_key())
        self.assertProblem(got, 413, "tana-katta")

    def test_over_the_servers_limit(self):
        tag = self.fresh_tag()
        body = self.body({"matn": "#" + tag}) + b" " * (9 << 20)
        key = fresh_key()
        self.assertStatus(self.post(body, key), 413)
        got = self.post(b"", key, pieces=[body[:100000], body[100000:]])
        self.assertIn(got.status, (413, 500), got)
        self.assertTasks(tag, 0)
        self.assertFirst(self.post({"matn": "#" + tag}, key))

    def test_the_client_leaves_inside_its_body(self):
        """A part of a body is no request, however it arrives."""
        body = self.body({"matn": "yarim " + "x" * 400})
        for size in (0, 1, len(body) - 1):
            for leave in ("half_close", "close", "reset"):
                key, tag = fresh_key(), self.fresh_tag()
                body = self.body({"matn": "%s #%s" % ("x" * 400, tag)})
                conn = http.Connection(self.server.port)
                head = http.head_of("POST", "/vazifalar", [
                    ("Host", "x"), JSON, ("Idempotency-Key", key),
                    ("Content-Length", str(len(body)))])
                conn.send(head + body[:size])
                getattr(conn, leave)()
                if leave == "half_close":
                    self.read_refusal(conn)
                self.assertTasks(tag, 0)
                self.assertFirst(self.post(body, key))

    def read_refusal(self, conn):
        """The server may say what it thinks of that, or just hang up."""
        try:
            self.assertGreaterEqual(conn.answer().status, 400)
        except ConnectionError:
            pass
        conn.close()
