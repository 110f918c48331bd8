// SPDX-License-Identifier: BSD-2-Clause
/* Every environment variable the library reads, in one table. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

extern char **environ;

enum { ENV_PROVIDER, ENV_ENGINE, ENV_LOG, ENV_LOG_FILE, ENV_COUNT };

static const char *const names[ENV_COUNT] = {
	[ENV_PROVIDER] = "WBELL_PROVIDER", /* where wbell_open() names none */
	[ENV_ENGINE] = "WBELL_ENGINE",	   /* path of libwarpbell-engine.so */
	[ENV_LOG] = "WBELL_LOG",	   /* error, warn, info, debug */
	[ENV_LOG_FILE] = "WBELL_LOG_FILE", /* %h host, %p process */
};

/* secure_getenv(): a path from the environment must not steer setuid code. */
static const char *get(unsigned which)
{
	const char *value = secure_getenv(names[which]);

	return value && *value ? value : NULL;
}

const char *env_provider(void)
{
	return get(ENV_PROVIDER);
}

const char *env_engine(void)
{
	return get(ENV_ENGINE);
}

const char *env_log(void)
{
	return get(ENV_LOG);
}

const char *env_log_file(void)
{
	return get(ENV_LOG_FILE);
}

/* Equal but for one letter changed, added, left out, or two swapped? */
static bool near_by(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (!*a && !*b)
		return false;
	if (*a && *b && a[1] == b[0] && a[0] == b[1] && !strcmp(a + 2, b + 2))
		return true;
	return (*a && *b && !strcmp(a + 1, b + 1)) ||
	       (*a && !strcmp(a + 1, b)) || (*b && !strcmp(a, b + 1));
}

static const char *meant_by(const char *name)
{
	unsigned i;

	for (i = 0; i < ENV_COUNT; i++)
		if (!strcmp(name, names[i]))
			return NULL;
	for (i = 0; i < ENV_COUNT; i++)
		if (near_by(name, names[i]))
			return names[i];
	return NULL;
}

void env_mistyped(void (*fn)(void *arg, const char *name, const char *meant),
		  void *arg)
{
	char name[64];
	const char *meant;
	size_t len;
	char **p;

	for (p = environ; p && *p; p++) {
		len = strcspn(*p, "=");
		if (strncmp(*p, "WBELL_", 6) || len >= sizeof(name))
			continue;
		memcpy(name, *p, len);
		name[len] = '\0';
		meant = meant_by(name);
		if (meant)
			fn(arg, name, meant);
	}
}
