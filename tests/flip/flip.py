#!/usr/bin/env python3
"""Breaks data.mdb: makes a store with the real programs, has build/tests/flip
damage it in ROUNDS ways, and shows a part of these to the real programs."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../proof"))

import proof                        # noqa: E402
from proof import BUILD, ROOT       # noqa: E402

ROUNDS = proof.number("ROUNDS", 8192 * 9)
SECONDS = proof.number("SECONDS", 3600)
SEED = proof.seed()
CHUNK = 450         # damaged files that one process of flip tries
KINDS = 9           # of damage, in turn
SHOWN = 3           # of each kind to the real programs
PATIENCE = 10       # seconds for one program
SHORT_EVERY = "12"  # of the fuzzers' inputs a short run cuts one in so many
EDGES = ("request", "values", "files")
COUNTS = ("n", "right", "refused", "died", "hung", "again", "told", "found",
          "bad", "keys")

BACKEND = """#!/bin/sh
echo x >>"$LEDGER"
case $QUERY_STRING in
kill) kill -9 $$ ;;
wait) : >"$LEDGER.begun"; exec sleep 60 ;;
esac
printf 'Content-Type: text/plain\\r\\n\\r\\n'
head -c "${QUERY_STRING:-1}" /dev/zero | tr '\\0' x
"""


class Store:
    """A folder with the store of guard.fcgi and tasks.fcgi, each request a CGI
    process."""

    def __init__(self, folder, store):
        self.folder, self.store = folder, os.path.join(folder, store)
        self.ledger = os.path.join(folder, "ledger")
        self.backend = os.path.join(folder, "backend")

    def env(self, **more):
        return dict({"PATH": os.environ["PATH"], "IDEM_STORE": self.store,
                     "IDEM_ANONYMOUS": "allow", "LEDGER": self.ledger,
                     "IDEM_CONFIG": "/dev/null",
                     "IDEM_BACKEND": "cgi:" + self.backend}, **more)

    def cgi(self, program, key, target, body, **more):
        """What came out, what was said, and the exit status; None: it hung."""
        path, _, query = target.partition("?")
        env = self.env(GATEWAY_INTERFACE="CGI/1.1", REQUEST_METHOD="POST",
                       REQUEST_URI=target, SCRIPT_NAME="", PATH_INFO=path,
                       QUERY_STRING=query, CONTENT_LENGTH=str(len(body)),
                       CONTENT_TYPE="application/json",
                       SERVER_PROTOCOL="HTTP/1.1",
                       HTTP_IDEMPOTENCY_KEY=key, **more)
        return run([os.path.join(BUILD, program)], env, body)

    def idem(self, *args):
        return run([os.path.join(BUILD, "idem")] + list(args), self.env(), b"")

    def effects(self):
        try:
            with open(self.ledger, encoding="ascii") as file:
                return len(file.read()) // 2
        except FileNotFoundError:
            return 0


def run(argv, env, body):
    try:
        return subprocess.run(argv, env=env, input=body, capture_output=True,
                              timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return None


def status(done):
    match = re.match(rb"Status: (\d+)", done.stdout)
    return int(match.group(1)) if match else 0


def snapshot(good, n):
    shutil.copy(os.path.join(good.store, "data.mdb"),
                os.path.join(good.folder, "old.%d" % n))


def killed_in_the_middle(good):
    """A running record whose worker is gone."""
    begun = good.ledger + ".begun"
    process = subprocess.Popen(
        [os.path.join(BUILD, "guard.fcgi")], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, env=good.env(
            GATEWAY_INTERFACE="CGI/1.1", REQUEST_METHOD="POST",
            REQUEST_URI="/k?wait", SCRIPT_NAME="", PATH_INFO="/k",
            QUERY_STRING="wait", CONTENT_LENGTH="0",
            HTTP_IDEMPOTENCY_KEY=str(uuid.uuid4())))
    while not os.path.exists(begun):
        if process.poll() is not None:
            raise SystemExit("flip: the guard ended before its work began")
        time.sleep(0.002)
    process.kill()
    process.wait()
    os.unlink(begun)
    end_backends(good)


def end_backends(good):
    """What the killed guard had started: it works on, by its setting."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as file:
                mine = b"LEDGER=" + good.ledger.encode() in file.read()
            with open("/proc/%s/comm" % pid, encoding="ascii") as file:
                if mine and file.read() == "sleep\n":
                    os.kill(int(pid), 9)
        except OSError:
            pass


def make(good):
    """Records of all states and sizes; (key, target, body, answer) of some."""
    with open(good.backend, "w", encoding="ascii") as file:
        file.write(BACKEND)
    os.chmod(good.backend, 0o755)
    kept = []
    for n in range(60):
        key, target = str(uuid.uuid4()), "/k?%d" % (n * 37 % 40 * 250 + 1)
        done = good.cgi("guard.fcgi", key, target, b"{}")
        if status(done) != 200:
            raise SystemExit("flip: %r" % done)
        kept.append((key, target, b"{}", done.stdout))
        good.cgi("guard.fcgi", str(uuid.uuid4()), "/k?900", b"{}",
                 IDEM_TTL="1s")
        body = b'{"matn":"vazifa %d"}' % n
        if status(good.cgi("tasks.fcgi", str(uuid.uuid4()), "/vazifalar",
                           body)) != 201:
            raise SystemExit("flip: no task was made")
        if n % 10 == 9:
            good.cgi("guard.fcgi", str(uuid.uuid4()), "/k?kill", b"{}")
            snapshot(good, n // 10)
    for _ in range(3):
        killed_in_the_middle(good)
    end = time.monotonic() + 5
    gone = 0
    while gone < 60 and time.monotonic() < end:
        done = good.idem("sweep").stdout
        gone += int(re.search(rb" expired=(\d+)", done).group(1))
        time.sleep(0.05)
    return kept


def bulk(folder, total):
    """flip in pieces until ROUNDS or SECONDS are over."""
    began, at = time.monotonic(), 0
    while at < ROUNDS and time.monotonic() - began < SECONDS:
        n = min(CHUNK, ROUNDS - at)
        # Spread, so that a short run sees all of the meta pages, too.
        start = at if ROUNDS >= 8192 * KINDS else \
            at // CHUNK * CHUNK * (8192 * KINDS // ROUNDS)
        done = subprocess.run(
            [os.path.join(BUILD, "tests/flip"), folder, str(SEED),
             str(start), str(n)], capture_output=True, check=False)
        for line in done.stdout.decode().splitlines():
            if line.startswith("kind\t"):
                cells = line.split("\t")
                sums = total.setdefault(cells[1], dict.fromkeys(COUNTS, 0))
                for name, value in zip(COUNTS, cells[2:]):
                    sums[name] += int(value)
            else:
                print(line)
        if done.returncode not in (0, 1):
            raise SystemExit("flip: %d %s" % (
                done.returncode, done.stderr.decode()))
        at += n
        proof.reached("{:,} damaged files".format(at))


class Shown:
    """A few of them to the real programs."""

    def __init__(self, folder, kept):
        self.store = Store(folder, "real")
        self.kept = kept
        self.n = self.passed = self.hung = self.again = 0

    def one(self, number):
        data = os.path.join(self.store.store, "data.mdb")
        subprocess.run([os.path.join(BUILD, "tests/flip"), self.store.folder,
                        str(SEED), str(number), data], check=True)
        try:
            os.unlink(os.path.join(self.store.store, "lock.mdb"))
        except FileNotFoundError:
            pass
        for args in (["check"], ["list"], ["stats"]):
            self.judge(number, args, self.store.idem(*args), self.told)
        for key, target, body, answer in self.kept[::20]:
            effects = self.store.effects()
            done = self.store.cgi("guard.fcgi", key, target, body)
            again = self.store.effects() > effects
            self.again += again
            self.judge(number, target, done, lambda done, answer=answer,
                       again=again: again or self.replayed(done, answer))
        effects = self.store.effects()
        done = self.store.cgi("guard.fcgi", str(uuid.uuid4()), "/k?7", b"{}")
        self.judge(number, "new", done, lambda done: self.new(
            done, self.store.effects() - effects))

    def judge(self, number, what, done, right):
        self.n += 1
        if done is None:
            self.hung += 1
        elif right(done):
            self.passed += 1
        else:
            print("FAILED damage %d, %s: %r" % (number, what, done))

    def named(self, done):
        return b"store " + self.store.store.encode() in done.stderr or \
            self.store.store.encode() + b"/" in done.stderr

    def told(self, done):
        """Well, or a line that names the store."""
        return done.returncode == 0 or self.named(done)

    def replayed(self, done, answer):
        """The first answer, or none and a line that names the store."""
        if b"\r\nIdempotency-Replayed: true" in done.stdout:
            return done.stdout.partition(b"\r\n\r\n")[2] == \
                answer.partition(b"\r\n\r\n")[2]
        return (done.returncode < 0 or status(done) in (500, 503)) and \
            self.named(done)

    def new(self, done, effects):
        if status(done) == 200:
            return effects == 1
        return effects <= 1 and self.named(done)


def prefixes_of(*argv):
    """How many a program of the unit tests tried; 0: one did not hold."""
    done = subprocess.run([os.path.join(BUILD, "san", argv[0])] +
                          list(argv[1:]), capture_output=True, check=False,
                          cwd=ROOT)
    if done.returncode != 0:
        print((done.stdout[-300:] + done.stderr).decode(errors="replace"))
        return 0
    return int(re.search(rb"(\d+) prefixes", done.stdout).group(1))


def edges():
    """How many prefixes stood against a page that cannot be touched."""
    found = [prefixes_of("test_edge_" + name) for name in EDGES]
    return sum(found) if all(found) else 0


def corpora():
    """How many prefixes of what the fuzzers found."""
    whole = ROUNDS >= 8192 * KINDS
    return prefixes_of("test_fuzz", "1" if whole else SHORT_EVERY)


def say(total, shown):
    head = ("tried", "right", "refused", "ended", "hung", "again", "told",
            "found", "WRONG", "keys")
    print("%-32s" % "" + "".join("%8s" % name for name in head))
    for kind, sums in total.items():
        print("%-32s" % kind + "".join("%8d" % sums[n] for n in COUNTS))
    print("shown to the real programs: %d questions, %d hung, %d done again"
          % (shown.n, shown.hung, shown.again))


def rows(total, shown, prefixes, cut):
    """(what, how often, lost) for the README's table."""
    last = "the whole file as it was earlier"
    damages = {k: v for k, v in total.items() if k != last}
    s = {name: sum(v[name] for v in damages.values()) for name in COUNTS}
    yield ("data.mdb: bits flipped, pages zeroed, swapped or put back as they "
           "were earlier, the file cut short",
           "{n:,} damaged stores | {right:,} answered everything right, "
           "{refused:,} answered 503 where they could not, {died:,} ended the "
           "process with a line; {more:,} questions to the real programs"
           .format(more=shown.n, **s),
           "{wrong}; {keys:,} keys in {again:,} stores, which then count as "
           "new | a page that looks whole had lost them (LMDB's pages have no "
           "checksum): {told:,} of these stores after an error line, "
           "{found:,} more told by idem check; {hung:,} processes hung until "
           "ended".format(wrong="%d wrong answers" % s["bad"] if s["bad"]
                          else "no wrong answer", **s))
    if last in total:
        yield ("data.mdb replaced by an older copy of itself",
               "{n:,} times".format(**total[last]),
               "what came after the copy: its keys count as new, and nothing "
               "can tell")
    yield ("inputs against a page that cannot be touched, every prefix",
           "{:,} prefixes, each at both ends".format(prefixes), "nothing")
    yield ("inputs that the fuzzers found, every prefix, each in a block of "
           "its own length", "{:,} prefixes".format(cut), "nothing")


def main():
    proof.begin("flip", SEED=SEED, ROUNDS=ROUNDS, SECONDS=SECONDS)
    folder = tempfile.mkdtemp(prefix="flip-", dir=proof.memory())
    total = {}
    proof.reached("no damaged file")
    try:
        good = Store(folder, "good")
        kept = make(good)
        for name in ("work", "real"):
            shutil.copytree(good.store, os.path.join(folder, name))
        bulk(folder, total)
        shown = Shown(folder, kept)
        for n in range(SHOWN * KINDS):
            shown.one(n % KINDS + KINDS * (SEED % 8192 + n // KINDS * 101))
    finally:
        if any(sums["bad"] for sums in total.values()):
            proof.keep(folder)
            print("flip: one of these again: %s/tests/flip %s %d NUMBER 1"
                  % (BUILD, folder, SEED))
        else:
            shutil.rmtree(folder, ignore_errors=True)
    prefixes, cut = edges(), corpora()
    say(total, shown)
    bad = sum(sums["bad"] for sums in total.values())
    failed = bad + shown.n - shown.passed - shown.hung + (prefixes == 0) + (
        cut == 0)
    tried = sum(sums["n"] for sums in total.values())
    proof.write_rows("flip", (row + ("make flip",) for row in
                              rows(total, shown, prefixes, cut)))
    return proof.end("flip", tried + shown.n + 2 - failed, failed)


if __name__ == "__main__":
    sys.exit(proof.run("flip", main))
