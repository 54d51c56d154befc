#!/bin/sh
# Runs the crowd of threads and the tests that bear it under ThreadSanitizer,
# which must first see a race that is planted.
# usage: run.sh CROWD TEST...
test "${ROUNDS:=2000}" -ge 1 2>/dev/null && test "$ROUNDS" -le 10000 || {
	echo "ROUNDS=$ROUNDS: it must be a whole number from 1 to 10000" >&2
	exit 2
}
crowd=$1
shift
passed=0 failed=0
# It cannot place its shadow where the kernel spreads addresses too widely.
tame() {
	setarch "$(uname -m)" -R "$@"
}
judge() {
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
		echo "$1: clean"
	else
		failed=$((failed + 1))
		printf '%s\n%s: FAILED\n' "$out" "$1"
	fi
}
export TSAN_OPTIONS='halt_on_error=0 exitcode=66 report_thread_leaks=0'
out=$(tame "$crowd" planted 2>&1)
test $? -eq 66 && printf '%s' "$out" | grep -q 'data race .*write_unordered'
judge 'a planted race is seen' $?
out=$(tame "$crowd" "$ROUNDS" 2>&1)
judge 'threads in place of processes' $?
lines=$(printf '%s\n' "$out" | grep '^[0-9]* died')
printf '%s\n' "$lines"
sum() {
	printf '%s\n' "$lines" | sed -n "$1" |
	    awk '{ sum += $1 } END { print sum }'
}
answered=$(sum 's/.*: \([0-9]*\) requests.*/\1/p')
died=$(sum 's/^\([0-9]*\) died.*/\1/p')
for test in "$@"; do
	out=$(tame "$test" 2>&1)
	judge "${test##*/}" $?
done
mkdir -p "$BUILD/proof"
test $failed -gt 0 ||
    printf '%s\t%s\t%s\t%s\n' \
    'nothing: ThreadSanitizer follows the group file, used by threads' \
    "$answered requests of 6 threads at a time, $died died in a commit" \
    'no access unordered; each request done once' 'make tsan' \
    >"$BUILD/proof/tsan.tsv"
echo "tsan: $passed passed, $failed failed"
test $failed -eq 0
