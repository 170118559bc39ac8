// SPDX-License-Identifier: GPL-2.0
/*
 * A binary heap of events. Of two at the same time the one that was put in first comes first,
 * so that a run can be repeated.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "heap.h"

static bool ina_sim_heap_before(const struct ina_sim_event *a, const struct ina_sim_event *b)
{
	return a->time < b->time || (a->time == b->time && a->serial < b->serial);
}

/* Put @event where it belongs on the way from place @i to the top. */
static void ina_sim_heap_rise(struct ina_sim_event *events, int i, struct ina_sim_event event)
{
	for (; i && ina_sim_heap_before(&event, &events[(i - 1) / 2]); i = (i - 1) / 2)
		events[i] = events[(i - 1) / 2];
	events[i] = event;
}

int ina_sim_heap_push(struct ina_sim_heap *heap, struct ina_sim_event event)
{
	if (heap->n == heap->room) {
		int room = heap->n ? 2 * heap->n : 256;
		struct ina_sim_event *events = reallocarray(heap->events, (size_t)room,
							    sizeof(*events));

		if (!events)
			return -ENOMEM;
		heap->events = events;
		heap->room = room;
	}
	ina_sim_heap_rise(heap->events, heap->n++, event);
	return 0;
}

struct ina_sim_event ina_sim_heap_pop(struct ina_sim_heap *heap)
{
	struct ina_sim_event *events = heap->events;
	struct ina_sim_event first = events[0], last = events[--heap->n];
	int i = 0, child;

	while ((child = 2 * i + 1) < heap->n) {
		if (child + 1 < heap->n &&
		    ina_sim_heap_before(&events[child + 1], &events[child]))
			child++;
		if (!ina_sim_heap_before(&events[child], &last))
			break;
		events[i] = events[child];
		i = child;
	}
	events[i] = last;
	return first;
}

void ina_sim_heap_forget(struct ina_sim_heap *heap, const struct ina_sim_run *run)
{
	int i, n = 0;

	for (i = 0; i < heap->n; i++)
		if (heap->events[i].run != run)
			heap->events[n++] = heap->events[i];
	/* What is left is no heap any more: sort in, one after the other. */
	for (heap->n = n, i = 1; i < n; i++)
		ina_sim_heap_rise(heap->events, i, heap->events[i]);
}
