/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line of ina-sim.
 */
#ifndef INA_SIM_OPTIONS_H
#define INA_SIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define INA_SIM_RATES	8

/* A switch of the ablation: off, on, or both one after the other. */
enum ina_sim_which {
	INA_SIM_BOTH,
	INA_SIM_OFF,
	INA_SIM_ON,
};

/**
 * struct ina_sim_options - the command line
 * @topology: file, NULL for a fat-tree
 * @degree: of the fat-tree
 * @traces: folder of the traces
 * @trace: the only one, NULL for all
 * @jobs: per run
 * @seed: of the draw
 * @place: placement of the least fragments
 * @trees: trees that move and share
 * @joining: switches with one child take no unit
 * @share: trees are shared
 * @links: the limit is on links, not on switches
 * @capacity: of each switch or link; 0: as in the topology file
 * @alpha: of the placement
 * @candidates: trees looked at per job
 * @rates: bytes a second without aggregation in the network
 * @n_rates: how many
 * @speedup: of aggregation in the network
 * @latency: seconds of each all-reduce
 * @round: bytes after which one asks again
 * @growth: largest degree the planner is timed on as well, 0: none
 * @csv: file to write, NULL for none
 * @json: file to write, NULL for none
 * @markdown: file to write, NULL for none
 * @svg: file to write, NULL for none
 */
struct ina_sim_options {
	const char *topology;
	int degree;
	const char *traces;
	const char *trace;
	int jobs;
	uint64_t seed;
	enum ina_sim_which place;
	enum ina_sim_which trees;
	enum ina_sim_which joining;
	enum ina_sim_which share;
	bool links;
	int capacity;
	double alpha;
	int candidates;
	double rates[INA_SIM_RATES];
	int n_rates;
	double speedup;
	double latency;
	double round;
	int growth;
	const char *csv;
	const char *json;
	const char *markdown;
	const char *svg;
};

/* 0 to go on, 1 if all was said, 2 for a bad word, which was named. */
int ina_sim_options_parse(struct ina_sim_options *o, int argc, char **argv);

#endif
