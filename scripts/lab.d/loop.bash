# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# The developer's loop of scripts/lab: a guest that stays up and is handed each
# build on a disk, whose first line says which one it is.
#
# Uses home and die of scripts/lab, and headers.bash.

# What runs in the guest.  Reads past the page cache: the host writes the disk.
loop_agent()
{
	cat <<-'END'
	last=0 loaded=
	load()
	{
		while read -r m; do
			insmod "/tmp/new/$m" || return
			m=${m##*/}
			loaded="${m%.ko} $loaded"
		done </tmp/new/order
		[ ! -e /tmp/new/script ] || sh /tmp/new/script
	}
	while :; do
		blockdev --flushbufs /dev/vda
		read -r round bytes </dev/vda
		[ "$round" != "$last" ] || {
			sleep 0.1
			continue
		}
		last=$round
		rm -rf /tmp/new
		mkdir /tmp/new
		tail -c +4097 /dev/vda | head -c "$bytes" | tar -x -C /tmp/new
		for m in $loaded; do
			rmmod "$m"
		done
		loaded=
		dmesg -c >/dev/null
		load
		rc=$?
		dmesg | tail -n 20
		echo "lab: round $round: status $rc"
	done
	END
}

# loop_start: the guest, in the background
loop_start()
{
	loop_agent >"$work/agent"
	truncate -s 64M "$work/disk"
	echo "0 0" | dd of="$work/disk" conv=notrunc status=none
	: >"$work/out"
	round=0
	# a group of its own: all of it ends with the loop
	setsid "$home/lab" boot "$kernel" --script "$work/agent" --gpu 64M \
		--disk "$work/disk" --out "$work/out" --log "$work/log" \
		--time 86400 &
	guest=$!
}

loop_limit=60 # seconds for a round in the guest

# Builds; hands the result to the guest, waits for what it says of it.
loop_round()
{
	local from=$1 bytes lines start=${EPOCHREALTIME/./}

	"$home/lab" module "$kernel" "$from" "$work/module" >"$work/make" 2>&1 ||
		{ tail -n 30 "$work/make" && return; }
	sed 's/\.o$/.ko/' "$work/module/modules.order" >"$work/module/order"
	# 7.3 names them from the folder, 6.1 by their whole path
	sed -i "s#^$work/module/##" "$work/module/order"
	[ -z "$script" ] || cp "$script" "$work/module/script"
	tar -c -f "$work/tar" -C "$work/module" -T "$work/module/order" \
		order ${script:+script}
	bytes=$(stat -c %s "$work/tar")
	dd if="$work/tar" of="$work/disk" bs=4096 seek=1 conv=notrunc status=none
	lines=$(wc -l <"$work/out")
	round=$((round + 1))
	echo "$round $bytes" | dd of="$work/disk" conv=notrunc status=none
	SECONDS=0
	until grep -q "^lab: round $round:" "$work/out"; do
		sleep 0.1
		# it died: the caller tells and starts another
		kill -0 "$guest" 2>/dev/null || return
		if [ "$SECONDS" -ge "$loop_limit" ]; then
			echo "lab: the guest has not answered for $loop_limit s:" \
				"a module hangs in it"
			kill -- "-$guest" && wait "$guest" 2>/dev/null
			return
		fi
	done
	tail -n "+$((lines + 1))" "$work/out" | tr -d '\r'
	echo "lab: $(((${EPOCHREALTIME/./} - start) / 1000)) ms from the edit"
}

# loop_run KERNEL DIR [SCRIPT]: until it is told to end
loop_run()
{
	local kernel=$1 from script=${3-} round stamp

	from=$(readlink -e "$2") || die "loop: no folder $2"
	[ -z "$script" ] || [ -f "$script" ] || die "loop: no script $script"
	headers_make "$kernel" || exit
	work=$(mktemp -d) || exit 2
	trap 'kill -- "-$guest" 2>/dev/null; rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	stamp=$work/stamp
	loop_start
	touch -d @0 "$stamp"
	while :; do
		if [ -n "$(find "$from" \( -name build -o -name .git \) -prune \
			-o -newer "$stamp" -type f -name '[!.]*' -print -quit)" ]; then
			touch "$stamp"
			loop_round "$from"
		fi
		kill -0 "$guest" 2>/dev/null || {
			echo "lab: the guest died: starting another"
			tail -n 20 "$work/log"
			loop_start
			touch -d @0 "$stamp"
		}
		sleep 0.1
	done
}
