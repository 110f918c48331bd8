#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The transport core against Linux rdma_rxe: unmodified tools of rdma-core and
# perftest run in guests with stock kernels, as client and as server; at the
# other end is tests/interop/peer.  What each said stays in build/interop/.
#	rxe_test.sh [KERNEL...]
#	rxe_KERNEL, cm_KERNEL: links to it, all but RDMA-CM, and that alone
# WBELL_INTEROP_CASES=pattern: only the cases whose names match;
# WBELL_INTEROP_PEER=program: instead of the one that was built.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2

peer=${WBELL_INTEROP_PEER:-$PWD/build/tests/interop/peer}
lab=$PWD/scripts/lab
pattern=${WBELL_INTEROP_CASES:-.}
number=0 failed=0

skip_all()
{
	echo "1..0 # SKIP $1"
	exit 0
}

command -v qemu-system-x86_64 >/dev/null ||
	skip_all "no qemu-system-x86_64 here: run scripts/setup"
name=$(basename "$0") parts='rxe cm' into='' limit=500
case $name in
rxe_[0-9]*) parts=rxe limit=280 ;;
cm_[0-9]*) parts=cm limit=280 into=-cm ;;
esac
[ $limit = 500 ] || set -- "${name#*_}"
[ $# -gt 0 ] || set -- 6.1 6.12
if [ -z "${WBELL_INTEROP_INSIDE-}" ]; then
	# Inside there is no network to fetch from.
	if ! "$lab" fetch "$@" >&2; then
		echo "not ok 1 - images of $*"
		echo "1..1"
		exit 1
	fi
	# With the first process of a PID namespace dies all it started.
	flags=-np
	[ "$(id -u)" = 0 ] || flags=-rnp
	WBELL_INTEROP_INSIDE=1 exec unshare "$flags" --mount-proc --fork \
		--kill-child "$0" "$@"
fi

# shellcheck source=tests/interop/cm.bash
. tests/interop/cm.bash

host_ip=10.77.0.1 our_ip=10.77.0.2 guest_ip=10.77.0.3
our_ip6=fd77::2 guest_ip6=fd77::3
control=9
# of the cases that follow: in their name, for the peer, GID index of the tool
how='' ours=() gid=1 only_server=''

ok()
{
	number=$((number + 1))
	echo "ok $number - $1"
}

not_ok()
{
	number=$((number + 1)) failed=1
	echo "not ok $number - $1"
	shift
	tail -n 15 "$@" 2>&1 | sed 's/^/# /'
}

# ---- the guest ----

# ask COMMAND: runs it in the guest; its output, then "status N"
ask()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	timeout 60 bash -c 'exec 3<>"/dev/tcp/$0/$1" && echo "$2" >&3 &&
		cat <&3' "$guest_ip" "$control" "$1"
}

guest_files()
{
	cat >"$out/agent" <<-'END'
	#!/bin/sh
	read -r line
	sh -c "$line" </dev/null 2>&1
	echo "status $?"
	END
	chmod +x "$out/agent"
	cat >"$out/script" <<-END
	set -e
	ip link set eth0 mtu 4200 up
	ip addr add $guest_ip/24 dev eth0
	echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
	ip addr add $guest_ip6/64 dev eth0
	rdma link add rxe0 type rxe netdev eth0
	ibv_devinfo -v -d rxe0
	# where the GID table has the IPv6 address
	cd /sys/class/infiniband/rxe0/ports/1/gids
	grep -l '^fd77:' * | head -1 >/tmp/gid6
	nc -ll -p $control -e /lab/add/agent &
	until [ -e /tmp/end ]; do sleep 0.1; done
	dmesg
	# what a sick kernel says
	! dmesg | grep -E 'BUG:|WARNING:|Oops|soft lockup|Call Trace'
	END
}

guest_start()
{
	ip tuntap add mode tap name "$tap" &&
		ip link set "$tap" mtu 4200 up &&
		ip addr add "$host_ip/24" dev "$tap" || return
	guest_files
	"$lab" boot "$kernel" --net "tap:$tap" --script "$out/script" \
		--add "$out/agent" --out "$out/guest.out" \
		--log "$out/guest.log" --time $limit 2>"$out/guest.err" &
	guest=$!
	tshark -q -i "$tap" -f 'udp port 4791 or arp' -s 400 \
		-w "$out/wire.pcapng" >"$out/tshark.log" 2>&1 &
	shark=$!
	for _ in $(seq 300); do
		ask true >"$out/hello" 2>/dev/null && return
		kill -0 $guest 2>/dev/null || return # it died: not up
		sleep 0.2
	done
	return 1
}

guest_end()
{
	ask 'touch /tmp/end' >/dev/null 2>&1
	wait "$guest"
	rc=$?
	kill -INT "$shark"
	wait "$shark"
	ip link del "$tap"
	return $rc
}

# ---- a case ----

# judge NAME PEER_STATUS: both ends must be content
judge()
{
	local log=$out/$1

	if [ "$2" != 0 ] || ! grep -q '^status 0' "$log.tool" ||
		grep -q 'invalid data' "$log.tool"; then
		not_ok "$kernel $1" "$log.peer" "$log.tool"
		return
	fi
	ok "$kernel $1"
}

wanted()
{
	[[ $1 =~ $pattern ]] && [ ! -e "$out/dead" ]
}

# guest_client_at ADDRESS NAME TOOL "TOOL OPTIONS" PEER OPTION...
guest_client_at()
{
	local at=$1 log=$out/$2 name=$2 tool=$3 options=$4 pid
	shift 4
	wanted "$name" || return 0
	timeout 40 "$peer" --if "$tap" --ip "$our_ip" "$@" >"$log.peer" 2>&1 &
	pid=$!
	until grep -qs listening "$log.peer" || ! kill -0 $pid 2>/dev/null; do
		sleep 0.02
	done
	ask "timeout 30 $tool $options $at" >"$log.tool" 2>&1
	wait $pid
	judge "$name" $?
}

# Tools that talk over TCP find the host's kernel.
guest_client()
{
	guest_client_at "$host_ip" "$@"
}

guest_server()
{
	local log=$out/$1 name=$1 tool=$2 options=$3 pid rc
	shift 3
	wanted "$name" || return 0
	ask "timeout 30 $tool $options" >"$log.tool" 2>&1 &
	pid=$!
	timeout 40 "$peer" --if "$tap" --ip "$our_ip" --connect "$guest_ip" \
		"$@" >"$log.peer" 2>&1
	rc=$?
	wait $pid
	judge "$name" $rc
}

both()
{
	[ -n "$only_server" ] ||
		guest_client "$1${how}_guest_is_client" "${@:2}" "${ours[@]}"
	guest_server "$1${how}_guest_is_server" "${@:2}" "${ours[@]}"
}

# pingpong TYPE MTU SIZE ITERATIONS
pingpong()
{
	local options="-d rxe0 -g $gid -s $3 -n $4" check=''

	[ "$1" = ud ] || options+=" -m $2"
	[ "$1" != rc ] || check=-c
	both "ibv_$1_pingpong_mtu_$2_size_$3" "ibv_$1_pingpong" \
		"$options $check" --tool "$1_pingpong" --mtu "$2" --size "$3" \
		--iters "$4"
}

# perf TOOL MTU SIZE ITERATIONS [TOOL OPTION [PEER OPTION]]
perf()
{
	local options="-d rxe0 -x $gid -F -m $2 -s $3 -n $4 ${5-}"

	# shellcheck disable=SC2086 # none or one
	both "ib_$1_mtu_$2_size_$3${5+_${5// /_}}" "ib_$1" "$options" \
		--tool "$1" --mtu "$2" --size "$3" --iters "$4" ${6-}
}

# Every length about the path MTU, each way.
pingpong_sizes()
{
	local size mtu=$2

	for size in 1 $((mtu - 1)) "$mtu" $((mtu + 1)) $((3 * mtu + 1)); do
		pingpong "$1" "$mtu" "$size" 10
	done
}

sizes()
{
	local mtu

	for mtu in 256 512 1024 2048 4096; do
		pingpong_sizes rc "$mtu"
	done
	pingpong rc 1024 65536 10
	pingpong rc 4096 1048576 3
	pingpong uc 256 769 20
	pingpong_sizes uc 1024
	pingpong uc 4096 1048576 3
	# a datagram is one packet; the port's MTU is 4096
	for mtu in 1 1023 4095 4096; do
		pingpong ud 4096 "$mtu" 20
	done
}

transfers()
{
	perf write_bw 256 769 50
	perf write_bw 1024 1 100
	perf write_bw 4096 1048576 5
	perf write_lat 1024 1 50
	perf write_lat 1024 3073 50
	perf read_bw 256 257 50
	perf read_bw 1024 3073 50
	perf read_bw 4096 1048576 5
	perf send_bw 512 511 100
	perf send_bw 1024 65536 20
	perf atomic_bw 1024 8 100 "-A FETCH_AND_ADD" --fetch-add
	perf atomic_bw 1024 8 100 "-A CMP_AND_SWAP"
}

# One request in 25 of the peer is lost: nobody may lose more than time.
losses()
{
	how=_with_loss ours=(--drop 25)
	pingpong rc 1024 3073 50
	# in the rest only the client has requests to lose
	only_server=1
	perf write_bw 1024 65536 10
	perf read_bw 1024 65536 10
	perf send_bw 1024 3073 50
	perf atomic_bw 1024 8 100 "-A FETCH_AND_ADD" --fetch-add
	how='' ours=() only_server=''
}

ipv6()
{
	# shellcheck disable=SC2016 # the guest expands it
	how=_ipv6 ours=(--ip6 "$our_ip6") gid='$(cat /tmp/gid6)'
	pingpong rc 1024 3073 20
	pingpong rc 4096 65536 10
	pingpong uc 1024 3073 20
	pingpong ud 4096 4096 20
	perf write_bw 1024 65536 10
	perf read_bw 1024 65536 10
	perf atomic_bw 1024 8 50 "-A FETCH_AND_ADD" --fetch-add
	how='' ours=() gid=1
}

cases()
{
	sizes
	transfers
	losses
	ipv6
}

# No frame of the run may be one that an outside judge cannot read.
check_capture()
{
	local name="$kernel capture_has_no_malformed_frame" bad all
	local plain=(--disable-heuristic eth_over_ib)

	# these guess at payloads that are none of theirs
	for all in smc smb_direct rpcordma nvme-rdma lnet iser; do
		plain+=(--disable-protocol "$all")
	done
	all=$(tshark -r "$out/wire.pcapng" -Y infiniband 2>/dev/null | wc -l)
	bad=$(tshark -r "$out/wire.pcapng" "${plain[@]}" -Y '_ws.malformed or
		(udp.port == 4791 and !infiniband)' 2>"$out/bad.err" |
		tee "$out/bad.frames" | wc -l)
	echo "# $kernel: $all RoCE frames captured"
	if [ "$all" -gt 0 ] && [ "$bad" = 0 ]; then
		ok "$name"
	else
		not_ok "$name" "$out/bad.frames" "$out/bad.err"
	fi
}

for kernel in "$@"; do
	out=$PWD/build/interop/$kernel$into
	tap=wbtap${kernel//./_}
	rm -rf "$out"
	mkdir -p "$out" || exit 2
	if ! guest_start; then
		not_ok "$kernel boot" "$out/guest.err" "$out/guest.log"
		continue
	fi
	ok "$kernel boot"
	[[ $parts != *rxe* ]] || cases
	[[ $parts != *cm* ]] || rdma_cm
	if guest_end; then
		ok "$kernel guest_is_well_at_the_end"
	else
		not_ok "$kernel guest_is_well_at_the_end" "$out/guest.err" \
			"$out/guest.out"
	fi
	check_capture
done
echo "1..$number"
exit $failed
