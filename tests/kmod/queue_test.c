// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queues between an app and a daemon: descriptors, states, events, and what
 * each sees of the other's end.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "pair.h"

/* ---- descriptors ---- */

static void test_queue_bad_descriptors(void **state)
{
	struct pair p = pair_make(0);
	const struct wbell_u_queue_create good = {
		.nic = p.nic_id,
		.depth = 64,
		.cq_eventfd = -1,
		.region = { { p.object, 0, 0, PAGE },
			    { p.object, 0, PAGE, PAGE },
			    { p.object, 0, 2 * PAGE, PAGE } },
	};
	struct wbell_u_queue_create q;
	uint64_t objects = counter("objects");

#define BAD(rc, ...)                                                           \
	do {                                                                   \
		q = good;                                                      \
		__VA_ARGS__;                                                   \
		assert_int_equal(call(p.app, WBELL_IOC_QUEUE_CREATE, &q), rc); \
	} while (0)
	BAD(-EINVAL, q.depth = 0);
	BAD(-EINVAL, q.depth = 63);
	BAD(-EINVAL, q.depth = 65536);
	BAD(-EINVAL, q.depth = 128); /* sq too small */
	BAD(-EINVAL, q.nic = 0);
	BAD(-ENOENT, q.nic = 0x7fffffff);
	BAD(-EINVAL, q.slot = 1);
	BAD(-ENOENT, q.window = p.object);
	BAD(-EINVAL, q.cq_eventfd = -2);
	BAD(-EBADF, q.cq_eventfd = 9999);
	BAD(-EINVAL, q.cq_eventfd = p.app); /* no eventfd */
	BAD(-EINVAL, q.region[0].object = 0);
	BAD(-ENOENT, q.region[0].object = p.queue);
	BAD(-EINVAL, q.region[1].offset = 8);
	BAD(-EINVAL, q.region[1].len = PAGE + 8);
	BAD(-EINVAL, q.region[1].offset = 0); /* overlaps sq */
	BAD(-EINVAL, q.region[2].offset = 3 * PAGE);
	BAD(-EOVERFLOW, q.region[2].offset = -PAGE);
	BAD(-EINVAL, q.region[2].rsvd = 1);
	BAD(-EINVAL, q.region[2].len = 0);
#undef BAD
	assert_int_equal(counter("objects"), objects);
	assert_int_equal(counter("queues"), 1);
	q = good;
	assert_int_equal(call(p.app, WBELL_IOC_QUEUE_CREATE, &q), 0);
	pair_end(&p);
}

static void test_queue_as_many_as_the_nic_has(void **state)
{
	int app = ctx_open(), daemon = ctx_open(), i;
	uint32_t id, handle = nic(daemon, "few", 3, &id), q;
	uint32_t object = ring(app, 3 * PAGE, NULL, NULL);

	for (i = 0; i < 3; i++)
		assert_int_equal(queue(app, id, object, &q), 0);
	assert_int_equal(queue(app, id, object, NULL), -EDQUOT);
	assert_int_equal(destroy(app, q), 0);
	assert_int_equal(queue(app, id, object, &q), 0);
	param_set("max_queues", "3");
	assert_int_equal(destroy(daemon, handle), 0);
	assert_int_equal(queue(app, id, object, NULL), -EDQUOT);
	param_set("max_queues", "4096");
	assert_int_equal(queue(app, id, object, NULL), -ENOENT);
	fd_close(app);
	fd_close(daemon);
	counters_zero();
}

/* ---- states and events ---- */

static void test_queue_accept_in_order(void **state)
{
	int app = ctx_open(), daemon = ctx_open(), ep;
	uint32_t id, handle = nic(daemon, "order", 8, &id), q;
	uint32_t object = ring(app, 3 * PAGE, NULL, NULL);
	struct wbell_u_nic_accept arg = { .nic = handle };
	struct wbell_u_event a, b;

	assert_int_equal(accept_queue(daemon, handle, 0), -EAGAIN);
	assert_int_equal(queue(app, id, object, &q), 0);
	assert_int_equal(queue(app, id, object, NULL), 0);
	a = event_get(daemon);
	b = event_get(daemon);
	assert_int_equal(a.type, WBELL_EVENT_QUEUE_REQUEST);
	assert_int_equal(a.handle, handle);
	arg.id = b.data;
	assert_int_equal(call(daemon, WBELL_IOC_NIC_ACCEPT, &arg), 0);
	assert_int_equal(arg.id, b.data);
	assert_int_equal(arg.pid, getpid());
	assert_int_equal(fcntl(arg.fd, F_GETFD), FD_CLOEXEC);
	fd_close(arg.fd);
	assert_int_equal(call(daemon, WBELL_IOC_NIC_ACCEPT, &arg), -EAGAIN);
	/* one that went before it was accepted */
	assert_int_equal(destroy(app, q), 0);
	assert_int_equal(accept_queue(daemon, handle, 0), -EAGAIN);
	ep = ctx_open();
	fd_close(ep);
	fd_close(app);
	fd_close(daemon);
	counters_zero();
}

static void test_queue_app_destroys(void **state)
{
	struct pair p = pair_make(0);
	char *sq = region(p.ep, WBELL_REGION_SQ, PROT_READ);
	struct wbell_u_ep_kick kick = {};
	struct wbell_u_event ev;

	p.mem[0] = 1;
	assert_int_equal(sq[0], 1);
	assert_int_equal(destroy(p.app, p.queue), 0);
	assert_int_equal(poll_now(p.ep), POLLIN | POLLERR | POLLHUP);
	ev = event_wait(p.ep, WBELL_EVENT_EP_GONE);
	assert_int_equal(ev.reason, WBELL_REASON_DESTROY);
	assert_int_equal(read(p.ep, &ev, sizeof(ev)), 0);
	assert_true(dies_reading(sq));
	assert_null(region(p.ep, WBELL_REGION_SQ, PROT_READ));
	assert_int_equal(errno, ESTALE);
	assert_int_equal(call(p.ep, WBELL_IOC_EP_KICK, &kick), -ESTALE);
	assert_int_equal(info_of(p.ep).state, WBELL_QUEUE_ERR);
	munmap(sq, PAGE);
	pair_end(&p);
}

static void test_queue_app_goes_and_the_daemon_lives(void **state)
{
	struct pair p = pair_make(WBELL_ACCEPT_DUMMY);
	char *sq = region(p.ep, WBELL_REGION_SQ, PROT_READ);
	char *cq = region(p.ep, WBELL_REGION_CQ, PROT_READ | PROT_WRITE);
	struct wbell_u_event ev;

	strcpy(p.mem, "secret");
	assert_string_equal(sq, "secret");
	munmap(p.mem, p.len);
	p.mem = NULL;
	fd_close(p.app);
	p.app = -1;
	ev = event_wait(p.ep, WBELL_EVENT_EP_GONE);
	assert_int_equal(ev.reason, WBELL_REASON_APP_GONE);
	/* no signal, and nothing of the app's */
	assert_int_equal(sq[0], 0);
	assert_false(dies_writing(cq));
	assert_int_equal(counter("ring_pages"), 0);
	munmap(sq, PAGE);
	munmap(cq, PAGE);
	pair_end(&p);
}

static void test_queue_daemon_closes_endpoint(void **state)
{
	struct pair p = pair_make(0);
	struct wbell_u_queue_kick kick = { .queue = p.queue };
	struct wbell_u_event ev;
	uint32_t reason;

	fd_close(p.ep);
	p.ep = -1;
	assert_int_equal(poll_now(p.app), POLLIN | POLLERR);
	ev = event_get(p.app);
	assert_int_equal(ev.type, WBELL_EVENT_QUEUE_ERROR);
	assert_int_equal(ev.handle, p.queue);
	assert_int_equal(ev.user, 4711);
	assert_int_equal(ev.reason, WBELL_REASON_NIC_GONE);
	assert_int_equal(poll_now(p.app), 0);
	assert_int_equal(state_of(&p, &reason), WBELL_QUEUE_ERR);
	assert_int_equal(reason, WBELL_REASON_NIC_GONE);
	assert_int_equal(call(p.app, WBELL_IOC_QUEUE_KICK, &kick), -ESTALE);
	p.mem[0] = 1; /* its own memory stays its own */
	pair_end(&p);
}

/* An endpoint that outlives the daemon's context reaches nothing. */
static void test_queue_daemon_closes_context(void **state)
{
	struct pair p = pair_make(0);
	char *cq = region(p.ep, WBELL_REGION_CQ, PROT_READ | PROT_WRITE);

	cq[0] = 1;
	fd_close(p.daemon);
	p.daemon = -1;
	assert_int_equal(event_get(p.app).reason, WBELL_REASON_NIC_GONE);
	assert_true(dies_writing(cq));
	assert_int_equal(poll_now(p.ep) & POLLHUP, POLLHUP);
	assert_int_equal(queue(p.app, p.nic_id, p.object, NULL), -ENOENT);
	munmap(cq, PAGE);
	pair_end(&p);
}

static void test_queue_daemon_gives_up(void **state)
{
	struct pair p = pair_make(0);
	struct wbell_u_ep_error arg = { .code = 0x1234 };
	struct wbell_u_event ev;

	assert_int_equal(call(p.ep, WBELL_IOC_EP_ERROR, &arg), 0);
	assert_int_equal(call(p.ep, WBELL_IOC_EP_ERROR, &arg), -ESTALE);
	ev = event_get(p.app);
	assert_int_equal(ev.type, WBELL_EVENT_QUEUE_ERROR);
	assert_int_equal(ev.reason, WBELL_REASON_DAEMON);
	assert_int_equal(ev.data, 0x1234);
	pair_end(&p);
}

static void test_queue_app_modifies(void **state)
{
	struct pair p = pair_make(0);
	struct wbell_u_queue_modify arg = { .queue = p.queue };
	uint32_t s;

	for (s = 0; s < 5; s++) {
		arg.state = s;
		if (s != WBELL_QUEUE_ERR)
			assert_int_equal(
				call(p.app, WBELL_IOC_QUEUE_MODIFY, &arg),
				-EINVAL);
	}
	assert_int_equal(state_of(&p, NULL), WBELL_QUEUE_READY);
	arg.state = WBELL_QUEUE_ERR;
	assert_int_equal(call(p.app, WBELL_IOC_QUEUE_MODIFY, &arg), 0);
	assert_int_equal(call(p.app, WBELL_IOC_QUEUE_MODIFY, &arg), -EINVAL);
	assert_int_equal(event_get(p.ep).type, WBELL_EVENT_EP_ERROR);
	assert_int_equal(event_get(p.app).reason, WBELL_REASON_MODIFY);
	pair_end(&p);
}

static void test_queue_loses_its_ring(void **state)
{
	struct pair p = pair_make(0);
	char *sq = region(p.ep, WBELL_REGION_SQ, PROT_READ);

	assert_int_equal(sq[0], 0);
	assert_int_equal(destroy(p.app, p.object), 0);
	assert_true(dies_reading(sq));
	assert_true(dies_reading(p.mem));
	assert_int_equal(event_get(p.app).reason, WBELL_REASON_MEMORY);
	assert_int_equal(event_get(p.ep).type, WBELL_EVENT_EP_ERROR);
	assert_int_equal(queue(p.app, p.nic_id, p.object, NULL), -ENOENT);
	munmap(sq, PAGE);
	pair_end(&p);
}

static void test_queue_kicks(void **state)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), i;
	struct wbell_u_ep_kick back = {};
	struct pair p = pair_make(0);
	struct wbell_u_queue_create q = {
		.nic = p.nic_id,
		.depth = 64,
		.cq_eventfd = efd,
		.user = 1,
		.region = { { p.object, 0, 0, PAGE },
			    { p.object, 0, PAGE, PAGE },
			    { p.object, 0, 2 * PAGE, PAGE } },
	};
	struct wbell_u_queue_kick kick;
	struct wbell_u_event ev;
	int ep;

	assert_int_equal(call(p.app, WBELL_IOC_QUEUE_CREATE, &q), 0);
	kick = (struct wbell_u_queue_kick){ .queue = q.handle };
	assert_int_equal(call(p.app, WBELL_IOC_QUEUE_KICK, &kick), -ESTALE);
	ep = accept_queue(p.daemon, p.nic, 0);
	close(efd); /* the queue keeps it */
	event_wait(p.app, WBELL_EVENT_QUEUE_READY);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(call(p.app, WBELL_IOC_QUEUE_KICK, &kick), 0);
		assert_int_equal(call(ep, WBELL_IOC_EP_KICK, &back), 0);
	}
	/* a thousand are told as one */
	assert_int_equal(event_get(ep).type, WBELL_EVENT_EP_KICK);
	assert_int_equal(poll_now(ep), 0);
	ev = event_get(p.app);
	assert_int_equal(ev.type, WBELL_EVENT_QUEUE_KICK);
	assert_int_equal(ev.user, 1);
	assert_int_equal(poll_now(p.app), 0);
	fd_close(ep);
	pair_end(&p);
}

static void test_queue_eventfd(void **state)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct wbell_u_ep_kick back = {};
	struct pair p = pair_make(0);
	struct wbell_u_queue_create q = {
		.nic = p.nic_id,
		.depth = 64,
		.cq_eventfd = efd,
		.region = { { p.object, 0, 0, PAGE },
			    { p.object, 0, PAGE, PAGE },
			    { p.object, 0, 2 * PAGE, PAGE } },
	};
	uint64_t n = 0;
	int ep;

	assert_int_equal(call(p.app, WBELL_IOC_QUEUE_CREATE, &q), 0);
	ep = accept_queue(p.daemon, p.nic, 0);
	assert_int_equal(read(efd, &n, sizeof(n)), sizeof(n)); /* ready */
	assert_int_equal(call(ep, WBELL_IOC_EP_KICK, &back), 0);
	assert_int_equal(call(ep, WBELL_IOC_EP_KICK, &back), 0);
	assert_int_equal(read(efd, &n, sizeof(n)), sizeof(n));
	assert_int_equal(n, 2);
	fd_close(ep); /* the error wakes who waits for a completion */
	assert_int_equal(read(efd, &n, sizeof(n)), sizeof(n));
	fd_close(efd);
	pair_end(&p);
}

/* More events than are kept: they are counted, and the daemon finds all. */
static void test_queue_events_overflow(void **state)
{
	int app = ctx_open(), daemon = ctx_open(), i, ep, fd[400];
	uint32_t id, handle = nic(daemon, "many", 400, &id);
	uint32_t object = ring(app, 3 * PAGE, NULL, NULL);
	struct wbell_u_event ev = {}, all[64];
	uint32_t seen = 0, seq = 0;
	ssize_t n;

	for (i = 0; i < 400; i++)
		assert_int_equal(queue(app, id, object, NULL), 0);
	assert_int_equal(poll_now(daemon), POLLIN | POLLERR);
	for (;;) {
		assert_true(poll_now(daemon) & POLLIN); /* read would wait */
		n = read(daemon, all, sizeof(all) - 1);
		assert_int_equal(n % sizeof(ev), 0);
		for (i = 0; i < (int)(n / sizeof(ev)); i++) {
			ev = all[i];
			seen += ev.type == WBELL_EVENT_QUEUE_REQUEST;
			assert_true(ev.seq > seq);
			seq = ev.seq;
		}
		if (ev.type == WBELL_EVENT_OVERFLOW)
			break;
	}
	assert_int_equal(seen + ev.data, 400);
	assert_true(ev.data > 0);
	assert_int_equal(poll_now(daemon), 0);
	for (i = 0; (ep = accept_queue(daemon, handle, 0)) >= 0; i++)
		fd[i] = ep;
	assert_int_equal(ep, -EAGAIN);
	assert_int_equal(i, 400);
	while (i)
		fd_close(fd[--i]);
	fd_close(app);
	fd_close(daemon);
	counters_zero();
}

static void test_queue_reads(void **state)
{
	char *nowhere =
		mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pair p = pair_make(0);
	struct wbell_u_event ev;

	assert_int_equal(read(p.app, &ev, sizeof(ev) - 1), -1);
	assert_int_equal(errno, EINVAL);
	fcntl(p.app, F_SETFL, O_NONBLOCK);
	assert_int_equal(read(p.app, &ev, sizeof(ev)), -1);
	assert_int_equal(errno, EAGAIN);
	/* a record that could not be copied is not lost */
	fd_close(p.ep);
	p.ep = -1;
	assert_int_equal(read(p.app, nowhere, sizeof(ev)), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(read(p.app, &ev, sizeof(ev)), sizeof(ev));
	assert_int_equal(ev.type, WBELL_EVENT_QUEUE_ERROR);
	munmap(nowhere, PAGE);
	pair_end(&p);
}

/* ---- races ---- */

struct storm {
	int app, daemon;
	uint32_t nic, nic_id;
	volatile bool stop;
	int granted;
};

static void *storm_daemon(void *arg)
{
	struct storm *s = arg;
	struct wbell_u_ep_grant g;
	char *at, *granted;
	int ep, i;

	while (!s->stop) {
		ep = accept_queue(s->daemon, s->nic, WBELL_ACCEPT_DUMMY);
		if (ep < 0)
			continue;
		at = region(ep, WBELL_REGION_CQ, PROT_READ | PROT_WRITE);
		if (at)
			at[0] = 1;
		/* the app grants soon after; it may also be gone already */
		for (i = 0; i < 100 && !(poll_now(ep) & POLLHUP); i++) {
			if (grant_at(ep, 0, &g))
				continue;
			granted = map(ep, g.map.cookie, PAGE, PROT_READ);
			if (!granted)
				continue;
			s->granted += !dies_reading(granted);
			munmap(granted, PAGE);
		}
		if (at)
			munmap(at, PAGE);
		close(ep);
	}
	return NULL;
}

static void *storm_app(void *arg)
{
	struct storm *s = arg;
	struct wbell_u_queue_grant g = {};
	uint32_t object, q, mreg;
	int i;

	for (i = 0; i < 300; i++) {
		object = ring(s->app, 3 * PAGE, NULL, NULL);
		must(!queue(s->app, s->nic_id, object, &q));
		mreg = mreg_ring(s->app, object, PAGE, 0, 0);
		g.queue = q;
		g.mreg = mreg;
		call(s->app, WBELL_IOC_QUEUE_GRANT, &g);
		if (i & 4)
			usleep(1000);
		/* in all orders; an object is destroyed once */
		if (i % 3 == 0)
			destroy(s->app, mreg);
		if (i % 3 < 2)
			destroy(s->app, object);
		destroy(s->app, q);
		if (i % 3 != 0)
			destroy(s->app, mreg);
		if (i % 3 == 2)
			destroy(s->app, object);
	}
	return NULL;
}

/* Both ends make and end at once; what counts is what is left: nothing. */
static void test_queue_storm(void **state)
{
	struct storm s = { .app = ctx_open(), .daemon = ctx_open() };
	pthread_t app[2], daemon;
	int i;

	s.nic = nic(s.daemon, "storm", 64, &s.nic_id);
	/* one: dies_reading() is not for two threads */
	pthread_create(&daemon, NULL, storm_daemon, &s);
	for (i = 0; i < 2; i++)
		pthread_create(&app[i], NULL, storm_app, &s);
	for (i = 0; i < 2; i++)
		pthread_join(app[i], NULL);
	s.stop = true;
	pthread_join(daemon, NULL);
	print_message("# granted memory was read %d times\n", s.granted);
	assert_true(s.granted > 0);
	assert_int_equal(counter("objects"), 1);
	assert_int_equal(counter("endpoints"), 0);
	fd_close(s.app);
	fd_close(s.daemon);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_bad_descriptors),
		cmocka_unit_test(test_queue_as_many_as_the_nic_has),
		cmocka_unit_test(test_queue_accept_in_order),
		cmocka_unit_test(test_queue_app_destroys),
		cmocka_unit_test(test_queue_app_goes_and_the_daemon_lives),
		cmocka_unit_test(test_queue_daemon_closes_endpoint),
		cmocka_unit_test(test_queue_daemon_closes_context),
		cmocka_unit_test(test_queue_daemon_gives_up),
		cmocka_unit_test(test_queue_app_modifies),
		cmocka_unit_test(test_queue_loses_its_ring),
		cmocka_unit_test(test_queue_kicks),
		cmocka_unit_test(test_queue_eventfd),
		cmocka_unit_test(test_queue_events_overflow),
		cmocka_unit_test(test_queue_reads),
		cmocka_unit_test(test_queue_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
