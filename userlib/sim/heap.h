/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events to come, the earliest first.
 */
#ifndef INA_SIM_HEAP_H
#define INA_SIM_HEAP_H

#include <stdint.h>

struct ina_sim_run;

/**
 * struct ina_sim_event - what happens next to a job
 * @time: when
 * @serial: order of events at the same time; void if the job waits for another one by now
 * @run: the job
 */
struct ina_sim_event {
	double time;
	uint64_t serial;
	struct ina_sim_run *run;
};

/**
 * struct ina_sim_heap - events; all 0 at first
 * @events: a binary heap
 * @n: how many
 * @room: entries there is memory for
 */
struct ina_sim_heap {
	struct ina_sim_event *events;
	int n;
	int room;
};

/* 0 or -ENOMEM. */
int ina_sim_heap_push(struct ina_sim_heap *heap, struct ina_sim_event event);

/* The earliest; there must be one. */
struct ina_sim_event ina_sim_heap_pop(struct ina_sim_heap *heap);

/* A job is gone: so are its events. */
void ina_sim_heap_forget(struct ina_sim_heap *heap, const struct ina_sim_run *run);

#endif
