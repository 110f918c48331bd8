#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The checks of warpbell-bench can fail: kernels with one defect each are
# built beside the real ones and must be found out.
set -u
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.." || exit 2

if [ "$(id -u)" != 0 ]; then
	echo '1..0 # SKIP not root: cannot make network interfaces'
	exit 0
fi
# All of it in a namespace that goes when this does.
if [ -z "${MUTANTS_INSIDE-}" ]; then
	MUTANTS_INSIDE=1 exec unshare -n "$0"
fi
# shellcheck source=tests/collectives/bridge.bash
. tests/collectives/bridge.bash
if ! bridge_up 3 >&2; then
	echo '1..0 # SKIP no network interfaces: needs CAP_NET_ADMIN, veth, bridge'
	exit 0
fi

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
number=0 failed=0

# file | what is there | what is put there instead; the first is none
mutants='
none|x|x
channel.h|l->slot_out + 1 - COLL_SLOTS|l->slot_out - 1000000
ring.h|coll_prev(me, step + 1),|coll_prev(me, step),
tree.h|sum.a = sum.dst;|;
barrier.h|rc = coll_await_data(me, coll_prev(me, by));|me->ch->link[coll_prev(me, by)].data++;
swap.h|coll_cut(me, n, me->channel + 1) - at;|coll_cut(me, n, me->channel + 1) - at - (n > 8);
moe.h|sum += m->weight\[at\] \* row\[h\]|sum += row[h]
moe.h|n\[to\]++|n[to]
pages.h|uint64_t to = list->at\[i\];|uint64_t to = list->at[0];
reduce.h|0x7fffU + (x.u >> 16 \& 1)|0x10000U
'

# build FILE FROM TO: 0 built, 1 the place is not there
build()
{
	rm -rf "$work/gpu"
	mkdir -p "$work/gpu"
	cp -r gpu/collectives gpu/launch.h "$work/gpu"
	if [ "$1" != none ]; then
		sed -i "s|$2|$3|" "$work/gpu/collectives/$1"
		! cmp -s "gpu/collectives/$1" "$work/gpu/collectives/$1" ||
			return 1
	fi
	gcc -std=gnu11 -O1 -fPIC -Iinclude -c \
		"$work/gpu/collectives/kernels.c" -o "$work/kernels.o" &&
		gcc -pthread build/obj/gpu/bench/[!b]*.o \
			build/obj/gpu/bench/boot_tcp.o build/obj/gpu/stream.o \
			build/obj/gpu/endpoint.o \
			"$work/kernels.o" \
			build/obj/gpu/collectives/{map,run,team}.o \
			build/lib/libwbell-launch-host.a -o "$work/bench" \
			-Lbuild/lib -lwarpbell -lm \
			-Wl,-rpath,"$PWD/build/lib"
}

# judged_good TIMEOUT_MS: 0, it says that all is right
judged_good()
{
	timeout -k 2 60 "$work/bench" coll --local 3 \
		--wire "$bridge_wire" --sizes 1000,700000 --types bf16 \
		--timeout-ms "$1" --channels 2 \
		>"$work/out" 2>&1
}

while IFS='|' read -r file from to; do
	[ -n "$file" ] || continue
	number=$((number + 1))
	if ! build "$file" "$from" "$to" 2>"$work/err"; then
		echo "not ok $number - test_mutant_${number}_$file"
		echo "# not made: $from"
		sed 's/^/# /' "$work/err"
		failed=1
	elif if [ "$file" = none ]; then
		judged_good 20000
	else
		! judged_good 3000
	fi; then
		echo "ok $number - test_mutant_${number}_$file"
	else
		echo "not ok $number - test_mutant_${number}_$file"
		tail -n 5 "$work/out" | sed 's/^/# /'
		failed=1
	fi
done <<<"$mutants"
echo "1..$number"
exit "$failed"
