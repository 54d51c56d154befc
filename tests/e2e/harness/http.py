"""A raw HTTP/1.1 client: it sends exactly the bytes that a test wants and can
go away at any moment."""
import socket
import struct

from .answer import Answer, parse_fields

SECONDS = 30


def latin(text):
    return text if isinstance(text, bytes) else text.encode("latin-1")


def head_of(method, target, fields):
    lines = [latin(method) + b" " + latin(target) + b" HTTP/1.1"]
    lines += [latin(name) + b": " + latin(value) for name, value in fields]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def chunked_bytes(pieces):
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + (
        b"0\r\n\r\n")


class Connection:
    """One TCP connection to a server on 127.0.0.1."""

    def __init__(self, port, seconds=SECONDS):
        self.sock = socket.create_connection(("127.0.0.1", port), seconds)
        self.buf = b""

    def send(self, data):
        self.sock.sendall(data)

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def close(self):
        self.sock.close()

    def reset(self):
        """Go away at once, as a client whose network is gone."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                             struct.pack("ii", 1, 0))
        self.sock.close()

    def _more(self):
        data = self.sock.recv(65536)
        if not data:
            raise ConnectionError("closed after %r" % self.buf[:300])
        self.buf += data

    def _until(self, mark):
        while mark not in self.buf:
            self._more()
        part, self.buf = self.buf.split(mark, 1)
        return part

    def _exactly(self, n):
        while len(self.buf) < n:
            self._more()
        part, self.buf = self.buf[:n], self.buf[n:]
        return part

    def _to_the_end(self):
        try:
            while True:
                self._more()
        except ConnectionError:
            part, self.buf = self.buf, b""
            return part

    def _chunks(self):
        body = b""
        while True:
            size = int(self._until(b"\r\n").split(b";")[0], 16)
            if size == 0:
                while self._until(b"\r\n"):
                    pass
                return body
            body += self._exactly(size)
            self._exactly(2)

    def answer(self, method="GET"):
        """Read one answer; 1xx ones are passed over."""
        while True:
            lines = self._until(b"\r\n\r\n").split(b"\r\n")
            status = int(lines[0].split(b" ")[1])
            if status >= 200:
                break
        got = Answer(status, parse_fields(lines[1:]), b"")
        if method == "HEAD" or status in (204, 304):
            return got
        if got.field("Transfer-Encoding") == "chunked":
            got.body = self._chunks()
        elif got.has("Content-Length"):
            got.body = self._exactly(int(got.field("Content-Length")))
        else:
            got.body = self._to_the_end()
        return got


def request_bytes(method, target, fields=(), body=None, pieces=None):
    """The bytes of a request; pieces: the body in chunks."""
    every = [("Host", "localhost"), ("Connection", "close")] + list(fields)
    if pieces is not None:
        every.append(("Transfer-Encoding", "chunked"))
        return head_of(method, target, every) + chunked_bytes(pieces)
    if body is not None:
        every.append(("Content-Length", str(len(body))))
    return head_of(method, target, every) + (body or b"")


def request(port, method, target, fields=(), body=None, pieces=None,
            seconds=SECONDS):
    conn = Connection(port, seconds)
    try:
        conn.send(request_bytes(method, target, fields, body, pieces))
        return conn.answer(method)
    finally:
        conn.close()
