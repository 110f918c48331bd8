// SPDX-License-Identifier: BSD-2-Clause
/*
 * af_packet:INTERFACE - frames past the kernel's stack by a packet socket.
 *
 * The interface's MTU can change under us: its buffers stay as they were at
 * open.  Linux cuts a longer frame to the buffer (TPACKET_V2), so a frame
 * that fills its buffer is a cut one; longer frames to send are dropped here
 * (port.c) and, in the time until the change is seen, by the kernel, which
 * the driver has told to drop what it refuses (PACKET_LOSS).
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ether.h>

#include "priv.h"

#define AFP_FRAMES 256U /* each way */
#define AFP_MBUFS  511
/* Buffers: TPACKET2_HDRLEN, alignment, and bytes to tell a cut frame by. */
#define AFP_OVERHEAD   ((uint32_t)(TPACKET2_HDRLEN + 2 * TPACKET_ALIGNMENT))
#define AFP_FRAME_MIN  2048U
#define AFP_FRAME_STEP 256U
#define AFP_PER_BLOCK  16U /* AFP_FRAME_STEP * this: whole pages */

static int refuse(struct wbell_err *err, int rc, const char *interface,
		  const char *fact, const char *mend)
{
	snprintf(err->text, sizeof(err->text),
		 "wire: interface %.16s %s: %s: %s", interface, fact,
		 strerror(-rc), mend);
	return rc;
}

static int ask(const struct port *p, unsigned long what, struct ifreq *ifr)
{
	memset(ifr, 0, sizeof(*ifr));
	memcpy(ifr->ifr_name, p->interface, IFNAMSIZ);
	return ioctl(p->fd, what, ifr) ? -errno : 0;
}

static int check_interface(struct port *p, struct wbell_err *err)
{
	struct ifreq ifr;
	int rc;

	rc = ask(p, SIOCGIFFLAGS, &ifr);
	if (!rc && !(ifr.ifr_flags & IFF_UP))
		return refuse(err, -ENETDOWN, p->interface, "is down",
			      "ip link set it up");
	if (!rc)
		rc = ask(p, SIOCGIFHWADDR, &ifr);
	if (!rc && ifr.ifr_hwaddr.sa_family != ARPHRD_ETHER &&
	    ifr.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK)
		return refuse(err, -EPFNOSUPPORT, p->interface,
			      "is not Ethernet",
			      "RoCEv2 needs an Ethernet interface");
	if (!rc)
		rc = ask(p, SIOCGIFMTU, &ifr);
	if (rc)
		return refuse(err, rc, p->interface, "does not answer",
			      "was it removed just now?");
	p->mtu = ifr.ifr_mtu;
	return 0;
}

/*
 * Our MAC is not the interface's.  The membership ends with the socket,
 * where the driver's own way would leave the interface promiscuous.
 */
static int listen_all(struct port *p, unsigned index, struct wbell_err *err)
{
	struct packet_mreq mr = {
		.mr_ifindex = index,
		.mr_type = PACKET_MR_PROMISC,
	};

	if (!setsockopt(p->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &mr,
			sizeof(mr)))
		return 0;
	return refuse(err, -errno, p->interface, "refuses promiscuous mode",
		      "the software NIC's MAC is not the interface's");
}

static int open_socket(struct port *p, struct wbell_err *err)
{
	unsigned index = if_nametoindex(p->interface);
	int rc;

	if (!index)
		return refuse(err, -ENODEV, p->interface, "does not exist here",
			      "ip link lists those that do; another network "
			      "namespace needs ip netns exec");
	p->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		return refuse(err, -errno, p->interface,
			      "needs a packet socket",
			      "run as root or give CAP_NET_RAW: setcap "
			      "cap_net_raw+ep PROGRAM");
	rc = check_interface(p, err);
	if (!rc)
		rc = listen_all(p, index, err);
	if (rc)
		close(p->fd);
	return rc;
}

static int make_device(struct port *p, uint32_t frame, struct wbell_err *err)
{
	char args[160];

	snprintf(p->name, sizeof(p->name), "net_af_packet%u", eal_unique());
	snprintf(args, sizeof(args),
		 "iface=%s,blocksz=%u,framesz=%u,framecnt=%u,qdisc_bypass=1",
		 p->interface, frame * AFP_PER_BLOCK, frame, AFP_FRAMES);
	return port_vdev_create(p, args, err);
}

static int af_packet_open(struct port *p, const struct wire *w,
			  struct wbell_err *err)
{
	uint32_t frame;
	int rc;

	memcpy(p->interface, w->arg, strnlen(w->arg, IFNAMSIZ - 1));
	rc = open_socket(p, err);
	if (rc)
		return rc;
	frame = wire_path_mtu(w, w->mtu ? RTE_MIN(w->mtu, p->mtu) : p->mtu);
	frame = RTE_MAX(ROCE_FRAME_MAX(frame) + AFP_OVERHEAD, AFP_FRAME_MIN);
	frame = RTE_ALIGN_CEIL(frame, AFP_FRAME_STEP);
	/* The driver wants an mbuf to hold a whole buffer, header and all. */
	rc = port_pool_create(frame, AFP_MBUFS, &p->pool, err);
	if (rc)
		goto close_socket;
	rc = make_device(p, frame, err);
	if (rc)
		goto free_pool;
	p->frame_max = frame - AFP_OVERHEAD;
	return 0;

free_pool:
	rte_mempool_free(p->pool);
close_socket:
	close(p->fd);
	return rc;
}

static void af_packet_close(struct port *p)
{
	port_vdev_destroy(p);
	rte_mempool_free(p->pool);
	close(p->fd);
}

static void af_packet_link(struct port *p, struct port_link *link)
{
	struct ifreq ifr;

	if (ask(p, SIOCGIFFLAGS, &ifr)) {
		link->up = false; /* removed */
		return;
	}
	link->up = (ifr.ifr_flags & IFF_UP) && (ifr.ifr_flags & IFF_RUNNING);
	if (!ask(p, SIOCGIFMTU, &ifr))
		link->mtu = ifr.ifr_mtu;
}

const struct port_kind port_af_packet = {
	.open = af_packet_open,
	.close = af_packet_close,
	.link = af_packet_link,
};
