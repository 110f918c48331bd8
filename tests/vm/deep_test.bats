#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The debug kernel's detectors, each seen to detect a bug that was planted.  The
# case with that bug asserts nothing of it.

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	out=build/vm/planted/debug
}

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	scripts/lab kunit debug tests/vm/planted build/vm/planted/debug >&2
}

# planted BUG: the kernel's verdict, not the suite's, tells
planted()
{
	run tests/vm/suites debug "$out" "planted.ko bug=$1"
	[ "$status" = 1 ]
	[[ $output == *"not ok 8 - debug kernel_is_well"*1..8* ]]
}

@test "test_deep_healthy_suite_passes" {
	run tests/vm/suites debug "$out" planted.ko
	[ "$status" = 0 ]
	[[ $output == *"kernel_is_well"*1..8* ]]
}

@test "test_deep_failed_case_is_noticed" {
	run tests/vm/suites debug "$out" "planted.ko bug=expect"
	[ "$status" = 1 ]
	[[ $output == *"not ok 5 - debug planted.expect"* ]]
}

@test "test_deep_kasan_sees_a_byte_too_far" {
	planted bounds
	[[ $output == *"KASAN: slab-out-of-bounds in bounds"* ]]
}

@test "test_deep_kasan_sees_use_after_free" {
	planted free
	[[ $output == *"KASAN: slab-use-after-free in bounds"* ]]
}

@test "test_deep_sleep_in_atomic_context_is_seen" {
	planted atomic
	[[ $output == *"sleeping function called from invalid context"* ]]
}

@test "test_deep_kmemleak_sees_a_leak" {
	planted leak
	[[ $output == *"unreferenced object"* ]]
}

@test "test_deep_lockdep_sees_two_orders" {
	planted locks
	[[ $output == *"possible circular locking dependency"* ]]
}

# fail-nth and the three kinds of fault the module's tests ask for.
@test "test_deep_faults_can_be_injected" {
	cat >"$BATS_TEST_TMPDIR/script" <<-'END'
	cd /sys/kernel/debug || exit 1
	ls -d failslab fail_page_alloc fail_usercopy || exit 1
	sh -c 'echo 1 >/proc/self/fail-nth && echo x >/tmp/x'
	dmesg | grep -A 9 'FAULT_INJECTION: forcing a failure'
	END
	run scripts/lab boot debug --script "$BATS_TEST_TMPDIR/script"
	[ "$status" = 0 ]
	[[ $output == *"forcing a failure"* ]]
}

# An option that the kernel's source has renamed is gone without a word.
@test "test_deep_config_is_what_was_asked_for" {
	local line config
	config=$(scripts/lab headers debug)/.config
	while IFS= read -r line; do
		case $line in
		CONFIG_*=n) ! grep "^${line%=n}=" "$config" ;;
		CONFIG_*) grep -qxF "$line" "$config" || {
			echo "not there: $line"
			false
		} ;;
		esac
	done <scripts/lab.d/debug.config
}
