#!/bin/sh
# Fetches cJSON's one source file for static programs: Debian has no static
# libcjson.  It is the distribution's source package of the very version that
# its libcjson-dev is, with the distribution's patches, checked by apt against
# the keys of the machine's own archives.  Nothing of the machine's settings is
# changed: lists and archives lie in a folder that is removed again.
# usage: cjson-source.sh FOLDER         FOLDER gets cJSON.c, cJSON.h, version
# Exit status 3: it cannot be had here, and why.
set -eu
export LC_ALL=C
to=$1

cannot() {
	echo "cjson-source: no source of cJSON to be had: $*" >&2
	exit 3
}

for program in apt-get apt-cache dpkg-query patch tar xz; do
	command -v $program >/dev/null || cannot "$program is missing"
done

# "1.7.15-1+deb12u4" of the package cjson; not installed: what would be.
version=$(dpkg-query -W -f '${source:Version}' libcjson-dev 2>/dev/null) ||
	version=$(apt-cache policy libcjson-dev |
	    sed -n 's/^ *Candidate: *//p')
case $version in
'' | '(none)') cannot "apt knows no libcjson-dev; run apt-get update" ;;
esac

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial" "$tmp/x"

# The archives that this machine takes its libcjson-dev from, as deb-src lines.
apt-cache policy libcjson-dev |
    sed -n 's|^ *[0-9]* \([a-z+]*:[^ ]*\) \([^ /]*\)/.*|\1 \2|p' |
    sort -u >"$tmp/from"
# shellcheck disable=SC2016
apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' | sort -u >"$tmp/targets"

# The keyring that the machine's sources name for an archive, if they do.
keyring() {
	grep -lsF "$1" /etc/apt/sources.list /etc/apt/sources.list.d/* |
	    while read -r file; do
		sed -n 's|.*[Ss]igned-[Bb]y[:=] *\(/[^] ]*\).*|\1|p' "$file"
	done | head -n 1
}
while read -r uri release component; do
	grep -qxF "${uri%/} $release" "$tmp/from" || continue
	key=$(keyring "${uri%/}")
	echo "deb-src ${key:+[signed-by=$key] }$uri $release $component"
done <"$tmp/targets" >"$tmp/sources.list"
test -s "$tmp/sources.list" || cannot "no archive of libcjson-dev in apt's" \
    "sources"

apt() {
	apt-get -qq -o Dir::Etc::SourceList="$tmp/sources.list" \
	    -o Dir::Etc::SourceParts=/dev/null \
	    -o Dir::State::Lists="$tmp/lists" -o Dir::Cache="$tmp/cache" \
	    -o APT::Sandbox::User= -o Acquire::Languages=none \
	    -o Acquire::Retries=0 -o Acquire::http::Timeout=10 "$@"
}
if ! apt update >"$tmp/log" 2>&1 ||
    ! (cd "$tmp" && apt source --download-only "cjson=$version") \
    >>"$tmp/log" 2>&1; then
	cannot "$(grep -m 1 '^[EW]: ' "$tmp/log" || tail -n 1 "$tmp/log")"
fi

cd "$tmp/x"
tar xf "$tmp"/cjson_*.orig.tar.* --strip-components=1
tar xf "$tmp"/cjson_*.debian.tar.*
grep -v '^ *\(#\|$\)' debian/patches/series 2>/dev/null |
    while read -r name _; do
	patch -p1 -s <"debian/patches/$name"
done
cd - >/dev/null
mkdir -p "$to"
cp "$tmp/x/cJSON.h" "$to"
echo "$version" >"$to/version"
cp "$tmp/x/cJSON.c" "$to/cJSON.c.new"
mv "$to/cJSON.c.new" "$to/cJSON.c"
