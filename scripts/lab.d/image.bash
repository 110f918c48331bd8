# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Images of scripts/lab: a kernel and an initramfs, made from Debian packages
# that are fetched into a cache by an apt configuration of their own, so that
# the machine's package sources stay as they are.
#
# Uses cache, mirror, recipe, home and die of scripts/lab.

# recipe_get KIND: second and further words of the recipe's lines of KIND
recipe_get()
{
	sed -n "s/^$1 //p" "$recipe"
}

kernels()
{
	recipe_get kernel | cut -d' ' -f1
}

# Goes up with each change below that makes other images of one recipe.
image_format=2

# An image belongs to the recipe that made it.
image_dir()
{
	local hash

	hash=$(cat "$recipe" "$home/lab.d/init" - <<<"$image_format" |
		sha256sum | cut -c1-12)
	echo "$cache/lab/$1-$hash"
}

apt_conf()
{
	local keys=/usr/share/keyrings/debian-archive-keyring.gpg
	local deb="deb [arch=amd64 signed-by=$keys] $mirror" suite

	mkdir -p "$cache"/apt/{lists,debs,etc,cache} || return
	# Programs come from bookworm; other suites only when named by -t.
	for suite in bookworm bookworm-backports trixie trixie-backports; do
		echo "$deb/debian $suite main"
	done >"$cache/apt/etc/sources.list"
	echo "$deb/debian-security bookworm-security main" \
		>>"$cache/apt/etc/sources.list"
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

# kernel_packages KERNEL: names of those with the image and the modules
kernel_packages()
{
	local suite meta image names

	read -r suite meta < <(recipe_get "kernel $1")
	image=$(apt-cache -t "$suite" depends "$meta" |
		sed -n "s/^  Depends: \(linux-image-${1//./\\.}\..*\)/\1/p")
	[ -n "$image" ] || die "no kernel $1: $meta of $suite depends on no\
 linux-image-$1: mend its line in scripts/lab.d/packages"
	# Some have all in the image, some in packages that it depends on.
	names=$(apt-cache -t "$suite" depends "$image" |
		sed -n 's/^  Depends: \(linux-\(binary\|modules\)-.*\)/\1/p')
	echo "${names:-$image}"
}

# ---- programs ----

# elf_needs FILE: names of the libraries it is linked with
elf_needs()
{
	readelf -d "$1" 2>/dev/null |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'
}

# put_file PATH [FROM]: from the unpacked packages into the guest's tree
put_file()
{
	mkdir -p "$tree${1%/*}"
	cp -L "${2-$root$1}" "$tree$1" ||
		die "no $1 in the packages: mend scripts/lab.d/packages"
}

put_libraries()
{
	local lib found

	for lib in $(elf_needs "$1"); do
		found=$(cd "$root" && find lib usr/lib -name "$lib" | head -1)
		[ -n "$found" ] ||
			die "no $lib, which ${1#"$root"} needs: add its package\
 to scripts/lab.d/packages"
		[ ! -e "$tree/lib/x86_64-linux-gnu/$lib" ] || continue
		put_file "/lib/x86_64-linux-gnu/$lib" "$root/$found"
		put_libraries "$root/$found"
	done
}

put_programs()
{
	local f

	for f in $(recipe_get program); do
		put_file "/bin/${f##*/}" "$root$f"
		put_libraries "$root$f"
	done
	for f in $(recipe_get library); do
		put_file "$f"
		put_libraries "$root$f"
	done
	for f in $(recipe_get file); do
		put_file "$f"
	done
	put_file /lib64/ld-linux-x86-64.so.2 \
		"$root/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
}

# ---- modules ----

# module_file NAME: "-" and "_" are one in a module's name
module_file()
{
	find "$kroot" -path '*/lib/modules/*' -name "${1//[-_]/[-_]}.ko*" | head -1
}

# put_module NAME: after those it depends on; a built-in one has no file
put_module()
{
	local file out depends

	file=$(module_file "$1")
	[ -n "$file" ] || return 0
	case " $modules_done " in *" $1 "*) return 0 ;; esac
	modules_done+=" $1"
	out=$work/module.$1
	case $file in
	*.xz) xz -dc "$file" >"$out" ;;
	*.zst) zstd -qdc "$file" >"$out" ;;
	*) cp "$file" "$out" ;;
	esac || die "cannot unpack $file: it is damaged or a program is\
 missing: install xz-utils and zstd"
	depends=$(tr '\0' '\n' <"$out" | sed -n 's/^depends=//p')
	for depends in ${depends//,/ }; do
		[ -n "$(module_file "$depends")" ] ||
			die "no module $depends, which $1 needs: mend the list\
 of the unwanted in scripts/lab.d/image.bash"
		put_module "${depends//-/_}"
	done
	modules_n=$((modules_n + 1))
	mv "$out" "$tree/lab/modules/$((100 + modules_n))-$1.ko"
}

put_modules()
{
	local m modules_done='' modules_n=0

	mkdir -p "$tree/lab/modules"
	for m in $(recipe_get module); do
		put_module "$m"
	done
	[ "$modules_n" -gt 0 ] || die "no module in the kernel's package:\
 its layout has changed: mend scripts/lab.d/image.bash"
}

# ---- the image ----

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

# image_build KERNEL DIR; work, root, kroot and tree are folders
image_build()
{
	local names

	apt_update
	names=$(kernel_packages "$1") || exit
	unpack "$kroot" "$names"
	unpack "$root" "$(recipe_get deb)"
	put_programs
	put_modules
	install -m 755 "$home/lab.d/init" "$tree/init"
	image_write "$2" || die "cannot write the image: see above"
}

image_write()
{
	local modules vmlinuz

	modules=$(find "$kroot" -path '*/lib/modules/*' -prune -print -quit)
	vmlinuz=$(find "$kroot" -type f -name 'vmlinuz*' -print -quit)
	(cd "$tree" && find . | cpio --quiet -o -H newc) >"$1/initramfs" &&
		cp "$vmlinuz" "$1/vmlinuz" &&
		basename "$modules" >"$1/version"
}

image_need()
{
	local p

	for p in apt-get dpkg cpio readelf xz flock; do
		command -v "$p" >/dev/null || die "cannot make an image: no\
 $p here: run scripts/setup"
	done
}

# One at a time; an image appears whole or not at all.
image_make()
(
	local dir lock

	grep -q "^kernel ${1//./\\.} " "$recipe" ||
		die "no kernel '$1': one of $(kernels | xargs)"
	dir=$(image_dir "$1")
	[ ! -f "$dir/version" ] || exit 0
	image_need
	mkdir -p "$cache/lab" || die "cannot write $cache: name another\
 folder by WBELL_CACHE"
	exec {lock}>"$cache/lab/lock"
	flock -w 600 "$lock" || die "cannot make an image: another scripts/lab\
 has been at it for 10 minutes: end it"
	[ ! -f "$dir/version" ] || exit 0
	echo "lab: making the image of kernel $1 in $cache" >&2
	work=$(mktemp -d "$cache/lab/tmp.XXXXXX") || exit
	trap 'rm -rf "$work"' EXIT
	root=$work/root kroot=$work/kroot tree=$work/tree
	mkdir -p "$root" "$kroot" "$tree" "$work/image"
	apt_conf || exit
	image_build "$1" "$work/image"
	rm -rf "$dir"
	mv "$work/image" "$dir"
)
