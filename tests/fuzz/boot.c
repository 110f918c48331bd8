// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a bootstrap carries: queue addresses to the software NIC, and the
 * demo's messages, from a peer that closes behind its last byte.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "../../dpdk_path/nic/nic.h"
#include "../../gpu/demo/demo.h"

#define DEPTH 4

int demo_fail(int code, const char *what, const char *fact, const char *mend)
{
	must(*what && *fact && *mend);
	must(strlen(fact) < 256);
	return code;
}

/* ---- an address ---- */

static void change(struct input *in, uint8_t *bytes, size_t n)
{
	unsigned times = (unsigned)take(in, 1) % 8;

	for (unsigned i = 0; i < times; i++)
		bytes[take(in, 1) % n] = (uint8_t)take(in, 1);
}

/* A refusal says why; what is taken does not break the next turn. */
static void judge(struct nic *nic, struct nic_queue *q,
		  const struct wbell_address *a)
{
	static uint8_t frame[ROCE_FRAME_MAX(4096)];
	struct roce_frame f = { frame, 0, sizeof(frame) };
	struct wbell_err err = { "" };
	struct wbell_prov_stat stat;
	uint32_t peer = 0;
	uint8_t gid[GID_SIZE];

	if (nic_queue_connect(q, a, &peer, &err)) {
		must(strlen(err.text) < sizeof(err.text));
		must(strstr(err.text, ": "));
		return;
	}
	must(peer > 1 && peer < ROCE_QPN_MULTICAST);
	must(!nic_queue_stat(q, &stat) && stat.path_mtu >= 256);
	if (nic_unresolved(nic, 1000000, &gid, 1))
		nic_resolved(nic, gid, (const uint8_t[6]){ 2, 0, 0, 0, 0, 9 });
	nic_tx(nic, 1000000, &f, 1);
}

static void address(struct input *in)
{
	static struct wbell_cqe cq[DEPTH] __attribute__((aligned(64)));
	static uint8_t sq[DEPTH * 64] __attribute__((aligned(64)));
	struct wbell_dbrec dbrec = { 0, 0 };
	uint64_t doorbell = 0;
	struct nic_attr na = { .max_queues = 1,
			       .doorbells = &doorbell,
			       .mac = { 2, 0, 0, 0, 0, 1 },
			       .path_mtu = 1024 };
	struct wbell_prov_queue qa = {
		.depth = DEPTH,
		.log_cq = 2,
		.sq = sq,
		.cq = cq,
		.dbrec = &dbrec,
		.attr = { .timeout = 8,
			  .retry_cnt = 1,
			  .rnr_retry = 1,
			  .max_rd_atomic = 1 },
	};
	struct wbell_address a;
	struct wbell_err err;
	struct nic_queue *q;
	struct nic *nic;
	uint8_t how = take(in, 1);
	uint32_t qpn;

	if (how & 2)
		na.gid[0] = 0xfd;
	else
		gid_set_ipv4(na.gid, (const uint8_t[4]){ 192, 0, 2, 1 });
	must(!nic_create(&na, &nic));
	must(!nic_queue_create(nic, &qa, &q, &qpn, &err));
	must(!nic_queue_address(q, &a)); /* a good one, then changed */
	if (how & 1)
		change(in, a.bytes, sizeof(a.bytes));
	else
		take_bytes(in, a.bytes, sizeof(a.bytes));
	judge(nic, q, &a);
	nic_destroy(nic);
}

/* ---- messages ---- */

static const struct {
	enum boot_type type;
	uint32_t size;
} bodies[] = {
	{ BOOT_HELLO, sizeof(struct boot_hello) },
	{ BOOT_OFFER, sizeof(struct boot_offer) },
	{ BOOT_READY, 0 },
	{ BOOT_DONE, sizeof(struct boot_done) },
	{ BOOT_RESULT, sizeof(struct boot_result) },
};

static void messages(struct input *in)
{
	struct boot b = { .timeout_ms = 50, .peer = "of a fuzzer" };
	unsigned k = (unsigned)take(in, 1) % 5;
	int fd[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd));
	must(write(fd[1], in->p, in->n) >= 0 || !in->n);
	close(fd[1]);
	b.fd = fd[0];
	for (unsigned i = 0; i < 3; i++) {
		/* of its very size, so that one byte more is seen */
		void *body = malloc(bodies[k].size ? bodies[k].size : 1);
		int rc;

		must(body);
		rc = boot_recv(&b, bodies[k].type, body, bodies[k].size);
		must(rc == DEMO_GOOD || rc == DEMO_FAILED || rc == DEMO_CANNOT);
		free(body);
		if (rc)
			break;
	}
	boot_gone(&b);
	boot_close(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	if (take(&in, 1) & 1)
		address(&in);
	else
		messages(&in);
	return 0;
}
