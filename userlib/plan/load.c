// SPDX-License-Identifier: GPL-2.0
/*
 * Hysteresis: a machine goes out when a measure has been high for a while and comes back when
 * all have been low for a while, which is longer each time it soon goes out again. In between
 * nothing happens.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

const char *const ina_load_words[] = {
	[INA_LOAD_CPU] = "cpu",
	[INA_LOAD_MEMORY] = "memory",
	[INA_LOAD_DROPS] = "drops",
	[INA_LOAD_NIC] = "nic",
};

const struct ina_load_limits ina_load_defaults = {
	.high = { [INA_LOAD_CPU] = 40, [INA_LOAD_MEMORY] = 80, [INA_LOAD_DROPS] = 1,
		  [INA_LOAD_NIC] = 90 },
	.low = { [INA_LOAD_CPU] = 20, [INA_LOAD_MEMORY] = 70, [INA_LOAD_DROPS] = 0.1,
		 [INA_LOAD_NIC] = 70 },
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

static int load_read_name(const struct ina_doc_value *map, struct ina_load_device *device,
			  struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, "name");
	const char *name;
	int ret = value ? ina_doc_string(value, &name, err) :
			  ina_doc_fail(map, err, "name is required");

	if (!ret && strlen(name) >= sizeof(device->name))
		ret = ina_doc_fail(value, err, "longer than the name of a device");
	if (!ret)
		strcpy(device->name, name);
	return ret;
}

static int load_read_device(const struct ina_doc_value *map, struct ina_load *load,
			    struct ina_doc_error *err)
{
	static const char *const known[] = {
		"name", "rate", "rx-bytes", "rx-packets", "rx-dropped", "tx-bytes", NULL
	};
	struct ina_load_device *device = &load->devices[load->n_devices++];
	double packets = 0, dropped = 0;
	int ret = ina_doc_only(map, known, err);

	if (!ret)
		ret = load_read_name(map, device, err);
	if (!ret && ina_doc_get(map, "rate"))
		ret = load_number(map, "rate", &device->rate, err);
	if (!ret)
		ret = load_number(map, "rx-bytes", &device->rx, err);
	if (!ret)
		ret = load_number(map, "rx-packets", &packets, err);
	if (!ret)
		ret = load_number(map, "rx-dropped", &dropped, err);
	if (!ret)
		ret = load_number(map, "tx-bytes", &device->tx, err);
	load->packets += packets;
	load->dropped += dropped;
	return ret;
}

static int load_read_devices(const struct ina_doc_value *map, struct ina_load *load,
			     struct ina_doc_error *err)
{
	const struct ina_doc_value *list = ina_doc_get(map, "devices");
	int ret = 0, n = list ? ina_doc_count(list, err) :
			 ina_doc_fail(map, err, "devices is required");

	if (n < 0)
		return n;
	load->devices = calloc((size_t)n + 1, sizeof(*load->devices));
	if (!load->devices)
		return ina_doc_fail(list, err, "%s", strerror(ENOMEM));
	for (int i = 0; !ret && i < n; i++)
		ret = load_read_device(ina_doc_at(list, i), load, err);
	if (ret)
		free(load->devices);
	return ret;
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

static double load_above(double a, double b)
{
	return a > b ? a : b;
}

static const struct ina_load_device *load_find(const struct ina_load *load, const char *name)
{
	for (int i = 0; i < load->n_devices; i++) {
		if (!strcmp(load->devices[i].name, name))
			return &load->devices[i];
	}
	return NULL;
}

/*
 * The busier direction of the busiest device. Those that do not tell their rate count together,
 * against the links of the machine.
 */
static double load_nic(const struct ina_load_state *state, const struct ina_load *load,
		       const struct ina_load *last)
{
	double share = 0, rx = 0, tx = 0, seconds = load->time - last->time;

	for (int i = 0; i < load->n_devices; i++) {
		const struct ina_load_device *now = &load->devices[i];
		const struct ina_load_device *was = load_find(last, now->name);

		if (!was)
			continue;
		if (now->rate > 0) {
			share = load_above(share, load_share(load_above(now->rx - was->rx,
									now->tx - was->tx),
							     now->rate / 8 * seconds));
			continue;
		}
		rx += load_above(now->rx - was->rx, 0);
		tx += load_above(now->tx - was->tx, 0);
	}
	return load_above(share, load_share(load_above(rx, tx), state->rate / 8 * seconds));
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
	state->measures[INA_LOAD_NIC] = load_nic(state, load, last);
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

void ina_load_state_clear(struct ina_load_state *state)
{
	free(state->last.devices);
	*state = (struct ina_load_state){ 0 };
}

/* The machine goes out or is back, and how long it has to rest the next time. */
static void load_turn(struct ina_load_state *state, const struct ina_load_limits *limits)
{
	double now = state->last.time, most = INA_LOAD_REST * limits->hold;

	state->out = !state->out;
	state->pending = false;
	if (!state->out)
		state->back = now;
	else if (state->rest > 0 && now - state->back < most)
		state->rest = fmin(2 * state->rest, most);
	else
		state->rest = limits->hold;
}

void ina_load_miss(struct ina_load_state *state)
{
	state->missed = true;
}

/*
 * Nobody knows what was until the report that came at @now: the time begins anew in which the
 * machine was calm, and it did not stay. Pressure before and after has lasted.
 */
static void load_resume(struct ina_load_state *state, double now)
{
	if (state->out)
		state->pending = false;
	else
		state->back += now - state->last.time;
}

bool ina_load_update(struct ina_load_state *state, struct ina_load *load,
		     const struct ina_load_limits *limits)
{
	/* The machine was started anew, and counts from the beginning. */
	if (state->seen && load->time < state->last.time) {
		state->seen = false;
		state->pending = false;
		state->rest = state->out ? limits->hold : 0;
	}
	if (state->missed && state->seen)
		load_resume(state, load->time);
	state->missed = false;
	load_measure(state, load);
	if (!load_speaks(state, limits)) {
		state->pending = false;
	} else if (!state->pending) {
		state->pending = true;
		state->since = load->time;
	}
	free(state->last.devices);
	state->last = *load;
	*load = (struct ina_load){ 0 };
	state->seen = true;
	if (!state->pending ||
	    state->last.time - state->since < (state->out ? state->rest : limits->hold))
		return false;
	load_turn(state, limits);
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
