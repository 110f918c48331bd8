# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Images of scripts/lab: a kernel and an initramfs, made from Debian packages.
#
# Uses cache, recipe, home and die of scripts/lab, and apt.bash.

# recipe_get KIND: second and further words of the recipe's lines of KIND
recipe_get()
{
	sed -n "s/^$1 //p" "$recipe"
}

kernels()
{
	recipe_get kernel | cut -d' ' -f1
	[ -z "$(recipe_get debug)" ] || echo debug
}

# Goes up with each change below that makes other images of one recipe.
image_format=2

# An image belongs to the recipe that made it.
image_dir()
{
	local hash

	hash=$(grep -vE '^(#|folder |nvidia |$)' "$recipe" |
		cat - "$home"/lab.d/{init,sick,debug.config} <(echo "$image_format") |
		sha256sum | cut -c1-12)
	echo "$cache/lab/$1-$hash"
}

# kernel_packages KERNEL: names of those with the image and the modules
kernel_packages()
{
	local suite meta image names

	read -r suite meta _ < <(recipe_get "kernel $1")
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

# image_build KERNEL DIR; work, root, kroot and tree are folders
image_build()
{
	local names

	apt_update
	if [ "$1" = debug ]; then
		debug_install "$kroot"
	else
		names=$(kernel_packages "$1") || exit
		unpack "$kroot" "$names"
	fi
	unpack "$root" "$(recipe_get deb)"
	put_programs
	put_modules
	install -m 755 "$home/lab.d/init" "$tree/init"
	install -m 755 "$home/lab.d/sick" "$tree/bin/sick"
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

# Until the subshell that calls it ends.
cache_lock()
{
	local lock

	mkdir -p "$cache/lab" || die "cannot write $cache: name another\
 folder by WBELL_CACHE"
	exec {lock}>"$cache/lab/lock"
	flock -w 600 "$lock" || die "cannot write $cache: another scripts/lab\
 has been at it for 10 minutes: end it"
}

# One at a time; an image appears whole or not at all.
image_make()
(
	local dir

	[[ " $(kernels | xargs) " == *" $1 "* ]] ||
		die "no kernel '$1': one of $(kernels | xargs)"
	dir=$(image_dir "$1")
	[ ! -f "$dir/version" ] || exit 0
	image_need
	[ "$1" != debug ] || debug_make || exit
	cache_lock
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
