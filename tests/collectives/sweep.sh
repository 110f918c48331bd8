#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every collective against its CPU reference, on all ranks, over a bridge of
# veth pairs.  The short form is for make check; --long runs all of 2..8
# ranks and sizes up to 64 MiB, for many minutes.
set -u
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.." || exit 2

usage='usage: sweep [--long]'
long=
case ${1-} in
--long) long=1 ;;
"") ;;
*)
	echo "$usage" >&2
	exit 2
	;;
esac

if [ "$(id -u)" != 0 ]; then
	echo '1..0 # SKIP not root: cannot make network interfaces'
	exit 0
fi
# All of it in a namespace that goes when this does.
if [ -z "${SWEEP_INSIDE-}" ]; then
	SWEEP_INSIDE=1 exec unshare -n "$0" "$@"
fi

# shellcheck source=tests/collectives/bridge.bash
. tests/collectives/bridge.bash
bench=build/bin/warpbell-bench
number=0 failed=0

# try NAME SECONDS RANKS OPTION...
try()
{
	local name=$1 limit=$2 ranks=$3 out

	shift 3
	number=$((number + 1))
	if out=$(timeout -k 5 "$limit" "$bench" coll --local "$ranks" \
		--wire "$bridge_wire" --timeout-ms 30000 "$@" 2>&1); then
		echo "ok $number - $name"
		return
	fi
	echo "not ok $number - $name"
	printf '%s\n' "$out" | tail -n 20 | sed 's/^/# /'
	failed=1
}

short()
{
	for n in 2 3 4 8; do
		try "test_all_operations_of_${n}_ranks" 60 "$n" \
			--sizes 0,4,1000,70000
	done
	for n in 5 6 7; do
		try "test_channels_and_threads_of_${n}_ranks" 60 "$n" \
			--sizes 6,40001 --channels 3 --threads 5
	done
	try test_launch_each 60 3 --sizes 1000 --channels 2 --launch
	try test_in_place 60 4 --sizes 1000,70000 --in-place
	try test_whole_warps 60 2 --sizes 40000 --threads 64 --types bf16
	try test_beside_compute 60 3 --sizes 1000 --overlap --types fp32
	try test_many_rounds 60 3 --sizes 20000 --iters 60 --types int32
	try test_one_mebibyte 90 2 --sizes 1M,1048580
}

full()
{
	local ops=all-gather,reduce-scatter,all-reduce-ring,all-reduce-tree

	ops=$ops,all-to-all,moe-dispatch,kv-pages
	for n in 2 3 4 5 6 7 8; do
		try "test_small_of_${n}_ranks" 600 "$n" \
			--sizes 0,1,2,3,4,5,8,63,64,65,1000,4096,65535,65536
		try "test_pieces_of_${n}_ranks" 600 "$n" --channels 2 \
			--threads 33 --sizes 65537,262144,999999,1M
		try "test_large_of_${n}_ranks" 900 "$n" --ops "$ops" --sizes 4M
	done
	for type in fp32 bf16 int32; do
		try "test_64_mebibytes_of_2_ranks_$type" 900 2 --ops "$ops" \
			--types "$type" --sizes 64M
	done
	for n in 3 4 5 6 7 8; do
		try "test_64_mebibytes_of_${n}_ranks" 1800 "$n" --ops "$ops" \
			--types fp32 --sizes 64M
	done
}

if ! bridge_up 8 >&2; then
	echo '1..0 # SKIP no network interfaces: needs CAP_NET_ADMIN, veth, bridge'
	exit 0
fi
if [ -n "$long" ]; then full; else short; fi
echo "1..$number"
exit "$failed"
