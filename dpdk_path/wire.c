// SPDX-License-Identifier: BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <wbell/roce.h>

#include "wire.h"

/* IP, UDP, BTH, the longest extension headers, ICRC, rounded up. */
#define WIRE_HEADERS_V4 80
#define WIRE_HEADERS_V6 100
#define WIRE_MTU_MAX	65535

static const char *const kind_name[] = {
	[WIRE_RING] = "ring",
	[WIRE_MEMIF] = "memif",
	[WIRE_AF_PACKET] = "af_packet",
};

const char *wire_kind_name(enum wire_kind kind)
{
	return kind_name[kind];
}

uint32_t wire_headers(const struct wire *w)
{
	/* no address yet: it will be an IPv4 one */
	return gid_is_host(w->gid) && !gid_is_ipv4(w->gid) ? WIRE_HEADERS_V6
							   : WIRE_HEADERS_V4;
}

uint32_t wire_path_mtu(const struct wire *w, uint32_t mtu)
{
	uint32_t m;

	for (m = ROCE_MTU_MAX; m >= ROCE_MTU_MIN; m >>= 1)
		if (m + wire_headers(w) <= mtu)
			return m;
	return 0;
}

/* The bits of gid behind the first n, and whether they are all 0 or all 1. */
static bool rest_is(const uint8_t *gid, unsigned n, unsigned bit)
{
	unsigned i;

	for (i = n; i < GID_SIZE * 8; i++)
		if ((gid[i / 8] >> (7 - i % 8) & 1) != bit)
			return false;
	return true;
}

bool wire_on_link(const struct wire *w, const uint8_t gid[GID_SIZE])
{
	unsigned n = w->prefix + (gid_is_ipv4(gid) ? 96 : 0), i;

	if (!w->prefix || gid_is_link_local(gid))
		return true;
	for (i = 0; i < n; i++)
		if ((gid[i / 8] ^ w->gid[i / 8]) >> (7 - i % 8) & 1)
			return false;
	return true;
}

__attribute__((format(printf, 2, 3))) static int bad(struct wbell_err *err,
						     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* Digits only: strtoul() would take signs, blanks and 0x. */
static int number(const char *s, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || v > (max - (*s - '0')) / 10)
			return -EINVAL;
		v = v * 10 + (*s - '0');
	}
	*out = v;
	return 0;
}

/* "0.01" and the like: 0 to 1, as a fraction of 2^32. */
static int fraction(const char *s, uint32_t *out)
{
	size_t n = strspn(s, "0123456789.");
	char *end;
	double p;

	if (!n || s[n])
		return -EINVAL;
	p = strtod(s, &end);
	if (*end || !(p >= 0 && p <= 1))
		return -EINVAL;
	*out = p >= 1 ? UINT32_MAX : (uint32_t)(p * 4294967296.0);
	return 0;
}

static int parse_ip(struct wire *w, const char *v, struct wbell_err *err)
{
	bool v6 = strchr(v, ':');
	uint8_t ip[4];

	if (v6 ? inet_pton(AF_INET6, v, w->gid) != 1
	       : inet_pton(AF_INET, v, ip) != 1)
		return bad(err,
			   "wire: ip '%.60s' is no IPv4 or IPv6 address: give "
			   "ip=A.B.C.D[/LEN] or ip=X:X::X[/LEN]",
			   v);
	if (!v6)
		gid_set_ipv4(w->gid, ip);
	else if (gid_is_ipv4(w->gid))
		return bad(err,
			   "wire: ip %.50s is an IPv4 address in IPv6's form: "
			   "give ip=%u.%u.%u.%u",
			   v, w->gid[12], w->gid[13], w->gid[14], w->gid[15]);
	if (gid_is_host(w->gid))
		return 0;
	return bad(err,
		   "wire: ip %.50s is not a host's address: give a unicast "
		   "address outside %s",
		   v, v6 ? "::/127 and ff00::/8" : "0/8 and 127/8");
}

/*
 * The addresses of a prefix that are no host's: the network and the broadcast
 * address, of a /31 neither (RFC 3021); all routers' anycast address, but
 * with /127 (RFC 4291 2.6.1, RFC 6164).
 */
static int check_host_part(const struct wire *w, const char *v,
			   struct wbell_err *err)
{
	bool v4 = gid_is_ipv4(w->gid);
	unsigned n = w->prefix + (v4 ? 96 : 0);

	if (!w->prefix || n >= GID_SIZE * 8 - 1)
		return 0;
	if (v4 && (rest_is(w->gid, n, 0) || rest_is(w->gid, n, 1)))
		return bad(err,
			   "wire: ip %.20s is the network or broadcast "
			   "address of its /%u: give a host's address",
			   v, w->prefix);
	if (!v4 && rest_is(w->gid, n, 0))
		return bad(err,
			   "wire: ip %.50s is the routers' address of its "
			   "/%u: give a host's address",
			   v, w->prefix);
	return 0;
}

static int take_ip(struct wire *w, char *v, struct wbell_err *err)
{
	unsigned max = strchr(v, ':') ? 128 : 32;
	char *slash = strchr(v, '/');
	uint64_t len = 0;
	int rc;

	if (slash) {
		*slash++ = 0;
		if (number(slash, max, &len) || !len)
			return bad(err,
				   "wire: ip prefix '%.20s' is not "
				   "1..%u: give ip=ADDRESS/LEN",
				   slash, max);
	}
	rc = parse_ip(w, v, err);
	if (rc)
		return rc;
	w->prefix = len;
	return check_host_part(w, v, err);
}

static int take_mac(struct wire *w, char *v, struct wbell_err *err)
{
	unsigned b[6], i;
	char end;

	if (strlen(v) != 17 || strspn(v, "0123456789abcdefABCDEF:") != 17 ||
	    sscanf(v, "%2x:%2x:%2x:%2x:%2x:%2x%c", &b[0], &b[1], &b[2], &b[3],
		   &b[4], &b[5], &end) != 6)
		return bad(err,
			   "wire: mac '%.40s' is not six bytes: give "
			   "mac=02:00:00:00:00:01",
			   v);
	if ((b[0] & 1) || !(b[0] | b[1] | b[2] | b[3] | b[4] | b[5]))
		return bad(err,
			   "wire: mac %s is a group or zero address: "
			   "give a unicast one, such as "
			   "02:00:00:00:00:01",
			   v);
	for (i = 0; i < 6; i++)
		w->mac[i] = b[i];
	return 0;
}

static int bad_mtu(const struct wire *w, const char *v, struct wbell_err *err)
{
	uint32_t least = ROCE_MTU_MIN + wire_headers(w);

	return bad(err,
		   "wire: mtu '%.20s' is not %u..%u: a path MTU of 256 and "
		   "its headers need %u",
		   v, least, WIRE_MTU_MAX, least);
}

static int take_mtu(struct wire *w, char *v, struct wbell_err *err)
{
	uint64_t m;

	if (number(v, WIRE_MTU_MAX, &m) || !m)
		return bad_mtu(w, v, err);
	w->mtu = m;
	return 0;
}

static int take_role(struct wire *w, char *v, struct wbell_err *err)
{
	if (w->kind != WIRE_MEMIF)
		return bad(err,
			   "wire: role is for memif, this is %s: leave "
			   "it out",
			   wire_kind_name(w->kind));
	if (!strcmp(v, "server"))
		w->role = WIRE_ROLE_SERVER;
	else if (!strcmp(v, "client"))
		w->role = WIRE_ROLE_CLIENT;
	else
		return bad(err,
			   "wire: role '%.20s' is neither server nor "
			   "client: give one of them",
			   v);
	return 0;
}

static int take_capture(struct wire *w, char *v, struct wbell_err *err)
{
	if (!*v || strlen(v) >= sizeof(w->capture))
		return bad(err,
			   "wire: capture path has %zu bytes: give "
			   "1..%zu",
			   strlen(v), sizeof(w->capture) - 1);
	strcpy(w->capture, v);
	return 0;
}

static int take_fault_part(struct wire_fault *f, char *part,
			   struct wbell_err *err)
{
	char *v = strchr(part, '=');
	uint32_t *p = NULL;

	if (v)
		*v++ = 0;
	if (v && !strcmp(part, "seed")) {
		if (number(v, UINT64_MAX, &f->seed))
			return bad(err,
				   "wire: fault seed '%.20s' is not a "
				   "number: give seed=N",
				   v);
		return 0;
	}
	if (!strcmp(part, "drop"))
		p = &f->drop;
	else if (!strcmp(part, "dup"))
		p = &f->dup;
	else if (!strcmp(part, "reorder"))
		p = &f->reorder;
	else if (!strcmp(part, "corrupt"))
		p = &f->corrupt;
	if (!v || !p)
		return bad(err,
			   "wire: fault '%.20s' is unknown: give "
			   "drop=P, dup=P, reorder=P, corrupt=P or "
			   "seed=N, joined by '+'",
			   part);
	if (fraction(v, p))
		return bad(err,
			   "wire: fault %s '%.20s' is no probability: "
			   "give 0..1, such as 0.01",
			   part, v);
	return 0;
}

static int take_fault(struct wire *w, char *v, struct wbell_err *err)
{
	char *save = NULL, *part;
	int rc;

	w->has_fault = true;
	part = strtok_r(v, "+", &save);
	if (!part)
		return bad(err, "wire: fault is empty: give drop=P or another "
				"part");
	for (; part; part = strtok_r(NULL, "+", &save)) {
		rc = take_fault_part(&w->fault, part, err);
		if (rc)
			return rc;
	}
	return 0;
}

static const struct {
	const char *name;
	int (*take)(struct wire *w, char *v, struct wbell_err *err);
} keys[] = {
	{ "ip", take_ip },	     { "mac", take_mac },
	{ "mtu", take_mtu },	     { "role", take_role },
	{ "capture", take_capture }, { "fault", take_fault },
};
#define NKEYS (sizeof(keys) / sizeof(keys[0]))

static int take_key(struct wire *w, char *item, unsigned *seen,
		    struct wbell_err *err)
{
	char *v = strchr(item, '=');
	unsigned i;

	if (v)
		*v++ = 0;
	for (i = 0; i < NKEYS && strcmp(item, keys[i].name); i++)
		;
	if (i == NKEYS || !v)
		return bad(err,
			   "wire: '%.40s' is not a key=value that is "
			   "known: use ip=, mac=, mtu=, role=, capture= "
			   "or fault=",
			   item);
	if (*seen & 1U << i)
		return bad(err, "wire: %s= is given twice: give it once", item);
	*seen |= 1U << i;
	return keys[i].take(w, v, err);
}

static int take_interface(const char *arg, struct wbell_err *err)
{
	if (strlen(arg) >= IFNAMSIZ || strpbrk(arg, "/ \t\n"))
		return bad(err,
			   "wire: '%.40s' cannot be an interface name: "
			   "give one of `ip link`",
			   arg);
	return 0;
}

/* What DPDK's device arguments would read as something else. */
static int take_path(const char *arg, struct wbell_err *err)
{
	if (strpbrk(arg, "[]=\"'"))
		return bad(err,
			   "wire: path '%.60s' has one of []=\"': "
			   "choose a path without",
			   arg);
	return 0;
}

static int take_kind(struct wire *w, char *item, struct wbell_err *err)
{
	char *arg = strchr(item, ':');
	unsigned i;

	if (arg)
		*arg++ = 0;
	for (i = 0; i < 3 && strcmp(item, kind_name[i]); i++)
		;
	if (i == 3 || !arg || !*arg)
		return bad(err,
			   "wire: '%.40s' is not a port: give ring:NAME, "
			   "memif:PATH or af_packet:INTERFACE",
			   item);
	if (strlen(arg) >= sizeof(w->arg) - 2)
		return bad(err, "wire: %s has %zu bytes: give at most %zu",
			   item, strlen(arg), sizeof(w->arg) - 3);
	w->kind = i;
	strcpy(w->arg, arg);
	if (w->kind == WIRE_AF_PACKET)
		return take_interface(arg, err);
	return w->kind == WIRE_MEMIF ? take_path(arg, err) : 0;
}

/* Locally administered MAC; IP from it, in the range of RFC 3927. */
static int defaults(struct wire *w, struct wbell_err *err)
{
	uint64_t r;

	if (getrandom(&r, sizeof(r), 0) != sizeof(r)) {
		bad(err, "wire: getrandom failed: %s: give mac= and ip=",
		    strerror(errno));
		return -EIO;
	}
	if (!(w->mac[0] | w->mac[1] | w->mac[2] | w->mac[3] | w->mac[4] |
	      w->mac[5])) {
		memcpy(w->mac, &r, 6);
		w->mac[0] = (w->mac[0] & 0xfc) | 0x02;
	}
	if (!gid_is_host(w->gid)) {
		const uint8_t ip[4] = { 169, 254, 1 + w->mac[4] % 254,
					w->mac[5] };

		gid_set_ipv4(w->gid, ip);
		w->prefix = 16;
	}
	if (w->has_fault && !w->fault.seed)
		w->fault.seed = 1;
	return 0;
}

int wire_parse(const char *spec, struct wire *w, struct wbell_err *err)
{
	char *copy, *item, *next;
	unsigned seen = 0;
	int rc;

	memset(w, 0, sizeof(*w));
	copy = strdup(spec);
	if (!copy)
		return -ENOMEM;
	next = copy;
	item = strsep(&next, ",");
	rc = take_kind(w, item, err);
	while (!rc && (item = strsep(&next, ",")))
		rc = take_key(w, item, &seen, err);
	if (!rc)
		rc = defaults(w, err);
	/* Keys come in any order: only now is the family known. */
	if (!rc && w->mtu && !wire_path_mtu(w, w->mtu)) {
		char mtu[12];

		snprintf(mtu, sizeof(mtu), "%u", w->mtu);
		rc = bad_mtu(w, mtu, err);
	}
	free(copy);
	return rc;
}
