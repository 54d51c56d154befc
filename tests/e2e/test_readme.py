#!/usr/bin/python3
"""README says what the programs do: its table of settings, its three commands.

Run as a program it prints the table."""
import os
import re
import shlex
import subprocess
import sys
import unittest

from harness.case import ServerCase
from harness.servers import Lighttpd
from harness.site import ROOT

import table    # of tests/proof, which the harness knows

HEAD = ["| setting | default | for | what it says |", "|---|---|---|---|"]
# What each program needs before it says anything.
PROGRAMS = {"tasks.fcgi": [],
            "guard.fcgi": ["--backend", "cgi:", "--scope", "cookie:id"]}


def printed(program, option):
    path = os.path.join(ROOT, os.environ.get("BUILD", "build"), program)
    return subprocess.run(
        [path, "--store", "/x"] + PROGRAMS[program] + [option], check=True,
        capture_output=True, text=True,
        env={"PATH": os.environ["PATH"]}).stdout


def helps():
    """IDEM_NAME -> its line of --help."""
    found = re.findall(r"^  --([a-z0-9-]+) +(.+)\n {24}", "".join(
        printed(program, "--help") for program in PROGRAMS), re.M)
    return {"IDEM_" + name.upper().replace("-", "_"): text
            for name, text in found}


def defaults(program):
    """IDEM_NAME -> (its default, its place), of what this program uses."""
    found = {}
    for row in printed(program, "--check-config").splitlines():
        if row.startswith("#"):
            continue
        value, source, place, used = row.split("\t")
        name, _, default = value.partition("=")
        if not used.startswith("not used"):
            found[name] = default if source == "default" else "", place
    return found


def row(name, tasks, guard, text):
    """A setting of both says where the guard's default differs."""
    default, place = tasks or guard
    shown = "`%s`" % default if default else "-"
    if tasks and guard and tasks != guard:
        shown += ", guard `%s`" % guard[0]
    if not (tasks and guard):
        place += ", guard only" if guard else ", tasks only"
    return "| `%s` | %s | %s | %s |" % (name, shown, place, text)


def settings_table():
    texts = helps()
    tasks, guard = defaults("tasks.fcgi"), defaults("guard.fcgi")
    names = list(tasks) + [name for name in guard if name not in tasks]
    return HEAD + [row(name, tasks.get(name), guard.get(name), texts[name])
                   for name in names]


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

    def test_what_was_broken(self):
        """The rows of docs/proof.tsv, as the proofs' own tool prints them."""
        tool = os.path.join(ROOT, "tests/proof/table.py")
        rows = subprocess.run([sys.executable, tool, "print"], check=True,
                              capture_output=True, text=True).stdout
        self.assertIn("\n\n" + rows + "\n", readme())
        for line in rows.splitlines()[2:]:
            cells = line.strip("|").split("|")
            self.assertEqual(len(cells), 4, line)
            self.assertLessEqual(max(map(len, cells)), 122, line)
            self.assertRegex(cells[3], "^ `make [a-z]+[^`]*` $")

    def test_a_row_that_is_too_long_is_refused(self):
        """And what only docs/proof.tsv tells is not shown."""
        self.assertEqual(table.shown("1 store | 2 of them"), "1 store")
        self.assertEqual(table.shown("x" * 120), "x" * 120)
        for cell in ("x" * 121, "", " | more", "a | b | c", "a|b"):
            with self.assertRaises(SystemExit):
                table.shown(cell)


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
