#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# scripts/lab loop: an edit is loaded into a guest that stays up.

setup()
{
	command -v qemu-system-x86_64 >/dev/null ||
		skip "no qemu-system-x86_64 here: run scripts/setup"
	lab=$(readlink -f "$BATS_TEST_DIRNAME/../../scripts/lab")
	cd "$BATS_TEST_TMPDIR" || exit 1
	mkdir word
	echo 'obj-m := word.o' >word/Kbuild
	cat >word/word.c <<-'END'
	#include <linux/module.h>
	static int __init word_init(void)
	{
		pr_info("word is one\n");
		return 0;
	}
	static void __exit word_exit(void)
	{
	}
	module_init(word_init);
	module_exit(word_exit);
	MODULE_LICENSE("Dual BSD/GPL");
	MODULE_DESCRIPTION("says a word");
	END
	echo 'cat /proc/sys/kernel/random/boot_id' >script
	"$lab" headers 6.1
	TMPDIR=$PWD "$lab" loop 6.1 word script >out 2>&1 3>&- &
	pid=$!
	guest_log="serial file:$BATS_TEST_TMPDIR"
}

teardown()
{
	[ -n "${pid-}" ] || return 0
	kill "$pid"
	wait "$pid" || true # its status is that of the signal
	# no guest outlives its loop
	for _ in $(seq 50); do
		pgrep -f "$guest_log" >/dev/null || return 0
		sleep 0.1
	done
	return 1
}

# said TEXT: within the time that a loaded machine needs
said()
{
	for _ in $(seq 600); do
		! grep -q "$1" out || return 0
		sleep 0.1
	done
	cat out
	return 1
}

@test "test_loop_loads_an_edit_into_the_guest_that_is_up" {
	said 'round 1: status 0'
	grep 'word is one' out
	sed -i 's/is one/is two/' word/word.c
	said 'round 2: status 0'
	grep 'word is two' out
	# the edit that is none says why, and the next one goes on
	sed -i 's/pr_info/pr_inf/' word/word.c
	said 'pr_inf'
	sed -i 's/pr_inf(/pr_info(/; s/is two/is three/' word/word.c
	said 'word is three'
	# the guest has been the same one all the time
	[ "$(grep -cE '^[0-9a-f]{8}-' out)" = 3 ]
	[ "$(grep -E '^[0-9a-f]{8}-' out | sort -u | wc -l)" = 1 ]
	grep 'ms from the edit' out >&3
}

@test "test_loop_guest_that_dies_is_replaced" {
	said 'round 1: status 0'
	sed -i 's/pr_info/panic/' word/word.c
	said 'the guest died'
	sed -i 's/panic/pr_info/; s/is one/is back/' word/word.c
	said 'word is back'
}
