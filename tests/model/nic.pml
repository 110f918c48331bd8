/* SPDX-License-Identifier: BSD-2-Clause */
/* The NIC of queue.pml, which includes this: fetches, completes, fails. */

#if KIND == PROXY
/* A host thread: the word it reads becomes record and register. */
active proctype proxy()
{
	byte told = FIRST;

end:	do
	:: word != told ->
		assert(word > told);
		told = word;
		ring_uar(told)
	od
}
#endif

active proctype nic()
{
	byte producer = FIRST;
	byte size[DEPTH]; /* of what was fetched */
	bool wants[DEPTH];
	byte pi;	  /* CQEs written */
	bool broken;
	byte i;

end:	do
#if KIND == WORD
	:: word != producer ->
		d_step {
			assert(word > producer);
			producer = word
		}
#else
	:: rung ->
		d_step {
			assert(dbrec >= producer);
			rung = false;
			producer = dbrec
		}
#endif
	:: fetched < producer ->
		d_step {
			assert(producer - fetched <= DEPTH);
			i = SLOT(fetched);
			assert(ctrl[i] == fetched);
			assert(body[i] != 0);
			size[i] = blocks[i];
			wants[i] = update[i];
			/* both blocks are of one poster */
			assert(body[SLOT(fetched + size[i] - 1)] == body[i]);
			if
			:: wants[i] ->
				assert(delivered[body[i]] == 0);
				delivered[body[i]]++
			:: else
			fi;
			body[i] = 0;
			body[SLOT(fetched + size[i] - 1)] = 0;
			fetched = fetched + size[i];
			i = 0
		}
	:: completed < fetched ->
		if
		:: !broken
#ifdef ERROR
		:: !broken ->
			d_step {
				broken = true;
				first_bad = completed;
				fate[completed] = FAILED
			}
#endif
		:: broken -> fate[completed] = FLUSHED
		fi;
		if
		:: broken || wants[SLOT(completed)] ->
			/* last of all the four bytes that tell */
			i = completed;
			d_step {
				cqe_body[pi % CQ] = i;
				completed = completed + size[SLOT(i)]
			}
			d_step {
				cqe_counter[pi % CQ] = i % WIRE;
				cqe_kind[pi % CQ] = (broken -> BAD : GOOD);
				cqe_owner[pi % CQ] = (pi / CQ) % 2;
				pi++;
				i = 0
			}
		:: else ->
			completed = completed + size[SLOT(completed)]
		fi
#ifdef ABORT
	:: silent = true; break
#endif
	od
}
