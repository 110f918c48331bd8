#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# KUnit on kernels that Debian built without it: cases are counted, and one
# that fails is noticed.

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	out=build/vm/planted
}

suite()
{
	command -v qemu-system-x86_64 >/dev/null ||
		skip "no qemu-system-x86_64 here: run scripts/setup"
	[ "$1" != 7.3 ] || [ "$(id -u)" = 0 ] ||
		skip "modules of 7.3 are built in a chroot: not root"
	scripts/lab kunit "$1" tests/vm/planted "$out/$1"
	run tests/vm/suites "$1" "$out/$1" "$2"
}

counted()
{
	suite "$1" planted.ko
	[ "$status" = 0 ]
	[ "$(grep -c "^ok .* - $1 planted\." <<<"$output")" = 7 ]
	[[ $output == *"planted.skips # SKIP to see a skip counted"* ]]
	[[ $output == *"ok 8 - $1 kernel_is_well"*1..8* ]]
}

@test "test_kunit_cases_are_counted_6.1" {
	counted 6.1
}

@test "test_kunit_cases_are_counted_6.12" {
	counted 6.12
}

@test "test_kunit_cases_are_counted_7.3" {
	counted 7.3
}

@test "test_kunit_failed_case_is_noticed" {
	suite 6.1 "planted.ko bug=expect"
	[ "$status" = 1 ]
	[[ $output == *"not ok 5 - 6.1 planted.expect"* ]]
	[[ $output == *"EXPECTATION FAILED"*1..8* ]]
	[ "$(grep -c '^not ok' <<<"$output")" = 1 ]
}

ktap()
{
	awk -v NAME= -f scripts/lab.d/ktap.awk
}

@test "test_kunit_suite_cut_short_is_noticed" {
	run ktap <<-'END'
	    # Subtest: one
	    1..3
	    ok 1 a
	    ok 2 b
	END
	[[ $output == *"not ok 3 - one: did not end"*1..* ]]
	run ktap <<-'END'
	    # Subtest: one
	    1..3
	    ok 1 a
	ok 1 one
	END
	[[ $output == *"not ok 2 - one: 1 of 3 cases ran"* ]]
	run ktap <<-'END'
	    # Subtest: one
	    1..1
	    ok 1 a
	not ok 1 one
	END
	[[ $output == *"not ok 2 - one: failed without a failed case"* ]]
	run ktap </dev/null
	[[ $output == *"not ok 1 - no suite ran"* ]]
}
