#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# warpbell_nvp2p.ko: built with and without NVIDIA's header, checked against the
# real driver's symbols, and run in a guest against a stand-in for nvidia.ko.
#	nvp2p_KERNEL, a link to nvp2p_test.sh
set -u
name=$(basename "$0")
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
kernel=${name#nvp2p_}
out=$PWD/build/vm/nvp2p/$kernel

# What NVIDIA's own driver exports on kernels with module versions, 535.261.03
# on 6.1.192 and 550.163.01 on 6.12.118 alike.
crc='0x5b3f3e79 nvidia_p2p_get_pages
0x642487ac nvidia_p2p_put_pages
0x970adefe nvidia_p2p_get_pages_persistent
0xacdf3914 nvidia_p2p_put_pages_persistent
0xf42ca687 nvidia_p2p_free_page_table'

skip_all()
{
	echo "1..0 # SKIP $1"
	exit 0
}

fail()
{
	echo "not ok 1 - $kernel nvp2p_$1"
	tail -n 40 "$out/log" | sed 's/^/# /'
	echo "1..1"
	exit 1
}

lab()
{
	scripts/lab "$@" >>"$out/log" 2>&1
}

command -v qemu-system-x86_64 >/dev/null ||
	skip_all "no qemu-system-x86_64 here: run scripts/setup"
[ "$kernel" != 7.3 ] || [ "$(id -u)" = 0 ] ||
	skip_all "modules of 7.3 are built in a chroot: not root"
mkdir -p "$out" || exit 2
: >"$out/log"
header=$(scripts/lab nvidia "$kernel" 2>>"$out/log") || fail has_a_header
lab module "$kernel" . "$out/checked" NVP2P_HEADER="$header" ||
	fail agrees_with_the_header
lab module "$kernel" . "$out/plain" || fail builds_without_the_header
for flavour in open proprietary; do
	lab module "$kernel" tests/vm/nvidia "$out/$flavour" \
		NVP2P_HEADER="$header" FLAVOUR=$flavour ||
		fail stand_in_builds
done
case $kernel in
6.*)
	# the stand-in is one only when it has the driver's own types
	diff <(sort <<<"$crc") <(awk '{ print $1, $2 }' \
		"$out/open/Module.symvers" | sort) >>"$out/log" ||
		fail symbols_are_those_of_the_driver
	;;
esac
cc -O2 -static -o "$out/app" tests/vm/nvp2p/app.c >>"$out/log" 2>&1 ||
	fail test_program_builds
cp "$out/proprietary/nvidia.ko" "$out/proprietary.ko"
races=2000
[ "$kernel" != debug ] || races=500
{
	echo "KERNEL=$kernel RACES=$races"
	cat tests/vm/nvp2p/guest.sh
} >"$out/script"
exec scripts/lab boot "$kernel" --script "$out/script" --gpu 4M \
	--add "$out/plain/warpbell.ko" \
	--add "$out/plain/kmod/nvp2p/warpbell_nvp2p.ko" \
	--add "$out/open/nvidia.ko" --add "$out/proprietary.ko" \
	--add "$out/app" --log "$out/guest.log" --time 250
