#!/bin/sh
# Runs spin on the model of the group commit, one variant after the other: what
# is built must pass, and with a part taken away there must be a
# counter-example.
# usage: run.sh [short|all] [NAME...]     the table: variants.tsv
# Needs spin and a C compiler; the work lies in $WORK (default: a new folder).
here=$(cd "$(dirname "$0")" && pwd)
size=${1:-all}
test $# -gt 0 && shift
cc=${CC:-cc}
bad=0
count=0

if ! command -v spin >/dev/null; then
	echo "model: spin is not installed (make deps)"
	exit 1
fi
if [ -z "${WORK:-}" ]; then
	WORK=$(mktemp -d) || exit 1
	trap 'rm -rf "$WORK"' EXIT
	trap 'exit 1' HUP INT TERM
fi

# Name, what is expected, size, switches: what came of it, in one line.
# pass: no assertion breaks, nobody hangs; ends: nobody goes round for ever
# either (weak fairness); anything else: a part of the assertion that breaks.
run() {
	opt=-O0 # compiling takes longer than the search
	test "$2.$3" = pass.all && opt=-O2
	check=-DSAFETY
	how=
	test "$2" = ends && check=-DNP && how='-l -f' && opt=-O2
	rm -rf "$WORK/run" && mkdir -p "$WORK/run" && cd "$WORK/run" || exit 1
	# shellcheck disable=SC2086
	spin -a $4 "$here/group_commit.pml" >spin.out 2>&1 &&
	    "$cc" $opt -w $check -DCOLLAPSE -DVECTORSZ=1024 -DMEMLIM=8000 \
		-o pan pan.c &&
	    ./pan $how -m1000000 -n >pan.out 2>&1
	errors=$(sed -n 's/.*errors: \([0-9]*\)$/\1/p' pan.out)
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.out)
	what=$(sed -n 's/^pan:1: //p' pan.out | cut -c 1-60)
	# a search that was cut short shows nothing
	grep -q 'too small\|out of memory' pan.out && errors=cut
	case $2.$errors in
	pass.0|ends.0) word=ok ;;
	pass.*|ends.*|*.0|*.|*.cut) word=BAD ;;
	*)	case $what in
		*"$2"*) word=ok ;;
		*) word=BAD ;;
		esac ;;
	esac
	if test $word = BAD; then
		bad=$((bad + 1))
		cat spin.out pan.out 2>/dev/null | tail -n 20
	fi
	printf '%-4s %-24s %10s states  %s\n' "$word" "$1" "${states:-?}" \
		"${what:-no counter-example}"
}

while IFS='	' read -r name expect when switches; do
	case $name in ''|'#'*) continue ;; esac
	test "$size" = all || test "$when" = short || continue
	if [ $# -gt 0 ]; then
		case " $* " in *" $name "*) ;; *) continue ;; esac
	fi
	count=$((count + 1))
	run "$name" "$expect" "$when" "$switches"
done <"$here/variants.tsv"
echo "model: $((count - bad)) passed, $bad failed"
test $bad = 0 && test $count -gt 0
