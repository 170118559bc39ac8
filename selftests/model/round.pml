/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Epochs and rounds: every sum counts every member once, whatever the network,
 * a child that changes its parent, or an aggregator that restarts does.
 *
 *	ROOT			hops: 2  AGG - ROOT
 *	 |  \			      0  STAY - AGG
 *	AGG  (MOVER later)	      1  MOVER - AGG
 *	 |  \			      3  MOVER - ROOT
 *	STAY MOVER		STAY and MOVER are leaves with one worker each
 *
 * One step is what a node does under its lock: a packet, or a command of the
 * operator. The network is the set of all packets ever sent: any of them may
 * come at any time, again, or never. Whoever may repeat has repeated, as in
 * such a set an early packet adds behaviour and takes none away. Packets that
 * can have no effect any more are taken out, which only saves states.
 *
 * Proven, by exhaustion, within the bounds of a variant (see model.sh):
 *  conserved	a sum the root publishes, or a worker is given, counts every
 *		member of its epoch once, and that worker. Sums are counters of
 *		two bits per worker, so a second count shows. Tokens are added
 *		with the elements, under one lock: a sum is its own token.
 *		Without -DCHECK nobody looks at it; epochs alone must do.
 *  same	all workers, and all fragments, complete a round with the same
 *		sum of the same epoch; no round a worker completed is summed
 *		again.
 *  finishes	from every state all rounds can still end at all workers, even
 *		if all that is in flight is lost: see calm_down().
 *  unfailed	(-DNO_FAILURE) no round fails but by its deadline.
 * Not proven: that rounds end whatever the network goes on to do; anything
 * about time; other trees. A restart and a change of parent together are
 * searched with two rounds, which are the whole window, with a depth of one, or with
 * one round of two fragments.
 *
 * Left out. Hop recovery, see hop.pml: what is not answered is repeated.
 * Fragments of a round meet only where it becomes complete or final, so one
 * will do but for `same`, which has variants with two. Workers submit at once:
 * before, a leaf with one worker has nothing to send. A new era clears the
 * slots: no check of a tag tells that from a stale one. EPOCH has no seq: what
 * a parent says is ordered by (epoch, closed, base). A JOIN that is heard is
 * welcomed at once: a child that is not only repeats more; but CHILD_LOST is a
 * packet. FAIL is a RESULT without sum. That a sum is counted after it is
 * complete, and published after that. A restart of the root. The rule
 * `changed` of ina_round_advance(), that until the next epoch a node whose
 * subtree changed passes failed rounds only: here the window moves on sooner.
 * Deadlines, but for -DDEADLINES: the root's may pass for any round at any time,
 * and it closes a window that is over; a leaf fails no round by itself (FAIL,
 * up), and nobody is left out (LATE, EXCLUDE) or leaves.
 */
#ifndef ROUNDS
#define ROUNDS	3
#endif
#ifndef FRAGS
#define FRAGS	1
#endif
#ifndef EPOCHS			/* until calm; only late JOINs open more */
#define EPOCHS	4
#endif
#ifndef GENERATIONS		/* of a leaf that hears CHILD_LOST, until calm */
#define GENERATIONS	2
#endif
#ifndef DEPTH
#define DEPTH	2
#endif
#define NET		48
#define TICKS		24

#define ROOT	0
#define AGG	1
#define STAY	2
#define MOVER	3
#define LEAF(n)		((n) >= STAY)
#define PARENT(h)	((h) < 2 -> AGG : ROOT)
#define CHILD(h)	((h) == 2 -> AGG : ((h) == 0 -> STAY : MOVER))
#define HOP(n)		((n) == AGG -> 2 : ((n) == STAY -> 0 : (moved -> 3 : 1)))
#define HOPS(n)		((n) == AGG -> 0 : 2)	/* the first of two */
#define BIT(h)		(1 << ((h) & 1))	/* contributor index */

#define HAS(mask, r)	(((mask) >> (r)) & 1)
#define ALL		((1 << ROUNDS) - 1)
#define SLOT(n, r, f)	((n) * ROUNDS * FRAGS + (r) * FRAGS + (f))
#define SLOTS		(4 * ROUNDS * FRAGS)
#define WINDOW(n, r)	((r) >= base[n] && (r) < base[n] + DEPTH)

/* At the root: has it ended, or not so that its deadline may pass? None follows the last. */
#define OVER(r)		((r) >= ROUNDS || origin[SLOT(ROOT, r, 0)] && origin[SLOT(ROOT, r, FRAGS - 1)])
#define WAITS(r)	(WINDOW(ROOT, r) && !OVER(r))

/* Sums and tokens: STAY's worker counts 1, MOVER's 4. */
#define OWN(n)		((n) == STAY -> 1 : 4)
#define ONCE(s)		((s) == 1 || (s) == 4 || (s) == 5)
#define COUNTS(s, n)	(ONCE(s) && ((s) & OWN(n)))
#define FAILED		15

/* A packet in a word: type, hop, epoch, and what the type needs. */
#define JOIN	1
#define EPOCH	2
#define ACK	3
#define DATA	4
#define RESULT	5
#define CHILD_LOST	6
#define PACKET(type, h, e, x)	((type) << 21 | (h) << 19 | (e) << 16 | (x))
#define TYPE		(m >> 21)
#define DOWN		(TYPE == EPOCH || TYPE >= RESULT)
#define M_HOP		((m >> 19) & 3)
#define M_EPOCH		((m >> 16) & 7)
#define M_TOKEN		(m & 15)		/* JOIN, EPOCH */
#define M_GENERATION	((m >> 4) & 31)
#define INSTANCE	16			/* its highest bit */
#define M_OPEN		HAS(m, 9)		/* EPOCH */
#define M_BASE		((m >> 10) & 3)
#define M_FINAL		((m >> 12) & 7)
#define M_HELD		HAS(m, 0)		/* EPOCH, not open: the reason is DEADLINE */
#define M_SUM		(m & 15)		/* DATA, RESULT */
#define M_FRAG		HAS(m, 4)
#define M_ROUND		((m >> 5) & 3)
#define M_ORIGIN	((m >> 8) & 7)		/* RESULT */
#define M_ACKED		(m & 3)			/* ACK */

/* Older or the same JOIN of this instance. */
#define KNOWN(h)	(c_generation[h] && M_GENERATION <= c_generation[h] && \
			 (M_GENERATION & INSTANCE) == (c_generation[h] & INSTANCE))

/*
 * Rules that a variant leaves out to show what they are for. Those that are
 * not macros: NO_EPOCH_RULE, KEEP_RESULTS, RESTART_FORGETS, NEW_NEEDS_NOTHING,
 * NO_ASK, NO_CLOSED_BASE, NO_MISSED; and without CHECK nobody compares a sum
 * with the members.
 */
#if defined(LIVE_LIST) || defined(NO_EPOCH_RULE)
/* Who is expected changes with the list of children, not with the epoch. */
#define EXPECTED(n)	(LEAF(n) -> 1 : listed[HOPS(n)] | listed[HOPS(n) + 1] << 1)
#else
#define EXPECTED(n)	expected[n]
#endif
#ifdef CHECK_EPOCH
/* A result must have the members of this epoch, also a kept one. */
#define MEMBERS(n, r)	token[n]
#else
/* Those of the epoch its worker pushed it in; an aggregator cannot know. */
#define MEMBERS(n, r)	(LEAF(n) -> pushed[n * ROUNDS + r] : (HAS(kept[n], r) -> M_SUM : token[n]))
#endif
#ifdef ANY_ORDER	/* of the operator's commands */
#define AFTER(command)	1
#else
#define AFTER(command)	(command)
#endif
#ifdef LATE_JOIN	/* JOINs of AGG, also of before its restart, may come at any time */
#define OUTDATED(h)	(KNOWN(h) && (h) != 2)
#else
#define OUTDATED(h)	KNOWN(h)
#endif

#ifdef DEADLINES	/* an ACK of an earlier epoch may tell that one is missed */
#define PAST	0
#else
#define PAST	1
#endif

/* ina_node; of AGG and ROOT also ina_child, by hop */
byte epoch[4], base[4], kept[4], token[4], generation[4], expected[4];
bit open[4], held[4], welcomed[4];
bit listed[4];
byte c_generation[4], c_token[4], c_acked[4], c_heard[4];
/* ina_slot; a result has an origin: the epoch it was published in */
byte seen[SLOTS], sum[SLOTS], origin[SLOTS];
/* workers: rounds that ended; members of the epoch a round was last pushed in */
byte ended[4], pushed[4 * ROUNDS];
bit moved, added, dropped, restarted, calm;

byte outcome[ROUNDS];	/* origin and sum the first worker completed with */
int net[NET];		/* sorted */
byte packets;

/* Scratch of the inlines below, each its own. */
hidden int m, put_m, a_x;
hidden byte put_i, put_j, a_n, n, h, e, r, s, f, i, j;
hidden byte whole, w_f, low, tokens, final, ok, o_r, o_f, b_r, p_r, p_f;
hidden byte t_n, t_h, t_r, t_f, t_s, tick;
hidden byte conserved, same, finishes, unfailed;

inline put(packet)
{
	put_m = packet;
	put_i = 0;
	do
	:: put_i < packets && net[put_i] < put_m -> put_i++
	:: else -> break
	od;
	if
	:: put_i < packets && net[put_i] == put_m
	:: else ->
		put_j = packets;
		do
		:: put_j > put_i -> net[put_j] = net[put_j - 1]; put_j--
		:: else -> break
		od;
		net[put_i] = put_m;
		packets++
	fi
}

inline fail()
{
#ifdef NO_FAILURE
	unfailed = 0;
	assert(unfailed)
#else
	skip
#endif
}

/* ina_epoch_is_whole(): whole = does node hold all results of the round */
inline is_whole(node, round)
{
	whole = 1;
	for (w_f : 0 .. FRAGS - 1) {
		whole = whole && origin[SLOT(node, round, w_f)]
	}
}

/* low = first round somebody at or below the node still needs */
inline lowest(node)
{
	low = (LEAF(node) -> 0 : ROUNDS);
	do
	:: LEAF(node) && HAS(ended[node], low) -> low++
	:: !LEAF(node) && listed[HOPS(node)] && c_acked[HOPS(node)] < low ->
		low = c_acked[HOPS(node)]
	:: !LEAF(node) && listed[HOPS(node) + 1] && c_acked[HOPS(node) + 1] < low ->
		low = c_acked[HOPS(node) + 1]
	:: else -> break
	od
}

/* ina_member_count(): tokens = those of the subtree, 0 unless it is complete */
inline count(node)
{
	if
	:: LEAF(node) -> tokens = OWN(node)
	:: else ->
		tokens = c_token[HOPS(node)] + c_token[HOPS(node) + 1];
		if
		:: listed[HOPS(node)] && !c_token[HOPS(node)] -> tokens = 0
		:: listed[HOPS(node) + 1] && !c_token[HOPS(node) + 1] -> tokens = 0
		:: else
		fi
	fi
}

inline clear(slot)
{
	seen[slot] = 0;
	sum[slot] = 0;
	origin[slot] = 0
}

/* A leaf's worker contributes to all of the window that is to be summed. */
inline push(node)
{
	for (p_r : base[node] .. ROUNDS - 1) {
		if
		:: WINDOW(node, p_r) && !HAS(kept[node] | ended[node], p_r) ->
			pushed[node * ROUNDS + p_r] = token[node];
			for (p_f : 0 .. FRAGS - 1) {
				if
				:: !origin[SLOT(node, p_r, p_f)] ->
					seen[SLOT(node, p_r, p_f)] = 1;
					sum[SLOT(node, p_r, p_f)] = OWN(node)
				:: else
				fi
			}
		:: else
		fi
	}
}

/* The window moved: what a worker still waits for below it has failed. */
inline move_base(node, to)
{
	base[node] = to;
	for (b_r : 0 .. ROUNDS - 1) {
		if
		:: b_r < base[node] ->
			for (p_f : 0 .. FRAGS - 1) {
				clear(SLOT(node, b_r, p_f))
			}
			pushed[node * ROUNDS + b_r] = 0;
			if
			:: LEAF(node) && !HAS(ended[node], b_r) ->
				ended[node] = ended[node] | 1 << b_r;
				fail()
			:: else
			fi
		:: else
		fi
	}
}

/* ina_epoch_open() */
inline open_epoch(node, number, first, over, members)
{
	for (o_r : first .. ROUNDS - 1) {
		is_whole(node, o_r);
		ok = HAS(over, o_r) && (whole || epoch[node] + 1 == number || HAS(kept[node], o_r));
#ifdef KEEP_RESULTS	/* also those of rounds that are summed again */
		ok = 1;
#endif
		same = HAS(over, o_r) || !HAS(ended[node], o_r);
		assert(same);
		for (o_f : 0 .. FRAGS - 1) {
			if
			:: ok && origin[SLOT(node, o_r, o_f)]
			:: else -> clear(SLOT(node, o_r, o_f))
			fi
		}
	}
	epoch[node] = number;
	open[node] = 1;
	held[node] = 0;
	kept[node] = over;
	token[node] = members;
	expected[node] = (LEAF(node) -> 1 : listed[HOPS(node)] | listed[HOPS(node) + 1] << 1);
	move_base(node, first);
	if
	:: LEAF(node) -> push(node)
	:: else ->
		c_acked[HOPS(node)] = base[node];
		c_acked[HOPS(node) + 1] = base[node]
	fi
}

/* ina_epoch_open_try() of the root */
inline open_try()
{
	count(ROOT);
	if
	:: !open[ROOT] && tokens && !held[ROOT] && (calm || epoch[ROOT] < EPOCHS) ->
		final = 0;
		for (b_r : base[ROOT] .. ROUNDS - 1) {
			is_whole(ROOT, b_r);
			final = final | whole << b_r
		}
		open_epoch(ROOT, epoch[ROOT] + 1, base[ROOT], final, tokens)
	:: else
	fi
}

/* ina_member_changed() */
inline changed(node)
{
#ifndef NO_EPOCH_RULE
	open[node] = 0;
	held[node] = 0;
	if
	:: node == ROOT -> open_try()
	:: else ->
		generation[node]++;
		welcomed[node] = 0
	fi
#else
	skip
#endif
}

/* ina_round_advance() of the root */
inline advance()
{
	lowest(ROOT);
	if
	:: low > base[ROOT] -> held[ROOT] = 0; move_base(ROOT, low)
	:: else
	fi
}

inline announce(hop)
{
	a_n = PARENT(hop);
	a_x = (open[a_n] -> kept[a_n] << 12 | 1 << 9 | token[a_n] : held[a_n]);
	put(PACKET(EPOCH, hop, epoch[a_n], a_x | base[a_n] << 10 | c_generation[hop] << 4))
}

/* What a node sends to its parent as long as it is like this. */
inline send_up(node)
{
	count(node);
	lowest(node);
	if
	:: welcomed[node] -> put(PACKET(ACK, HOP(node), epoch[node], low))
	:: else -> put(PACKET(JOIN, HOP(node), 0, generation[node] << 4 | tokens))
	fi;
	for (t_r : base[node] .. ROUNDS - 1) {
		for (t_f : 0 .. FRAGS - 1) {
			t_s = SLOT(node, t_r, t_f);
			if
			:: WINDOW(node, t_r) && seen[t_s] && seen[t_s] == EXPECTED(node) ->
				put(PACKET(DATA, HOP(node), epoch[node], t_r << 5 | t_f << 4 | sum[t_s]))
			:: else
			fi
		}
	}
}

/*
 * What it sends to a child; if calm, no EPOCH the child has heard. Kept results
 * wait for the child's ACK of the epoch.
 */
inline send_down(node, hop)
{
	if
	:: !calm || open[node] && c_heard[hop] != epoch[node] -> announce(hop)
	:: else
	fi;
	for (t_r : c_acked[hop] .. ROUNDS - 1) {
		for (t_f : 0 .. FRAGS - 1) {
			t_s = SLOT(node, t_r, t_f);
			if
			:: origin[t_s] && (!HAS(kept[node], t_r) || c_heard[hop] == epoch[node]) ->
				put(PACKET(RESULT, hop, epoch[node],
					   origin[t_s] << 8 | t_r << 5 | t_f << 4 | sum[t_s]))
			:: else
			fi
		}
	}
}

inline send_all()
{
	for (t_n : AGG .. MOVER) {
		send_up(t_n)
	}
	for (t_h : 0 .. 3) {
		if
		:: listed[t_h] && c_generation[t_h] && epoch[PARENT(t_h)] -> send_down(PARENT(t_h), t_h)
		:: else
		fi
	}
	assert(packets < NET)
}

/* ina_member_rx_join(); the child may be welcomed at once */
inline rx_join()
{
	n = PARENT(h);
	printf("%d > %d JOIN generation %d token %d\n", CHILD(h), n, M_GENERATION, M_TOKEN);
	if
	:: !KNOWN(h) ->
		ok = c_token[h] || M_TOKEN;
#ifdef RESTART_FORGETS	/* ina_member_update(): what it held is gone */
		if
		:: (M_GENERATION ^ c_generation[h]) & INSTANCE -> c_acked[h] = ROUNDS; advance()
		:: else
		fi;
#endif
		c_generation[h] = M_GENERATION;
		c_token[h] = M_TOKEN;
		c_heard[h] = 0;
		if
		:: ok -> changed(n)
		:: else
		fi
	:: else
	fi;
	if
	:: h == HOP(CHILD(h)) && M_GENERATION == generation[CHILD(h)] -> welcomed[CHILD(h)] = 1
	:: else
	fi
}

/* ina_member_rx_epoch() */
inline rx_epoch()
{
	n = CHILD(h);
	printf("%d > %d EPOCH %d generation %d open %d base %d final %d\n",
	       PARENT(h), n, e, M_GENERATION, M_OPEN, M_BASE, M_FINAL);
	count(n);
	if
	:: M_GENERATION != generation[n] -> welcomed[n] = 0
	:: M_GENERATION == generation[n] && !M_OPEN && e >= epoch[n] ->
		held[n] = (open[n] -> M_HELD && !LEAF(n) : held[n]);
		open[n] = 0;
#ifndef NO_CLOSED_BASE	/* ina_member_closed_base() */
		if
		:: e == epoch[n] && M_BASE > base[n] -> move_base(n, M_BASE)
		:: else
		fi
#endif
	:: M_GENERATION == generation[n] && M_OPEN && e == epoch[n] && open[n] && M_BASE > base[n] ->
		move_base(n, M_BASE);
		if
		:: LEAF(n) -> push(n)
		:: else
		fi
	:: M_GENERATION == generation[n] && M_OPEN && e > epoch[n] && tokens ->
		open_epoch(n, e, M_BASE, M_FINAL, M_TOKEN)
	:: else
	fi
}

/* ina_member_rx_ack(); if calm, open and base of the ACK are the child's */
inline rx_ack()
{
	n = PARENT(h);
	printf("%d > %d ACK %d acked %d\n", CHILD(h), n, e, M_ACKED);
	if
	:: e && e == epoch[n] ->
		c_heard[h] = e;
		if
		:: M_ACKED > c_acked[h] -> c_acked[h] = M_ACKED
		:: else
		fi;
		if
		:: n == ROOT -> advance()
		:: else
		fi
	:: else
	fi;
#if defined(DEADLINES) && !defined(NO_MISSED)	/* it cannot enter the epoch that is held for it */
	if
	:: held[n] && c_token[h] && e != epoch[n] -> changed(n)
	:: else
	fi;
#endif
#ifndef NO_ASK	/* tell a child that is not complete here as what it is known */
	if
	:: calm && !c_token[h] && c_generation[h] != generation[CHILD(h)] -> welcomed[CHILD(h)] = 0
	:: else
	fi;
#endif
	if
	:: calm && epoch[n] && (open[CHILD(h)] != open[n] || open[n] && e != epoch[n] ||
	   e == epoch[n] && base[CHILD(h)] < base[n]) -> announce(h)
	:: else
	fi
}

/* ina_round_contribute(), ina_round_settle() */
inline rx_data()
{
	n = PARENT(h);
	printf("%d > %d DATA %d round %d.%d sum %d\n", CHILD(h), n, e, M_ROUND, M_FRAG, M_SUM);
	r = M_ROUND;
	s = SLOT(n, r, M_FRAG);
	if
	:: c_token[h] && e == epoch[n] && WINDOW(n, r) && !HAS(kept[n], r) && !origin[s] &&
	   !(seen[s] & BIT(h)) && (EXPECTED(n) & BIT(h)) ->
		seen[s] = seen[s] | BIT(h);
		sum[s] = sum[s] + M_SUM;
		if
		:: n == ROOT && seen[s] == EXPECTED(ROOT) ->
			seen[s] = 0;
			origin[s] = epoch[ROOT];
#ifdef CHECK
			if
			:: sum[s] != token[ROOT] -> sum[s] = FAILED; fail()
			:: else
			fi;
#endif
			conserved = sum[s] == FAILED || sum[s] == token[ROOT] && ONCE(sum[s]);
			assert(conserved)
		:: else
		fi
	:: else
	fi
}

/* ina_round_complete() of a leaf; failed as a whole if a fragment is */
inline complete()
{
	ok = 1;
	for (f : 0 .. FRAGS - 1) {
		ok = ok && sum[SLOT(n, r, f)] != FAILED
	}
	for (f : 0 .. FRAGS - 1) {
		s = SLOT(n, r, f);
		conserved = !ok || COUNTS(sum[s], n);
		assert(conserved);
		same = !ok || !outcome[r] || outcome[r] == (origin[s] << 4 | sum[s]);
		assert(same);
		outcome[r] = (ok -> origin[s] << 4 | sum[s] : outcome[r])
	}
	ended[n] = ended[n] | 1 << r
}

/* ina_round_result() */
inline rx_result()
{
	n = CHILD(h);
	printf("%d > %d RESULT %d round %d.%d sum %d of epoch %d\n",
	       PARENT(h), n, e, M_ROUND, M_FRAG, M_SUM, M_ORIGIN);
	r = M_ROUND;
	s = SLOT(n, r, M_FRAG);
	ok = e == epoch[n] && WINDOW(n, r) && !origin[s] &&
	     (HAS(kept[n], r) || M_SUM == FAILED || seen[s] && seen[s] == EXPECTED(n));
#ifdef CHECK
	if
	:: ok && M_SUM != FAILED && M_SUM != MEMBERS(n, r) ->
		ok = 0;
#ifndef CHECK_EPOCH	/* complete without us: excluded */
		if
		:: LEAF(n) && HAS(kept[n], r) && !HAS(ended[n], r) ->
			ended[n] = ended[n] | 1 << r;
			fail()
		:: else
		fi
#endif
	:: else
	fi;
#endif
	if
	:: ok ->
		seen[s] = 0;
		sum[s] = M_SUM;
		origin[s] = M_ORIGIN;
		is_whole(n, r);
		if
		:: LEAF(n) && whole && !HAS(ended[n], r) -> complete()
		:: else
		fi
	:: else
	fi
}

/* ina_member_rejoin() */
inline rx_child_lost()
{
	n = CHILD(h);
	printf("%d > %d CHILD_LOST\n", PARENT(h), n);
	if
	:: welcomed[n] && (calm || generation[n] < GENERATIONS) -> changed(n)
	:: else
	fi
}

inline receive(packet)
{
	m = packet;
	h = M_HOP;
	e = M_EPOCH;
	if
	:: DOWN && h != HOP(CHILD(h))			/* not from the parent */
	:: !DOWN && !listed[h]				/* not from a child */
	:: !DOWN && TYPE != JOIN && listed[h] && !c_generation[h] -> put(PACKET(CHILD_LOST, h, 0, 0))
	:: else ->
		if
		:: TYPE == JOIN -> rx_join()
		:: TYPE == EPOCH -> rx_epoch()
		:: TYPE == ACK -> rx_ack()
		:: TYPE == DATA -> rx_data()
		:: TYPE == RESULT -> rx_result()
		:: TYPE == CHILD_LOST -> rx_child_lost()
		fi
	fi
}

/* ok = the packet can have no effect, now or later */
inline is_dead()
{
	h = M_HOP;
	e = M_EPOCH;
	n = (DOWN -> CHILD(h) : PARENT(h));
	s = SLOT(n, M_ROUND % ROUNDS, M_FRAG % FRAGS);
	ok = (h == 1 && (n == AGG -> dropped : moved));
	if
	:: TYPE == JOIN -> ok = ok || OUTDATED(h)
	:: TYPE == EPOCH -> ok = ok || M_GENERATION < generation[n] || e < epoch[n] ||
		M_GENERATION == generation[n] && e == epoch[n] &&
		(M_OPEN && !open[n] || M_OPEN >= open[n] && M_BASE <= base[n])
	:: TYPE == ACK -> ok = ok || c_generation[h] && (e < epoch[n] && PAST || !epoch[n] && !e ||
		e && e == epoch[n] && c_heard[h] == e && M_ACKED <= c_acked[h])
	:: TYPE == DATA -> ok = ok || c_generation[h] && (e < epoch[n] ||
		e == epoch[n] && (M_ROUND < base[n] || origin[s] || (seen[s] & BIT(h))))
	:: TYPE == RESULT -> ok = ok || e < epoch[n] || e == epoch[n] && (M_ROUND < base[n] || origin[s])
	:: else -> ok = ok || generation[n] >= GENERATIONS
	fi
}

inline sweep()
{
	j = 0;
	for (i : 0 .. NET - 1) {
		m = net[i];
		net[i] = 0;
		if
		:: m ->
			is_dead();
			if
			:: !ok -> net[j] = m; j++
			:: else
			fi
		:: else
		fi
	}
	packets = j
}

/* The operator changes lists of children and the leaf's parent. */
inline add()
{
	printf("ROOT gets MOVER as a child\n");
	added = 1;
	listed[3] = 1;
#ifdef NEW_NEEDS_NOTHING	/* before it has joined */
	c_acked[3] = ROUNDS;
#else
	c_acked[3] = base[ROOT];
#endif
	changed(ROOT)
}

inline move()
{
	printf("MOVER changes its parent\n");
	welcomed[MOVER] = 0;
	changed(MOVER);
#ifndef NO_EPOCH_RULE
	put(PACKET(JOIN, 1, 0, generation[MOVER] << 4));	/* good-bye */
#endif
	moved = 1
}

inline forget(hop)
{
	c_generation[hop] = 0;
	c_token[hop] = 0;
	c_acked[hop] = 0;
	c_heard[hop] = 0
}

inline drop()
{
	printf("AGG loses MOVER as a child\n");
	dropped = 1;
	listed[1] = 0;
	forget(1);
	changed(AGG)
}

inline restart()
{
	printf("AGG restarts\n");
	restarted = 1;
	epoch[AGG] = 0;
	base[AGG] = 0;
	kept[AGG] = 0;
	token[AGG] = 0;
	expected[AGG] = 0;
	open[AGG] = 0;
	welcomed[AGG] = 0;
	generation[AGG] = INSTANCE | 1;
	for (r : 0 .. ROUNDS - 1) {
		for (f : 0 .. FRAGS - 1) {
			clear(SLOT(AGG, r, f))
		}
	}
	held[AGG] = 0;
	forget(0);
	forget(1)
}

/* ina_late_round() of the root: a round has waited too long */
inline late(round)
{
	printf("round %d fails\n", round);
	for (f : 0 .. FRAGS - 1) {
		s = SLOT(ROOT, round, f);
		if
		:: !origin[s] ->
			seen[s] = 0;
			sum[s] = FAILED;
			origin[s] = epoch[ROOT]
		:: else
		fi
	}
}

/* ina_late_close(): all of the window is over, and somebody does not acknowledge it */
inline late_close()
{
	printf("ROOT closes the epoch\n");
	held[ROOT] = 1;
	open[ROOT] = 0
}

inline lose_all()
{
	for (i : 0 .. NET - 1) {
		net[i] = 0
	}
	packets = 0
}

/*
 * All that is in flight is lost. From here on nothing is, the operator ends
 * what he began, and everybody repeats what the protocol says, and no more.
 */
inline calm_down()
{
	printf("calm\n");
	calm = 1;
	if
	:: (moved || added || dropped) && !added -> add()
	:: else
	fi;
	if
	:: added && !moved -> move()
	:: else
	fi;
	if
	:: added && !dropped -> drop()
	:: else
	fi;
	lose_all();
	for (tick : 1 .. TICKS) {
		open_try();
		if
		:: (ended[STAY] & ended[MOVER]) != ALL -> send_all()
		:: else
		fi;
		do
		:: packets ->
			packets--;
			m = net[packets];
			net[packets] = 0;
			receive(m)
		:: else -> break
		od
	}
	lose_all();
	finishes = (ended[STAY] & ended[MOVER]) == ALL;
	assert(finishes)
}

inline start()
{
	listed[0] = 1;
	listed[1] = 1;
	listed[2] = 1;
	generation[AGG] = 3;
	generation[STAY] = 1;
	generation[MOVER] = 1;
#ifndef JOINING		/* the first epoch is open already */
	for (h : 0 .. 2) {
		c_generation[h] = generation[CHILD(h)];
		c_token[h] = (h == 2 -> 5 : OWN(CHILD(h)));
		welcomed[CHILD(h)] = 1
	}
	for (n : ROOT .. MOVER) {
		open_epoch(n, 1, 0, 0, 5)
	}
#ifdef LATE_JOIN
	put(PACKET(JOIN, 2, 0, 2 << 4));	/* from when it was not complete */
#endif
#endif
	send_all();
	sweep()
}

/* What can happen: a packet of the net, by its place, or one of these. */
#define ADD	(NET + 1)
#define MOVE	(NET + 2)
#define DROP	(NET + 3)
#define RESTART	(NET + 4)
#define CLOSE	(NET + 5)
#define OPEN	(NET + 6)
#define LATE	(NET + 7)	/* and the round */

init {
	byte next;

	d_step { start() };
end:	do
	:: atomic {
		if
		:: packets ->
			do
			:: next + 1 < packets -> next++
			:: break
			od
#ifdef REPARENTS
		:: !added -> next = ADD
		:: !moved && AFTER(added) -> next = MOVE
		:: !dropped && AFTER(moved) -> next = DROP
#endif
#ifdef RESTARTS
		:: !restarted -> next = RESTART
#endif
#ifdef DEADLINES
		:: WAITS(0) -> next = LATE
		:: WAITS(1) -> next = LATE + 1
		:: WAITS(2) -> next = LATE + 2
		:: open[ROOT] && base[ROOT] < ROUNDS && OVER(base[ROOT]) &&
		   (DEPTH == 1 || OVER(base[ROOT] + 1)) -> next = CLOSE
		:: epoch[ROOT] && !open[ROOT] && !held[ROOT] && epoch[ROOT] < EPOCHS -> next = OPEN
#endif
		fi;
		d_step {
			if
			:: next < NET -> receive(net[next])
			:: next == ADD -> add()
			:: next == MOVE -> move()
			:: next == DROP -> drop()
			:: next == RESTART -> restart()
#ifdef DEADLINES
			:: next == CLOSE -> late_close()
			:: next == OPEN -> open_try()
			:: next >= LATE -> late(next - LATE)
#endif
			fi;
			next = 0;
			send_all();
			sweep()
		}
	}
#ifndef NO_CALM
	:: d_step { !calm -> calm_down() } -> break
#endif
	od
}
