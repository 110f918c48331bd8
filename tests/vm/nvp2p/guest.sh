#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause
# In a guest: warpbell_nvp2p.ko against the stand-in for nvidia.ko, whose GPU
# memory is the BAR of the guest's virtual GPU.  Prints TAP.
cd /lab/add || exit 1
n=0 failed=0
live=/sys/kernel/debug/nvidia/live

# check NAME STATUS: of what was tried
check()
{
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n - $KERNEL nvp2p_$1"
	else
		failed=1
		echo "not ok $n - $KERNEL nvp2p_$1"
		sed 's/^/# /' /tmp/said
	fi
}

# says TEXT COMMAND...: it does
says()
{
	text=$1
	shift
	"$@" >/tmp/said 2>&1
	grep -q -- "$text" /tmp/said
}

nvidia() # OPTION...
{
	insmod nvidia.ko base="$base" size="$size" "$@"
}

none_live()
{
	says '^0$' cat $live
}

set -- $(sed -n 3p /sys/bus/pci/devices/0000:01:00.0/resource)
base=$1 size=$(($2 - $1 + 1))
echo 1 >/sys/bus/pci/devices/0000:01:00.0/enable

# ---- a driver that is not there, or not for us, is a state ----
insmod warpbell.ko && insmod warpbell_nvp2p.ko
check loads_without_nvidia $?
says '^-19 no nvidia.ko' ./app state
check says_that_nvidia_is_missing $?
says '^No such device: provider: no nvidia.ko' ./app pin 0x10000 64
check refuses_pins_then $?
cp nvidia.ko open.ko
insmod proprietary.ko base="$base" size="$size"
says '^-19 no nvidia.ko that serves GPL' ./app state
check takes_no_symbols_of_the_proprietary_flavour $?
rmmod nvidia

# ---- pages that stay ----
nvidia
says '^0 persistent' ./app state
check finds_persistent_pages $?
says 'length 65536 offset 256 page 65536 segments 1 type 2' \
	./app pin 0x20100 100
check widens_to_64_KiB_and_says_so $?
says 'length 131072 offset 65535' ./app pin 0x2ffff 2
check takes_both_pages_of_two_bytes $?
says '^Value too large\|^Invalid' ./app pin 0xfffffffffffffff0 8
check refuses_a_range_whose_widened_end_wraps $?
says 'nvidia.ko refused' ./app pin 0x10000 $((size + 1))
check passes_on_what_nvidia_refuses $?
./app fill 0x30008 131072 >/tmp/said 2>&1 &&
	says 0x0000000000030008 devmem $((base + 0x30008)) 64 &&
	says 0x0000000000050000 devmem $((base + 0x50000)) 64
check maps_the_very_bytes $?
none_live
check gives_back_what_was_destroyed $?
./app leave 0x40000 65536 >/tmp/said 2>&1
none_live
check gives_back_what_a_killed_process_had $?
./app wait 0x40000 65536 >/tmp/wait 2>&1 &
until grep -q pinned /tmp/wait; do sleep 0.1; done
! rmmod nvidia 2>/tmp/said
check keeps_nvidia_while_pages_are_pinned $?
! rmmod warpbell_nvp2p 2>/tmp/said
check is_kept_while_pages_are_pinned $?
echo 0x40000 >/sys/kernel/debug/nvidia/free
! grep -q event /tmp/wait
check persistent_pages_are_not_taken_back $?
kill -9 $! && wait $! 2>/dev/null
rmmod nvidia 2>/tmp/said
check lets_nvidia_go_when_idle $?

# ---- pages that are taken back ----
nvidia mig=1 scatter=1
says 'length 196608 offset 0 page 65536 segments 3' \
	./app pin 0x20000 196608
check falls_back_to_a_callback_without_persistent_pages $?
./app fill 0x60000 131072 >/tmp/said 2>&1 &&
	says 0x0000000000060000 devmem $((base + 0x70000)) 64 &&
	says 0x0000000000070000 devmem $((base + 0x60000)) 64
check keeps_the_order_of_scattered_pages $?
./app wait 0x40000 65536 >/tmp/wait 2>&1 &
until grep -q pinned /tmp/wait; do sleep 0.1; done
echo 0x40000 >/sys/kernel/debug/nvidia/free
wait $! && says 'event 2 reason 7' cat /tmp/wait && says gone cat /tmp/wait &&
	says 'destroy 0' cat /tmp/wait
check a_callback_takes_the_mapping_and_tells $?
none_live
check puts_no_pages_that_were_taken_back $?
(while :; do echo 0x40000 >/sys/kernel/debug/nvidia/free; done) &
./app race 0x40000 65536 "$RACES" >/tmp/said 2>&1
check survives_callbacks_while_it_pins_and_unpins $?
sed 's/^/# /' /tmp/said
kill $!
none_live
check leaves_nothing_after_the_race $?
echo 1 >/sys/module/nvidia/parameters/early
says '^Stale file handle: addr: freed' ./app pin 0x40000 64
check a_callback_before_get_pages_returns_is_no_memory $?
none_live
check leaves_nothing_then $?
rmmod nvidia

# ---- drivers of another ABI ----
nvidia version=0x20000
says 'page table version 2.0, not 1.2 or later' ./app pin 0x40000 64 &&
	none_live
check refuses_another_major_version $?
echo 0x10001 >/sys/module/nvidia/parameters/version
says 'page table version 1.1' ./app pin 0x40000 64 && none_live
check refuses_an_older_minor_version $?
echo 0x10003 >/sys/module/nvidia/parameters/version
says 'length 65536' ./app pin 0x40000 64 && none_live
check takes_a_later_minor_version $?

rmmod warpbell_nvp2p && rmmod warpbell && rmmod nvidia
check unloads $?
sick >/tmp/said
check kernel_is_well $?
echo "1..$n"
exit $failed
