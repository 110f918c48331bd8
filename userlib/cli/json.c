// SPDX-License-Identifier: BSD-2-Clause
/* JSON on one line.  Addresses and keys are strings: a double loses bits. */
#include <inttypes.h>

#include "cli.h"

static void put_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		/* Bytes past ASCII may be no UTF-8: they come from others. */
		if ((unsigned char)*s < ' ' || (unsigned char)*s > '~')
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

static void put_key(struct json *j, const char *key)
{
	if (j->comma)
		fputs(", ", j->f);
	j->comma = true;
	if (!key)
		return;
	put_string(j->f, key);
	fputs(": ", j->f);
}

void json_open(struct json *j, const char *key, char bracket)
{
	put_key(j, key);
	fputc(bracket, j->f);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	fputc(bracket, j->f);
	j->comma = true;
}

void json_string(struct json *j, const char *key, const char *value)
{
	put_key(j, key);
	put_string(j->f, value);
}

void json_number(struct json *j, const char *key, uint64_t value)
{
	put_key(j, key);
	fprintf(j->f, "%" PRIu64, value);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	put_key(j, key);
	fprintf(j->f, "\"0x%" PRIx64 "\"", value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	put_key(j, key);
	fputs(value ? "true" : "false", j->f);
}
