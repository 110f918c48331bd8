# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# KUnit for the guests' kernels, which Debian builds without it.
#
# Uses cache, home and die of scripts/lab, apt.bash, headers.bash.

# source_deb KERNEL: file of the package with the source of what the image
# boots
source_deb()
{
	local release version

	release=$(<"$(image_dir "$1")/version")
	version=$(apt-cache show "linux-headers-$release" |
		sed -n 's/^Version: //p' | head -1)
	deb_get "linux-source-$1=$version"
}

# source_unpack DEB DIR [PATH...]
source_unpack()
{
	local deb=$1 dir=$2

	shift 2
	dpkg-deb --fsys-tarfile "$deb" |
		tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
		tar -xJ --strip-components=1 -C "$dir" --wildcards "$@" ||
		die "cannot unpack $deb: remove it"
}

kunit_dir()
{
	local hash

	hash=$(cat "$home"/lab.d/kunit/{Kbuild,config.h} |
		sha256sum | cut -c1-12)
	echo "$cache/lab/kunit-$(<"$(image_dir "$1")/version")-$hash"
}

# kunit_make KERNEL: one at a time; whole or not at all
kunit_make()
(
	local kernel=$1 dir deb

	headers_make "$kernel" || exit
	dir=$(kunit_dir "$kernel")
	cache_lock
	[ ! -d "$dir" ] || exit 0
	echo "lab: building KUnit for kernel $kernel" >&2
	work=$(mktemp -d "$cache/lab/tmp.XXXXXX") || exit
	trap 'rm -rf "$work"' EXIT
	apt_conf
	apt_update
	deb=$(source_deb "$kernel") || exit
	mkdir "$work/kunit"
	source_unpack "$deb" "$work/kunit" --strip-components=3 \
		'linux-source-*/lib/kunit/*'
	cp "$home"/lab.d/kunit/{Kbuild,config.h} "$work/kunit/"
	rm -f "$work/kunit/Makefile"
	if ! module_make "$kernel" "$work/kunit" "$work/kunit" \
		>"$work/log" 2>&1; then
		tail -20 "$work/log" >&2
		die "cannot build KUnit for kernel $kernel: see above"
	fi
	mkdir "$work/done" &&
		cp "$work"/kunit/{kunit.ko,Module.symvers} "$work/done/" &&
		mv "$work/done" "$dir"
)

# kunit_build KERNEL DIR OUT [ARGUMENT OF MAKE...]: a module's suites, which
# Kbuild has in obj-$(WBELL_KUNIT), and kunit.ko beside them
kunit_build()
{
	local kernel=$1 from=$2 out=$3 dir

	if [ "$kernel" = debug ]; then
		shift 3
		module_build "$kernel" "$from" "$out" WBELL_KUNIT=m \
			KCFLAGS="-Werror -I$home/lab.d/kunit" "$@"
		return
	fi
	kunit_make "$kernel" || exit
	dir=$(kunit_dir "$kernel")
	shift 3
	module_build "$kernel" "$from" "$out" WBELL_KUNIT=m \
		KBUILD_EXTRA_SYMBOLS="$dir/Module.symvers" \
		KCFLAGS="-Werror -I$home/lab.d/kunit" "$@" &&
		cp "$dir/kunit.ko" "$out/"
}
