#!/bin/sh
# Serves build/tasks.fcgi on 127.0.0.1 until Ctrl-C, with data under var/.
# usage: run.sh lighttpd|apache PORT
set -eu
server=${1:-lighttpd} port=${2:-8080}
root=$(cd "$(dirname "$0")/.." && pwd)
program=$root/build/tasks.fcgi
SITE_DIR=$root/var
SITE_PORT=$port
SITE_PROGRAM=${PROGRAM:-$program}
SITE_CONFIG=$root/etc/idem.conf

case $server in
lighttpd) conf=$root/lighttpd/lighttpd.conf ;;
apache) conf=$root/apache/httpd.conf ;;
*)
	echo "run: SERVER is lighttpd or apache, not \"$server\"" >&2
	exit 2
	;;
esac

# Workers never run as root.  Where their user cannot enter this folder (/root
# is closed to it), program and data move to one that it can enter.
as_worker() {
	setpriv --reuid www-data --regid www-data --clear-groups "$@"
}
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$SITE_DIR"
	if ! as_worker test -x "$SITE_PROGRAM" -a -r "$SITE_CONFIG" -a \
	    -x "$SITE_DIR" 2>/dev/null; then
		SITE_DIR=/var/tmp/idem-run
		mkdir -p "$SITE_DIR/bin"
		cp -f "$SITE_PROGRAM" "$SITE_CONFIG" "$SITE_DIR/bin/"
		SITE_PROGRAM=$SITE_DIR/bin/${SITE_PROGRAM##*/}
		SITE_CONFIG=$SITE_DIR/bin/${SITE_CONFIG##*/}
		echo "run: www-data cannot enter $root; data is in $SITE_DIR"
	fi
fi
# lighttpd and mod_fcgid take what stands behind a space for an argument, so
# that the program needs a name without one.
case $SITE_PROGRAM in
*[[:space:]]*)
	short=$(mktemp -d /tmp/idem-run.XXXXXX)
	trap 'rm -rf "$short"' EXIT
	chmod 755 "$short"
	ln -s "${SITE_PROGRAM%/*}" "$short/build"
	SITE_PROGRAM=$short/build/${SITE_PROGRAM##*/}
	;;
esac
export SITE_DIR SITE_PORT SITE_PROGRAM SITE_CONFIG
mkdir -p "$SITE_DIR/log"
: >"$SITE_DIR/log/error.log"
: >"$SITE_DIR/log/idem.log"
test "$(id -u)" != 0 || chown -R www-data: "$SITE_DIR/log"

# The server gets a session of its own: Apache takes a terminal's change of
# size (SIGWINCH) for the order to stop.  So Ctrl-C comes here, and the server
# is told to stop from here.
setsid "$root/tools/serve.sh" "$conf" </dev/null &
pid=$!
# The workers are in the server's process group and end a moment after it.
gone() {
	left=100
	while kill -0 "-$pid" 2>/dev/null; do
		test $left != 0 || kill -KILL "-$pid"
		left=$((left - 1))
		sleep 0.1
	done
	kill "$tail" 2>/dev/null || :
	wait "$tail" 2>/dev/null || :
}
stop() {
	trap '' INT TERM HUP
	kill -TERM "$pid" 2>/dev/null || :
	wait "$pid" || :
	gone
	echo "run: stopped"
	exit 0
}
tail -q -n 0 -F --pid="$pid" "$SITE_DIR/log/error.log" \
    "$SITE_DIR/log/idem.log" 2>/dev/null &
tail=$!
trap stop INT TERM HUP
echo "run: $server on http://127.0.0.1:$port/vazifalar, data in $SITE_DIR"
echo "run: Ctrl-C stops it"
status=0
wait "$pid" || status=$?
gone
echo "run: $server ended by itself; its log is $SITE_DIR/log/error.log (where" \
    "port $port is taken: PORT=N)" >&2
exit $status
