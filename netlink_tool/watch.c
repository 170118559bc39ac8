// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf plan watch: keeps a plan applied, without the aggregators that are under pressure.
 * Each look: reports of all aggregators in, who goes or comes back out, and what is left of
 * the plan is applied if it is another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "apply.h"
#include "load.h"

/**
 * struct watched - an aggregator of the plan
 * @host: how it is reached
 * @state: what is known of its load
 */
struct watched {
	struct ina_host host;
	struct ina_load_state state;
};

/**
 * struct watch - what is watched, and how
 * @target: plan and machines
 * @limits: when to act
 * @interval: seconds between two looks
 * @count: looks that are left; 0: no end
 * @stop: a signal came
 * @hosts: machines that are looked at
 * @n_hosts: how many
 * @dirty: the plan that is wanted has not been applied yet
 */
struct watch {
	struct target target;
	struct ina_load_limits limits;
	double interval;
	double count;
	volatile const int *stop;
	struct watched *hosts;
	int n_hosts;
	bool dirty;
};

#define WATCH_INTERVAL	5	/* seconds */

static bool watch_out(const void *ctx, const char *host)
{
	const struct watch *watch = ctx;

	for (int i = 0; i < watch->n_hosts; i++) {
		if (!strcmp(watch->hosts[i].host.name, host))
			return watch->hosts[i].state.out;
	}
	return false;
}

static bool watch_knows(const struct watch *watch, const char *host)
{
	int i = 0;

	while (i < watch->n_hosts && strcmp(watch->hosts[i].host.name, host))
		i++;
	return i < watch->n_hosts;
}

static int watch_add(struct watch *watch, const struct ina_plan_node *node)
{
	struct watched *bigger;

	/* A root cannot be taken out: without it there are no rounds. */
	if (node->parent < 0 || watch_knows(watch, node->host))
		return INACONF_OK;
	bigger = realloc(watch->hosts, ((size_t)watch->n_hosts + 1) * sizeof(*bigger));
	if (!bigger)
		return error_print("out of memory");
	watch->hosts = bigger;
	/* Both belong to the plan, which outlives this. */
	watch->hosts[watch->n_hosts++] = (struct watched){
		.host = { node->host, node->where ? node->where : node->host }
	};
	return INACONF_OK;
}

/* Machines that aggregate for others in some job. */
static int watch_collect(struct watch *watch)
{
	const struct ina_plan *plan = watch->target.plan;
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

/* Ask one machine. One that does not answer stays what it is. */
static bool watch_look(const struct watch *watch, struct watched *w)
{
	struct ina_doc_error err = { "" };
	struct ina_doc *doc = NULL;
	struct answer answer;
	struct ina_load load;
	bool changed = false;

	if (host_run(&watch->target.reach, &w->host, "plan load", true, &answer))
		snprintf(err.text, sizeof(err.text), "%s", answer.why);
	else
		doc = ina_doc_parse("plan load", answer.text ? answer.text : "", answer.size, &err);
	if (doc && !ina_load_read(ina_doc_root(doc), &load, &err))
		changed = ina_load_update(&w->state, &load, &watch->limits);
	if (*err.text)
		error_print("host %s: no report: %s", w->host.name, err.text);
	if (changed)
		fprintf(stderr, "%s is %s: %s %.0f %%\n", w->host.name,
			w->state.out ? "taken out" : "back", ina_load_words[w->state.worst],
			w->state.measures[w->state.worst]);
	ina_doc_destroy(doc);
	free(answer.text);
	return changed;
}

static int watch_apply(struct watch *watch, struct print *out)
{
	struct ina_plan *plan = ina_load_plan(watch->target.plan, watch_out, watch);
	int ret = plan ? INACONF_OK : error_print("out of memory");
	int lock = ret ? -1 : apply_lock(watch->stop);

	if (!ret)
		ret = lock < 0 ? INACONF_FAILED : target_survey(&watch->target, plan);
	if (!ret)
		ret = apply_run(&watch->target, out, watch->stop);
	if (!ret)
		ret = print_flush(out);
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

/* Until a signal comes, or as often as was said. What failed is tried again at the next look. */
static int watch_loop(struct watch *watch, struct print *out)
{
	int ret = watch_apply(watch, out);

	for (double n = 0; !*watch->stop && (!watch->count || n < watch->count); n++) {
		if (n)
			watch_sleep(watch);
		for (int i = 0; i < watch->n_hosts && !*watch->stop; i++)
			watch->dirty |= watch_look(watch, &watch->hosts[i]);
		if (watch->dirty && !*watch->stop)
			ret = watch_apply(watch, out);
	}
	return ret;
}

int plan_watch(struct inaconf *ctx, int argc, char **argv)
{
	struct watch watch = { .limits = ina_load_defaults, .interval = WATCH_INTERVAL };
	const struct keyword words[] = {
		{ "interval", KEYWORD_NUMBER, &watch.interval, 0.01, 1e6 },
		{ "hold", KEYWORD_NUMBER, &watch.limits.hold, 0, 1e6 },
		{ "high", KEYWORD_NUMBER, &watch.limits.high[INA_LOAD_CPU], 0.01, 100 },
		{ "low", KEYWORD_NUMBER, &watch.limits.low[INA_LOAD_CPU], 0.01, 100 },
		{ "count", KEYWORD_NUMBER, &watch.count, 1, 1e15 },
	};
	int ret = target_parse(ctx, &watch.target, words, ARRAY_SIZE(words), argc, argv);

	watch.stop = apply_catch();
	if (!ret && watch.limits.low[INA_LOAD_CPU] > watch.limits.high[INA_LOAD_CPU])
		ret = error_usage("low %g is above high %g", watch.limits.low[INA_LOAD_CPU],
				  watch.limits.high[INA_LOAD_CPU]);
	if (!ret)
		ret = watch_collect(&watch);
	if (!ret)
		ret = watch_loop(&watch, &ctx->out);
	for (int i = 0; i < watch.n_hosts; i++)
		ina_load_state_clear(&watch.hosts[i].state);
	free(watch.hosts);
	target_clear(&watch.target);
	return ret;
}
