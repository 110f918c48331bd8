#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Finds out which form of an API a kernel has.
#	probe.sh OUT PROBE.c... -- COMPILER FLAG...
# A probe's second line is "/* probe: MACRO N */"; it is compiled with
# -DTRY=1 to N, of which exactly one must succeed, and OUT gets the number as
# MACRO.  Anything else ends the build with the probe's name and what the
# compiler said: "does not compile" is never taken for "is not there".
set -u

out=$1
shift
probes=
while [ "$1" != -- ]; do
	probes="$probes $1"
	shift
done
shift

work=$(mktemp -d "$out.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# try PROBE NUMBER COMPILER FLAG...
try()
{
	probe=$1
	number=$2
	shift 2
	"$@" -Werror -Wno-unused "-DTRY=$number" -c "$probe" \
		-o "$work/probe.o" 2>"$work/log.$number"
}

# why PROBE FACT
why()
{
	echo "warpbell: probe $1 failed: $2" >&2
	for log in "$work"/log.*; do
		echo "warpbell: its variant ${log##*.}:" >&2
		head -n 12 "$log" >&2
	done
	echo "warpbell: mend the kernel's build tree (KDIR), or $1 if this" \
		"kernel has a third form" >&2
	exit 1
}

{
	echo "/* SPDX-License-Identifier: GPL-2.0-only */"
	echo "/* Made by kmod/probe.sh for one kernel. */"
} >"$work/api.h"
for probe in $probes; do
	words=$(sed -n 's,^/\* probe: \([A-Z0-9_]* [0-9]\) \*/$,\1,p' "$probe")
	macro=${words% *}
	rm -f "$work"/log.*
	n=1
	found=
	while [ "$n" -le "${words#* }" ]; do
		if try "$probe" "$n" "$@"; then
			found="$found $n"
		fi
		n=$((n + 1))
	done
	case $found in
	" "?) echo "#define $macro${found}" >>"$work/api.h" ;;
	"") why "$probe" "no variant compiles" ;;
	*) why "$probe" "more than one variant compiles:$found" ;;
	esac
done
mv "$work/api.h" "$out"
