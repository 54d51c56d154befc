"""A FastCGI client (FastCGI 1.0, responder role) that can also break off, send
less than it announced, or ask to keep the connection."""
import socket
import struct

from .answer import Answer, parse_fields

BEGIN, ABORT, END, PARAMS, STDIN, STDOUT, STDERR = 1, 2, 3, 4, 5, 6, 7
DATA, GET_VALUES, GET_VALUES_RESULT, UNKNOWN_TYPE = 8, 9, 10, 11
SECONDS = 30


def record(kind, content=b"", request_id=1, said=None, padding=b"",
           padding_said=None, version=1):
    """said, padding_said: lengths that are not those of what follows."""
    return struct.pack("!BBHHBx", version, kind, request_id,
                       len(content) if said is None else said,
                       len(padding) if padding_said is None
                       else padding_said) + content + padding


def length(n):
    return struct.pack("!B", n) if n < 128 else struct.pack(
        "!I", n | 0x80000000)


def raw(text):
    return text if isinstance(text, bytes) else text.encode("latin-1")


def pairs_bytes(pairs):
    return b"".join(length(len(raw(n))) + length(len(raw(v))) + raw(n) + raw(v)
                    for n, v in pairs)


def stream(kind, data, end=True):
    """data in records of at most 65,535 bytes, then the empty one."""
    out = b"".join(record(kind, data[i:i + 65535])
                   for i in range(0, len(data), 65535))
    return out + (record(kind) if end else b"")


def begin(keep=False, role=1):
    return record(BEGIN, struct.pack("!HB5x", role, 1 if keep else 0))


def whole(pairs, body=b"", keep=False, end_of_body=True):
    """All records of one request."""
    return (begin(keep) + stream(PARAMS, pairs_bytes(pairs)) +
            stream(STDIN, body, end_of_body))


def connect(address, seconds=SECONDS):
    """address: the path of a unix socket, or (host, port)."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.settimeout(seconds)
    sock.connect(address)
    return sock


def parse_cgi(out):
    """What a program wrote to stdout, as an answer (RFC 3875 6)."""
    head, mark, body = out.partition(b"\r\n\r\n")
    if not mark:
        raise AssertionError("no header block in %r" % out[:400])
    fields = parse_fields(head.split(b"\r\n"))
    status = [v for n, v in fields if n.lower() == "status"]
    if len(status) != 1:
        raise AssertionError("Status stands %d times" % len(status))
    return Answer(int(status[0].split(" ")[0]),
                  [f for f in fields if f[0].lower() != "status"], body)


class Exchange:
    """One request on a connection of its own."""

    def __init__(self, address, seconds=SECONDS):
        self.sock = connect(address, seconds)
        self.out, self.err, self.ended = b"", b"", None

    def send(self, data):
        self.sock.sendall(data)

    def close(self):
        self.sock.close()

    def _exactly(self, n):
        data = b""
        while len(data) < n:
            part = self.sock.recv(n - len(data))
            if not part:
                raise ConnectionError("closed before END_REQUEST")
            data += part
        return data

    def _record(self):
        _, kind, _, size, pad = struct.unpack("!BBHHBx", self._exactly(8))
        content = self._exactly(size + pad)[:size]
        if kind == STDOUT:
            self.out += content
        elif kind == STDERR:
            self.err += content
        elif kind == END:
            self.ended = struct.unpack("!IB3x", content)

    def read(self):
        """Up to END_REQUEST; (application status, protocol status)."""
        while self.ended is None:
            self._record()
        return self.ended

    def read_until(self, text):
        """Until this has come, which must be before END_REQUEST."""
        while text not in self.out:
            if self.ended is not None:
                raise AssertionError("ended without %r" % text)
            self._record()

    def answer(self):
        self.read()
        return parse_cgi(self.out)

    def closed(self):
        """Did the program close the connection after its answer?"""
        return self.sock.recv(1) == b""


def variables(method, target, fields=(), body=None, length_said=None,
              more=()):
    """The CGI variables a plain server would set (RFC 3875 4.1)."""
    path, mark, query = target.partition("?")
    pairs = [("GATEWAY_INTERFACE", "CGI/1.1"), ("SERVER_PROTOCOL", "HTTP/1.1"),
             ("REQUEST_METHOD", method), ("REQUEST_URI", target),
             ("SCRIPT_NAME", ""), ("PATH_INFO", path), ("QUERY_STRING", query),
             ("REMOTE_ADDR", "127.0.0.1")]
    for name, value in fields:
        plain = name.upper().replace("-", "_")
        pairs.append(("CONTENT_TYPE" if plain == "CONTENT_TYPE"
                      else "HTTP_" + plain, value))
    if length_said is None and body is not None:
        length_said = str(len(body))
    if length_said is not None:
        pairs.append(("CONTENT_LENGTH", length_said))
    return pairs + list(more)


def request(address, pairs, body=b"", seconds=SECONDS, keep=False,
            end_of_body=True):
    """Send a whole request and read its answer."""
    exchange = Exchange(address, seconds)
    try:
        exchange.send(whole(pairs, body, keep, end_of_body))
        return exchange.answer()
    finally:
        exchange.close()
