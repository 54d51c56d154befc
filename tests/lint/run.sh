#!/bin/sh
# The rules of the house over the tree, then the rules' own test.
cd "$(dirname "$0")/../.." || exit 1
export PYTHONDONTWRITEBYTECODE=1
python3 tests/lint/lint.py . ; tree=$?
python3 tests/lint/selftest.py; self=$?
exit $((tree | self))
