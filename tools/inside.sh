#!/bin/sh
# Prints what a static program has inside: the packages of the libraries of
# which the linker took a part, with the versions that security notices name.
# usage: inside.sh CJSON-VERSION TRACE
#     TRACE: what ld -t -t printed: "(libx.a)member.o" or "libx.a(member.o)"
set -eu

packages() {
	sed -n 's/^(\([^()]*\.a\)).*/\1/p; s/^\([^()]*\.a\)(.*/\1/p' "$2" |
	    sort -u | while read -r library; do
		library=$(realpath "$library")
		case $library in
		*/libidem.a | */libfront.a) continue ;;
		*/libcjson.a) echo "cjson $(cat "$1")" && continue ;;
		esac
		package=$(dpkg -S "$library" | sed -n '1s/: .*//p')
		test -n "$package" || {
			echo "$(basename "$library") of no package"
			continue
		}
		dpkg-query -W -f '${source:Package} ${source:Version}\n' \
		    "$package"
	done | sort -u
}

text=$(packages "$@" | sed 's/$/,/' | tr '\n' ' ')
test -n "$text" || {
	echo "inside: the linker took nothing, says $2" >&2
	exit 1
}
echo "${text%, }"
