"""An HTTP answer as it came: status, fields in order, body bytes."""
import json


class Answer:
    def __init__(self, status, fields, body):
        self.status = status
        self.fields = fields        # [(name, value)] as they stood
        self.body = body

    def all(self, name):
        """Every value of a field, in order."""
        return [v for n, v in self.fields if n.lower() == name.lower()]

    def field(self, name):
        """The value of a field that may stand once; None: it is not there."""
        values = self.all(name)
        if len(values) > 1:
            raise AssertionError("%s stands %d times" % (name, len(values)))
        return values[0] if values else None

    def has(self, name):
        return bool(self.all(name))

    @property
    def json(self):
        return json.loads(self.body.decode("utf-8"))

    @property
    def replayed(self):
        return self.field("Idempotency-Replayed") == "true"

    def __repr__(self):
        return "<%d %s %r>" % (self.status, self.fields, self.body[:400])


def parse_fields(lines):
    fields = []
    for line in lines:
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or name != name.strip():
            raise AssertionError("not a field line: %r" % line)
        fields.append((name, value.strip(" \t")))
    return fields
