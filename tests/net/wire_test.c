// SPDX-License-Identifier: BSD-2-Clause
/*
 * The wire spec: what it takes, what it refuses, and in which words.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire.h"

static struct wire w;
static struct wbell_err err;

static void refuse(const char *spec, const char *words)
{
	memset(&err, 0, sizeof(err));
	if (wire_parse(spec, &w, &err) != -EINVAL)
		fail_msg("'%s' was taken", spec);
	if (!strstr(err.text, words))
		fail_msg("'%s': '%s' is not in '%s'", spec, words, err.text);
}

static void accept(const char *spec)
{
	memset(&err, 0, sizeof(err));
	if (wire_parse(spec, &w, &err))
		fail_msg("'%s': %s", spec, err.text);
}

static void test_wire_defaults(void **state)
{
	accept("ring:a");
	assert_int_equal(w.kind, WIRE_RING);
	assert_string_equal(w.arg, "a");
	assert_true(gid_is_ipv4(w.gid));
	assert_int_equal(w.gid[12], 169);
	assert_int_equal(w.gid[13], 254);
	assert_in_range(w.gid[14], 1, 254); /* RFC 3927 2.1 */
	assert_int_equal(w.gid[15], w.mac[5]);
	assert_int_equal(w.mac[0] & 3, 2);
	assert_int_equal(w.mtu, 0);
	assert_false(w.has_fault);
	assert_string_equal(w.capture, "");
}

static void test_wire_mac_differs_each_time(void **state)
{
	uint8_t mac[6];

	accept("ring:a");
	memcpy(mac, w.mac, 6);
	accept("ring:a");
	assert_memory_not_equal(mac, w.mac, 6);
}

static void test_wire_key_values(void **state)
{
	static const uint8_t gid[] = { GID_IPV4(10, 1, 2, 3) };
	static const uint8_t mac[] = { 2, 0, 0xaB, 0, 0, 1 };

	accept("memif:/tmp/s,role=client,ip=10.1.2.3/24,"
	       "mac=02:00:aB:00:00:01,mtu=1500,capture=/tmp/c.pcapng,"
	       "fault=drop=0.5+dup=1+reorder=0+corrupt=0.25+seed=7");
	assert_int_equal(w.kind, WIRE_MEMIF);
	assert_int_equal(w.role, WIRE_ROLE_CLIENT);
	assert_memory_equal(w.gid, gid, GID_SIZE);
	assert_int_equal(w.prefix, 24);
	assert_memory_equal(w.mac, mac, 6);
	assert_int_equal(w.mtu, 1500);
	assert_string_equal(w.capture, "/tmp/c.pcapng");
	assert_true(w.has_fault);
	assert_int_equal(w.fault.drop, 0x80000000U);
	assert_int_equal(w.fault.dup, UINT32_MAX);
	assert_int_equal(w.fault.reorder, 0);
	assert_int_equal(w.fault.corrupt, 0x40000000U);
	assert_int_equal(w.fault.seed, 7);
}

static void test_wire_bad_kind(void **state)
{
	refuse("", "give ring:NAME");
	refuse("ring", "give ring:NAME");
	refuse("ring:", "give ring:NAME");
	refuse("tap:x", "'tap' is not a port");
	refuse(",ip=10.0.0.1", "is not a port");
	refuse("RING:a", "is not a port");
}

static void test_wire_bad_argument(void **state)
{
	char spec[300] = "memif:/";

	refuse("af_packet:averyveryverylong", "interface name");
	refuse("af_packet:../x", "interface name");
	refuse("memif:/tmp/a[b", "has one of");
	refuse("memif:/tmp/a=b", "has one of");
	memset(spec + 7, 'x', 200);
	refuse(spec, "has 201 bytes");
}

static void test_wire_bad_key(void **state)
{
	refuse("ring:a,", "not a key=value");
	refuse("ring:a,ip", "not a key=value");
	refuse("ring:a,colour=red", "'colour' is not a key");
	refuse("ring:a,mtu=1500,mtu=1500", "mtu= is given twice");
	refuse("ring:a,role=server", "role is for memif");
	refuse("memif:/s,role=master", "neither server nor client");
	refuse("ring:a,capture=", "capture path has 0 bytes");
}

static void test_wire_bad_address(void **state)
{
	refuse("ring:a,ip=10.0.0", "is no IPv4 or IPv6 address");
	refuse("ring:a,ip=10.0.0.256", "is no IPv4 or IPv6 address");
	refuse("ring:a,ip=", "is no IPv4 or IPv6 address");
	refuse("ring:a,ip=10.0.0.1/33", "is not 1..32");
	refuse("ring:a,ip=10.0.0.1/0", "is not 1..32");
	refuse("ring:a,ip=10.0.0.1/", "is not 1..32");
	refuse("ring:a,ip=10.0.0.1/-1", "is not 1..32");
	refuse("ring:a,ip=10.0.0.0/24", "network or broadcast");
	refuse("ring:a,ip=10.0.0.255/24", "network or broadcast");
	refuse("ring:a,ip=224.0.0.1", "not a host's address");
	refuse("ring:a,ip=127.0.0.1", "not a host's address");
	refuse("ring:a,ip=0.0.0.0", "not a host's address");
	accept("ring:a,ip=10.0.0.0/31");
	accept("ring:a,ip=10.0.0.255/32");
	refuse("ring:a,mac=02:00:00:00:00", "is not six bytes");
	refuse("ring:a,mac=02:00:00:00:00:0g", "is not six bytes");
	refuse("ring:a,mac=02:00:00:00:00:001", "is not six bytes");
	refuse("ring:a,mac=2:000:00:00:00:01x", "is not six bytes");
	refuse("ring:a,mac=01:00:00:00:00:01", "group or zero");
	refuse("ring:a,mac=00:00:00:00:00:00", "group or zero");
}

static void test_wire_ipv6(void **state)
{
	static const uint8_t gid[] = { 0xfd, 9, 0, 0, 0, 0,    0,    0,
				       0,    0, 0, 0, 0, 0xab, 0xcd, 0xef };

	accept("ring:a,ip=fd09::ab:CDEF/64");
	assert_memory_equal(w.gid, gid, GID_SIZE);
	assert_int_equal(w.prefix, 64);
	accept("ring:a,ip=fe80::1");
	assert_int_equal(w.prefix, 0);
	accept("ring:a,ip=fd09::/127");
	accept("ring:a,ip=fd09::/128");
	refuse("ring:a,ip=fd09::/64", "routers' address of its /64");
	refuse("ring:a,ip=fd09::1/129", "is not 1..128");
	refuse("ring:a,ip=fd09::1/0", "is not 1..128");
	refuse("ring:a,ip=fd09::1::2", "is no IPv4 or IPv6 address");
	refuse("ring:a,ip=fe80::1%eth0", "is no IPv4 or IPv6 address");
	refuse("ring:a,ip=[fd09::1]", "is no IPv4 or IPv6 address");
	refuse("ring:a,ip=::", "not a host's address");
	refuse("ring:a,ip=::1", "not a host's address");
	refuse("ring:a,ip=ff02::1", "not a host's address");
	refuse("ring:a,ip=::ffff:10.0.0.1", "give ip=10.0.0.1");
	refuse("ring:a,ip=fd09::1,ip=10.0.0.1", "given twice");
}

static bool on_link(const char *spec, const char *other)
{
	uint8_t gid[GID_SIZE];

	accept(other);
	memcpy(gid, w.gid, GID_SIZE);
	accept(spec);
	return wire_on_link(&w, gid);
}

static void test_wire_on_link(void **state)
{
	assert_true(on_link("ring:a,ip=10.0.0.1/24", "ring:a,ip=10.0.0.254"));
	assert_false(on_link("ring:a,ip=10.0.0.1/24", "ring:a,ip=10.0.1.1"));
	assert_true(on_link("ring:a,ip=10.0.0.1", "ring:a,ip=192.0.2.1"));
	assert_true(on_link("ring:a,ip=fd09::1/63", "ring:a,ip=fd09:0:0:1::2"));
	assert_false(
		on_link("ring:a,ip=fd09::1/63", "ring:a,ip=fd09:0:0:2::2"));
	assert_true(on_link("ring:a,ip=fd09::1/64", "ring:a,ip=fe80::2"));
}

static void test_wire_bad_number(void **state)
{
	refuse("ring:a,mtu=335", "is not 336");
	refuse("ring:a,mtu=65536", "is not 336");
	refuse("ring:a,mtu=+1500", "is not 336");
	refuse("ring:a,mtu=0x600", "is not 336");
	refuse("ring:a,mtu=18446744073709551617", "is not 336");
	refuse("ring:a,fault=", "fault is empty");
	refuse("ring:a,fault=drop", "fault 'drop' is unknown");
	refuse("ring:a,fault=burn=1", "fault 'burn' is unknown");
	refuse("ring:a,fault=drop=1.1", "no probability");
	refuse("ring:a,fault=drop=-0.1", "no probability");
	refuse("ring:a,fault=drop=nan", "no probability");
	refuse("ring:a,fault=drop=1e-3", "no probability");
	refuse("ring:a,fault=drop=0.1.2", "no probability");
	refuse("ring:a,fault=drop=", "no probability");
	refuse("ring:a,fault=seed=x", "not a number");
}

static void test_wire_path_mtu(void **state)
{
	accept("ring:a,mtu=336");
	assert_int_equal(wire_path_mtu(&w, 335), 0);
	assert_int_equal(wire_path_mtu(&w, 336), 256);
	assert_int_equal(wire_path_mtu(&w, 1500), 1024);
	assert_int_equal(wire_path_mtu(&w, 4175), 2048);
	assert_int_equal(wire_path_mtu(&w, 4176), 4096);
	assert_int_equal(wire_path_mtu(&w, 9000), 4096);
	/* IPv6's header has 20 bytes more, before or behind the MTU's key */
	accept("ring:a,mtu=356,ip=fd09::1");
	assert_int_equal(wire_path_mtu(&w, 355), 0);
	assert_int_equal(wire_path_mtu(&w, 1500), 1024);
	assert_int_equal(wire_path_mtu(&w, 4195), 2048);
	assert_int_equal(wire_path_mtu(&w, 4196), 4096);
	refuse("ring:a,mtu=355,ip=fd09::1", "is not 356");
	refuse("ring:a,ip=fd09::1,mtu=355", "is not 356");
}

/* Bytes of any value: an answer, never a crash or an overrun (ASan). */
static void test_wire_hostile_bytes(void **state)
{
	static const char alphabet[] =
		"ring:memif:af_packet:,=+/.0123456789abfed::"
		"ipmacmturolefaultdropseedcapture\x80%s";
	char spec[96];
	unsigned i, n;

	srandom(1);
	for (i = 0; i < 200000; i++) {
		strcpy(spec, i & 1 ? "ring:a," : "memif:/x,ip=");
		n = strlen(spec) + random() % 60;
		for (unsigned k = strlen(spec); k < n; k++)
			spec[k] = alphabet[random() % (sizeof(alphabet) - 1)];
		spec[n] = 0;
		if (wire_parse(spec, &w, &err))
			assert_true(strlen(err.text) > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire_defaults),
		cmocka_unit_test(test_wire_mac_differs_each_time),
		cmocka_unit_test(test_wire_key_values),
		cmocka_unit_test(test_wire_bad_kind),
		cmocka_unit_test(test_wire_bad_argument),
		cmocka_unit_test(test_wire_bad_key),
		cmocka_unit_test(test_wire_bad_address),
		cmocka_unit_test(test_wire_ipv6),
		cmocka_unit_test(test_wire_on_link),
		cmocka_unit_test(test_wire_bad_number),
		cmocka_unit_test(test_wire_path_mtu),
		cmocka_unit_test(test_wire_hostile_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
