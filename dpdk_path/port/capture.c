// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <wbell/roce.h>

#include "capture.h"

#define CAPTURE_BUFFER (256 * 1024)

#define PCAPNG_SHB		 0x0a0d0d0a
#define PCAPNG_IDB		 1
#define PCAPNG_EPB		 6
#define PCAPNG_MAGIC		 0x1a2b3c4d
#define PCAPNG_LINKTYPE_ETHERNET 1
#define PCAPNG_OPT_END		 0
#define PCAPNG_OPT_IF_NAME	 2
#define PCAPNG_OPT_IF_TSRESOL	 9
#define PCAPNG_OPT_SHB_USERAPPL	 4
#define PCAPNG_OPT_EPB_FLAGS	 2
#define PCAPNG_NS		 9 /* timestamps in 10^-9 s */
/* An enhanced packet block without its frame. */
#define PCAPNG_EPB_SIZE (28 + 8 + 4 + 4)

struct capture {
	int fd;
	bool stopped, regular;
	uint64_t frames, lost;
	int64_t wall; /* add to the clock: ns since 1970 */
	off_t offset; /* of buf[0] in the file */
	size_t used;
	wbell_log_fn log;
	void *log_arg;
	char path[256];
	uint8_t buf[CAPTURE_BUFFER];
};

static void put32(struct capture *c, uint32_t v)
{
	memcpy(c->buf + c->used, &v, 4);
	c->used += 4;
}

static void put_bytes(struct capture *c, const void *p, size_t n)
{
	memcpy(c->buf + c->used, p, n);
	c->used += n;
	while (n++ & 3)
		c->buf[c->used++] = 0;
}

static void put_option(struct capture *c, uint16_t code, const void *p,
		       uint16_t n)
{
	put32(c, code | (uint32_t)n << 16);
	put_bytes(c, p, n);
}

static size_t block_begin(struct capture *c, uint32_t type)
{
	size_t at = c->used;

	put32(c, type);
	put32(c, 0);
	return at;
}

/* The length stands at both ends of a block. */
static void block_end(struct capture *c, size_t at)
{
	uint32_t n = c->used - at + 4;

	memcpy(c->buf + at + 4, &n, 4);
	put32(c, n);
}

static void put_header(struct capture *c, const char *interface)
{
	static const char app[] = "warpbell";
	static const uint64_t unknown = ~0ULL;
	uint8_t ns = PCAPNG_NS;
	size_t at;

	at = block_begin(c, PCAPNG_SHB);
	put32(c, PCAPNG_MAGIC);
	put32(c, 1); /* version 1.0 */
	put_bytes(c, &unknown, 8);
	put_option(c, PCAPNG_OPT_SHB_USERAPPL, app, sizeof(app) - 1);
	put32(c, PCAPNG_OPT_END);
	block_end(c, at);

	at = block_begin(c, PCAPNG_IDB);
	put32(c, PCAPNG_LINKTYPE_ETHERNET);
	put32(c, 0); /* no snap length */
	put_option(c, PCAPNG_OPT_IF_NAME, interface, strlen(interface));
	put_option(c, PCAPNG_OPT_IF_TSRESOL, &ns, 1);
	put32(c, PCAPNG_OPT_END);
	block_end(c, at);
}

/* Where the last block that lies whole in the first n bytes ends. */
static size_t whole_blocks(const struct capture *c, size_t n)
{
	size_t at = 0;
	uint32_t len;

	while (at + 8 <= n) {
		memcpy(&len, c->buf + at + 4, 4);
		if (at + len > n)
			break;
		at += len;
	}
	return at;
}

static void stop(struct capture *c, int error, size_t written)
{
	char text[400];

	/* Leave a file that readers take without complaint. */
	if (c->regular &&
	    ftruncate(c->fd, c->offset + whole_blocks(c, written)))
		written = 0;
	c->stopped = true;
	c->used = 0;
	snprintf(text, sizeof(text),
		 "capture: writing %s failed: %s: it ends after %llu frames, "
		 "traffic goes on; free space and open again",
		 c->path, strerror(error), (unsigned long long)c->frames);
	c->log(c->log_arg, WBELL_LOG_WARN, text);
}

void capture_flush(struct capture *c)
{
	size_t done = 0, whole;
	ssize_t n = 0;

	if (c->stopped)
		return;
	while (done < c->used) {
		n = write(c->fd, c->buf + done, c->used - done);
		if (n <= 0 && errno != EINTR)
			break;
		if (n > 0)
			done += n;
	}
	if (done < c->used && n < 0 && errno != EAGAIN) {
		stop(c, errno, done);
		return;
	}
	/* A reader that is behind (a pipe): keep the rest of the bytes. */
	whole = c->used - done;
	memmove(c->buf, c->buf + done, whole);
	c->offset += done;
	c->used = whole;
}

static int open_file(struct capture *c, struct wbell_err *err)
{
	struct stat st;
	int rc;

	/* Non-blocking: a FIFO without a reader must not hold us. */
	c->fd = open(c->path,
		     O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK |
			     O_NOCTTY,
		     0644);
	if (c->fd < 0) {
		rc = -errno;
		snprintf(err->text, sizeof(err->text),
			 "capture: opening %.100s failed: %s: %s", c->path,
			 strerror(errno),
			 errno == ENXIO ? "start the reader of the pipe first"
					: "give a path that can be written");
		return rc;
	}
	c->regular = !fstat(c->fd, &st) && S_ISREG(st.st_mode);
	return 0;
}

static int64_t wall_clock(uint64_t now)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec - (int64_t)now;
}

int capture_open(const struct capture_attr *attr, struct capture **capture,
		 struct wbell_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return -ENOMEM;
	snprintf(c->path, sizeof(c->path), "%s", attr->path);
	c->log = attr->log;
	c->log_arg = attr->log_arg;
	c->wall = wall_clock(attr->now);
	rc = open_file(c, err);
	if (rc) {
		free(c);
		return rc;
	}
	put_header(c, attr->interface);
	capture_flush(c);
	*capture = c;
	return 0;
}

void capture_close(struct capture *c)
{
	if (!c)
		return;
	capture_flush(c);
	close(c->fd);
	free(c);
}

static uint16_t be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static bool is_rocev2(const uint8_t *f, uint32_t len)
{
	uint32_t at = 14;
	uint16_t type;

	if (len < at)
		return false;
	type = be16(f + 12);
	while ((type == ROCE_ETHERTYPE_VLAN || type == ROCE_ETHERTYPE_QINQ) &&
	       at + 4 <= len) {
		type = be16(f + at + 2);
		at += 4;
	}
	if (type == ROCE_ETHERTYPE_IPV4)
		return len >= at + 28 && f[at] == 0x45 &&
		       f[at + 9] == ROCE_IPPROTO_UDP &&
		       be16(f + at + 22) == ROCE_UDP_PORT;
	return type == ROCE_ETHERTYPE_IPV6 && len >= at + 48 &&
	       f[at + 6] == ROCE_IPPROTO_UDP &&
	       be16(f + at + 42) == ROCE_UDP_PORT;
}

void capture_frame(struct capture *c, uint64_t now, enum capture_direction dir,
		   const uint8_t *frame, uint32_t len)
{
	uint64_t t = now + c->wall;
	uint32_t flags = dir;
	size_t at;

	if (c->stopped || !is_rocev2(frame, len))
		return;
	if (c->used + len + 4 + PCAPNG_EPB_SIZE > sizeof(c->buf))
		capture_flush(c);
	if (c->stopped ||
	    c->used + len + 4 + PCAPNG_EPB_SIZE > sizeof(c->buf)) {
		c->lost++;
		return;
	}
	at = block_begin(c, PCAPNG_EPB);
	put32(c, 0); /* interface */
	put32(c, t >> 32);
	put32(c, t);
	put32(c, len);
	put32(c, len);
	put_bytes(c, frame, len);
	put_option(c, PCAPNG_OPT_EPB_FLAGS, &flags, 4);
	put32(c, PCAPNG_OPT_END);
	block_end(c, at);
	c->frames++;
}

unsigned capture_counters(const struct capture *c, struct wbell_counter *cnt,
			  unsigned n)
{
	const uint64_t value[] = { c->frames, c->lost };
	static const char *const name[] = { "capture_frames", "capture_lost" };
	unsigned i;

	for (i = 0; i < 2 && i < n; i++) {
		snprintf(cnt[i].name, sizeof(cnt[i].name), "%s", name[i]);
		cnt[i].value = value[i];
	}
	return 2;
}
