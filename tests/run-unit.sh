#!/bin/sh
# Runs each unit test program named on the command line, whatever the others
# did, and fails if one failed or ran no test at all.
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1
total='s/^\[==========\] \(.*: \)\{0,1\}\([0-9]*\) test(s) run\.$/\2/p'
bad=0
for t in "$@"; do
	out=$("$t" 2>&1)
	rc=$?
	ran=$(printf '%s\n' "$out" | sed -n "$total")
	if [ $rc -ne 0 ] || [ "${ran:-0}" -eq 0 ]; then
		printf '%s\n%s: FAILED (exit %d, %s tests)\n' \
		    "$out" "$t" $rc "${ran:-0}"
		bad=1
	else
		printf '%-28s %s tests\n' "${t##*/}" "$ran"
	fi
done
exit $bad
