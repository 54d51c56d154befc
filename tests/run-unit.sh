#!/bin/sh
# Runs each unit test program named on the command line, whatever the others
# did, and fails if one failed or ran no test at all.
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1
count() {
	printf '%s\n' "$out" |
	    sed -n "s/^\[$1\] \(.*: \)\{0,1\}\([0-9]*\) test(s).*\$/\2/p" |
	    head -n 1
}
passed=0 failed=0
for t in "$@"; do
	out=$("$t" 2>&1)
	rc=$?
	ran=$(count ==========)
	good=$(count '  PASSED  ')
	passed=$((passed + ${good:-0}))
	if [ $rc -ne 0 ] || [ "${ran:-0}" -eq 0 ]; then
		printf '%s\n%s: FAILED (exit %d, %s tests)\n' \
		    "$out" "$t" $rc "${ran:-0}"
		lost=$((${ran:-0} - ${good:-0}))
		test $lost -gt 0 || lost=1
		failed=$((failed + lost))
	else
		printf '%-28s %s tests\n' "${t##*/}" "$ran"
	fi
done
echo "unit: $passed passed, $failed failed"
test $failed -eq 0
