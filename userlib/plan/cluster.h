/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is configured on many machines, or is to be: for every machine and job one place in
 * the job's tree. Plans become clusters, and so does what the machines say of themselves.
 */
#ifndef INA_PLAN_CLUSTER_H
#define INA_PLAN_CLUSTER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan.h"

/**
 * struct ina_addr - an address as everybody writes it
 * @text: it; empty: none
 */
struct ina_addr {
	char text[INET6_ADDRSTRLEN];
};

/**
 * struct ina_path - a way to a neighbour that an operator has chosen (`inaconf path`)
 * @peer: the neighbour
 * @dev: device it leaves by; empty: the route decides
 * @src: source address; none: that of the node
 * @dst: destination address; none: @peer
 * @sport: source port, 0: that of the job
 * @weight: 0: as measured
 */
struct ina_path {
	struct ina_addr peer;
	char dev[16];
	struct ina_addr src;
	struct ina_addr dst;
	unsigned int sport;
	uint32_t weight;
};

/**
 * struct ina_place - one job on one machine
 * @options: words of `inaconf job add` behind the number; NULL if the job is not there
 * @tree: the job has a node there, which the rest tells of
 * @local: address of the node
 * @parent: of its parent, none at the root
 * @children: of its children, in no particular order
 * @n_children: how many
 * @workers: workers on this machine
 * @attached: of them, attached now; no part of the configuration
 * @paths: all paths the operator has, also to who is no neighbour at the moment; they are not
 *	planned, but given back when a neighbour comes back
 * @n_paths: how many
 * @tuning: words of `inaconf path set` for all paths; empty if nothing is known
 */
struct ina_place {
	char *options;
	bool tree;
	struct ina_addr local;
	struct ina_addr parent;
	struct ina_addr *children;
	int n_children;
	uint32_t workers;
	uint32_t attached;
	struct ina_path *paths;
	int n_paths;
	char tuning[64];
};

/**
 * struct ina_host - a machine that is configured
 * @name: as in plans
 * @where: how it is reached
 */
struct ina_host {
	char *name;
	char *where;
};

/**
 * struct ina_cluster - machines and jobs
 * @hosts: the machines
 * @n_hosts: how many
 * @jobs: numbers of the jobs
 * @n_jobs: how many
 * @places: of job j on machine h at [j * n_hosts + h]
 */
struct ina_cluster {
	struct ina_host *hosts;
	int n_hosts;
	uint32_t *jobs;
	int n_jobs;
	struct ina_place *places;
};

/* The place of job number @job of @cluster on machine number @host. */
static inline struct ina_place *ina_cluster_place(const struct ina_cluster *cluster, int job,
						  int host)
{
	return &cluster->places[(long)job * cluster->n_hosts + host];
}

/* Places. Those that allocate return 0 or -ENOMEM, and leave nothing half done. */
int ina_place_copy(struct ina_place *to, const struct ina_place *from);
void ina_place_clear(struct ina_place *place);
int ina_place_copy_paths(struct ina_place *to, const struct ina_place *from);
int ina_place_add_path(struct ina_place *place, const struct ina_path *path);
int ina_place_add_child(struct ina_place *place, const struct ina_addr *child);
void ina_place_del_child(struct ina_place *place, const struct ina_addr *child);
bool ina_place_has_child(const struct ina_place *place, const struct ina_addr *child);

/* Are two places configured alike? */
bool ina_place_equal(const struct ina_place *a, const struct ina_place *b);

static inline bool ina_addr_equal(const struct ina_addr *a, const struct ina_addr *b)
{
	return !__builtin_strcmp(a->text, b->text);
}

static inline bool ina_place_is_root(const struct ina_place *place)
{
	return place->tree && !*place->parent.text;
}

/* Does it sum for others, or for all? */
static inline bool ina_place_aggregates(const struct ina_place *place)
{
	return place->tree && (place->n_children || ina_place_is_root(place));
}

/* The path that every neighbour has from the beginning, with number 0. */
static inline bool ina_path_is_implied(const struct ina_path *path)
{
	return !*path->dev && !*path->src.text && !*path->dst.text && !path->sport;
}

static inline bool ina_path_equal(const struct ina_path *a, const struct ina_path *b)
{
	return ina_addr_equal(&a->peer, &b->peer) && !__builtin_strcmp(a->dev, b->dev) &&
	       ina_addr_equal(&a->src, &b->src) && ina_addr_equal(&a->dst, &b->dst) &&
	       a->sport == b->sport && a->weight == b->weight;
}

/**
 * struct ina_commands - words of inaconf, such as "job del id 7"
 * @words: the commands, in order
 * @n: how many
 */
struct ina_commands {
	char **words;
	int n;
};

/*
 * commands.c: what makes @to out of @from, paths that are lost included, nothing if they are
 * alike; and to free it. 0, or -ENOMEM and there are none.
 */
int ina_place_commands(uint32_t job, const struct ina_place *from, const struct ina_place *to,
		       struct ina_commands *commands);
void ina_commands_clear(struct ina_commands *commands);

/*
 * The machines of @plan and those of @former (may be NULL) that are not in it, with all their
 * jobs and no places. NULL with the reason in @err if it cannot be applied.
 */
struct ina_cluster *ina_cluster_create(const struct ina_plan *plan, const struct ina_plan *former,
				       struct ina_doc_error *err);
void ina_cluster_destroy(struct ina_cluster *cluster);
struct ina_cluster *ina_cluster_copy(const struct ina_cluster *cluster);

/* Index of a machine, -1 if it is not there. */
int ina_cluster_find(const struct ina_cluster *cluster, const char *name);

/* Index of a job, which is added if it is not there. -ENOMEM. */
int ina_cluster_job(struct ina_cluster *cluster, uint32_t id);

/*
 * goal.c: what is to be configured, given what is. Jobs that are not in the plan stay as they
 * are, unless @prune. NULL if there is no memory.
 */
struct ina_cluster *ina_cluster_goal(const struct ina_cluster *now, const struct ina_plan *plan,
				     bool prune);

#endif
