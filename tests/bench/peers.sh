# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What run.sh measures beside: each function prints one number or fails.
# Needs $bin (programs of this folder), $work (a folder of its own), $ns_a and
# $ns_b (namespaces), and wire_up having run for what goes over the veth.

: "${bin:?}" "${work:?}" "${ns_a:?}" "${ns_b:?}"
port=23410
device=wbbench0 # of both ends, where each is in a namespace of its own

# Seconds of CPU that a process and its threads have used.
cpu_of() { # pid
	cat /proc/"$1"/task/*/schedstat 2>/dev/null |
		awk '{ ns += $1 } END { if (!NR) exit 1; print ns / 1e9 }'
}

# Ends a process of ours that had its time.
put_down() { # pid
	local i

	for i in {1..40}; do
		kill -0 "$1" 2>/dev/null || break
		[ "$i" -lt 20 ] || kill -9 "$1" 2>/dev/null
		sleep 0.05
	done
	wait "$1" 2>/dev/null
}

# ---- the veth ----

# Both ends in the first namespace: one process opens both.
wire_up() {
	ip netns add "$ns_a" && ip netns add "$ns_b" &&
		ip -n "$ns_a" link add wbbench1 mtu 9000 type veth \
			peer name wbbench2 mtu 9000 || return 1
	local end

	for end in wbbench1 wbbench2; do
		ip netns exec "$ns_a" ethtool -K "$end" tso off gso off \
			gro off >/dev/null || return 1
		ip -n "$ns_a" link set "$end" up || return 1
	done
}

# One end to the second namespace, with addresses; UCX wants one name.
wire_apart() {
	local ns end=wbbench1 n=1

	ip -n "$ns_a" link set wbbench2 netns "$ns_b" || return 1
	for ns in "$ns_a" "$ns_b"; do
		ip -n "$ns" link set "$end" down &&
			ip -n "$ns" link set "$end" name "$device" &&
			ip -n "$ns" addr add 192.0.2.$n/24 dev "$device" &&
			ip -n "$ns" link set "$device" up &&
			ip -n "$ns" link set lo up || return 1
		end=wbbench2
		n=2
	done
	timeout 10 ip netns exec "$ns_a" ping -q -c 1 -w 5 192.0.2.2 \
		>/dev/null 2>&1
}

wire_down() {
	ip netns del "$ns_a" 2>/dev/null
	ip netns del "$ns_b" 2>/dev/null
}

# ---- testpmd ----

testpmd_seen() { # packets received on both ports; $1: the how-manyth time
	local i

	echo "show port stats all" >&9
	for i in {1..100}; do
		[ "$(grep -c RX-packets "$work/pmd.out")" -lt $((2 * $1)) ] ||
			break
		sleep 0.02
	done
	awk '/RX-packets/ { n[++k] = $2 }
		END { if (k < 2) exit 1; printf "%.0f\n", n[k] + n[k - 1] }' \
		"$work/pmd.out"
}

testpmd_watch() { # pid: packets per CPU-second over a second
	local n0 n1 c0 c1

	sleep 1.5
	echo "start tx_first 4" >&9
	sleep 0.3
	n0=$(testpmd_seen 1) && c0=$(cpu_of "$1") || return 1
	sleep 1
	n1=$(testpmd_seen 2) && c1=$(cpu_of "$1") || return 1
	printf 'stop\nquit\n' >&9
	awk -v n0="$n0" -v n1="$n1" -v c0="$c0" -v c1="$c1" 'BEGIN {
		if (c1 - c0 < 0.05 || n1 <= n0)
			exit 1
		print (n1 - n0) / (c1 - c0) }'
}

# Gb per CPU-second of 4200 B frames that go round between two ports.
testpmd() { # vdev, vdev [, command to run it by]
	local first=$1 second=$2 rate rc pid

	shift 2
	rm -f "$work/pmd.in"
	mkfifo "$work/pmd.in" || return 1
	"$@" stdbuf -oL dpdk-testpmd --lcores 0@0,1@0 --no-pci --no-huge \
		-m 256 --no-telemetry --file-prefix="wbbench$$" \
		--vdev="$first" --vdev="$second" -- -i --forward-mode=io \
		--mbuf-size=4480 --txpkts=4200 --total-num-mbufs=1025 \
		<"$work/pmd.in" >"$work/pmd.out" 2>&1 9>&- &
	pid=$!
	exec 9>"$work/pmd.in"
	rate=$(testpmd_watch "$pid")
	rc=$?
	exec 9>&-
	put_down "$pid"
	[ $rc = 0 ] || return 1
	awk -v r="$rate" 'BEGIN { print r * 4200 * 8e-9 }'
}

testpmd_memif() {
	local common="id=0,socket-abstract=no,rsize=7,bsize=4352"

	rm -f "$work/pmd.sock"
	testpmd "net_memif0,role=server,socket=$work/pmd.sock,$common" \
		"net_memif1,role=client,socket=/.$work/pmd.sock,$common"
}

testpmd_veth() {
	local common="framesz=4352,blocksz=69632,framecnt=256,qdisc_bypass=1"

	testpmd "net_af_packet0,iface=wbbench1,$common" \
		"net_af_packet1,iface=wbbench2,$common" \
		ip netns exec "$ns_a"
}

# ---- iperf3 ----

# Gb per CPU-second of both ends, by its own account.
iperf() {
	local pid

	timeout 15 ip netns exec "$ns_b" taskset -c 1 iperf3 -s -1 -p $port \
		>/dev/null 2>&1 &
	pid=$!
	sleep 0.3
	timeout 15 ip netns exec "$ns_a" taskset -c 0 iperf3 -c 192.0.2.2 \
		-p $port -t 2 -J >"$work/iperf.json" 2>&1
	put_down $pid
	jq -e '.end | .sum_received.bits_per_second * 1e-9 /
		((.cpu_utilization_percent.host_total +
		.cpu_utilization_percent.remote_total) / 100)' \
		"$work/iperf.json" 2>/dev/null
}

# ---- UCX ----

# Runs both ends of ucx_perftest; $work/ucx.out has the client's CSV, and
# $work/ucx.cpu lines "user system" of both.
ucx() { # server's address, options of the client
	local pid address=$1 in_a=() in_b=() TIMEFORMAT='%3U %3S'

	shift
	if [ "$address" != 127.0.0.1 ]; then
		in_a=(ip netns exec "$ns_a")
		in_b=(ip netns exec "$ns_b")
	fi
	: >"$work/ucx.cpu"
	port=$((port + 1))
	export UCX_LOG_LEVEL=error
	{
		time timeout 30 "${in_b[@]}" taskset -c 1 ucx_perftest \
			-p $port >/dev/null 2>&1
	} 2>>"$work/ucx.cpu" &
	pid=$!
	sleep 0.4
	{
		time timeout 30 "${in_a[@]}" taskset -c 0 ucx_perftest \
			"$address" -p $port -f -v "$@" \
			>"$work/ucx.out" 2>/dev/null
	} 2>>"$work/ucx.cpu"
	# A server whose client did not come would wait for the next.
	grep -q '^ *[0-9]' "$work/ucx.out" || pkill -P $pid
	wait $pid
	grep -q '^ *[0-9]' "$work/ucx.out" &&
		[ "$(wc -l <"$work/ucx.cpu")" = 2 ]
}

ucx_cpu() {
	awk '{ s += $1 + $2 } END { print s }' "$work/ucx.cpu"
}

# Puts per CPU-second of both ends, what starting costs taken off.
ucx_rate() { # server's address, puts, options of the client
	local idle busy address=$1 n=$2 how=(-w 1)

	shift 2
	how+=("$@")
	ucx "$address" "${how[@]}" -n 1 || return 1
	idle=$(ucx_cpu)
	ucx "$address" "${how[@]}" -n "$n" || return 1
	busy=$(ucx_cpu)
	awk -v n="$n" -v i="$idle" -v b="$busy" 'BEGIN {
		if (b - i < 0.05)
			exit 1
		print n / (b - i) }'
}

ucx_latency() {
	ucx 192.0.2.2 -x tcp -d "$device" -t am_lat -s 8 -w 1000 -n 40000 ||
		return 1
	awk -F, '/^ *[0-9]/ { print $2 }' "$work/ucx.out"
}

# ---- sockperf ----

sockperf_latency() {
	local pid

	timeout 15 ip netns exec "$ns_b" taskset -c 1 sockperf server \
		-i 192.0.2.2 -p 11111 --nonblocked >/dev/null 2>&1 &
	pid=$!
	sleep 0.4
	timeout 15 ip netns exec "$ns_a" taskset -c 0 sockperf ping-pong \
		-i 192.0.2.2 -p 11111 --nonblocked -m 14 -t 1 \
		>"$work/sockperf.out" 2>&1
	kill "$pid" 2>/dev/null
	put_down "$pid"
	awk '/percentile 50\.000/ { print $NF; ok = 1 }
		END { exit !ok }' "$work/sockperf.out"
}
