"""The log: one line a protected request, and never a key, a body or a name."""
import base64
import re

from harness.case import fresh_key, on
from harness.servers import ApacheCgi, ApacheFcgid, Direct, Lighttpd

LINE = re.compile(
    r'outcome=(?P<outcome>[a-z-]+) status=(?P<status>\d+)'
    r' route="(?P<route>[^"]*)" ms=(?P<ms>\d+) id=(?P<id>[0-9a-f]{8}|-)'
    r' request_id=(?P<request>[A-Za-z0-9._-]+)')


@on(Direct, Lighttpd, ApacheFcgid, ApacheCgi)
class Log:
    def lines_of(self, request_id):
        self.logged(" request_id=" + request_id)
        found = [m.groupdict() for m in LINE.finditer(self.site.log())]
        return [m for m in found if m["request"] == request_id]

    def test_a_line_for_each_outcome(self):
        key = fresh_key()
        name = "r" + fresh_key()
        for number, task, outcome, status in [
                (1, {"matn": "bir"}, "created", "201"),
                (2, {"matn": "bir"}, "replayed", "201"),
                (3, {"matn": "ikki"}, "mismatch", "422")]:
            request_id = "%s.%d" % (name, number)
            self.post(task, key, [("X-Request-Id", request_id)])
            lines = self.lines_of(request_id)
            self.assertEqual(len(lines), 1, self.site.log())
            line = lines[0]
            self.assertEqual((line["outcome"], line["status"],
                              line["route"]),
                             (outcome, status, "POST /vazifalar"))
            self.assertNotEqual(line["id"], "-")
        ids = {self.lines_of("%s.%d" % (name, n))[0]["id"]
               for n in (1, 2, 3)}
        self.assertEqual(len(ids), 1)

    def test_no_secret_is_logged(self):
        key = "maxfiy" + fresh_key()
        user = "foydalanuvchi-x:parol-y"
        basic = base64.b64encode(user.encode()).decode()
        fields = [("Authorization", "Basic " + basic)]
        for task in ({"matn": "sirli-matn"}, {"matn": "sirli-boshqa"}):
            self.post(task, key, fields)
        self.post({"matn": "sirli"}, key + " bad", fields)
        self.logged("outcome=refused")
        log = self.site.log()
        for secret in (key, "sirli", basic, "foydalanuvchi-x", "parol-y"):
            self.assertNotIn(secret, log)

    def test_a_request_cannot_forge_a_line(self):
        self.post({"matn": "x"}, 'a" outcome=forged\\n', [
            ("X-Request-Id", "outcome=forged")])
        self.get('/yoq%0aoutcome=forged"')
        self.assertNotIn("outcome=forged", self.site.log())
