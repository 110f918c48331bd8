/* SPDX-License-Identifier: BSD-2-Clause */
/* The host of queue.pml, which includes this, and a judge of the end. */

#ifdef ABORT
active proctype host()
{
	aborted = true
}
#endif

/* When all is over, all that was posted went out, once. */
active proctype judge()
{
	byte k;

	finished == POSTERS;
	if
	:: given_up || silent
	:: !given_up && first_bad ->
		/* what is published completes, by a flush if need be */
		completed == ready
	:: else ->
		completed == reserved;
		assert(ready == reserved && fetched == reserved);
		k = 1;
		do
		:: k > POSTERS * PUTS -> break
		:: else -> assert(delivered[k] == 1); k++
		od;
#ifndef NO_WAIT
		assert(done == reserved);
#endif
#ifdef CQ_RECORD
		assert(cq_record == ci);
#endif
		skip
	fi
}
