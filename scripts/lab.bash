# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034	# addresses are for those who source this
# Two network namespaces joined by a veth pair, for those who source this.
#
# Each end has two addresses: the kernel's, for TCP, and the software NIC's,
# which answers ARP or neighbour
# discovery by itself.  Names carry the caller's pid, so labs of
# several callers do not meet.

lab_a=wbell-a-$$
lab_b=wbell-b-$$
lab_if_a=wba$$
lab_if_b=wbb$$
lab_tcp_a=10.87.0.1
lab_tcp_b=10.87.0.2
lab_nic_a=10.87.1.1
lab_nic_b=10.87.1.2
lab_nic6_a=fd87::1
lab_nic6_b=fd87::2
lab_mtu=9000 # more than the largest path MTU needs: 4096 and headers

# lab_end NAMESPACE INTERFACE ADDRESS
lab_end()
{
	ip link set "$2" netns "$1" &&
		ip -n "$1" addr add "$3/24" dev "$2" &&
		ip -n "$1" link set lo up &&
		ip -n "$1" link set "$2" up mtu "$lab_mtu"
}

# The kernel's own IPv6 chatter is not wanted on the wire.
lab_quiet()
{
	local file=/proc/sys/net/ipv6/conf

	ip netns exec "$1" sh -c "[ ! -w $file/all/disable_ipv6 ] ||
		for f in $file/*/disable_ipv6; do echo 1 >\$f; done"
}

lab_up()
{
	if [ "$(id -u)" != 0 ]; then
		echo "cannot make network namespaces: not root:" \
			"run as root" >&2
		return 2
	fi
	if ! ip netns add "$lab_a" || ! ip netns add "$lab_b" ||
		! lab_quiet "$lab_a" || ! lab_quiet "$lab_b" ||
		! ip link add "$lab_if_a" type veth peer name "$lab_if_b" ||
		! lab_end "$lab_a" "$lab_if_a" "$lab_tcp_a" ||
		! lab_end "$lab_b" "$lab_if_b" "$lab_tcp_b"; then
		lab_down
		echo "cannot make network namespaces: see above: give this" \
			"machine CAP_SYS_ADMIN and CAP_NET_ADMIN" >&2
		return 2
	fi
}

# Ends what runs in the namespaces; they take the interfaces with them.
lab_down()
{
	local ns pid

	for ns in "$lab_a" "$lab_b"; do
		[ -e "/run/netns/$ns" ] || continue
		for pid in $(ip netns pids "$ns"); do
			kill -9 "$pid" 2>/dev/null
		done
		ip netns del "$ns"
	done
	# left only when it had not been moved into a namespace yet
	[ ! -e "/sys/class/net/$lab_if_a" ] || ip link del "$lab_if_a"
}

lab_in_a()
{
	ip netns exec "$lab_a" "$@"
}

lab_in_b()
{
	ip netns exec "$lab_b" "$@"
}
