#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# scripts/lab: what it says when something is wrong, and how a guest ends.

setup()
{
	lab=$BATS_TEST_DIRNAME/../../scripts/lab
	lab=$(readlink -f "$lab")
	cd "$BATS_TEST_TMPDIR" || exit 1
	echo 'exit 0' >script
}

need_qemu()
{
	command -v qemu-system-x86_64 >/dev/null ||
		skip "no qemu-system-x86_64 here: run scripts/setup"
}

@test "test_lab_usage" {
	run "$lab"
	[ "$status" = 2 ]
	run "$lab" fly
	[ "$status" = 2 ]
	run "$lab" --help
	[ "$status" = 0 ]
	[[ $output == *"scripts/lab boot"* ]]
}

@test "test_lab_boot_bad_arguments" {
	run "$lab" boot
	[ "$status" = 2 ]
	[[ $output == *"no kernel named"* ]]
	run "$lab" boot 6.1
	[ "$status" = 2 ]
	[[ $output == *"no script ''"*"--script"* ]]
	run "$lab" boot 6.1 --script script --net veth0
	[ "$status" = 2 ]
	[[ $output == *"no network 'veth0'"* ]]
	run "$lab" boot 6.1 --script script --time forever
	[ "$status" = 2 ]
	[[ $output == *"'forever' is no number"* ]]
	run "$lab" boot 6.1 --script script --colour red
	[ "$status" = 2 ]
	[[ $output == *"no option --colour"* ]]
}

@test "test_lab_unknown_kernel" {
	need_qemu
	run "$lab" boot 5.4 --script script
	[ "$status" = 2 ]
	[[ $output == *"no kernel '5.4': one of 6.1 "* ]]
}

# An image that cannot be fetched is no half image.
@test "test_lab_no_mirror" {
	need_qemu
	export WBELL_CACHE=$PWD/cache WBELL_DEBIAN_MIRROR=http://127.0.0.1:1
	run "$lab" fetch 6.1
	[ "$status" = 2 ]
	[[ $output == *"apt-get update failed"*"WBELL_DEBIAN_MIRROR"* ]]
	run "$lab" list
	[[ $output == *"6.1 -"* ]]
	[ -z "$(find cache/lab -name 'tmp.*')" ]
}

@test "test_lab_status_and_output_of_the_script" {
	need_qemu
	cat >script <<-'END'
	uname -r
	echo lab: exit 9
	cat /lab/add/script2
	exit 7
	END
	echo hello >script2
	run "$lab" boot 6.1 --script script --add script2 --log log
	[ "$status" = 7 ]
	[[ $output == 6.1.*hello* ]]
	# no module was refused
	! grep -q '^lab:' log
}

@test "test_lab_guest_out_of_time" {
	need_qemu
	echo 'sleep 100' >script
	run "$lab" boot 6.1 --script script --time 2
	[ "$status" = 124 ]
	[[ $output == *"not done after 2 s"* ]]
}

@test "test_lab_guest_dies" {
	need_qemu
	echo 'echo c >/proc/sysrq-trigger' >script
	run "$lab" boot 6.12 --script script
	[ "$status" = 125 ]
	[[ $output == *"the guest died"* ]]
}
