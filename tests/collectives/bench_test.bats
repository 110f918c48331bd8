#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: BSD-2-Clause
# warpbell-bench: ranks that die, mpirun, bad input, the cost model.

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
}

setup()
{
	bench=build/bin/warpbell-bench
	dir=$BATS_TEST_TMPDIR
}

need_root()
{
	[ "$(id -u)" = 0 ] || skip "not root: cannot make network interfaces"
}

# inside SCRIPT ARGUMENT...: with a bridge, in a network namespace of its own
inside()
{
	# shellcheck disable=SC2016	# for the shell inside
	timeout -k 5 90 unshare -n bash -c '
		. tests/collectives/bridge.bash
		script=$1
		shift
		eval "$script"' inside "$@" 3>&-
}

# Starts RANKS ranks, sends SIGNAL to rank VICTIM once all work, waits.
# Leaves rank.N (what it said) and rc.N.
# shellcheck disable=SC2016	# for the shell inside
lose_one='
	ranks=$1 victim=$2 signal=$3 dir=$4
	bridge_up "$ranks" || exit 2
	for ((i = 0; i < ranks; i++)); do
		build/bin/warpbell-bench coll --rank "$i" --ranks "$ranks" \
			--boot 127.0.0.1:7500 --wire "$bridge_wire" \
			--ops all-reduce-ring --types fp32 --sizes 64K \
			--iters 1000000 --timeout-ms 3000 \
			>"$dir/rank.$i" 2>&1 &
		pid[i]=$!
	done
	# the header: rank 0 is past the meeting
	for ((i = 0; i < 200; i++)); do
		[ ! -s "$dir/rank.0" ] || break
		sleep 0.05
	done
	sleep 0.5
	kill "-$signal" "${pid[victim]}"
	start=$SECONDS
	for ((i = 0; i < ranks; i++)); do
		[ "$i" != "$victim" ] || continue
		rc=0
		wait "${pid[i]}" || rc=$?
		echo "$rc" >"$dir/rc.$i"
	done
	echo $((SECONDS - start)) >"$dir/seconds"
	kill -9 "${pid[victim]}" 2>/dev/null
	wait
	true'

# check_lost RANKS VICTIM: all others ended in time, and name it and a step
check_lost()
{
	local i

	cat "$dir"/rank.*
	[ "$(cat "$dir/seconds")" -le 13 ]
	for ((i = 0; i < $1; i++)); do
		[ "$i" != "$2" ] || continue
		[ "$(cat "$dir/rc.$i")" = 1 ]
		grep -q "^warpbell-bench: rank $i: .*rank $2.*" "$dir/rank.$i"
		grep -q "all-reduce-ring, channel 0, step [0-9]" "$dir/rank.$i"
	done
}

@test "test_rank_killed" {
	need_root
	inside "$lose_one" 4 2 KILL "$dir"
	check_lost 4 2
	grep -q "rank 2 gone" "$dir/rank.0"
}

@test "test_rank_0_killed" {
	need_root
	inside "$lose_one" 3 0 KILL "$dir"
	check_lost 3 0
}

@test "test_one_of_eight_killed" {
	need_root
	inside "$lose_one" 8 5 KILL "$dir"
	check_lost 8 5
}

@test "test_rank_stopped" {
	need_root
	inside "$lose_one" 4 1 STOP "$dir"
	check_lost 4 1
}

# Both the wire and the meeting over IPv6.
# shellcheck disable=SC2016	# for the shell inside
two_over_ipv6='
	bridge_up 2 || exit 2
	echo 0 >/proc/sys/net/ipv6/conf/lo/disable_ipv6
	for i in 1 0; do
		build/bin/warpbell-bench coll --rank "$i" --ranks 2 \
			--boot "[::1]:7500" --wire "$bridge_wire6" \
			--ops all-reduce-ring --types fp32 --sizes 64K \
			--iters 3 --timeout-ms 10000 &
		pid[i]=$!
	done
	wait "${pid[0]}" && wait "${pid[1]}"'

@test "test_ranks_over_ipv6" {
	need_root
	run inside "$two_over_ipv6"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *all-reduce-ring* ]]
}

@test "test_mpirun" {
	need_root
	[ -x "$bench-mpi" ] || skip "no MPI here when this was built"
	command -v mpirun >/dev/null || skip "no mpirun"
	# shellcheck disable=SC2016
	run inside '
		bridge_up 4 || exit 2
		export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
		timeout -k 5 60 mpirun --oversubscribe -n 4 \
			--mca btl self,vader,tcp \
			build/bin/warpbell-bench-mpi coll -j \
			--wire "$bridge_wire" --sizes 1000,65536 \
			--timeout-ms 20000 2>&1'
	echo "$output"
	[ "$status" -eq 0 ]
	# barrier, 4 operations of 3 types, 3 without, 2 sizes each
	[ "$(grep -c '"ranks": 4.*"wrong": 0}' <<<"$output")" = 31 ]
}

@test "test_ring_wire_two_threads" {
	run timeout 60 "$bench" coll -j --local 2 --wire ring:collectives \
		--sizes 1000
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(jq -s 'map(.wrong) | add' <<<"$output")" = 0 ]
	[ "$(jq -s length <<<"$output")" = 16 ]
}

@test "test_ranks_that_differ" {
	need_root
	# shellcheck disable=SC2016
	run inside '
		bridge_up 2 || exit 2
		one="build/bin/warpbell-bench coll --ranks 2 \
			--boot 127.0.0.1:7500 --ops all-gather \
			--timeout-ms 3000 --wire $bridge_wire"
		$one --rank 1 --sizes 1M & other=$!
		rc=0
		$one --rank 0 --sizes 4 || rc=$?
		wait "$other"
		echo "$? $rc"' 2>&1
	echo "$output"
	[[ ${lines[-1]} == "2 2" ]]
	[[ $output == *"start all ranks alike"* ]]
}

@test "test_stranger_at_the_boot_port" {
	need_root
	# shellcheck disable=SC2016
	run inside '
		bridge_up 2 || exit 2
		one="build/bin/warpbell-bench coll --ranks 2 --sizes 1000 \
			--boot 127.0.0.1:7500 --ops barrier,all-gather \
			--timeout-ms 5000 --wire $bridge_wire"
		$one --rank 0 & first=$!
		for ((i = 0; i < 100; i++)); do
			(exec 3<>/dev/tcp/127.0.0.1/7500 &&
				head -c 4096 /dev/urandom >&3) 2>/dev/null &&
				break
			sleep 0.05
		done
		$one --rank 1
		echo "second $?"
		wait "$first"
		echo "first $?"' 2>&1
	echo "$output"
	[[ $output == *"rank 0: refused a connection"* ]]
	[[ $output == *"second 0"* ]]
	[[ $output == *"first 0"* ]]
}

@test "test_missing_rank" {
	need_root
	# shellcheck disable=SC2016
	run inside '
		bridge_up 2 || exit 2
		build/bin/warpbell-bench coll --rank 1 --ranks 2 \
			--boot 127.0.0.1:7500 --timeout-ms 10 \
			--wire "$bridge_wire"' 2>&1
	echo "$output"
	[ "$status" -eq 2 ]
	[[ $output == *"rank 1: connect to 127.0.0.1:7500: "*": start rank 0"* ]]
}

# refused TEXT ARGUMENT...
refused()
{
	local text=$1

	shift
	run timeout 20 "$bench" "$@"
	echo "$output"
	[ "$status" -eq 2 ]
	[[ $output == "warpbell-bench: $text"* ]]
}

@test "test_bad_arguments" {
	refused "verb: none given"
	refused "wobble: no such verb" wobble
	refused "--wire: not given" coll --local 2
	refused "ranks: none given" coll --wire ring:x
	refused "--local: 1: give 2 to 16" coll --local 1
	refused "--local: 17: give 2 to 16" coll --local 17
	refused "--local: 4294967298: give" coll --local 4294967298
	refused "--rank: not below" coll --wire x --rank 2 --ranks 2
	refused "ring:x: a ring joins two" coll --wire ring:x --local 3
	refused "--sizes: 1,,2: give" coll --sizes 1,,2
	refused "--sizes: 2G: give" coll --sizes 2G
	refused "--sizes: -1: give" coll --sizes -1
	refused "--ops: all-gathre: " coll --ops all-gathre
	refused "--types: : " coll --types ""
	refused "--threads: 0: give 1 to 1024" coll --threads 0
	refused "rank 0: --boot nowhere: not HOST:PORT" coll --wire x \
		--rank 0 --ranks 2 --boot nowhere
	refused "rank 0: --boot fd00::1:7: not HOST:PORT" coll --wire x \
		--rank 0 --ranks 2 --boot fd00::1:7
	refused "a: one argument too many" coll a
	run timeout 20 "$bench" coll --local 2 --wire "af_packet:no-such%d"
	echo "$output"
	[ "$status" -eq 2 ]
	[[ $output == *"rank 1: wire: interface no-such1 does not exist"* ]]
}

@test "test_model_json" {
	run timeout 80 build/bin/warpbell bench model -j --local 2 \
		--wire ring:model --iters 2
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(jq -r .doorbell <<<"$output")" = word ]
	# no cost is negative, and not all are nothing
	jq -e '.model | to_entries | all(.value >= 0)' <<<"$output"
	jq -e '.model | .L_us > 0 and .s_us > 0' <<<"$output"
	# each error is what the two figures beside it say
	jq -e '.rows | length > 40 and all(
		(100 * (.predicted_us / .measured_us - 1) - .error_percent |
		fabs) < 2 + (.error_percent | fabs) / 20)' <<<"$output"
	jq -e '[.rows[] | select(.op == "put") | .depth] | unique |
		length == 6' <<<"$output"
	# a model that tells nothing would be wrong by orders of magnitude
	jq -e '[.rows[] | select(.op == "put" and .fitted)
		| .predicted_us / .measured_us] | sort
		| .[length / 2 | floor] | . > 0.2 and . < 5' <<<"$output"
}

@test "test_model_refuses_channels" {
	run timeout 20 "$bench" model --local 2 --wire ring:m --channels 2
	echo "$output"
	[ "$status" -eq 2 ]
	[[ $output == *"measures one channel"* ]]
}
