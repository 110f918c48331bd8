// SPDX-License-Identifier: BSD-2-Clause
/*
 * The form of a wire: KIND:ARG[,KEY=VALUE ...] (docs/wire.md).  Which kinds
 * and keys there are is the provider's business; here is what must hold for
 * all, so that no provider meets a wild string.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "internal.h"

#define WIRE_MAX 1023

static int check_key(const char *wire, const char *key, size_t len,
		     struct error_text *e)
{
	const char *eq = memchr(key, '=', len);

	if (!len)
		return error_set(e, -EINVAL,
				 "wire '%.200s': an empty key: write "
				 "KEY=VALUE after each comma",
				 wire);
	if (!eq || eq == key)
		return error_set(e, -EINVAL,
				 "wire '%.200s': '%.*s' has no key and value: "
				 "write KEY=VALUE",
				 wire, (int)(len > 80 ? 80 : len), key);
	return 0;
}

static int check_keys(const char *wire, const char *comma, struct error_text *e)
{
	const char *key, *end;
	int rc;

	for (; comma; comma = *end ? end : NULL) {
		key = comma + 1;
		end = key + strcspn(key, ",");
		rc = check_key(wire, key, end - key, e);
		if (rc)
			return rc;
	}
	return 0;
}

static int check_bytes(const char *wire, struct error_text *e)
{
	const char *p;

	for (p = wire; *p; p++) {
		if (iscntrl((unsigned char)*p))
			return error_set(e, -EINVAL,
					 "wire: byte %zu is control character "
					 "0x%02x: use printable characters",
					 (size_t)(p - wire), (unsigned char)*p);
		if (p - wire >= WIRE_MAX)
			return error_set(e, -EINVAL,
					 "wire '%.40s...': longer than %d "
					 "bytes: shorten it",
					 wire, WIRE_MAX);
	}
	return 0;
}

int wire_check(const char *wire, struct error_text *e)
{
	const char *colon;
	int rc;

	if (!wire || !*wire)
		return error_set(e, -EINVAL,
				 "wire: none is given: use ring:NAME, "
				 "memif:PATH or af_packet:INTERFACE");
	rc = check_bytes(wire, e);
	if (rc)
		return rc;
	colon = wire + strspn(wire, "abcdefghijklmnopqrstuvwxyz0123456789_");
	if (colon == wire || *colon != ':')
		return error_set(e, -EINVAL,
				 "wire '%.200s': no KIND: before the argument: "
				 "use ring:NAME, memif:PATH or "
				 "af_packet:INTERFACE",
				 wire);
	if (colon[1] == '\0' || colon[1] == ',')
		return error_set(e, -EINVAL,
				 "wire '%.200s': nothing behind '%.*s:': give "
				 "its argument",
				 wire, (int)(colon - wire), wire);
	return check_keys(wire, strchr(colon, ','), e);
}

bool wire_is_fake(const char *wire)
{
	return wire && !strncmp(wire, "fake:", 5);
}
