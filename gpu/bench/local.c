// SPDX-License-Identifier: BSD-2-Clause
/*
 * --local N: all ranks on this machine, a process each; on a ring wire,
 * which joins two ends of one process, a thread each.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* A port that nobody has; rank 0 gets it listening. */
static int listen_here(int *fd, char *where, size_t size)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sa);
	int rc;

	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return -errno;
	if (bind(*fd, (struct sockaddr *)&sa, len) ||
	    listen(*fd, COLL_RANKS_MAX) ||
	    getsockname(*fd, (struct sockaddr *)&sa, &len)) {
		rc = -errno;
		close(*fd);
		return rc;
	}
	snprintf(where, size, "127.0.0.1:%u", ntohs(sa.sin_port));
	return 0;
}

struct member {
	struct bench_options opt;
	pthread_t thread;
	pid_t pid;
	int started, rc;
};

static void *member_main(void *arg)
{
	struct member *m = arg;

	m->rc = bench_rank(&m->opt);
	return NULL;
}

static int run_threads(struct member *m, uint32_t n)
{
	uint32_t i;
	int rc = BENCH_GOOD;

	for (i = 0; i < n; i++)
		m[i].started =
			!pthread_create(&m[i].thread, NULL, member_main, &m[i]);
	for (i = 0; i < n; i++) {
		if (m[i].started)
			pthread_join(m[i].thread, NULL);
		else
			m[i].rc = BENCH_CANNOT;
		rc = m[i].rc > rc ? m[i].rc : rc;
	}
	return rc;
}

static void start_process(struct member *m)
{
	pid_t parent = getpid();

	fflush(NULL);
	m->pid = fork();
	if (m->pid)
		return;
	/* no rank outlives the one who started it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(BENCH_CANNOT);
	m->rc = bench_rank(&m->opt);
	_exit(fflush(NULL) ? BENCH_CANNOT : m->rc);
}

static int run_processes(struct member *m, uint32_t n)
{
	uint32_t i;
	int status, rc = BENCH_GOOD;

	for (i = 0; i < n; i++)
		start_process(&m[i]);
	close(m[0].opt.listen_fd);
	for (i = 0; i < n; i++) {
		status = BENCH_CANNOT << 8;
		/* ranks end by themselves: each of their waits has an end */
		while (m[i].pid > 0 && waitpid(m[i].pid, &status, 0) < 0 &&
		       errno == EINTR)
			;
		status = WIFEXITED(status) ? WEXITSTATUS(status) : BENCH_FAILED;
		rc = status > rc ? status : rc;
	}
	return rc;
}

int bench_local(const struct bench_options *opt)
{
	struct member m[COLL_RANKS_MAX] = { 0 };
	char where[32];
	uint32_t i;
	int fd, rc = listen_here(&fd, where, sizeof(where));

	if (rc)
		return bench_fail(opt, BENCH_CANNOT,
				  "listen on the loopback: %s: bring up lo",
				  strerror(-rc));
	for (i = 0; i < opt->local; i++) {
		m[i].opt = *opt;
		m[i].opt.rank = i;
		m[i].opt.ranks = opt->local;
		m[i].opt.boot = where;
		m[i].opt.listen_fd = i ? -1 : fd;
	}
	if (!strncmp(opt->wire, "ring:", 5))
		return run_threads(m, opt->local);
	return run_processes(m, opt->local);
}
