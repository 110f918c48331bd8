# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Headers of the guests' kernels, and modules built by them.
#
# Uses cache, home and die of scripts/lab, apt.bash, image.bash and folder.bash.

# headers_dir KERNEL: what make -C takes
headers_dir()
{
	local release

	if [ "$1" = debug ]; then
		echo "$debug_tree"
		return
	fi
	release=$(<"$(image_dir "$1")/version")
	echo "$cache/lab/headers-$release/usr/src/linux-headers-$release"
}

# headers_packages RELEASE
headers_packages()
{
	local parts

	parts=$(apt-cache depends "linux-headers-$1" 2>/dev/null | sed -n \
		's/^  Depends: \(linux-\(headers-.*-common\|kbuild-.*\)\)$/\1/p')
	[ -n "$parts" ] || die "no headers of kernel $1 on the mirror: it has\
 newer ones: remove $(image_dir "$kernel") to fetch that kernel anew"
	printf '%s\n' "linux-headers-$1" "$parts"
}

# The makefiles of a package name each other by their place in /usr/src.
headers_build()
{
	local src=$2/usr/src names

	apt_conf
	apt_update
	names=$(headers_packages "$1") || exit
	unpack "$2" "$names"
	sed -i "s#/usr/src/#$3/usr/src/#" "$src/linux-headers-$1/Makefile"
}

# headers_make KERNEL: one at a time; whole or not at all
headers_make()
(
	local kernel=$1 release dir

	image_make "$kernel" || exit
	if [ "$kernel" = debug ]; then
		debug_make
		exit
	fi
	release=$(<"$(image_dir "$kernel")/version")
	dir=$cache/lab/headers-$release
	cache_lock
	[ -z "$(builder "$kernel")" ] || folder_make "$(builder "$kernel")"
	[ ! -d "$dir" ] || exit 0
	echo "lab: fetching the headers of kernel $kernel" >&2
	work=$(mktemp -d "$cache/lab/tmp.XXXXXX") || exit
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/headers" || exit
	headers_build "$release" "$work/headers" "$dir"
	mv "$work/headers" "$dir"
)

# builder KERNEL: the folder its modules are built in, "" for this machine
builder()
{
	local name

	read -r _ _ name < <(recipe_get "kernel $1")
	echo "$name"
}

# module_make KERNEL DIR OUT [ARGUMENT OF MAKE...]: OUT has links to DIR
module_make()
{
	local kernel=$1 from=$2 out=$3 folder make

	folder=$(builder "$kernel")
	shift 3
	make=(make -C "$(headers_dir "$kernel")" "M=$out" -j"$(nproc)"
		--no-print-directory "$@" modules)
	if [ -n "$folder" ]; then
		folder_run "$folder" "$cache $home $from $out" "${make[@]}"
	else
		"${make[@]}"
	fi
}

# module_build KERNEL DIR OUT [ARGUMENT OF MAKE...]
module_build()
{
	local kernel=$1 from out

	from=$(readlink -e "$2") || die "module: no folder $2"
	[ -e "$from/Kbuild" ] || [ -e "$from/Makefile" ] ||
		die "module: no Kbuild in $2: name a module's folder"
	mkdir -p "$3" || die "module: cannot make $3: see above"
	out=$(readlink -e "$3")
	shift 3
	headers_make "$kernel" || exit
	"$home/module-tree" "$from" "$out" ||
		die "module: cannot link $from to $out: see above"
	module_make "$kernel" "$from" "$out" W=1 KCFLAGS=-Werror "$@"
}
