# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Debian packages of scripts/lab, fetched into a cache by an apt configuration
# of its own, so that the machine's package sources stay as they are, and
# unpacked there: nothing is installed.
#
# Uses cache, mirror and die of scripts/lab, and the folder $work.

apt_conf()
{
	local keys=/usr/share/keyrings/debian-archive-keyring.gpg
	local deb="deb [arch=amd64 signed-by=$keys] $mirror" suite

	local list=$cache/apt/etc/sources.list

	mkdir -p "$cache"/apt/{lists,debs,etc,cache} || return
	# Programs come from bookworm; other suites only when named by -t.
	for suite in bookworm bookworm-backports trixie trixie-backports; do
		echo "$deb/debian $suite main contrib"
	done >"$list.new"
	echo "$deb/debian-security bookworm-security main" >>"$list.new"
	cmp -s "$list.new" "$list" || rm -f "$cache/apt/updated"
	mv "$list.new" "$list"
	cat >"$cache/apt/etc/preferences" <<-END
	Package: *
	Pin: release n=bookworm*
	Pin-Priority: 500

	Package: *
	Pin: release n=*-backports
	Pin-Priority: 100

	Package: *
	Pin: release n=trixie
	Pin-Priority: 100
	END
	# apt as root would take another user's rights, who cannot write here.
	cat >"$cache/apt/etc/apt.conf" <<-END
	Dir::Etc::sourcelist "$cache/apt/etc/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferences "$cache/apt/etc/preferences";
	Dir::Etc::preferencesparts "/dev/null";
	Dir::State::lists "$cache/apt/lists";
	Dir::Cache "$cache/apt/cache";
	APT::Sandbox::User "root";
	Acquire::Languages "none";
	APT::Update::Error-Mode "any";
	Acquire::Retries "2";
	Acquire::http::Timeout "30";
	END
	export APT_CONFIG=$cache/apt/etc/apt.conf
}

apt_update()
{
	# Lists of this hour will do: another kernel was just made.
	[ -z "$(find "$cache/apt/updated" -mmin -60 2>/dev/null)" ] || return 0
	timeout 200 apt-get -q update >"$work/apt.log" 2>&1 &&
		touch "$cache/apt/updated" && return
	tail -5 "$work/apt.log" >&2
	die "cannot read Debian's package lists: apt-get update failed:\
 mend the network or name a mirror by WBELL_DEBIAN_MIRROR"
}

# deb_get NAME...: fetches the packages, prints their files
deb_get()
{
	local log=$work/apt.log files

	# in a folder without them, else it names none
	mapfile -t files < <(cd "$work" &&
		apt-get download --print-uris "$@" 2>"$log" |
		sed -n "s/^'[^']*' \([^ ]*\) .*/\1/p")
	if [ ${#files[@]} != $# ]; then
		tail -5 "$log" >&2
		die "cannot fetch packages: apt knows ${#files[@]} of $*:\
 mend scripts/lab.d/packages"
	fi
	# one that is there is checked by its hash, not fetched again
	if ! (cd "$cache/apt/debs" &&
		timeout 280 apt-get -q download "$@") >"$log" 2>&1; then
		tail -5 "$log" >&2
		die "cannot fetch packages: apt-get download failed:\
 mend the network or name a mirror by WBELL_DEBIAN_MIRROR"
	fi
	printf '%s\n' "${files[@]/#/$cache/apt/debs/}"
}

# The greater part of a kernel's modules.
unwanted=('*/drivers/gpu' '*/drivers/media' '*/drivers/scsi' '*/drivers/usb'
	'*/drivers/net/wireless' '*/drivers/iio' '*/sound'
	'*/usr/share')

# unpack DIR NAMES
unpack()
{
	local names debs deb

	mapfile -t names <<<"$2"
	debs=$(deb_get "${names[@]}") || exit
	for deb in $debs; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$1" "${unwanted[@]/#/--exclude=}" ||
			die "cannot unpack $deb: remove it"
	done
}

