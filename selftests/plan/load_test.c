// SPDX-License-Identifier: GPL-2.0
/*
 * When a machine is taken out and when it is back: the two thresholds, the time either must
 * last, what a report must have, and what becomes of the plan.
 */
#include <string.h>

#include "ktap.h"
#include "load.h"

static const struct ina_load_limits limits = {
	.high = { 40, 80, 1 }, .low = { 20, 70, 0.1 }, .hold = 10,
};

static struct ina_load quiet(double time)
{
	return (struct ina_load){ .time = time, .pressure = 0, .cpu = time, .idle = time,
				  .memory = 100, .used = 10, .packets = 1000 * time };
}

/* One report of that pressure; 'o' if the machine goes out, 'b' if it is back, '.' if neither. */
static char look(struct ina_load_state *state, double time, double pressure)
{
	struct ina_load load = quiet(time);

	load.pressure = pressure;
	if (!ina_load_update(state, &load, &limits))
		return '.';
	return state->out ? 'o' : 'b';
}

/* Reports five seconds apart. */
static bool looks(const char *wanted, const double *pressure, int n)
{
	struct ina_load_state state = { 0 };
	char got[32] = "";

	for (int i = 0; i < n; i++)
		got[i] = look(&state, 5 * i, pressure[i]);
	if (!strcmp(got, wanted))
		return true;
	printf("# %s instead of %s\n", got, wanted);
	return false;
}

#define LOOKS(wanted, ...) \
	looks(wanted, (const double[]){ __VA_ARGS__ }, \
	      sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

static void test_hysteresis(void)
{
	ktap_ok(LOOKS("..o", 40, 40, 40), "out when the pressure has lasted");
	ktap_ok(LOOKS("......", 39, 39, 39, 39, 39, 39), "not below the upper threshold");
	ktap_ok(LOOKS("......", 90, 90, 30, 90, 90, 30), "not if it goes away in between");
	ktap_ok(LOOKS("..o...", 50, 50, 50, 30, 30, 30), "not back between the thresholds");
	ktap_ok(LOOKS("..o..b", 50, 50, 50, 20, 20, 20), "back when it has been low for long");
	ktap_ok(LOOKS("..o.....b", 50, 50, 50, 20, 20, 30, 20, 20, 20), "not before");
	ktap_ok(LOOKS("..o..b..o", 50, 50, 50, 0, 0, 0, 50, 50, 50), "and out again");
}

/* What a change of @load between two reports is taken for. */
static double measure(const struct ina_load *load, enum ina_load_measure which)
{
	struct ina_load_state state = { 0 };
	struct ina_load first = quiet(10);

	first.pressure = load->pressure;
	ina_load_update(&state, &first, &limits);
	ina_load_update(&state, load, &limits);
	return state.measures[which];
}

static void test_measures(void)
{
	struct ina_load load = quiet(20);
	struct ina_load_state state = { 0 };

	load.pressure = -1;
	load.idle = 12.5;
	ktap_ok(measure(&load, INA_LOAD_CPU) == 75, "without pressure figures, work counts");
	load = quiet(20);
	load.used = 85;
	ktap_ok(measure(&load, INA_LOAD_MEMORY) == 85, "memory in use");
	load = quiet(20);
	load.dropped = 200;
	ktap_ok(measure(&load, INA_LOAD_DROPS) == 2, "packets dropped since the last report");
	for (int i = 0; i < 3; i++) {
		load = quiet(5 * i);
		load.used = 85;
		ina_load_update(&state, &load, &limits);
	}
	ktap_ok(state.out && state.worst == INA_LOAD_MEMORY, "each of them takes a machine out");
	load = quiet(15);
	load.used = 75;
	for (int i = 0; i < 5; i++, load.time += 5)
		ina_load_update(&state, &load, &limits);
	ktap_ok(state.out, "and all must be low for it to be back");
}

static void test_restart(void)
{
	struct ina_load_state state = { 0 };

	look(&state, 1000, 50);
	look(&state, 1, 50);
	ktap_ok(look(&state, 9, 50) == '.' && look(&state, 11, 50) == 'o',
		"a machine that was started anew is looked at anew");
}

static bool read_fails(const char *text, const char *wanted)
{
	struct ina_doc_error err = { "" };
	struct ina_doc *doc = ina_doc_parse("f", text, strlen(text), &err);
	struct ina_load load;
	bool same = doc && ina_load_read(ina_doc_root(doc), &load, &err) && !strcmp(err.text, wanted);

	if (!same)
		printf("# %s\n", err.text);
	ina_doc_destroy(doc);
	return same;
}

#define REPORT(rest)	"{time-ms: 5000, cpu-ms: 2000, cpu-idle-ms: 1000, memory: 8Gi, memory-used: 1Gi" rest "}"

static void test_read(void)
{
	static const char good[] = REPORT(", cpu-pressure: 7, devices: [{name: e, rx-packets: 3,"
					  " rx-dropped: 1}, {name: f, rx-packets: 4, rx-dropped: 2}]");
	struct ina_doc_error err;
	struct ina_doc *doc = ina_doc_parse("f", good, strlen(good), &err);
	struct ina_load load = { 0 };

	ktap_ok(doc && !ina_load_read(ina_doc_root(doc), &load, &err) && load.time == 5 &&
		load.pressure == 7 && load.cpu == 2 && load.idle == 1 && load.packets == 7 &&
		load.dropped == 3 && load.memory == 8.0 * (1 << 30), "a report is read");
	ina_doc_destroy(doc);
	ktap_ok(read_fails("[]", "f:1: must be a mapping, not a list"), "a list is none");
	ktap_ok(read_fails(REPORT(""), "f:1: devices is required"), "devices are required");
	ktap_ok(read_fails(REPORT(", devices: [], cpu-pressure: -1"),
			   "f:1: cpu-pressure: -1 is not within 0 and 1.79769e+308"), "no negative figures");
	ktap_ok(read_fails(REPORT(", devices: [{rx-packets: 1}]"),
			   "f:1: devices[0]: rx-dropped is required"), "nor half a device");
	ktap_ok(read_fails(REPORT(", devices: [], load: 1"), "f:1: load: unknown; known: time-ms, "
			   "cpu-pressure, cpu-ms, cpu-idle-ms, memory, memory-used, devices"),
		"nor what is not known");
}

static bool out_host(const void *ctx, const char *host)
{
	return strchr(ctx, *host);
}

/* The parents of all nodes of a plan without @out, as letters. */
static bool contracts(const char *out, const char *wanted)
{
	static const char text[] =
		"jobs: [{id: 1, options: {capacity: 1}, tree: [{host: r}, {host: a, parent: r},"
		" {host: b, parent: a, workers: 1}, {host: c, parent: b, workers: 1}]}]";
	struct ina_doc_error err;
	struct ina_doc *doc = ina_doc_parse("f", text, strlen(text), &err);
	struct ina_plan *plan = ina_plan_from(doc, &err), *left = ina_load_plan(plan, out_host, out);
	char got[8] = "";

	for (int i = 0; i < 4; i++) {
		int up = left->jobs[0].nodes[i].parent;

		got[i] = up < 0 ? '-' : *left->jobs[0].nodes[up].host;
	}
	ina_doc_destroy(doc);
	ina_plan_destroy(plan);
	ina_plan_destroy(left);
	if (strcmp(got, wanted))
		printf("# %s instead of %s\n", got, wanted);
	return !strcmp(got, wanted);
}

static void test_plan(void)
{
	ktap_ok(contracts("", "-rab"), "nobody is out: the plan as it is");
	ktap_ok(contracts("a", "-rrb"), "children go to the parent of who is out");
	ktap_ok(contracts("ab", "-rrr"), "and further up if that is out, too");
	ktap_ok(contracts("r", "-rab"), "a root stays");
}

int main(void)
{
	ktap_start();
	test_hysteresis();
	test_measures();
	test_restart();
	test_read();
	test_plan();
	return ktap_end();
}
