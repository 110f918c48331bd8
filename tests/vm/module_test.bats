#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# scripts/lab: modules for the guests' kernels, and the guest's virtual GPU.
bats_require_minimum_version 1.5.0

setup()
{
	lab=$(readlink -f "$BATS_TEST_DIRNAME/../../scripts/lab")
	cd "$BATS_TEST_TMPDIR" || exit 1
	mkdir hello
	echo 'obj-m := hello.o' >hello/Kbuild
	cat >hello/hello.c <<-'END'
	#include <linux/module.h>
	static int __init hello_init(void)
	{
		pr_info("good morning\n");
		return 0;
	}
	static void __exit hello_exit(void)
	{
	}
	module_init(hello_init);
	module_exit(hello_exit);
	MODULE_LICENSE("Dual BSD/GPL");
	MODULE_DESCRIPTION("says hello");
	END
	echo 'dmesg | grep "good morning" && uname -r' >script
}

need()
{
	command -v qemu-system-x86_64 >/dev/null ||
		skip "no qemu-system-x86_64 here: run scripts/setup"
	[ "$1" != 7.3 ] || [ "$(id -u)" = 0 ] ||
		skip "modules of 7.3 are built in a chroot: not root"
}

build_load_unload()
{
	need "$1"
	"$lab" module "$1" hello out
	echo 'rmmod hello' >>script
	run "$lab" boot "$1" --script script --module out/hello.ko
	[ "$status" = 0 ]
	[[ $output == *"good morning"*"$1."* ]]
}

@test "test_lab_module_6.1" {
	build_load_unload 6.1
}

@test "test_lab_module_6.12" {
	build_load_unload 6.12
}

@test "test_lab_module_7.3" {
	build_load_unload 7.3
}

@test "test_lab_headers_name_the_kernel_of_the_image" {
	need 6.1
	run --separate-stderr "$lab" headers 6.1
	[ "$status" = 0 ]
	[ -f "$output/Module.symvers" ]
	[[ $("$lab" list) == *"6.1 ${output##*/linux-headers-}"* ]]
}

@test "test_lab_module_with_a_warning_is_no_module" {
	need 6.1
	sed -i 's/pr_info/int unused; pr_info/' hello/hello.c
	run "$lab" module 6.1 hello out
	[ "$status" != 0 ]
	[[ $output == *"unused"* ]]
	[ ! -e out/hello.ko ]
}

@test "test_lab_module_bad_arguments" {
	run "$lab" module 6.1 hello
	[ "$status" = 2 ]
	run "$lab" module 6.1 nowhere out
	[ "$status" = 2 ]
	[[ $output == *"no folder nowhere"* ]]
	mkdir empty
	run "$lab" module 6.1 empty out
	[ "$status" = 2 ]
	[[ $output == *"no Kbuild"* ]]
	run "$lab" headers 5.4
	[ "$status" = 2 ]
	[[ $output == *"no kernel '5.4'"* ]]
}

# Its script must not run as if all were well.
@test "test_lab_module_refused" {
	need 6.1
	sed -i 's/return 0/return -ENODEV/' hello/hello.c
	"$lab" module 6.1 hello out
	run "$lab" boot 6.1 --script script --module out/hello.ko
	[ "$status" = 3 ]
	[[ $output == *"module hello.ko was refused"* ]]
	[[ $output != *-amd64* ]]
}

# Both sides see one memory, and the guest can pull the card.
@test "test_lab_gpu_bar_is_the_file" {
	need 6.1
	truncate -s 16M bar
	printf 'host' | dd of=bar bs=1 seek=4096 conv=notrunc status=none
	cat >script <<-'END'
	set -- $(sed -n 3p /sys/bus/pci/devices/0000:01:00.0/resource)
	echo "size $(($2 - $1 + 1))"
	echo 1 >/sys/bus/pci/devices/0000:01:00.0/enable
	devmem $(($1 + 4096)) 32
	devmem $(($1 + 8192)) 32 0x73657567
	echo device_del gpu0 >/dev/ttyS2
	for i in $(seq 300); do
		[ -e /sys/bus/pci/devices/0000:01:00.0 ] || exit 0
		sleep 0.1
	done
	exit 1
	END
	run "$lab" boot 6.1 --script script --gpu 16M:bar
	[ "$status" = 0 ]
	[[ $output == *"size 16777216"*0x74736F68* ]]
	[ "$(dd if=bar bs=4 skip=2048 count=1 status=none)" = gues ]
	run "$lab" boot 6.1 --script script --gpu large
	[ "$status" = 2 ]
}
