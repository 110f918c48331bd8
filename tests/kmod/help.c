// SPDX-License-Identifier: BSD-2-Clause
/* What the tests of /dev/warpbell share: processes, faults, counters. */
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "kmod.h"

#define SYSFS "/sys/class/misc/warpbell/counters/"

char call_err[WBELL_ERR_TEXT];
unsigned int call_count;

int ctx_open(void)
{
	int fd = open(WBELL_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		print_error("cannot open %s: %s\n", WBELL_DEVICE,
			    strerror(errno));
	assert_true(fd >= 0);
	return fd;
}

void fd_close(int fd)
{
	assert_int_equal(close(fd), 0);
}

int call_size(int fd, unsigned int cmd, void *arg, uint32_t size)
{
	struct {
		uint32_t size, flags;
		uint64_t err_ptr;
	} *head = arg;
	int rc;

	head->size = size;
	head->err_ptr = (uintptr_t)call_err;
	memset(call_err, 0, sizeof(call_err));
	call_count++;
	rc = ioctl(fd, cmd, arg);
	return rc < 0 ? -errno : rc;
}

void *map(int fd, uint64_t cookie, uint64_t len, int prot)
{
	void *at = mmap(NULL, len, prot, MAP_SHARED, fd, cookie);

	return at == MAP_FAILED ? NULL : at;
}

/* ---- faults ---- */

static sigjmp_buf fault_back;
static volatile sig_atomic_t fault_signal;

static void on_fault(int sig)
{
	fault_signal = sig;
	siglongjmp(fault_back, 1);
}

static bool dies(volatile char *at, bool writing)
{
	struct sigaction act = { .sa_handler = on_fault }, bus, segv;

	sigaction(SIGBUS, &act, &bus);
	sigaction(SIGSEGV, &act, &segv);
	fault_signal = 0;
	if (!sigsetjmp(fault_back, 1)) {
		if (writing)
			*at = 0x5a;
		else
			(void)*at;
	}
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	if (fault_signal == SIGSEGV)
		raise(SIGABRT); /* nobody expects that */
	return fault_signal == SIGBUS;
}

bool dies_reading(const volatile void *at)
{
	return dies((volatile char *)at, false);
}

bool dies_writing(volatile void *at)
{
	return dies(at, true);
}

/* ---- counters ---- */

uint64_t counter(const char *name)
{
	char path[128], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), SYSFS "%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0) {
		print_error("no counter %s\n", path);
		text[0] = '9';
	}
	close(fd);
	return strtoull(text, NULL, 10);
}

static void nap(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
}

void counter_wait(const char *name, uint64_t value)
{
	int i;

	for (i = 0; i < TIMEOUT && counter(name) != value; i++)
		nap();
	if (counter(name) != value)
		print_error("%s is %lu\n", name, counter(name));
	assert_int_equal(counter(name), value);
}

void counters_zero(void)
{
	static const char *const names[] = {
		"contexts",  "objects", "ring_pages", "pinned_pages",
		"gpu_pages", "queues",	"nics",	      "maps",
		"endpoints", "exports",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		counter_wait(names[i], 0);
}

void param_set(const char *name, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/module/warpbell/parameters/%s",
		 name);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, value, strlen(value)), strlen(value));
	close(fd);
}

/* ---- processes ---- */

void child_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "# child: %s:%d: %s is false; errno %d, \"%s\"\n", file,
		line, what, errno, call_err);
	_exit(99);
}

int child_start(int (*fn)(void *arg), void *arg)
{
	int pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(fn(arg));
	}
	assert_true(pid > 0);
	return pid;
}

int child_end(int pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

int child(int (*fn)(void *arg), void *arg)
{
	return child_end(child_start(fn, arg));
}

void fd_send(int sock, int fd)
{
	char data = 'x', control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec iov = { &data, 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(sock, &msg, 0) != 1)
		child_fail(__FILE__, __LINE__, "sendmsg");
}

int fd_receive(int sock)
{
	char data, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &data, 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(sock, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		child_fail(__FILE__, __LINE__, "recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

/* ---- events ---- */

int poll_now(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

struct wbell_u_event event_get(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct wbell_u_event ev = {};

	if (poll(&p, 1, TIMEOUT) != 1 ||
	    read(fd, &ev, sizeof(ev)) != sizeof(ev))
		child_fail(__FILE__, __LINE__, "an event");
	return ev;
}

struct wbell_u_event event_wait(int fd, uint32_t type)
{
	struct wbell_u_event ev;

	do
		ev = event_get(fd);
	while (ev.type != type);
	return ev;
}
