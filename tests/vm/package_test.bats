#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What an admin installs: DKMS, udev rule and modprobe.d, each judged by the
# program that reads it.

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	lab=$PWD/scripts/lab
	out=$BATS_TEST_TMPDIR
}

need_root()
{
	[ "$(id -u)" = 0 ] || skip "chroot to Debian trixie: not root"
}

# dkms of Debian trixie builds, signs and installs for 7.3; the guest loads what
# came out, by modprobe, with the softdep of modprobe.d.
@test "test_dkms_builds_what_a_guest_loads" {
	need_root
	kdir=$("$lab" headers 7.3)
	release=${kdir##*/linux-headers-}
	module=warpbell/$(. kmod/dkms.conf && echo "$PACKAGE_VERSION")
	make -s dkms_install DESTDIR="$out/root" SETUP_DONE=1
	cat >"$out/run" <<-END
	set -e
	mkdir -p /lib/modules /usr/src
	mount -t tmpfs none /var/lib/dkms
	mount -t tmpfs none /lib/modules
	mount --bind $out/root/usr/src /usr/src
	mkdir -p /lib/modules/$release
	ln -s $kdir /lib/modules/$release/build
	dkms add $module
	dkms install $module -k $release
	dkms status
	dkms autoinstall -k $release
	cp -r /lib/modules/$release/updates $out/
	dkms remove $module --all
	find /lib/modules/$release -name '*.ko*' | grep . && exit 1
	true
	END
	run "$lab" folder trixie "$("$lab" cache) $out" bash "$out/run"
	[ "$status" = 0 ] || { echo "$output" && false; }
	echo "$output"
	[[ $output == *"$module, $release, x86_64: installed"* ]]
	find "$out/updates" -name '*.xz' -exec xz -d {} +
	find "$out/updates" -name '*.zst' -exec zstd -q --rm -d {} +
	modules=()
	for m in warpbell warpbell_nvp2p; do
		modules+=(--module "$out/updates/dkms/$m.ko")
		modinfo -F signer "$out/updates/dkms/$m.ko" | grep -q DKMS
	done
	echo 'ls -l /dev/warpbell && rmmod warpbell_nvp2p warpbell' \
		>"$out/script"
	run "$lab" boot 7.3 --script "$out/script" "${modules[@]}"
	[ "$status" = 0 ]
	[[ $output == crw-rw----* ]]
}

@test "test_modules_install_puts_both" {
	kdir=$("$lab" headers 6.12)
	make -s modules modules_install KDIR="$kdir" DEPMOD=true \
		INSTALL_MOD_PATH="$out" B="$out/build" SETUP_DONE=1 >&2
	[ "$(find "$out/lib" -name 'warpbell*.ko*' | wc -l)" = 2 ]
}

@test "test_udev_takes_the_rule" {
	need_root
	cp kmod/60-warpbell.rules "$out/"
	run "$lab" folder trixie "$out" udevadm verify -N never --no-summary \
		"$out/60-warpbell.rules"
	[ "$status" = 0 ]
	sed -i 's/GROUP=/NOKEY=/' "$out/60-warpbell.rules"
	run "$lab" folder trixie "$out" udevadm verify -N never --no-summary \
		"$out/60-warpbell.rules"
	[ "$status" != 0 ]
}

# As it comes it changes nothing; each option in it is one of the modules'.
@test "test_modprobe_conf_names_options_that_are_there" {
	! grep -vE '^(#|$)' kmod/warpbell.conf
	"$lab" module 6.12 . build/vm/6.12 >&2
	sed -n 's/^#\(options\|softdep\) /\1 /p' kmod/warpbell.conf >"$out/conf"
	[ "$(wc -l <"$out/conf")" -ge 6 ]
	while read -r _ module options; do
		file=$(find build/vm/6.12 -name "$module.ko")
		for option in $options; do
			[[ $option == *=* ]] || continue
			modinfo -p "$file" | grep "^${option%%=*}:"
		done
	done < <(grep ^options "$out/conf")
	modprobe -n -c -C "$out/conf" | grep '^softdep warpbell post'
}
