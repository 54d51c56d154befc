"""What no web server would send to a FastCGI socket, as bytes; nothing here
opens a connection.  The records are those of FastCGI 1.0."""
import json
import random
import struct

from harness import fcgi
from harness.case import JSON, fresh_key

NONE, ONE, BY_ANSWER = "none", "one", "by its answer"
HUGE = (0x7fffffff, 0x7ffffffe, 0x60000000, 0x40000000)


def pairs(key=None, said=None, task=b""):
    return fcgi.variables("POST", "/vazifalar", [
        JSON, ("Idempotency-Key", key or fresh_key())], task, said)


class Parts:
    """An honest request, to be taken apart."""

    def __init__(self, said=None, role=1, request_id=1, extra=0):
        self.task = json.dumps({"matn": "axlat #axlat"}).encode()
        self.request_id = request_id
        self.begin = fcgi.record(fcgi.BEGIN, struct.pack("!HB5x", role, 0),
                                 request_id)
        self.pairs = fcgi.pairs_bytes(pairs(
            said=said if said is not None else str(len(self.task) + extra),
            task=self.task))
        self.params = self.rec(fcgi.PARAMS, self.pairs)
        self.params_end = self.rec(fcgi.PARAMS)
        self.stdin = self.rec(fcgi.STDIN, self.task)
        self.stdin_end = self.rec(fcgi.STDIN)

    def rec(self, kind, content=b"", **more):
        return fcgi.record(kind, content, self.request_id, **more)

    def all(self):
        return [self.begin, self.params, self.params_end, self.stdin,
                self.stdin_end]

    def whole(self):
        return b"".join(self.all())

    def with_pairs(self, raw):
        """Its parameters, with other bytes behind them."""
        return b"".join([self.begin, self.rec(fcgi.PARAMS, self.pairs + raw),
                         self.params_end, self.stdin, self.stdin_end])

    def before(self, i, data):
        every = self.all()
        return b"".join(every[:i] + [data] + every[i:])


def lengths():
    """Records and pairs whose lengths are not those of what follows."""
    p = Parts()
    for n in (1, 255, 65535):
        yield "a record longer than what follows, %d" % n, p.begin + (
            p.rec(fcgi.PARAMS, p.pairs, said=min(65535, len(p.pairs) + n))
        ), NONE
    for n in (0, 1, 7, 9):
        yield "BEGIN of %d bytes" % n, fcgi.record(
            fcgi.BEGIN, b"\0\1\0\0\0\0\0\0\0"[:n]) + b"".join(
                p.all()[1:]), BY_ANSWER
    yield "a name past the parameters", p.with_pairs(b"\x7f\0X"), NONE
    yield "a value past the parameters", p.with_pairs(b"\1\x7fX"), NONE
    for n in HUGE:
        size = struct.pack("!I", n | 0x80000000)
        yield "a name of %d" % n, p.with_pairs(size + b"\1X"), NONE
        yield "a value of %d" % n, p.with_pairs(b"\1" + size + b"X"), NONE
        yield "both of %d" % n, p.with_pairs(size + size + b"X"), NONE
    for n in (1, 2, 3):
        yield "a length cut at %d" % n, p.with_pairs(b"\xff\xff\xff"[:n]), NONE
    for n in (1, 7, 255):
        yield "padding of %d" % n, b"".join([
            p.begin, p.rec(fcgi.PARAMS, p.pairs, padding=b"x" * n),
            p.params_end, p.rec(fcgi.STDIN, p.task, padding=b"y" * n),
            p.stdin_end]), ONE
        yield "padding of %d that is not there" % n, b"".join([
            p.begin, p.rec(fcgi.PARAMS, p.pairs, padding_said=n),
            p.params_end, p.stdin, p.stdin_end]), BY_ANSWER
    for said in ("1", "10", "0", "-1", "x", "1000", "9" * 30, "2147483648"):
        yield "CONTENT_LENGTH %s" % said, Parts(said=said).whole(), NONE


def records():
    """Records that a responder has no use for, at each place."""
    p = Parts()
    values = fcgi.pairs_bytes([("FCGI_MAX_CONNS", ""), ("FCGI_MAX_REQS", ""),
                               ("FCGI_MPXS_CONNS", ""), ("X" * 200, "")])
    for kind in (0, fcgi.DATA, fcgi.GET_VALUES, fcgi.UNKNOWN_TYPE, 12, 255):
        for rid in (0, 1, 2):
            for i in range(len(p.all()) + 1):
                yield "record %d of request %d before part %d" % (
                    kind, rid, i), Parts().before(
                        i, fcgi.record(kind, values, rid)), BY_ANSWER
    yield "GET_VALUES alone", fcgi.record(fcgi.GET_VALUES, values, 0), NONE
    yield "GET_VALUES that is cut", fcgi.record(
        fcgi.GET_VALUES, values[:20], 0) + Parts().whole(), BY_ANSWER
    for rid in (1, 2):
        for i in range(1, len(p.all())):
            yield "ABORT of %d before part %d" % (rid, i), Parts().before(
                i, fcgi.record(fcgi.ABORT, b"", rid)), BY_ANSWER
    for i in range(1, len(p.all())):
        yield "ABORT and no more before part %d" % i, b"".join(
            p.all()[:i]) + fcgi.record(fcgi.ABORT), (
                NONE if i < 4 else BY_ANSWER)


def orders():
    """Good records in a wrong order, of wrong roles and ids."""
    p = Parts()
    for role in (0, 2, 3, 65535):
        yield "role %d" % role, Parts(role=role).whole(), NONE
    for rid in (65535, 256):
        yield "request id %d" % rid, Parts(request_id=rid).whole(), ONE
    yield "request id 0", Parts(request_id=0).whole(), BY_ANSWER
    yield "STDIN before PARAMS", b"".join([
        p.begin, p.stdin, p.stdin_end, p.params, p.params_end]), BY_ANSWER
    yield "no BEGIN", b"".join(p.all()[1:]), NONE
    yield "no end of PARAMS", b"".join([
        p.begin, p.params, p.stdin, p.stdin_end]), NONE
    yield "no PARAMS", b"".join([
        p.begin, p.params_end, p.stdin, p.stdin_end]), NONE
    for i in range(1, len(p.all())):
        yield "BEGIN again before part %d" % i, Parts().before(
            i, p.begin), BY_ANSWER
        yield "BEGIN of another before part %d" % i, Parts().before(
            i, Parts(request_id=2).begin), BY_ANSWER
    for version in (0, 2, 255):
        yield "version %d" % version, fcgi.record(
            fcgi.BEGIN, b"\0\1\0\0\0\0\0\0", version=version) + b"".join(
                p.all()[1:]), NONE


def noise():
    for junk in (b"", b"\0", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                 b"\0" * 64, b"\xff" * 64, b"\1" * 9000, b"\1\4\0\1" * 50):
        yield "noise %r" % junk[:12], junk, NONE
    yield "two requests at once", Parts().whole() * 2, BY_ANSWER
    many = [("HTTP_X_%d" % n, "v" * 200) for n in range(3000)]
    p = Parts()
    yield "a long head", b"".join([
        p.begin, fcgi.stream(fcgi.PARAMS, p.pairs + fcgi.pairs_bytes(many)),
        p.stdin, p.stdin_end]), ONE


def table():
    """(name, bytes, effect), every case that has a name."""
    return [row for rows in (lengths, records, orders, noise)
            for row in rows()]


def cut(rng):
    """An honest request that ends before its body does."""
    p = Parts()
    at = rng.randrange(len(p.whole()) - len(p.stdin_end) - 1)
    return "cut at %d" % at, p.whole()[:at], NONE


def flipped(rng):
    """Some bytes of an honest request are others."""
    data = bytearray(Parts().whole())
    for _ in range(rng.randrange(1, 9)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return "flipped", bytes(data), BY_ANSWER


def random_records(rng):
    out = Parts().begin
    for _ in range(rng.randrange(1, 12)):
        out += fcgi.record(rng.randrange(13), rng.randbytes(
            rng.choice((0, 1, 8, 300))), rng.choice((0, 1, 1, 1, 2, 65535)),
                           padding=b"p" * rng.randrange(9))
    return "random records", out, BY_ANSWER


def drawn(rng):
    return rng.choice((cut, cut, flipped, random_records))(rng)


def self_check():
    names = [name for name, _, _ in table()]
    if len(set(names)) != len(names):
        raise AssertionError("two cases of one name")
    drawn(random.Random(1))
