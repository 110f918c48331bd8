# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Cases of RDMA-CM for rxe_test.sh, whose variables and functions these use.

# ended LOG STATUS: so the tool ended, or, well otherwise, by a race of its own:
# rping 44 closes its event channel under the thread that waits on it, which
# then ends the program (rdma-core gave that thread an eventfd later).
ended()
{
	grep -Eq "^status ($2)\$" "$1" && return
	[ "$2" = 0 ] && grep -q '^status 255' "$1" &&
		grep -q '^rdma_get_cm_event: Bad file descriptor' "$1"
}

# judge_cm NAME PEER_STATUS TOOL_STATUS PATTERN: how the tool must end, and
# what it must have said
judge_cm()
{
	local log=$out/$1

	if [ "$2" != 0 ] || ! ended "$log.tool" "$3" ||
		! grep -Eq "$4" "$log.tool"; then
		not_ok "$kernel $1" "$log.peer" "$log.tool"
		return
	fi
	ok "$kernel $1"
}

# rping_client NAME TOOL_STATUS PATTERN "TOOL OPTIONS" PEER OPTION...
rping_client()
{
	local log=$out/$1 name=$1 status=$2 said=$3 options=$4 pid
	shift 4
	wanted "$name" || return 0
	timeout 40 "$peer" --if "$tap" --ip "$our_ip" --tool rping --mtu 4096 \
		"$@" >"$log.peer" 2>&1 &
	pid=$!
	until grep -qs listening "$log.peer" || ! kill -0 $pid 2>/dev/null; do
		sleep 0.02
	done
	ask "timeout ${patience-30} rping -c $options" >"$log.tool" 2>&1
	wait $pid
	judge_cm "$name" $? "$status" "$said"
}

# rping_server: the same, the guest being the server
rping_server()
{
	local log=$out/$1 name=$1 status=$2 said=$3 options=$4 pid rc
	shift 4
	wanted "$name" || return 0
	ask "timeout ${patience-30} rping -s $options" >"$log.tool" 2>&1 &
	pid=$!
	timeout 40 "$peer" --if "$tap" --ip "$our_ip" --tool rping --mtu 4096 \
		"$@" >"$log.peer" 2>&1
	rc=$?
	wait $pid
	judge_cm "$name" $rc "$status" "$said"
}

# rping_both SUFFIX OUR_ADDRESS GUEST_ADDRESS SIZE ROUNDS [PEER OPTION...]
# -V: the tool itself compares what came back; the peer compares both ways.
rping_both()
{
	local suffix=$1 ours=$2 theirs=$3 size=$4 rounds=$5
	local last="ping data: rdma-ping-$((rounds - 1)): "
	shift 5
	rping_client "rping_size_$size${suffix}_guest_is_client" 0 "^$last" \
		"-a $ours -v -V -S $size -C $rounds" \
		--size "$size" --iters "$rounds" "$@"
	rping_server "rping_size_$size${suffix}_guest_is_server" 0 \
		"^server $last" "-a $theirs -v -V -S $size -C $rounds" \
		--size "$size" --iters "$rounds" --connect "$theirs" "$@"
}

# Nobody listens: with us, with the guest.
rping_refused()
{
	local suffix=$1 ours=$2 theirs=$3
	shift 3
	rping_client "rping_refused$suffix" '[1-9][0-9]*' \
		'RDMA_CM_EVENT_REJECTED, error 8' "-a $ours -C 1" --refused "$@"
	patience=2 rping_server "rping_refuses$suffix" '124|143' '.' \
		"-a $theirs -p 7175" --refused --connect "$theirs" "$@"
}

# We leave without a word, and with us what the tool would print: it waits for
# ever, its retries being endless (retry_cnt 7 in rdma_rxe), and is ended from
# outside.  Its kernel and our end must come to an end by themselves.
rping_vanishes()
{
	local peer_says=(--size 64 --iters 3 --vanish --port 7174)

	patience=4 rping_client rping_vanishes_guest_is_client '124|143' . \
		"-a $our_ip -v -V -C 100" "${peer_says[@]}"
	patience=10 rping_server rping_vanishes_guest_is_server '124|143' . \
		"-a $guest_ip -v -V -C 100" "${peer_says[@]}" \
		--connect "$guest_ip"
}

# perf_cm MTU SIZE ITERATIONS [PEER OPTION...]: -R talks and writes over two
# connections of RDMA-CM
perf_cm()
{
	local mtu=$1 size=$2 iters=$3
	local tool="-R -d rxe0 -x 1 -F -s $size -n $iters" name

	shift 3
	name=ib_write_bw_R_mtu_${mtu}_size_$size$how
	guest_client_at "$our_ip" "${name}_guest_is_client" ib_write_bw \
		"$tool" --tool write_bw --rdma-cm --mtu "$mtu" \
		--size "$size" --iters "$iters" "$@"
	guest_server "${name}_guest_is_server" ib_write_bw "$tool" \
		--tool write_bw --rdma-cm --mtu "$mtu" --size "$size" \
		--iters "$iters" "$@"
}

rdma_cm()
{
	local v6=(--ip6 "$our_ip6") port=(--port 7174)

	rping_both '' "$our_ip" "$guest_ip" 64 10 "${port[@]}"
	rping_both '' "$our_ip" "$guest_ip" 65535 5 "${port[@]}"
	rping_both _ipv6 "$our_ip6" "$guest_ip6" 4097 5 "${port[@]}" "${v6[@]}"
	rping_refused '' "$our_ip" "$guest_ip" "${port[@]}"
	rping_refused _ipv6 "$our_ip6" "$guest_ip6" "${port[@]}" "${v6[@]}"
	perf_cm 4096 65536 20
	perf_cm 4096 1 100
	# each kind of MAD is lost once, each way: that costs the kernel's 4 s
	rping_both _with_mads_lost "$our_ip" "$guest_ip" 64 3 "${port[@]}" \
		--lose-mads
	rping_vanishes
	# and the guest connects as before
	rping_both _after_all "$our_ip" "$guest_ip" 64 3 "${port[@]}"
}
