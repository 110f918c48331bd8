#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each fuzzer for FUZZ_SECONDS (60), two at a time, from the corpus of the golden
# vectors.  An input that breaks a promise is kept in build/fuzz/ and named.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
# shellcheck source=tests/tap.bash
. tests/tap.bash

seconds=${FUZZ_SECONDS:-60}
bin=${WBELL_BUILD:-build}/fuzz
names=(frames wqes boot neighbours mads)

# Memory that was freed is kept poisoned, but not so much of it.
export ASAN_OPTIONS=quarantine_size_mb=8

lib=$(clang-14 -print-file-name=libclang_rt.fuzzer-x86_64.a 2>/dev/null)
if [ ! -f "$lib" ]; then
	echo "1..0 # SKIP clang-14 has no libFuzzer here (libclang-rt-14-dev)"
	exit 0
fi

# In the foreground of a time limit on the whole, so that none outlives it.
run() { # name
	mkdir -p "$bin/found/$1"
	rm -f "$bin/$1.rc"
	timeout --foreground $((seconds + 60)) "$bin/$1" \
		-max_total_time="$seconds" -max_len=4096 -len_control=0 \
		-timeout=60 -rss_limit_mb=1024 -artifact_prefix="$bin/$1-" \
		-print_final_stats=1 "$bin/found/$1" "$bin/corpus/$1" \
		>"$bin/$1.log" 2>&1
	echo $? >"$bin/$1.rc"
}

judge() { # name
	local name=$1 log="$bin/$1.log"

	if [ "$(cat "$bin/$name.rc")" = 0 ]; then
		result ok "fuzz_$name"
	else
		result "not ok" "fuzz_$name"
		grep -E 'ERROR|SUMMARY|Test unit|^ +#[0-9] ' "$log" |
			head -20 | sed 's/^/# /'
		echo "# again: $bin/$name $(sed -n \
			's/.*Test unit written to //p' "$log")"
	fi
	sed -n 's/^stat::number_of_executed_units: */# inputs: /p
		/DONE/s/^[^c]*\(cov: [0-9]*\).*/# \1 edges/p' "$log"
}

echo "1..${#names[@]}"
for name in "${names[@]}"; do
	[ "$(jobs -pr | wc -l)" -lt 2 ] || wait -n
	run "$name" &
done
wait
for name in "${names[@]}"; do
	judge "$name"
done
exit $failed
