#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The main job, and either end killed in the middle of it.

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
}

setup()
{
	[ "$(id -u)" = 0 ] || skip "not root: cannot make namespaces"
	# shellcheck source=scripts/lab.bash
	. scripts/lab.bash
	demo=build/bin/warpbell-demo
	dir=$BATS_TEST_TMPDIR
	head -c 3000017 /dev/urandom >"$dir/file"
}

teardown()
{
	[ "$(id -u)" != 0 ] || lab_down
}

# Both ends in the background; $1: file.  Exit codes go to files.
start_both()
{
	lab_up
	(
		rc=0
		lab_in_b "$demo" recv --timeout-ms 5000 \
			--wire "af_packet:$lab_if_b,ip=$lab_nic_b/24" \
			--listen "$lab_tcp_b:7471" --out "$dir/received" \
			>"$dir/recv.out" 2>"$dir/recv.err" </dev/null || rc=$?
		echo "$rc" >"$dir/recv.rc"
	) 3>&- &
	recv_job=$!
	(
		rc=0
		lab_in_a "$demo" send --timeout-ms 5000 \
			--wire "af_packet:$lab_if_a,ip=$lab_nic_a/24" \
			--connect "$lab_tcp_b:7471" "$1" \
			>"$dir/send.out" 2>"$dir/send.err" </dev/null || rc=$?
		echo "$rc" >"$dir/send.rc"
	) 3>&- &
	send_job=$!
}

# Waits until bytes flow: both ends are past the bootstrap.
until_running()
{
	local bytes

	for _ in $(seq 100); do
		bytes=$(lab_in_b cat \
			"/sys/class/net/$lab_if_b/statistics/rx_bytes")
		[ "$bytes" -lt 10000000 ] || return 0
		sleep 0.05
	done
	return 1
}

# kill_end NAMESPACE: the demo process in it.
kill_end()
{
	ip netns pids "$1" | xargs kill -9
}

@test "test_demo_small_file" {
	run scripts/demo -o "$dir/out" -t 5000 -n 2000 "$dir/file"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"GPU: none, CPU threads"* ]]
	[[ $output == *"NIC: software, af_packet on "* ]]
	sha=$(sha256sum "$dir/file" | cut -d' ' -f1)
	[[ $output == *"SHA-256 $sha match"* ]]
	[[ $output == *"capture $dir/out/wire.pcapng: "*" all RoCEv2, 0 malformed"* ]]
}

@test "test_demo_over_ipv6" {
	run scripts/demo -6 -o "$dir/out" -t 5000 -n 2000 "$dir/file"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"SHA-256 "*" match"* ]]
	[[ $output == *" all RoCEv2, 0 malformed"* ]]
	tshark -r "$dir/out/wire.pcapng" -Y '!ipv6' >"$dir/not-v6"
	[ ! -s "$dir/not-v6" ]
}

@test "test_demo_one_byte_file" {
	printf x >"$dir/one"
	run scripts/demo -o "$dir/out" -t 5000 -n 100 "$dir/one"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "test_demo_leaves_no_namespace" {
	run scripts/demo -o "$dir/out" -t 5000 -n 100 "$dir/file"
	[ "$status" -eq 0 ]
	run ip netns list
	[[ $output != *wbell-* ]]
}

@test "test_demo_received_file_equal" {
	start_both "$dir/file"
	wait "$send_job" "$recv_job"
	cat "$dir"/*.err
	[ "$(cat "$dir/send.rc")" = 0 ]
	[ "$(cat "$dir/recv.rc")" = 0 ]
	cmp "$dir/file" "$dir/received"
}

@test "test_demo_receiver_killed" {
	truncate -s 512M "$dir/big"
	start_both "$dir/big"
	until_running
	kill_end "$lab_b"
	start=$SECONDS
	wait "$send_job"
	[ $((SECONDS - start)) -le 10 ]
	cat "$dir/send.err"
	[ "$(cat "$dir/send.rc")" = 1 ]
	grep -q "peer $lab_tcp_b:7471 gone: connection" "$dir/send.err"
}

@test "test_demo_sender_killed" {
	truncate -s 512M "$dir/big"
	start_both "$dir/big"
	until_running
	kill_end "$lab_a"
	start=$SECONDS
	wait "$recv_job"
	[ $((SECONDS - start)) -le 10 ]
	cat "$dir/recv.err"
	[ "$(cat "$dir/recv.rc")" = 1 ]
	grep -q "peer $lab_tcp_a:[0-9]* gone: connection" "$dir/recv.err"
}

@test "test_demo_link_cut" {
	truncate -s 512M "$dir/big"
	start_both "$dir/big"
	until_running
	lab_in_b ip link set "$lab_if_b" down
	wait "$send_job" "$recv_job"
	cat "$dir/send.err" "$dir/recv.err"
	[ "$(cat "$dir/send.rc")" = 1 ]
	[ "$(cat "$dir/recv.rc")" = 1 ]
}
