// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf plan watch: keeps a plan applied, without the aggregators that are under pressure.
 * Each look: the plan if its file has changed and reports of all aggregators in, who goes or comes
 * back out, and the plan without them, planned anew if there is a topology, is applied if it is
 * another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "apply.h"
#include "jobs.h"
#include "replan.h"

/**
 * struct watched - a machine that aggregates, or has
 * @host: how it is reached
 * @state: what is known of its load
 * @answer: to the last question
 * @failed: it gave none
 */
struct watched {
	struct ina_host host;
	struct ina_load_state state;
	struct answer answer;
	int failed;
};

/**
 * struct watch - what is watched, and how
 * @target: plan and machines
 * @file: the file of the plan when it was read
 * @limits: when to act
 * @topo: topology file, NULL if trees are not planned anew
 * @measured: measurement file, NULL if there is none
 * @running: plan of jobs that are not in this one, NULL if there is none
 * @step: seconds of a step, for statistics
 * @replan: what trees are planned anew with
 * @measure: what is in @measured
 * @interval: seconds between two looks
 * @count: looks that are left; 0: no end
 * @stop: a signal came
 * @hosts: machines that are looked at
 * @n_hosts: how many
 * @dirty: the plan that is wanted has not been applied yet
 */
struct watch {
	struct target target;
	struct stat file;
	struct ina_load_limits limits;
	const char *topo;
	const char *measured;
	const char *running;
	double step;
	struct ina_replan replan;
	struct ina_measure *measure;
	double interval;
	double count;
	volatile const int *stop;
	struct watched *hosts;
	int n_hosts;
	bool dirty;
};

#define WATCH_INTERVAL	5	/* seconds */

static struct watched *watch_knows(const struct watch *watch, const char *host)
{
	for (int i = 0; i < watch->n_hosts; i++) {
		if (!strcmp(watch->hosts[i].host.name, host))
			return &watch->hosts[i];
	}
	return NULL;
}

static bool watch_out(const void *ctx, const char *host)
{
	const struct watched *w = watch_knows(ctx, host);

	return w && w->state.out;
}

/* Bit/s of all links of a machine. */
static double watch_rate(const struct watch *watch, const char *host)
{
	const struct ina_topo *topo = watch->replan.topo;
	int node = topo ? ina_topo_find(topo, host) : INA_TOPO_NONE;
	double rate = 0;

	for (int i = 0; node != INA_TOPO_NONE && i < topo->n_links; i++) {
		if (topo->links[i].a == node || topo->links[i].b == node)
			rate += topo->links[i].rate;
	}
	return rate;
}

/* A machine may be reached in another way from now on. */
static int watch_relocate(char **where, const char *now)
{
	char *copy = now ? strdup(now) : NULL;

	if (now && !copy)
		return error_print("out of memory");
	free(*where);
	*where = copy;
	return INACONF_OK;
}

static const char *watch_where(const struct ina_plan_node *node)
{
	return node->where ? node->where : node->host;
}

static int watch_add(struct watch *watch, const struct ina_plan_node *node)
{
	struct watched *w;

	/* A root cannot be taken out: without it there are no rounds. */
	if (node->parent < 0 || watch_knows(watch, node->host))
		return INACONF_OK;
	w = realloc(watch->hosts, ((size_t)watch->n_hosts + 1) * sizeof(*w));
	if (!w)
		return error_print("out of memory");
	watch->hosts = w;
	w += watch->n_hosts++;
	*w = (struct watched){
		.host = { strdup(node->host), strdup(watch_where(node)) },
		.state.rate = watch_rate(watch, node->host),
	};
	return w->host.name && w->host.where ? INACONF_OK : error_print("out of memory");
}

/* Machines that aggregate for others in some job. */
static int watch_collect(struct watch *watch, const struct ina_plan *plan)
{
	int ret = INACONF_OK;

	for (int j = 0; j < plan->n_jobs; j++) {
		const struct ina_plan_job *job = &plan->jobs[j];

		for (int i = 0; !ret && i < job->n_nodes; i++) {
			if (job->nodes[i].parent >= 0)
				ret = watch_add(watch, &job->nodes[job->nodes[i].parent]);
		}
	}
	return ret;
}

/* A machine has gone out or is back. */
static void watch_say(const struct watched *w)
{
	const struct ina_load_state *state = &w->state;

	fprintf(stderr, "%s is %s: %s %.0f %%", w->host.name, state->out ? "taken out" : "back",
		ina_load_words[state->worst], state->measures[state->worst]);
	if (state->out)
		fprintf(stderr, "; back when calm for %g s", state->rest);
	fputc('\n', stderr);
}

static void watch_ask(void *ctx, int i)
{
	const struct watch *watch = ctx;
	struct watched *w = &watch->hosts[i];

	w->answer.text = NULL;
	if (*watch->stop)
		return;
	w->failed = host_run(&watch->target.reach, &w->host, "plan load", true, &w->answer);
}

/* Take what a machine has answered. One that has not stays what it is. */
static bool watch_take(const struct watch *watch, struct watched *w)
{
	const struct answer *answer = &w->answer;
	struct ina_doc_error err = { "" };
	struct ina_doc *doc = NULL;
	struct ina_load load;
	bool changed = false;

	if (w->failed)
		snprintf(err.text, sizeof(err.text), "%s", answer->why);
	else
		doc = ina_doc_parse("plan load", answer->text ? answer->text : "", answer->size,
				    &err);
	if (doc && !ina_load_read(ina_doc_root(doc), &load, &err))
		changed = ina_load_update(&w->state, &load, &watch->limits);
	if (*err.text) {
		ina_load_miss(&w->state);
		error_print("host %s: no report: %s", w->host.name, err.text);
	}
	if (changed)
		watch_say(w);
	ina_doc_destroy(doc);
	return changed;
}

/* Ask all machines side by side: one that is slow delays nobody else's answer. */
static bool watch_look(struct watch *watch)
{
	bool changed = false;

	host_each(watch->n_hosts, watch_ask, watch);
	for (int i = 0; i < watch->n_hosts; i++) {
		changed |= !*watch->stop && watch_take(watch, &watch->hosts[i]);
		free(watch->hosts[i].answer.text);
	}
	return changed;
}

/* The plan without those who are out. */
static struct ina_plan *watch_plan(const struct watch *watch)
{
	struct ina_doc_error why = { "" };
	struct ina_plan *plan;

	if (!watch->replan.topo)
		return ina_load_plan(watch->target.plan, watch_out, watch);
	plan = ina_replan(watch->target.plan, &watch->replan, watch_out, watch, &why);
	if (plan && *why.text)
		error_print("not planned anew: %s", why.text);
	return plan;
}

static struct ina_plan_node *watch_find(const struct ina_plan *plan, const char *host)
{
	for (int j = 0; j < plan->n_jobs; j++) {
		for (int i = 0; i < plan->jobs[j].n_nodes; i++) {
			if (!strcmp(plan->jobs[j].nodes[i].host, host))
				return &plan->jobs[j].nodes[i];
		}
	}
	return NULL;
}

/* Append a machine to a job of the former plan, of which only the machines count. */
static int watch_append(struct ina_plan_job *job, const struct ina_plan_node *node)
{
	size_t n = (size_t)job->n_nodes + 1;
	struct ina_plan_node *nodes = realloc(job->nodes, n * sizeof(*nodes));

	if (!nodes)
		return error_print("out of memory");
	job->nodes = nodes;
	nodes += job->n_nodes++;
	*nodes = (struct ina_plan_node){ .host = strdup(node->host), .parent = -1,
					 .where = node->where ? strdup(node->where) : NULL };
	return nodes->host && !node->where == !nodes->where ? INACONF_OK :
							      error_print("out of memory");
}

static void watch_drop(struct ina_plan_job *job, int i)
{
	free(job->nodes[i].host);
	free(job->nodes[i].where);
	free(job->nodes[i].addr);
	job->nodes[i] = job->nodes[--job->n_nodes];
}

/* What was reached where @node is has its name now. */
static void watch_rename(struct ina_plan *former, const struct ina_plan_node *node)
{
	for (int j = 0; j < former->n_jobs; j++) {
		struct ina_plan_job *job = &former->jobs[j];

		for (int i = job->n_nodes - 1; i >= 0; i--) {
			if (strcmp(job->nodes[i].host, node->host) &&
			    !strcmp(watch_where(&job->nodes[i]), watch_where(node)))
				watch_drop(job, i);
		}
	}
}

static int watch_remember_node(struct watch *watch, const struct ina_plan_node *node)
{
	struct ina_plan *former = watch->target.former;
	struct watched *w = watch_knows(watch, node->host);
	struct ina_plan_node *known;

	watch_rename(former, node);
	known = watch_find(former, node->host);
	if (w && watch_relocate(&w->host.where, watch_where(node)))
		return INACONF_FAILED;
	return known ? watch_relocate(&known->where, node->where) :
		       watch_append(&former->jobs[0], node);
}

/* Machines of a plan are asked from now on, so that they end their part when it is over. */
static int watch_remember(struct watch *watch, const struct ina_plan *plan)
{
	struct ina_plan *former = watch->target.former;
	int ret = INACONF_OK;

	if (!former) {
		former = calloc(1, sizeof(*former));
		watch->target.former = former;
	}
	if (former && !former->n_jobs) {
		free(former->jobs);
		former->jobs = calloc(1, sizeof(*former->jobs));
		former->n_jobs = !!former->jobs;
	}
	if (!former || !former->n_jobs)
		return error_print("out of memory");
	for (int j = 0; j < plan->n_jobs; j++) {
		for (int i = 0; !ret && i < plan->jobs[j].n_nodes; i++)
			ret = watch_remember_node(watch, &plan->jobs[j].nodes[i]);
	}
	return ret ? ret : watch_collect(watch, plan);
}

static void watched_clear(struct watched *w)
{
	free(w->host.name);
	free(w->host.where);
	ina_load_state_clear(&w->state);
}

/*
 * @applied is what all machines have: who is in no plan has ended its part and is asked no more.
 * One that is out stays known, so that it is not taken again before it is calm.
 */
static void watch_forget(struct watch *watch, const struct ina_plan *applied)
{
	struct ina_plan *former = watch->target.former;

	for (int j = 0; j < former->n_jobs; j++) {
		for (int i = former->jobs[j].n_nodes - 1; i >= 0; i--) {
			if (!watch_find(applied, former->jobs[j].nodes[i].host))
				watch_drop(&former->jobs[j], i);
		}
	}
	for (int i = watch->n_hosts - 1; i >= 0; i--) {
		struct watched *w = &watch->hosts[i];

		if (w->state.out || watch_find(applied, w->host.name) ||
		    watch_find(watch->target.plan, w->host.name))
			continue;
		watched_clear(w);
		*w = watch->hosts[--watch->n_hosts];
	}
}

static int watch_apply(struct watch *watch, struct print *out)
{
	struct ina_plan *plan = watch_plan(watch);
	int ret = plan ? watch_remember(watch, plan) : error_print("out of memory");
	int lock = ret ? -1 : apply_lock(watch->stop);

	if (!ret)
		ret = lock < 0 ? INACONF_FAILED : target_survey(&watch->target, plan);
	if (!ret)
		ret = apply_run(&watch->target, out, watch->stop);
	if (!ret) {
		watch_forget(watch, plan);
		ret = print_flush(out);
	}
	if (lock >= 0)
		close(lock);
	ina_plan_destroy(plan);
	watch->dirty = ret;
	return ret;
}

static void watch_sleep(const struct watch *watch)
{
	struct timespec left = { .tv_sec = (time_t)watch->interval };

	left.tv_nsec = (long)((watch->interval - (double)left.tv_sec) * 1e9);
	/* A signal that comes before this makes it one interval longer, no more. */
	if (!*watch->stop)
		nanosleep(&left, NULL);
}

/* Has the file of the plan changed, and is another plan in it? One that is gone has not. */
static bool watch_reread(struct inaconf *ctx, struct watch *watch)
{
	const struct stat *was = &watch->file;
	struct stat now;

	if (stat(watch->target.path, &now) ||
	    (now.st_dev == was->st_dev && now.st_ino == was->st_ino &&
	     now.st_size == was->st_size && now.st_mtim.tv_sec == was->st_mtim.tv_sec &&
	     now.st_mtim.tv_nsec == was->st_mtim.tv_nsec))
		return false;
	watch->file = now;
	if (target_reread(ctx, &watch->target)) {
		error_print("the plan stays as it was");
		return false;
	}
	fprintf(stderr, "%s has changed\n", watch->target.path);
	return true;
}

/* Until a signal comes, or as often as was said. What failed is tried again at the next look. */
static int watch_loop(struct inaconf *ctx, struct watch *watch)
{
	int ret = watch_apply(watch, &ctx->out);

	for (double n = 0; !*watch->stop && (!watch->count || n < watch->count); n++) {
		if (n)
			watch_sleep(watch);
		watch->dirty |= watch_reread(ctx, watch);
		watch->dirty |= watch_look(watch);
		if (watch->dirty && !*watch->stop)
			ret = watch_apply(watch, &ctx->out);
	}
	return ret;
}

static bool watch_has_job(const struct ina_plan *plan, uint32_t id)
{
	int j = 0;

	while (j < plan->n_jobs && plan->jobs[j].id != id)
		j++;
	return j < plan->n_jobs;
}

/* Machines that aggregate for jobs of other plans have less to give. */
static int watch_occupy(const struct watch *watch)
{
	struct ina_doc_error err;
	struct ina_plan *running;

	if (!watch->running)
		return INACONF_OK;
	running = ina_plan_read(watch->running, &err);
	if (!running)
		return error_usage("%s", err.text);
	for (int j = 0; j < running->n_jobs; j++) {
		struct ina_plan one = { .jobs = &running->jobs[j], .n_jobs = 1 };
		uint32_t id = running->jobs[j].id;

		if (!watch_has_job(watch->target.plan, id))
			ina_jobs_occupy(watch->replan.topo, &one, ~id);
	}
	ina_plan_destroy(running);
	return INACONF_OK;
}

/* Words that make sense together only, or not. */
static int watch_check(const struct watch *watch)
{
	const char *const files[] = { watch->target.from, watch->topo, watch->measured,
				      watch->running };
	int inputs = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		inputs += files[i] && !strcmp(files[i], "-");
	if (inputs > 1)
		return error_usage("only one of from, topo, measure and running can be standard input");
	if (!watch->topo && (watch->measured || watch->step || watch->replan.per_core ||
			     watch->running))
		return error_usage("%s needs topo", watch->measured ? "measure" :
				   watch->step ? "step" : watch->running ? "running" : "per-core");
	if (watch->limits.low[INA_LOAD_CPU] > watch->limits.high[INA_LOAD_CPU])
		return error_usage("low %g is above high %g", watch->limits.low[INA_LOAD_CPU],
				   watch->limits.high[INA_LOAD_CPU]);
	return INACONF_OK;
}

/* What trees are planned anew with. */
static int watch_read(struct watch *watch)
{
	struct ina_doc_error err = { "" };

	if (!watch->topo)
		return INACONF_OK;
	if (!watch->replan.per_core)
		watch->replan.per_core = INA_TREE_PER_CORE;
	watch->replan.topo = ina_topo_read(watch->topo, &err);
	if (watch->replan.topo && watch->measured) {
		watch->measure = ina_measure_read(watch->measured, watch->replan.topo, watch->step,
						  &err);
		watch->replan.measure = watch->measure;
	}
	return *err.text ? error_usage("%s", err.text) : watch_occupy(watch);
}

static void watch_clear(struct watch *watch)
{
	for (int i = 0; i < watch->n_hosts; i++)
		watched_clear(&watch->hosts[i]);
	free(watch->hosts);
	ina_measure_destroy(watch->measure);
	ina_topo_destroy(watch->replan.topo);
	target_clear(&watch->target);
}

int plan_watch(struct inaconf *ctx, int argc, char **argv)
{
	struct watch watch = { .limits = ina_load_defaults, .interval = WATCH_INTERVAL };
	const struct keyword words[] = {
		{ "topo", KEYWORD_TEXT, &watch.topo, 0, 0 },
		{ "measure", KEYWORD_TEXT, &watch.measured, 0, 0 },
		{ "running", KEYWORD_TEXT, &watch.running, 0, 0 },
		{ "step", KEYWORD_NUMBER, &watch.step, 0, 1e6 },
		{ "per-core", KEYWORD_NUMBER, &watch.replan.per_core, 1, 1e15 },
		{ "interval", KEYWORD_NUMBER, &watch.interval, 0.01, 1e6 },
		{ "hold", KEYWORD_NUMBER, &watch.limits.hold, 0, 1e6 },
		{ "high", KEYWORD_NUMBER, &watch.limits.high[INA_LOAD_CPU], 0.01, 100 },
		{ "low", KEYWORD_NUMBER, &watch.limits.low[INA_LOAD_CPU], 0.01, 100 },
		{ "count", KEYWORD_NUMBER, &watch.count, 1, 1e15 },
	};
	int ret;

	if (argc && !strcmp(argv[0], "-"))
		return error_usage("PLAN is read again when it changes: give a file, not -");
	/* Before it is read: what changes from now on is not missed. */
	if (argc)
		stat(argv[0], &watch.file);
	ret = target_parse(ctx, &watch.target, words, ARRAY_SIZE(words), argc, argv);
	watch.stop = apply_catch();
	if (!ret)
		ret = watch_check(&watch);
	if (!ret)
		ret = watch_read(&watch);
	if (!ret)
		ret = watch_loop(ctx, &watch);
	watch_clear(&watch);
	return ret;
}
