#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Field report O01 (gdrcopy issues 335 and 312): how the module finds out what
# a kernel has.  The kernels are copies of 6.1's headers, changed: one that got
# a newer API without a newer number, one that cannot compile anything, one
# with a form that no probe knows.
set -u -o pipefail
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
# shellcheck source=tests/tap.bash
. tests/tap.bash

headers=$(scripts/lab headers 6.1 2>/dev/null | tail -1)
[ -d "$headers" ] || {
	echo "1..0 # SKIP no headers of kernel 6.1: scripts/lab headers 6.1"
	exit 0
}
root=${headers%/usr/src/*}
release=${headers##*/linux-headers-}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# A tree NAME of links whose makefiles name each other.
tree()
{
	cp -rs "$root" "$work/$1" || exit 2
	kdir=$work/$1/usr/src/linux-headers-$release
	common=$work/$1/usr/src/linux-headers-${release%-*}-common
	rm "$kdir/Makefile"
	sed "s#$root/#$work/$1/#" "$headers/Makefile" >"$kdir/Makefile"
}

# edit FILE SED...: a copy in place of the link
edit()
{
	local file=$1

	shift
	sed "$@" "$file" >"$work/edited" && rm "$file" &&
		mv "$work/edited" "$file"
}

build() # NAME; log in $work/NAME.log
{
	scripts/module-tree . "$work/$1.out" &&
		timeout 280 make -s -C "$kdir" M="$work/$1.out" W=1 \
			KCFLAGS=-Werror modules >"$work/$1.log" 2>&1
}

verdict() # NAME; of the command before
{
	if [ $? = 0 ]; then
		result ok "$1"
	else
		result 'not ok' "$1"
		tail -20 "$work/${2:-none}.log" 2>/dev/null | sed 's/^/# /'
	fi
}

api()
{
	grep -qx "#define $2" "$work/$1.out/kmod/api.h"
}

# vm_flags_set() came with 6.3; a distribution may have it in its 6.1.
tree backport
# shellcheck disable=SC2016	# sed's last line
edit "$common/include/linux/mm.h" '$i\
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t f)\
{ vma->vm_flags |= f; }\
static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t f)\
{ vma->vm_flags &= ~f; }'
build backport
verdict test_O01_backported_api_builds backport
api backport "WBELL_API_VM_FLAGS_SET 2" &&
	api backport "WBELL_API_EVENTFD_SIGNAL 1"
verdict test_O01_backported_api_is_found
modinfo -F vermagic "$work/backport.out/warpbell.ko" | grep -q "^$release "
verdict test_O01_vermagic_is_the_kernels

# Nothing compiles: that is said, and never read as "not there".
tree broken
rm -r "$kdir/arch/x86/include/generated"
! build broken
verdict test_O01_broken_tree_is_refused broken
grep -q "probe .*00-control.c failed: no variant compiles" "$work/broken.log"
verdict test_O01_broken_tree_is_named broken
! [ -e "$work/broken.out/kmod/api.h" ]
verdict test_O01_broken_tree_decides_nothing

# A third form of eventfd_signal(): the probe and both variants are shown.
tree unknown
edit "$common/include/linux/eventfd.h" \
	's/\beventfd_signal(struct eventfd_ctx \*ctx, __u64 n)/eventfd_signal(struct eventfd_ctx *ctx, int a, int b, int c)/'
! build unknown
verdict test_O01_unknown_form_is_refused unknown
grep -q "probe .*eventfd.c failed: no variant compiles" "$work/unknown.log" &&
	grep -q "its variant 2:" "$work/unknown.log"
verdict test_O01_unknown_form_is_named unknown

echo "1..$count"
exit "$failed"
