#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The engine, the library and their tests built against DPDK 24.11 and run
# with it, in a folder with Debian trixie.
set -u
top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd) || exit 2
cd "$top" || exit 2
# shellcheck source=tests/tap.bash
. tests/tap.bash

build=build/dpdk24
log=build/log/dpdk24
mkdir -p $build $log || exit 2

inside()
{
	scripts/trixie run $build env SETUP_DONE=1 "$@"
}

if ! scripts/trixie fetch 2>"$log/fetch"; then
	skip dpdk24 "$(tail -1 "$log/fetch")"
	echo 1..1
	exit 0
fi

version=$(inside pkg-config --modversion libdpdk)
case $version in
24.11*) result ok "dpdk24_version # $version" ;;
*) result 'not ok' "dpdk24_version # '$version'" ;;
esac

if inside make -j2 check-engine-build >"$log/make" 2>&1; then
	result ok dpdk24_builds_without_warning
else
	result 'not ok' dpdk24_builds_without_warning
	grep -A5 -m5 -E 'error|warning' "$log/make" | sed 's/^/# /'
	echo "1..$count"
	exit 1
fi

# Each program is a test; what it says is shown when it fails.
inside make check-engine >"$log/tests" 2>&1
rc=$?
while read -r verdict name passed _ fails _ skips _; do
	if [ "$verdict" = ok ]; then
		result ok "dpdk24 $name # $passed passed, $skips skipped"
	else
		result 'not ok' "dpdk24 $name # $fails failed"
	fi
done < <(grep -E '^(ok|FAILED) ' "$log/tests")
if [ "$rc" != 0 ] && [ "$failed" = 0 ]; then
	result 'not ok' "dpdk24 runs all its tests # make ended with $rc"
fi
sed -n 's/^  skip: /# not tried: /p' "$log/tests"
[ "$failed" = 0 ] || sed 's/^/# /' "$log/tests"
echo "1..$count"
exit "$failed"
