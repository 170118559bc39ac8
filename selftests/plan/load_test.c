// SPDX-License-Identifier: GPL-2.0
/*
 * When a machine is taken out and when it is back: the two thresholds, the time either must
 * last, also of one that flaps, what a report must have, and what becomes of the plan.
 */
#include <math.h>
#include <string.h>

#include "load.h"
#include "plans.h"

static const struct ina_load_limits limits = {
	.high = { 40, 80, 1, 90 }, .low = { 20, 70, 0.1, 70 }, .hold = 10,
};

static struct ina_load quiet(double time)
{
	return (struct ina_load){ .time = time, .pressure = 0, .cpu = time, .idle = time,
				  .memory = 100, .used = 10, .packets = 1000 * time };
}

#define NONE	NAN	/* no report */

/* One report of that pressure; 'o' if the machine goes out, 'b' if it is back, '.' if neither. */
static char look(struct ina_load_state *state, double time, double pressure)
{
	struct ina_load load = quiet(time);

	load.pressure = pressure;
	if (isnan(pressure))
		ina_load_miss(state);
	if (isnan(pressure) || !ina_load_update(state, &load, &limits))
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

/* Until the machine goes out or is back, looked at every five seconds: seconds that took. */
static double lasts(struct ina_load_state *state, double *time, double pressure)
{
	double start = *time;

	while (look(state, *time += 5, pressure) == '.' && *time < start + 1e4)
		;
	return *time - start;
}

/* One that only its own part fills: high while it has it, calm without. */
static void test_flapping(void)
{
	static const double rests[] = { 10, 20, 40, 80, 160, 320, 320 };
	struct ina_load_state state = { 0 };
	double time = 0;
	bool same = true;

	for (size_t i = 0; i < sizeof(rests) / sizeof(*rests); i++) {
		same &= lasts(&state, &time, 50) == 15 && state.out;
		same &= state.rest == rests[i];
		same &= lasts(&state, &time, 0) == 5 + rests[i] && !state.out;
	}
	ktap_ok(same, "who soon goes out again rests twice as long, up to 32 times hold");
	/* The time of the next pressure counts, and that it lasts for hold. */
	for (double end = time + 300; time < end;)
		look(&state, time += 5, 0);
	lasts(&state, &time, 50);
	ktap_ok(state.out && state.rest == 320, "not if it has stayed for a while only");
	lasts(&state, &time, 0);
	for (double end = time + 305; time < end;)
		look(&state, time += 5, 0);
	lasts(&state, &time, 50);
	ktap_ok(state.out && state.rest == 10, "who has stayed as long begins anew");
	lasts(&state, &time, 0);
	lasts(&state, &time, 50);
	ktap_ok(state.out && state.rest == 20, "and rests twice as long again");
	time = 0;
	look(&state, time, 0);
	lasts(&state, &time, 0);
	ktap_ok(!state.out && time == 10, "not if it was started anew");
}

/* Times without reports. */
static void test_missing(void)
{
	struct ina_load_state state = { 0 };
	double time = 0;

	ktap_ok(LOOKS("..o....b", 50, 50, 50, 0, NONE, 0, 0, 0),
		"a machine that does not report is not calm");
	ktap_ok(LOOKS("..o.......", 50, 50, 50, 0, NONE, 0, NONE, 0, NONE, 0),
		"also if every second report is missing");
	ktap_ok(LOOKS("..o..", 50, NONE, 50, NONE, NONE), "pressure before and after has lasted");
	ktap_ok(LOOKS("......", 50, NONE, 30, 50, NONE, 30), "if both reports say so");
	lasts(&state, &time, 50);
	lasts(&state, &time, 0);
	look(&state, time += 5, NONE);
	look(&state, time += 400, 0);
	lasts(&state, &time, 50);
	ktap_ok(state.out && state.rest == 20, "nor has it stayed then");
	lasts(&state, &time, 0);
	look(&state, time += 5, NONE);
	time = 0;
	look(&state, time, 50);
	lasts(&state, &time, 50);
	lasts(&state, &time, 0);
	ktap_ok(!state.out && time == 25, "who was started anew meanwhile is looked at anew");
}

/* What a change of @load between two reports is taken for. */
static double measure(struct ina_load *load, enum ina_load_measure which)
{
	struct ina_load_state state = { 0 };
	struct ina_load first = quiet(10);

	first.pressure = load->pressure;
	ina_load_update(&state, &first, &limits);
	ina_load_update(&state, load, &limits);
	return state.measures[which];
}

/* eth0, of 1 Gbit/s, and tun0 and tun1, which tell no rate, have carried so much. */
static struct ina_load carried(double time, double rx, double tx, double rx0, double tx1)
{
	struct ina_load load = quiet(time);

	load.n_devices = 3;
	load.devices = calloc(3, sizeof(*load.devices));
	load.devices[0] = (struct ina_load_device){ "eth0", 1e9, rx, tx };
	load.devices[1] = (struct ina_load_device){ "tun0", 0, rx0, 0 };
	load.devices[2] = (struct ina_load_device){ "tun1", 0, 50e6, tx1 };
	return load;
}

/* Percent of the NIC between two reports ten seconds apart, with @rate of the topology. */
static double nic(double rate, double rx, double tx, double rx0, double tx1)
{
	struct ina_load_state state = { .rate = rate };
	struct ina_load first = carried(10, 1e12, 1e12, 0, 0);
	struct ina_load next = carried(20, 1e12 + rx, 1e12 + tx, rx0, tx1);
	double share;

	ina_load_update(&state, &first, &limits);
	share = state.measures[INA_LOAD_NIC];
	ina_load_update(&state, &next, &limits);
	share = share ? -1 : state.measures[INA_LOAD_NIC];
	ina_load_state_clear(&state);
	return share;
}

static void test_nic(void)
{
	struct ina_load_state state = { 0 };
	struct ina_load load;
	char got[8] = "";

	ktap_ok(nic(0, 500e6, 250e6, 0, 0) == 40, "received, of what the device can");
	ktap_ok(nic(0, 250e6, 1000e6, 0, 0) == 80, "the busier direction counts");
	ktap_ok(nic(0, 250e6, 0, 5e9, 5e9) == 20, "a device without a rate does not, alone");
	ktap_ok(nic(10e9, 250e6, 0, 5e9, 6e9) == 48, "with the topology's it does");
	ktap_ok(nic(10e9, -1e12, -1e12, 0, 0) == 0,
		"a device that counts anew has carried nothing");
	/* 95, 95, 95 %, gone, then 75 % and 60 % each for long */
	for (int i = 0; i < 4; i++) {
		load = carried(5 * i, 593.75e6 * i, 0, 0, 0);
		if (ina_load_update(&state, &load, &limits))
			got[i] = 'o';
	}
	ktap_ok(state.out && got[3] == 'o' && state.worst == INA_LOAD_NIC,
		"a NIC that is full takes a machine out");
	for (int i = 0; i < 5; i++) {
		load = carried(20 + 5 * i, 593.75e6 * 3 + 468.75e6 * (i + 1), 0, 0, 0);
		ina_load_update(&state, &load, &limits);
	}
	ktap_ok(state.out, "which is not back while it is half full");
	for (int i = 0; i < 3; i++) {
		load = carried(45 + 5 * i, 593.75e6 * 3 + 468.75e6 * 5 + 375e6 * (i + 1), 0, 0, 0);
		ina_load_update(&state, &load, &limits);
	}
	ktap_ok(!state.out, "but is when it has been below for long");
	ina_load_state_clear(&state);
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
	for (int i = 0; i < 5; i++) {
		load = quiet(15 + 5 * i);
		load.used = 75;
		ina_load_update(&state, &load, &limits);
	}
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
	bool same = doc && ina_load_read(ina_doc_root(doc), &load, &err) &&
		    !strcmp(err.text, wanted);

	if (!same)
		printf("# %s\n", err.text);
	ina_doc_destroy(doc);
	return same;
}

#define REPORT(rest)	"{time-ms: 5000, cpu-ms: 2000, cpu-idle-ms: 1000, memory: 8Gi, " \
			"memory-used: 1Gi" rest "}"

static void test_read(void)
{
	static const char good[] = REPORT(", cpu-pressure: 7, devices: [{name: e, rx-bytes: 5,"
					  " tx-bytes: 6, rx-packets: 3, rx-dropped: 1},"
					  " {name: f, rate: 1G, rx-bytes: 7, tx-bytes: 8,"
					  " rx-packets: 4, rx-dropped: 2}]");
	struct ina_doc_error err;
	struct ina_doc *doc = ina_doc_parse("f", good, strlen(good), &err);
	struct ina_load load = { 0 };

	ktap_ok(doc && !ina_load_read(ina_doc_root(doc), &load, &err) && load.time == 5 &&
		load.pressure == 7 && load.cpu == 2 && load.idle == 1 && load.packets == 7 &&
		load.dropped == 3 && load.memory == 8.0 * (1 << 30) && load.n_devices == 2 &&
		!load.devices[0].rate && load.devices[1].rate == 1e9 && load.devices[1].rx == 7 &&
		load.devices[0].tx == 6, "a report is read");
	free(load.devices);
	ina_doc_destroy(doc);
	ktap_ok(read_fails("[]", "f:1: must be a mapping, not a list"), "a list is none");
	ktap_ok(read_fails(REPORT(""), "f:1: devices is required"), "devices are required");
	ktap_ok(read_fails(REPORT(", devices: [], cpu-pressure: -1"),
			   "f:1: cpu-pressure: -1 is not within 0 and 1.79769e+308"),
		"no negative figures");
	ktap_ok(read_fails(REPORT(", devices: [{name: e, rx-bytes: 1, rx-packets: 1}]"),
			   "f:1: devices[0]: rx-dropped is required"), "nor half a device");
	ktap_ok(read_fails(REPORT(", devices: [{name: abcdefghijklmnop}]"),
			   "f:1: devices[0].name: longer than the name of a device"),
		"nor a false name");
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
	struct ina_plan *plan = plan_of(text), *left = ina_load_plan(plan, out_host, out);
	char got[8] = "";

	for (int i = 0; i < 4; i++) {
		int up = left->jobs[0].nodes[i].parent;

		got[i] = up < 0 ? '-' : *left->jobs[0].nodes[up].host;
	}
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
	test_flapping();
	test_missing();
	test_measures();
	test_nic();
	test_restart();
	test_read();
	test_plan();
	return ktap_end();
}
