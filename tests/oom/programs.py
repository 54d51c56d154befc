"""The programs with each of their allocations failing once: how they begin,
the operator's commands, and one request of each kind as plain CGI, each in a
process of its own from its first line on."""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import threading

from harness import fcgi
from harness import proc
from harness.php import PHP_CGI, Fpm, Shop
from harness.site import Site, WORKER

from fault import COUNT, FROM, Fault
import proof

JSON = ("Content-Type", "application/json")
FORM = ("Content-Type", "application/x-www-form-urlencoded")
SECONDS = 60
BIG = b'{"matn":"Non","izoh":"' + b"b" * 100000 + b'"}'
BACKEND = """#!/bin/sh
body=$(cat)
printf x >>%s
case $body in
*bad*) printf 'garbage'; exit 0;;
*wait*) cat "$0.go";;
esac
printf 'Status: 201 Created\\r\\nContent-Type: text/plain\\r\\n\\r\\nmade\\n'
"""


# Nobody could write down how it ended, for want of memory that lasted.
BY_HAND = "resolve the key by hand"


def no_memory(text):
    return "memory" in text or "Assertion" in text


class Place:
    """A site whose store lies in memory where that can be had, and is put back
    as it was before each try."""

    def __init__(self, program, settings=None, site_class=Site):
        self.dir = tempfile.mkdtemp(prefix="oom-", dir=proof.memory())
        os.chown(self.dir, WORKER.pw_uid, WORKER.pw_gid)
        os.chmod(self.dir, 0o755)
        self.site = (site_class(settings) if site_class is Shop
                     else site_class(settings, program=program))
        self.fault = Fault(self.site)
        self.store = os.path.join(self.dir, "store")
        self.before = os.path.join(self.dir, "before")

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        self.site.remove()

    def env(self, more=(), armed=False):
        env = dict(self.site.worker_environment(), IDEM_STORE=self.store)
        env.update(more)
        if armed:
            env.update(self.fault.env)
        return env

    def keep(self):
        """What there is now is what every try begins with."""
        shutil.rmtree(self.before, ignore_errors=True)
        if os.path.exists(self.store):
            shutil.copytree(self.store, self.before,
                            ignore=shutil.ignore_patterns("group.*"))
            self.own(self.before)

    def clear(self):
        """What was done outside the store is forgotten."""

    def put_back(self):
        shutil.rmtree(self.store, ignore_errors=True)
        if os.path.exists(self.before):
            shutil.copytree(self.before, self.store)
            self.own(self.store)

    @staticmethod
    def own(folder):
        os.chmod(folder, 0o700)
        for path in [folder] + [os.path.join(folder, name)
                                for name in os.listdir(folder)]:
            os.chown(path, WORKER.pw_uid, WORKER.pw_gid)

    def run(self, argv, env, stdin=b"", worker=True):
        return subprocess.run(
            argv, input=stdin, env=env, capture_output=True, timeout=SECONDS,
            check=False, cwd=self.site.dir,
            **(self.site.as_worker() if worker else {}))

    # --- requests ----------------------------------------------------------
    def ask(self, request, armed=False):
        method, target, fields, body = request
        pairs = fcgi.variables(method, target, fields, body or b"",
                               more=[("REDIRECT_STATUS", "200"),
                                     ("DOCUMENT_ROOT", self.site.path("www")),
                                     ("SCRIPT_FILENAME", self.site.path("www")
                                      + target.partition("?")[0])])
        pairs = [(n, v) for n, v in pairs if n not in ("SCRIPT_NAME",
                                                       "PATH_INFO")]
        pairs.append(("SCRIPT_NAME", target.partition("?")[0]))
        return self.run([self.site.program],
                        self.env(dict(pairs), armed), body or b"")

    def answer(self, request, armed=False):
        """The answer, or None where none came; status and log."""
        done = self.ask(request, armed)
        log = done.stderr.decode("utf-8", "replace")
        if not done.stdout:
            return None, done.returncode, log
        return fcgi.parse_cgi(done.stdout), done.returncode, log

    def check(self):
        done = self.run([self.site.tool("idem"), "check"], self.env())
        return done.returncode == 0 or (
            "idem check: %s" % (done.stdout + done.stderr).decode())


# --- commands ---------------------------------------------------------------
def plain(output):
    return re.sub(rb"\d+", b"#", output)


def command(tally, place, name, argv, stdin=b"", web=False):
    """Exit status and a line that says so, or the same as ever."""
    program = place.site.program if web else place.site.tool("idem")
    argv = [program] + argv

    def once(armed):
        place.put_back()
        shutil.rmtree(place.site.path("run", "copy"), ignore_errors=True)
        return place.run(argv, place.env(armed=armed), stdin, worker=web)

    place.fault.arm(COUNT)
    normal = once(True)
    count = place.fault.ncalls
    if normal.returncode != 0:
        print(name, normal)

    def attempt(mode, n):
        place.fault.arm(mode, n)
        got = once(True)
        place.fault.disarm()
        nfailed = place.fault.nfailed
        same = (got.returncode == normal.returncode
                and plain(got.stdout) == plain(normal.stdout))
        wrong = None
        if not same and got.returncode <= 0:
            wrong = "status %d: %r %r" % (got.returncode, got.stdout[-200:],
                                          got.stderr[-300:])
        elif not same and not no_memory(got.stderr.decode()):
            wrong = "status %d, and no line says why: %r" % (
                got.returncode, got.stderr[-300:])
        again = once(False)
        if plain(again.stdout) != plain(normal.stdout):
            wrong = "the next one: %r %r" % (again.stdout[-300:],
                                             again.stderr[-300:])
        return wrong, same, nfailed

    tally.each(name, count, attempt)


def commands(tally):
    place = Place("tasks.fcgi")
    try:
        for words in (["--version"], ["--help"], ["--check-config"]):
            command(tally, place, "tasks.fcgi " + words[0], words, web=True)
    finally:
        place.remove()
    place = guard_place()
    try:
        for words in (["--version"], ["--help"], ["--check-config"]):
            command(tally, place, "guard.fcgi " + words[0], words, web=True)
        place.answer(pay("done"))
        place.answer(pay("unknown", b"bad=1"))
        place.keep()
        key = ["--key", "unknown"]
        copy = place.site.path("run", "copy")
        for words in (["--version"], ["--help"], ["--check-config"],
                      ["sweep"], ["stats"], ["stats", "--json"], ["check"],
                      ["list"], ["list", "--json"],
                      ["show", "--key", "done"],
                      ["show", "--key", "done", "--json"],
                      ["resolve", "--release"] + key,
                      ["resolve", "--complete", "201", "--header",
                       "Location: /x"] + key,
                      ["copy", copy]):
            command(tally, place, "idem " + " ".join(
                w for w in words if "/" not in w), words)
        command(tally, place, "idem fingerprint", [
            "fingerprint", "--method", "POST", "--target", "/x", "--type",
            "application/json"], BIG)
        command(tally, place, "idem canonical", ["canonical"], BIG)
    finally:
        place.remove()


# --- requests as plain CGI ---------------------------------------------------
def effects_of_tasks(place):
    answer, _, _ = place.answer(("GET", "/vazifalar", [], None))
    return [t["id"] for t in answer.json["vazifalar"]]


def request(tally, place, name, kind, effects):
    """kind: the request, the wanted status, a part of the answer, what the
    effects then are, and whether it is keyed."""
    asked, status, part, wanted, keyed = kind

    def judge(answer, code, log, first):
        """What is wrong with an answer; and was it the right one?"""
        if answer is None:
            return (None if first and (code != 0 or no_memory(log)) and
                    no_memory(log) else "no answer, status %d: %s" % (
                        code, log[-300:])), False
        if answer.status == status:
            return (None if part in answer.body or any(
                part in ("%s: %s" % f).encode() for f in answer.fields)
                    else "lacks %r: %r" % (part, answer)), True
        if first and answer.status in (500, 503):
            kind_of = answer.field("Content-Type") or ""
            return (None if no_memory(log) and (
                "problem+json" in kind_of or "text/html" in kind_of)
                    else "%d without a line: %s" % (
                        answer.status, log[-400:])), False
        return "%r %s" % (answer, log[-300:]), False

    place.put_back()
    place.fault.arm(COUNT)
    wrong, _ = judge(*place.answer(asked, True), False)
    count = place.fault.ncalls
    place.fault.disarm()
    if wrong:
        print(name, "without a failure:", wrong)
        tally.failed += 1
        return

    def attempt(mode, n):
        place.put_back()
        place.clear()
        place.fault.arm(mode, n)
        answer, code, said = place.answer(asked, True)
        wrong, same = judge(answer, code, said, True)
        place.fault.disarm()
        nfailed = place.fault.nfailed
        done = effects(place)
        if same and done != wanted:
            wrong = wrong or "%d, and the effect is %r" % (status, done)
        if not same or keyed and asked[0] == "POST":
            answer, code, log = place.answer(asked)
            again, _ = judge(answer, code, log, False)
            held = (keyed and answer is not None and answer.status == 409
                    and b"outcome-unknown" in answer.body and
                    (done == wanted or mode == FROM and BY_HAND in said))
            tally.held += held
            wrong = wrong or (None if held else again)
            now = effects(place)
            if now != wanted and not held and (keyed or done != wanted):
                wrong = wrong or "after the next try: %r" % (now,)
        checked = place.check()
        return wrong or (None if checked is True else checked), same, nfailed

    tally.each(name, count, attempt)


def task(key, body=b'{"matn":"Non #uy"}', method="POST",
         target="/vazifalar", fields=(JSON,)):
    return (method, target, list(fields) + (
        [("Idempotency-Key", key)] if key else []), body)


TASKS = [
    # name, request, status, part, tasks then, keyed
    ("a new key", (task("new"), 201, b'"teglar":["uy"]', [1, 2], True)),
    ("a replay", (task("old"), 201, b"Idempotency-Replayed: true", [1],
                  True)),
    ("another body", (task("old", b'{"matn":"Suv"}'), 422, b"key-reused",
                      [1], True)),
    ("no key", (task(None), 201, b'"teglar":["uy"]', [1, 2], False)),
    ("a bad key", (task("k k"), 400, b"key-invalid", [1], True)),
    ("wrong values", (task("new", b'{"matn":1}'), 422, b'"maydon":"matn"',
                      [1], True)),
    ("the list", (("GET", "/vazifalar?teg=uy", [], None), 200, b'"id":1,',
                  [1], True)),
    ("one task", (("GET", "/vazifalar/1", [], None), 200, b'"id":1,', [1],
                  True)),
    ("PUT", (task(None, b'{"matn":"Suv"}', "PUT", "/vazifalar/1"), 200,
             b'"matn":"Suv"', [1], True)),
    ("PATCH", (task("p", b'{"bajarildi":true}', "PATCH", "/vazifalar/1"), 200,
               b'"bajarildi":true', [1], True)),
    ("no such page", (("GET", "/x", [], None), 404, b"not-found", [1], True)),
    ("a page for a person", (
        ("GET", "/x", [("Sec-Fetch-Mode", "navigate")], None), 404,
        b'data-kod="topilmadi"', [1], True)),
    ("a large body", (task("new", BIG), 201, b'"id":2,', [1, 2], True)),
]


def tasks_requests(tally):
    place = Place("tasks.fcgi")
    try:
        place.answer(task("old"))
        place.keep()
        for name, kind in TASKS:
            request(tally, place, "CGI, tasks, " + name, kind,
                    effects_of_tasks)
    finally:
        place.remove()


def pay(key, body=b"a=1", target="/pay"):
    return ("POST", target, [FORM] + (
        [("Idempotency-Key", key)] if key else []), body)


def clear(place):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(place.site.path("run", "ledger"))


def guard_place():
    place = Place("guard.fcgi", {"IDEM_ANONYMOUS": "allow",
                                 "IDEM_SCRIPTS": "none"})
    ledger = place.site.path("run", "ledger")
    program = place.site.path("bin", "backend")
    with open(program, "w", encoding="ascii") as file:
        file.write(BACKEND % ledger)
    os.chmod(program, 0o755)
    routes = place.site.path(".htidem.routes")
    with open(routes, "w", encoding="ascii") as file:
        file.write("POST /form*\n    IDEM_KEY_FROM=form:nonce\n")
    os.chmod(routes, 0o644)
    place.site.write_settings(IDEM_BACKEND="cgi:" + program,
                              IDEM_ROUTES=routes)
    place.clear = lambda: clear(place)
    place.ran = lambda: os.path.exists(ledger) and os.path.getsize(ledger)
    return place


GUARD = [
    ("a new key", (pay("new"), 201, b"made", 1, True)),
    ("a replay", (pay("old"), 201, b"Idempotency-Replayed: true", 0, True)),
    ("another body", (pay("old", b"a=2"), 422, b"key-reused", 0, True)),
    ("no key", (pay(None), 201, b"made", 1, False)),
    ("a key in a form", (pay(None, b"nonce=1&a=2", "/form"), 201, b"made", 1,
                         True)),
    ("a large body", (pay("new", b"a=" + b"b" * 200000), 201, b"made", 1,
                      True)),
]


def guard_requests(tally):
    place = guard_place()
    try:
        place.answer(pay("old"))
        place.keep()
        for name, kind in GUARD:
            request(tally, place, "CGI, guard, " + name, kind,
                    lambda place: int(place.ran()))
    finally:
        place.remove()


def php_requests(tally):
    """The shop, by php-cgi and by php-fpm."""
    for fpm in (False, True):
        place = Place("guard.fcgi", {"IDEM_ANONYMOUS": "allow"}, Shop)
        place.clear = lambda place=place: clear(place)
        server = None
        try:
            if fpm:
                server = Fpm(place.site)
                server.start()
            place.site.write_settings(IDEM_BACKEND="fcgi:" + server.where
                                      if fpm else "cgi:" + PHP_CGI)
            buy = ("POST", "/shop.php", [FORM, ("Idempotency-Key", "k")],
                   b"amount=5")
            request(tally, place, "CGI, guard before " + (
                "php-fpm" if fpm else "php-cgi"),
                    (buy, 201, b'{"id":', 1, True),
                    lambda place: place.site.charges("5"))
        finally:
            if server is not None:
                server.stop()
            place.remove()


def conflict(tally):
    """Another process is at work with the key."""
    place = guard_place()
    go = place.site.path("bin", "backend.go")
    os.mkfifo(go)
    os.chmod(go, 0o666)
    place.put_back = place.clear = lambda: None
    asked = pay("wait", b"wait=1")
    first = []
    thread = threading.Thread(
        target=lambda: first.append(place.answer(asked)[0]))
    try:
        thread.start()
        proc.wait_until(place.ran, "the work to begin")
        request(tally, place, "CGI, guard, another one is at work",
                (asked, 409, b"in-progress", 1, True),
                lambda place: int(place.ran()))
        with open(go, "w", encoding="ascii"):
            pass
        thread.join(SECONDS)
        again, _, _ = place.answer(asked)
        if first[0].status != 201 or again.body != first[0].body or (
                place.ran() != 1):
            tally.failed += 1
            print("after all of them: %r %r" % (first, again))
    finally:
        place.remove()


def everything(tally):
    commands(tally)
    tasks_requests(tally)
    guard_requests(tally)
    php_requests(tally)
    conflict(tally)
