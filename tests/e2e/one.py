#!/usr/bin/env python3
"""Runs tests of one class and prints the counts as a line of JSON; what went
wrong goes to stderr.  Whatever ends this process, its servers end with it."""
import importlib
import json
import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def main():
    group, names = sys.argv[1], sys.argv[2:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # A shell without job control starts what runs beside it deaf to Ctrl-C,
    # and what is started from there would be, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)    # as nohup does
    module, _, name = group.rpartition(".")
    try:
        cls = getattr(importlib.import_module(module), name)
        suite = unittest.TestSuite(cls(test) for test in names)
    except (ImportError, AttributeError):
        suite = unittest.TestLoader().loadTestsFromName(group)
    result = unittest.TextTestRunner(sys.stderr, verbosity=0).run(suite)
    bad = len(result.failures) + len(result.errors)
    skipped = [(test.id().rpartition(".")[2], why)
               for test, why in result.skipped]
    if result.testsRun == 0 and bad:    # the server did not start
        bad = len(names)
    print(json.dumps({
        "passed": max(0, result.testsRun - bad - len(skipped)),
        "failed": bad, "skipped": skipped}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
