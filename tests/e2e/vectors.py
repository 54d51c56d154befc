"""The rows of tests/vectors/keys.tsv."""
import os
import re

from harness.site import ROOT

ESCAPES = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\", b'"': b'"'}


def unescape(text):
    """C escapes to bytes."""
    def one(match):
        what = match.group(1)
        if what.startswith(b"x"):
            return bytes([int(what[1:], 16)])
        return ESCAPES[what]
    return re.sub(rb"\\(x[0-9a-f]{2}|.)", one, text)


def keys():
    """(field value, verdict, key) in bytes."""
    rows = []
    with open(os.path.join(ROOT, "tests/vectors/keys.tsv"), "rb") as file:
        for line in file:
            if line.startswith(b"#"):
                continue
            value, verdict, key = line.rstrip(b"\n").split(b"\t")
            rows.append((unescape(value), verdict.decode(), unescape(key)))
    return rows


def quoted(key):
    """A key as a Structured Field String."""
    return b'"' + re.sub(rb'(["\\])', rb"\\\1", key) + b'"'
