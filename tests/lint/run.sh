#!/bin/sh
# The rules of the house over the tree, the rules' own test, and the manual
# pages.
cd "$(dirname "$0")/../.." || exit 1
export PYTHONDONTWRITEBYTECODE=1
python3 tests/lint/lint.py . ; tree=$?
python3 tests/lint/selftest.py; self=$?
tests/lint/man.sh; man=$?
exit $((tree | self | man))
