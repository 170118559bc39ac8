// SPDX-License-Identifier: GPL-2.0
/*
 * Plans for all jobs. Running trees that could have been found here are candidates of the
 * forest and may move; any other tree stays, and what it takes is taken off first. The root of a
 * job is one of its machines for as long as it runs: rounds under way need it. Aggregators join
 * the others below it; for a job that gets none, and waits for them, the root sums alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "candidate.h"
#include "jobs.h"
#include "place.h"

#define INA_JOBS_CANDIDATES	64	/* of a job */

/**
 * struct jobs_shape - a tree as it would be in a plan
 * @n: machines
 * @host: their indices in the topology; the root is first, then come the others with workers
 * @parent: position of the parent of each, -1 at the root
 */
struct jobs_shape {
	int n;
	int *host;
	int *parent;
};

/**
 * struct jobs_run - a job of the plan
 * @number: in the forest, INA_TOPO_NONE if it is fixed
 * @tree: candidate it runs with, INA_TOPO_NONE if none
 * @hosts: its machines: the root, then the others, ascending
 * @n: how many
 */
struct jobs_run {
	int number;
	int tree;
	int *hosts;
	int n;
};

/**
 * struct jobs_work - all of it
 * @topo: the cluster
 * @usable: a copy of its nodes: only switches with an aggregator have a capacity
 * @plan: the jobs
 * @runs: one a job
 * @n_runs: how many
 * @graph: to find candidates
 * @forest: their trees
 * @switch_of: for which switch a node aggregates, INA_TOPO_NONE if for none
 * @node_of: place of a machine in the job looked at last, INA_TOPO_NONE elsewhere
 * @up: room for the parents of a tree
 * @children: room for a number a node
 * @shape: room for a tree
 * @err: where the reason of a refusal goes
 */
struct jobs_work {
	const struct ina_topo *topo;
	struct ina_topo usable;
	struct ina_plan *plan;
	struct jobs_run *runs;
	int n_runs;
	struct ina_candidate_graph *graph;
	struct ina_forest *forest;
	int *switch_of;
	int *node_of;
	int *up;
	int *children;
	struct jobs_shape shape;
	struct ina_doc_error *err;
};

static int jobs_fail_memory(const struct jobs_work *work)
{
	snprintf(work->err->text, sizeof(work->err->text), "%s", strerror(ENOMEM));
	return -ENOMEM;
}

void ina_jobs_occupy(struct ina_topo *topo, const struct ina_plan *running, uint32_t except)
{
	for (int j = 0; j < running->n_jobs; j++) {
		const struct ina_plan_job *job = &running->jobs[j];

		for (int i = 0; job->id != except && i < job->n_nodes; i++) {
			int host = ina_plan_adds(job, i) ?
				   ina_topo_find(topo, job->nodes[i].host) : INA_TOPO_NONE;

			if (host >= 0 && topo->nodes[host].capacity > 0)
				topo->nodes[host].capacity--;
		}
	}
}

static bool jobs_start(struct jobs_work *work)
{
	const struct ina_topo *topo = work->topo;
	size_t n = (size_t)topo->n_nodes + 1;

	work->usable = *topo;
	work->usable.nodes = calloc(n, sizeof(*topo->nodes));
	work->switch_of = calloc(n, sizeof(int));
	work->node_of = calloc(n, sizeof(int));
	work->up = calloc(n, sizeof(int));
	work->children = calloc(n, sizeof(int));
	work->shape.host = calloc(n, sizeof(int));
	work->shape.parent = calloc(n, sizeof(int));
	if (!work->usable.nodes || !work->switch_of || !work->node_of || !work->up ||
	    !work->children || !work->shape.host || !work->shape.parent)
		return false;
	memcpy(work->usable.nodes, topo->nodes, (n - 1) * sizeof(*topo->nodes));
	for (int i = 0; i < topo->n_nodes; i++)
		work->switch_of[i] = INA_TOPO_NONE;
	for (int i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].aggregator)
			work->switch_of[ina_topo_find(topo, topo->nodes[i].aggregator)] = i;
		else if (topo->nodes[i].kind == INA_TOPO_SWITCH)
			work->usable.nodes[i].capacity = 0;
	}
	work->graph = ina_candidate_create(&work->usable, false);
	work->forest = ina_forest_create(&work->usable, INA_FOREST_BEST, false,
					 INA_JOBS_CANDIDATES);
	return work->graph && work->forest;
}

static void jobs_end(struct jobs_work *work)
{
	for (int j = 0; j < work->n_runs; j++)
		free(work->runs[j].hosts);
	free(work->runs);
	ina_forest_destroy(work->forest);
	ina_candidate_destroy(work->graph);
	free(work->usable.nodes);
	free(work->switch_of);
	free(work->node_of);
	free(work->up);
	free(work->children);
	free(work->shape.host);
	free(work->shape.parent);
}

/* The machines a tree joins: all but the root, if there are others. */
static const int *jobs_leaves(const struct jobs_run *run, int *n)
{
	*n = run->n > 1 ? run->n - 1 : run->n;
	return run->hosts + run->n - *n;
}

/* The root sums for the others. */
static void jobs_shape_direct(struct jobs_work *work, const struct jobs_run *run)
{
	work->shape.n = run->n;
	for (int i = 0; i < run->n; i++) {
		work->shape.host[i] = run->hosts[i];
		work->shape.parent[i] = i ? 0 : -1;
	}
}

/* The lowest switch above @node that joins branches, as a position; above all is the root. */
static int jobs_above(const struct jobs_work *work, const int *place, int node)
{
	do
		node = work->up[node];
	while (node >= 0 && work->children[node] < 2);
	return node < 0 ? 0 : place[node];
}

/* The tree under switch @top: where branches join, the aggregator of the switch adds up. */
static void jobs_shape_tree(struct jobs_work *work, const struct jobs_run *run, int top)
{
	struct jobs_shape *shape = &work->shape;
	int n_nodes = work->topo->n_nodes, *place = work->node_of, n;
	const int *leaves = jobs_leaves(run, &n);

	ina_candidate_parents(work->graph, leaves, n, top, work->up);
	memset(work->children, 0, (size_t)n_nodes * sizeof(int));
	for (int i = 0; i < n_nodes; i++) {
		if (work->up[i] >= 0)
			work->children[work->up[i]]++;
	}
	shape->n = run->n;
	memcpy(shape->host, run->hosts, (size_t)run->n * sizeof(int));
	for (int i = 0; i < n_nodes; i++) {
		if (work->children[i] < 2)
			continue;
		place[i] = shape->n;
		shape->host[shape->n++] = i;
	}
	shape->parent[0] = -1;
	for (int i = 1; i < shape->n; i++)
		shape->parent[i] = jobs_above(work, place, shape->host[i]);
	for (int i = run->n; i < shape->n; i++)
		shape->host[i] = ina_topo_find(work->topo,
					       work->topo->nodes[shape->host[i]].aggregator);
}

/* A node that takes part: others give the job up. */
static bool jobs_used(const struct ina_plan_job *job, int node)
{
	return job->nodes[node].workers || ina_plan_adds(job, node);
}

/* Whether the job runs with this tree. */
static bool jobs_matches(struct jobs_work *work, const struct ina_plan_job *job)
{
	const struct jobs_shape *shape = &work->shape;
	int *node_of = work->node_of, used = 0;

	for (int i = 0; i < job->n_nodes; i++)
		used += jobs_used(job, i);
	if (shape->n != used)
		return false;
	for (int i = 0; i < work->topo->n_nodes; i++)
		node_of[i] = INA_TOPO_NONE;
	for (int i = 0; i < job->n_nodes; i++) {
		int host = ina_topo_find(work->topo, job->nodes[i].host);

		if (host >= 0 && jobs_used(job, i))
			node_of[host] = i;
	}
	for (int i = 0; i < shape->n; i++) {
		int node = node_of[shape->host[i]], parent = shape->parent[i];

		if (node < 0 || job->nodes[node].parent !=
				(parent < 0 ? -1 : node_of[shape->host[parent]]))
			return false;
	}
	return true;
}

/* Append a machine; the root goes first. */
static void jobs_host_add(struct jobs_run *run, int host, bool root)
{
	run->hosts[run->n++] = root ? run->hosts[0] : host;
	if (root)
		run->hosts[0] = host;
}

static int jobs_compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * Machines with workers, the root first; *@known is false if one is unknown or aggregates for a
 * switch, or if the root is none of them.
 */
static int jobs_hosts(const struct jobs_work *work, const struct ina_plan_job *job,
		      struct jobs_run *run, bool *known)
{
	run->hosts = calloc((size_t)job->n_nodes + 1, sizeof(int));
	if (!run->hosts)
		return jobs_fail_memory(work);
	*known = true;
	for (int i = 0; i < job->n_nodes; i++) {
		int host = ina_topo_find(work->topo, job->nodes[i].host);

		if (!job->nodes[i].workers) {
			*known = *known && job->nodes[i].parent >= 0;
			continue;
		}
		if (host < 0 || work->topo->nodes[host].kind != INA_TOPO_HOST ||
		    work->switch_of[host] >= 0)
			*known = false;
		else
			jobs_host_add(run, host, job->nodes[i].parent < 0);
	}
	if (*known)
		qsort(run->hosts + 1, (size_t)run->n - 1, sizeof(int), jobs_compare);
	return 0;
}

/* Which candidate the job runs with; INA_TOPO_NONE if it waits, -EINVAL if with another tree. */
static int jobs_recognise(struct jobs_work *work, const struct ina_plan_job *job,
			  const struct jobs_run *run)
{
	struct ina_candidates candidates;
	int err, n, found = -EINVAL;
	const int *leaves = jobs_leaves(run, &n);

	jobs_shape_direct(work, run);
	if (jobs_matches(work, job))
		return INA_TOPO_NONE;
	err = ina_candidate_build(work->graph, leaves, n, INA_JOBS_CANDIDATES, &candidates);
	if (err)
		return err;
	for (int t = 0; t < candidates.n && found < 0; t++) {
		jobs_shape_tree(work, run, candidates.roots[t]);
		if (jobs_matches(work, job))
			found = t;
	}
	ina_candidate_clear(&candidates);
	return found;
}

/* A tree that stays: the switches it aggregates for have a unit less. */
static void jobs_reserve(struct jobs_work *work, const struct ina_plan_job *job)
{
	for (int i = 0; i < job->n_nodes; i++) {
		int host = ina_plan_adds(job, i) ?
			   ina_topo_find(work->topo, job->nodes[i].host) : INA_TOPO_NONE;

		if (host >= 0 && work->switch_of[host] >= 0)
			ina_forest_reserve(work->forest, work->switch_of[host]);
	}
}

/* Find out what a job has; what is not ours takes its units. */
static int jobs_read(struct jobs_work *work, const struct ina_plan_job *job, struct jobs_run *run)
{
	bool known;
	int err = jobs_hosts(work, job, run, &known);

	if (err)
		return err;
	run->number = INA_TOPO_NONE;
	run->tree = known ? jobs_recognise(work, job, run) : -EINVAL;
	if (run->tree == -ENOMEM)
		return jobs_fail_memory(work);
	if (run->tree == -EINVAL)
		jobs_reserve(work, job);
	return 0;
}

static int jobs_read_all(struct jobs_work *work)
{
	int err = 0;

	work->runs = calloc((size_t)work->plan->n_jobs + 1, sizeof(*work->runs));
	if (!work->runs)
		return jobs_fail_memory(work);
	for (work->n_runs = 0; !err && work->n_runs < work->plan->n_jobs; work->n_runs++)
		err = jobs_read(work, &work->plan->jobs[work->n_runs], &work->runs[work->n_runs]);
	for (int j = 0; !err && j < work->n_runs; j++) {
		struct jobs_run *run = &work->runs[j];
		const int *leaves;
		int n;

		if (run->tree == -EINVAL)
			continue;
		leaves = jobs_leaves(run, &n);
		run->number = ina_forest_enlist(work->forest, leaves, n);
		if (run->number < 0)
			err = jobs_fail_memory(work);
		else if (run->tree >= 0)
			ina_forest_give(work->forest, run->number, run->tree);
	}
	return err;
}

static bool jobs_copy(char **copy, const char *text)
{
	*copy = text ? strdup(text) : NULL;
	return !text || *copy;
}

static const struct ina_plan_node *jobs_known(const struct ina_plan_job *job, const char *host)
{
	for (int i = 0; i < job->n_nodes; i++) {
		if (!strcmp(job->nodes[i].host, host))
			return &job->nodes[i];
	}
	return NULL;
}

/*
 * A machine of the topology as a node. The plan knows better how it is reached, also from another
 * job, and what the job said of it so far stays.
 */
static bool jobs_node(const struct jobs_work *work, const struct ina_plan_job *job, int host,
		      uint32_t workers, struct ina_plan_node *node)
{
	const struct ina_topo_node *from = &work->topo->nodes[host];
	const struct ina_plan_node *known = jobs_known(job, from->name), *other = known;

	for (int j = 0; !other && j < work->plan->n_jobs; j++)
		other = jobs_known(&work->plan->jobs[j], from->name);
	node->workers = known ? known->workers : workers;
	return jobs_copy(&node->host, from->name) &&
	       jobs_copy(&node->where, other ? other->where : from->where) &&
	       jobs_copy(&node->addr, known ? known->addr : from->addr);
}

/* Who takes no part any more becomes a leaf without workers: so it gives the job up. */
static bool jobs_leave(const struct ina_plan_job *job, struct ina_plan_job *made)
{
	bool ok = true;

	for (int i = 0; ok && i < job->n_nodes; i++) {
		const struct ina_plan_node *from = &job->nodes[i];
		struct ina_plan_node *node = &made->nodes[made->n_nodes];

		if (!jobs_used(job, i) || jobs_known(made, from->host))
			continue;
		made->n_nodes++;
		ok = jobs_copy(&node->host, from->host) && jobs_copy(&node->where, from->where) &&
		     jobs_copy(&node->addr, from->addr);
	}
	return ok;
}

/* The job gets the tree of work->shape, with @workers on each machine that is new in it. */
static int jobs_write(const struct jobs_work *work, struct ina_plan_job *job, uint32_t workers)
{
	const struct jobs_shape *shape = &work->shape;
	size_t room = (size_t)shape->n + (size_t)job->n_nodes;
	struct ina_plan_job made = { .nodes = calloc(room, sizeof(*made.nodes)) };
	bool ok = made.nodes;

	for (int i = 0; ok && i < shape->n; i++) {
		made.n_nodes++;
		made.nodes[i].parent = shape->parent[i];
		ok = jobs_node(work, job, shape->host[i], workers, &made.nodes[i]);
	}
	if (!ok || !jobs_leave(job, &made)) {
		ina_plan_job_clear(&made);
		return jobs_fail_memory(work);
	}
	made.id = job->id;
	made.options = job->options;
	job->options = NULL;
	ina_plan_job_clear(job);
	*job = made;
	return 0;
}

/* Those who run have their machines: where they have workers, and where they sum. */
static int jobs_take(const struct jobs_work *work, struct ina_place *place)
{
	size_t n_nodes = (size_t)work->topo->n_nodes + 1;
	bool *taken = calloc(n_nodes, sizeof(*taken));
	int *hosts = calloc(n_nodes, sizeof(*hosts));
	int err = taken && hosts ? 0 : -ENOMEM;

	for (int j = 0; !err && j < work->plan->n_jobs; j++) {
		const struct ina_plan_job *job = &work->plan->jobs[j];
		int n = 0;

		for (int i = 0; i < job->n_nodes; i++) {
			int host = jobs_used(job, i) ?
				   ina_topo_find(work->topo, job->nodes[i].host) : INA_TOPO_NONE;

			if (host < 0 || work->topo->nodes[host].kind != INA_TOPO_HOST ||
			    work->switch_of[host] >= 0 || taken[host])
				continue;
			hosts[n++] = host;
			taken[host] = true;
		}
		err = ina_place_take(place, hosts, n);
	}
	free(hosts);
	free(taken);
	return err;
}

/* A job more in the plan, which is ordered by number; without a tree yet. */
static struct ina_plan_job *jobs_insert(struct ina_plan *plan, const struct ina_jobs_new *new)
{
	struct ina_plan_job *jobs, job = { .id = new->id };
	int n = 0, at;
	bool ok;

	while (new->options[n])
		n++;
	jobs = reallocarray(plan->jobs, (size_t)plan->n_jobs + 1, sizeof(*jobs));
	if (!jobs)
		return NULL;
	plan->jobs = jobs;
	job.options = calloc((size_t)n + 1, sizeof(*job.options));
	ok = job.options;
	for (int i = 0; ok && i < n; i++)
		ok = jobs_copy(&job.options[i], new->options[i]);
	if (!ok) {
		ina_plan_job_clear(&job);
		return NULL;
	}
	for (at = plan->n_jobs++; at > 0 && jobs[at - 1].id > new->id; at--)
		jobs[at] = jobs[at - 1];
	jobs[at] = job;
	return &jobs[at];
}

/* The first machine that may sum becomes the root, if one has to sum. */
static int jobs_root(const struct jobs_work *work, const struct ina_jobs_new *new,
		     struct jobs_run *run)
{
	int at = 0, root;

	while (run->n > 1 && at < run->n && work->topo->nodes[run->hosts[at]].capacity < 1)
		at++;
	if (at == run->n) {
		snprintf(work->err->text, sizeof(work->err->text),
			 "job %u: none of its %d machines has capacity to sum", new->id, run->n);
		return -ENOSPC;
	}
	root = run->hosts[at];
	memmove(run->hosts + 1, run->hosts, (size_t)at * sizeof(int));
	run->hosts[0] = root;
	return 0;
}

/* Machines for the new job; for now its root sums alone. */
static int jobs_place(struct jobs_work *work, struct ina_place *place,
		      const struct ina_jobs_new *new, double *score)
{
	struct jobs_run run = { .n = new->hosts };
	struct ina_plan_job *job;
	int err = jobs_take(work, place);

	run.hosts = calloc((size_t)new->hosts, sizeof(int));
	if (!err)
		err = run.hosts ? ina_place_best(place, new->hosts, run.hosts, score) : -ENOMEM;
	if (err == -ENOSPC)
		snprintf(work->err->text, sizeof(work->err->text),
			 "job %u needs %d machines, %d are free", new->id, new->hosts,
			 ina_place_free(place));
	else if (err)
		err = jobs_fail_memory(work);
	if (!err)
		err = jobs_root(work, new, &run);
	if (!err) {
		jobs_shape_direct(work, &run);
		job = jobs_insert(work->plan, new);
		err = job ? jobs_write(work, job, new->workers) : jobs_fail_memory(work);
	}
	free(run.hosts);
	return err;
}

static int jobs_come(struct jobs_work *work, const struct ina_jobs_new *new, double *score)
{
	struct ina_place *place;
	int err;

	for (int j = 0; j < work->plan->n_jobs; j++) {
		if (work->plan->jobs[j].id == new->id) {
			snprintf(work->err->text, sizeof(work->err->text),
				 "job %u runs already", new->id);
			return -EEXIST;
		}
	}
	place = ina_place_create(work->topo, new->alpha, false);
	if (!place && errno == EINVAL) {
		snprintf(work->err->text, sizeof(work->err->text), "a rack is in two pods");
		return -EINVAL;
	}
	err = place ? jobs_place(work, place, new, score) : jobs_fail_memory(work);
	ina_place_destroy(place);
	return err;
}

/* What the forest says of a job goes to the plan. */
static int jobs_result(struct jobs_work *work, int j, const int *group,
		       struct ina_jobs_tree *out)
{
	const struct jobs_run *run = &work->runs[j];
	struct ina_forest_tree tree;
	int index;

	*out = (struct ina_jobs_tree){ .root = INA_TOPO_NONE, .group = INA_TOPO_NONE,
				       .fixed = run->number < 0 };
	if (out->fixed)
		return 0;
	ina_forest_get(work->forest, run->number, &tree);
	out->kind = tree.kind;
	out->group = group[run->number];
	index = tree.kind == INA_FOREST_OWN ? tree.index : INA_TOPO_NONE;
	out->moved = run->tree >= 0 && index != run->tree;
	if (index >= 0)
		out->root = tree.root;
	if (index == run->tree)
		return 0;
	if (index >= 0)
		jobs_shape_tree(work, run, tree.root);
	else
		jobs_shape_direct(work, run);
	return jobs_write(work, &work->plan->jobs[j], 0);
}

static int jobs_solve(struct jobs_work *work, struct ina_jobs *jobs)
{
	int n = work->plan->n_jobs, err = ina_forest_solve(work->forest, 0);
	int *group = calloc((size_t)n + 1, sizeof(int));

	jobs->optimal = err == 1;
	jobs->own = ina_forest_own(work->forest);
	jobs->bound = jobs->optimal ? jobs->own : ina_forest_bound(work->forest);
	jobs->trees = calloc((size_t)n + 1, sizeof(*jobs->trees));
	err = err < 0 || jobs->bound < 0 || !group || !jobs->trees ? jobs_fail_memory(work) : 0;
	if (!err)
		err = ina_forest_groups(work->forest, group, n);
	for (int j = 0; !err && j < n; j++)
		err = jobs_result(work, j, group, &jobs->trees[j]);
	free(group);
	return err;
}

int ina_jobs_plan(const struct ina_topo *topo, struct ina_plan *plan,
		  const struct ina_jobs_new *new, struct ina_jobs *jobs,
		  struct ina_doc_error *err)
{
	struct jobs_work work = { .topo = topo, .plan = plan, .err = err };
	int ret = jobs_start(&work) ? 0 : jobs_fail_memory(&work);

	memset(jobs, 0, sizeof(*jobs));
	if (!ret && new->hosts)
		ret = jobs_come(&work, new, &jobs->score);
	if (!ret)
		ret = jobs_read_all(&work);
	if (!ret)
		ret = jobs_solve(&work, jobs);
	jobs_end(&work);
	return ret;
}
