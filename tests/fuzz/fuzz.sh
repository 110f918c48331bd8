#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each fuzzer for FUZZ_SECONDS (20), from the corpus of the golden vectors.  An
# input that breaks a promise is kept in build/fuzz/ and named.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
# shellcheck source=tests/tap.bash
. tests/tap.bash

seconds=${FUZZ_SECONDS:-20}
bin=${WBELL_BUILD:-build}/fuzz
names=(frames wqes boot)

# Memory that was freed is kept poisoned, but not so much of it.
export ASAN_OPTIONS=quarantine_size_mb=8

lib=$(clang-14 -print-file-name=libclang_rt.fuzzer-x86_64.a 2>/dev/null)
if [ ! -f "$lib" ]; then
	echo "1..0 # SKIP clang-14 has no libFuzzer here (libclang-rt-14-dev)"
	exit 0
fi

fuzz() { # name
	local name=$1 log="$bin/$1.log"

	mkdir -p "$bin/found/$name"
	if timeout $((seconds + 60)) "$bin/$name" -max_total_time="$seconds" \
		-max_len=4096 -len_control=0 -timeout=60 -rss_limit_mb=1024 \
		-artifact_prefix="$bin/$name-" -print_final_stats=1 \
		"$bin/found/$name" "$bin/corpus/$name" >"$log" 2>&1; then
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
	fuzz "$name"
done
exit $failed
