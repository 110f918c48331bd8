# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Folders with another release of Debian, for programs newer than this
# machine's.
#
# Uses cache, mirror and die of scripts/lab, and recipe_get and cache_lock.

# Not unpacked: most of the size.
folder_unwanted=('/usr/share/doc/*' '/usr/share/man/*' '/usr/share/locale/*'
	'/usr/lib/*/librte_*.a')

# folder_dir SUITE
folder_dir()
{
	local hash

	hash=$({ recipe_get "folder $1" && printf '%s\n' "${folder_unwanted[@]}"; } |
		sha256sum | cut -c1-12)
	echo "$cache/lab/$1-$hash"
}

# folder_make SUITE: takes a minute or two
folder_make()
{
	local dir packages log u keys=/usr/share/keyrings options=()

	dir=$(folder_dir "$1")
	[ ! -f "$dir/made" ] || return 0
	[ "$(id -u)" = 0 ] || die "cannot make a folder of $1: not root: run\
 as root, or name other kernels"
	command -v mmdebstrap >/dev/null ||
		die "cannot make a folder of $1: no mmdebstrap here: run\
 scripts/setup"
	packages=$(recipe_get "folder $1" | xargs | tr ' ' ,)
	for u in "${folder_unwanted[@]}"; do
		options+=(--dpkgopt="path-exclude=$u")
	done
	echo "lab: making a folder of $1 in $cache" >&2
	log=$cache/lab/folder.log
	rm -rf "$dir"
	if ! env -u APT_CONFIG timeout 900 mmdebstrap --quiet --mode=root \
		--variant=apt --include="$packages" "${options[@]}" \
		--aptopt='APT::Install-Recommends "false"' \
		--aptopt='Acquire::Retries "2"' \
		--aptopt='Acquire::http::Timeout "30"' \
		--keyring="$keys/debian-archive-keyring.gpg" \
		"$1" "$dir" "deb $mirror/debian $1 main" >"$log" 2>&1; then
		tail -5 "$log" >&2
		rm -rf "$dir"
		die "cannot make a folder of $1: mmdebstrap failed, see $log:\
 mend the network or name a mirror by WBELL_DEBIAN_MIRROR"
	fi
	touch "$dir/made"
}

# folder_run SUITE "DIR..." COMMAND...: runs it there, as root.  The folders
# DIR are seen under their own names; the mounts end with the command.
folder_run()
{
	local dir binds=$2

	dir=$(folder_dir "$1")
	shift 2
	# shellcheck disable=SC2016	# the inner shell expands it
	unshare -m --propagation private bash -c '
		root=$0
		for d in $1 /dev; do
			mkdir -p "$root$d" && mount --rbind "$d" "$root$d" ||
				exit 2
		done
		mount -t proc none "$root/proc" || exit 2
		shift
		exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin \
			HOME=/root LC_ALL=C.UTF-8 "$@"' "$dir" "$binds" "$@"
}
