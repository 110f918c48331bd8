#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Captures what two guests with stock kernels say to each other when rping and
# ib_write_bw -R connect them: where tests/cm/mads.json comes from.
#	two-guests.sh CAPTURE && mads.py take CAPTURE >mads.json
# Needs root and tshark; a minute.
set -u
here=$(cd "$(dirname "$0")" && pwd)
lab=$here/../../scripts/lab
capture=$(realpath "${1:?usage: two-guests.sh CAPTURE}")

if [ -z "${TWO_GUESTS_INSIDE-}" ]; then
	"$lab" fetch 6.1 6.12 || exit
	TWO_GUESTS_INSIDE=1 exec timeout 300 unshare -np --mount-proc --fork \
		--kill-child "$0" "$capture"
fi

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# guest KERNEL NUMBER: runs what standard input says
guest()
{
	cat >"$work/$2.sh"
	"$lab" boot "$1" --net "tap:t$2" --cpus 1 --time 200 \
		--script "$work/$2.sh" --log "$work/$2.log"
}

# host NUMBER: commands that give a guest its addresses and its device
host()
{
	cat <<-END
	ip link set eth0 address 52:54:00:77:00:0$1 mtu 4200 up
	ip addr add 10.77.0.$1/24 dev eth0
	echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
	ip addr add fd77::$1/64 dev eth0
	rdma link add rxe0 type rxe netdev eth0
	# again COMMAND: the other end may not be there yet
	again()
	{
		for i in 1 2 3 4 5 6 7 8 9 10; do
			timeout 20 "\$@" && return
			sleep 1
		done
	}
	END
}

ip link set lo up
ip link add br0 type bridge
ip link set br0 mtu 4200 up
for n in 5 6; do
	ip tuntap add mode tap name "t$n"
	ip link set "t$n" mtu 4200 up master br0
done
tshark -q -i br0 -f 'udp port 4791' -w "$capture" &
shark=$!
sleep 2

{
	host 6
	cat <<-END
	timeout 60 rping -s -a 10.77.0.6 -v -V -C 3
	timeout 60 rping -s -a fd77::6 -v -V -C 3
	sleep 3
	timeout 40 ib_write_bw -R -d rxe0 -x 1 -F -s 65536 -n 20
	sleep 8
	END
} | guest 6.1 6 &
server=$!
{
	host 5
	cat <<-END
	sleep 2
	again rping -c -a 10.77.0.6 -v -V -C 3
	sleep 1
	again rping -c -a fd77::6 -v -V -C 3
	timeout 20 rping -c -a 10.77.0.6 -p 9999 -C 3 # nobody is there
	sleep 5
	again ib_write_bw -R -d rxe0 -x 1 -F -s 65536 -n 20 10.77.0.6
	END
} | guest 6.12 5
wait "$server"
kill -INT "$shark"
wait "$shark"
