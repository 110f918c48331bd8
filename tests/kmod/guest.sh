#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# In the guest: runs the tests of /dev/warpbell, then unloads the module and
# looks at what is left.  scripts/lab has loaded the module.
export LD_LIBRARY_PATH=/lab/add CMOCKA_MESSAGE_OUTPUT=TAP
n=0
failed=0

check() # NAME; the last command's status is the result
{
	if [ $? = 0 ]; then
		word=ok
	else
		word='not ok'
		failed=1
	fi
	n=$((n + 1))
	echo "$word $n - $1"
}

# The card with the BAR, by its ids.
card()
{
	for d in /sys/bus/pci/devices/*; do
		[ "$(cat "$d/vendor") $(cat "$d/device")" = "0x1af4 0x1110" ] &&
			echo "${d##*/}"
	done
}

bind()
{
	echo warpbell-pci >"/sys/bus/pci/devices/$bdf/driver_override" &&
		echo "$bdf" >/sys/bus/pci/drivers_probe &&
		[ -e "/sys/bus/pci/drivers/warpbell-pci/$bdf" ]
}

run() # PROGRAM
{
	echo "# $1"
	timeout 120 "/lab/add/$1" || failed=1
}

# Doorbells where the MSI-X table is, or nowhere: the card is not bound.
misbind() # TEXT OF doorbells
{
	insmod "$module" doorbells="$bdf=$1" || return 1
	bind 2>/dev/null
	bound=$?
	rmmod warpbell || return 1
	[ $bound != 0 ]
}

unload() # NAME
{
	cat /sys/class/misc/warpbell/counters/maps | grep -qx 0
	check "$1_no_mapping_is_left"
	rmmod warpbell
	check "$1_unloads"
}

for lib in /lab/add/libcmocka.so.*.*.*; do
	ln -s "$lib" /lab/add/libcmocka.so.0
done
module=$(echo /lab/insmod/*-warpbell.ko)
bdf=$(card)

[ "$(stat -c %a /dev/warpbell)" = 660 ]
check kmod_device_is_for_its_group
[ "$(cat /sys/class/misc/warpbell/abi)" = 1 ]
check kmod_abi_in_sysfs
rmmod warpbell
check kmod_unloads_unused

for bad in 2:1:4096 2:0:100 2:0:0 9:0:4096 1:0:4096 2:0x4000000:4096 x; do
	misbind "$bad"
	check "kmod_doorbells_refused_$bad"
done
insmod "$module" doorbells="$bdf=2:0x10000:0x10000" && bind
check kmod_doorbells_bind
run window_test
unload kmod_windows

insmod "$module" && bind
check kmod_gpu_binds
trace=/sys/kernel/tracing
echo 1 >$trace/events/warpbell/enable
check kmod_tracepoints_are_there
for t in args_test map_test memory_test grant_test queue_test pair_test fault_test \
	gpu_test; do
	run $t
done
for event in ctx object map queue; do
	grep -q "wbell_$event:" $trace/trace
	check kmod_traces_$event
done
echo 0 >$trace/events/warpbell/enable
unload kmod_gpu

bad='BUG:|WARNING:|Oops|Call Trace|possible circular|unreferenced|Bad page|memtype \[mem|memory types'
dmesg | grep -E -A30 "$bad" | sed 's/^/# /'
! dmesg | grep -qE "$bad"
check kmod_kernel_log_is_clean
sick >/tmp/sick
check kmod_kernel_is_well
sed 's/^/# /' /tmp/sick
echo "1..$n"
exit $failed
