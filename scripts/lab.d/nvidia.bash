# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# nv-p2p.h of NVIDIA's open kernel modules, as Debian packages them.
#
# Uses cache and die of scripts/lab, apt.bash and image.bash.

# nvidia_make KERNEL: prints the folder of the header that goes with it
nvidia_make()
(
	local suite deb dir

	suite=$(recipe_get "nvidia $1")
	[ -n "$suite" ] || die "no nv-p2p.h for kernel $1: add a line to\
 scripts/lab.d/packages"
	cache_lock
	work=$(mktemp -d "$cache/lab/tmp.XXXXXX") || exit
	trap 'rm -rf "$work"' EXIT
	dir=$cache/lab/nvidia-$suite
	echo "$dir"
	[ ! -f "$dir/nv-p2p.h" ] || exit 0
	apt_conf
	apt_update
	deb=$(deb_get "nvidia-open-kernel-source/$suite") || exit
	mkdir "$work/nvidia" || exit
	dpkg-deb --fsys-tarfile "$deb" |
		tar -xO --wildcards './usr/src/*.tar.xz' |
		tar -xJ -C "$work/nvidia" --strip-components=3 --wildcards \
			'*/nvidia/nv-p2p.h' ||
		die "cannot unpack $deb: its layout has changed: mend\
 scripts/lab.d/nvidia.bash"
	mv "$work/nvidia" "$dir"
)
