// SPDX-License-Identifier: GPL-2.0
/*
 * Trees for jobs that lose aggregators. Few moves come first: the children of who is out are the
 * only ones that move, unless a tree from scratch is clearly better.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replan.h"

#define REPLAN_WORK	2e8	/* predictions times sites that are spent on children of one job */

typedef bool (*replan_out_fn)(const void *ctx, const char *host);

/**
 * struct replan - one job that is planned anew
 * @how: with what
 * @plan: all jobs, as they are without those who are out
 * @was: the job as the plan has it
 * @job: as it is without those who are out; changed if a better tree is found
 * @measured: what was measured of it, NULL if nothing
 * @measure: its workers
 * @problem: made of these
 * @predict: for it
 * @site: site of each node of @job, -1 if it gives the job up
 * @old: the tree of @job
 * @best: the best of those in which only children of who is out move
 * @base: what it was before a node's children were looked at
 * @try: room for a tree
 * @left: predictions that may be tried
 */
struct replan {
	const struct ina_replan *how;
	const struct ina_plan *plan;
	const struct ina_plan_job *was;
	struct ina_plan_job *job;
	const struct ina_measure *measured;
	struct ina_measure measure;
	struct ina_tree_problem *problem;
	struct ina_predict *predict;
	int *site;
	int *old;
	int *best;
	int *base;
	int *try;
	double left;
};

static int replan_fail(struct ina_doc_error *why, const struct ina_plan_job *job, const char *host,
		       const char *what)
{
	snprintf(why->text, sizeof(why->text), "job %u: host %.80s %s", job->id, host, what);
	return -EINVAL;
}

static bool replan_loses(const struct ina_plan_job *was, replan_out_fn out, const void *ctx)
{
	for (int i = 0; i < was->n_nodes; i++) {
		int up = was->nodes[i].parent;

		if (up >= 0 && was->nodes[up].parent >= 0 && out(ctx, was->nodes[up].host))
			return true;
	}
	return false;
}

static const struct ina_measure_worker *replan_find(const struct ina_measure *measure, int host)
{
	for (int i = 0; i < measure->n_workers; i++) {
		if (measure->workers[i].host == host)
			return &measure->workers[i];
	}
	return NULL;
}

/* A measurement is of the job that has its workers, on just these machines. */
static bool replan_is_measured(const struct ina_replan *how, const struct ina_plan_job *job)
{
	int n = 0;

	for (int i = 0; how->measure && i < job->n_nodes; i++) {
		int host = ina_topo_find(how->topo, job->nodes[i].host);

		if (!job->nodes[i].workers)
			continue;
		if (!replan_find(how->measure, host))
			return false;
		n++;
	}
	return how->measure && n == how->measure->n_workers;
}

/* What was measured of a machine; without it gradients are there at once. */
static struct ina_measure_worker replan_worker(const struct replan *r, int host, uint32_t workers)
{
	struct ina_measure_worker worker = { .host = host };

	if (r->measured)
		worker = *replan_find(r->measured, host);
	worker.workers = workers;
	return worker;
}

static int replan_measure(struct replan *r, struct ina_doc_error *why)
{
	const struct ina_plan_job *job = r->job;

	r->measure.workers = calloc((size_t)job->n_nodes, sizeof(*r->measure.workers));
	if (!r->measure.workers)
		return -ENOMEM;
	for (int i = 0; i < job->n_nodes; i++) {
		int host = ina_topo_find(r->how->topo, job->nodes[i].host);

		if (!job->nodes[i].workers)
			continue;
		if (host == INA_TOPO_NONE)
			return replan_fail(why, job, job->nodes[i].host, "is not in the topology");
		r->measure.workers[r->measure.n_workers++] =
			replan_worker(r, host, job->nodes[i].workers);
	}
	return 0;
}

/* Bytes of the gradient: as measured, else what the job has room for. */
static double replan_size(const struct replan *r)
{
	const char *capacity = ina_plan_option(r->job->options, "capacity");
	const char *dtype = ina_plan_option(r->job->options, "dtype");
	double elements = 0;

	if (r->measured && r->measured->size)
		return r->measured->size;
	if (capacity && !strncmp(capacity, "0x", 2))
		elements = (double)strtoull(capacity, NULL, 16);
	else if (capacity)
		ina_doc_number(capacity, &elements);
	return elements * (dtype && !strcmp(dtype, "bf16") ? 2 : 4);
}

static const struct ina_plan_node *replan_node(const struct ina_plan_job *job, const char *host)
{
	for (int i = 0; i < job->n_nodes; i++) {
		if (!strcmp(job->nodes[i].host, host))
			return &job->nodes[i];
	}
	return NULL;
}

/* Trees of other jobs that a machine aggregates for. */
static int replan_taken(const struct replan *r, const char *host)
{
	int n = 0;

	for (int j = 0; j < r->plan->n_jobs; j++) {
		const struct ina_plan_job *job = &r->plan->jobs[j];
		const struct ina_plan_node *node = job == r->job ? NULL : replan_node(job, host);

		n += node && ina_plan_adds(job, (int)(node - job->nodes));
	}
	return n;
}

/* Whether a machine may aggregate for this job, as a capacity. */
static int replan_capacity(const struct replan *r, int host, replan_out_fn out, const void *ctx)
{
	const struct ina_topo_node *node = &r->how->topo->nodes[host];
	const struct ina_plan_node *known = replan_node(r->job, node->name);

	/* The root stays. */
	if (known && known->parent < 0)
		return node->capacity > 0 ? node->capacity : 1;
	/* A machine that would come needs an address that goes with the others. */
	if (out(ctx, node->name) ||
	    (!known && (!node->addr || !r->job->nodes[0].addr ||
			!ina_plan_one_family(node->name, node->addr, r->job->nodes[0].host,
					     r->job->nodes[0].addr, NULL))))
		return 0;
	return node->capacity - replan_taken(r, node->name);
}

/* What the topology is to this job; the plan knows better where its machines are. */
static int replan_problem(struct replan *r, replan_out_fn out, const void *ctx,
			  struct ina_doc_error *why)
{
	struct ina_topo *topo = r->how->topo;
	size_t size = (size_t)topo->n_nodes * sizeof(*topo->nodes);
	struct ina_topo_node *nodes = malloc(size + 1);
	int root = 0;

	if (!nodes)
		return -ENOMEM;
	memcpy(nodes, topo->nodes, size);
	while (r->job->nodes[root].parent >= 0)
		root++;
	root = ina_topo_find(topo, r->job->nodes[root].host);
	for (int i = 0; i < topo->n_nodes; i++) {
		const struct ina_plan_node *known = replan_node(r->job, topo->nodes[i].name);

		if (topo->nodes[i].kind == INA_TOPO_HOST)
			topo->nodes[i].capacity = replan_capacity(r, i, out, ctx);
		if (known)
			topo->nodes[i].addr = known->addr;
	}
	if (root == INA_TOPO_NONE)
		snprintf(why->text, sizeof(why->text), "job %u: the root is not in the topology",
			 r->job->id);
	else
		r->problem = ina_tree_problem_create(topo, &r->measure, root, replan_size(r),
						     r->how->per_core, why);
	memcpy(topo->nodes, nodes, size);
	free(nodes);
	return r->problem ? 0 : -EINVAL;
}

/* The tree there is as one of the problem. */
static int replan_map(struct replan *r, struct ina_doc_error *why)
{
	const struct ina_plan_job *job = r->job;
	bool *used = calloc((size_t)job->n_nodes, sizeof(*used));
	int ret = used ? 0 : -ENOMEM;

	if (!ret)
		ina_plan_used(job, used);
	for (int i = 0; !ret && i < job->n_nodes; i++) {
		int host = ina_topo_find(r->how->topo, job->nodes[i].host);

		r->site[i] = -1;
		for (int s = 0; used[i] && s < r->problem->n_sites; s++) {
			if (r->problem->sites[s].host == host)
				r->site[i] = s;
		}
		if (used[i] && r->site[i] < 0)
			ret = replan_fail(why, job, job->nodes[i].host,
					  "may not aggregate, as the topology has it");
	}
	for (int s = 0; !ret && s < r->problem->n_sites; s++)
		r->old[s] = INA_TREE_UNUSED;
	for (int i = 0; !ret && i < job->n_nodes; i++) {
		if (r->site[i] >= 0)
			r->old[r->site[i]] = job->nodes[i].parent < 0 ? INA_TREE_ROOT :
					     r->site[job->nodes[i].parent];
	}
	free(used);
	return ret;
}

/* Keep the tree in @try if it is the best so far. */
static void replan_consider(struct replan *r, double *seconds)
{
	double now = ina_predict_run(r->predict, r->try);

	r->left--;
	if (now >= *seconds)
		return;
	*seconds = now;
	memcpy(r->best, r->try, (size_t)r->problem->n_sites * sizeof(*r->best));
}

/* Has node @i lost its parent, or @parent if that is not -1? */
static bool replan_lost(const struct replan *r, int i, int parent)
{
	int was = r->was->nodes[i].parent;

	return r->site[i] >= 0 && was != r->job->nodes[i].parent && (parent < 0 || was == parent);
}

/* All children of node @gone, which is out, below a machine that has no part in the job yet. */
static void replan_substitute(struct replan *r, int gone, double *seconds)
{
	size_t size = (size_t)r->problem->n_sites * sizeof(*r->base);
	int up = INA_TREE_UNUSED;

	memcpy(r->base, r->best, size);
	for (int i = 0; i < r->was->n_nodes; i++) {
		if (replan_lost(r, i, gone))
			up = r->old[r->site[i]];
	}
	for (int s = 1; up >= 0 && s < r->problem->n_sites && r->left > 0; s++) {
		if (r->base[s] != INA_TREE_UNUSED || !r->problem->sites[s].candidate)
			continue;
		memcpy(r->try, r->base, size);
		r->try[s] = up;
		for (int i = 0; i < r->was->n_nodes; i++) {
			if (replan_lost(r, i, gone))
				r->try[r->site[i]] = s;
		}
		replan_consider(r, seconds);
	}
}

/* One child of a node that is out below another one that aggregates or may. */
static void replan_move(struct replan *r, int child, double *seconds)
{
	for (int s = 0; s < r->problem->n_sites && r->left > 0; s++) {
		if (r->best[s] == INA_TREE_UNUSED || (s && !r->problem->sites[s].candidate))
			continue;
		memcpy(r->try, r->best, (size_t)r->problem->n_sites * sizeof(*r->try));
		r->try[child] = s;
		replan_consider(r, seconds);
	}
}

/* The best tree in which nobody moves but the children of those who are out. */
static double replan_near(struct replan *r)
{
	size_t n = (size_t)r->problem->n_sites;
	double seconds = ina_predict_run(r->predict, r->old);

	memcpy(r->best, r->old, n * sizeof(*r->best));
	r->left = REPLAN_WORK / (double)n;
	for (int i = 0; i < r->was->n_nodes; i++)
		replan_substitute(r, i, &seconds);
	for (int i = 0; i < r->was->n_nodes; i++) {
		if (replan_lost(r, i, -1))
			replan_move(r, r->site[i], &seconds);
	}
	/* Machines that come may be anywhere. */
	for (int s = 1; s < r->problem->n_sites; s++) {
		if (r->old[s] == INA_TREE_UNUSED && r->best[s] != INA_TREE_UNUSED)
			replan_move(r, s, &seconds);
	}
	return seconds;
}

static bool replan_text(char **copy, const char *text)
{
	*copy = text ? strdup(text) : NULL;
	return *copy || !text;
}

/* The plan knows better than the topology how a machine is reached, also from another job. */
static bool replan_copy_node(const struct replan *r, struct ina_plan_node *node, const char *host,
			     const struct ina_topo_node *topo)
{
	const struct ina_plan_node *known = replan_node(r->job, host), *other = known;

	for (int j = 0; !other && j < r->plan->n_jobs; j++)
		other = replan_node(&r->plan->jobs[j], host);
	return replan_text(&node->host, host) &&
	       replan_text(&node->where, other ? other->where : topo->where) &&
	       replan_text(&node->addr, known ? known->addr : topo->addr);
}

/* Nodes for the sites of @tree; then, as leaves, for machines that give the job up. */
static bool replan_nodes(const struct replan *r, const int *tree, struct ina_plan_job *to, int *at)
{
	const struct ina_tree_problem *problem = r->problem;

	for (int s = 0, n = 0; s < problem->n_sites; s++)
		at[s] = tree[s] == INA_TREE_UNUSED ? -1 : n++;
	for (int s = 0; s < problem->n_sites; s++) {
		const struct ina_topo_node *host = &problem->topo->nodes[problem->sites[s].host];
		struct ina_plan_node *node = &to->nodes[to->n_nodes];

		if (at[s] < 0)
			continue;
		to->n_nodes++;
		node->parent = tree[s] < 0 ? -1 : at[tree[s]];
		node->workers = problem->sites[s].workers;
		if (!replan_copy_node(r, node, host->name, host))
			return false;
	}
	for (int i = 0; i < r->job->n_nodes; i++) {
		struct ina_plan_node *node = &to->nodes[to->n_nodes];

		if (replan_node(to, r->job->nodes[i].host))
			continue;
		to->n_nodes++;
		node->parent = 0;
		if (!replan_copy_node(r, node, r->job->nodes[i].host, NULL))
			return false;
	}
	return true;
}

/* Give the job the nodes of @tree. */
static int replan_take(struct replan *r, const int *tree)
{
	struct ina_plan_job to = { .id = r->job->id };
	size_t most = (size_t)r->problem->n_sites + (size_t)r->job->n_nodes;
	int *at = calloc((size_t)r->problem->n_sites, sizeof(*at));
	bool ok;

	to.nodes = calloc(most, sizeof(*to.nodes));
	ok = at && to.nodes && replan_nodes(r, tree, &to, at);
	free(at);
	if (!ok) {
		ina_plan_job_clear(&to);
		return -ENOMEM;
	}
	to.options = r->job->options;
	r->job->options = NULL;
	ina_plan_job_clear(r->job);
	*r->job = to;
	return 0;
}

/* Fewest moves first. */
static int replan_choose(struct replan *r)
{
	double up = ina_predict_run(r->predict, r->old), near = replan_near(r), far;
	double enough;

	if (ina_search(r->predict, 1, 0, r->try))
		return -ENOMEM;
	far = ina_predict_run(r->predict, r->try);
	enough = fmin(up, fmin(near, far)) * (1 + INA_REPLAN_SLACK);
	if (up <= enough)
		return 0;
	return replan_take(r, near <= enough ? r->best : r->try);
}

static int replan_room(struct replan *r)
{
	size_t n = (size_t)r->problem->n_sites;

	r->predict = ina_predict_create(r->problem);
	r->site = calloc((size_t)r->job->n_nodes, sizeof(*r->site));
	r->old = calloc(n, sizeof(*r->old));
	r->best = calloc(n, sizeof(*r->best));
	r->base = calloc(n, sizeof(*r->base));
	r->try = calloc(n, sizeof(*r->try));
	return r->predict && r->site && r->old && r->best && r->base && r->try ? 0 : -ENOMEM;
}

static int replan_job(struct replan *r, replan_out_fn out, const void *ctx,
		      struct ina_doc_error *why)
{
	int ret = replan_measure(r, why);

	if (!ret)
		ret = replan_problem(r, out, ctx, why);
	if (!ret)
		ret = replan_room(r);
	if (!ret)
		ret = replan_map(r, why);
	if (!ret)
		ret = replan_choose(r);
	free(r->measure.workers);
	ina_predict_destroy(r->predict);
	ina_tree_problem_destroy(r->problem);
	free(r->site);
	free(r->old);
	free(r->best);
	free(r->base);
	free(r->try);
	return ret;
}

struct ina_plan *ina_replan(const struct ina_plan *plan, const struct ina_replan *how,
			    replan_out_fn out, const void *ctx, struct ina_doc_error *why)
{
	struct ina_plan *copy = ina_load_plan(plan, out, ctx);
	int ret = copy ? 0 : -ENOMEM;

	*why = (struct ina_doc_error){ "" };
	for (int j = 0; copy && ret != -ENOMEM && j < copy->n_jobs; j++) {
		struct replan r = { .how = how, .plan = copy, .was = &plan->jobs[j],
				    .job = &copy->jobs[j] };

		if (replan_is_measured(how, r.job))
			r.measured = how->measure;
		if (replan_loses(r.was, out, ctx))
			ret = replan_job(&r, out, ctx, why);
	}
	if (ret != -ENOMEM)
		return copy;
	ina_plan_destroy(copy);
	return NULL;
}
