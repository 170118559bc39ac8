// SPDX-License-Identifier: GPL-2.0
/*
 * Hysteresis: a machine goes out when a measure has been high for a while and comes back when
 * all have been low for a while. In between nothing happens.
 */
#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

const char *const ina_load_words[] = {
	[INA_LOAD_CPU] = "cpu",
	[INA_LOAD_MEMORY] = "memory",
	[INA_LOAD_DROPS] = "drops",
};

const struct ina_load_limits ina_load_defaults = {
	.high = { [INA_LOAD_CPU] = 40, [INA_LOAD_MEMORY] = 80, [INA_LOAD_DROPS] = 1 },
	.low = { [INA_LOAD_CPU] = 20, [INA_LOAD_MEMORY] = 70, [INA_LOAD_DROPS] = 0.1 },
	.hold = 10,
};

static int load_number(const struct ina_doc_value *map, const char *key, double *number,
		       struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, key);

	if (!value)
		return ina_doc_fail(map, err, "%s is required", key);
	return ina_doc_quantity(value, 0, DBL_MAX, number, err);
}

static int load_read_devices(const struct ina_doc_value *map, struct ina_load *load,
			     struct ina_doc_error *err)
{
	const struct ina_doc_value *list = ina_doc_get(map, "devices");
	int ret = 0, n = list ? ina_doc_count(list, err) :
			 ina_doc_fail(map, err, "devices is required");
	double number;

	for (int i = 0; !ret && i < n; i++) {
		ret = load_number(ina_doc_at(list, i), "rx-packets", &number, err);
		load->packets += ret ? 0 : number;
		if (!ret)
			ret = load_number(ina_doc_at(list, i), "rx-dropped", &number, err);
		load->dropped += ret ? 0 : number;
	}
	return n < 0 ? n : ret;
}

int ina_load_read(const struct ina_doc_value *map, struct ina_load *load,
		  struct ina_doc_error *err)
{
	static const char *const known[] = {
		"time-ms", "cpu-pressure", "cpu-ms", "cpu-idle-ms", "memory", "memory-used",
		"devices", NULL
	};
	int ret = ina_doc_only(map, known, err);

	*load = (struct ina_load){ .pressure = -1 };
	if (!ret)
		ret = load_number(map, "time-ms", &load->time, err);
	if (!ret && ina_doc_get(map, "cpu-pressure"))
		ret = load_number(map, "cpu-pressure", &load->pressure, err);
	if (!ret)
		ret = load_number(map, "cpu-ms", &load->cpu, err);
	if (!ret)
		ret = load_number(map, "cpu-idle-ms", &load->idle, err);
	if (!ret)
		ret = load_number(map, "memory", &load->memory, err);
	if (!ret)
		ret = load_number(map, "memory-used", &load->used, err);
	load->time /= 1000;
	load->cpu /= 1000;
	load->idle /= 1000;
	return ret ? ret : load_read_devices(map, load, err);
}

/* @part of @whole in percent. */
static double load_share(double part, double whole)
{
	return whole > 0 && part > 0 ? 100 * part / whole : 0;
}

static void load_measure(struct ina_load_state *state, const struct ina_load *load)
{
	const struct ina_load *last = state->seen ? &state->last : load;
	double cpu = load->cpu - last->cpu;

	state->measures[INA_LOAD_CPU] = load->pressure >= 0 ? load->pressure :
					load_share(cpu - (load->idle - last->idle), cpu);
	state->measures[INA_LOAD_MEMORY] = load_share(load->used, load->memory);
	state->measures[INA_LOAD_DROPS] = load_share(load->dropped - last->dropped,
						     load->packets - last->packets);
}

/* Does the last report speak for the other state? */
static bool load_speaks(struct ina_load_state *state, const struct ina_load_limits *limits)
{
	const double *bounds = state->out ? limits->low : limits->high;
	bool high = false, low = true;

	state->worst = 0;
	for (int i = 0; i < INA_LOAD_MEASURES; i++) {
		high |= state->measures[i] >= limits->high[i];
		low &= state->measures[i] <= limits->low[i];
		if (state->measures[i] / bounds[i] >
		    state->measures[state->worst] / bounds[state->worst])
			state->worst = i;
	}
	return state->out ? low : high;
}

bool ina_load_update(struct ina_load_state *state, const struct ina_load *load,
		     const struct ina_load_limits *limits)
{
	/* The machine was started anew, and counts from the beginning. */
	if (state->seen && load->time < state->last.time) {
		state->seen = false;
		state->pending = false;
	}
	load_measure(state, load);
	if (!load_speaks(state, limits)) {
		state->pending = false;
	} else if (!state->pending) {
		state->pending = true;
		state->since = load->time;
	}
	state->last = *load;
	state->seen = true;
	if (!state->pending || load->time - state->since < limits->hold)
		return false;
	state->out = !state->out;
	state->pending = false;
	return true;
}

static bool load_copy_text(char **copy, const char *text)
{
	*copy = text ? strdup(text) : NULL;
	return *copy || !text;
}

static bool load_copy_options(struct ina_plan_job *copy, char *const *options)
{
	int n = 0;

	while (options && options[n])
		n++;
	copy->options = calloc((size_t)n + 1, sizeof(*copy->options));
	for (int i = 0; copy->options && i < n; i++) {
		if (!load_copy_text(&copy->options[i], options[i]))
			return false;
	}
	return copy->options;
}

static bool load_copy_job(struct ina_plan_job *copy, const struct ina_plan_job *job)
{
	copy->id = job->id;
	copy->nodes = calloc((size_t)job->n_nodes, sizeof(*copy->nodes));
	if (!copy->nodes || !load_copy_options(copy, job->options))
		return false;
	for (int i = 0; i < job->n_nodes; i++) {
		const struct ina_plan_node *node = &job->nodes[i];

		copy->n_nodes++;
		copy->nodes[i].parent = node->parent;
		copy->nodes[i].workers = node->workers;
		if (!load_copy_text(&copy->nodes[i].host, node->host) ||
		    !load_copy_text(&copy->nodes[i].where, node->where) ||
		    !load_copy_text(&copy->nodes[i].addr, node->addr))
			return false;
	}
	return true;
}

/* Parents that are out are passed over. */
static void load_contract(struct ina_plan_job *copy, const struct ina_plan_job *job,
			  bool (*out)(const void *ctx, const char *host), const void *ctx)
{
	for (int i = 0; i < job->n_nodes; i++) {
		int up = job->nodes[i].parent;

		while (up >= 0 && job->nodes[up].parent >= 0 && out(ctx, job->nodes[up].host))
			up = job->nodes[up].parent;
		copy->nodes[i].parent = up;
	}
}

struct ina_plan *ina_load_plan(const struct ina_plan *plan,
			       bool (*out)(const void *ctx, const char *host), const void *ctx)
{
	struct ina_plan *copy = calloc(1, sizeof(*copy));

	if (copy)
		copy->jobs = calloc((size_t)plan->n_jobs + 1, sizeof(*copy->jobs));
	for (int i = 0; copy && i < plan->n_jobs; i++) {
		copy->n_jobs += !!copy->jobs;
		if (!copy->jobs || !load_copy_job(&copy->jobs[i], &plan->jobs[i])) {
			ina_plan_destroy(copy);
			return NULL;
		}
		load_contract(&copy->jobs[i], &plan->jobs[i], out, ctx);
	}
	return copy;
}
