#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the benches' judge says: medians, both directions, rows without value.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
# shellcheck source=tests/tap.bash
. tests/tap.bash

row=build/tests/bench/row
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
export WBELL_BENCH_ROWS=$dir/rows

# Rounds go in, lines joined by ";"; what jq makes of the row must come out.
check() { # name, exit, rounds, better, must, jq filter, wanted [, reason]
	local rc got

	: >"$dir/rows"
	tr ';' '\n' <<<"$3" | "$row" G0 a us "$4" "$5" 0 "${@:8}" >/dev/null
	rc=$?
	got=$(jq -r "$6" "$dir/rows")
	if [ "$rc" = "$2" ] && [ "$got" = "$7" ]; then
		result ok "$1"
		return
	fi
	result "not ok" "$1"
	echo "# exit $rc, not $2; $6 gave $got, not $7"
}

figure='[.ratio, .min, .max, .ok] | join(" ")'
check test_higher_kept 0 '2 1;9 3;10 4' higher 2.4 "$figure" "2.5 2 3 true"
check test_higher_missed 1 '2 1;9 3;10 4' higher 2.6 "$figure" \
	"2.5 2 3 false"
check test_lower_kept 0 '2 1;9 3;10 4' lower 2.6 "$figure" "2.5 2 3 true"
check test_lower_missed 1 '2 1;9 3;10 4' lower 2.4 "$figure" "2.5 2 3 false"
check test_ratio_of_pairs_not_of_medians 0 '1 1;30 10;2 8' higher 1 \
	'[.value, .base, .ratio] | join(" ")' "2 8 1"
check test_value_alone 1 '7;5;6' lower 5.5 \
	'[.base, .value, .ratio] | map(tostring) | join(" ")' "null 6 6"
check test_even_number_of_rounds 0 '1;2;4;8' lower 3 .ratio 3
check test_no_round 0 '' lower 1 '[.value, .ok, .reason] |
	map(tostring) | join(" ")' "null null no round gave a number"
check test_torn_round 0 '1 2;3' lower 1 .reason "no round gave a number"
check test_base_of_zero 0 '1 0' lower 1 .reason "no round gave a number"
check test_reason 0 '1 2' lower 1 '[.value, .reason] | map(tostring) |
	join(" ")' "null no peer" "no peer"
echo "1..$count"
exit $failed
