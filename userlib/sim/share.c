// SPDX-License-Identifier: GPL-2.0
/*
 * Greedy sharing: whoever finds its tree free takes it, for one all-reduce.
 */
#include "sim.h"

static bool ina_sim_greedy_ask(void *state, const struct ina_sim_run *run, bool is_free,
			       double now)
{
	(void)state;
	(void)run;
	(void)now;
	return is_free;
}

const struct ina_sim_share ina_sim_greedy = {
	.name = "greedy",
	.ask = ina_sim_greedy_ask,
};
