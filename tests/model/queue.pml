/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol of a send queue, as include/wbell/device_queue.h and
 * device_slot.h run it, with a NIC at the other end: reserve, write, publish
 * in turn, ring, fetch, complete, poll and consume; errors and flush; the
 * abort word.
 *
 * One step of the model is one access to shared memory, so all that can be
 * seen between two accesses is searched.  Memory is sequentially consistent:
 * which accesses must be ordered is what this shows (a mutant swaps them);
 * that release and acquire do order them is shown elsewhere, by
 * ThreadSanitizer and by the PTX rules.
 *
 * A spinning wait is a guard here: it sleeps until what it looks at has
 * changed.  A wait that nothing ends is then a state without successor, which
 * the search reports as "invalid end state".
 *
 * Build with
 *	POSTERS PUTS DEPTH	threads, work requests of each, blocks of ring
 *	KIND			WORD, PROXY or UAR
 *	EXCLUSIVE		WBELL_DQ_EXCLUSIVE; takes POSTERS 1
 *	SHAPE			ONE, PAIR (unsignalled WQE then a signalled
 *				one, as put_signal), WIDE (WQE of two blocks),
 *				MIXED (by poster)
 *	CQ_RECORD		the CQ has a doorbell record
 *	MORE			posts do not ring, a flush at the end does
 *	QUIET			posters end by quiet, not by a wait for each
 *	NO_WAIT			posters end when all is posted
 *	ERROR			the NIC may fail any WQE, and flushes the rest
 *	ABORT			the NIC may fall silent; the abort word is set
 *	DEADLINE		any wait may end at any time
 *	M_*			a mutant: each says where it is what it breaks
 */
#define WORD  0
#define PROXY 1
#define UAR   2

#define ONE   1
#define PAIR  2
#define WIDE  3
#define MIXED 4

#ifndef KIND
#define KIND WORD
#endif
#ifndef SHAPE
#define SHAPE ONE
#endif
#ifndef DEPTH
#define DEPTH 2
#endif
#ifndef POSTERS
#define POSTERS 2
#endif
#ifndef PUTS
#define PUTS 2
#endif

#define CQ    DEPTH	  /* CQEs: the least that is allowed */
#define WIRE  (2 * DEPTH) /* indices on the wire: 2^16 for a ring of 2^15 */
#define FIRST (WIRE - 1)  /* so that they wrap */
#define INDEX (FIRST + 2 * POSTERS * PUTS)

#if SHAPE == MIXED
#define SHAPE_OF(p) ((p) == 0 -> ONE : ((p) == 1 -> WIDE : PAIR))
#else
#define SHAPE_OF(p) SHAPE
#endif
#define SLOT(i) ((i) % DEPTH)

/* what a CQE says */
#define NOTHING 0
#define GOOD	1
#define BAD	2

/* the error record */
#define NONE	0
#define WRITING 1
#define WHOLE	2

/* a plain queue: no CQ doorbell record, no WQE of two blocks so far */
#define UNKNOWN	  0
#define PLAIN	  1
#define NOT_PLAIN 2
#ifdef CQ_RECORD
#define PLAIN_SO_FAR NOT_PLAIN
#else
#define PLAIN_SO_FAR PLAIN
#endif

/* how a call ends */
#define OK	 0
#define GIVEN_UP 1 /* by abort or deadline */
#define FAILED	 2 /* the WQE of the record */
#define FLUSHED	 3

/* ---- what threads and NIC share ---- */

byte reserved = FIRST;
byte ready = FIRST;
byte done = FIRST, ci; /* the one word cq_state */
bool failed;
byte record;
byte record_index;
byte plain; /* may a CQE alone tell what it frees? */
bool aborted;

byte word = FIRST;   /* doorbell of WORD and PROXY */
byte dbrec = FIRST;  /* doorbell record */
byte uar = FIRST;    /* doorbell register: what was last stored... */
bool rung;	     /* ...and that the NIC has not looked yet */
byte cq_record;

byte ctrl[DEPTH];   /* index in the control segment */
byte body[DEPTH];   /* the rest: who posted it */
byte blocks[DEPTH]; /* ds of the control segment */
bool update[DEPTH]; /* WBELL_CTRL_CQ_UPDATE */

byte cqe_body[CQ]; /* of an error: the WQE */
byte cqe_counter[CQ], cqe_kind[CQ];
bit cqe_owner[CQ];

/* ---- ghosts: the truth, for assertions only ---- */

byte fetched = FIRST;
byte completed = FIRST;
byte fate[INDEX]; /* OK (not yet, or good), FAILED, FLUSHED */
byte first_bad;
byte records;	     /* how often the record was written */
bool given_up;	     /* some wait ended early: the queue is lost */
bool silent;	     /* the NIC does no more */
byte finished;	     /* posters */
byte delivered[POSTERS * PUTS + 1];

#ifdef M_NO_ABORT
#define ABORTED false /* mutant: waits do not look at the abort word */
#else
#define ABORTED aborted
#endif

#ifdef DEADLINE
#define TOO_LATE true
#else
#define TOO_LATE false
#endif

/* Sleep until cond; end says why a wait ended otherwise. */
#define PAUSE(cond, rc)                                      \
	if                                                   \
	:: cond                                              \
	:: ABORTED || TOO_LATE -> rc = GIVEN_UP; given_up = true \
	fi

/* ---- the completion queue ---- */

#ifdef M_OWNER
#define OWNED(s_ci) true /* mutant: the owner bit is not judged */
#else
#define OWNED(s_ci) (cqe_owner[(s_ci) % CQ] == ((s_ci) / CQ) % 2)
#endif
#define CQE_THERE(s_ci) (cqe_kind[(s_ci) % CQ] != NOTHING && OWNED(s_ci))

/* What is of no more use must not tell two states apart. */
#define FORGET                                          \
	at = 0; counter = 0; told = 0; status = 0;      \
	there = false; bad = false; moved = false; won = false

/* All loads and stores of cq_state are of one word. */
inline load_state()
{
	d_step {
		s_done = done;
		s_ci = ci;
		FORGET
	}
}

inline forget()
{
	d_step {
		s_done = 0;
		s_ci = 0;
		over = false;
		FORGET
	}
}

inline load_tail()
{
	d_step {
		there = CQE_THERE(s_ci);
		bad = cqe_kind[s_ci % CQ] == BAD;
		counter = cqe_counter[s_ci % CQ]
	}
}

/* A store to cq_state: what it claims must be true, and new. */
inline state_to(n)
{
	assert(n > done);
	assert(n <= completed);
	done = n;
	ci = s_ci + 1
}

/* wbell_cq_move() to at */
inline cq_move()
{
	atomic {
#ifdef M_NO_CAS
		/* mutant: a plain store where others may have moved it */
		won = true;
		assert(at >= done);
		done = at;
		ci = s_ci + 1;
		assert(done <= completed)
#else
		won = done == s_done && ci == s_ci;
		if
		:: won -> state_to(at)
		:: else
		fi
#endif
	}
}

/* Where the CQE's WQE is, as wbell_cq_ahead() finds it. */
#define WQE_OF_CQE (s_done + (counter + WIRE - s_done % WIRE) % WIRE)

inline cq_pass()
{
	at = WQE_OF_CQE;
	at = at + blocks[SLOT(at)];
	cq_move()
}

/* wbell_cq_ring(): whoever stores last looks last. */
inline cq_ring()
{
#ifdef CQ_RECORD
	told = ci;
	do
	:: true ->
		cq_record = told;
#ifdef M_CQ_ONCE
		break /* mutant: no second look */
#else
		if
		:: ci == told -> break
		:: else -> told = ci
		fi
#endif
	od
#else
	skip
#endif
}

/* wbell_error_keep() */
inline error_keep()
{
	if
	:: done == s_done && ci == s_ci ->
#ifndef M_FAILED_LATE
		failed = true;
#endif
#ifdef M_RECORD_TWICE
		/* mutant: look, then store, where a compare-and-swap was */
		won = record == NONE;
		if
		:: won -> record = WRITING
		:: else
		fi;
#else
		atomic {
			won = record == NONE;
			if
			:: won -> record = WRITING
			:: else
			fi
		}
#endif
		if
		:: won ->
			/* the decode, from a CQE that must still be there */
			at = cqe_body[s_ci % CQ];
			d_step {
				record_index = at;
				records++;
				assert(records == 1);
				assert(record_index == first_bad)
			}
			record = WHOLE
		:: else
		fi
	:: else
	fi
}

/* wbell_cq_step(): moved tells whether to look again at once. */
inline cq_step()
{
	load_tail();
	moved = there;
	if
	:: !there
	:: there && bad ->
		error_keep();
		load_tail();
		cq_pass();
#ifdef M_FAILED_LATE
		failed = true; /* mutant: cq_state has moved before */
#endif
		if
		:: won -> cq_ring()
		:: else
		fi
	:: there && !bad ->
		cq_pass();
		if
		:: won -> cq_ring()
		:: else
		fi
	fi
}

/* wbell_cq_step_plain() */
inline cq_step_plain()
{
	load_tail();
	moved = plain == PLAIN && there && !bad;
	if
	:: moved ->
		at = WQE_OF_CQE + 1;
		cq_move()
	:: else
	fi
}

/* ---- the doorbell word ---- */

inline ring_word(end)
{
	atomic {
		assert(end <= ready);
#if defined(EXCLUSIVE) || defined(M_NO_MAX)
		/* mutant: a plain store where others ring too */
		assert(end >= word);
		word = end
#else
		word = (end > word -> end : word)
#endif
	}
}

/* wbell_flush() */
inline flush()
{
#ifdef MORE
	index = ready;
	ring_word(index)
#else
	skip
#endif
}

/* ---- reserve ---- */

#ifdef M_FREE_EARLY
#define ROOM (DEPTH + 1) /* mutant: a slot is free before its WQE is done */
#else
#define ROOM DEPTH
#endif

inline claim()
{
#ifdef EXCLUSIVE
	reserved = index + n;
	won = true
#else
	atomic {
		won = reserved == index;
		if
		:: won -> reserved = index + n
		:: else
		fi
	}
#endif
}

/*
 * wbell_take(), again and again while it says WBELL_EAGAIN.  Who posts with
 * WBELL_MORE must ring before such a wait, for nobody else might.
 */
inline take()
{
	won = false;
	do
	:: won || rc != OK -> break
	:: else ->
		load_state();
		index = reserved;
		assert(index >= s_done);
		if
		:: failed ->
			if
			:: record == WHOLE -> rc = FAILED
			:: else -> PAUSE(record == WHOLE, rc)
			fi
		:: !failed && index + n - s_done > ROOM ->
			cq_step();
			won = false;
			if
			:: moved
			:: else ->
				flush();
				PAUSE(ci != s_ci || CQE_THERE(s_ci) || failed,
				      rc)
			fi
		:: !failed && index + n - s_done <= ROOM -> claim()
		fi
	od;
	forget()
}

/* ---- write ---- */

/* Block i of the ring is written: nobody else may have it. */
inline write_block(i)
{
	assert(i < FIRST + DEPTH || completed > i - DEPTH);
	body[SLOT(i)] = id
}

inline write_ctrl(i, size, signalled)
{
	d_step {
		assert(i < FIRST + DEPTH || completed > i - DEPTH);
		ctrl[SLOT(i)] = i;
		blocks[SLOT(i)] = size;
		update[SLOT(i)] = signalled
	}
}

inline write()
{
	write_block(index);
	if
	:: SHAPE_OF(me) == ONE -> write_ctrl(index, 1, true)
	:: SHAPE_OF(me) == PAIR ->
		write_ctrl(index, 1, false);
		write_block(index + 1);
		write_ctrl(index + 1, 1, true)
	:: SHAPE_OF(me) == WIDE ->
#ifndef M_STAYS_PLAIN
		plain = NOT_PLAIN; /* mutant: nobody says so */
#endif
		write_block(index + 1);
		write_ctrl(index, 2, true)
	fi
}

/* ---- publish ---- */

/* Slots [.., end) were written, or the NIC may read what is not. */
inline ring_uar(end)
{
#ifdef M_BELL_FIRST
	/* mutant: register, then record */
	d_step {
		assert(end > uar);
		uar = end;
		rung = true
	}
	dbrec = end
#else
	d_step {
		assert(end > dbrec);
		dbrec = end
	}
	d_step {
		assert(end > uar);
		uar = end;
		rung = true
	}
#endif
}

inline await_turn()
{
#if !defined(EXCLUSIVE) && !defined(M_NO_TURN)
	if
	:: ready == index
	:: ready != index && failed && record == WHOLE -> rc = FAILED
	:: ABORTED || TOO_LATE -> rc = GIVEN_UP; given_up = true
	fi
#else
	skip
#endif
}

inline submit(end)
{
	await_turn();
	if
	:: rc != OK
	:: else ->
#if KIND == UAR && defined(M_BELL_LATE)
		/* mutant: the turn ends before the doorbell is rung */
		ready = end;
		ring_uar(end)
#elif KIND == UAR
		ring_uar(end);
		ready = end
#else
		ready = end;
#ifndef MORE
		ring_word(end)
#endif
#endif
	fi
}

/* ---- wait ---- */

/* wbell_verdict() of a ticket that is done; over when it has one. */
inline verdict(ticket)
{
	if
	:: !failed -> over = true
	:: failed && record != WHOLE
	:: failed && record == WHOLE ->
		over = true;
		if
		:: ticket < record_index
		:: ticket == record_index -> rc = FAILED
		:: ticket > record_index -> rc = FLUSHED
		fi
	fi
}

/* wbell_wait_else() */
inline wait_else(ticket)
{
	atomic { /* a compare-and-swap */
		if
		:: plain == UNKNOWN -> plain = PLAIN_SO_FAR
		:: else
		fi
	}
	load_state();
	if
	:: s_done > ticket ->
		verdict(ticket);
		if
		:: over
		:: else -> PAUSE(record == WHOLE, rc)
		fi
	:: else ->
		cq_step();
		if
		:: moved
		:: else -> PAUSE(ci != s_ci || CQE_THERE(s_ci), rc)
		fi
	fi
}

/* wbell_wait() */
inline wait(ticket)
{
	over = false;
	do
	:: over || rc != OK -> break
	:: else ->
		load_state();
		if
		:: s_done > ticket && !failed -> over = true
		:: s_done <= ticket || failed ->
			cq_step_plain();
			if
			:: moved
			:: else -> wait_else(ticket)
			fi
		fi
	od;
	forget();
	/* the verdict is the truth */
	assert(rc == GIVEN_UP || (completed > ticket && rc == fate[ticket]));
	rc = (rc == GIVEN_UP -> rc : OK)
}

#define STATUS (failed -> (record == WHOLE -> 2 : 1) : 0)

/* wbell_quiet(); at the end status tells. */
inline quiet()
{
	index = reserved;
	do
	:: rc != OK -> break
	:: else ->
		load_state();
		status = STATUS;
		if
		:: status == 2 -> index = ready
		:: else
		fi;
		if
		:: status != 1 && s_done >= index -> break
		:: else ->
			cq_step();
			if
			:: moved
			:: else ->
				PAUSE(ci != s_ci || CQE_THERE(s_ci) ||
				      STATUS != status, rc)
			fi
		fi
	od;
	/* 0 speaks for all that was reserved before; an error for itself */
	assert(rc != OK || completed >= index);
	assert(rc != OK || status != 0 || first_bad == 0 || first_bad >= index)
}

proctype poster(byte me)
{
	byte s_done, s_ci;	    /* cq_state as it was read */
	byte index, at, counter, told;
	bool there, bad, moved, won, over;
	byte rc, status, k, id;
	byte n = (SHAPE_OF(me) == ONE -> 1 : 2);
	byte ticket[PUTS];

	do
	:: k == PUTS || rc != OK -> break
	:: else ->
		take();
		if
		:: rc != OK
		:: else ->
			id = 1 + me * PUTS + k;
			ticket[k] = index + (SHAPE_OF(me) == PAIR -> 1 : 0);
#ifdef M_READY_FIRST
			/* mutant: published, and then written */
			submit(index + n);
			write();
#else
			write();
			submit(index + n);
#endif
			k = (rc == OK -> k + 1 : k)
		fi
	od;
	rc = (rc == GIVEN_UP -> rc : OK);
	flush();
#if defined(QUIET)
	quiet();
#elif !defined(NO_WAIT)
	n = 0;
	do
	:: n == k || rc != OK -> break
	:: else ->
		/* a WQE without a CQE has a ticket all the same */
		if
		:: SHAPE_OF(me) == PAIR -> wait(ticket[n] - 1)
		:: else
		fi;
		if
		:: rc == OK -> wait(ticket[n])
		:: else
		fi;
		n++
	od;
#endif
	finished++
}

#include "nic.pml"
#include "judge.pml"

init {
	byte p;

	atomic {
		do
		:: p == POSTERS -> break
		:: else -> run poster(p); p++
		od
	}
}
