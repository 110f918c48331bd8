# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# One run of a guest of scripts/lab.
#
# Uses usage, die, image_make and image_dir of scripts/lab.

guest_option()
{
	case $1 in
	--script) script=$2 ;;
	--net) net=$2 ;;
	--mtu) mtu=$2 ;;
	--add) add+=("$2") ;;
	--module) modules+=("$2") ;;
	--gpu) gpu=$2 ;;
	--disk) disk=$2 ;;
	--out) out=$2 ;;
	--log) log=$2 ;;
	--cpus) cpus=$2 ;;
	--memory) memory=$2 ;;
	--time) limit=$2 ;;
	*)
		usage >&2
		die "boot: no option $1"
		;;
	esac
}

guest_check()
{
	local n

	[ -f "$script" ] || die "boot: no script '$script': name it by --script"
	case $net in
	"" | tap:?*) ;;
	*) die "boot: no network '$net': it is tap:DEVICE" ;;
	esac
	[[ -z $gpu || $gpu =~ ^[1-9][0-9]*[KMG](:.+)?$ ]] ||
		die "boot: no size '$gpu' of a BAR: it is 64M or 64M:FILE"
	[ -z "$disk" ] || [ -f "$disk" ] || die "boot: no disk $disk"
	for n in "$mtu" "$cpus" "$memory" "$limit"; do
		[[ $n =~ ^[1-9][0-9]{0,5}$ ]] || die "boot: '$n' is no number\
 from 1 on: see scripts/lab --help"
	done
	command -v qemu-system-x86_64 >/dev/null ||
		die "boot: no qemu-system-x86_64 here: run scripts/setup"
}

# The script and what goes with it: a second archive behind the first.
guest_archive()
{
	local f n=100

	mkdir -p "$work"/more/lab/{add,insmod} &&
		cp "$script" "$work/more/lab/script" || return
	for f in ${add[@]+"${add[@]}"}; do
		cp -r "$f" "$work/more/lab/add/" || return
	done
	for f in ${modules[@]+"${modules[@]}"}; do
		n=$((n + 1))
		cp "$f" "$work/more/lab/insmod/$n-${f##*/}" || return
	done
	cp "$image/initramfs" "$work/initramfs" &&
		(cd "$work/more" && find lab | cpio --quiet -o -H newc) \
			>>"$work/initramfs"
}

# A BAR of memory behind a port that it can be unplugged from.
guest_gpu()
{
	local size=${gpu%%:*} file=$work/bar

	[ "$size" = "$gpu" ] || file=${gpu#*:}
	# shellcheck disable=SC2054	# QEMU's commas
	args+=(-object "memory-backend-file,id=bar,share=on,size=$size,\
mem-path=$file"
		-device pcie-root-port,id=port0,chassis=1
		-device ivshmem-plain,id=gpu0,memdev=bar,bus=port0)
}

# A ROM to boot from the network would cost seconds (romfile=).  The guest's
# third serial line is QEMU's monitor, so that the script itself can unplug
# devices and inject errors.
guest_qemu()
{
	local args=(-nodefaults -display none -no-reboot -accel tcg
		-machine q35 -cpu max -smp "$cpus" -m "$memory"
		-kernel "$image/vmlinuz" -initrd "$work/initramfs"
		-append "console=ttyS0 quiet panic=-1 random.trust_cpu=on"
		-serial "file:$log" -serial "file:$out"
		-chardev "socket,id=monitor,path=$work/monitor,server=on,\
wait=off" -mon chardev=monitor -serial "unix:$work/monitor")

	[ -z "$net" ] || args+=(
		-netdev "tap,id=n0,ifname=${net#tap:},script=no,downscript=no"
		-device "virtio-net-pci,netdev=n0,romfile=,host_mtu=$mtu,\
mac=52:54:00:77:00:02")
	[ -z "$gpu" ] || guest_gpu
	# shellcheck disable=SC2054	# QEMU's commas
	[ -z "$disk" ] || args+=(-drive "file=$disk,format=raw,if=none,id=d0"
		-device virtio-blk-pci,drive=d0)
	# in the caller's group, so that whoever ends that ends the guest
	timeout --foreground -k 2 "$limit" qemu-system-x86_64 "${args[@]}" </dev/null
}

# guest_status RC: of the script, by the last line it left
guest_status()
{
	local status

	if [ "$1" = 124 ] || [ "$1" = 137 ]; then
		echo "lab: the guest was killed: not done after $limit s:\
 give it more by --time" >&2
		return 124
	fi
	# a serial line ends lines by CR LF
	status=$(tr -d '\r' <"$out" | sed -n 's/^lab: exit \([0-9]*\)$/\1/p' |
		tail -1)
	[ -z "$status" ] || return "$status"
	echo "lab: the guest died: its script did not end: its last words were" >&2
	tail -5 "$log" >&2
	return 125
}

guest_boot()
{
	local kernel=$1 image rc show=
	local script='' net='' mtu=4200 add=() out='' log='' cpus=2 memory=512
	local limit=120 modules=() gpu='' disk=''

	shift
	while [ $# -gt 1 ]; do
		guest_option "$1" "$2"
		shift 2
	done
	[ $# = 0 ] || guest_option "$1" ""
	guest_check
	image_make "$kernel" || exit
	image=$(image_dir "$kernel")
	work=$(mktemp -d) || exit 2
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	[ -n "$out" ] || { out=$work/out && show=1; }
	[ -n "$log" ] || log=$work/log
	guest_archive || die "boot: cannot make the guest's files: see above"
	guest_qemu
	rc=$?
	[ -z "$show" ] || [ ! -f "$out" ] || tr -d '\r' <"$out" |
		sed '/^lab: exit [0-9]*$/d'
	guest_status "$rc"
}
