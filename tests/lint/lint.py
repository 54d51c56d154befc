#!/usr/bin/env python3
"""Checks the rules of the house on a tree of sources.

usage: lint.py [FOLDER]      exit 0: clean, 1: findings
"""
import os
import sys

import rules

C_FOLDERS = ("src", "fcgi", "include")
TEXT_FOLDERS = C_FOLDERS + ("tests", "tools", "apache", "lighttpd", "systemd",
                            "etc")
TEXT_ENDINGS = (".c", ".h", ".py", ".sh", ".conf", ".awk", ".md")


class Tree:
    """The files of a folder: path below it -> text."""

    def __init__(self, files):
        self.files = files

    def c_files(self):
        return sorted(path for path in self.files
                      if path.split("/")[0] in C_FOLDERS
                      and path.endswith((".c", ".h")))

    def texts(self):
        return sorted((path, text) for path, text in self.files.items()
                      if path.endswith(TEXT_ENDINGS)
                      and path.split("/")[0] in TEXT_FOLDERS)


def read_tree(root):
    files = {}
    for folder in TEXT_FOLDERS:
        for where, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                path = os.path.join(where, name)
                if not name.endswith(TEXT_ENDINGS):
                    continue
                with open(path, encoding="utf-8") as file:
                    files[os.path.relpath(path, root)] = file.read()
    return Tree(files)


def findings(tree):
    """(rule, path, line, message), all rules."""
    for rule in rules.ALL:
        for path, line, message in rule(tree):
            yield rule.__name__, path, line, message


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    tree = read_tree(root)
    if not tree.c_files():
        print("lint: no C files below %s" % root)
        return 1
    bad = set()
    for rule, path, line, message in findings(tree):
        print("%s:%d: %s [%s]" % (path, line, message, rule))
        bad.add(rule)
    print("lint: %d passed, %d failed" % (len(rules.ALL) - len(bad), len(bad)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
