// SPDX-License-Identifier: GPL-2.0
/*
 * Plans for all jobs: machines for the one that comes, trees for it and for those that run. The
 * root of a job is one of its machines for as long as it runs: rounds under way need it.
 * Aggregators join the others below it; for a job that gets none, and waits for them, the root
 * sums alone.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jobs_impl.h"
#include "place.h"

int ina_jobs_fail_memory(const struct ina_jobs_work *work)
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

/* To find the links a tree that stays takes; most clusters have no limits there. */
static bool jobs_start_links(struct ina_jobs_work *work)
{
	const struct ina_topo *topo = work->topo;
	int i = 0;

	while (i < topo->n_links && !topo->links[i].capacity)
		i++;
	if (i == topo->n_links)
		return true;
	work->taken = calloc((size_t)topo->n_links, sizeof(*work->taken));
	return work->taken && ina_topo_ends_init(&work->ends, topo);
}

static bool jobs_start(struct ina_jobs_work *work)
{
	const struct ina_topo *topo = work->topo;
	size_t n = (size_t)topo->n_nodes + 1;

	work->usable = *topo;
	work->usable.nodes = calloc(n, sizeof(*topo->nodes));
	work->switch_of = calloc(n, sizeof(int));
	work->families = calloc(n, sizeof(int));
	work->node_of = calloc(n, sizeof(int));
	work->up = calloc(n, sizeof(int));
	work->children = calloc(n, sizeof(int));
	work->shape.host = calloc(n, sizeof(int));
	work->shape.parent = calloc(n, sizeof(int));
	if (!work->usable.nodes || !work->switch_of || !work->families || !work->node_of || !work->up ||
	    !work->children || !work->shape.host || !work->shape.parent ||
	    !jobs_start_links(work))
		return false;
	memcpy(work->usable.nodes, topo->nodes, (n - 1) * sizeof(*topo->nodes));
	for (int i = 0; i < topo->n_nodes; i++)
		work->switch_of[i] = INA_TOPO_NONE;
	for (int i = 0; i < topo->n_nodes; i++) {
		work->families[i] = ina_plan_family(topo->nodes[i].addr);
		if (!work->family)
			work->family = work->families[i];
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

static void jobs_end(struct ina_jobs_work *work)
{
	for (int j = 0; j < work->n_runs; j++)
		free(work->runs[j].hosts);
	free(work->runs);
	ina_forest_destroy(work->forest);
	ina_candidate_destroy(work->graph);
	ina_topo_ends_clear(&work->ends);
	free(work->taken);
	free(work->usable.nodes);
	free(work->switch_of);
	free(work->node_of);
	free(work->families);
	free(work->up);
	free(work->children);
	free(work->shape.host);
	free(work->shape.parent);
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
static bool jobs_node(const struct ina_jobs_work *work, const struct ina_plan_job *job, int host,
		      uint32_t workers, struct ina_plan_node *node)
{
	const struct ina_topo_node *from = &work->topo->nodes[host];
	const struct ina_plan_node *known = jobs_known(job, from->name), *other = known;

	for (int j = 0; !other && j < work->plan->n_jobs; j++)
		other = jobs_known(&work->plan->jobs[j], from->name);
	node->workers = known ? known->workers : workers;
	return jobs_copy(&node->host, from->name) &&
	       jobs_copy(&node->where, other ? other->where : from->where) &&
	       jobs_copy(&node->addr, known && (known->addr || known->workers) ? known->addr : from->addr);
}

/* Who takes no part any more becomes a leaf without workers: so it gives the job up. */
static bool jobs_leave(const struct ina_plan_job *job, struct ina_plan_job *made)
{
	bool ok = true;

	for (int i = 0; ok && i < job->n_nodes; i++) {
		const struct ina_plan_node *from = &job->nodes[i];
		struct ina_plan_node *node = &made->nodes[made->n_nodes];

		if (!ina_jobs_used(job, i) || jobs_known(made, from->host))
			continue;
		made->n_nodes++;
		ok = jobs_copy(&node->host, from->host) && jobs_copy(&node->where, from->where) &&
		     jobs_copy(&node->addr, from->addr);
	}
	return ok;
}

/* The job gets the tree of work->shape, with @workers on each machine that is new in it. */
static int jobs_write(const struct ina_jobs_work *work, struct ina_plan_job *job, uint32_t workers)
{
	const struct ina_jobs_shape *shape = &work->shape;
	size_t room = (size_t)shape->n + (size_t)job->n_nodes;
	struct ina_plan_job made = { .nodes = calloc(room, sizeof(*made.nodes)) };
	struct ina_doc_error why;
	bool ok = made.nodes;

	for (int i = 0; ok && i < shape->n; i++) {
		made.n_nodes++;
		made.nodes[i].parent = shape->parent[i];
		ok = jobs_node(work, job, shape->host[i], workers, &made.nodes[i]);
	}
	if (!ok || !jobs_leave(job, &made)) {
		ina_plan_job_clear(&made);
		return ina_jobs_fail_memory(work);
	}
	if (ina_plan_misfit(&made, &why) >= 0) {
		ina_topo_fail(work->topo, INA_TOPO_NONE, work->err, "job %u: %.340s", job->id,
			      why.text);
		ina_plan_job_clear(&made);
		return -EINVAL;
	}
	made.id = job->id;
	made.options = job->options;
	job->options = NULL;
	ina_plan_job_clear(job);
	*job = made;
	return 0;
}

/* Whether a machine is there for the workers of jobs. */
static bool jobs_is_machine(const struct ina_jobs_work *work, int host)
{
	return host >= 0 && work->topo->nodes[host].kind == INA_TOPO_HOST &&
	       work->switch_of[host] < 0;
}

/*
 * Those who run have their machines: where they have workers, and where they sum. Machines with
 * an address of family @avoid are taken, too.
 */
static int jobs_take(const struct ina_jobs_work *work, struct ina_place *place, int avoid)
{
	size_t n_nodes = (size_t)work->topo->n_nodes + 1;
	bool *taken = calloc(n_nodes, sizeof(*taken));
	int *hosts = calloc(n_nodes, sizeof(*hosts));
	int err = taken && hosts ? 0 : -ENOMEM;

	for (int j = 0; !err && j < work->plan->n_jobs; j++) {
		const struct ina_plan_job *job = &work->plan->jobs[j];
		int n = 0;

		for (int i = 0; i < job->n_nodes; i++) {
			int host = ina_jobs_used(job, i) ?
				   ina_topo_find(work->topo, job->nodes[i].host) : INA_TOPO_NONE;

			if (!jobs_is_machine(work, host) || taken[host])
				continue;
			hosts[n++] = host;
			taken[host] = true;
		}
		err = ina_place_take(place, hosts, n);
	}
	/* One by one: they are no job. */
	for (int i = 0; !err && avoid && i < work->topo->n_nodes; i++) {
		if (jobs_is_machine(work, i) && !taken[i] && work->families[i] == avoid)
			err = ina_place_take(place, &i, 1);
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
static int jobs_root(const struct ina_jobs_work *work, const struct ina_jobs_new *new,
		     struct ina_jobs_run *run)
{
	int at = 0, root;

	while (run->n > 1 && at < run->n && work->topo->nodes[run->hosts[at]].capacity < 1)
		at++;
	if (at == run->n) {
		ina_topo_fail(work->topo, run->hosts[0], work->err,
			      "job %u: %.80s and its %d other machines have no capacity to sum",
			      new->id, work->topo->nodes[run->hosts[0]].name, run->n - 1);
		return -ENOSPC;
	}
	root = run->hosts[at];
	memmove(run->hosts + 1, run->hosts, (size_t)at * sizeof(int));
	run->hosts[0] = root;
	return 0;
}

/* The score of machines for the new job, all that are free counting. */
static int jobs_score(const struct ina_jobs_work *work, const struct ina_jobs_new *new,
		      const int *hosts, double *score)
{
	struct ina_place *place = ina_place_create(work->topo, new->alpha, false);
	int err = place ? jobs_take(work, place, 0) : -ENOMEM;

	if (!err)
		*score = ina_place_score(place, hosts, new->hosts);
	ina_place_destroy(place);
	return err;
}

/* The best machines for the new job, none of them of family @avoid. */
static int jobs_find(const struct ina_jobs_work *work, const struct ina_jobs_new *new, int avoid,
		     int *hosts, double *score)
{
	struct ina_place *place = ina_place_create(work->topo, new->alpha, false);
	int err;

	if (!place && errno == EINVAL)
		return ina_topo_fail(work->topo, INA_TOPO_NONE, work->err, "a rack is in two pods");
	err = place ? jobs_take(work, place, avoid) : -ENOMEM;
	if (!err)
		err = ina_place_best(place, new->hosts, hosts, score);
	if (!err && avoid)
		err = jobs_score(work, new, hosts, score);
	if (err == -ENOSPC)
		ina_topo_fail(work->topo, INA_TOPO_NONE, work->err,
			      "job %u needs %d machines, %d are free", new->id, new->hosts,
			      ina_place_free(place));
	else if (err)
		err = ina_jobs_fail_memory(work);
	ina_place_destroy(place);
	return err;
}

/* A machine whose address is of another family than one before, with the reason in @why. */
static int jobs_misfit(const struct ina_topo *topo, const int *hosts, int n,
		       struct ina_doc_error *why)
{
	const struct ina_topo_node *first = &topo->nodes[hosts[0]];

	for (int i = 1; i < n; i++) {
		const struct ina_topo_node *node = &topo->nodes[hosts[i]];

		if (!first->addr)
			first = node;
		if (!ina_plan_one_family(node->name, node->addr, first->name, first->addr, why))
			return hosts[i];
	}
	return INA_TOPO_NONE;
}

/* The best machines of one family, if the best of all are not: the other ones are left out. */
static int jobs_find_family(const struct ina_jobs_work *work, const struct ina_jobs_new *new,
			    int *hosts, double *score)
{
	int err = jobs_find(work, new, 0, hosts, score), *room, misfit;
	struct ina_doc_error why;
	double now;

	misfit = err ? INA_TOPO_NONE : jobs_misfit(work->topo, hosts, new->hosts, &why);
	if (misfit < 0)
		return err;
	room = calloc((size_t)new->hosts, sizeof(*room));
	if (!room)
		return ina_jobs_fail_memory(work);
	*score = INFINITY;
	for (int avoid = 6; avoid >= 4 && (!err || err == -ENOSPC); avoid -= 2) {
		err = jobs_find(work, new, avoid, room, &now);
		if (err || now >= *score)
			continue;
		*score = now;
		memcpy(hosts, room, (size_t)new->hosts * sizeof(*room));
	}
	free(room);
	if (err && err != -ENOSPC)
		return err;
	if (*score < INFINITY)
		return 0;
	ina_topo_fail(work->topo, misfit, work->err, "job %u: %.280s, and no %d machines of one "
		      "are free: ask for fewer hosts, or change addr", new->id, why.text,
		      new->hosts);
	return -ENOSPC;
}

/* Machines for the new job; for now its root sums alone. */
static int jobs_place(struct ina_jobs_work *work, const struct ina_jobs_new *new, double *score)
{
	struct ina_jobs_run run = { .n = new->hosts };
	struct ina_plan_job *job;
	int err;

	run.hosts = calloc((size_t)new->hosts, sizeof(int));
	err = run.hosts ? jobs_find_family(work, new, run.hosts, score) :
			  ina_jobs_fail_memory(work);
	if (!err)
		err = jobs_root(work, new, &run);
	if (!err) {
		ina_jobs_shape_direct(work, &run);
		job = jobs_insert(work->plan, new);
		err = job ? jobs_write(work, job, new->workers) : ina_jobs_fail_memory(work);
	}
	free(run.hosts);
	return err;
}

static int jobs_come(struct ina_jobs_work *work, const struct ina_jobs_new *new, double *score)
{
	for (int j = 0; j < work->plan->n_jobs; j++) {
		if (work->plan->jobs[j].id == new->id) {
			snprintf(work->err->text, sizeof(work->err->text),
				 "job %u runs already", new->id);
			return -EEXIST;
		}
	}
	return jobs_place(work, new, score);
}

/* What the forest says of a job goes to the plan. */
static int jobs_result(struct ina_jobs_work *work, int j, const int *group,
		       struct ina_jobs_tree *out)
{
	const struct ina_jobs_run *run = &work->runs[j];
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
		ina_jobs_shape_tree(work, run, tree.root);
	else
		ina_jobs_shape_direct(work, run);
	return jobs_write(work, &work->plan->jobs[j], 0);
}

static int jobs_solve(struct ina_jobs_work *work, struct ina_jobs *jobs)
{
	int n = work->plan->n_jobs, err = ina_forest_solve(work->forest, 0);
	int *group = calloc((size_t)n + 1, sizeof(int));

	jobs->optimal = err == 1;
	jobs->own = ina_forest_own(work->forest);
	jobs->bound = jobs->optimal ? jobs->own : ina_forest_bound(work->forest);
	jobs->trees = calloc((size_t)n + 1, sizeof(*jobs->trees));
	err = err < 0 || jobs->bound < 0 || !group || !jobs->trees ? ina_jobs_fail_memory(work) : 0;
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
	struct ina_jobs_work work = { .topo = topo, .plan = plan, .err = err };
	int ret = jobs_start(&work) ? 0 : ina_jobs_fail_memory(&work);

	memset(jobs, 0, sizeof(*jobs));
	if (!ret && new->hosts)
		ret = jobs_come(&work, new, &jobs->score);
	if (!ret)
		ret = ina_jobs_read(&work);
	if (!ret)
		ret = jobs_solve(&work, jobs);
	jobs_end(&work);
	return ret;
}
