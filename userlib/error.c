// SPDX-License-Identifier: BSD-2-Clause
/* Texts of failures: of a context, and of a thread where there is none. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static __thread struct error_text thread_error;

struct error_text *error_thread(void)
{
	return &thread_error;
}

int error_set(struct error_text *e, int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return rc;
}

int error_no_object(const char *call, const char *object)
{
	return error_set(&thread_error, -EINVAL,
			 "%s: the %s is NULL: give one that was created", call,
			 object);
}

const char *error_name(int rc)
{
	const char *name = strerrorname_np(abs(rc));

	return name ? name : "unknown error";
}

const char *wbell_error(const struct wbell_ctx *ctx)
{
	return ctx ? ctx->error.text : thread_error.text;
}
