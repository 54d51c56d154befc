#!/usr/bin/python3
"""README says what the programs do: its table of settings, its three commands.

Run as a program it prints the table."""
import os
import re
import shlex
import subprocess
import unittest

from harness.case import ServerCase
from harness.servers import Lighttpd
from harness.site import ROOT

PROGRAM = os.path.join(ROOT, os.environ.get("BUILD", "build"), "tasks.fcgi")
HEAD = ["| setting | default | for | what it says |", "|---|---|---|---|"]


def printed(option):
    return subprocess.run([PROGRAM, "--store", "/x", option], check=True,
                          capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"]}).stdout


def helps():
    """IDEM_NAME -> its line of --help."""
    found = re.findall(r"^  --([a-z0-9-]+) +(.+)\n {24}", printed("--help"),
                       re.M)
    return {"IDEM_" + name.upper().replace("-", "_"): text
            for name, text in found}


def settings_table():
    texts, lines = helps(), list(HEAD)
    for row in printed("--check-config").splitlines():
        if row.startswith("#"):
            continue
        value, source, place, used = row.split("\t")
        name, _, default = value.partition("=")
        if used.startswith("not used"):
            continue
        if source != "default":
            default = ""
        lines.append("| `%s` | %s | %s | %s |" % (
            name, "`%s`" % default if default else "-", place, texts[name]))
    return lines


def readme():
    with open(os.path.join(ROOT, "README.md")) as file:
        return file.read()


class Table(unittest.TestCase):
    def test_the_settings(self):
        lines = readme().splitlines()
        self.assertIn(HEAD[0], lines)
        start = lines.index(HEAD[0])
        end = lines.index("", start)
        self.assertEqual(lines[start:end], settings_table())


class Commands(ServerCase):
    """The commands of "Two commands", as they stand there, on lighttpd."""
    server_class = Lighttpd

    def run_command(self, text):
        text = text.replace("\\\n", " ").replace("localhost:8080",
                                                 "127.0.0.1:%d"
                                                 % self.server.port)
        out = subprocess.run(shlex.split(text) + ["--silent"], check=True,
                             capture_output=True, text=True).stdout
        return out.replace("\r\n", "\n")

    def compare(self, got, shown):
        """Every shown line came, the body but for its time to the letter."""
        head, _, body = got.partition("\n\n")
        shown_head, _, shown_body = shown.strip().partition("\n\n")
        got_lines = head.splitlines()
        for line in shown_head.splitlines():
            self.assertIn(line, got_lines)
        time = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
        self.assertEqual(re.sub(time, "TIME", body),
                         re.sub(time, "TIME", shown_body))

    def test_the_three(self):
        blocks = [b.lstrip("\n")
                  for b in re.split(r"^```\w*$", readme(), flags=re.M)[1::2]]
        command = next(b for b in blocks if b.startswith("curl"))
        shown = [b for b in blocks if b.startswith("HTTP/1.1")]
        self.assertEqual(len(shown), 3)
        first = self.run_command(command)
        again = self.run_command(command)
        other = self.run_command(command.replace("Non olish #uy", "Boshqa"))
        self.compare(first, shown[0])
        self.compare(again, shown[1])
        self.compare(other, shown[2])
        self.assertNotIn("Idempotency-Replayed", first)
        self.assertEqual(first.partition("\n\n")[2],
                         again.partition("\n\n")[2])


if __name__ == "__main__":
    print("\n".join(settings_table()))
