# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034	# the wires are for those who source this
# A bridge with a veth pair for each rank, in a network namespace of the
# caller's own: start the caller by "unshare -n", and all goes with it.

bridge_wire='af_packet:r%d,ip=10.88.0.1%d/24'
bridge_wire6='af_packet:r%d,ip=fd88::1%d/64'
bridge_mtu=9000 # more than the largest path MTU needs: 4096 and headers

# bridge_up RANKS
#
# The packet socket driver makes a number, which must be unique, of the low 16
# bits of process id xor interface index: indices here differ in the bits
# above those in which a few processes' ids differ.
bridge_up()
{
	local i file=/proc/sys/net/ipv6/conf/default/disable_ipv6

	# the kernel's own IPv6 chatter is not wanted on the wire
	[ ! -w "$file" ] || echo 1 >"$file"
	ip link set lo up &&
		ip link add br0 type bridge &&
		ip link set br0 up mtu "$bridge_mtu" || return 1
	for ((i = 0; i < $1; i++)); do
		ip link add "r$i" index $(((i + 1) << 12)) \
			mtu "$bridge_mtu" type veth \
			peer name "p$i" mtu "$bridge_mtu" &&
			ip link set "p$i" master br0 up &&
			ip link set "r$i" up || return 1
	done
}
