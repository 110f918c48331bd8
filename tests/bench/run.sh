#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Rows of the transport's table, each side in turn with its peer.
#	run.sh			G1 and G3, judged by what has been reached, into
#				build/bench/transport.json
#	run.sh goals [ROW...]	all rows, or those named (G1 ... G13), judged by
#				the goals, into build/bench/goals.json
# Exits 1 where a row misses its must; a row without a peer has a reason.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2

bin=build/tests/bench
rounds=5
limit=360 # seconds in all
work=$(mktemp -d) || exit 2
ns_a=wbbench$$a
ns_b=wbbench$$b
missed=0
# shellcheck source=tests/bench/peers.sh
. tests/bench/peers.sh

clean_up() {
	wire_down
	rm -rf "$work" "/var/run/dpdk/wbbench$$" # what testpmd leaves
}
trap clean_up EXIT
trap 'exit 130' INT TERM

wanted() { # row
	local w asked=

	[ ${#rows[@]} != 0 ] || asked=1
	for w in "${rows[@]}"; do
		[ "$w" != "$1" ] || asked=1
	done
	[ -n "$asked" ] || return 1
	[ $SECONDS -ge $limit ] || return 0
	absent "$1" "not measured" "" higher 0 0 "the $limit s were over"
	return 1
}

# A row without a value.
absent() { # id, what, unit, better, must, strive, reason
	"$bin/row" "$@" </dev/null
}

# Rounds of OURS beside PEER, both functions that print a number.
beside() { # ours, peer, id, what, unit, better, must, strive [, absent because]
	local ours=$1 peer=$2 i a b

	shift 2
	if [ $# -gt 6 ]; then
		absent "$@"
		return
	fi
	for ((i = 0; i < rounds; i++)); do
		[ $SECONDS -lt $limit ] || break
		a=$($ours) && b=$($peer) && echo "$a $b"
	done | "$bin/row" "$@" || missed=1
}

have() { # program
	command -v "$1" >/dev/null
}

# ---- ours ----

scaled() { # factor, command: its number times factor
	local factor=$1 n

	shift
	n=$("$@") || return 1
	awk -v n="$n" -v f="$factor" 'BEGIN { print n * f }'
}

ring_rate() {
	scaled 1e-6 timeout 20 "$bin/figure" rate ring:bench,mtu=4200 \
		ring:bench,mtu=4200 8 2000000
}

bandwidth() { # wire, wire, messages
	scaled 5.24288e-4 timeout 20 "$bin/figure" rate "$1" "$2" 65536 "$3"
}

memif_bandwidth() {
	bandwidth "memif:$work/our.sock" "memif:$work/our.sock" 20000
}

veth_together() {
	bandwidth "$ns_a@af_packet:wbbench1,ip=192.0.2.11/24" \
		"$ns_a@af_packet:wbbench2,ip=192.0.2.12/24" 3000
}

veth_apart=("$ns_a@af_packet:$device,ip=192.0.2.11/24"
	"$ns_b@af_packet:$device,ip=192.0.2.12/24")

veth_bandwidth() {
	bandwidth "${veth_apart[@]}" 3000
}

veth_latency() {
	timeout 20 "$bin/pingpong" "${veth_apart[@]}" 1
}

# ---- rows ----

# UCP: the lower layer has no short put over TCP and is slower without one.
ucx_tcp_rate() {
	local -x UCX_TLS=tcp UCX_NET_DEVICES=lo

	scaled 1e-6 ucx_rate 127.0.0.1 300000 -t ucp_put_bw -s 8 -O 64
}

ucx_shm_rate() {
	scaled 1e-6 ucx_rate 127.0.0.1 20000000 -t put_bw -x posix -d memory \
		-D short -s 8
}

ucx_veth_bandwidth() {
	scaled 5.24288e-4 ucx_rate 192.0.2.2 8000 -t put_bw -x tcp \
		-d "$device" -D zcopy -s 65536
}

G2() {
	local no=()

	have ucx_perftest || no=("no ucx_perftest here: scripts/setup-bench")
	beside ring_rate ucx_tcp_rate G2 "8 B WRITE, ring / UCX tcp put 8 B" \
		"M messages/CPU-s" higher 20 30 "${no[@]}"
	beside ring_rate ucx_shm_rate G2 "8 B WRITE, ring / UCX shm put 8 B" \
		"M messages/CPU-s" higher 0.5 0.7 "${no[@]}"
}

G3() {
	local no=()

	have dpdk-testpmd || no=("no dpdk-testpmd here: scripts/setup-bench")
	beside memif_bandwidth testpmd_memif G3 \
		"64 KiB WRITE, memif / testpmd io 4200 B" "Gb/CPU-s" \
		higher 0.6 0.75 "${no[@]}"
}

G4_together() {
	local no=("${no_veth[@]}")

	have dpdk-testpmd || no=("no dpdk-testpmd here: scripts/setup-bench")
	beside veth_together testpmd_veth G4 \
		"64 KiB WRITE, veth / testpmd io 4200 B" "Gb/CPU-s" \
		higher 0.85 0.95 "${no[@]}"
}

G4_apart() {
	local no=("${no_veth[@]}")

	have iperf3 || no=("no iperf3 here: scripts/setup-bench")
	beside veth_bandwidth iperf G4 \
		"64 KiB WRITE, veth / iperf3 TCP, MTU 9000" "Gb/CPU-s" \
		higher 1.2 1.5 "${no[@]}"
	no=("${no_veth[@]}")
	have ucx_perftest || no=("no ucx_perftest here: scripts/setup-bench")
	beside veth_bandwidth ucx_veth_bandwidth G4 \
		"64 KiB WRITE, veth / UCX tcp 64 KiB" "Gb/CPU-s" \
		higher 3.5 5 "${no[@]}"
}

# Ours and bare frames alternate inside the program.
over_raw() { # kind, a, b, raw a, raw b [, absent because]
	local what="half-RTT, 8 B, $1, less bare frames"

	if [ $# -gt 5 ]; then
		absent G6 "$what" us lower 0.12 0.06 "$6"
		return
	fi
	timeout 60 "$bin/pingpong" "$2" "$3" 9 "$4" "$5" >"$work/raw"
	awk -v kind="$1" '{ o += $1; r += $2; n++ } END { if (n)
		printf "# %s: ours %.3f us, bare frames %.3f us (means)\n",
			kind, o / n, r / n }' "$work/raw"
	awk '{ print $1 - $2 }' "$work/raw" |
		"$bin/row" G6 "$what" us lower 0.12 0.06 || missed=1
}

# On the veth bare frames take a pair of their own, made as the other.
second_veth() {
	ip -n "$ns_a" link add wbbench3 mtu 9000 type veth \
		peer name wbbench4 mtu 9000 &&
		ip -n "$ns_a" link set wbbench3 up &&
		ip -n "$ns_a" link set wbbench4 up
}

G6() {
	local m="memif:$work/m" r="memif:$work/r" ns="$ns_a@af_packet"

	over_raw ring ring:a,mtu=4200 ring:a,mtu=4200 ring:b,mtu=4200 \
		ring:b,mtu=4200
	over_raw memif "$m" "$m" "$r" "$r"
	over_raw af_packet "$ns:wbbench1,ip=192.0.2.11/24" \
		"$ns:wbbench2,ip=192.0.2.12/24" "$ns:wbbench3" \
		"$ns:wbbench4" "${no_veth[@]}"
}

G7() {
	local no=("${no_veth[@]}")

	have ucx_perftest || no=("no ucx_perftest here: scripts/setup-bench")
	beside veth_latency ucx_latency G7 \
		"half-RTT, 8 B, veth / UCX tcp am_lat" us lower 0.5 0.35 \
		"${no[@]}"
	no=("${no_veth[@]}")
	have sockperf || no=("no sockperf here: scripts/setup-bench")
	beside veth_latency sockperf_latency G7 \
		"half-RTT, 8 B, veth / sockperf UDP" us lower 0.7 0.6 \
		"${no[@]}"
}

collected() { # messages: instructions inside the NICs
	timeout 100 valgrind --tool=callgrind \
		--callgrind-out-file="$work/callgrind" \
		--toggle-collect=nicpair_half "$bin/count" "$1" 2>&1 |
		awk '/Collected/ { print $NF; ok = 1 } END { exit !ok }'
}

# Two lengths: what both have, the making of queues, cancels.
G12() {
	local what="instructions, 8 B WRITE, one end, haswell" a b

	if ! have valgrind; then
		absent G12 "$what" "" lower 350 280 "no valgrind here"
		return
	fi
	a=$(collected 3200) && b=$(collected 9600)
	awk -v a="${a:-0}" -v b="${b:-0}" 'BEGIN {
		if (a && b) print (b - a) / 6400 / 2 }' |
		"$bin/row" G12 "$what" instructions lower 350 280 || missed=1
}

G13() {
	local i

	timeout 40 "$bin/figure" idle ring:idle ring:idle |
		"$bin/row" G13 "CPU of an idle engine over 5 s" \
			"% of a core" lower 1 1 || missed=1
	for ((i = 0; i < rounds; i++)); do
		timeout 20 "$bin/figure" memory ring:memory ring:memory
	done |
		"$bin/row" G13 "resident, 1,024 queues of depth 128" \
			MiB lower 64 64 || missed=1
}

program() { # of this folder, that tells its rows itself
	timeout 120 "$bin/$1" "${@:2}" && return
	[ $? = 1 ] || echo "# $1 did not end well"
	missed=1
}

# finish AREA
finish() {
	jq -s 'sort_by(.id | ltrimstr("G") | tonumber)' "$WBELL_BENCH_ROWS" \
		>"build/bench/$1.json" || exit 2
	echo "# written to build/bench/$1.json in $SECONDS s"
	exit $missed
}

mkdir -p build/bench
export WBELL_BENCH_ROWS=$work/rows
: >"$WBELL_BENCH_ROWS"
if [ "${1-}" != goals ]; then
	program transport first
	finish transport
fi
shift
rows=("$@")
no_veth=()
scripts/setup-bench || echo "# peers are missing; their rows have no value"
wire_up || no_veth=("no veth here: needs root and the right to make namespaces")
if wanted G1 || wanted G5; then program transport; fi
wanted G2 && G2
wanted G3 && G3
wanted G4 && G4_together
second_veth || no_veth=("no veth here")
wanted G6 && G6
[ ${#no_veth[@]} != 0 ] || wire_apart ||
	no_veth=("the two ends of a veth did not reach each other")
wanted G4 && G4_apart
wanted G7 && G7
if wanted G8 || wanted G9; then program loss; fi
wanted G10 && program icrc
wanted G11 && program scale
wanted G12 && G12
wanted G13 && G13
finish goals
