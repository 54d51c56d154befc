#!/bin/sh
# Installs what building, testing and `make run` need, where it is missing.
# As root it calls apt-get; otherwise it prints the line to run.
# usage: deps.sh [build|run|all|analyse]
#   build: only what compiling needs; run: the web servers too; analyse: all,
#   and what make analyse, valgrind and the like need
set -eu
PATH=$PATH:/usr/sbin:/sbin

# package | how to see that it is there: a header, a program or a file
need_build='
gcc               |program gcc
make              |program make
libc6-dev         |header stdio.h
liblmdb-dev       |header lmdb.h
libssl-dev        |header openssl/evp.h
libcjson-dev      |header cjson/cJSON.h
libunistring-dev  |header unictype.h
'
need_run='
lighttpd          |program lighttpd
apache2-bin       |program apache2
libapache2-mod-fcgid|file /usr/lib/apache2/modules/mod_fcgid.so
'
need_test='
libcmocka-dev     |header cmocka.h
libfcgi-dev       |header fcgiapp.h
patch             |program patch
xz-utils          |program xz
cppcheck          |program cppcheck
spin              |program spin
clang             |program clang
libclang-rt-dev   |fuzzer clang
mandoc            |program mandoc
python3           |program python3
curl              |program curl
openssl           |program openssl
spawn-fcgi        |program spawn-fcgi
apache2-suexec-custom|file /usr/lib/apache2/suexec
php-cgi           |program php-cgi
php-fpm           |program php-fpm
php-sqlite3       |php sqlite3
nginx             |program nginx
chromium          |program chromium
btrfs-progs       |program mkfs.btrfs
chromium-driver   |program chromedriver
'
need_analyse='
clang             |program clang
clang-tidy        |program clang-tidy
valgrind          |program valgrind
libc6-dbg         |file /usr/share/doc/libc6-dbg
'

# Debian's php-fpm is called php-fpm8.2 and the like.
versions() {
	for name in /usr/sbin/"$1"[0-9]*; do
		test -x "$name" && return 0
	done
	return 1
}

there() {
	case $1 in
	program) command -v "$2" >/dev/null || versions "$2" ;;
	fuzzer)
		echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
		    "$2" -fsanitize=fuzzer,address -x c - -o /dev/null \
		    >/dev/null 2>&1
		;;
	php) php-cgi -m 2>/dev/null | grep -qx "$2" ;;
	file) test -e "$2" ;;
	header)
		test -e "/usr/include/$2" ||
		    printf '#include <%s>\n' "$2" |
		    ${CC:-cc} -E - >/dev/null 2>&1
		;;
	esac
}

# The server's package must not begin to serve port 80 of this machine.  Where
# no policy stands, one that forbids starting services stands in for a moment.
policy=/usr/sbin/policy-rc.d
quiet_services() {
	test ! -e $policy || return 0
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
	trap 'rm -f $policy' EXIT
	trap 'exit 1' HUP INT TERM
}

case ${1:-all} in
build) need=$need_build ;;
run) need=$need_build$need_run ;;
analyse) need=$need_build$need_run$need_test$need_analyse ;;
*) need=$need_build$need_run$need_test ;;
esac
missing=$(printf '%s' "$need" | while IFS='|' read -r package how; do
	package=$(echo $package)
	test -n "$package" || continue
	# shellcheck disable=SC2086
	there $how || printf '%s ' "$package"
done)
test -n "$missing" || exit 0

if ! command -v apt-get >/dev/null; then
	echo "deps: missing, and there is no apt-get here: $missing" >&2
	exit 1
fi
if [ "$(id -u)" != 0 ]; then
	echo "deps: missing: $missing" >&2
	echo "deps: install it with:" >&2
	echo "  sudo apt-get install --no-install-recommends $missing" >&2
	exit 1
fi
echo "deps: installing $missing"
quiet_services
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
apt-get install -y --no-install-recommends $missing >/dev/null 2>&1 || {
	apt-get update
	apt-get install -y --no-install-recommends $missing
}
