// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process that has GPU memory, for guest.sh.
 *	app state            of the provider: "0 text" or "ERRNO text"
 *	app pin VA LEN       what the module says of it; nothing is kept
 *	app fill VA LEN      writes the address of each word to it by mmap
 *	app leave VA LEN     pins, maps and dies
 *	app wait VA LEN      says "pinned", waits to lose it, touches it
 *	app race VA LEN N    pins and destroys, N times at least and until it has
 *	                     been taken back before and after pinning was done
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../../../include/wbell/uapi.h"

static int dev;
static char err[WBELL_ERR_TEXT];
static sigjmp_buf touched;

static void on_bus(int sig)
{
	siglongjmp(touched, sig);
}

static int find_provider(struct wbell_u_provider_query *q)
{
	uint32_t i;

	for (i = 0;; i++) {
		memset(q, 0, sizeof(*q));
		q->size = sizeof(*q);
		q->index = i;
		if (ioctl(dev, WBELL_IOC_PROVIDER_QUERY, q))
			return -errno;
		if (!strcmp(q->name, "nvp2p"))
			return 0;
	}
}

static int pin(uint64_t va, uint64_t len, struct wbell_u_gpu_pin *p)
{
	struct wbell_u_provider_query q;
	int rc = find_provider(&q);

	if (rc)
		return rc;
	memset(p, 0, sizeof(*p));
	memset(err, 0, sizeof(err));
	p->size = sizeof(*p);
	p->err_ptr = (uintptr_t)err;
	p->provider = q.id;
	p->addr = va;
	p->len = len;
	return ioctl(dev, WBELL_IOC_GPU_PIN, p) ? -errno : 0;
}

static int destroy(uint32_t handle)
{
	struct wbell_u_destroy d = { .size = sizeof(d), .handle = handle };

	return ioctl(dev, WBELL_IOC_DESTROY, &d) ? -errno : 0;
}

static char *map(const struct wbell_u_gpu_pin *p)
{
	char *at = mmap(NULL, p->map_len, PROT_READ | PROT_WRITE, MAP_SHARED,
			dev, p->cookie);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return at;
}

static int say(int rc, const struct wbell_u_gpu_pin *p)
{
	if (rc) {
		printf("%s: %s\n", strerror(-rc), err);
		return 1;
	}
	printf("length %llu offset %llu page %u segments %u type %u\n",
	       p->map_len, p->map_offset, p->page_size, p->segments,
	       p->memtype);
	return 0;
}

static int fill(const struct wbell_u_gpu_pin *p, uint64_t va, uint64_t len)
{
	uint64_t *word = (uint64_t *)(map(p) + p->map_offset);
	uint64_t i;

	for (i = 0; i < len / 8; i++)
		word[i] = va + i * 8;
	return destroy(p->handle) != 0;
}

static int wait_for_loss(const struct wbell_u_gpu_pin *p)
{
	struct pollfd fd = { .fd = dev, .events = POLLIN };
	volatile char *at = map(p);
	struct wbell_u_event ev;

	signal(SIGBUS, on_bus);
	at[0] = 1;
	puts("pinned");
	fflush(stdout);
	if (poll(&fd, 1, 30000) != 1 ||
	    read(dev, &ev, sizeof(ev)) != sizeof(ev)) {
		puts("no event");
		return 1;
	}
	printf("event %u reason %u\n", ev.type, ev.reason);
	if (!sigsetjmp(touched, 1)) {
		at[0] = 2;
		puts("still there");
		return 1;
	}
	puts("gone");
	/* the handle stays, to be destroyed once */
	printf("destroy %d\n", destroy(p->handle));
	return 0;
}

static int race(uint64_t va, uint64_t len, int n)
{
	int lost = 0, kept = 0, most = 20 * n, rc;
	struct wbell_u_gpu_pin p;

	while (most-- && (lost + kept < n || !lost || !kept)) {
		rc = pin(va, len, &p);
		if (rc == -ESTALE) {
			lost++;
			continue;
		}
		if (rc || destroy(p.handle))
			return say(rc ? rc : -errno, &p);
		kept++;
	}
	printf("lost %d kept %d\n", lost, kept);
	return !lost || !kept;
}

static int with_pin(const char *verb, uint64_t va, uint64_t len)
{
	struct wbell_u_gpu_pin p;
	int rc = pin(va, len, &p);

	if (rc || !strcmp(verb, "pin"))
		return say(rc, &p);
	if (!strcmp(verb, "fill"))
		return fill(&p, va, len);
	if (!strcmp(verb, "wait"))
		return wait_for_loss(&p);
	*map(&p) = 1; /* leave: killed with all of it in its hands */
	return raise(SIGKILL);
}

int main(int argc, char **argv)
{
	struct wbell_u_provider_query q;
	uint64_t va, len;
	int rc;

	dev = open(WBELL_DEVICE, O_RDWR | O_CLOEXEC);
	if (dev < 0) {
		perror(WBELL_DEVICE);
		return 1;
	}
	if (argc == 2) {
		rc = find_provider(&q);
		printf("%d %s\n", rc ? rc : q.state, rc ? "none" : q.text);
		return 0;
	}
	if (argc < 4)
		return 2;
	va = strtoull(argv[2], NULL, 0);
	len = strtoull(argv[3], NULL, 0);
	if (!strcmp(argv[1], "race"))
		return race(va, len, argc > 4 ? atoi(argv[4]) : 1);
	return with_pin(argv[1], va, len);
}
