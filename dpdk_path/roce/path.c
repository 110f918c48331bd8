// SPDX-License-Identifier: BSD-2-Clause
/* Headers of the packets to one place, made once; address handles. */
#include "priv.h"

static uint8_t *put_ethernet(struct path *path, const struct roce_dev *dev,
			     const struct roce_peer *peer)
{
	uint8_t *p = path->hdr;

	memcpy(p, peer->mac, 6);
	memcpy(p + 6, dev->mac, 6);
	p += 12;
	if (peer->vlan) {
		put16(p, ROCE_ETHERTYPE_VLAN);
		put16(p + 2, peer->pcp << 13 | peer->vlan);
		p += 4;
	}
	put16(p, peer->v6 ? ROCE_ETHERTYPE_IPV6 : ROCE_ETHERTYPE_IPV4);
	return p + 2;
}

static uint8_t *put_ipv4(struct path *path, const struct roce_dev *dev,
			 const struct roce_peer *peer, uint8_t tos, uint8_t *p)
{
	p[0] = 0x45;
	p[1] = tos;
	put16(p + 6, 0x4000); /* DF */
	p[8] = peer->hop_limit ? peer->hop_limit : 64;
	p[9] = ROCE_IPPROTO_UDP;
	memcpy(p + 12, dev->ip, 4);
	memcpy(p + 16, peer->ip, 4);
	for (unsigned i = 0; i < 20; i += 2)
		path->ip_sum += p[i] << 8 | p[i + 1];
	return p + 20;
}

static uint8_t *put_ipv6(const struct roce_dev *dev,
			 const struct roce_peer *peer, uint8_t tc, uint8_t *p)
{
	put32(p, 6U << 28 | (uint32_t)tc << 20 | (peer->flow_label & 0xfffff));
	p[6] = ROCE_IPPROTO_UDP;
	p[7] = peer->hop_limit ? peer->hop_limit : 64;
	memcpy(p + 8, dev->ip6, 16);
	memcpy(p + 24, peer->ip6, 16);
	return p + 40;
}

void path_fill(struct path *path, struct roce_dev *dev,
	       const struct roce_peer *peer, uint8_t traffic_class)
{
	uint8_t *p;

	memset(path, 0, sizeof(*path));
	path->seals = &dev->seals;
	p = put_ethernet(path, dev, peer);
	path->l3 = p - path->hdr;
	path->v6 = peer->v6;
	path->vlan = peer->vlan;
	path->has_mac = peer->has_mac;
	p = peer->v6 ? put_ipv6(dev, peer, traffic_class, p)
		     : put_ipv4(path, dev, peer, traffic_class, p);
	put16(p, roce_sport(peer->flow_label & 0xfffff));
	put16(p + 2, ROCE_UDP_PORT);
	p += UDP_SIZE;
	p[1] = ROCE_BTH_MIGREQ;
	put16(p + 2, ROCE_PKEY_DEFAULT);
	put32(p + 4, peer->qpn & ROCE_QPN_MASK);
	path->size = p + BTH_SIZE - path->hdr;
}

static void forget_stamps(struct path *path)
{
	path->stamp[0].shape = path->stamp[1].shape = 0;
}

void path_mac(struct path *path, const uint8_t mac[6])
{
	memcpy(path->hdr, mac, 6);
	path->has_mac = 1;
	forget_stamps(path);
}

void path_qpn(struct path *path, uint32_t qpn)
{
	uint8_t *p = path->hdr + path->size - 8;

	qpn &= ROCE_QPN_MASK;
	if (get32(p) == qpn)
		return;
	put32(p, qpn);
	forget_stamps(path);
}

/* ---- address handles: index + 1, so that 0 is none ---- */

struct path *path_of_ah(struct roce_dev *dev, uint32_t ah)
{
	struct path *path;

	if (!ah || ah > dev->max_ah)
		return NULL;
	path = &dev->ah[ah - 1];
	return path->used ? path : NULL;
}

int roce_ah_add(struct roce_dev *dev, const struct roce_peer *peer,
		uint32_t *ah)
{
	if (peer->vlan > 4094 || peer->pcp > 7)
		return -EINVAL;
	for (uint32_t i = 0; i < dev->max_ah; i++) {
		if (dev->ah[i].used)
			continue;
		path_fill(&dev->ah[i], dev, peer, 0);
		dev->ah[i].used = 1;
		*ah = i + 1;
		return 0;
	}
	return -ENOSPC;
}

int roce_ah_del(struct roce_dev *dev, uint32_t ah)
{
	struct path *path = path_of_ah(dev, ah);

	if (!path)
		return -ENOENT;
	path->used = 0;
	return 0;
}
