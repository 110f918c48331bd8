#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What the demo is given wrongly: a message "what: fact: mend", exit 2 when it
# could not run and 1 when the peer was at fault, no wait without an end.

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || return 1
}

setup()
{
	demo=build/bin/warpbell-demo
	dir=$BATS_TEST_TMPDIR
	wire=memif:$dir/none,role=client
	echo hello >"$dir/file"
}

# fails STATUS PATTERN COMMAND...: and its last line has three parts.
fails()
{
	local want=$1 pattern=$2

	shift 2
	run timeout 20 "$@"
	echo "exit $status: $output"
	[ "$status" -eq "$want" ]
	[[ $output =~ $pattern ]]
	[[ ${lines[-1]} =~ ^[^:]+:.*:\ .*:\ .+ ]]
}

@test "test_demo_no_command" {
	run "$demo"
	[ "$status" -eq 2 ]
	[[ $output == usage:* ]]
}

@test "test_demo_help" {
	run "$demo" --help
	[ "$status" -eq 0 ]
	[[ $output == usage:* ]]
}

@test "test_demo_file_missing" {
	fails 2 "nosuch: No such file" "$demo" send --wire "$wire" \
		--connect 127.0.0.1:1 "$dir/nosuch"
}

@test "test_demo_file_is_directory" {
	fails 2 "not a regular file" "$demo" send --wire "$wire" \
		--connect 127.0.0.1:1 "$dir"
}

@test "test_demo_file_empty" {
	: >"$dir/empty"
	fails 2 "is empty" "$demo" send --wire "$wire" \
		--connect 127.0.0.1:1 "$dir/empty"
}

@test "test_demo_wire_unknown" {
	fails 2 "pigeon" "$demo" send --wire pigeon:1 --connect 127.0.0.1:1 \
		"$dir/file"
}

@test "test_demo_interface_missing" {
	fails 2 "nosuchif" "$demo" send --wire af_packet:nosuchif \
		--connect 127.0.0.1:1 "$dir/file"
}

@test "test_demo_number_out_of_range" {
	fails 2 "give a number 1..1024" "$demo" send --threads 1025 \
		--wire "$wire" --connect 127.0.0.1:1 "$dir/file"
	fails 2 "give a number 1..16" "$demo" send --queues 17 \
		--wire "$wire" --connect 127.0.0.1:1 "$dir/file"
	fails 2 "chunk: -1" "$demo" send --chunk=-1 \
		--wire "$wire" --connect 127.0.0.1:1 "$dir/file"
}

@test "test_demo_port_refused" {
	fails 2 "Connection refused" "$demo" send --timeout-ms 400 \
		--wire ring:x --connect 127.0.0.1:1 "$dir/file"
}

@test "test_demo_address_without_port" {
	local where

	for where in localhost localhost: :7471 fd00::1:7471 '[fd00::1]' \
		'[fd00::1' '[]:7471' ''; do
		fails 2 "not HOST:PORT" "$demo" send --wire ring:x \
			--connect "$where" "$dir/file"
	done
}

@test "test_demo_nobody_connects" {
	fails 2 "no sender came" "$demo" recv --timeout-ms 400 \
		--wire ring:x --listen 127.0.0.1:17471 --out "$dir/out"
}

# A stranger on the bootstrap's port: $1 is what it says.
stranger()
{
	"$demo" recv --timeout-ms 1500 --wire ring:x --listen 127.0.0.1:17472 \
		--out "$dir/out" >"$dir/recv.out" 2>&1 3>&- &
	local pid=$!

	for _ in $(seq 60); do
		if exec 9<>/dev/tcp/127.0.0.1/17472; then
			break
		fi
		sleep 0.05
	done 2>/dev/null
	# it may hang up on the first line, before all is said
	printf '%b' "$1" >&9 || echo "cut off"
	rc=0
	wait $pid || rc=$?
	exec 9>&-
	cat "$dir/recv.out"
	[ "$rc" = 1 ]
}

@test "test_demo_stranger_talks_http" {
	stranger 'GET / HTTP/1.1\r\n\r\n'
	grep -q "not a warpbell-demo's" "$dir/recv.out"
}

@test "test_demo_stranger_of_other_version" {
	stranger 'WBDP\x00\x63\x00\x01\x00\x00\x08\x18'
	grep -q "its version is 99, ours 1" "$dir/recv.out"
}

@test "test_demo_stranger_claims_huge_message" {
	stranger 'WBDP\x00\x01\x00\x01\xff\xff\xff\xff'
	grep -q "type 1 of 4294967295 bytes" "$dir/recv.out"
}

@test "test_demo_stranger_says_nothing" {
	stranger ''
	grep -q "silent for 1500 ms" "$dir/recv.out"
}

# A hello of size, messages, chunk, queues (printf \x groups) and addresses.
hello()
{
	local header='WBDP\x00\x01\x00\x01\x00\x00\x08\x18'
	local zeros

	printf -v zeros '\\x00%.0s' $(seq 2048)
	stranger "$header$1$zeros"
}

@test "test_demo_stranger_offers_huge_file" {
	hello '\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\1\0\1\0\0\0\0\0\1'
	grep -q "a file of 18446744073709551615 bytes" "$dir/recv.out"
}

@test "test_demo_stranger_asks_for_too_many_queues" {
	hello '\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\1\0\0\0\0\1\0'
	grep -q "256 queues" "$dir/recv.out"
}

@test "test_demo_stranger_gives_no_addresses" {
	hello '\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\1\0\0\0\0\0\1'
	grep -qi "address" "$dir/recv.out"
}

@test "test_demo_script_file_missing" {
	fails 2 "no such file" scripts/demo "$dir/nosuch"
}
