// SPDX-License-Identifier: GPL-2.0
/*
 * Finds trees. A job that comes takes one that fits; else others move aside, a chain of a few
 * at most; else one tree gives way if two come in for it; else the job shares. The plan of
 * first fits runs beside it and is adopted should it ever have more trees, so this is never
 * worse.
 */
#include <limits.h>

#include "forest_impl.h"

#define INA_FOREST_DEPTH	2	/* trees that move in a chain */

static bool ina_forest_has_unit(const struct ina_forest *forest, int resource)
{
	return forest->resources[resource].own < forest->resources[resource].capacity;
}

static bool ina_forest_common_fits(const struct ina_forest *forest,
				   const struct ina_forest_job *job)
{
	int i;

	for (i = 0; i < job->candidates.n_common; i++)
		if (!ina_forest_has_unit(forest, job->candidates.common[i]))
			return false;
	return true;
}

static bool ina_forest_rest_fits(const struct ina_forest *forest,
				 const struct ina_forest_job *job, int t)
{
	int i;

	for (i = job->candidates.start[t]; i < job->candidates.start[t + 1]; i++)
		if (!ina_forest_has_unit(forest, job->candidates.rest[i]))
			return false;
	return true;
}

bool ina_forest_fits(const struct ina_forest *forest, int number, int t)
{
	const struct ina_forest_job *job = &forest->jobs[number];

	return ina_forest_common_fits(forest, job) && ina_forest_rest_fits(forest, job, t);
}

/* Trees that are in the way of candidate @t, counted once for every resource. */
static long ina_forest_crowd(const struct ina_forest *forest, const struct ina_forest_job *job,
			     int t)
{
	long crowd = 0;
	int i;

	for (i = job->candidates.start[t]; i < job->candidates.start[t + 1]; i++) {
		const struct ina_forest_resource *r = &forest->resources[job->candidates.rest[i]];

		if (r->n >= r->capacity)
			crowd += r->n;
	}
	return crowd;
}

/* The least crowded candidate, of those that fit if @fits; INA_TOPO_NONE if there is none. */
static int ina_forest_least(const struct ina_forest *forest, const struct ina_forest_job *job,
			    bool fits)
{
	int best = INA_TOPO_NONE, t;
	long least = LONG_MAX, crowd;

	for (t = 0; t < job->candidates.n && least; t++) {
		if (fits && !ina_forest_rest_fits(forest, job, t))
			continue;
		crowd = ina_forest_crowd(forest, job, t);
		if (crowd < least) {
			least = crowd;
			best = t;
		}
	}
	return best;
}

/* The candidate that fits best, the tree it has if that does; INA_TOPO_NONE if none does. */
static int ina_forest_fit(const struct ina_forest *forest, int number)
{
	const struct ina_forest_job *job = &forest->jobs[number];

	if (!ina_forest_common_fits(forest, job))
		return INA_TOPO_NONE;
	if (job->tree >= 0 && ina_forest_rest_fits(forest, job, job->tree))
		return job->tree;
	return ina_forest_least(forest, job, true);
}

/* Whether @job can do without this resource. */
static bool ina_forest_movable(const struct ina_forest_job *job, int resource)
{
	int i;

	if (job->kind != INA_FOREST_OWN || job->locked || job->candidates.n < 2)
		return false;
	for (i = 0; i < job->candidates.n_common; i++)
		if (job->candidates.common[i] == resource)
			return false;
	return true;
}

static bool ina_forest_settle(struct ina_forest *forest, int number, int depth);

/* Room in the log for one more change, and for four of every job when the search is over. */
static bool ina_forest_may_log(const struct ina_forest *forest)
{
	return forest->n_log + 4 * forest->n_jobs + 8 < forest->room_log;
}

/* Move one of the trees on this resource to where it fits. */
static bool ina_forest_relieve(struct ina_forest *forest, int resource, int depth)
{
	struct ina_forest_resource *r = &forest->resources[resource];
	int stamp = ++forest->stamp, i = 0;

	while (i < r->n) {
		int number = r->jobs[i++], mark = forest->n_log;
		struct ina_forest_job *job = &forest->jobs[number];
		bool moved;

		if (job->stamp >= stamp || !ina_forest_movable(job, resource) ||
		    !ina_forest_may_log(forest))
			continue;
		job->stamp = stamp;
		job->locked = true;
		ina_forest_set(forest, number, INA_TOPO_NONE, INA_FOREST_NONE);
		moved = ina_forest_settle(forest, number, depth - 1);
		job->locked = false;
		if (moved)
			return true;
		ina_forest_undo(forest, mark);
		i = 0;	/* the order may have changed */
	}
	return false;
}

static bool ina_forest_can_relieve(const struct ina_forest *forest, int resource)
{
	const struct ina_forest_resource *r = &forest->resources[resource];
	int i;

	if (r->own < r->capacity)
		return true;
	for (i = 0; i < r->n; i++)
		if (ina_forest_movable(&forest->jobs[r->jobs[i]], resource))
			return true;
	return false;
}

/* Take candidate @t, and have whoever is in the way moved. */
static bool ina_forest_push(struct ina_forest *forest, int number, int t, int depth)
{
	struct ina_forest_job *job = &forest->jobs[number];
	int count = ina_forest_count(job, t), mark = forest->n_log, i;
	bool locked = job->locked, ok = true;

	for (i = 0; i < count; i++)
		if (!ina_forest_can_relieve(forest, ina_forest_at(job, t, i)))
			return false;
	if (!ina_forest_may_log(forest))
		return false;
	ina_forest_set(forest, number, t, INA_FOREST_OWN);
	job->locked = true;
	for (i = 0; ok && i < count; i++) {
		const struct ina_forest_resource *r =
			&forest->resources[ina_forest_at(job, t, i)];

		if (r->own > r->capacity)
			ok = ina_forest_relieve(forest, ina_forest_at(job, t, i), depth);
	}
	job->locked = locked;
	if (!ok)
		ina_forest_undo(forest, mark);
	return ok;
}

/* A tree of its own for a job that has none, with up to @depth others moved in a chain. */
static bool ina_forest_settle(struct ina_forest *forest, int number, int depth)
{
	const struct ina_forest_job *job = &forest->jobs[number];
	int t = ina_forest_fit(forest, number), i;

	if (t >= 0) {
		ina_forest_set(forest, number, t, INA_FOREST_OWN);
		return true;
	}
	if (depth < 1)
		return false;
	for (i = 0; i < job->candidates.n_common; i++)
		if (!ina_forest_can_relieve(forest, job->candidates.common[i]))
			return false;
	for (t = 0; t < job->candidates.n && forest->steps > 0; t++) {
		forest->steps--;
		if (ina_forest_push(forest, number, t, depth))
			return true;
	}
	return false;
}

/* The only tree of its own in the way of candidate @t; INA_TOPO_NONE if it is not one. */
static int ina_forest_blocker(const struct ina_forest *forest, const struct ina_forest_job *job,
			      int t)
{
	int count = ina_forest_count(job, t), found = INA_TOPO_NONE, i, k;

	for (i = 0; i < count; i++) {
		const struct ina_forest_resource *r =
			&forest->resources[ina_forest_at(job, t, i)];

		if (!r->capacity)
			return INA_TOPO_NONE;
		for (k = 0; r->own >= r->capacity && k < r->n; k++) {
			if (forest->jobs[r->jobs[k]].kind != INA_FOREST_OWN ||
			    r->jobs[k] == found)
				continue;
			if (found >= 0)
				return INA_TOPO_NONE;
			found = r->jobs[k];
		}
	}
	return found;
}

/* A tree of its own for somebody who shared with @tree of @job, which is gone. */
static bool ina_forest_promote_one(struct ina_forest *forest, const struct ina_forest_job *job,
				   int tree)
{
	int i, k, t;

	for (i = ina_forest_count(job, tree) - 1; i >= 0; i--) {
		const struct ina_forest_resource *r =
			&forest->resources[ina_forest_at(job, tree, i)];

		for (k = 0; k < r->n; k++) {
			if (forest->jobs[r->jobs[k]].kind != INA_FOREST_SHARED)
				continue;
			t = ina_forest_fit(forest, r->jobs[k]);
			if (t < 0)
				continue;
			ina_forest_set(forest, r->jobs[k], t, INA_FOREST_OWN);
			return true;
		}
	}
	return false;
}

/* One tree gives way to this job if another job can come in for it as well. */
static bool ina_forest_swap(struct ina_forest *forest, int number)
{
	const struct ina_forest_job *job = &forest->jobs[number];
	int t, last = INA_TOPO_NONE;

	for (t = 0; t < job->candidates.n && forest->steps > 0; t++, forest->steps--) {
		int other = ina_forest_blocker(forest, job, t), mark = forest->n_log, tree;

		if (other < 0 || other == last)
			continue;
		last = other;
		tree = forest->jobs[other].tree;
		ina_forest_set(forest, other, INA_TOPO_NONE, INA_FOREST_NONE);
		ina_forest_set(forest, number, t, INA_FOREST_OWN);
		if (ina_forest_promote_one(forest, &forest->jobs[other], tree))
			return true;
		ina_forest_undo(forest, mark);
	}
	return false;
}

/* Share where the fewest others are. */
static void ina_forest_share(struct ina_forest *forest, int number)
{
	int best = ina_forest_least(forest, &forest->jobs[number], false);

	if (best >= 0)
		ina_forest_set(forest, number, best, INA_FOREST_SHARED);
}

static bool ina_forest_waits(const struct ina_forest_job *job)
{
	return job->used && job->kind != INA_FOREST_OWN && job->candidates.n > 0;
}

void ina_forest_rest(struct ina_forest *forest)
{
	int i, t;

	for (i = 0; i < forest->n_jobs; i++) {
		if (!ina_forest_waits(&forest->jobs[i]))
			continue;
		t = ina_forest_fit(forest, i);
		if (t >= 0)
			ina_forest_set(forest, i, t, INA_FOREST_OWN);
	}
	for (i = 0; i < forest->n_jobs; i++)
		if (ina_forest_waits(&forest->jobs[i]) &&
		    forest->jobs[i].kind == INA_FOREST_NONE)
			ina_forest_share(forest, i);
}

/* Take over the plan of first fits. */
static void ina_forest_adopt(struct ina_forest *forest)
{
	int i;

	for (i = 0; i < forest->n_jobs; i++)
		ina_forest_set(forest, i, INA_TOPO_NONE, INA_FOREST_NONE);
	for (i = 0; i < forest->n_jobs; i++)
		if (forest->jobs[i].used && forest->jobs[i].first >= 0)
			ina_forest_set(forest, i, forest->jobs[i].first, INA_FOREST_OWN);
}

void ina_forest_first_units(struct ina_forest *forest, const struct ina_forest_job *job, int by)
{
	int i;

	if (job->first < 0)
		return;
	for (i = ina_forest_count(job, job->first) - 1; i >= 0; i--)
		forest->resources[ina_forest_at(job, job->first, i)].first += by;
	forest->n_first += by;
}

/* The plan of first fits: what this job gets there. */
void ina_forest_first(struct ina_forest *forest, struct ina_forest_job *job)
{
	int t, i;

	job->first = INA_TOPO_NONE;
	for (t = 0; t < job->candidates.n && job->first < 0; t++) {
		int count = ina_forest_count(job, t);

		for (i = 0; i < count; i++) {
			const struct ina_forest_resource *r =
				&forest->resources[ina_forest_at(job, t, i)];

			if (r->first >= r->capacity)
				break;
		}
		if (i == count)
			job->first = t;
	}
	ina_forest_first_units(forest, job, 1);
}

/* Who has no tree of its own gets one if possible, and first fits are not better. */
void ina_forest_settle_rest(struct ina_forest *forest)
{
	ina_forest_rest(forest);
	if (forest->n_first <= forest->n_own)
		return;
	ina_forest_adopt(forest);
	ina_forest_rest(forest);
}

/* A place for a job that has come. */
void ina_forest_arrange(struct ina_forest *forest, int number)
{
	struct ina_forest_job *job = &forest->jobs[number];
	int depth = 1;

	if (forest->plan == INA_FOREST_FIRST) {
		if (job->first >= 0)
			ina_forest_set(forest, number, job->first, INA_FOREST_OWN);
		return;
	}
	forest->steps = INA_FOREST_STEPS;
	while (job->candidates.n && depth <= INA_FOREST_DEPTH &&
	       !ina_forest_settle(forest, number, depth))
		depth++;
	if (depth > INA_FOREST_DEPTH)
		ina_forest_swap(forest, number);
	ina_forest_settle_rest(forest);
}
