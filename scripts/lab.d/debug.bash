# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2030,SC2031
# The debug kernel: built from Debian's source of another of the kernels, by
# debug.config, through a compiler cache beside the images.
#
# Uses cache, home and die of scripts/lab, apt.bash, image.bash and kunit.bash.

# Fixed paths and a fixed date: the compiler cache hits whoever builds.
debug_tree=$cache/lab/debug-build

debug_hash()
{
	sha256sum <"$home/lab.d/debug.config" | cut -c1-12
}

# debug_source: unpacks it where it is not, prints its folder
debug_source()
(
	local kernel deb dir

	kernel=$(recipe_get debug)
	dir=$cache/lab/source-$kernel
	image_make "$kernel" || exit
	cache_lock
	work=$(mktemp -d "$cache/lab/tmp.XXXXXX") || exit
	trap 'rm -rf "$work"' EXIT
	apt_conf
	apt_update
	deb=$(source_deb "$kernel") || exit
	if [ "$(cat "$dir/.deb" 2>/dev/null)" != "${deb##*/}" ]; then
		rm -rf "$dir"
		mkdir "$work/source" && source_unpack "$deb" "$work/source" &&
			echo "${deb##*/}" >"$work/source/.deb" &&
			mv "$work/source" "$dir" || exit
	fi
	echo "$dir"
)

# debug_make: half an hour of one CPU, a minute from the compiler cache
debug_make()
(
	local source lock log=$cache/lab/debug.log make

	[ "$(cat "$debug_tree/made" 2>/dev/null)" != "$(debug_hash)" ] || exit 0
	source=$(debug_source) || exit
	for p in bc bison flex ccache; do
		command -v "$p" >/dev/null || die "cannot build the debug\
 kernel: no $p here: run scripts/setup"
	done
	exec {lock}>"$cache/lab/debug.lock"
	flock -w 5400 "$lock" || die "cannot build the debug kernel: another\
 scripts/lab has been at it for 90 minutes: end it"
	[ "$(cat "$debug_tree/made" 2>/dev/null)" != "$(debug_hash)" ] || exit 0
	echo "lab: building the debug kernel, see $log" >&2
	mkdir -p "$debug_tree" && rm -f "$debug_tree/made" || exit
	export CCACHE_DIR=$cache/ccache CCACHE_MAXSIZE=2G
	export KBUILD_BUILD_TIMESTAMP=2026-01-01 KBUILD_BUILD_USER=warpbell \
		KBUILD_BUILD_HOST=lab
	make=(timeout 5400 nice make -s -C "$source" O="$debug_tree"
		KCONFIG_ALLCONFIG="$home/lab.d/debug.config")
	if ! "${make[@]}" allnoconfig >"$log" 2>&1 ||
		! "${make[@]}" CC="ccache gcc" -j"$(nproc)" bzImage modules \
			>>"$log" 2>&1; then
		grep -E -B 2 -A 5 'rror' "$log" | tail -20 >&2
		die "cannot build the debug kernel: make failed, see $log"
	fi
	debug_hash >"$debug_tree/made"
)

# debug_install DIR: kernel and modules, as the packages of others have them
debug_install()
{
	local release

	release=$(<"$debug_tree/include/config/kernel.release")
	if ! make -s -C "$debug_tree" INSTALL_MOD_PATH="$1" DEPMOD=true \
		modules_install >"$work/log" 2>&1 ||
		! mkdir -p "$1/lib/modules/$release" "$1/boot" ||
		! cp "$debug_tree/arch/x86/boot/bzImage" "$1/boot/vmlinuz"; then
		die "cannot install the debug kernel: $(tail -3 "$work/log")"
	fi
}
