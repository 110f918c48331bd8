#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: BSD-2-Clause
# The warpbell command as its users meet it.

setup()
{
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	warpbell=$top/build/bin/warpbell
	holder=
}

teardown()
{
	# a test may have ended it already
	[ -z "$holder" ] || kill "$holder" 2>/dev/null || true
}

# A process with three queues; its number in $holder.
hold()
{
	local tries=0

	# Past its parent's end it must not live on: stdin is a pipe that ends.
	sleep 30 3>&- | "$top/build/tests/cli/holder" \
		>"$BATS_TEST_TMPDIR/held" 3>&- &
	holder=$!
	until grep -q ready "$BATS_TEST_TMPDIR/held"; do
		tries=$((tries + 1))
		[ "$tries" -lt 100 ]
		sleep 0.05
	done
}

# run_split COMMAND...: stdout and stderr apart, exit status in $status
run_split()
{
	status=0
	"$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
	out=$(cat "$BATS_TEST_TMPDIR/out")
	err=$(cat "$BATS_TEST_TMPDIR/err")
}

@test "test_version" {
	run_split "$warpbell" version
	[ "$status" = 0 ]
	[ "$out" = "warpbell 0.1.0" ]
	[ -z "$err" ]
	run_split "$warpbell" -j version
	[ "$(jq -r .warpbell <<<"$out")" = 0.1.0 ]
	[ "$(jq .version <<<"$out")" = 1 ]
	run_split "$warpbell" --version
	[ "$out" = "warpbell 0.1.0" ]
}

@test "test_help_on_stdout_ends_with_example" {
	for args in --help help "help queue show" "queue show --help" \
		"device show -h" "device --help" "version --help"; do
		# shellcheck disable=SC2086
		run_split "$warpbell" $args
		[ "$status" = 0 ]
		[ -z "$err" ]
		[[ $out == usage:* ]]
		[[ $(tail -n 1 <<<"$out") == "example: warpbell "* ]]
	done
}

@test "test_unknown_command_names_the_nearest" {
	run_split "$warpbell" queus show
	[ "$status" = 2 ]
	[ -z "$out" ]
	[[ $err == *"unknown command 'queus': did you mean queue?" ]]
	run_split "$warpbell" queue shwo
	[ "$status" = 2 ]
	[[ $err == *"unknown verb 'shwo': did you mean show?" ]]
	run_split "$warpbell" entanglement
	[ "$status" = 2 ]
	[[ $err == *"warpbell help lists them" ]]
}

@test "test_usage_errors_exit_2" {
	for args in queue --frobnicate "queue show -x" "queue show 12a" \
		"queue show 0" "queue show -- -5" "queue show 1 2" \
		"queue show 99999999999999999999" "device show all" \
		"version now" "-j" "help nothing"; do
		# shellcheck disable=SC2086
		run_split "$warpbell" $args
		[ "$status" = 2 ]
		[ -z "$out" ]
		[ -n "$err" ]
	done
}

@test "test_device_show" {
	WBELL_ENGINE=/nonexistent/engine.so run_split "$warpbell" device show
	[ "$status" = 0 ]
	[[ $out == *"engine"*"no"*"/nonexistent/engine.so"* ]]
	[[ $out == *"fake"*"yes"* ]]
	run_split "$warpbell" -j device show
	[ "$(jq .version <<<"$out")" = 1 ]
	[ "$(jq -r '.devices[1].provider' <<<"$out")" = fake ]
	[ "$(jq '.devices[1].usable' <<<"$out")" = true ]
}

@test "test_queue_show_stuck_and_failed" {
	hold
	run_split "$warpbell" queue show "$holder"
	[ "$status" = 0 ]
	[ "$(grep -c '^  queue 0x' <<<"$out")" = 3 ]
	[[ $out == "process $holder (holder), NIC fake"* ]]
	[[ $out == *"queue 0x12 RTS depth 16 reserved 65536 ready 65536 doorbell 65536 done 65535"* ]]
	[[ $out == *"oldest: RDMA_WRITE index 65535, 4096 bytes, local 0x7f00aabbc000 lkey 0x12300, remote 0x7f0012345678 rkey 0x180ead"* ]]
	[[ $out == *"error: queue 0x13 to peer 0x13: RDMA_WRITE index 65535 failed: transport retry counter exceeded (syndrome 0x15, vendor 0x83)"* ]]
	# The queue at rest waits for nothing.
	[ "$(grep -c 'waits for' <<<"$out")" = 1 ]
	[ "$(grep -c 'oldest:' <<<"$out")" = 1 ]
}

@test "test_queue_show_json" {
	hold
	run_split "$warpbell" queue show -j "$holder"
	[ "$status" = 0 ]
	[ "$(jq .version <<<"$out")" = 1 ]
	[ "$(jq '.queues | length' <<<"$out")" = 3 ]
	q=$(jq '.queues[] | select(.qpn == 18)' <<<"$out")
	[ "$(jq -r .oldest.raddr <<<"$q")" = 0x7f0012345678 ]
	[ "$(jq -r .oldest.length_bytes <<<"$q")" = 4096 ]
	[ "$(jq -r .state <<<"$q")" = RTS ]
	q=$(jq '.queues[] | select(.qpn == 19)' <<<"$out")
	[ "$(jq -r .error.syndrome <<<"$q")" = 0x15 ]
}

@test "test_queue_show_process_without_queues" {
	run_split "$warpbell" queue show $$
	[ "$status" = 1 ]
	[ -z "$out" ]
	[[ $err == *"process $$: no queue seen:"* ]]
	run_split "$warpbell" -j queue show $$
	[ "$status" = 1 ]
	[ "$(jq '.queues | length' <<<"$out")" = 0 ]
}

@test "test_no_arguments_shows_state" {
	hold
	run_split "$warpbell"
	[ "$status" = 0 ]
	[[ $out == PROVIDER* ]]
	[[ $out == *"process $holder (holder)"* ]]
}

@test "test_demo_found_beside_the_command" {
	mkdir -p "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/libexec/warpbell"
	cp "$warpbell" "$BATS_TEST_TMPDIR/bin"
	export LD_LIBRARY_PATH=$top/build/lib
	run_split "$BATS_TEST_TMPDIR/bin/warpbell" demo
	[ "$status" = 2 ]
	[[ $err == *"no"*"such"* || $err == *"No such file"* ]]
	[[ $err == *"build it with make"* ]]
	cat >"$BATS_TEST_TMPDIR/libexec/warpbell/warpbell-demo" <<-'END'
		#!/bin/sh
		printf '<%s>' "$@"
		exit 3
	END
	chmod +x "$BATS_TEST_TMPDIR/libexec/warpbell/warpbell-demo"
	run_split "$BATS_TEST_TMPDIR/bin/warpbell" demo -j --help "a b"
	[ "$status" = 3 ]
	[ "$out" = "<-j><--help><a b>" ]
}

@test "test_full_disk_is_no_success" {
	[ -e /dev/full ] || skip "no /dev/full here"
	status=0
	"$warpbell" help >/dev/full 2>"$BATS_TEST_TMPDIR/err" || status=$?
	[ "$status" = 2 ]
	grep -q 'cannot write' "$BATS_TEST_TMPDIR/err"
}
