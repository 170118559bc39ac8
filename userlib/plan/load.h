/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a machine under pressure, so that others should do its part? Reports in, decision and
 * changed plan out: no machine is asked here.
 */
#ifndef INA_PLAN_LOAD_H
#define INA_PLAN_LOAD_H

#include <stdbool.h>

#include "plan.h"

/**
 * struct ina_load_device - a network device in a report
 * @name: its name
 * @rate: bit/s in each direction, 0 if it does not tell
 * @rx: bytes received so far
 * @tx: bytes sent so far
 */
struct ina_load_device {
	char name[16];
	double rate;
	double rx;
	double tx;
};

/**
 * struct ina_load - what a machine reports of itself (`inaconf plan load`)
 * @time: seconds since it was started
 * @pressure: percent of the last ten seconds in which somebody waited for a processor;
 *	negative if the kernel does not tell
 * @cpu: seconds of all processors so far
 * @idle: of them, without work
 * @memory: bytes
 * @used: of them, in use
 * @packets: received so far by all devices
 * @dropped: dropped by them so far
 * @devices: the devices
 * @n_devices: how many
 */
struct ina_load {
	double time;
	double pressure;
	double cpu;
	double idle;
	double memory;
	double used;
	double packets;
	double dropped;
	struct ina_load_device *devices;
	int n_devices;
};

/* What is looked at, each in percent. */
enum ina_load_measure {
	INA_LOAD_CPU,
	INA_LOAD_MEMORY,
	INA_LOAD_DROPS,
	INA_LOAD_NIC,
	INA_LOAD_MEASURES,
};

extern const char *const ina_load_words[];

/*
 * A machine that goes out again soon after it was back must be calm for twice as long as the last
 * time: what fills it may be the aggregation itself. At most this many times hold; who stayed for
 * as long begins with hold again.
 */
#define INA_LOAD_REST	32

/**
 * struct ina_load_limits - when to act
 * @high: percent from which a machine is under pressure
 * @low: percent up to which it is not any more; all of them
 * @hold: seconds that pressure must last, and its absence the first time
 */
struct ina_load_limits {
	double high[INA_LOAD_MEASURES];
	double low[INA_LOAD_MEASURES];
	double hold;
};

extern const struct ina_load_limits ina_load_defaults;

/**
 * struct ina_load_state - what is known of a machine
 * @rate: bit/s of its links in the topology, for devices that do not tell theirs; 0: not known
 * @seen: @last is a report
 * @missed: reports after @last did not come
 * @last: report before
 * @measures: percent, of the last report
 * @worst: which of them is most above its limit
 * @pending: the other state is due once it has lasted
 * @since: time of the report from which on it is
 * @out: the machine is taken out
 * @rest: seconds it must be calm to be back; 0 if it was never out
 * @back: time of the report with which it was back, later by the times without reports since
 */
struct ina_load_state {
	double rate;
	bool seen;
	bool missed;
	struct ina_load last;
	double measures[INA_LOAD_MEASURES];
	enum ina_load_measure worst;
	bool pending;
	double since;
	bool out;
	double rest;
	double back;
};

/* Read a report; 0, or -EINVAL or -ENOMEM with the reason in @err and nothing to free. */
int ina_load_read(const struct ina_doc_value *map, struct ina_load *load,
		  struct ina_doc_error *err);

/* Take a report, which is empty then; returns whether @state->out has changed. */
bool ina_load_update(struct ina_load_state *state, struct ina_load *load,
		     const struct ina_load_limits *limits);

/* A report did not come: until the next one the machine does not count as calm. */
void ina_load_miss(struct ina_load_state *state);
void ina_load_state_clear(struct ina_load_state *state);

/*
 * A copy of @plan in which the children of machines for which @out says so belong to the next
 * machine above. A root stays. NULL if there is no memory.
 */
struct ina_plan *ina_load_plan(const struct ina_plan *plan,
			       bool (*out)(const void *ctx, const char *host), const void *ctx);

#endif
