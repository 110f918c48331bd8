// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines for the caller's log callback and for WBELL_LOG_FILE.  The library
 * never writes to a descriptor it was not told of.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

static const char *const levels[] = {
	[WBELL_LOG_ERROR] = "error",
	[WBELL_LOG_WARN] = "warn",
	[WBELL_LOG_INFO] = "info",
	[WBELL_LOG_DEBUG] = "debug",
};

static int level_parse(const char *name, int *level)
{
	int i;

	for (i = WBELL_LOG_ERROR; i <= WBELL_LOG_DEBUG; i++) {
		if (strcmp(name, levels[i]))
			continue;
		*level = i;
		return 0;
	}
	return -EINVAL;
}

/* %h is the host's name, %p the process; any other % stands for itself. */
static int path_expand(const char *pattern, char *path, size_t size)
{
	char host[65] = "";
	size_t n = 0;
	int len;

	gethostname(host, sizeof(host) - 1);
	for (; *pattern && n < size; pattern++) {
		if (!strncmp(pattern, "%h", 2) && pattern++)
			len = snprintf(path + n, size - n, "%s", host);
		else if (!strncmp(pattern, "%p", 2) && pattern++)
			len = snprintf(path + n, size - n, "%d", getpid());
		else
			len = snprintf(path + n, size - n, "%c", *pattern);
		n += len;
	}
	return n < size ? 0 : -ENAMETOOLONG;
}

static int file_open(struct log *log, const char *pattern, struct error_text *e)
{
	char path[512];
	int rc;

	rc = path_expand(pattern, path, sizeof(path));
	if (rc)
		return error_set(e, rc,
				 "WBELL_LOG_FILE: longer than %zu bytes: "
				 "shorten the path",
				 sizeof(path) - 1);
	log->fd = open(path,
		       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
		       0600);
	if (log->fd >= 0)
		return 0;
	rc = -errno;
	return error_set(e, rc,
			 "cannot open log file %s: %s: set WBELL_LOG_FILE to a "
			 "path that can be written, or unset it",
			 path, error_name(rc));
}

static void say_mistyped(void *log, const char *name, const char *meant)
{
	log_say(log, WBELL_LOG_WARN, "%s is no variable of warpbell: set %s",
		name, meant);
}

int log_open(struct log *log, const struct wbell_open_attr *attr,
	     struct error_text *e)
{
	const char *level = env_log(), *file = env_log_file();
	int rc;

	*log = (struct log){ .fn = attr->log,
			     .arg = attr->log_arg,
			     .level = WBELL_LOG_INFO,
			     .fd = -1 };
	if (level && level_parse(level, &log->level))
		return error_set(e, -EINVAL,
				 "WBELL_LOG: '%.40s' is no level: use error, "
				 "warn, info or debug",
				 level);
	if (file) {
		rc = file_open(log, file, e);
		if (rc)
			return rc;
	}
	env_mistyped(say_mistyped, log);
	return 0;
}

void log_close(struct log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

/* One write() per line, so that processes that share a file do not mix. */
static void file_say(struct log *log, int level, const char *text)
{
	char line[800];
	struct timespec now;
	int len;

	clock_gettime(CLOCK_REALTIME, &now);
	len = snprintf(line, sizeof(line), "%lld.%06ld %d %s: %s\n",
		       (long long)now.tv_sec, now.tv_nsec / 1000, getpid(),
		       levels[level], text);
	if (len >= (int)sizeof(line)) {
		len = sizeof(line) - 1;
		line[len - 1] = '\n';
	}
	/* Nowhere to tell of a full disk. */
	while (write(log->fd, line, len) < 0 && errno == EINTR)
		;
}

void log_provider(void *arg, int level, const char *text)
{
	struct log *log = arg;

	if (level < WBELL_LOG_ERROR || level > log->level)
		return;
	if (log->fn)
		log->fn(log->arg, level, text);
	if (log->fd >= 0)
		file_say(log, level, text);
}

void log_say(struct log *log, int level, const char *fmt, ...)
{
	struct error_text line;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line.text, sizeof(line.text), fmt, ap);
	va_end(ap);
	log_provider(log, level, line.text);
}
