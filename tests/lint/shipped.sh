#!/bin/sh
# What is shipped must hold no failpoint: neither symbol nor name.
# usage: shipped.sh WITH FILE...     WITH: a file that must have them, so that
#                                    a check that sees nothing is noticed
has() {
	nm "$1" 2>/dev/null | grep -q ' [A-Za-z] failpoint' ||
	    grep -aq IDEM_FAILPOINT "$1"
}

with=$1
shift
bad=0
if ! has "$with"; then
	echo "shipped: $with has no failpoints: the check is blind"
	bad=1
fi
for file in "$@"; do
	if ! test -s "$file"; then
		echo "shipped: $file: no such file"
		bad=1
	elif has "$file"; then
		echo "shipped: $file has failpoints"
		bad=1
	fi
done
test $bad = 0 && echo "shipped: $# files without failpoints"
exit $bad
