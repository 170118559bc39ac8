// SPDX-License-Identifier: GPL-2.0
/*
 * The event loop. A job whose tree nobody else wants takes a step as one event, since
 * nothing can come between; the others have an event for the start and the end of each
 * all-reduce. When trees change, steps under way are split at that very moment, so both
 * ways give the same times.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heap.h"
#include "sim.h"

/**
 * struct ina_sim - a run under way
 * @config: how
 * @jobs: all jobs, in the order they asked
 * @n_jobs: how many
 * @next: the first that has not started
 * @place: who has which machines
 * @forest: who has which trees
 * @share: memory of the policy
 * @busy: units in use now, of each resource
 * @runs: jobs that run
 * @n_runs: how many
 * @heap: events to come
 * @serial: of the last event
 * @now: time
 * @jct: completion time of each job that has ended
 * @plan: seconds the planner took for each job that has started
 * @ended: jobs that have
 * @sum: sums for the result
 */
struct ina_sim {
	const struct ina_sim_config *config;
	const struct ina_sim_job *jobs;
	int n_jobs;
	int next;
	struct ina_place *place;
	struct ina_forest *forest;
	void *share;
	int *busy;
	struct ina_sim_run **runs;
	int n_runs;
	struct ina_sim_heap heap;
	uint64_t serial;
	double now;
	double *jct;
	double *plan;
	int ended;
	struct {
		double utilisation;
		double none;
		double all;
		double host_time;
		double moves;
		double gap;
		int with_tree;
		int own;
	} sum;
};

int ina_sim_runs(const struct ina_sim *sim, const struct ina_sim_run *const **runs)
{
	*runs = (const struct ina_sim_run *const *)sim->runs;
	return sim->n_runs;
}

const struct ina_forest *ina_sim_forest(const struct ina_sim *sim)
{
	return sim->forest;
}

/* Machines of one job on their own exchange nothing. */
static double ina_sim_duration(const struct ina_sim_config *config, int hosts, double rate,
			       double size, bool ina)
{
	if (hosts == 1)
		return 0;
	return config->latency + size / (rate * (ina ? config->speedup : 1));
}

double ina_sim_step(const struct ina_sim_config *config, const struct ina_sim_job *job,
		    double rate, bool ina)
{
	double end = 0;
	int i;

	for (i = 0; i < job->model->n_ops; i++)
		end = fmax(end, job->model->ops[i].start) +
		      ina_sim_duration(config, job->hosts, rate, job->model->ops[i].size, ina);
	return fmax(end, job->model->step);
}

/* The job waits for this from now on, and for nothing else. */
static int ina_sim_push(struct ina_sim *sim, struct ina_sim_run *run, double time)
{
	run->serial = ++sim->serial;
	return ina_sim_heap_push(&sim->heap, (struct ina_sim_event){ time, run->serial, run });
}

static void ina_sim_hold(struct ina_sim *sim, struct ina_sim_run *run, int *list, int n)
{
	int i;

	for (i = 0; i < n; i++)
		sim->busy[list[i]]++;
	run->held = list;
	run->n_held = n;
}

/* Give the units back; the list too, if the tree has changed meanwhile. */
static void ina_sim_release(struct ina_sim *sim, struct ina_sim_run *run)
{
	int i;

	for (i = 0; i < run->n_held; i++)
		sim->busy[run->held[i]]--;
	if (run->held != run->resources)
		free(run->held);
	run->held = NULL;
	run->n_held = 0;
}

static bool ina_sim_tree_free(const struct ina_sim *sim, const struct ina_sim_run *run)
{
	int i;

	if (run->tree.kind == INA_FOREST_NONE)
		return false;
	for (i = 0; i < run->n_resources; i++)
		if (sim->busy[run->resources[i]] >=
		    ina_forest_capacity(sim->forest, run->resources[i]))
			return false;
	return true;
}

/*
 * What is left of an all-reduce; without the network, where others may leave the tree free
 * meanwhile, a round of it. The latency is paid once, and when it changes over.
 */
static void ina_sim_op_start(struct ina_sim *sim, struct ina_sim_run *run, double now, bool ina)
{
	const struct ina_sim_config *config = sim->config;

	run->part = run->job->model->ops[run->op].size - run->sent;
	if (!run->whole && !ina && config->round && run->part > config->round)
		run->part = config->round;
	run->took = ina_sim_duration(config, run->job->hosts, run->rate, run->part, ina);
	if (run->sent && ina == run->ina && run->job->hosts > 1)
		run->took -= config->latency;
	run->busy = true;
	run->ina = ina;
	run->op_end = now + run->took;
}

static void ina_sim_op_end(struct ina_sim_run *run)
{
	if (run->ina)
		run->ina_time += run->took;
	run->busy = false;
	run->sent += run->part;
	if (run->sent >= run->job->model->ops[run->op].size) {
		run->sent = 0;
		run->op++;
	}
}

/*
 * A job that takes steps as a whole: bring it from where it was last looked at to @until,
 * at most to the end of its all-reduces; the time they end.
 */
static double ina_sim_advance(struct ina_sim *sim, struct ina_sim_run *run, double until)
{
	const struct ina_sim_model *model = run->job->model;
	double at = run->step_start;

	for (;;) {
		if (run->busy) {
			at = run->op_end;
			if (at > until)
				return at;
			ina_sim_op_end(run);
		}
		if (run->op == model->n_ops)
			return at;
		at = fmax(at, run->step_start + model->ops[run->op].start);
		if (at > until)
			return at;
		ina_sim_op_start(sim, run, at, run->tree.kind != INA_FOREST_NONE);
	}
}

/* When the step ends if it is taken as a whole. */
static double ina_sim_whole_end(struct ina_sim *sim, const struct ina_sim_run *run)
{
	struct ina_sim_run copy = *run;

	return fmax(ina_sim_advance(sim, &copy, INFINITY),
		    run->step_start + run->job->model->step);
}

/* When something happens next to a job, from now on. */
static double ina_sim_next_time(struct ina_sim *sim, const struct ina_sim_run *run)
{
	const struct ina_sim_model *model = run->job->model;

	if (run->whole)
		return fmax(sim->now, ina_sim_whole_end(sim, run));
	if (run->busy)
		return run->op_end;
	return fmax(sim->now, run->step_start +
		    (run->op == model->n_ops ? model->step : model->ops[run->op].start));
}

/* The next all-reduce of a job that shares: it is time. */
static void ina_sim_share_op(struct ina_sim *sim, struct ina_sim_run *run)
{
	bool is_free = ina_sim_tree_free(sim, run);
	bool ina = sim->config->share->ask(sim->share, run, is_free, sim->now) && is_free;

	ina_sim_op_start(sim, run, sim->now, ina);
	if (ina)
		ina_sim_hold(sim, run, run->resources, run->n_resources);
}

/* Something happens to a job. Whether it has ended. */
static bool ina_sim_happen(struct ina_sim *sim, struct ina_sim_run *run)
{
	const struct ina_sim_model *model = run->job->model;

	if (run->whole) {
		ina_sim_advance(sim, run, INFINITY);
	} else if (run->busy) {
		ina_sim_op_end(run);
		ina_sim_release(sim, run);
		if (sim->config->share->done)
			sim->config->share->done(sim->share, run, sim->now);
	}
	if (run->op == model->n_ops && sim->now >= run->step_start + model->step) {
		run->op = 0;
		run->step_start = sim->now;
		return ++run->step == run->job->steps;
	}
	if (!run->whole && run->op < model->n_ops &&
	    sim->now >= run->step_start + model->ops[run->op].start)
		ina_sim_share_op(sim, run);
	return false;
}

/* Learn about the job's tree. 1 if it is another one, 0 or -ENOMEM. */
static int ina_sim_learn(struct ina_sim *sim, struct ina_sim_run *run)
{
	struct ina_forest_tree tree;
	bool same;

	ina_forest_get(sim->forest, run->number, &tree);
	same = tree.index == run->tree.index;
	if (!same) {
		if (run->whole)
			ina_sim_advance(sim, run, sim->now);
		run->whole = false;
		/* An all-reduce under way ends on the old tree and gives the list back then. */
		if (run->busy && run->ina && !run->held)
			ina_sim_hold(sim, run, run->resources, run->n_resources);
		if (run->held != run->resources)
			free(run->resources);
		run->resources = NULL;
		run->n_resources = 0;
		if (tree.kind != INA_FOREST_NONE)
			run->n_resources = ina_forest_resources(sim->forest, run->number,
								tree.index, &run->resources);
		if (run->n_resources < 0) {
			run->n_resources = 0;
			return -ENOMEM;
		}
	}
	run->tree = tree;
	return !same;
}

/* Whether a job can take its steps as a whole: nobody can want its tree. */
static bool ina_sim_alone(const struct ina_sim *sim, const struct ina_sim_run *run)
{
	int mine = run->held && run->held == run->resources, i;

	if (run->held && !mine)
		return false;
	if (run->tree.kind == INA_FOREST_NONE)
		return true;
	if (run->tree.crowded)
		return false;
	for (i = 0; i < run->n_resources; i++)
		if (sim->busy[run->resources[i]] > mine)
			return false;
	return true;
}

/* Trees have changed: who takes steps as a whole, who shares. @run->serial 0: new. */
static int ina_sim_regroup(struct ina_sim *sim)
{
	int i, err = 0;

	for (i = 0; i < sim->n_runs && err >= 0; i++) {
		err = ina_sim_learn(sim, sim->runs[i]);
		if (err > 0)
			sim->runs[i]->serial = 0;
	}
	for (i = 0; i < sim->n_runs && err >= 0; i++) {
		struct ina_sim_run *run = sim->runs[i];
		bool alone = ina_sim_alone(sim, run);

		if (alone == run->whole && run->serial)
			continue;
		if (run->whole)
			ina_sim_advance(sim, run, sim->now);
		run->whole = alone;
		if (alone && run->held)
			ina_sim_release(sim, run);
		else if (!alone && run->busy && run->ina && !run->held)
			ina_sim_hold(sim, run, run->resources, run->n_resources);
		err = ina_sim_push(sim, run, ina_sim_next_time(sim, run));
	}
	if (err >= 0 && sim->config->share->regroup)
		sim->config->share->regroup(sim->share, sim->now);
	return err < 0 ? err : 0;
}

static double ina_sim_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int ina_sim_host_compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Bytes a second the slowest machine of the job has left; @hosts are sorted. */
static double ina_sim_rate(const struct ina_topo *topo, const int *hosts, int n)
{
	double least = INFINITY;
	int i;

	for (i = 0; i < topo->n_links; i++)
		if (topo->links[i].rate > topo->links[i].used &&
		    bsearch(&topo->links[i].a, hosts, (size_t)n, sizeof(int), ina_sim_host_compare))
			least = fmin(least, (topo->links[i].rate - topo->links[i].used) / 8);
	return least;
}

static void ina_sim_run_free(struct ina_sim_run *run)
{
	if (!run)
		return;
	if (run->held != run->resources)
		free(run->held);
	free(run->resources);
	free(run->hosts);
	free(run);
}

/* Place a job and find its tree. 0, -ENOSPC if it has to wait, or another error. */
static int ina_sim_plan(struct ina_sim *sim, struct ina_sim_run *run)
{
	const struct ina_sim_config *config = sim->config;
	double before = ina_sim_clock();
	int n = run->job->hosts, err;

	err = config->best_place ? ina_place_best(sim->place, n, run->hosts, NULL) :
		ina_place_first(sim->place, n, run->hosts);
	if (err)
		return err;
	run->number = ina_forest_add(sim->forest, run->hosts, n);
	if (run->number < 0) {
		ina_place_give(sim->place, run->hosts, n);
		return run->number;
	}
	sim->plan[sim->next] = ina_sim_clock() - before;
	return 0;
}

/* Start the next job. 0, -ENOSPC if it has to wait, or another error. */
static int ina_sim_start(struct ina_sim *sim)
{
	const struct ina_sim_job *job = &sim->jobs[sim->next];
	struct ina_sim_run *run = calloc(1, sizeof(*run));
	int err = -ENOMEM;

	if (run) {
		run->job = job;
		run->tree.index = INA_TOPO_NONE;
		run->start = run->step_start = sim->now;
		run->hosts = calloc((size_t)job->hosts, sizeof(int));
		if (run->hosts)
			err = ina_sim_plan(sim, run);
	}
	if (err) {
		ina_sim_run_free(run);
		return err;
	}
	run->rate = sim->config->rate > 0 ? sim->config->rate :
		ina_sim_rate(sim->config->topo, run->hosts, job->hosts);
	sim->runs[sim->n_runs++] = run;
	sim->next++;
	return 0;
}

/* How the plan compares with its bound, and what new jobs got. */
static int ina_sim_judge(struct ina_sim *sim, int from)
{
	int i, bound;

	for (i = from; i < sim->n_runs; i++) {
		struct ina_forest_tree tree;

		if (sim->runs[i]->job->hosts < 2)
			continue;
		ina_forest_get(sim->forest, sim->runs[i]->number, &tree);
		sim->sum.with_tree++;
		sim->sum.own += tree.kind == INA_FOREST_OWN;
	}
	if (!sim->config->gap)
		return 0;
	bound = ina_forest_bound(sim->forest);
	if (bound < 0)
		return bound;
	if (bound)
		sim->sum.gap += (double)(bound - ina_forest_own(sim->forest)) / bound *
			(sim->n_runs - from);
	return 0;
}

/* Start all jobs there is room for, in order. */
static int ina_sim_admit(struct ina_sim *sim)
{
	int from = sim->n_runs, err = 0;

	while (!err && sim->next < sim->n_jobs)
		err = ina_sim_start(sim);
	if (err && err != -ENOSPC)
		return err;
	err = ina_sim_judge(sim, from);
	return err ? err : ina_sim_regroup(sim);
}

/* A job has ended: count it, and give back what it had. */
static int ina_sim_end(struct ina_sim *sim, struct ina_sim_run *run)
{
	const struct ina_sim_job *job = run->job;
	double jct = sim->now - run->start;
	int i;

	sim->jct[sim->ended++] = jct;
	sim->sum.utilisation += run->ina_time / jct;
	sim->sum.none += job->steps * ina_sim_step(sim->config, job, run->rate, false);
	sim->sum.all += job->steps * ina_sim_step(sim->config, job, run->rate, true);
	sim->sum.host_time += jct * job->hosts;
	sim->sum.moves += run->tree.moves;
	ina_forest_remove(sim->forest, run->number);
	ina_place_give(sim->place, run->hosts, job->hosts);
	for (i = 0; sim->runs[i] != run; i++)
		;
	memmove(&sim->runs[i], &sim->runs[i + 1],
		(size_t)(--sim->n_runs - i) * sizeof(*sim->runs));
	ina_sim_heap_forget(&sim->heap, run);
	ina_sim_run_free(run);
	return ina_sim_admit(sim);
}

static int ina_sim_loop(struct ina_sim *sim, uint64_t *events)
{
	int err = ina_sim_admit(sim);

	while (!err && sim->heap.n) {
		struct ina_sim_event event = ina_sim_heap_pop(&sim->heap);

		if (event.serial != event.run->serial)
			continue;
		if (event.time < sim->now)
			return -ERANGE;
		sim->now = event.time;
		++*events;
		if (ina_sim_happen(sim, event.run)) {
			err = ina_sim_end(sim, event.run);
			if (sim->config->progress)
				sim->config->progress(sim->config->data, sim->ended);
		} else {
			err = ina_sim_push(sim, event.run, ina_sim_next_time(sim, event.run));
		}
	}
	return err ? err : sim->ended == sim->n_jobs ? 0 : -ENOSPC;
}

static int ina_sim_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of @n sorted values, the one @part of them do not exceed. */
static double ina_sim_quantile(const double *values, int n, double part)
{
	return n ? values[(int)ceil(part * n) - 1] : 0;
}

static void ina_sim_conclude(struct ina_sim *sim, struct ina_sim_result *result)
{
	int n = sim->ended, i;

	qsort(sim->jct, (size_t)n, sizeof(double), ina_sim_compare);
	qsort(sim->plan, (size_t)n, sizeof(double), ina_sim_compare);
	result->jobs = n;
	for (i = 0; i < n; i++)
		result->jct += sim->jct[i] / n;
	result->jct_p99 = ina_sim_quantile(sim->jct, n, 0.99);
	result->jct_none = sim->sum.none / n;
	result->jct_all = sim->sum.all / n;
	result->score = (result->jct_none - result->jct) / (result->jct_none - result->jct_all);
	result->utilisation = sim->sum.utilisation / n;
	result->makespan = sim->now;
	result->load = sim->sum.host_time / (sim->now * ina_place_hosts(sim->place));
	result->own = sim->sum.with_tree ? (double)sim->sum.own / sim->sum.with_tree : 0;
	result->moves = sim->sum.moves / n;
	result->gap = sim->sum.gap / n;
	result->plan_median = ina_sim_quantile(sim->plan, n, 0.5);
	result->plan_p99 = ina_sim_quantile(sim->plan, n, 0.99);
	result->plan_max = ina_sim_quantile(sim->plan, n, 1);
}

static int ina_sim_init(struct ina_sim *sim)
{
	const struct ina_sim_config *config = sim->config;
	size_t resources = (size_t)config->topo->n_nodes + (size_t)config->topo->n_links;
	size_t n = (size_t)sim->n_jobs + 1;

	errno = ENOMEM;
	sim->place = ina_place_create(config->topo, config->alpha, config->every);
	sim->forest = sim->place ? ina_forest_create(config->topo, config->trees,
						     config->every, config->candidates) : NULL;
	if (!sim->forest)
		return -errno;
	sim->busy = calloc(resources + 1, sizeof(int));
	sim->runs = calloc(n, sizeof(*sim->runs));
	sim->jct = calloc(n, sizeof(double));
	sim->plan = calloc(n, sizeof(double));
	if (!sim->busy || !sim->runs || !sim->jct || !sim->plan)
		return -ENOMEM;
	if (config->share->create) {
		sim->share = config->share->create(sim);
		if (!sim->share)
			return -errno;
	}
	return 0;
}

int ina_sim_run(const struct ina_sim_config *config, const struct ina_sim_job *jobs, int n,
		struct ina_sim_result *result)
{
	struct ina_sim sim = { .config = config, .jobs = jobs, .n_jobs = n };
	int err = ina_sim_init(&sim), i;

	memset(result, 0, sizeof(*result));
	if (!err)
		err = ina_sim_loop(&sim, &result->events);
	if (!err && n)
		ina_sim_conclude(&sim, result);
	if (sim.share && config->share->destroy)
		config->share->destroy(sim.share);
	for (i = 0; i < sim.n_runs; i++)
		ina_sim_run_free(sim.runs[i]);
	ina_place_destroy(sim.place);
	ina_forest_destroy(sim.forest);
	free(sim.busy);
	free(sim.runs);
	free(sim.jct);
	free(sim.plan);
	free(sim.heap.events);
	return err;
}
