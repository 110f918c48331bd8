// SPDX-License-Identifier: BSD-2-Clause
/*
 * End to end: two apps of two users without privilege, a daemon that plays the
 * NIC, and memory either of the host or in the virtual GPU's BAR.  An app
 * builds work requests in mlx5's format, rings by a store, polls the CQ.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <immintrin.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "nicd.h"

#define DEPTH	64
#define PAYLOAD (64 * PAGE)

/* One app's end. */
struct app {
	int fd, sock;
	bool gpu;
	uint64_t at; /* offset into the GPU's memory */
	char *ring, *payload;
	uint32_t handle, mreg, key, index;
};

struct peer {
	uint64_t addr;
	uint32_t key;
};

static char *gpu_memory(struct app *a, uint64_t offset, uint64_t len,
			uint32_t *handle)
{
	struct wbell_u_provider_query q;
	struct wbell_u_gpu_pin p = { .addr = a->at + offset, .len = len };
	char *at;

	must(provider(a->fd, "pci-bar:", &q));
	p.provider = q.id;
	must(!call(a->fd, WBELL_IOC_GPU_PIN, &p));
	at = map(a->fd, p.cookie, p.map_len, PROT_READ | PROT_WRITE);
	must(at);
	*handle = p.handle;
	return at;
}

static uint32_t object_key(struct app *a, uint32_t object)
{
	struct wbell_u_mreg_object arg = {
		.object = object,
		.len = PAYLOAD,
		.iova = (uintptr_t)a->payload,
		.access = WBELL_ACCESS_LOCAL_WRITE | WBELL_ACCESS_REMOTE_WRITE,
	};

	must(!call(a->fd, WBELL_IOC_MREG_OBJECT, &arg));
	a->mreg = arg.handle;
	return arg.key;
}

static uint32_t host_key(struct app *a)
{
	struct wbell_u_mreg_host arg = {
		.len = PAYLOAD,
		.access = WBELL_ACCESS_LOCAL_WRITE | WBELL_ACCESS_REMOTE_WRITE,
	};

	a->payload = mmap(NULL, PAYLOAD, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	arg.addr = (uintptr_t)a->payload;
	arg.iova = arg.addr;
	must(!call(a->fd, WBELL_IOC_MREG_HOST, &arg));
	a->mreg = arg.handle;
	return arg.key;
}

static uint32_t nic_id(int fd)
{
	struct wbell_u_nic_query q = {};

	while (!call(fd, WBELL_IOC_NIC_QUERY, &q)) {
		if (!strcmp(q.name, NICD_NAME))
			return q.id;
		q.index++;
	}
	must(!"the NIC is there");
	return 0;
}

/* From open to a queue that can be used. */
static void app_begin(struct app *a, int uid)
{
	struct wbell_u_queue_grant grant = {};
	uint64_t cookie, len;
	uint32_t object;

	must(!setgid(uid) && !setuid(uid));
	a->fd = open(WBELL_DEVICE, O_RDWR | O_CLOEXEC);
	must(a->fd >= 0);
	if (a->gpu) {
		a->ring = gpu_memory(a, 0, 3 * PAGE, &object);
		a->payload = gpu_memory(a, 3 * PAGE, PAYLOAD, &grant.mreg);
		a->key = object_key(a, grant.mreg);
	} else {
		object = ring(a->fd, 3 * PAGE, &cookie, &len);
		a->ring = map(a->fd, cookie, len, PROT_READ | PROT_WRITE);
		a->key = host_key(a);
	}
	must(!queue(a->fd, nic_id(a->fd), object, &a->handle));
	grant.queue = a->handle;
	grant.mreg = a->mreg;
	must(!call(a->fd, WBELL_IOC_QUEUE_GRANT, &grant));
	event_wait(a->fd, WBELL_EVENT_QUEUE_READY);
}

static void post(struct app *a, const struct peer *to, size_t len)
{
	struct wbell_ctrl_seg *ctrl =
		(void *)(a->ring + a->index % DEPTH * WBELL_BB_SIZE);
	struct wbell_raddr_seg *raddr = (void *)(ctrl + 1);
	struct wbell_data_seg *data = (void *)(raddr + 1);
	_Atomic uint64_t *db = (void *)(a->ring + 2 * PAGE);

	ctrl->opmod_idx_opcode =
		htonl((a->index & 0xffff) << 8 | WBELL_OP_WRITE);
	ctrl->qpn_ds = htonl(3);
	ctrl->fm_ce_se = WBELL_CTRL_CQ_UPDATE;
	raddr->raddr = htobe64(to->addr);
	raddr->rkey = htonl(to->key);
	data->byte_count = htonl(len);
	data->lkey = htonl(a->key);
	data->addr = htobe64((uintptr_t)a->payload);
	_mm_sfence(); /* the BAR is write-combining */
	atomic_store_explicit(db, ++a->index, memory_order_release);
}

/* Syndrome of the newest request; no system call but in the wait's naps. */
static int poll_cq(struct app *a)
{
	uint32_t index = a->index - 1;
	struct wbell_err_cqe *cqe =
		(void *)(a->ring + PAGE + index % DEPTH * sizeof(*cqe));
	uint8_t owner = index / DEPTH & 1, op;
	int i;

	for (i = 0; i < TIMEOUT; i++) {
		op = atomic_load_explicit((_Atomic uint8_t *)&cqe->op_own,
					  memory_order_acquire);
		if (ntohs(cqe->wqe_counter) == (index & 0xffff) &&
		    (op & 1) == owner) {
			must(op >> 4 == (cqe->syndrome ? WBELL_CQE_REQ_ERR
						       : WBELL_CQE_REQ));
			return cqe->syndrome;
		}
		usleep(1000);
	}
	must(!"a completion came");
	return -1;
}

static void pattern(char *at, unsigned int seed)
{
	size_t i;

	for (i = 0; i < PAYLOAD; i++)
		at[i] = rand_r(&seed) >> 8;
}

static bool same(const char *at, unsigned int seed)
{
	size_t i;

	for (i = 0; i < PAYLOAD; i++)
		if (at[i] != (char)(rand_r(&seed) >> 8))
			return false;
	return true;
}

#define ROUNDS 150 /* the rings wrap twice */

/* Makes the CQ's first lap tell: as hardware, all entries are invalid. */
static void cq_clear(struct app *a)
{
	memset(a->ring + PAGE, WBELL_CQE_INVALID << 4 | 1, PAGE);
}

static int sender(void *arg)
{
	struct app *a = arg;
	struct peer to;
	int i;

	app_begin(a, 1001);
	cq_clear(a);
	must(read(a->sock, &to, sizeof(to)) == sizeof(to));
	for (i = 0; i < ROUNDS; i++) {
		pattern(a->payload, i);
		post(a, &to, PAYLOAD);
		must(poll_cq(a) == 0);
		must(write(a->sock, &i, sizeof(i)) == sizeof(i));
		must(read(a->sock, &i, sizeof(i)) == sizeof(i));
	}
	/* keys and ranges that are not the peer's to give */
	to.key ^= 0x100;
	post(a, &to, 1);
	must(poll_cq(a) == WBELL_SYND_REMOTE_ACCESS);
	to.key ^= 0x100;
	to.addr++;
	post(a, &to, PAYLOAD);
	must(poll_cq(a) == WBELL_SYND_REMOTE_ACCESS);
	a->key ^= 1;
	post(a, &to, 1);
	must(poll_cq(a) == WBELL_SYND_LOCAL_PROT);
	must(write(a->sock, &i, sizeof(i)) == sizeof(i));
	return 0;
}

static int receiver(void *arg)
{
	struct app *a = arg;
	struct peer me;
	int i, n;

	app_begin(a, 1002);
	me.addr = (uintptr_t)a->payload;
	me.key = a->key;
	must(write(a->sock, &me, sizeof(me)) == sizeof(me));
	for (n = 0; n < ROUNDS; n++) {
		must(read(a->sock, &i, sizeof(i)) == sizeof(i) && i == n);
		must(same(a->payload, n));
		must(write(a->sock, &i, sizeof(i)) == sizeof(i));
	}
	must(read(a->sock, &i, sizeof(i)) == sizeof(i));
	must(same(a->payload, ROUNDS - 1)); /* nothing else came */
	return 0;
}

static int daemon_start(void)
{
	int ready[2], pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = child_start(nicd, &ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void bytes_move(bool gpu)
{
	struct app a = { .gpu = gpu, .at = 1 << 20 };
	struct app b = { .gpu = gpu, .at = 8 << 20 };
	int sock[2], daemon, from, to;

	chmod(WBELL_DEVICE, 0666);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	a.sock = sock[0];
	b.sock = sock[1];
	daemon = daemon_start();
	to = child_start(receiver, &b);
	from = child_start(sender, &a);
	close(sock[0]);
	close(sock[1]);
	assert_int_equal(child_end(from), 0);
	assert_int_equal(child_end(to), 0);
	kill(daemon, SIGKILL);
	assert_int_equal(child_end(daemon), 256 + SIGKILL);
	counters_zero();
	chmod(WBELL_DEVICE, 0660);
}

static void test_pair_host_memory(void **state)
{
	bytes_move(false);
}

static void test_pair_gpu_memory(void **state)
{
	bytes_move(true);
}

/* The daemon is killed in the middle: an error, soon, and no hang. */
static int bereaved(void *arg)
{
	struct app *a = arg;
	struct peer to;
	struct pollfd p;
	int i;

	app_begin(a, 1001);
	cq_clear(a);
	to.addr = (uintptr_t)a->payload + PAYLOAD / 2;
	to.key = a->key;
	post(a, &to, 100);
	must(poll_cq(a) == 0);
	must(write(a->sock, "x", 1) == 1);
	p = (struct pollfd){ .fd = a->fd, .events = POLLIN };
	for (i = 0; i < 1000; i++) {
		must(poll(&p, 1, TIMEOUT) == 1);
		if (p.revents & POLLERR)
			break;
		event_get(a->fd); /* kicks of completions */
		post(a, &to, 100);
	}
	must(p.revents & POLLERR);
	must(event_wait(a->fd, WBELL_EVENT_QUEUE_ERROR).reason ==
	     WBELL_REASON_NIC_GONE);
	a->payload[0] = 1; /* its own memory is untouched */
	return 0;
}

static void test_pair_daemon_is_killed(void **state)
{
	struct app a = {};
	int sock[2], daemon, pid;
	char c;

	chmod(WBELL_DEVICE, 0666);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	a.sock = sock[0];
	daemon = daemon_start();
	pid = child_start(bereaved, &a);
	assert_int_equal(read(sock[1], &c, 1), 1);
	kill(daemon, SIGKILL);
	assert_int_equal(child_end(daemon), 256 + SIGKILL);
	assert_int_equal(child_end(pid), 0);
	close(sock[0]);
	close(sock[1]);
	counters_zero();
	chmod(WBELL_DEVICE, 0660);
}

/* From open to a usable queue: at most 8 ioctls. */
static int counts(void *arg)
{
	struct app a = {};
	unsigned int before = call_count;

	app_begin(&a, 1001);
	printf("# %u ioctls from open to a usable queue\n",
	       call_count - before);
	must(call_count - before <= 8);
	fflush(stdout);
	return 0;
}

static void test_pair_few_ioctls(void **state)
{
	int daemon;

	chmod(WBELL_DEVICE, 0666);
	daemon = daemon_start();
	assert_int_equal(child(counts, NULL), 0);
	kill(daemon, SIGKILL);
	assert_int_equal(child_end(daemon), 256 + SIGKILL);
	counters_zero();
	chmod(WBELL_DEVICE, 0660);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pair_host_memory),
		cmocka_unit_test(test_pair_gpu_memory),
		cmocka_unit_test(test_pair_daemon_is_killed),
		cmocka_unit_test(test_pair_few_ioctls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
