// SPDX-License-Identifier: BSD-2-Clause
/*
 * So many 8 B WRITEs through two software NICs, for an instruction counter:
 *	count MESSAGES
 * What lies inside nicpair_half() is the NICs' work.
 */
#include <stdio.h>
#include <stdlib.h>

#include "nicpair.h"

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 32000;
	uint64_t posted = 0, done = 0;
	struct nicpair p;

	nicpair_open(&p, 1);
	for (unsigned idle = 0; done < n && idle < 100000; idle++) {
		while (posted < n && posted - done < NICPAIR_BURST) {
			nicpair_post(&p, 0);
			posted++;
		}
		nicpair_turn(&p);
		done += nicpair_reap(&p, 0);
		if (done == posted)
			idle = 0;
	}
	nicpair_close(&p);
	if (done == n)
		return 0;
	fprintf(stderr, "count: %llu of %llu WRITEs are not done\n",
		(unsigned long long)(n - done), (unsigned long long)n);
	return 1;
}
