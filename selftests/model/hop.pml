/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hop recovery: a sender, a receiver, and a network that loses, repeats and
 * reorders. What was sent stays in the network and may come at any time, again,
 * or never. One hop, one direction, one epoch; seqs count from the group of
 * una, so their number has no bound. Steps are named as in kmod/hop.c, what they
 * change as in struct ina_hop; pending is the queue, unused what size leaves out.
 *
 * Proven, by exhaustion, for SLOTS slots:
 *  received	what the sender takes for answered OK was received.
 *  logged	the log still has the slot of every seq that is asked for.
 *  remembered	the receiver forgets no group that may still be asked for.
 *  delivers	from every state all slots can still be delivered and answered,
 *		even if all that is in flight is lost: see calm_down().
 * Left out: that seqs wrap, and time.
 */
#ifndef SLOTS
#define SLOTS	5
#endif
#define GROUP	2
#define CREDIT	2
#define RING	(GROUP * CREDIT)	/* entries of the log */
#define ROOM	(2 * RING)		/* more than RING only without credit */
#define TICKS	12

#define HAS(mask, i)	(((mask) >> (i)) & 1)
#define NONE		15
#define ALL		((1 << GROUP) - 1)	/* of a group */

/* All of a group that is used. */
#define IS_WHOLE(h)	(((got | unused) >> ((h) * GROUP) & ALL) == ALL)

/* Rules that a variant leaves out. */
#ifdef EARLIER_HEARD	/* that something of it came is not enough */
#define EARLIER		(g && top > g * GROUP)
#else
#define EARLIER		(g && IS_WHOLE(g - 1))
#endif
#ifdef NO_CREDIT
#define MAY_SEND	(pending && next < ROOM)
#else
#define MAY_SEND	(pending && next < RING)
#endif
#ifdef DONE_IDLE	/* not when it has something to send, but no credit */
#define WAITS		(unanswered && !pending)
#else
#define WAITS		(unanswered != 0)
#endif

/* sender: slots; seqs, those without an answer; groups answered before una */
byte ready, pending, next, end, unanswered, answered;
/* receiver: slots; seqs, those that a DONE left out; groups; behind the highest seq heard of */
byte slots, got, unused, checked;
short top;
/*
 * network: slots by seq and slots of seqs below una; by group the answers, each what is
 * missing and whether all of the group before came; DONEs
 */
byte log[ROOM], old, answers[ROOM / GROUP];
short done;
bit calm;

hidden byte i, j, k, g, s, b, tick;
hidden byte received, logged, remembered, delivers;

inline ina_hop_stamp()
{
	s = 0;
	do
	:: !HAS(pending, s) -> s++
	:: else -> break
	od;
	printf("send seq %d slot %d\n", next, s);
	pending = pending & ~(1 << s);
	log[next] = s;
	unanswered = unanswered | 1 << next;
	next++;
	end = next
}

/* That is all; the rest of the group is not used. Here ina_hop_done() is a part of it. */
inline ina_hop_ask()
{
	printf("send DONE %d\n", end);
	done = done | 1 << end;
#ifndef SAME_GROUP
	next = (next + GROUP - 1) / GROUP * GROUP
#endif
}

/* A later group is answered: ask for those before it, at once. */
inline ina_hop_hurry()
{
	if
	:: g && (unanswered & (1 << g * GROUP) - 1) -> done = done | 1 << g * GROUP
	:: else
	fi
}

/* The first group is answered: count from the next one. */
inline ina_hop_settle()
{
	for (k : 0 .. GROUP - 1) {
		old = old | (log[k] == NONE -> 0 : 1 << log[k])
	}
	for (k : 0 .. ROOM - 1) {
		log[k] = (k + GROUP < ROOM -> log[(k + GROUP) % ROOM] : NONE)
	}
	for (k : 0 .. ROOM / GROUP - 1) {
		answers[k] = (k + 1 < ROOM / GROUP -> answers[(k + 1) % (ROOM / GROUP)] : 0)
	}
	next = (next < GROUP -> 0 : next - GROUP);
	end = (end < GROUP -> 0 : end - GROUP);
	unanswered = unanswered >> GROUP;
	answered = answered >> 1;
	got = got >> GROUP;
	unused = unused >> GROUP;
	checked = checked >> 1;
	top = top - GROUP;
	done = done >> GROUP & ~1
}

/*
 * RESULTs or ACKs say that all was received: no answer is needed any more. The
 * receiver may know less of the seqs than una says.
 */
inline ina_hop_moot()
{
	s = 0;
	for (k : 0 .. ROOM - 1) {
		s = s | (HAS(unanswered, k) && !HAS(slots, log[k]))
	}
	if
	:: !s && top - next > -ROOM ->
		printf("all received\n");
		for (k : 0 .. ROOM - 1) {
			old = old | (log[k] == NONE -> 0 : 1 << log[k]);
			log[k] = NONE
		}
		unanswered = 0;
		do
		:: next >= GROUP -> ina_hop_settle()
		:: else -> break
		od
	:: else
	fi
}

/* All of group h came, says an answer: its own, or ina_hop_earlier() of a later one. */
inline complete(h)
{
	for (k : 0 .. GROUP - 1) {
		received = !HAS(unanswered, h * GROUP + k) || HAS(slots, log[h * GROUP + k]);
		assert(received)
	}
	unanswered = unanswered & ~(ALL << h * GROUP);
	answered = answered | 1 << (h)
}

/*
 * GROUP_OK or, if bits are missing, GROUP_NACK of group g; earlier: all of the group before
 * it came. One that came before is not believed.
 */
inline ina_hop_answered(missing, earlier)
{
	printf("answer group %d missing %d earlier %d\n", g, missing, earlier);
	if
	:: !HAS(answered, g) ->
		for (k : 0 .. GROUP - 1) {
			s = g * GROUP + k;
			if
			:: HAS(unanswered, s) && HAS(missing, k) ->
				logged = s + RING >= next;
				assert(logged);
				pending = pending | 1 << log[s];
				unanswered = unanswered & ~(1 << s)
			:: else
			fi
		}
		complete(g);
		if
		:: earlier && g -> complete(g - 1)
		:: else
		fi;
		ina_hop_hurry()
	:: else
	fi;
	do
	:: HAS(answered, 0) -> ina_hop_settle()
	:: else -> break
	od
}

/* Answer group g, of which seqs up to there were sent. */
inline ina_hop_answer(upto)
{
	b = 0;
	for (k : 0 .. GROUP - 1) {
		b = b | (g * GROUP + k < upto && !HAS(got | unused, g * GROUP + k)) << k
	}
	checked = checked | 1 << g;
	answers[g] = answers[g] | 1 << (b | EARLIER << GROUP)
}

/*
 * All up to there was sent. More than it can remember is not believed, though
 * what the sender needs no answer for may lie between.
 */
inline ina_hop_raise(upto)
{
	top = (upto > top && upto - top <= RING -> upto : top);
	remembered = top <= RING;
	assert(remembered)
}

inline ina_hop_received(seq)
{
	printf("receive seq %d slot %d\n", seq, log[seq]);
	slots = slots | 1 << log[seq];
	ina_hop_raise((seq) + 1);
	g = (seq) / GROUP;
	got = got | (seq < top) << (seq);
	if
	:: !HAS(checked, g) && IS_WHOLE(g) -> ina_hop_answer(ROOM)
	:: else
	fi
}

/* "No answer is needed below una, and that is all." */
inline ina_hop_asked(upto)
{
	printf("receive DONE %d\n", upto);
#ifndef NO_UNA
	top = (top < 0 -> 0 : top);
#endif
	ina_hop_raise(upto);
	unused = unused | (upto <= top -> ALL << (upto - 1) / GROUP * GROUP & ~((1 << upto) - 1) : 0);
	for (g : 0 .. (upto - 1) / GROUP) {
		if
		:: upto <= top -> ina_hop_answer(upto)
		:: else
		fi
	}
}

/* Later: a packet of a later group has come, what of this one is missing? */
inline ina_hop_check()
{
	if
	:: top > (g + 1) * GROUP && !HAS(checked, g) -> ina_hop_answer(ROOM)
	:: else
	fi
}

inline lose_answers()
{
	for (i : 0 .. ROOM / GROUP - 1) {
		answers[i] = 0
	}
}

/* Deliver the answers in flight, the last group first. */
inline deliver()
{
	for (j : 1 .. ROOM / GROUP) {
		g = ROOM / GROUP - j;
		for (b : 0 .. 2 * ALL + 1) {
			if
			:: HAS(answers[g], 2 * ALL + 1 - b) ->
				ina_hop_answered(2 * ALL + 1 - b & ALL, 2 * ALL + 1 - b >> GROUP);
				break
			:: else
			fi
		}
	}
	lose_answers()
}

/*
 * All that is in flight is lost. From here on nothing is, and both do what the
 * protocol says, and no more.
 */
inline calm_down()
{
	printf("calm\n");
	calm = 1;
	pending = pending | ((1 << SLOTS) - 1) & ~((1 << ready) - 1);
	lose_answers();
	for (tick : 1 .. TICKS) {
		do
		:: MAY_SEND -> ina_hop_stamp(); ina_hop_received(next - 1)
		:: else -> break
		od;
		for (g : 0 .. ROOM / GROUP - 1) {
			ina_hop_check()
		}
		deliver();
		if
		:: WAITS -> ina_hop_ask(); ina_hop_asked(end)
		:: else
		fi;
		deliver()
	}
	delivers = slots == (1 << SLOTS) - 1 && !pending && !unanswered;
	assert(delivers)
}

init {
	byte n;

	d_step {
		for (i : 0 .. ROOM - 1) {
			log[i] = NONE
		}
		i = 0
	}
endless:
	do
	:: d_step { ready < SLOTS -> pending = pending | 1 << ready; ready++ }
	:: d_step { MAY_SEND -> ina_hop_stamp() }
	:: d_step { WAITS -> ina_hop_ask() }
	:: d_step { unanswered -> ina_hop_moot(); k = 0 }
	:: atomic { select(n : 0 .. ROOM - 1); d_step {
		if
		:: log[n] != NONE -> ina_hop_received(n)
		:: else
		fi;
		n = 0 } }
	:: atomic { select(n : 0 .. SLOTS - 1); d_step { slots = slots | old & 1 << n; n = 0 } }
	:: atomic { select(n : 1 .. ROOM); d_step {
		if
		:: HAS(done, n) -> ina_hop_asked(n)
		:: else
		fi;
		n = 0 } }
	:: atomic { select(n : 0 .. ROOM / GROUP - 1); d_step { g = n; ina_hop_check(); n = 0 } }
	:: atomic { select(n : 0 .. (ROOM / GROUP << GROUP + 1) - 1); d_step {
		g = n >> GROUP + 1;
		n = n & 2 * ALL + 1;
		if
		:: HAS(answers[g], n) -> ina_hop_answered(n & ALL, n >> GROUP)
		:: else
		fi;
		n = 0 } }
#ifndef NO_CALM
	:: d_step { !calm -> calm_down() } -> break
#endif
	od
}
