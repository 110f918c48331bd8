#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What device code costs: machine instructions, registers, fences and atomics
# of each operation at thread scope, compiled for each GPU, against budgets.
# And that the header is C11, C++17 and CUDA at once.
#
# An instruction is 16 bytes of code; a kernel counts whole, with what loads
# its arguments, stores its status and fills its end.  Functions out of line
# are told by their symbols and not counted: they are error paths, deadlines,
# the wait for one's turn, a look at the CQ when the ring is full, and CQEs of
# queues that are not plain.  "whole" rows have them.  Fences are those that
# PTX calls so; acquire and release operations order without one.
#
# The base is NCCL's own device code from its installed headers, in the same
# run by the same rule; it has nothing out of line.  What was measured goes to
# build/bench/budget.json.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
# shellcheck source=tests/tap.bash
. tests/tap.bash

archs="80 90 100"
out=build/bench/budget.json
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT

check() { # name, value, at most
	if [ "$2" -le "$3" ]; then
		result ok "$1: $2 of $3"
	else
		result "not ok" "$1: $2 is over $3"
	fi
}

compiles() { # name, compiler and flags...
	local name=$1

	shift
	printf '#include "wbell/device.h"\n#include "wbell/layout.h"\n' \
		>"$dir/header.$ext"
	if ! command -v "$1" >/dev/null; then
		skip "device.h is $name" "no $1"
	elif timeout 60 "$@" -Iinclude -c "$dir/header.$ext" \
		-o "$dir/header.o" >"$dir/log" 2>&1; then
		result ok "device.h is $name"
	else
		sed 's/^/# /' "$dir/log" | head -20
		result "not ok" "device.h is $name"
	fi
}

# Symbols of a cubin: "kernel 520" in bytes, nested ones "$kernel$function".
sizes() {
	readelf -sW "$1" 2>/dev/null | awk '$4 == "FUNC" { print $NF, $3 }'
}

slots() { # kernel: its own code, without what is out of line
	awk -v k="$1" '$1 == k { n += $2 }
		index($1, "$" k "$") == 1 { n -= $2 }
		END { print int((n + 15) / 16) }' "$dir/sizes"
}

out_of_line() { # kernel, function name part
	awk -v k="$1" -v f="$2" 'index($1, "$" k "$") == 1 && index($1, f) {
		n += $2 } END { print int(n / 16) }' "$dir/sizes"
}

ptx_count() { # kernel, pattern
	awk -v k="$1" -v p="$2" '
		$0 ~ "\\.entry " k "\\(" { on = 1 }
		on && $0 ~ p { n++ }
		on && /^}/ { exit }
		END { print n + 0 }' "$dir/out.ptx"
}

registers() { # kernel
	awk -v k="'$1'" '/Compiling entry/ { on = index($0, k) }
		on && /Used/ { for (i = 1; i < NF; i++) if ($i == "Used")
			print $(i + 1); exit }' "$dir/log"
}

# For the JSON: what was measured, beside what it may be and what others take.
row() { # id, what, value, unit, base, must, strive; "-": there is none
	local ok=true base=$5 ratio=null

	[ "$6" = - ] || [ "$3" -le "$6" ] || ok=false
	if [ "$base" = - ]; then
		base=null
	else
		ratio=$(awk -v v="$3" -v b="$base" 'BEGIN {
			printf "%.3f", v / b }')
	fi
	printf '{"id":"%s","what":"%s","value":%s,"unit":"%s","base":%s,' \
		"$1" "$2" "$3" "$4" "$base" >>"$dir/rows"
	printf '"ratio":%s,"must":%s,"strive":%s,"ok":%s}\n' \
		"$ratio" "${6/#-/null}" "${7/#-/null}" "$ok" >>"$dir/rows"
}

budget() { # id, what, value, base, must, strive
	row "$1" "$2" "$3" instructions "$4" "$5" "$6"
	check "$1: instructions" "$3" "$5"
}

build() { # source, flags...
	local src=$1

	shift
	timeout 120 "$nvcc" -O3 -std=c++17 -Iinclude "$@" -arch="sm_$arch" \
		-ptx -o "$dir/out.ptx" "$src" >"$dir/log" 2>&1 &&
		timeout 120 "$nvcc" -O3 -arch="sm_$arch" -cubin -Xptxas -v \
			-o "$dir/cubin" "$dir/out.ptx" >>"$dir/log" 2>&1 &&
		sizes "$dir/cubin" >"$dir/sizes"
}

# NCCL's put, put_signal and wait: "264 296 88", or "- - -".
nccl() { # handler
	if build tests/dev/budget_nccl.cu -DHANDLER="$1"; then
		echo "$(slots put) $(slots put_signal) $(slots wait)"
	else
		echo "- - -"
	fi
}

atomics='^[[:space:]]*(atom|red)\.'
fences='^[[:space:]]*(fence|membar)\.'
releases='\.(release|acq_rel)\.sys'

limits() { # label, kernel
	check "$1: registers" "$(registers "$2")" 32
	check "$1: fences" "$(ptx_count "$2" "$fences")" 2
	check "$1: atomics" "$(ptx_count "$2" "$atomics")" 4
	row "$1 registers" "registers" "$(registers "$2")" registers - 32 26
	row "$1 fences" "fences in PTX" "$(ptx_count "$2" "$fences")" fences \
		- 2 -
	row "$1 atomics" "atomics in PTX" "$(ptx_count "$2" "$atomics")" \
		atomics - 4 -
}

# What the NIC acts on is stored once all before it is released, and by no
# more releases than that: the word is its own; the record has one, and
# another lies between it and the register.
releases_once() { # label, kernel, how many
	local n

	n=$(ptx_count "$2" "$releases")
	if [ "$n" -eq "$3" ]; then
		result ok "$1: releases at system scope: $n"
	else
		result "not ok" "$1: $n releases at system scope, not $3"
	fi
}

# The order of what matters in the PTX of a kernel, one letter each.
sequence() { # kernel
	awk -v k="$1" '
		$0 ~ "\\.entry " k "\\(" { on = 1 }
		!on { next }
		/st\.release\.sys\.global\.u32/ { printf "d" }
		/fence\.acq_rel\.sys/ { printf "f" }
		/st\.mmio/ { printf "m" }
		/red\.release\.sys/ { printf "w" }
		/^}/ { exit }' "$dir/out.ptx"
}

in_order() { # label, kernel, letters
	local got

	got=$(sequence "$2")
	if [ "$got" = "$3" ]; then
		result ok "$1: record, fence, register or word: $got"
	else
		result "not ok" "$1: order of stores is '$got', not '$3'"
	fi
}

spills() { # label
	local n

	n=$(grep -c -E '[1-9][0-9]* bytes (stack|spill)' "$dir/log")
	check "$1: kernels and functions that use a stack" "$n" 0
}

whole() { # kernel: with all that is out of line
	awk -v k="$1" '$1 == k { print int(($2 + 15) / 16) }' "$dir/sizes"
}

# Rows without a budget: what else an author may want to know.
also() { # label
	local k

	for k in put_lanes put_warp put_block get put_inline fetch_add test; do
		row "$1 $k" "$k" "$(slots $k)" instructions - - -
		check "$1 $k: registers" "$(registers $k)" 40
	done
	for k in put put_signal wait; do
		row "$1 $k whole" "$k with all that is out of line" \
			"$(whole $k)" instructions - - -
	done
}

measure() { # doorbell name, its value, put must, strive, NCCL's handler
	local label="sm_$arch $1" base k put want=$((1 + ($2 == 2)))

	read -ra base <<<"$(nccl "$5")"
	if ! build tests/dev/budget.cu -DWBELL_FIX_DB_KIND="$2" \
		-DWBELL_FIX_EXCLUSIVE=0; then
		sed 's/^/# /' "$dir/log" | head -20
		result "not ok" "$label: compiles"
		return
	fi
	put=$(slots put)
	budget "$label put" "put at thread scope" "$put" "${base[0]}" "$3" "$4"
	budget "$label put_signal" "put_signal at thread scope" \
		"$(slots put_signal)" "${base[1]}" $((put + 50)) $((put + 40))
	budget "$label put_signal_fence" "put_signal with the fence bit" \
		"$(slots put_signal_fence)" "${base[1]}" $((put + 50)) \
		$((put + 40))
	budget "$label wait" "wait with its loop" "$(slots wait)" \
		"${base[2]}" 64 52
	for k in put put_signal put_signal_fence wait; do
		limits "$label $k" $k
	done
	for k in put put_signal put_lanes put_warp put_block; do
		releases_once "$label $k" "$k" "$want"
	done
	in_order "$label put" put "$([ "$2" = 2 ] && echo dfm || echo w)"
	spills "$label"
	also "$label"
}

measure_exclusive() {
	local label="sm_$arch $1 exclusive put"

	build tests/dev/budget.cu -DWBELL_FIX_DB_KIND="$2" \
		-DWBELL_FIX_EXCLUSIVE=1
	check "$label: atomics" "$(ptx_count put "$atomics")" 0
	releases_once "$label" put 1
	budget "$label" "put, one poster at a time" "$(slots put)" - "$3" -
}

write_json() {
	mkdir -p "${out%/*}" || return
	awk 'BEGIN { print "[" } { print (NR > 1 ? "," : " ") $0 }
		END { print "]" }' "$dir/rows" >"$out"
}

ext=c
compiles "C11 (gcc)" gcc -std=c11 -Wall -Wextra -Wshadow -Wpedantic -Werror
compiles "C11 (clang)" clang -std=c11 -Wall -Wextra -Wshadow -Werror
ext=cc
compiles "C++17 (g++)" g++ -std=c++17 -Wall -Wextra -Werror
compiles "C++17 (clang++)" clang++ -std=c++17 -Wall -Wextra -Werror

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ ! -x "$nvcc" ]; then
	skip "budgets" "no nvcc in PATH or /usr/local/cuda/bin"
	echo "1..$count"
	exit $failed
fi
for arch in $archs; do
	ext=cu
	compiles "CUDA, sm_$arch" "$nvcc" -std=c++17 -Werror all-warnings \
		-arch="sm_$arch"
	measure word 0 130 105 1
	measure uar 2 180 160 2
	measure_exclusive word 0 130
done
write_json || result "not ok" "$out is written"
if grep -q '"base":null' <(grep 'put at thread' "$dir/rows"); then
	skip "beside NCCL" "no nccl_device headers that compile here"
else
	result ok "beside NCCL"
fi
echo "1..$count"
exit $failed
