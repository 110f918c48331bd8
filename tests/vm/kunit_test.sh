#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The module's KUnit suites on a kernel as Debian built it.
#	kunit_KERNEL, a link to kunit_test.sh
set -u
name=$(basename "$0")
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
kernel=${name#kunit_}
out=build/vm/$kernel

command -v qemu-system-x86_64 >/dev/null || {
	echo "1..0 # SKIP no qemu-system-x86_64 here: run scripts/setup"
	exit 0
}
if ! scripts/lab kunit "$kernel" . "$out" >"$out.log" 2>&1; then
	echo "not ok 1 - $kernel module_builds_without_a_warning"
	tail -n 40 "$out.log" | sed 's/^/# /'
	echo "1..1"
	exit 1
fi
mapfile -t modules < <(cd "$out" && find kmod -name '*_kunit.ko' | sort)
[ ${#modules[@]} -gt 0 ] || {
	echo "1..0 # SKIP no suites in kmod/ yet"
	exit 0
}
exec tests/vm/suites "$kernel" "$out" "${modules[@]}"
