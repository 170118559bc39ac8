/* SPDX-License-Identifier: GPL-2.0 */
/* DRAFT */
#ifndef ROUNDS
#define ROUNDS	3
#endif
#ifndef FRAGS
#define FRAGS	1
#endif
#ifndef EPOCHS
#define EPOCHS	3
#endif
#ifndef GENS
#define GENS	3
#endif
#define DEPTH	2
#define NET	60
#define TICKS	40

#define R	0
#define A	1
#define P	2
#define Q	3
#define HOP(n)		((n) == A -> 2 : ((n) == P -> 0 : (moved -> 3 : 1)))
#define PARENT(h)	((h) < 2 -> A : R)
#define CHILD(h)	((h) == 2 -> A : ((h) == 0 -> P : Q))
#define BIT(h)		(1 << ((h) & 1))
#define FIRST(n)	((n) == A -> 0 : 2)

#define FAILED	15
#define COUNTS_ONCE(s)	((s) == 1 || (s) == 4 || (s) == 5)
#define OWN(n)	((n) == P -> 1 : 4)
#define INSTANCE	16

#define JOIN	1
#define EPOCH	2
#define ACK	3
#define DATA	4
#define RESULT	5
#define LOST	6
#define MSG(type, h, e, x)	((type) << 21 | (h) << 19 | (e) << 16 | (x))
#define TYPE(m)		((m) >> 21)
#define M_HOP(m)	(((m) >> 19) & 3)
#define M_EPOCH(m)	(((m) >> 16) & 7)
/* JOIN, EPOCH */
#define M_GEN(m)	(((m) >> 4) & 31)
#define M_TOKEN(m)	((m) & 15)
#define M_OPEN(m)	(((m) >> 9) & 1)
#define M_BASE(m)	(((m) >> 10) & 3)
#define M_FINAL(m)	(((m) >> 12) & 7)
/* DATA, RESULT */
#define M_SUM(m)	((m) & 15)
#define M_FRAG(m)	(((m) >> 4) & 1)
#define M_ROUND(m)	(((m) >> 5) & 3)
#define M_OF(m)		(((m) >> 8) & 7)
/* ACK */
#define M_ACKED(m)	((m) & 3)

#ifdef LIVE_LIST
#define CONTRIBUTORS(n)	(listed[FIRST(n)] | (listed[FIRST(n) + 1] << 1))
#else
#define CONTRIBUTORS(n)	contributors[n]
#endif
#ifdef CHECK_KEPT
#define UNCHECKED(n, r)	0
#else
#define UNCHECKED(n, r)	(kept[n] & (1 << r))
#endif
#ifdef ANY_ORDER
#define AFTER(op)	1
#else
#define AFTER(op)	(op)
#endif

/* nodes */
byte epoch[4], base[4], kept[4], token[4], generation[4];
byte contributors[4];
bit open[4], welcomed[4];
/* slots */
#define SLOT(n, r, f)	((n) * ROUNDS * FRAGS + (r) * FRAGS + (f))
byte seen[4 * ROUNDS * FRAGS], sum[4 * ROUNDS * FRAGS], origin[4 * ROUNDS * FRAGS];
byte pushed[8]	/* epoch a leaf last pushed a round in: KEPT_OF */
/* children, by hop */
bit listed[4];
byte c_generation[4], c_token[4], c_acked[4], c_heard[4];
/* workers */
byte ended[4];
byte failed;
byte outcome[ROUNDS];
/* operator */
bit moved, added, dropped, restarted, calm;
/* network */
int net[NET];
byte nn;

hidden int pm, m;
hidden byte x, y, i, n, c, s, h, r, f, k, t, b, e, en, eh, er, ef, ek, tick;
hidden byte ok;

inline put(msg)
{
	pm = msg;
	x = 0;
	do
	:: x < nn && net[x] < pm -> x++
	:: else -> break
	od;
	if
	:: x < nn && net[x] == pm -> skip
	:: else ->
		assert(nn < NET);
		y = nn;
		do
		:: y > x -> net[y] = net[y - 1]; y--
		:: else -> break
		od;
		net[x] = pm;
		nn++
	fi
}

/* ek = every fragment of round rr is held at nn */
inline holds(node, rr)
{
	ek = 1;
	ef = 0;
	do
	:: ef < FRAGS -> ek = ek && origin[SLOT(node, rr, ef)]; ef++
	:: else -> break
	od;
}

/* k = lowest round somebody below needs */
inline lowest(node)
{
	if
	:: node >= P ->
		k = 0;
		do
		:: k < ROUNDS && (ended[node] & (1 << k)) -> k++
		:: else -> break
		od
	:: else ->
		k = ROUNDS;
		if
		:: listed[FIRST(node)] && c_acked[FIRST(node)] < k -> k = c_acked[FIRST(node)]
		:: else
		fi;
		if
		:: listed[FIRST(node) + 1] && c_acked[FIRST(node) + 1] < k -> k = c_acked[FIRST(node) + 1]
		:: else
		fi
	fi
}

/* t = tokens of the subtree, 0 unless complete */
inline subtree(node)
{
	if
	:: node >= P -> t = OWN(node)
	:: else ->
		t = (listed[FIRST(node)] -> c_token[FIRST(node)] : 0) + (listed[FIRST(node) + 1] -> c_token[FIRST(node) + 1] : 0);
		if
		:: (listed[FIRST(node)] && !c_token[FIRST(node)]) || (listed[FIRST(node) + 1] && !c_token[FIRST(node) + 1]) -> t = 0
		:: else
		fi
	fi
}

inline push(node)
{
	er = base[node];
	do
	:: er < ROUNDS && er < base[node] + DEPTH ->
		if
		:: !(kept[node] & (1 << er)) && !(ended[node] & (1 << er)) ->
			ef = 0;
			do
			:: ef < FRAGS ->
				if
				:: !origin[SLOT(node, er, ef)] ->
					seen[SLOT(node, er, ef)] = 1;
					sum[SLOT(node, er, ef)] = OWN(node)
				:: else
				fi;
				ef++
			:: else -> break
			od;
			pushed[(node - P) * ROUNDS + er] = epoch[node]
		:: else
		fi;
		er++
	:: else -> break
	od
}

inline clear(node, rr, ff)
{
	seen[SLOT(node, rr, ff)] = 0;
	sum[SLOT(node, rr, ff)] = 0;
	origin[SLOT(node, rr, ff)] = 0
}

/* ina_member_base(): rounds below are over */
inline set_base(node, bb)
{
	er = 0;
	do
	:: er < bb ->
		ef = 0;
		do
		:: ef < FRAGS -> clear(node, er, ef); ef++
		:: else -> break
		od;
		if
		:: node >= P && !(ended[node] & (1 << er)) ->
			ended[node] = ended[node] | (1 << er);
			failed = failed | 1
		:: else
		fi;
		if
		:: node >= P -> pushed[(node - P) * ROUNDS + er] = 0
		:: else
		fi;
		er++
	:: else -> break
	od;
	base[node] = bb
}

/* ina_member_open() */
inline open_epoch(node, ee, bb, final, tt)
{
	er = bb;
	do
	:: er < ROUNDS ->
		holds(node, er);
		ok = ek || epoch[node] + 1 == ee || (kept[node] & (1 << er));
#ifdef KEEP_ALWAYS
		ok = 1;
#endif
		/* a completed round is never summed again */
		assert(node < P || (final & (1 << er)) || !(ended[node] & (1 << er)));
		ef = 0;
		do
		:: ef < FRAGS ->
			if
			:: (final & (1 << er)) && ok && origin[SLOT(node, er, ef)] -> seen[SLOT(node, er, ef)] = 0
			:: else -> clear(node, er, ef)
			fi;
			ef++
		:: else -> break
		od;
		er++
	:: else -> break
	od;
	set_base(node, bb);
	epoch[node] = ee;
	open[node] = 1;
	kept[node] = final;
	token[node] = tt;
	contributors[node] = (node < P -> listed[FIRST(node)] | (listed[FIRST(node) + 1] << 1) : 1);
	if
	:: node >= P -> push(node)
	:: else ->
		c_acked[FIRST(node)] = bb;
		c_acked[FIRST(node) + 1] = bb
	fi
}

/* ina_member_open_try() at the root */
inline open_try()
{
	subtree(R);
	if
	:: !open[R] && t && (calm || epoch[R] < EPOCHS) ->
		b = 0;
		er = base[R];
		do
		:: er < ROUNDS ->
			holds(R, er);
			b = b | (ek << er);
			er++
		:: else -> break
		od;
		open_epoch(R, epoch[R] + 1, base[R], b, t)
	:: else
	fi
}

/* ina_member_changed() */
inline changed(node)
{
#ifdef NO_EPOCH_RULE
	skip;
#else
	open[node] = 0;
	if
	:: node == R -> open_try()
	:: else -> generation[node]++; welcomed[node] = 0
	fi
#endif
}

/* ina_round_advance() at the root */
inline advance()
{
	lowest(R);
	if
	:: k > base[R] -> set_base(R, k)
	:: else
	fi
}

inline emit_up(node)
{
	eh = HOP(node);
	if
	:: !welcomed[node] -> subtree(node); put(MSG(JOIN, eh, 0, generation[node] << 4 | t))
	:: else ->
		lowest(node);
		put(MSG(ACK, eh, epoch[node], k))
	fi;
	er = base[node];
	do
	:: er < ROUNDS && er < base[node] + DEPTH ->
		ef = 0;
		do
		:: ef < FRAGS ->
			s = SLOT(node, er, ef);
			if
			:: !origin[s] && seen[s] == (node == A -> CONTRIBUTORS(A) : 1) ->
				put(MSG(DATA, eh, epoch[node], er << 5 | ef << 4 | sum[s]))
			:: else
			fi;
			ef++
		:: else -> break
		od;
		er++
	:: else -> break
	od
}

inline announce(hh)
{
	if
	:: open[PARENT(hh)] ->
		put(MSG(EPOCH, hh, epoch[PARENT(hh)], kept[PARENT(hh)] << 12 | base[PARENT(hh)] << 10 | 1 << 9 | c_generation[hh] << 4 | token[PARENT(hh)]))
	:: else ->
		put(MSG(EPOCH, hh, epoch[PARENT(hh)], c_generation[hh] << 4))
	fi
}

inline emit_down(node)
{
	eh = FIRST(node);
	do
	:: eh < FIRST(node) + 2 ->
		if
		:: listed[eh] && c_generation[eh] && epoch[node] ->
			if
			:: !calm || (open[node] && c_heard[eh] != epoch[node]) -> announce(eh)
			:: else
			fi;
			er = c_acked[eh];
			do
			:: er < ROUNDS && er < base[node] + DEPTH ->
				ef = 0;
				do
				:: ef < FRAGS ->
					s = SLOT(node, er, ef);
					if
					:: origin[s] && (!(kept[node] & (1 << er)) || c_heard[eh] == epoch[node]) ->
						put(MSG(RESULT, eh, epoch[node], origin[s] << 8 | er << 5 | ef << 4 | sum[s]))
					:: else
					fi;
					ef++
				:: else -> break
				od;
				er++
			:: else -> break
			od
		:: else
		fi;
		eh++
	:: else -> break
	od
}

inline emit(node)
{
	en = node;
	if
	:: en != R -> emit_up(en)
	:: else
	fi;
	if
	:: en < P -> emit_down(en)
	:: else
	fi
}

inline rx_join()
{
	n = PARENT(h);
	c = M_GEN(m);
	if
	:: !listed[h] -> skip
	:: else ->
		if
		:: c_generation[h] && (c & INSTANCE) == (c_generation[h] & INSTANCE) && c <= c_generation[h] -> skip
		:: else ->
			ok = c_token[h] || M_TOKEN(m);
			c_generation[h] = c;
			c_token[h] = M_TOKEN(m);
			c_heard[h] = 0;
			if
			:: ok -> changed(n)
			:: else
			fi
		fi;
		if
		:: h == HOP(CHILD(h)) && c == generation[CHILD(h)] -> welcomed[CHILD(h)] = 1
		:: else
		fi
	fi
}

inline rx_epoch()
{
	n = CHILD(h);
	if
	:: h != HOP(n) -> skip
	:: else ->
		if
		:: M_GEN(m) != generation[n] -> welcomed[n] = 0
		:: else ->
			if
			:: !M_OPEN(m) && e >= epoch[n] -> open[n] = 0
			:: M_OPEN(m) && e == epoch[n] && open[n] && M_BASE(m) > base[n] ->
				set_base(n, M_BASE(m));
				if
				:: n >= P -> push(n)
				:: else
				fi
			:: M_OPEN(m) && e > epoch[n] ->
				subtree(n);
				if
				:: t -> open_epoch(n, e, M_BASE(m), M_FINAL(m), M_TOKEN(m))
				:: else
				fi
			:: else
			fi
		fi
	fi
}

inline rx_ack()
{
	n = PARENT(h);
	if
	:: !listed[h] -> skip
	:: listed[h] && !c_generation[h] -> put(MSG(LOST, h, 0, 0))
	:: else ->
		if
		:: e && e == epoch[n] ->
			c_heard[h] = e;
			if
			:: M_ACKED(m) > c_acked[h] ->
				c_acked[h] = M_ACKED(m);
				if
				:: n == R -> advance()
				:: else
				fi
			:: else
			fi
		:: else
		fi;
		/* ACK.base */
		if
		:: calm && epoch[n] && (epoch[CHILD(h)] != epoch[n] || base[CHILD(h)] != base[n] || generation[CHILD(h)] != c_generation[h]) -> announce(h)
		:: else
		fi
	fi
}

/* ina_round_publish() */
inline publish()
{
#ifdef CHECK
	if
	:: sum[s] != token[R] -> sum[s] = FAILED; failed = failed | 2
	:: else
	fi;
#endif
	assert(sum[s] == FAILED || sum[s] == token[R] && COUNTS_ONCE(sum[s]));
	origin[s] = epoch[R]
}

inline rx_data()
{
	n = PARENT(h);
	r = M_ROUND(m);
	if
	:: !listed[h] -> skip
	:: listed[h] && !c_generation[h] -> put(MSG(LOST, h, 0, 0))
	:: else ->
		s = SLOT(n, r, M_FRAG(m));
		if
		:: c_token[h] && e == epoch[n] && r >= base[n] && r < base[n] + DEPTH &&
		   !(kept[n] & (1 << r)) && !origin[s] && !(seen[s] & BIT(h)) && (CONTRIBUTORS(n) & BIT(h)) ->
			seen[s] = seen[s] | BIT(h);
			sum[s] = sum[s] + M_SUM(m);
			if
			:: n == R && seen[s] == CONTRIBUTORS(R) -> publish()
			:: else
			fi
		:: else
		fi
	fi
}

/* ina_round_complete() at a leaf: all fragments of round r are held */
inline complete()
{
	f = 0;
	ok = 1;
	do
	:: f < FRAGS ->
		s = SLOT(n, r, f);
		ok = ok && sum[s] != FAILED;
		f++
	:: else -> break
	od;
	if
	:: !ok -> failed = failed | 4
	:: else ->
		f = 0;
		do
		:: f < FRAGS ->
			s = SLOT(n, r, f);
			assert(!outcome[r] || outcome[r] == (origin[s] << 4 | sum[s]));
			outcome[r] = origin[s] << 4 | sum[s];
			assert(COUNTS_ONCE(sum[s]) && (sum[s] & (n == P -> 3 : 12)));
			f++
		:: else -> break
		od
	fi;
	ended[n] = ended[n] | (1 << r)
}

inline rx_result()
{
	n = CHILD(h);
	r = M_ROUND(m);
	s = SLOT(n, r, M_FRAG(m));
	ok = h == HOP(n) && e == epoch[n] && r >= base[n] && r < base[n] + DEPTH && !origin[s] &&
	     ((kept[n] & (1 << r)) || seen[s] == (n == A -> CONTRIBUTORS(A) : 1));
#ifdef KEPT_OF
	if
	:: ok && n >= P && (kept[n] & (1 << r)) && !(ended[n] & (1 << r)) && M_OF(m) != pushed[(n - P) * ROUNDS + r] ->
		ok = 0;
		ended[n] = ended[n] | (1 << r);
		failed = failed | 8
	:: else
	fi;
#endif
#ifdef CHECK
	ok = ok && (M_SUM(m) == token[n] || M_SUM(m) == FAILED || UNCHECKED(n, r));
#endif
	if
	:: ok ->
		seen[s] = 0;
		sum[s] = M_SUM(m);
		origin[s] = M_OF(m);
		holds(n, r);
		if
		:: ek && n >= P && !(ended[n] & (1 << r)) -> complete()
		:: else
		fi
	:: else
	fi
}

inline rx_lost()
{
	n = CHILD(h);
	if
	:: h == HOP(n) && welcomed[n] && (calm || generation[n] < GENS) -> changed(n)
	:: else
	fi
}

inline receive(msg)
{
	m = msg;
	h = M_HOP(m);
	e = M_EPOCH(m);
	if
	:: TYPE(m) == JOIN -> printf("%d>%d JOIN gen %d token %d\n", CHILD(h), PARENT(h), M_GEN(m), M_TOKEN(m))
	:: TYPE(m) == EPOCH -> printf("%d>%d EPOCH %d gen %d open %d base %d final %d token %d\n", PARENT(h), CHILD(h), e, M_GEN(m), M_OPEN(m), M_BASE(m), M_FINAL(m), M_TOKEN(m))
	:: TYPE(m) == ACK -> printf("%d>%d ACK %d acked %d\n", CHILD(h), PARENT(h), e, M_ACKED(m))
	:: TYPE(m) == DATA -> printf("%d>%d DATA %d r%d f%d sum %d\n", CHILD(h), PARENT(h), e, M_ROUND(m), M_FRAG(m), M_SUM(m))
	:: TYPE(m) == RESULT -> printf("%d>%d RESULT %d r%d f%d sum %d of %d\n", PARENT(h), CHILD(h), e, M_ROUND(m), M_FRAG(m), M_SUM(m), M_OF(m))
	:: else -> printf("%d>%d LOST\n", PARENT(h), CHILD(h))
	fi;
	if
	:: TYPE(m) == JOIN -> rx_join()
	:: TYPE(m) == EPOCH -> rx_epoch()
	:: TYPE(m) == ACK -> rx_ack()
	:: TYPE(m) == DATA -> rx_data()
	:: TYPE(m) == RESULT -> rx_result()
	:: else -> rx_lost()
	fi
}

/* Drop what can have no effect any more. */
inline sweep()
{
	i = 0;
	b = 0;
	do
	:: i < nn ->
		m = net[i];
		h = M_HOP(m);
		e = M_EPOCH(m);
		n = PARENT(h);
		c = CHILD(h);
		r = M_ROUND(m);
		ok = 0;
		if
		:: TYPE(m) == JOIN ->
			ok = h == 1 && dropped || c_generation[h] &&
			     (M_GEN(m) & INSTANCE) == (c_generation[h] & INSTANCE) && M_GEN(m) <= c_generation[h]
		:: TYPE(m) == ACK ->
			ok = h == 1 && dropped || c_generation[h] && (e < epoch[n] || !e ||
			     e == epoch[n] && c_heard[h] == e && M_ACKED(m) <= c_acked[h])
		:: TYPE(m) == DATA ->
			s = SLOT(n, r, M_FRAG(m));
			ok = h == 1 && dropped || c_generation[h] && (e < epoch[n] ||
			     e == epoch[n] && (r < base[n] || origin[s] || (seen[s] & BIT(h))))
		:: TYPE(m) == EPOCH ->
			ok = h != HOP(c) || M_GEN(m) < generation[c] || e < epoch[c] ||
			     M_GEN(m) == generation[c] && e == epoch[c] && (!open[c] || M_OPEN(m) && M_BASE(m) <= base[c])
		:: TYPE(m) == RESULT ->
			s = SLOT(c, r, M_FRAG(m));
			ok = h != HOP(c) || e < epoch[c] || e == epoch[c] && (r < base[c] || origin[s])
		:: else ->
			ok = h != HOP(c) || generation[c] >= GENS
		fi;
		if
		:: !ok -> net[b] = m; b++
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = b;
	do
	:: i < nn -> net[i] = 0; i++
	:: else -> break
	od;
	nn = b
}

inline op_add()
{
	added = 1;
	printf("ADDED\n");
	listed[3] = 1;
	c_acked[3] = base[R];
	changed(R);
	n = R
}
inline op_move()
{
	/* the good-bye */
#ifndef NO_EPOCH_RULE
	put(MSG(JOIN, 1, 0, (generation[Q] + 1) << 4));
#endif
	moved = 1;
	printf("MOVED\n");
	welcomed[Q] = 0;
	changed(Q);
	n = Q
}
inline op_drop()
{
	dropped = 1;
	printf("DROPPED\n");
	listed[1] = 0;
	c_generation[1] = 0;
	c_token[1] = 0;
	c_acked[1] = 0;
	c_heard[1] = 0;
	changed(A);
	n = A
}
inline op_restart()
{
	restarted = 1;
	printf("RESTARTED\n");
	epoch[A] = 0;
	base[A] = 0;
	kept[A] = 0;
	token[A] = 0;
	contributors[A] = 0;
	open[A] = 0;
	welcomed[A] = 0;
	generation[A] = INSTANCE | 1;
	for (r : 0 .. ROUNDS - 1) {
		for (f : 0 .. FRAGS - 1) {
			clear(A, r, f)
		}
	}
	for (h : 0 .. 1) {
		c_generation[h] = 0;
		c_token[h] = 0;
		c_acked[h] = 0;
		c_heard[h] = 0
	}
	n = A
}

inline run_calm()
{
	calm = 1;
	printf("CALM\n");
	for (i : 0 .. NET - 1) {
		net[i] = 0
	}
	nn = 0;
	if
	:: moved || added || dropped ->
		if :: !added -> op_add() :: else fi;
		if :: !moved -> op_move() :: else fi;
		if :: !dropped -> op_drop() :: else fi
	:: else
	fi;
	tick = 0;
	do
	:: tick < TICKS && (ended[P] & ended[Q]) != (1 << ROUNDS) - 1 ->
		open_try();
		for (i : R .. Q) {
			emit(i)
		}
		do
		:: nn ->
			nn--;
			pm = net[nn];
			net[nn] = 0;
			receive(pm)
		:: else -> break
		od;
		tick++
	:: else -> break
	od;
	for (i : 0 .. NET - 1) {
		net[i] = 0
	}
	nn = 0;
	assert((ended[P] & ended[Q]) == (1 << ROUNDS) - 1);
#ifdef NO_FAILURE
	assert(!failed)
#endif
}

init {
	byte pick;

	d_step {
		listed[0] = 1;
		listed[1] = 1;
		listed[2] = 1;
		generation[A] = 1;
		generation[P] = 1;
		generation[Q] = 1;
#ifndef FROM_SCRATCH
		for (h : 0 .. 2) {
			c_generation[h] = 1;
			c_token[h] = (h == 2 -> 5 : OWN(CHILD(h)));
			welcomed[CHILD(h)] = 1
		}
		open_epoch(R, 1, 0, 0, 5);
		open_epoch(A, 1, 0, 0, 5);
		open_epoch(P, 1, 0, 0, 5);
		open_epoch(Q, 1, 0, 0, 5);
#endif
#ifdef OLD_JOIN
		put(MSG(JOIN, 2, 0, 1 << 4 | 5));
#endif
		for (i : R .. Q) {
			emit(i)
		}
	}
	do
	:: atomic {
		nn ->
		do
		:: pick + 1 < nn -> pick++
		:: break
		od;
		d_step {
			receive(net[pick]);
			pick = 0;
			emit(n);
			sweep()
		}
	}
#ifdef REPARENT
	:: d_step { !added -> op_add(); emit(n); sweep() }
	:: d_step { !moved && AFTER(added) -> op_move(); emit(n); sweep() }
	:: d_step { !dropped && AFTER(moved) -> op_drop(); emit(n); sweep() }
#endif
#ifdef RESTART
	:: d_step { !restarted -> op_restart(); emit(n); sweep() }
#endif
#ifndef NO_CALM
	:: d_step { run_calm() } -> break
#endif
	od
}
