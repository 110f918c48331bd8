// SPDX-License-Identifier: BSD-2-Clause
/*
 * One end of a conversation over a real wire: what a test of two processes
 * runs twice.
 *
 *	peer server|client BOOTSTRAP WIRE [key=value ...]
 *
 * BOOTSTRAP is the path of a UNIX socket, which reaches across network
 * namespaces.  The client moves random bytes to, from and inside the
 * server's memory, keeps a copy of what must be there, and compares; the
 * server checks every message it receives.  In the end both compare the
 * memory's hash.  Exits 0 when all agreed.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <wbell/device.h>
#include <wbell/wbell.h>

#define SLOTS	8 /* work requests of a batch, each in a place of its own */
#define RECVS	32
#define WAIT_US 20000000

/* What the two tell each other at the start and the end. */
struct hello {
	struct wbell_address address;
	uint64_t base, hash, messages;
	uint32_t rkey, slot, ops, rsvd;
};

struct peer {
	bool server, polled;
	uint32_t ops, seed, max; /* max: bytes of an operation */
	uint32_t path_mtu, retry, hold;
	uint64_t random;
	struct wbell_ctx *ctx;
	struct wbell_mem *mem;
	struct wbell_queue *queue;
	struct wbell_dqueue *dq;
	uint8_t *local; /* registered: SLOTS of max, then RECVS of max */
	uint8_t *copy;	/* client: what the server's slots must hold */
	uint64_t messages;
	struct hello mine, other;
	int boot;
};

static struct peer me;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *fmt,
								...)
{
	struct wbell_error_record rec;
	char text[200];
	va_list ap;

	fprintf(stderr, "peer %s: ", me.server ? "server" : "client");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (%s)\n", wbell_error(me.ctx));
	if (me.queue && !wbell_queue_error(me.queue, &rec) &&
	    wbell_error_record_text(&rec, text, sizeof(text)) >= 0)
		fprintf(stderr, "peer: %s\n", text);
	exit(1);
}

static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void pattern(uint8_t *p, uint32_t n, uint64_t seed)
{
	uint64_t v;

	for (; n >= 8; n -= 8, p += 8) {
		v = draw(&seed);
		memcpy(p, &v, 8);
	}
	v = draw(&seed);
	memcpy(p, &v, n);
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash(const uint8_t *p, size_t n)
{
	uint64_t h = 0xcbf29ce484222325;

	while (n--)
		h = (h ^ *p++) * 0x100000001b3;
	return h;
}

/* ---- bootstrap ---- */

static void tell(const void *p, size_t n)
{
	if (send(me.boot, p, n, MSG_NOSIGNAL) != (ssize_t)n)
		die("bootstrap: send: %s", strerror(errno));
}

static void hear(void *p, size_t n)
{
	if (recv(me.boot, p, n, MSG_WAITALL) != (ssize_t)n)
		die("bootstrap: the other end is gone");
}

static void bootstrap(const char *path)
{
	struct timeval patience = { .tv_sec = 120 };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), tries = 200;

	if (fd < 0 || strlen(path) >= sizeof(sa.sun_path))
		die("bootstrap: path");
	strcpy(sa.sun_path, path);
	me.boot = fd;
	if (me.server) {
		unlink(path);
		if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ||
		    listen(fd, 1))
			die("bootstrap: %s: %s", path, strerror(errno));
		me.boot = accept(fd, NULL, NULL);
		close(fd);
		unlink(path);
	} else {
		while (connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
			if (!tries--)
				die("bootstrap: no server at %s", path);
			usleep(50000);
		}
	}
	setsockopt(me.boot, SOL_SOCKET, SO_RCVTIMEO, &patience,
		   sizeof(patience));
}

/* ---- the engine, if nobody else runs it ---- */

static void relax(void *arg)
{
	wbell_poll(me.ctx);
}

static void say(void *arg, int level, const char *text)
{
	if (level <= WBELL_LOG_WARN || getenv("PEER_LOG"))
		fprintf(stderr, "peer %s: log: %s\n",
			me.server ? "server" : "client", text);
}

static void open_nic(const char *wire)
{
	struct wbell_open_attr attr = {
		.size = sizeof(attr),
		.wire = wire,
		.provider = "engine",
		.flags = me.polled ? WBELL_OPEN_POLLED : 0,
		.log = say,
	};
	struct wbell_queue_attr qa = {
		.size = sizeof(qa),
		.depth = 64,
		.recv_depth = RECVS,
		.path_mtu = me.path_mtu,
		.retry_cnt = me.retry,
		.rnr_retry = 8, /* endless: the server may be slow */
	};
	size_t size = (size_t)me.max * (SLOTS + RECVS);

	if (wbell_open(&attr, &me.ctx))
		die("open %s", wire);
	if (me.polled)
		wbell_host_set_relax(relax, NULL);
	me.local = aligned_alloc(4096, size);
	me.copy = calloc(SLOTS, me.max);
	if (!me.local || !me.copy)
		die("no memory");
	memset(me.local, 0, size);
	if (wbell_mem_register(me.ctx, me.local, size,
			       WBELL_LOCAL_WRITE | WBELL_REMOTE_WRITE |
				       WBELL_REMOTE_READ | WBELL_REMOTE_ATOMIC,
			       &me.mem) ||
	    wbell_queue_create(me.ctx, &qa, &me.queue) ||
	    wbell_queue_device(me.queue, &me.dq))
		die("set up");
}

static uint8_t *receive_place(uint64_t index)
{
	return me.local + (size_t)me.max * (SLOTS + index % RECVS);
}

static void post_receive(uint64_t index)
{
	int rc = wbell_recv(me.dq, (uintptr_t)receive_place(index),
			    wbell_mem_lkey(me.mem), me.max);

	if (rc)
		die("posting receive %llu: %s", (unsigned long long)index,
		    wbell_status_text(rc));
}

static void connect_queue(void)
{
	unsigned i;

	if (wbell_queue_address(me.queue, &me.mine.address))
		die("address");
	for (i = 0; me.server && i < RECVS; i++)
		post_receive(i);
	me.mine.base = (uintptr_t)me.local;
	me.mine.rkey = wbell_mem_rkey(me.mem);
	me.mine.slot = me.max;
	me.mine.ops = me.ops;
	tell(&me.mine, sizeof(me.mine));
	hear(&me.other, sizeof(me.other));
	if (wbell_queue_connect(me.queue, &me.other.address))
		die("connect");
	/* Both are ready to receive before either sends. */
	tell("x", 1);
	hear(&(char){ 0 }, 1);
}

/* ---- client ---- */

enum kind { PUT, PUT_INLINE, PUT_IMM, GET, ADD, SWAP, SEND, SEND_IMM, KINDS };

struct op {
	enum kind kind;
	uint32_t at, n; /* in its slot */
	uint64_t old;	/* atomics: what must come back */
	struct wbell_ticket ticket;
};

static void start_put(struct op *op, uint8_t *local, uint8_t *copy,
		      uint64_t remote)
{
	uint32_t lkey = wbell_mem_lkey(me.mem), rkey = me.other.rkey;
	int rc;

	if (op->kind == PUT_INLINE)
		op->n = 1 + op->n % WBELL_INLINE_ONE_BB;
	pattern(local, op->n, draw(&me.random));
	memcpy(copy + op->at, local, op->n);
	if (op->kind == PUT_INLINE)
		rc = wbell_put_inline(me.dq, local, op->n, remote + op->at,
				      rkey, &op->ticket);
	else if (op->kind == PUT_IMM)
		rc = wbell_put_imm(me.dq, (uintptr_t)local, lkey,
				   remote + op->at, rkey, op->n, me.messages++,
				   &op->ticket);
	else
		rc = wbell_put(me.dq, (uintptr_t)local, lkey, remote + op->at,
			       rkey, op->n, &op->ticket);
	if (rc)
		die("put of %u: %s", op->n, wbell_status_text(rc));
}

static void start_atomic(struct op *op, uint8_t *local, uint8_t *copy,
			 uint64_t remote)
{
	uint32_t lkey = wbell_mem_lkey(me.mem), rkey = me.other.rkey;
	uint64_t v = draw(&me.random), set, compare;
	int rc;

	op->at &= ~7U;
	memcpy(&op->old, copy + op->at, 8);
	/* Half of the swaps are for a value that is not there. */
	compare = v & 1 ? op->old : ~op->old;
	if (op->kind == ADD) {
		set = op->old + v;
		rc = wbell_fetch_add(me.dq, (uintptr_t)local, lkey,
				     remote + op->at, rkey, v, &op->ticket);
	} else {
		set = v & 1 ? v : op->old;
		rc = wbell_compare_swap(me.dq, (uintptr_t)local, lkey,
					remote + op->at, rkey, compare, v,
					&op->ticket);
	}
	memcpy(copy + op->at, &set, 8);
	if (rc)
		die("atomic: %s", wbell_status_text(rc));
}

static void start_send(struct op *op, uint8_t *local)
{
	uint32_t lkey = wbell_mem_lkey(me.mem);
	uint64_t number = me.messages++;
	int rc;

	/* The server knows the bytes from the message's number. */
	pattern(local, op->n, me.seed ^ number << 20);
	if (op->kind == SEND)
		rc = wbell_send(me.dq, (uintptr_t)local, lkey, op->n,
				&op->ticket);
	else
		rc = wbell_send_imm(me.dq, (uintptr_t)local, lkey, op->n,
				    number, &op->ticket);
	if (rc)
		die("send of %u: %s", op->n, wbell_status_text(rc));
}

static void start(struct op *op, unsigned slot)
{
	uint8_t *local = me.local + (size_t)slot * me.max;
	uint8_t *copy = me.copy + (size_t)slot * me.max;
	uint64_t remote = me.other.base + (uint64_t)slot * me.max;
	int rc;

	op->kind = draw(&me.random) % KINDS;
	/* As many short ones as long ones, and empty ones. */
	op->n = draw(&me.random) % (draw(&me.random) % me.max + 1);
	op->at = draw(&me.random) % (me.max - (op->n > 28 ? op->n : 28));
	switch (op->kind) {
	case PUT:
	case PUT_INLINE:
	case PUT_IMM:
		start_put(op, local, copy, remote);
		break;
	case GET:
		memset(local, 0x5a, op->n);
		rc = wbell_get(me.dq, (uintptr_t)local, wbell_mem_lkey(me.mem),
			       remote + op->at, me.other.rkey, op->n,
			       &op->ticket);
		if (rc)
			die("get: %s", wbell_status_text(rc));
		break;
	case ADD:
	case SWAP:
		start_atomic(op, local, copy, remote);
		break;
	default:
		start_send(op, local);
	}
}

static void finish(struct op *op, unsigned slot)
{
	uint8_t *local = me.local + (size_t)slot * me.max;
	uint8_t *copy = me.copy + (size_t)slot * me.max;
	int rc = wbell_wait(me.dq, op->ticket, wbell_deadline_us(WAIT_US));
	uint64_t old;

	if (rc)
		die("operation %d of %u bytes: %s", op->kind, op->n,
		    wbell_status_text(rc));
	if (op->kind == GET && memcmp(local, copy + op->at, op->n))
		die("get of %u bytes at %u: other bytes", op->n, op->at);
	if (op->kind == ADD || op->kind == SWAP) {
		memcpy(&old, local, 8);
		if (old != op->old)
			die("atomic gave 0x%llx, not 0x%llx",
			    (unsigned long long)old,
			    (unsigned long long)op->old);
	}
}

static void run_client(void)
{
	struct op op[SLOTS];
	uint32_t done = 0;
	unsigned i, n;

	while (done < me.ops) {
		n = 1 + draw(&me.random) % SLOTS;
		for (i = 0; i < n; i++)
			start(&op[i], i);
		for (i = 0; i < n; i++)
			finish(&op[i], i);
		done += n;
		if (me.hold)
			usleep(me.hold);
	}
	me.mine.hash = hash(me.copy, (size_t)SLOTS * me.max);
	me.mine.messages = me.messages;
	tell(&me.mine, sizeof(me.mine));
	hear(&me.other, sizeof(me.other));
}

/* ---- server ---- */

static void check_message(const struct wbell_recv_done *d, uint64_t number)
{
	uint8_t *got = receive_place(number), *want;

	if (d->index != number)
		die("message %llu came in receive %llu",
		    (unsigned long long)number, (unsigned long long)d->index);
	if ((d->opcode == WBELL_CQE_RESP_WR_IMM ||
	     d->opcode == WBELL_CQE_RESP_SEND_IMM) &&
	    d->imm != (uint32_t)number)
		die("message %llu has immediate %u", (unsigned long long)number,
		    d->imm);
	if (d->opcode == WBELL_CQE_RESP_WR_IMM)
		return;
	want = malloc(d->len + 1);
	if (!want || d->len > me.max)
		die("message of %u bytes", d->len);
	pattern(want, d->len, me.seed ^ number << 20);
	if (memcmp(got, want, d->len))
		die("message %llu of %u bytes: other bytes",
		    (unsigned long long)number, d->len);
	free(want);
}

/* Until the client tells that it is through; its last words name a count. */
static void run_server(void)
{
	struct wbell_recv_done d;
	bool told = false;
	int rc;

	while (!told || me.messages < me.other.messages) {
		rc = wbell_recv_wait(me.dq, &d, wbell_deadline_us(2000));
		if (!rc) {
			check_message(&d, me.messages);
			post_receive(me.messages + RECVS);
			me.messages++;
		} else if (rc != WBELL_ETIMEDOUT) {
			die("receiving: %s", wbell_status_text(rc));
		} else if (!told && recv(me.boot, &me.other, sizeof(me.other),
					 MSG_DONTWAIT | MSG_PEEK) >= 0) {
			hear(&me.other, sizeof(me.other));
			told = true;
		}
	}
	me.mine.hash = hash(me.local, (size_t)SLOTS * me.max);
	me.mine.messages = me.messages;
	tell(&me.mine, sizeof(me.mine));
}

static void compare(void)
{
	if (me.mine.messages != me.other.messages)
		die("%llu messages here, %llu there",
		    (unsigned long long)me.mine.messages,
		    (unsigned long long)me.other.messages);
	if (me.mine.hash != me.other.hash)
		die("the memories differ");
}

static void print_counters(void)
{
	static struct wbell_counter c[128];
	unsigned i, n = 0;

	if (wbell_counters(me.ctx, c, 128, &n))
		die("counters");
	for (i = 0; i < n && i < 128; i++)
		if (c[i].value)
			printf("%s %s %llu\n", me.server ? "server" : "client",
			       c[i].name, (unsigned long long)c[i].value);
}

static void take_option(const char *o)
{
	uint32_t v;

	if (sscanf(o, "ops=%u", &v) == 1)
		me.ops = v;
	else if (sscanf(o, "seed=%u", &v) == 1)
		me.seed = v;
	else if (sscanf(o, "max=%u", &v) == 1 && v >= 64)
		me.max = v & ~63U;
	else if (sscanf(o, "path_mtu=%u", &v) == 1)
		me.path_mtu = v;
	else if (sscanf(o, "retry=%u", &v) == 1)
		me.retry = 1 + v;
	else if (sscanf(o, "hold_us=%u", &v) == 1)
		me.hold = v;
	else if (!strcmp(o, "polled"))
		me.polled = true;
	else
		die("option %s", o);
}

int main(int argc, char **argv)
{
	int i;

	me.ops = 1000;
	me.seed = 1;
	me.max = 16384;
	me.server = argc > 1 && !strcmp(argv[1], "server");
	if (argc < 4 || (!me.server && strcmp(argv[1], "client"))) {
		fprintf(stderr, "usage: peer server|client SOCKET WIRE "
				"[ops=N] [seed=N] [max=BYTES] [path_mtu=N] "
				"[retry=N] [hold_us=N] [polled]\n");
		return 2;
	}
	for (i = 4; i < argc; i++)
		take_option(argv[i]);
	me.random = me.seed;
	open_nic(argv[3]);
	bootstrap(argv[2]);
	connect_queue();
	if (me.server)
		run_server();
	else
		run_client();
	compare();
	print_counters();
	/* The last acknowledge may be lost: stay until the other is done. */
	tell("y", 1);
	hear(&(char){ 0 }, 1);
	if (wbell_queue_destroy(me.queue) || wbell_mem_deregister(me.mem) ||
	    wbell_close(me.ctx))
		die("close");
	return 0;
}
