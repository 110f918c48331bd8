// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the process has mapped.  A software NIC copies to and from registered
 * memory on its own thread: a range that is not there must be refused at
 * registration, or it kills the process at the first transfer.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

struct mapping {
	uintptr_t start, end;
	bool read, write;
};

/* Lines run past any buffer (paths): only their beginning is parsed. */
static bool next_mapping(FILE *f, struct mapping *m)
{
	unsigned long start, end;
	char line[128], perms[5];
	bool whole, more;

	while (fgets(line, sizeof(line), f)) {
		whole = strchr(line, '\n');
		more = sscanf(line, "%lx-%lx %4s", &start, &end, perms) == 3;
		while (!whole && fgets(line, sizeof(line), f))
			whole = strchr(line, '\n');
		if (!more)
			continue;
		*m = (struct mapping){ .start = start,
				       .end = end,
				       .read = perms[0] == 'r',
				       .write = perms[1] == 'w' };
		return true;
	}
	return false;
}

static const char *why_not(const struct mapping *m, uintptr_t at, bool write)
{
	if (m->start > at)
		return "not mapped";
	if (!m->read)
		return "not readable";
	return write && !m->write ? "not writable" : NULL;
}

static int walk(FILE *f, uintptr_t at, uintptr_t last, struct maps_hole *hole,
		bool write)
{
	struct mapping m;

	while (next_mapping(f, &m)) {
		if (m.end <= at)
			continue;
		hole->addr = at;
		hole->why = why_not(&m, at, write);
		if (hole->why)
			return -EFAULT;
		if (m.end > last)
			return 0;
		at = m.end;
	}
	hole->addr = at;
	hole->why = "not mapped";
	return -EFAULT;
}

int maps_check(uintptr_t addr, size_t len, bool write, struct maps_hole *hole)
{
	FILE *f = fopen("/proc/self/maps", "re");
	int rc;

	if (!f)
		return -errno;
	rc = walk(f, addr, addr + len - 1, hole, write);
	fclose(f);
	return rc;
}
