// SPDX-License-Identifier: GPL-2.0
/*
 * The order of the steps. A root opens an epoch as soon as everybody it and the nodes below it
 * list is there. So every new parent first lists the children that are to come: as long as one
 * of them has not moved, no epoch opens. Then old parents let go, and only then children move.
 * See Documentation/apply.rst for why this is enough.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

const char *const ina_phase_words[] = {
	[INA_PHASE_CREATE] = "create",
	[INA_PHASE_HOLD] = "hold",
	[INA_PHASE_EXPECT] = "expect",
	[INA_PHASE_ABDICATE] = "abdicate",
	[INA_PHASE_RELEASE] = "release",
	[INA_PHASE_END] = "end",
	[INA_PHASE_MOVE] = "move",
};

void ina_steps_clear(struct ina_steps *steps)
{
	for (int i = 0; i < steps->n; i++) {
		ina_place_clear(&steps->steps[i].from);
		ina_place_clear(&steps->steps[i].to);
	}
	free(steps->steps);
	*steps = (struct ina_steps){ 0 };
}

static int steps_grow(struct ina_steps *steps)
{
	int room = steps->room ? 2 * steps->room : 16;
	struct ina_step *bigger;

	if (steps->n < steps->room)
		return 0;
	bigger = realloc(steps->steps, (size_t)room * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	steps->steps = bigger;
	steps->room = room;
	return 0;
}

/* Append a step and take it in @now. */
static int steps_append(struct ina_steps *steps, enum ina_phase phase, struct ina_cluster *now,
			int job, int host, const struct ina_place *to)
{
	struct ina_place *from = ina_cluster_place(now, job, host);
	struct ina_step step = { .phase = phase, .job = job, .host = host };

	if (steps_grow(steps) || ina_place_copy(&step.from, from))
		return -ENOMEM;
	if (ina_place_copy(&step.to, to) || ina_place_copy(from, to)) {
		ina_place_clear(&step.from);
		ina_place_clear(&step.to);
		return -ENOMEM;
	}
	steps->steps[steps->n++] = step;
	return 0;
}

/* The same, if it changes anything. */
static int steps_add(struct ina_steps *steps, enum ina_phase phase, struct ina_cluster *now,
		     int job, int host, const struct ina_place *to)
{
	if (ina_place_equal(ina_cluster_place(now, job, host), to))
		return 0;
	return steps_append(steps, phase, now, job, host, to);
}

static int steps_host_of(const struct ina_cluster *cluster, int job, const struct ina_addr *addr)
{
	for (int h = 0; h < cluster->n_hosts; h++) {
		const struct ina_place *place = ina_cluster_place(cluster, job, h);

		if (place->tree && ina_addr_equal(&place->local, addr))
			return h;
	}
	return -1;
}

static bool steps_moves(const struct ina_place *now, const struct ina_place *goal)
{
	return !ina_addr_equal(&now->parent, &goal->parent);
}

/* A child that is to come. One's own parent comes only when one has left it. */
static bool steps_expects(const struct ina_place *now, const struct ina_place *goal)
{
	for (int i = 0; i < goal->n_children; i++) {
		if (!ina_place_has_child(now, &goal->children[i]) &&
		    !ina_addr_equal(&now->parent, &goal->children[i]))
			return true;
	}
	return false;
}

static int steps_create(struct ina_steps *steps, struct ina_cluster *now,
			const struct ina_cluster *goal, int job, int host)
{
	const struct ina_place *from = ina_cluster_place(now, job, host);
	const struct ina_place *to = ina_cluster_place(goal, job, host);

	if (!to->tree || from->tree || ina_place_is_root(to))
		return 0;
	return steps_add(steps, INA_PHASE_CREATE, now, job, host, to);
}

/* A new root comes when all nodes expect whom they are to have: they may have let some go. */
static int steps_crown(struct ina_steps *steps, struct ina_cluster *now,
		       const struct ina_cluster *goal, int job, int host)
{
	const struct ina_place *from = ina_cluster_place(now, job, host);
	const struct ina_place *to = ina_cluster_place(goal, job, host);

	if (from->tree || !ina_place_is_root(to))
		return 0;
	return steps_add(steps, INA_PHASE_CREATE, now, job, host, to);
}

static int steps_abdicate(struct ina_steps *steps, struct ina_cluster *now,
			  const struct ina_cluster *goal, int job, int host)
{
	const struct ina_place *from = ina_cluster_place(now, job, host);
	const struct ina_place *to = ina_cluster_place(goal, job, host);

	if (!ina_place_is_root(from) || ina_place_is_root(to))
		return 0;
	return steps_add(steps, INA_PHASE_ABDICATE, now, job, host, to);
}

/*
 * Is somebody below @place still elsewhere, so that it is not complete? Looked at no deeper than
 * @depth, as what is configured may be no tree.
 */
static bool steps_blocks(const struct ina_cluster *now, int job, const struct ina_place *place,
			 int depth)
{
	for (int i = 0; i < place->n_children; i++) {
		int h = steps_host_of(now, job, &place->children[i]);
		const struct ina_place *child = h < 0 ? NULL : ina_cluster_place(now, job, h);

		if (child && (!ina_addr_equal(&child->parent, &place->local) || !depth ||
			      steps_blocks(now, job, child, depth - 1)))
			return true;
	}
	return false;
}

/* The children to be, but for the parent that is. */
static int steps_stay(const struct ina_place *from, const struct ina_place *to,
		      struct ina_place *place)
{
	int ret = ina_place_copy(place, to);

	place->parent = from->parent;
	place->local = from->local;
	place->workers = from->workers;
	ina_place_del_child(place, &from->parent);
	return ret;
}

/*
 * The same for one who expects some. Those that go are let go at once only if
 * somebody else is missing then: a node should not need room for both.
 */
static int steps_expect_place(const struct ina_cluster *now, int job, const struct ina_place *from,
			      const struct ina_place *to, struct ina_place *place)
{
	int ret = steps_stay(from, to, place);

	if (ret || steps_blocks(now, job, place, now->n_hosts))
		return ret;
	for (int i = 0; !ret && i < from->n_children; i++) {
		if (!ina_place_has_child(place, &from->children[i]))
			ret = ina_place_add_child(place, &from->children[i]);
	}
	return ret;
}

static int steps_expect(struct ina_steps *steps, struct ina_cluster *now,
			const struct ina_cluster *goal, int job, int host)
{
	const struct ina_place *from = ina_cluster_place(now, job, host);
	const struct ina_place *to = ina_cluster_place(goal, job, host);
	struct ina_place place = { 0 };
	int ret;

	if (!to->tree || !from->tree || !steps_expects(from, to))
		return 0;
	ret = steps_expect_place(now, job, from, to, &place);
	if (!ret)
		ret = steps_add(steps, INA_PHASE_EXPECT, now, job, host, &place);
	ina_place_clear(&place);
	return ret;
}

/*
 * How many nodes are above @host, which counts; more than there are machines in a ring. @listed:
 * only as far as each is a child of the next.
 */
static int steps_depth(const struct ina_cluster *now, int job, int host, bool listed)
{
	int depth = 0;

	while (host >= 0 && depth <= now->n_hosts) {
		const struct ina_place *place = ina_cluster_place(now, job, host);

		host = place->tree ? steps_host_of(now, job, &place->parent) : -1;
		if (listed && host >= 0 &&
		    !ina_place_has_child(ina_cluster_place(now, job, host), &place->local))
			host = -1;
		depth++;
	}
	return depth;
}

/*
 * In a ring, as there may be half-way, nobody who moves comes first: so they let go before, but
 * for those who would have nobody left. These move first.
 */
static int steps_untie(struct ina_steps *steps, struct ina_cluster *now,
		       const struct ina_cluster *goal, int job, int host)
{
	struct ina_place place = { 0 };
	int ret = steps_stay(ina_cluster_place(now, job, host), ina_cluster_place(goal, job, host),
			     &place);

	if (!ret && (place.n_children || place.workers))
		ret = steps_add(steps, INA_PHASE_RELEASE, now, job, host, &place);
	ina_place_clear(&place);
	return ret;
}

static int steps_release(struct ina_steps *steps, struct ina_cluster *now,
			 const struct ina_cluster *goal, int job, int host)
{
	const struct ina_place *from = ina_cluster_place(now, job, host);
	const struct ina_place *to = ina_cluster_place(goal, job, host);

	if (!to->tree)
		return 0;
	if (steps_moves(from, to))
		return steps_depth(now, job, host, false) > now->n_hosts ?
		       steps_untie(steps, now, goal, job, host) : 0;
	return steps_add(steps, INA_PHASE_RELEASE, now, job, host, to);
}

static int steps_end(struct ina_steps *steps, struct ina_cluster *now,
		     const struct ina_cluster *goal, int job, int host)
{
	const struct ina_place *to = ina_cluster_place(goal, job, host);

	return to->tree ? 0 : steps_add(steps, INA_PHASE_END, now, job, host, to);
}

static int steps_move(struct ina_steps *steps, struct ina_cluster *now,
		      const struct ina_cluster *goal, int job, int host)
{
	return steps_add(steps, INA_PHASE_MOVE, now, job, host,
			 ina_cluster_place(goal, job, host));
}

/**
 * struct steps_rank - a machine and its place in the order
 * @depth: nodes above it
 * @host: its index
 */
struct steps_rank {
	int depth;
	int host;
};

static int steps_rank_compare(const void *a, const void *b)
{
	const struct steps_rank *one = a, *other = b;

	return one->depth != other->depth ? one->depth - other->depth : one->host - other->host;
}

/* Machines from the root down, as it is now: who moves has let go before its children move. */
static struct steps_rank *steps_ranks(const struct ina_cluster *now, int job)
{
	struct steps_rank *ranks = calloc((size_t)now->n_hosts + 1, sizeof(*ranks));

	for (int h = 0; ranks && h < now->n_hosts; h++)
		ranks[h] = (struct steps_rank){ steps_depth(now, job, h, false), h };
	if (ranks)
		qsort(ranks, (size_t)now->n_hosts, sizeof(*ranks), steps_rank_compare);
	return ranks;
}

/* Those of a ring have let go by now, but for some: these before whom they still list. */
static void steps_rank_ring(const struct ina_cluster *now, int job, struct steps_rank *ranks)
{
	for (int i = 0; i < now->n_hosts; i++) {
		if (ranks[i].depth > now->n_hosts)
			ranks[i].depth += steps_depth(now, job, ranks[i].host, true);
	}
	qsort(ranks, (size_t)now->n_hosts, sizeof(*ranks), steps_rank_compare);
}

/* Rounds that run end before anything of their tree changes. Who is root now, @root, sees to it. */
static int steps_hold(struct ina_steps *steps, struct ina_cluster *now, int job, int root)
{
	return root < 0 ? 0 : steps_append(steps, INA_PHASE_HOLD, now, job, root,
					   ina_cluster_place(now, job, root));
}

/* Nothing changes: no need to wait. */
static void steps_unhold(struct ina_steps *steps)
{
	struct ina_step *last = steps->steps + steps->n;

	if (!steps->n || (--last)->phase != INA_PHASE_HOLD)
		return;
	ina_place_clear(&last->from);
	ina_place_clear(&last->to);
	steps->n--;
}

static int steps_root(const struct ina_cluster *now, int job)
{
	int h = now->n_hosts - 1;

	while (h >= 0 && !ina_place_is_root(ina_cluster_place(now, job, h)))
		h--;
	return h;
}

/* The steps of one job, whose settings stay, from @now, which they change, to @goal. */
static int steps_phases(struct ina_steps *steps, struct ina_cluster *now,
		     const struct ina_cluster *goal, int job)
{
	static int (*const phases[])(struct ina_steps *steps, struct ina_cluster *now,
				     const struct ina_cluster *goal, int job, int host) = {
		steps_create, steps_expect, steps_crown, steps_abdicate, steps_release, steps_end,
		steps_move,
	};
	struct steps_rank *ranks = steps_ranks(now, job);
	int root = steps_root(now, job), ret = ranks ? 0 : -ENOMEM;

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		if (!ret && i == 1)
			ret = steps_hold(steps, now, job, root);
		if (!ret && phases[i] == steps_move)
			steps_rank_ring(now, job, ranks);
		for (int h = 0; !ret && h < now->n_hosts; h++)
			ret = phases[i](steps, now, goal, job, ranks[h].host);
	}
	if (!ret)
		steps_unhold(steps);
	free(ranks);
	return ret;
}

/* Does a job get other settings? Then it ends everywhere before it begins again. */
static bool steps_remakes(const struct ina_cluster *now, const struct ina_cluster *goal, int job)
{
	for (int h = 0; h < now->n_hosts; h++) {
		const char *is = ina_cluster_place(now, job, h)->options;
		const char *will = ina_cluster_place(goal, job, h)->options;

		if (is && will && strcmp(is, will))
			return true;
	}
	return false;
}

int ina_steps_job(struct ina_steps *steps, struct ina_cluster *now,
		  const struct ina_cluster *goal, int job)
{
	struct ina_cluster *nothing;
	int ret;

	if (!steps_remakes(now, goal, job))
		return steps_phases(steps, now, goal, job);
	nothing = ina_cluster_copy(goal);
	if (!nothing)
		return -ENOMEM;
	for (int h = 0; h < nothing->n_hosts; h++)
		ina_place_clear(ina_cluster_place(nothing, job, h));
	ret = steps_phases(steps, now, nothing, job);
	ina_cluster_destroy(nothing);
	return ret ? ret : steps_phases(steps, now, goal, job);
}

/* Does machine @host aggregate for @job now, but not as it is to be? */
static bool steps_gives_up(const struct ina_cluster *now, const struct ina_cluster *goal, int job,
			   int host)
{
	return ina_place_aggregates(ina_cluster_place(now, job, host)) &&
	       !ina_place_aggregates(ina_cluster_place(goal, job, host));
}

/* Will @job aggregate on a machine that @other has yet to give up? */
static bool steps_waits(const struct ina_cluster *now, const struct ina_cluster *goal, int job,
			int other)
{
	for (int h = 0; h < now->n_hosts; h++) {
		if (steps_gives_up(goal, now, job, h) && steps_gives_up(now, goal, other, h))
			return true;
	}
	return false;
}

/* Give the children of @host to its parent; a root, and who has no workers, ends its part. */
static int steps_contract_host(struct ina_cluster *to, int job, int host)
{
	struct ina_place *place = ina_cluster_place(to, job, host);
	int ret = 0, up = steps_host_of(to, job, &place->parent);
	struct ina_place *parent = up < 0 ? NULL : ina_cluster_place(to, job, up);

	for (int i = 0; !ret && i < place->n_children && !ina_place_is_root(place); i++) {
		int child = steps_host_of(to, job, &place->children[i]);

		ret = parent ? ina_place_add_child(parent, &place->children[i]) : 0;
		if (child >= 0)
			ina_cluster_place(to, job, child)->parent = place->parent;
	}
	if (place->workers && !ina_place_is_root(place)) {
		place->n_children = 0;
		return ret;
	}
	if (parent)
		ina_place_del_child(parent, &place->local);
	ina_place_clear(place);
	return ret;
}

/* Take @job off the machines that others wait for, and leave the rest of its tree as it is. */
static int steps_contract(struct ina_steps *steps, struct ina_cluster *now,
			  const struct ina_cluster *goal, int job)
{
	struct ina_cluster *between = ina_cluster_copy(now);
	int ret = between ? 0 : -ENOMEM;

	for (int h = 0; !ret && h < now->n_hosts; h++) {
		if (steps_gives_up(now, goal, job, h))
			ret = steps_contract_host(between, job, h);
	}
	if (!ret)
		ret = ina_steps_job(steps, now, between, job);
	ina_cluster_destroy(between);
	return ret;
}

/* The first job that is not @done and waits for no other; -1 if all wait in a circle. */
static int steps_next(const struct ina_cluster *now, const struct ina_cluster *goal,
		      const bool *done)
{
	for (int j = 0; j < now->n_jobs; j++) {
		bool waits = done[j];

		for (int k = 0; !waits && k < now->n_jobs; k++)
			waits = k != j && !done[k] && steps_waits(now, goal, j, k);
		if (!waits)
			return j;
	}
	return -1;
}

/* A job for which others wait, and which can step aside. */
static int steps_in_the_way(const struct ina_cluster *now, const struct ina_cluster *goal,
			    const bool *done)
{
	for (int k = 0; k < now->n_jobs; k++) {
		for (int j = 0; !done[k] && j < now->n_jobs; j++) {
			if (j != k && !done[j] && steps_waits(now, goal, j, k))
				return k;
		}
	}
	return -1;
}

static int steps_jobs(struct ina_steps *steps, struct ina_cluster *now,
		      const struct ina_cluster *goal, bool *done)
{
	int ret = 0, left = now->n_jobs;

	while (!ret && left) {
		int job = steps_next(now, goal, done);

		if (job < 0) {
			ret = steps_contract(steps, now, goal, steps_in_the_way(now, goal, done));
			continue;
		}
		ret = ina_steps_job(steps, now, goal, job);
		done[job] = true;
		left--;
	}
	return ret;
}

int ina_steps_plan(const struct ina_cluster *now, const struct ina_cluster *goal,
		   struct ina_steps *steps)
{
	struct ina_cluster *work = ina_cluster_copy(now);
	bool *done = calloc((size_t)now->n_jobs + 1, sizeof(*done));
	int ret = work && done ? 0 : -ENOMEM;

	*steps = (struct ina_steps){ 0 };
	if (!ret)
		ret = steps_jobs(steps, work, goal, done);
	if (ret)
		ina_steps_clear(steps);
	ina_cluster_destroy(work);
	free(done);
	return ret;
}

/* What about a place cannot change while workers are attached; NULL if nothing of it does. */
static const char *steps_obstacle(const struct ina_place *now, const struct ina_place *goal)
{
	if (!goal->tree)
		return "leaves the job";
	if (strcmp(now->options, goal->options))
		return "gets other settings";
	if (ina_place_is_root(now) != ina_place_is_root(goal))
		return ina_place_is_root(now) ? "ceases to be the root" : "becomes the root";
	if (!ina_addr_equal(&now->local, &goal->local))
		return "gets another address";
	return now->workers == goal->workers ? NULL : "gets another number of workers";
}

int ina_steps_check(const struct ina_cluster *now, const struct ina_cluster *goal,
		    struct ina_doc_error *err)
{
	for (long i = 0; i < (long)now->n_jobs * now->n_hosts; i++) {
		const struct ina_place *from = &now->places[i], *to = &goal->places[i];
		const char *why = from->tree && from->attached ? steps_obstacle(from, to) : NULL;

		if (!why || ina_place_equal(from, to))
			continue;
		snprintf(err->text, sizeof(err->text),
			 "job %" PRIu32 ": workers are attached on %.80s, which %s: end them first",
			 now->jobs[i / now->n_hosts], now->hosts[i % now->n_hosts].name, why);
		return -EINVAL;
	}
	return 0;
}
