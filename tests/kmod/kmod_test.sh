#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The kernel module in a guest with a stock kernel and a virtual GPU.
#	kmod_test.sh KERNEL		or by a link named kmod_KERNEL
# Builds the module for that kernel, boots, runs the test programs; prints
# their TAP, exits 1 when something failed.
set -u -o pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd) || exit 2
top=$here/../..
name=${0##*/}
kernel=${1:-${name#kmod_}}
out=$top/build/vm/$kernel
programs=$top/build/tests/kmod

none()
{
	echo "1..0 # SKIP $1"
	exit 0
}

command -v qemu-system-x86_64 >/dev/null ||
	none "no qemu-system-x86_64 here: run scripts/setup"
[ "$kernel" != 7.3 ] || [ "$(id -u)" = 0 ] ||
	none "modules of 7.3 are built in a chroot: not root"

mkdir -p "$out" || exit 2
if ! "$top/scripts/lab" module "$kernel" "$top" "$out" >"$out/build.log" 2>&1
then
	tail -20 "$out/build.log" >&2
	echo "1..1"
	echo "not ok 1 - kmod_builds_for_$kernel"
	exit 1
fi

add=(--add "$(ldconfig -p | sed -n 's/.*libcmocka\.so\.0 .*=> //p' |
	head -1 | xargs readlink -f)")
for t in "$programs"/*_test; do
	add+=(--add "$t")
done
"$top/scripts/lab" boot "$kernel" --script "$here/guest.sh" --gpu 64M \
	--module "$out/warpbell.ko" "${add[@]}" --time 250 \
	--log "$out/kernel.log" --out "$out/tests.log"
rc=$?
tr -d '\r' <"$out/tests.log" | sed '/^lab: exit [0-9]*$/d'
if [ $rc -gt 1 ]; then
	tail -30 "$out/kernel.log" | sed 's/^/# /'
	echo "not ok 1 - kmod_guest_ended_by_itself"
fi
exit "$rc"
