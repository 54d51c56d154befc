#!/bin/sh
# Becomes a web server with the shipped configuration, in the foreground: the
# process that calls this is the server afterwards.  The tests and run.sh share
# it, so both start the same files in the same way.
#
# usage: SITE_DIR=... SITE_PORT=... serve.sh CONFIGURATION
#   SITE_PROGRAM  build/tasks.fcgi        SITE_CONFIG   etc/idem.conf
#   SITE_BASE     ""                      SITE_USER     www-data (as root)
set -eu
PATH=$PATH:/usr/sbin:/sbin
root=$(cd "$(dirname "$0")/.." && pwd)
: "${SITE_DIR:?}" "${SITE_PORT:?}" "${1:?}"
: "${SITE_PROGRAM:=$root/build/tasks.fcgi}"
: "${SITE_CONFIG:=$root/etc/idem.conf}"
: "${SITE_BASE:=}"
if [ "$(id -u)" = 0 ]; then
	: "${SITE_USER:=www-data}"
	: "${SITE_GROUP:=$(id -gn "$SITE_USER")}"
else
	SITE_USER=$(id -un)
	SITE_GROUP=$(id -gn)
fi
export SITE_DIR SITE_PORT SITE_PROGRAM SITE_CONFIG SITE_BASE
export SITE_USER SITE_GROUP

mkdir -p "$SITE_DIR/www" "$SITE_DIR/run" "$SITE_DIR/log"
if [ "$(id -u)" = 0 ]; then
	# The store's owner is whoever the workers are.
	chown "$SITE_USER:$SITE_GROUP" "$SITE_DIR" "$SITE_DIR/run" \
	    "$SITE_DIR/log"
fi

case $1 in
*lighttpd*)
	exec lighttpd -D -f "$1"
	;;
*nginx*)
	exec nginx -g 'daemon off;' -c "$1"
	;;
*)
	for value in "$SITE_CONFIG" "$SITE_DIR/store"; do
		if [ ${#value} -gt 127 ]; then
			echo "serve: mod_fcgid would cut this path: $value" >&2
			exit 1
		fi
	done
	case $1 in /*) file=$1 ;; *) file=$PWD/$1 ;; esac
	exec apache2 -DFOREGROUND -f "$file"
	;;
esac
