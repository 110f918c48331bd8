#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Device code with one rule of its ordering taken out must fail its tests:
# a test that passes all the same sees nothing.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
# shellcheck source=tests/tap.bash
. tests/tap.bash

CC=${CC:-gcc}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT

build() { # output, test, flags...
	local out=$1 test=$2

	shift 2
	timeout 120 "$CC" -std=gnu11 -D_GNU_SOURCE -Iinclude -I. -Ibuild/gen \
		-Itests/dev -O1 -g -pthread "$@" "tests/dev/$test.c" \
		tests/dev/nic_model.c gpu/launch_host.c userlib/host.c \
		-o "$out" -lcmocka >"$dir/cc.log" 2>&1 && return
	sed 's/^/# /' "$dir/cc.log"
	return 1
}

# The mutant must fail and say what the rule prevents.
must_fail() { # name, test, pattern, flags...
	local name=$1 test=$2 pattern=$3 bin="$dir/$1"

	shift 3
	if ! build "$bin" "$test" "$@"; then
		result "not ok" "$name: does not build"
		return
	fi
	if timeout 120 "$bin" >"$dir/log" 2>&1; then
		result "not ok" "$name: passes"
	elif grep -Eq "$pattern" "$dir/log"; then
		result ok "$name"
	else
		sed 's/^/# /' "$dir/log" | head -20
		result "not ok" "$name: fails for another reason"
	fi
}

race='ThreadSanitizer: data race'
echo 1..8
must_fail no_turn_by_schedule sched_test 'malformed' -DWBELL_MUTANT_NO_TURN
must_fail no_turn_by_race sched_test "$race" -DWBELL_MUTANT_NO_TURN \
	-fsanitize=thread
must_fail no_turn_by_threads order_test "$race" -DWBELL_MUTANT_NO_TURN \
	-fsanitize=thread
must_fail relaxed_by_race sched_test "$race" -DWBELL_MUTANT_RELAXED \
	-fsanitize=thread
must_fail relaxed_by_threads order_test "$race" -DWBELL_MUTANT_RELAXED \
	-fsanitize=thread
must_fail no_lane_sync_by_race forms_test "$race" -DWBELL_MUTANT_NO_LANE_SYNC \
	-fsanitize=thread
must_fail always_plain ring_test '(FAILED|not ok).*test_wait_frees_all' \
	-DWBELL_MUTANT_PLAIN
# The same command without a mutant: the failures above are the mutants'.
if build "$dir/whole" order_test -fsanitize=thread &&
	timeout 120 "$dir/whole" >"$dir/log" 2>&1; then
	result ok whole_code_passes
else
	sed 's/^/# /' "$dir/log" | head -20
	result "not ok" whole_code_passes
fi
exit $failed
