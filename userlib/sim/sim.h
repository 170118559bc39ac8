/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ina-sim: jobs of data-parallel training on a fabric, event by event down to each
 * all-reduce. What its files share: workload.c draws jobs, engine.c runs them, heap.c has the
 * events, share.c says who may aggregate in the network now, report.c and plot.c write what
 * came out.
 */
#ifndef INA_SIM_H
#define INA_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <plan/doc.h>
#include <plan/forest.h>
#include <plan/place.h>
#include <plan/topo.h>

/**
 * struct ina_sim_op - an all-reduce of a step
 * @start: seconds from the start of the step before which it cannot start
 * @size: bytes
 */
struct ina_sim_op {
	double start;
	double size;
};

/**
 * struct ina_sim_model - a step of training
 * @name: of the model
 * @step: seconds it takes at least
 * @ops: all-reduces, one after the other
 * @n_ops: how many
 */
struct ina_sim_model {
	char *name;
	double step;
	struct ina_sim_op *ops;
	int n_ops;
};

/**
 * struct ina_sim_histogram - how often jobs have how many hosts
 * @name: of the trace
 * @hosts: hosts
 * @weight: how often
 * @n: entries
 */
struct ina_sim_histogram {
	char *name;
	int *hosts;
	double *weight;
	int n;
};

/**
 * struct ina_sim_workload - what jobs are drawn from
 * @models: equally likely
 * @n_models: how many
 * @histograms: each is a trace
 * @n_histograms: how many
 */
struct ina_sim_workload {
	struct ina_sim_model *models;
	int n_models;
	struct ina_sim_histogram *histograms;
	int n_histograms;
};

/**
 * struct ina_sim_job - a job that asks to be run
 * @model: what it trains
 * @hosts: how many it needs
 * @steps: how many it takes
 */
struct ina_sim_job {
	const struct ina_sim_model *model;
	int hosts;
	int steps;
};

struct ina_sim;

/**
 * struct ina_sim_run - a job that runs
 * @job: what it is
 * @number: in the forest
 * @tree: what it has
 * @resources: limited resources of that tree
 * @n_resources: how many
 * @start: when it started
 * @step_start: when the step did
 * @step: which step, from 0
 * @op: which all-reduce of it is under way or next
 * @sent: bytes of it that are done
 * @busy: it is under way
 * @part: bytes of it that are
 * @took: seconds these take
 * @ina: with aggregation in the network
 * @op_end: when they are done
 * @ina_time: seconds of all-reduces so far with aggregation in the network
 * @rate: bytes a second without aggregation in the network
 * @hosts: machines
 * @whole: nobody else wants its tree: it takes steps as a whole
 * @held: resources the all-reduce under way holds a unit of; NULL if none
 * @n_held: how many
 * @serial: of the event it waits for
 */
struct ina_sim_run {
	const struct ina_sim_job *job;
	int number;
	struct ina_forest_tree tree;
	int *resources;
	int n_resources;
	double start;
	double step_start;
	int step;
	int op;
	double sent;
	bool busy;
	double part;
	double took;
	bool ina;
	double op_end;
	double ina_time;
	double rate;
	int *hosts;
	bool whole;
	int *held;
	int n_held;
	uint64_t serial;
};

/**
 * struct ina_sim_share - who may aggregate in the network when a tree is shared
 * @name: of the policy
 * @create: called once the fabric is there; the policy's own memory, or NULL with errno
 * @destroy: gives it back
 * @regroup: trees or jobs have changed: ina_sim_runs(), ina_forest_groups() tell how
 * @ask: @run is about to start its next all-reduce, or a round of it; its tree is free or not:
 *	 whether it may, up to the end of it
 * @done: what @run had under way has ended
 *
 * Only @name and @ask must be there.
 */
struct ina_sim_share {
	const char *name;
	void *(*create)(struct ina_sim *sim);
	void (*destroy)(void *state);
	void (*regroup)(void *state, double now);
	bool (*ask)(void *state, const struct ina_sim_run *run, bool is_free, double now);
	void (*done)(void *state, const struct ina_sim_run *run, double now);
};

extern const struct ina_sim_share ina_sim_greedy, ina_sim_unshared;

/**
 * struct ina_sim_config - a fabric and how it is run
 * @topo: machines, switches, links and capacities
 * @best_place: place with few fragments; else the first free machines
 * @trees: how trees are found
 * @every: trees take a unit of switches with one child, too
 * @share: who may use a shared tree
 * @alpha: of the placement
 * @candidates: trees looked at per job
 * @rate: bytes a second of an all-reduce without aggregation in the network; 0: what the
 *	  slowest link of a machine of the job has left
 * @speedup: of aggregation in the network
 * @latency: seconds of each all-reduce
 * @round: bytes after which one that is not aggregated in the network asks again; 0: it
 *	   does not
 * @gap: compare every plan with its bound
 * @progress: called now and then with the jobs that have ended; may be NULL
 * @data: for @progress
 */
struct ina_sim_config {
	const struct ina_topo *topo;
	bool best_place;
	enum ina_forest_plan trees;
	bool every;
	const struct ina_sim_share *share;
	double alpha;
	int candidates;
	double rate;
	double speedup;
	double latency;
	double round;
	bool gap;
	void (*progress)(void *data, int jobs);
	void *data;
};

/**
 * struct ina_sim_result - what came of a run
 * @jobs: ended
 * @score: 0 as without, 1 as with aggregation in the network in every all-reduce; NAN if
 *	   these are the same
 * @utilisation: part of its time a job aggregates in the network, averaged over jobs
 * @jct: mean completion time, from the start of a job
 * @jct_p99: 99 of 100 jobs take no longer
 * @jct_none: mean if no all-reduce was aggregated in the network
 * @jct_all: mean if every one was
 * @makespan: when the last job ended
 * @load: part of the machines' time that was used
 * @own: part of the jobs that had a tree of their own when they came, among those with more
 *	 than one machine
 * @moves: trees changed, per job
 * @gap: of each plan, trees of their own missing to the bound, as a part of it; averaged
 * @plan_median: seconds to place a job and find trees, median of all jobs
 * @plan_p99: 99 of 100 jobs take no longer
 * @plan_max: longest
 * @events: handled
 */
struct ina_sim_result {
	int jobs;
	double score;
	double utilisation;
	double jct;
	double jct_p99;
	double jct_none;
	double jct_all;
	double makespan;
	double load;
	double own;
	double moves;
	double gap;
	double plan_median;
	double plan_p99;
	double plan_max;
	uint64_t events;
};

/*
 * workload.c: take a model, or all histograms, from a document, which is not needed any more
 * then. 0 or a negative errno with the reason in @err.
 */
int ina_sim_workload_model(struct ina_sim_workload *load, const struct ina_doc_value *root,
			   struct ina_doc_error *err);
int ina_sim_workload_hosts(struct ina_sim_workload *load, const struct ina_doc_value *root,
			   struct ina_doc_error *err);
void ina_sim_workload_clear(struct ina_sim_workload *load);

/*
 * Draw @n jobs from histogram @h; the same for the same seed. NULL with errno set: ERANGE
 * if a job could need more than @hosts machines. To be freed.
 */
struct ina_sim_job *ina_sim_workload_draw(const struct ina_sim_workload *load, int h, int n,
					  int hosts, uint64_t seed);

/* engine.c: run the jobs in order as soon as there are machines. 0 or a negative errno. */
int ina_sim_run(const struct ina_sim_config *config, const struct ina_sim_job *jobs, int n,
		struct ina_sim_result *result);

/* For policies: jobs that run, and the forest. */
int ina_sim_runs(const struct ina_sim *sim, const struct ina_sim_run *const **runs);
const struct ina_forest *ina_sim_forest(const struct ina_sim *sim);

/**
 * struct ina_sim_row - one run of many
 * @trace: name of the histogram
 * @rate: bytes a second without aggregation in the network; 0: of the slowest machine
 * @best_place: see struct ina_sim_config
 * @best_trees: not INA_FOREST_FIRST
 * @every: see struct ina_sim_config
 * @shared: ina_sim_greedy, not ina_sim_unshared
 * @result: what came out
 */
struct ina_sim_row {
	const char *trace;
	double rate;
	bool best_place;
	bool best_trees;
	bool every;
	bool shared;
	struct ina_sim_result result;
};

/**
 * struct ina_sim_growth - the planner on fabrics of different sizes
 * @hosts: machines
 * @switches: switches
 * @result: what came out
 */
struct ina_sim_growth {
	int hosts;
	int switches;
	struct ina_sim_result result;
};

/**
 * struct ina_sim_table - all runs
 * @rows: one after the other: rates, then traces, then variants
 * @n: how many
 * @growth: by size; NULL if that was not asked for
 * @n_growth: how many
 * @command: that gave this
 */
struct ina_sim_table {
	struct ina_sim_row *rows;
	int n;
	struct ina_sim_growth *growth;
	int n_growth;
	const char *command;
};

/* report.c, plot.c: write the table; errors of @file are the caller's to check. */
void ina_sim_report_text(const struct ina_sim_table *table, FILE *file);
void ina_sim_report_csv(const struct ina_sim_table *table, FILE *file);
void ina_sim_report_json(const struct ina_sim_table *table, FILE *file);
void ina_sim_plot(const struct ina_sim_table *table, FILE *file);

/* Mean of a result over the traces: of the same rate and variant as @row. */
void ina_sim_report_mean(const struct ina_sim_table *table, const struct ina_sim_row *row,
			 struct ina_sim_result *mean);

/* Seconds of a step of a job on its own. */
double ina_sim_step(const struct ina_sim_config *config, const struct ina_sim_job *job,
		    double rate, bool ina);

#endif
