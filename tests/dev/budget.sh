#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What device code costs: machine instructions, registers, fences and atomics
# of each operation at thread scope, compiled for each GPU, against budgets.
# And that the header is C11, C++17 and CUDA at once.
#
# An instruction is 16 bytes of code.  Functions out of line are told by
# their symbols and not counted: they are error paths, the wait for one's
# turn, and the loop of wait, which has a line of its own.  Fences are those
# that PTX calls so; acquire and release operations order without one.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2

archs="80 90 100"
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
count=0
failed=0

result() { # ok-or-not, name
	count=$((count + 1))
	echo "$1 $count - $2"
	[ "$1" != "not ok" ] || failed=1
}

check() { # name, value, at most
	if [ "$2" -le "$3" ]; then
		result ok "$1: $2 of $3"
	else
		result "not ok" "$1: $2 is over $3"
	fi
}

skip() {
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
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

build() { # arch, flags...
	local arch=$1

	shift
	timeout 120 "$nvcc" -O3 -std=c++17 -Iinclude "$@" -arch="sm_$arch" \
		-ptx -o "$dir/out.ptx" tests/dev/budget.cu >"$dir/log" 2>&1 &&
		timeout 120 "$nvcc" -O3 -arch="sm_$arch" -cubin -Xptxas -v \
			-o "$dir/cubin" "$dir/out.ptx" >>"$dir/log" 2>&1 &&
		sizes "$dir/cubin" >"$dir/sizes"
}

atomics='^[[:space:]]*(atom|red)\.'
fences='^[[:space:]]*(fence|membar)\.'

operation() { # label, kernel, slots
	local label=$1 kernel=$2

	check "$label: instructions" "$(slots "$kernel")" "$3"
	check "$label: registers" "$(registers "$kernel")" 32
	check "$label: fences" "$(ptx_count "$kernel" "$fences")" 2
	check "$label: atomics" "$(ptx_count "$kernel" "$atomics")" 4
}

spills() { # label
	local n

	n=$(grep -c -E '[1-9][0-9]* bytes (stack|spill)' "$dir/log")
	check "$1: kernels and functions that use a stack" "$n" 0
}

measure() { # doorbell name, its value, budget of put
	local label="sm_$arch $1" put

	if ! build "$arch" -DWBELL_FIX_DB_KIND="$2" -DWBELL_FIX_EXCLUSIVE=0; then
		sed 's/^/# /' "$dir/log" | head -20
		result "not ok" "$label: compiles"
		return
	fi
	put=$(slots put)
	operation "$label put" put "$3"
	operation "$label put_signal" put_signal $((put + 50))
	operation "$label put_signal, fenced" put_signal_fence $((put + 50))
	operation "$label wait" wait 64
	check "$label wait, its loop and a look at one CQE" \
		$(($(out_of_line wait wait_on) + $(out_of_line wait cq_step))) \
		176
	spills "$label"
}

measure_exclusive() {
	build "$arch" -DWBELL_FIX_DB_KIND="$2" -DWBELL_FIX_EXCLUSIVE=1
	check "sm_$arch $1 exclusive put: atomics" \
		"$(ptx_count put "$atomics")" 0
	check "sm_$arch $1 exclusive put: instructions" "$(slots put)" "$3"
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
	measure word 0 130
	measure uar 2 180
	measure_exclusive word 0 130
done
echo "1..$count"
exit $failed
