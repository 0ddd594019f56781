#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles (only) what must not know an operating system with mingw-w64: core/, client/rpc, client/cli and
# client/speedtest. Needs no CMake. Prints each file and a count; fails when one does not compile or none is found.
#
#   tests/lint/mingw.sh [SOURCE-FOLDER]

set -eu

root=${1:-$(cd "$(dirname "$0")/../.." && pwd)}
cc=x86_64-w64-mingw32-gcc
if ! command -v $cc >/dev/null; then
	echo "mingw.sh: $cc is missing: apt-get install gcc-mingw-w64-x86-64" >&2
	exit 2
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Debian has none of these libraries for mingw, and their headers are the same everywhere; but /usr/include itself must
# stay out of sight, or the headers of Linux would be found.
mkdir "$scratch/include"
arch=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)
for header in json-c sodium sodium.h qrencode.h; do
	ln -s "/usr/include/$header" "$scratch/include/$header"
done
# OpenSSL keeps two of its headers in the architecture's folder.
mkdir "$scratch/include/openssl"
ln -s /usr/include/openssl/*.h "$scratch/include/openssl/"
if [ -d "/usr/include/$arch/openssl" ]; then
	ln -sf "/usr/include/$arch"/openssl/*.h "$scratch/include/openssl/"
fi

cd "$root"
list=$(find core client/rpc client/cli client/speedtest -name '*.c' | sort)
count=0
failed=0
for file in $list; do
	if $cc -std=gnu11 -O1 -Wall -Werror -D__USE_MINGW_ANSI_STDIO=1 -DWGTCP_VERSION='"0"' -I. \
		-isystem "$scratch/include" -c -o "$scratch/object.o" "$file"; then
		echo "mingw $file"
		count=$((count + 1))
	else
		echo "mingw $file: does not compile" >&2
		failed=$((failed + 1))
	fi
done
echo "mingw: $count files compiled, $failed failed"
[ "$failed" = 0 ] && [ "$count" -gt 0 ]
