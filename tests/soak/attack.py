"""Clients that mean harm or are merely slow: garbage, halves and silence, to
the web servers and straight to the workers' socket."""
import random
import socket
import threading
import time

import garbage
from harness import fcgi, http

GIVE_UP = 30        # seconds with a peer that does not hang up
PACE = 1.0          # between two bytes of a slow client


class Attacker(threading.Thread):
    """One of them; what it saw is read when it has ended."""

    def __init__(self, soak, number):
        super().__init__(daemon=True)
        self.soak = soak
        self.number = number
        self.rng = random.Random("%s-%s-%d" % (
            soak.seed, type(self).__name__, number))
        self.stop = soak.stopping
        self.times = {}         # what it did -> how often
        self.effects = 0
        self.wrong = []
        self.held_s, self.held_by = 0.0, "nothing"

    def run(self):
        while not self.stop.is_set():
            try:
                self.once()
            except Exception as err:    # it must not end unseen
                self.wrong.append("%s: %r" % (type(self).__name__, err))
                return

    def once(self):
        raise NotImplementedError

    def count(self, what):
        self.times[what] = self.times.get(what, 0) + 1

    def until_closed(self, sock, seconds=GIVE_UP):
        """Everything that comes; None: it was not closed in time."""
        data, end = b"", time.monotonic() + seconds
        sock.settimeout(0.5)
        while time.monotonic() < end:
            try:
                part = sock.recv(65536)
            except (ConnectionResetError, BrokenPipeError):
                return data
            except socket.timeout:
                continue
            if not part:
                return data
            data += part
        return None

    def drip(self, sock, data):
        """A byte a second, until the peer has had enough or we leave."""
        for i in range(len(data)):
            if self.stop.is_set():
                return
            try:
                sock.sendall(data[i:i + 1])
                sock.settimeout(PACE)
                if sock.recv(1) == b"":
                    return
            except socket.timeout:
                pass
            except (ConnectionResetError, BrokenPipeError):
                return


class Direct(Attacker):
    """Straight to the workers' socket.  How long it is held is measured from
    when a worker may have taken it to when that one hung up; while all of them
    are busy it stands in the queue, which counts here too."""

    def attack(self, name, send, effect):
        sock = fcgi.connect(self.soak.socket, GIVE_UP)
        began = time.monotonic()
        try:
            try:
                send(sock)
            except (ConnectionResetError, BrokenPipeError):
                pass
            got = self.until_closed(sock)
        finally:
            sock.close()
        self.judge(name, got, effect, time.monotonic() - began)

    def judge(self, name, got, effect, seconds):
        if got is None:
            self.wrong.append("%s: still open after %d s" % (name, GIVE_UP))
            return
        if seconds > self.held_s:
            self.held_s, self.held_by = seconds, name
        n = got.count(b"Status: 201")
        # some rows of a table share a key
        self.effects += n - got.count(b"Idempotency-Replayed: true")
        if n > (0 if effect == garbage.NONE else 1) or (
                effect == garbage.ONE and n != 1):
            self.wrong.append("%s: %d effects, %r" % (name, n, got[:300]))


ENDS, WAITS = 0, 1


class Garbage(Direct):
    """Each named case in turn, in an order of its own, and one that is drawn
    between two of them.  The first one says that there is no more to come; the
    second one leaves that to the worker, which takes its time."""
    PAUSE = 0.02        # seconds
    todo = ()

    def once(self):
        if not self.todo:
            self.todo = garbage.table()
            self.rng.shuffle(self.todo)
            self.count("tables begun")
        for name, data, effect in (self.todo.pop(), garbage.drawn(self.rng)):
            def send(sock):
                sock.sendall(data)
                if self.number == ENDS:
                    sock.shutdown(socket.SHUT_WR)
            self.attack(name, send, effect)
            self.count("garbage")
            self.stop.wait(self.PAUSE)


class SlowDirect(Direct):
    """Each way to be slow in turn; the worst ones come first."""
    nth = 0

    def once(self):
        ways = self.ways()
        name, send = ways[(self.number + self.nth) % len(ways)]
        self.nth += 1
        self.attack(name, send, garbage.NONE)
        self.count("slow")

    def ways(self):
        p = garbage.Parts()
        head = p.begin + p.params + p.params_end
        list_200 = fcgi.whole(fcgi.variables("GET", "/vazifalar?soni=200"))
        return (
            ("a byte a second", lambda sock: self.drip(sock, p.whole())),
            ("a body of a byte a second", lambda sock: (
                sock.sendall(head), self.drip(sock, p.stdin))),
            ("never reads", lambda sock: self.never_reads(sock, list_200)),
            ("silence", lambda sock: None),
            ("half a record's head", lambda sock: sock.sendall(p.begin[:5])),
            ("half the parameters", lambda sock: sock.sendall(head[:200])),
            ("no body", lambda sock: sock.sendall(head)),
            ("half a body", lambda sock: sock.sendall(
                head + p.stdin[:20])))

    def never_reads(self, sock, request):
        """Until the worker has gone: then nobody holds the other end."""
        sock.sendall(request)
        end = time.monotonic() + GIVE_UP
        while time.monotonic() < end:
            try:
                sock.send(b"\0" * 8)
            except (ConnectionResetError, BrokenPipeError):
                return
            self.stop.wait(0.1)


class SlowWeb(Attacker):
    """To a web server: it has to keep all of this from the workers."""
    HOLD = 20           # seconds; then it comes again

    def once(self):
        port = self.rng.choice(self.soak.ports)
        body = b'{"matn": "sekin #axlat"}'
        key = ("Idempotency-Key", "sekin-%d" % self.rng.getrandbits(64))
        post = http.request_bytes("POST", "/vazifalar", [
            ("Content-Type", "application/json"), key], body)
        lists = http.head_of("GET", "/vazifalar?soni=200", [
            ("Host", "localhost")])
        name, data, drip = self.rng.choice((
            ("silence", b"", b""), ("half a head", post[:60], b""),
            ("a head of a byte a second", b"", post[:-2]),
            ("half a body", post[:-10], b""),
            ("a body of a byte a second", post[:-len(body)], body[:-2]),
            ("never reads", lists * 40, b"")))
        conn = http.Connection(port, GIVE_UP)
        try:
            conn.send(data)
            end = time.monotonic() + self.HOLD
            if drip:
                self.drip(conn.sock, drip)
            self.stop.wait(max(0.0, end - time.monotonic()))
        except (ConnectionResetError, BrokenPipeError):
            pass
        finally:
            conn.reset()
        self.count(name)
