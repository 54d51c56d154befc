#!/bin/sh
# The manual pages as mandoc wants them.  It looks for cross references in the
# system's own pages only: those to our pages, and to pages of other packages,
# are checked here.
cd "$(dirname "$0")/../.." || exit 1
passed=0
failed=0
elsewhere='cron.8 crontab.5 lighttpd.8 apache2.8 spawn-fcgi.1'

missing() {
	mandoc -T lint "$1" 2>&1 |
	    sed -n 's/.*manual not found: Xr \([^ ]*\) \([0-9]\).*/\1.\2/p' |
	while read -r page; do
		case " $elsewhere " in *" $page "*) continue ;; esac
		test -f "man/$page" || echo "$1: no such page: $page"
	done
}

for page in man/*.[0-9]; do
	found=$(mandoc -T lint "$page" 2>&1 |
	    grep -v -e 'referenced manual not found' -e 'outdated mandoc.db'
	    missing "$page"
	    awk 'length > 80 { print FILENAME ":" FNR ": over 80 columns" }' \
	    "$page")
	if [ -n "$found" ]; then
		echo "$found"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
done
echo "man: $passed passed, $failed failed"
test $failed -eq 0 && test $passed -gt 0
