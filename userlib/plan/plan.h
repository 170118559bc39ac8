/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A plan: which machine aggregates for which in each job. What `inaconf plan tree`
 * writes and `inaconf plan diff` and `inaconf plan apply` read.
 */
#ifndef INA_PLAN_PLAN_H
#define INA_PLAN_PLAN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "doc.h"

/**
 * struct ina_plan_node - a machine in the tree of one job
 * @host: name of the machine
 * @where: a network namespace of this machine or a word for the hook; NULL: @host
 * @addr: its address in the tree; NULL if the plan has none yet and cannot be applied
 * @parent: index of its parent in the same job, -1 at the root
 * @workers: workers on this machine; a node with neither workers nor children, nor any
 *	below it, is one that gives the job up
 */
struct ina_plan_node {
	char *host;
	char *where;
	char *addr;
	int parent;
	uint32_t workers;
};

/**
 * struct ina_plan_job - the tree of one job
 * @id: the job's number
 * @options: words of `inaconf job add` behind `id ID`, such as "capacity 1000"; NULL-ended
 * @nodes: the machines; exactly one is the root
 * @n_nodes: how many
 */
struct ina_plan_job {
	uint32_t id;
	char **options;
	struct ina_plan_node *nodes;
	int n_nodes;
};

/**
 * struct ina_plan - the trees of all jobs
 * @jobs: ordered by id, each id once
 * @n_jobs: how many
 */
struct ina_plan {
	struct ina_plan_job *jobs;
	int n_jobs;
};

/*
 * plan.c. Reads YAML (so JSON as well) and refuses what is no tree: a cycle, an
 * unknown parent, two roots, a machine or an address twice in one job, an id twice.
 * NULL with the reason in @err.
 */
struct ina_plan *ina_plan_read(const char *path, struct ina_doc_error *err);
struct ina_plan *ina_plan_from(const struct ina_doc *doc, struct ina_doc_error *err);

/* plan_write.c: what ina_plan_read() reads back as the same. 0, or -EIO. */
int ina_plan_write(const struct ina_plan *plan, FILE *file);
void ina_plan_destroy(struct ina_plan *plan);

/* Free what a job holds, not the job itself. */
void ina_plan_job_clear(struct ina_plan_job *job);

/* Words of `inaconf job add` that have a value; NULL-ended. */
extern const char *const ina_plan_options[];

/* The value of an option of a job, NULL if it has none of that name. */
const char *ina_plan_option(char *const *options, const char *key);

/* Which nodes of @job have workers, or somebody below them who has: the others sum nothing. */
void ina_plan_used(const struct ina_plan_job *job, bool *used);

/*
 * Does @node of @job add up what other machines send, so that it takes a unit of the capacity of
 * its machine? Somebody below it has workers then.
 */
bool ina_plan_adds(const struct ina_plan_job *job, int node);

/* An address as everybody writes it; false if @word is none. */
bool ina_plan_addr(const char *word, char text[INET6_ADDRSTRLEN]);

/* Of an address: 4 or 6; 0 if it is NULL. */
int ina_plan_family(const char *addr);

/*
 * Whether two hosts with these addresses (NULL: not known) may be in one tree, which has one
 * family. If not, the reason is in @why, unless that is NULL.
 */
bool ina_plan_one_family(const char *host, const char *addr, const char *other,
			 const char *other_addr, struct ina_doc_error *why);

/* The first node that may not be in one tree with its parent, the reason in @why; -1: none. */
int ina_plan_misfit(const struct ina_plan_job *job, struct ina_doc_error *why);

#endif
