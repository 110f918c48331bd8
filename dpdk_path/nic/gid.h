/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A GID as RoCEv2 has it (IBTA Annex A17.4.5.2): an IPv6 address, or an IPv4
 * address mapped into one.  Everything here is safe from any thread.
 */
#ifndef WBELL_GID_H
#define WBELL_GID_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define GID_SIZE 16
/* In braces: the GID of an IPv4 address. */
#define GID_IPV4(a, b, c, d) \
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d

static inline bool gid_is_ipv4(const uint8_t gid[GID_SIZE])
{
	static const uint8_t any[GID_SIZE] = { GID_IPV4(0, 0, 0, 0) };

	return !memcmp(gid, any, 12);
}

/* The four bytes of the IPv4 address; gid_is_ipv4() holds. */
static inline const uint8_t *gid_ipv4(const uint8_t gid[GID_SIZE])
{
	return gid + 12;
}

static inline void gid_set_ipv4(uint8_t gid[GID_SIZE], const uint8_t ip[4])
{
	const uint8_t mapped[GID_SIZE] = { GID_IPV4(ip[0], ip[1], ip[2],
						    ip[3]) };

	memcpy(gid, mapped, GID_SIZE);
}

static inline bool gid_equal(const uint8_t a[GID_SIZE],
			     const uint8_t b[GID_SIZE])
{
	return !memcmp(a, b, GID_SIZE);
}

/* fe80::/10: good on its own link only (RFC 4291 2.5.6). */
static inline bool gid_is_link_local(const uint8_t gid[GID_SIZE])
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

/* One host may have it: not loopback, unspecified, multicast, 0/8, 240/4. */
bool gid_is_host(const uint8_t gid[GID_SIZE]);

/* The longest: eight groups of four, seven colons, the end. */
#define GID_TEXT 46
/* "10.0.0.1" or as RFC 5952 writes it; returns text. */
const char *gid_text(const uint8_t gid[GID_SIZE], char text[GID_TEXT]);

#endif /* WBELL_GID_H */
