#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Schedules of the simulator: plain ones for their number, others under
# AddressSanitizer for what is left behind and for what is read beside frames.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
# shellcheck source=tests/tap.bash
. tests/tap.bash

bin=${WBELL_BUILD:-build}/tests/sim
seed=${SIM_SEED:-1}

run() { # name, program, arguments...
	local name=$1 out

	shift
	if out=$(timeout 170 "$@"); then
		result ok "$name"
	else
		result "not ok" "$name"
	fi
	grep '^#' <<<"$out"
}

echo 1..3
run sim_schedules_hold "$bin/sim" --seed="$seed" --count=20000 --jobs=2
run sim_schedules_hold_under_sanitizers "$bin/sim.asan" \
	--seed=$((seed + 1000000)) --count=4000 --jobs=2

# Bit for bit: another process, another program, one event log.
same=ok
for s in 7 77 777 7777; do
	a=$(timeout 20 "$bin/sim" --seed=$s | grep -o 'hash .*')
	b=$(timeout 60 "$bin/sim.asan" --seed=$s | grep -o 'hash .*')
	[ -n "$a" ] && [ "$a" = "$b" ] || same="not ok"
done
result "$same" sim_a_seed_replays_bit_for_bit
exit $failed
