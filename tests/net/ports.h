/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests of ports share: open by spec, send, receive, count.
 */
#ifndef TESTS_NET_PORTS_H
#define TESTS_NET_PORTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eal.h"
#include "port/port.h"

static void port_log(void *arg, int level, const char *text)
{
	if (level <= WBELL_LOG_WARN || getenv("WBELL_TEST_LOG"))
		printf("# %s\n", text);
}

static int try_open(const char *spec, struct port **p, struct wbell_err *err)
{
	static struct eal_log log = { .fn = port_log };
	struct port_attr attr = { .log = port_log };
	struct wire w;
	int rc = wire_parse(spec, &w, err);

	eal_log_remove(&log);
	eal_log_add(&log);
	if (rc)
		return rc;
	rc = eal_start(0, err);
	if (rc)
		return rc;
	attr.wire = &w;
	attr.now = eal_now();
	return port_open(&attr, p, err);
}

static struct port *must_open(const char *spec)
{
	struct wbell_err err = { "" };
	struct port *p = NULL;

	if (try_open(spec, &p, &err))
		fail_msg("%s: %s", spec, err.text);
	return p;
}

/* An IPv4-typed frame that tells its number. */
static void fill(uint8_t *b, uint32_t len, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		b[i] = number * 7 + i;
	memset(b, 0x02, 12);
	b[12] = 8;
	b[13] = 0;
	memcpy(b + 14, &number, 4);
}

static bool filled(const uint8_t *b, uint32_t len)
{
	static uint8_t want[16384];
	uint32_t number;

	memcpy(&number, b + 14, 4);
	fill(want, len, number);
	return !memcmp(b, want, len);
}

static unsigned port_send(struct port *p, unsigned n, uint32_t len,
			  uint32_t number)
{
	struct roce_frame *f;
	uint64_t now = eal_now();
	unsigned i, room = port_tx_room(p, now, &f);

	if (n > room)
		n = room;
	for (i = 0; i < n; i++) {
		assert_true(f[i].room >= len);
		fill(f[i].data, len, number + i);
		f[i].len = len;
	}
	port_tx(p, now, n);
	return n;
}

static uint64_t count(struct port *p, const char *name)
{
	struct wbell_counter c[32];
	unsigned i, n = port_counters(p, c, 32);

	for (i = 0; i < n; i++)
		if (!strcmp(c[i].name, name))
			return c[i].value;
	fail_msg("no counter %s", name);
	return 0;
}

#endif /* TESTS_NET_PORTS_H */
