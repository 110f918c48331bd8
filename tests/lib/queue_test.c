// SPDX-License-Identifier: BSD-2-Clause
/* Queues: attributes, device view, life, completions of the fake NIC. */
#include <dirent.h>
#include <endian.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib_test.h"
#include "internal.h"

static void refused(struct wbell_ctx *ctx, struct wbell_queue_attr attr,
		    const char *part)
{
	struct wbell_queue *q = (void *)1;

	assert_int_equal(wbell_queue_create(ctx, &attr, &q), -EINVAL);
	assert_null(q);
	assert_has(wbell_error(ctx), part);
}

#define attr_with(...) ((struct wbell_queue_attr){ __VA_ARGS__ })

static void test_create_bad_attr(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");

	refused(ctx, attr_with(.depth = 100),
		"queue depth 100: not a power of two: use 64 or 128");
	refused(ctx, attr_with(.depth = 65536), "use at most 32768");
	refused(ctx, attr_with(.depth = UINT32_MAX), "use at most 32768");
	refused(ctx, attr_with(.recv_depth = 3), "use 2 or 4");
	refused(ctx, attr_with(.recv_depth = 8, .recv_sge = 3), "recv_sge 3");
	refused(ctx, attr_with(.recv_sge = 8), "use at most 4");
	refused(ctx, attr_with(.path_mtu = 128), "use 256 to 4096");
	refused(ctx, attr_with(.path_mtu = 1500), "use 1024 or 2048");
	refused(ctx, attr_with(.timeout = 32), "queue timeout 32");
	refused(ctx, attr_with(.retry_cnt = 9), "queue retry_cnt");
	refused(ctx, attr_with(.rnr_retry = 9), "queue rnr_retry");
	refused(ctx, attr_with(.min_rnr_timer = 32), "min_rnr_timer 32");
	refused(ctx, attr_with(.max_rd_atomic = 129), "max_rd_atomic 129");
	refused(ctx, attr_with(.flags = 2), "0x2 is not known");
	refused(ctx, attr_with(.rsvd = 1), "rsvd");
	refused(ctx, attr_with(.size = 4), "size 4 is below");
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_create_refused_by_nic(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x,queue=ENOSPC");
	struct wbell_queue *q;

	assert_int_equal(wbell_queue_create(ctx, NULL, &q), -ENOSPC);
	assert_has(wbell_error(ctx), "ENOSPC");
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_create_up_to_max_queues(void **state)
{
	struct wbell_queue *q[64], *more;
	struct wbell_ctx *ctx = open_wire("fake:x");
	unsigned i;

	for (i = 0; i < 64; i++)
		q[i] = create_queue(ctx, 1);
	assert_int_equal(wbell_queue_create(ctx, NULL, &more), -ENOSPC);
	assert_has(wbell_error(ctx), "all 64 of the context are in use");
	wbell_queue_destroy(q[17]);
	q[17] = create_queue(ctx, 1);
	for (i = 0; i < 64; i++)
		wbell_queue_destroy(q[i]);
	assert_int_equal(wbell_close(ctx), 0);
}

/* The kernel would end the process by SIGXFSZ. */
static void test_create_past_file_size_limit(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	struct wbell_queue *q;
	struct rlimit old, lim;

	getrlimit(RLIMIT_FSIZE, &old);
	lim = old;
	lim.rlim_cur = 65536;
	setrlimit(RLIMIT_FSIZE, &lim);
	assert_int_equal(wbell_queue_create(ctx, &attr_with(.depth = 4096), &q),
			 -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_has(wbell_error(ctx), "EFBIG");
	q = create_queue(ctx, 4096);
	wbell_queue_destroy(q);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_device_view_default(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	struct wbell_queue *q;
	struct wbell_dqueue *dq;
	const struct wbell_cqe *cq;
	unsigned i;

	assert_int_equal(wbell_queue_create(ctx, NULL, &q), 0);
	assert_int_equal(wbell_queue_device(q, &dq), 0);
	assert_true(dq->magic == WBELL_DQUEUE_MAGIC);
	assert_int_equal((uintptr_t)dq % 64, 0);
	assert_int_equal(dq->sq % sysconf(_SC_PAGESIZE), 0);
	assert_int_equal(dq->log_depth, 7);
	assert_true(dq->log_cq >= dq->log_depth);
	assert_int_equal(dq->db_kind, WBELL_DB_WORD);
	assert_int_equal(dq->log_rq, 0xff);
	assert_int_equal(dq->rq, 0);
	assert_int_equal(dq->max_inline, 220);
	assert_int_equal(dq->max_sge, 30);
	assert_int_equal(dq->flags, 0);
	assert_int_not_equal(dq->sink_lkey, 0);
	cq = (void *)(uintptr_t)dq->cq;
	for (i = 0; i < 1U << dq->log_cq; i++)
		assert_int_equal(cq[i].op_own, 0xf1);
	wbell_queue_destroy(q);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_device_view_small(void **state)
{
	static const struct {
		uint32_t depth, max_inline, max_sge;
	} want[] = { { 1, 28, 2 },
		     { 2, 92, 6 },
		     { 4, 220, 14 },
		     { 8, 220, 30 },
		     { 32768, 220, 30 } };
	struct wbell_ctx *ctx = open_wire("fake:x");
	struct wbell_dqueue *dq;
	struct wbell_queue *q;
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(*want); i++) {
		q = create_queue(ctx, want[i].depth);
		wbell_queue_device(q, &dq);
		assert_int_equal(dq->max_inline, want[i].max_inline);
		assert_int_equal(dq->max_sge, want[i].max_sge);
		wbell_queue_destroy(q);
	}
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_device_view_receive(void **state)
{
	struct wbell_queue_attr attr = { .depth = 8,
					 .recv_depth = 32,
					 .recv_sge = 4,
					 .flags = WBELL_QUEUE_EXCLUSIVE,
					 .first_index = 65530 };
	struct wbell_ctx *ctx = open_wire("fake:x");
	const struct wbell_dbrec *dbrec;
	struct wbell_queue_stat stat;
	struct wbell_dqueue *dq;
	struct wbell_queue *q;

	assert_int_equal(wbell_queue_create(ctx, &attr, &q), 0);
	wbell_queue_device(q, &dq);
	assert_int_equal(dq->log_rq, 5);
	assert_int_equal(dq->log_rcq, 5);
	assert_int_equal(dq->log_rq_stride, 6);
	assert_int_equal(dq->flags, WBELL_DQ_EXCLUSIVE);
	assert_int_equal(dq->reserved, 65530);
	assert_int_equal(dq->ready, 65530);
	assert_true(dq->cq_state == 65530ULL << 24);
	dbrec = (void *)(uintptr_t)dq->dbrec;
	assert_int_equal(be32toh(dbrec->send), 65530);
	assert_int_equal(wbell_queue_stat(q, &stat), 0);
	assert_int_equal(stat.doorbell, 65530);
	assert_int_equal(stat.done, 65530);
	wbell_queue_destroy(q);
	assert_int_equal(wbell_close(ctx), 0);
}

/* The memfd of this process: its size and the memory behind it. */
static void shm_size(off_t *size, blkcnt_t *blocks)
{
	char path[300], link[64];
	struct dirent *d;
	struct stat st;
	ssize_t n;
	DIR *dir = opendir("/proc/self/fd");

	*size = 0;
	while ((d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", d->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		link[n < 0 ? 0 : n] = '\0';
		if (strncmp(link, "/memfd:warpbell", 15) || stat(path, &st))
			continue;
		*size = st.st_size;
		*blocks = st.st_blocks;
	}
	closedir(dir);
	assert_int_not_equal(*size, 0);
}

static unsigned count_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned n = 0;
	int c;

	while ((c = fgetc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

static void create_and_destroy(struct wbell_ctx *ctx, unsigned cycles)
{
	struct wbell_queue *held[8] = { 0 };
	unsigned i, k;

	for (i = 0; i < cycles; i++) {
		k = i * 5 % 8;
		if (held[k])
			wbell_queue_destroy(held[k]);
		held[k] = create_queue(ctx, 1U << i % 9);
	}
	for (k = 0; k < 8; k++)
		if (held[k])
			wbell_queue_destroy(held[k]);
}

static void test_create_destroy_does_not_grow(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	off_t size, size_end;
	blkcnt_t blocks, blocks_end;
	unsigned maps;

	create_and_destroy(ctx, 100);
	shm_size(&size, &blocks);
	maps = count_maps();
	create_and_destroy(ctx, 1000);
	shm_size(&size_end, &blocks_end);
	assert_int_equal(size_end, size);
	assert_int_equal(blocks_end, blocks);
	assert_in_range(count_maps(), 0, maps + 4);
	assert_int_equal(wbell_close(ctx), 0);
}

/* A chunk used again starts clean: no error, no counter of the last owner. */
static void test_create_reuses_clean_memory(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	struct wbell_queue *q = create_queue(ctx, 16);
	/* Behind it in the file, so that no truncation cleans it. */
	struct wbell_queue *behind = create_queue(ctx, 16);
	struct wbell_queue_stat stat;
	struct wbell_dqueue *dq;
	struct wbell_error_record *rec, out;

	wbell_queue_device(q, &dq);
	rec = (void *)(uintptr_t)dq->error;
	memset(rec, 0x5a, sizeof(*rec));
	rec->state = WBELL_ERR_WHOLE;
	memset((void *)(uintptr_t)dq->sq, 0x5a, 16 * WBELL_BB_SIZE);
	*(uint64_t *)(uintptr_t)dq->db = 99;
	assert_int_equal(wbell_queue_error(q, &out), 0);
	wbell_queue_destroy(q);
	q = create_queue(ctx, 16);
	assert_int_equal(wbell_queue_error(q, &out), -ENOENT);
	assert_int_equal(wbell_queue_stat(q, &stat), 0);
	assert_int_equal(stat.doorbell, 0);
	wbell_queue_device(q, &dq);
	assert_int_equal(*(uint8_t *)(uintptr_t)dq->sq, 0);
	wbell_queue_destroy(q);
	wbell_queue_destroy(behind);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_state_moves(void **state)
{
	static const unsigned legal[][2] = {
		{ WBELL_QUEUE_RESET, WBELL_QUEUE_INIT },
		{ WBELL_QUEUE_INIT, WBELL_QUEUE_RTS },
		{ WBELL_QUEUE_INIT, WBELL_QUEUE_ERR },
		{ WBELL_QUEUE_RTS, WBELL_QUEUE_ERR },
	};
	unsigned from, to, i, want;
	struct chunk chunk;

	for (from = 0; from <= WBELL_QUEUE_ERR + 1; from++) {
		for (to = 0; to <= WBELL_QUEUE_ERR + 1; to++) {
			for (i = want = 0; i < 4; i++)
				want |= legal[i][0] == from &&
					legal[i][1] == to;
			assert_int_equal(queue_may_go(from, to), want);
			memset(&chunk, 0, sizeof(chunk));
			chunk.state = from;
			assert_int_equal(queue_set_state(&chunk, to),
					 want ? 0 : -EINVAL);
			assert_int_equal(chunk.state, want ? to : from);
		}
	}
}

static struct wbell_queue *connected(struct wbell_ctx *ctx, uint32_t depth)
{
	struct wbell_queue *q = create_queue(ctx, depth);
	struct wbell_address addr;

	assert_int_equal(wbell_queue_address(q, &addr), 0);
	assert_int_equal(wbell_queue_connect(q, &addr), 0);
	return q;
}

static void test_connect_bad_address(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	struct wbell_queue *q = create_queue(ctx, 4);
	struct wbell_address addr, zero = { { 0 } };
	struct wbell_queue_stat stat;

	assert_int_equal(wbell_queue_connect(q, &zero), -EINVAL);
	assert_has(wbell_error(ctx), "carry wbell_queue_address() unchanged");
	assert_int_equal(wbell_queue_address(q, &addr), 0);
	addr.bytes[8]++;
	assert_int_equal(wbell_queue_connect(q, &addr), -EPROTO);
	assert_has(wbell_error(ctx), "version 2, this NIC knows 1");
	wbell_queue_stat(q, &stat);
	assert_int_equal(stat.state, WBELL_QUEUE_INIT);
	addr.bytes[8]--;
	assert_int_equal(wbell_queue_connect(q, &addr), 0);
	wbell_queue_stat(q, &stat);
	assert_int_equal(stat.state, WBELL_QUEUE_RTS);
	assert_int_equal(stat.peer_qpn, stat.qpn);
	assert_int_equal(wbell_queue_connect(q, &addr), -EISCONN);
	assert_has(wbell_error(ctx), "create a new queue");
	wbell_queue_destroy(q);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_connect_refused_by_nic(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x,connect=ENETUNREACH");
	struct wbell_queue *q = create_queue(ctx, 4);
	struct wbell_address addr;

	wbell_queue_address(q, &addr);
	assert_int_equal(wbell_queue_connect(q, &addr), -ENETUNREACH);
	assert_has(wbell_error(ctx), "ENETUNREACH");
	wbell_queue_destroy(q);
	assert_int_equal(wbell_close(ctx), 0);
}

/* n NOPs of one block, the way device code leaves them. */
static void post_nops(struct wbell_dqueue *dq, unsigned n)
{
	struct wbell_ctrl_seg *ctrl;
	uint64_t i, first = dq->reserved;

	for (i = first; i < first + n; i++) {
		ctrl = (void *)(uintptr_t)(dq->sq +
					   ((i & ((1U << dq->log_depth) - 1))
					    << WBELL_BB_SHIFT));
		memset(ctrl, 0, WBELL_BB_SIZE);
		ctrl->opmod_idx_opcode = htobe32((i & 0xffff) << 8);
		ctrl->qpn_ds = htobe32(dq->qpn_ds | 1);
		ctrl->fm_ce_se = WBELL_CTRL_CQ_UPDATE;
	}
	dq->reserved = dq->ready = first + n;
	__atomic_store_n((uint64_t *)(uintptr_t)dq->db, first + n,
			 __ATOMIC_RELEASE);
}

static void test_poll_completes(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	struct wbell_queue *q = connected(ctx, 4);
	struct wbell_counter c[4];
	struct wbell_queue_stat stat;
	struct wbell_dqueue *dq;
	struct wbell_cqe *cq;
	unsigned n, lap;

	wbell_queue_device(q, &dq);
	cq = (void *)(uintptr_t)dq->cq;
	assert_int_equal(wbell_poll(ctx), 0);
	for (lap = 0; lap < 3; lap++) {
		post_nops(dq, 4);
		assert_int_equal(wbell_poll(ctx), 4);
		assert_int_equal(cq[3].op_own, lap & 1);
		assert_int_equal(be16toh(cq[3].wqe_counter), lap * 4 + 3);
	}
	assert_int_equal(wbell_queue_stat(q, &stat), 0);
	assert_int_equal(stat.fetched, 12);
	assert_int_equal(wbell_counters(ctx, c, 4, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(c[0].value, 12);
	wbell_queue_destroy(q);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_poll_error_gives_event(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x,syndrome=0x15");
	struct wbell_queue *q = connected(ctx, 4);
	struct wbell_queue_stat stat;
	struct wbell_event event;
	struct wbell_err_cqe *cq;
	struct wbell_dqueue *dq;
	struct pollfd pfd = { .events = POLLIN };

	assert_int_equal(wbell_event_fd(ctx, &pfd.fd), 0);
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(wbell_event_next(ctx, &event), -EAGAIN);
	wbell_queue_device(q, &dq);
	post_nops(dq, 2);
	assert_int_equal(wbell_poll(ctx), 2);
	cq = (void *)(uintptr_t)dq->cq;
	assert_int_equal(cq[0].op_own >> 4, WBELL_CQE_REQ_ERR);
	assert_int_equal(cq[0].syndrome, WBELL_SYND_RETRY_EXC);
	assert_int_equal(cq[1].syndrome, WBELL_SYND_WR_FLUSH);
	assert_int_equal(poll(&pfd, 1, 0), 1);
	assert_int_equal(wbell_event_next(ctx, &event), 0);
	assert_int_equal(event.kind, WBELL_EVENT_QUEUE_ERROR);
	assert_int_equal(event.qpn, dq->qpn_ds >> 8);
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(wbell_event_next(ctx, &event), -EAGAIN);
	wbell_queue_stat(q, &stat);
	assert_int_equal(stat.state, WBELL_QUEUE_ERR);
	wbell_queue_destroy(q);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_stat_oldest(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x,hold=1");
	struct wbell_queue *q = connected(ctx, 4);
	struct wbell_queue_stat stat;
	struct wbell_dqueue *dq;

	wbell_queue_device(q, &dq);
	/* Past 40 bits done is widened from ready. */
	dq->reserved = dq->ready = (1ULL << 40) - 1;
	dq->cq_state = dq->ready << 24;
	post_nops(dq, 3);
	assert_int_equal(wbell_queue_stat(q, &stat), 0);
	assert_true(stat.ready == (1ULL << 40) + 2);
	assert_true(stat.done == (1ULL << 40) - 1);
	assert_int_equal(stat.oldest[1], 0xff);
	assert_int_equal(stat.oldest[2], 0xff);
	dq->cq_state = ((1ULL << 40) + 1) << 24;
	wbell_queue_stat(q, &stat);
	assert_true(stat.done == (1ULL << 40) + 1);
	/* done ahead by hostile hand: no read past the ring */
	dq->cq_state = 77ULL << 24;
	assert_int_equal(wbell_queue_stat(q, &stat), 0);
	wbell_queue_destroy(q);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_abort_sets_the_word(void **state)
{
	struct wbell_ctx *ctx = open_wire("fake:x");
	struct wbell_queue *q = create_queue(ctx, 4);
	struct wbell_dqueue *dq;

	wbell_queue_device(q, &dq);
	assert_int_equal(*(uint32_t *)(uintptr_t)dq->abort, 0);
	wbell_abort(ctx);
	assert_int_equal(*(uint32_t *)(uintptr_t)dq->abort, 1);
	wbell_queue_destroy(q);
	assert_int_equal(wbell_close(ctx), 0);
}

static void test_error_record_text(void **state)
{
	struct wbell_error_record rec = { .state = WBELL_ERR_WHOLE,
					  .qpn = 0x2a,
					  .peer_qpn = 0x2b,
					  .index = 16,
					  .wqe_opcode = WBELL_OP_WRITE,
					  .syndrome = 0x15,
					  .vendor_syndrome = 0x83,
					  .status = 12 };
	char text[160], small[8];

	assert_int_equal(wbell_error_record_text(&rec, text, sizeof(text)), 0);
	assert_string_equal(text, "queue 0x2a to peer 0x2b: RDMA_WRITE index "
				  "16 failed: transport retry counter "
				  "exceeded (syndrome 0x15, vendor 0x83)");
	assert_int_equal(wbell_error_record_text(&rec, small, sizeof(small)),
			 -ENOSPC);
	assert_int_equal(strlen(small), 7);
	rec.state = WBELL_ERR_NONE;
	assert_int_equal(wbell_error_record_text(&rec, text, sizeof(text)),
			 -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_bad_attr),
		cmocka_unit_test(test_create_refused_by_nic),
		cmocka_unit_test(test_create_up_to_max_queues),
		cmocka_unit_test(test_create_past_file_size_limit),
		cmocka_unit_test(test_device_view_default),
		cmocka_unit_test(test_device_view_small),
		cmocka_unit_test(test_device_view_receive),
		cmocka_unit_test(test_create_destroy_does_not_grow),
		cmocka_unit_test(test_create_reuses_clean_memory),
		cmocka_unit_test(test_state_moves),
		cmocka_unit_test(test_connect_bad_address),
		cmocka_unit_test(test_connect_refused_by_nic),
		cmocka_unit_test(test_poll_completes),
		cmocka_unit_test(test_poll_error_gives_event),
		cmocka_unit_test(test_stat_oldest),
		cmocka_unit_test(test_abort_sets_the_word),
		cmocka_unit_test(test_error_record_text),
	};

	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
