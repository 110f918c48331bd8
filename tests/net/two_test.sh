#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two processes, two engines, one real wire: memif, and veth between two
# network namespaces.  Every byte is compared, with and without faults.
# shellcheck disable=SC2317 # test_case calls functions by name
set -u

peer=$(cd "$(dirname "$0")" && pwd)/peer
tmp=$(mktemp -d)
a=wbt$$a b=wbt$$b
number=0 failed=0

pages=/sys/kernel/mm/hugepages/hugepages-2048kB
pages_were=

clean() {
	[ -z "$pages_were" ] || echo "$pages_were" >"$pages/nr_hugepages"
	ip netns del "$a" 2>/dev/null
	ip netns del "$b" 2>/dev/null
	rm -rf "$tmp"
}
trap clean EXIT
trap 'exit 1' INT TERM

ok() {
	number=$((number + 1))
	echo "ok $number - $1"
}

not_ok() {
	number=$((number + 1)) failed=1
	echo "not ok $number - $1"
	sed 's/^/# /' "$tmp"/*.err | tail -20
}

# value SIDE COUNTER: of the latest conversation, 0 when it stayed 0
value() {
	awk -v n="$2" '$2 == n { v = $3 } END { print v + 0 }' "$tmp/$1.out"
}

# talk SERVER_PREFIX CLIENT_PREFIX SERVER_WIRE CLIENT_WIRE OPTION...
talk() {
	local sp=$1 cp=$2 sw=$3 cw=$4 server rc=0
	shift 4
	# shellcheck disable=SC2086 # the prefixes are words
	timeout 100 $sp "$peer" server "$tmp/boot" "$sw" "$@" \
		>"$tmp/server.out" 2>"$tmp/server.err" &
	server=$!
	# A memif client needs its server's socket.
	for _ in $(seq 100); do
		[ -S "$tmp/boot" ] && break
		sleep 0.05
	done
	# shellcheck disable=SC2086
	timeout 100 $cp "$peer" client "$tmp/boot" "$cw" "$@" \
		>"$tmp/client.out" 2>"$tmp/client.err" || rc=1
	wait "$server" || rc=1
	return "$rc"
}

memif_talk() {
	local sk=$1 ck=$2
	shift 2
	talk '' '' "memif:$tmp/m,role=server$sk" "memif:$tmp/m,role=client$ck" \
		"$@"
}

veth_talk() {
	local sk=$1 ck=$2
	shift 2
	talk "ip netns exec $a" "ip netns exec $b" "af_packet:wb0$sk" \
		"af_packet:wb0$ck" "$@"
}

make_veth() {
	ip netns add "$a" && ip netns add "$b" &&
		ip -n "$a" link add wb0 type veth peer name wb0 netns "$b" &&
		ip -n "$a" link set wb0 mtu "$1" up &&
		ip -n "$b" link set wb0 mtu "$1" up
}

test_case() {
	local name=$1
	shift
	if "$@"; then ok "$name"; else not_ok "$name"; fi
}

faults=',fault=drop=0.02+dup=0.02+reorder=0.02+corrupt=0.02+seed='

with_faults() { # WIRE SEED OPTION...
	local kind=$1 seed=$2
	shift 2
	"${kind}_talk" "${faults/@/1}$seed" "${faults/@/2}$((seed + 100))" \
		"seed=$seed" "$@" || return 1
	# It must have met them all.
	for c in drop dup reorder corrupt; do
		[ "$(value client "fault_$c")" -gt 0 ] || return 1
	done
	[ "$(value server rx_drop_bad_icrc)" -gt 0 ]
}

# What a payload might be is guessed by these: payloads here are random.
guesses=(smc smb_direct rpcordma nvme-rdma lnet iser infiniband_sdp drbd)

# dissect SIDE OPTION...: what came to this side
dissect() {
	tshark -n -r "$tmp/$1.pcapng" --disable-heuristic eth_over_ib \
		"${guesses[@]/#/--disable-protocol=}" "${@:2}" 2>>"$tmp/tshark"
}

# What tshark must find in what came to SIDE from the engine US, which it asked
# for: US is asked for and told, US asks and tells its group, RoCEv2 comes in
# the one flow of its queue, and nothing is malformed.
judge_side() { # SIDE US
	local what
	for what in "icmpv6.type == 135 && ipv6.src == $2" \
		"icmpv6.type == 136 && icmpv6.nd.na.target_address == $2" \
		"icmpv6.type == 131 && ipv6.src == ::" \
		"infiniband && ipv6.src == $2"; do
		[ -n "$(dissect "$1" -c 1000 -Y "$what")" ] && continue
		echo "$1: no frame with $what" >"$tmp/judge.err"
		return 1
	done
	dissect "$1" -Y '_ws.malformed || icmpv6.checksum.status == "Bad"' \
		>"$tmp/judge.err"
	[ ! -s "$tmp/judge.err" ] &&
		[ "$(dissect "$1" -Y "infiniband && ipv6.src == $2" -T fields \
			-e ipv6.flow -e udp.srcport | sort -u | wc -l)" = 1 ]
}

# watch SIDE NAMESPACE: frames that a packet socket sends past the kernel's
# queues are seen only where they arrive.
watch() {
	ip netns exec "$2" tshark -n -i wb0 -w "$tmp/$1.pcapng" -s 200 \
		>/dev/null 2>"$tmp/$1.watch" &
	watchers+=($!)
	for _ in $(seq 100); do
		grep -q 'Capture started' "$tmp/$1.watch" && break
		sleep 0.1
	done
}

# watched COMMAND...: with tshark at both ends of the veth
watched() {
	local watchers=() rc=0
	if ! command -v tshark >/dev/null; then
		"$@"
		return
	fi
	watch server "$a"
	watch client "$b"
	"$@" || rc=1
	sleep 0.5
	kill -INT "${watchers[@]}"
	wait "${watchers[@]}"
	[ "$rc" = 0 ] && judge_side server fd09::2 && judge_side client fd09::1
}

captured() {
	local pcap=$tmp/c.pcapng
	memif_talk '' ",capture=$pcap" ops=200 || return 1
	command -v tshark >/dev/null || return 0
	local n bad now first
	n=$(tshark -r "$pcap" -Y infiniband 2>/dev/null | wc -l)
	bad=$(tshark -r "$pcap" -Y '!infiniband || _ws.malformed' 2>/dev/null |
		wc -l)
	[ "$n" -gt 200 ] && [ "$bad" -eq 0 ] || return 1
	[ "$n" -eq "$(value client capture_frames)" ] || return 1
	now=$(date +%s)
	first=$(tshark -r "$pcap" -c 1 -T fields -e frame.time_epoch \
		2>/dev/null)
	first=${first%.*}
	[ $((now - first)) -lt 60 ] && [ $((now - first)) -ge 0 ]
}

# A disk that is full ends the capture, not the traffic.
capture_disk_full() {
	mkdir -p "$tmp/full"
	if ! mount -t tmpfs -o size=1m none "$tmp/full" 2>/dev/null; then
		echo '# cannot mount a small disk here'
		return 0
	fi
	local rc=0
	memif_talk '' ",capture=$tmp/full/c.pcapng" ops=2000 || rc=1
	[ "$(grep -c 'No space left' "$tmp/client.err")" = 1 ] || rc=1
	if command -v tshark >/dev/null; then
		tshark -r "$tmp/full/c.pcapng" >/dev/null 2>"$tmp/tshark.err" ||
			rc=1
	fi
	umount "$tmp/full"
	return "$rc"
}

# Enough for two engines; put back at exit.
take_pages() {
	[ -w $pages/nr_hugepages ] || return 1
	pages_were=$(cat "$pages/nr_hugepages")
	echo $((pages_were + 192)) >"$pages/nr_hugepages"
	[ "$(cat "$pages/free_hugepages")" -ge 160 ]
}

# The pages must be in use meanwhile.
huge_talk() {
	local before least=1000000 now talking
	before=$(cat "$pages/free_hugepages")
	memif_talk '' '' ops=20000 &
	talking=$!
	while kill -0 "$talking" 2>/dev/null; do
		now=$(cat "$pages/free_hugepages")
		[ "$now" -ge "$least" ] || least=$now
		sleep 0.01
	done
	wait "$talking" && [ "$least" -lt "$before" ]
}

test_case test_two_memif_polled memif_talk '' '' ops=5000 polled
test_case test_two_memif_thread memif_talk '' '' ops=5000
test_case test_two_memif_path_mtu_256 memif_talk '' '' ops=2000 path_mtu=256
test_case test_two_memif_large memif_talk '' '' ops=300 max=1048576
test_case test_two_memif_ipv6 memif_talk ',ip=fd09::1/64' ',ip=fd09::2/64' \
	ops=5000
test_case test_two_memif_ipv6_link_local memif_talk ',ip=fe80::1' \
	',ip=fe80::2' ops=1000 path_mtu=256
for seed in 1 2 3; do
	test_case "test_two_memif_faults_seed_$seed" \
		with_faults memif $seed ops=3000
done
test_case test_two_memif_half_lost memif_talk ',fault=drop=0.3' \
	',fault=drop=0.3+seed=2' ops=200 retry=7
test_case test_capture_is_read_by_tshark captured
if [ "$(id -u)" = 0 ]; then
	test_case test_capture_disk_full capture_disk_full
fi

if make_veth 1500 2>/dev/null; then
	test_case test_two_veth_mtu_1500 veth_talk ',ip=10.9.0.1/24' \
		',ip=10.9.0.2/24' ops=2000
	test_case test_two_veth_faults with_faults veth 5 ops=2000
	test_case test_two_veth_ipv6_seen_by_tshark watched veth_talk \
		',ip=fd09::1/64' ',ip=fd09::2/64' ops=500
	faults=",ip=fd09::@/64$faults"
	test_case test_two_veth_ipv6_faults with_faults veth 7 ops=2000
	ip -n "$a" link set wb0 mtu 4200
	ip -n "$b" link set wb0 mtu 4200
	test_case test_two_veth_mtu_4200 veth_talk '' '' ops=2000 max=65536
	test_case test_two_veth_ipv6_faults_4200 with_faults veth 8 ops=1000 \
		max=65536
	faults=${faults#*/64}
	test_case test_two_veth_faults_4200 with_faults veth 6 ops=1000 max=65536
else
	number=$((number + 1))
	echo "ok $number - test_two_veth # SKIP needs network namespaces (root)"
fi
if take_pages; then
	test_case test_two_memif_hugepages huge_talk
else
	number=$((number + 1))
	echo "ok $number - test_two_memif_hugepages # SKIP no 160 pages of 2 MB"
fi
echo "1..$number"
exit $failed
