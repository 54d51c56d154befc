"""The tests' base: a server for each class, requests in one line, and the
server's log under a test that failed."""
import json
import sys
import unittest
import uuid

from . import proc
from .servers import Direct
from .site import Site

JSON = ("Content-Type", "application/json")
LOG_LINES = 30


def fresh_key():
    return str(uuid.uuid4())


def start_all(site, *servers):
    """Start each; where one does not, none is left, nor their site."""
    try:
        for server in servers:
            server.start()
            if isinstance(server, Direct):      # there is a store then
                server.until_ready(server.nworkers or 1)
    except BaseException:
        for server in servers:
            server.destroy()
        site.remove()
        raise


class ServerCase(unittest.TestCase):
    """One server for all tests of a class; they share no key and no tag."""
    server_class = Direct
    settings = {}
    base = ""

    @classmethod
    def setUpClass(cls):
        cls.site = Site(cls.settings, base=cls.base)
        cls.furnish(cls.site)
        cls.server = cls.server_class(cls.site)
        start_all(cls.site, cls.server)

    @classmethod
    def furnish(cls, site):
        """What else there is before the server starts."""

    @classmethod
    def tearDownClass(cls):
        try:
            cls.server.stop()
        finally:
            cls.site.remove()

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        self.log_before = len(self.log_text())
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            lines = self.log_text()[self.log_before:].splitlines()
            sys.stderr.write("--- log during %s\n%s\n---\n" % (
                self.id(), "\n".join(lines[-LOG_LINES:])))
        return result

    def log_text(self):
        site = getattr(self, "site", None)
        return site.log() if site is not None else ""

    # --- requests ---------------------------------------------------------
    def request(self, method, target, fields=(), body=None, **more):
        return self.server.request(method, target, fields, body, **more)

    def post(self, task, key=None, fields=(), target="/vazifalar", **more):
        """POST a task: a dict, or the bytes of a body."""
        return self.request("POST", target, self.fields(key, fields),
                            self.body(task), **more)

    def send_post(self, task, key=None, fields=(), target="/vazifalar"):
        return self.server.send("POST", self.base + target,
                                self.fields(key, fields), self.body(task))

    @staticmethod
    def body(task):
        return task if isinstance(task, bytes) else json.dumps(task).encode()

    @staticmethod
    def fields(key, fields):
        every = list(fields)
        if not any(n.lower() == "content-type" for n, _ in every):
            every.append(JSON)
        if key is not None:
            every.append(("Idempotency-Key", key))
        return every

    def get(self, target, fields=()):
        return self.request("GET", target, fields)

    def running(self):
        """How many records are running, as the operator's command sees it;
        0 while there is no store."""
        run = self.site.idem("stats", "--json")
        return json.loads(run.stdout)["running"] if run.stdout else 0

    # --- what there is ----------------------------------------------------
    def fresh_tag(self):
        return "t" + uuid.uuid4().hex

    def tasks(self, tag):
        got = self.get("/vazifalar?soni=200&teg=" + tag)
        self.assertEqual(got.status, 200, got)
        return got.json["vazifalar"]

    def assertTasks(self, tag, n):
        self.assertEqual(len(self.tasks(tag)), n, "tasks with #" + tag)

    # --- what came --------------------------------------------------------
    def logged(self, *words):
        """A line with all of these words; its text.  A server may write it
        later than the answer."""
        def line():
            return [line for line in self.site.log().splitlines()
                    if all(word in line for word in words)]
        try:
            return proc.wait_until(line, "in the log")[-1]
        except AssertionError:
            self.fail("no line with %r in\n%s" % (
                words, self.site.log()[-4000:]))

    def assertStatus(self, answer, status):
        self.assertEqual(answer.status, status, answer)
        return answer

    def assertFirst(self, answer, status=201):
        self.assertStatus(answer, status)
        self.assertFalse(answer.has("Idempotency-Replayed"), answer)
        return answer

    def assertReplay(self, answer, first):
        """The same answer again: status and bytes, and marked."""
        self.assertEqual((answer.status, answer.body),
                         (first.status, first.body))
        self.assertEqual(answer.field("Idempotency-Replayed"), "true", answer)
        for name in ("Location", "Content-Type", "ETag", "Content-Language"):
            self.assertEqual(answer.field(name), first.field(name), name)
        self.assertEqual(answer.field("Cache-Control"), "no-store", answer)

    def assertProblem(self, answer, status, kod):
        self.assertStatus(answer, status)
        self.assertEqual(answer.field("Content-Type"),
                         "application/problem+json", answer)
        self.assertEqual(answer.json["kod"], kod)
        self.assertEqual(answer.json["status"], status)
        self.assertFalse(answer.has("Idempotency-Replayed"), answer)
        return answer


class OwnSiteCase(ServerCase):
    """A site for each test, which starts its server when it wants."""

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        self.site = Site(self.settings)
        self.furnish(self.site)
        self.server = None

    def tearDown(self):
        try:
            if self.server is not None:
                self.server.stop()
        finally:
            self.last_log = self.site.log()
            self.site.remove()

    def start(self, server_class=None):
        self.server = (server_class or self.server_class)(self.site)
        self.server.start()

    def log_text(self):
        return getattr(self, "last_log", "")


def on(*servers, **attributes):
    """Make a class of tests out of a class of cases for each server."""
    def decorate(cases):
        module = sys.modules[cases.__module__]
        for server in servers:
            name = "%sOn%s" % (cases.__name__, server.__name__)
            made = type(name, (cases, ServerCase), dict(
                attributes, server_class=server,
                __module__=cases.__module__))
            setattr(module, name, made)
        return cases
    return decorate
