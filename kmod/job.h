/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A job fixes what is summed: the same numbers on every node, or the node is
 * refused. Jobs live in a table of their network namespace.
 */
#ifndef _INA_JOB_H
#define _INA_JOB_H

#include <linux/refcount.h>
#include <linux/types.h>

struct ina_net;
struct ina_node;
struct ina_stats;
struct netlink_ext_ack;

#define INA_JOB_FRAGMENTS_MAX	BIT(24)	/* fragments in a round */

/**
 * struct ina_job_config - what all nodes of a job agree on
 * @id: number of the job
 * @dtype: enum ina_dtype
 * @exponent: of fixed: sums are multiples of 2^exponent; else 0
 * @fragment: elements in a packet; 0 until the first tree tells what fits
 * @capacity: most elements in a round
 * @depth: rounds in flight
 * @group: packets of a hop that are answered together
 * @deadline_ms: by which a round has ended on all workers
 * @encap: enum ina_encap
 * @port: UDP port
 * @on_loss: enum ina_on_loss
 */
struct ina_job_config {
	u32 id;
	u32 dtype;
	s32 exponent;
	u32 fragment;
	u32 capacity;
	u32 depth;
	u32 group;
	u32 deadline_ms;
	u32 encap;
	u16 port;
	u32 on_loss;
};

/**
 * struct ina_job - a job in a namespace
 * @config: does not change while there is a node
 * @hash: of the configuration
 * @inet: the namespace's state; valid while the job is in the table
 * @node: its place in the tree, NULL until set; RCU, changed under inet->lock
 * @stats: per-CPU counters
 * @memory: bytes charged
 * @refs: the table's, and one per region and node
 * @rcu: frees after readers
 */
struct ina_job {
	struct ina_job_config config;
	u64 hash;
	struct ina_net *inet;
	struct ina_node __rcu *node;
	struct ina_stats __percpu *stats;
	atomic64_t memory;
	refcount_t refs;
	struct rcu_head rcu;
};

int ina_job_check(const struct ina_job_config *config, int *attr,
		  struct netlink_ext_ack *extack);
void ina_job_settle(struct ina_job *job, u32 fragment);
u64 ina_job_hash(const struct ina_job_config *config);
struct ina_job *ina_job_create(struct ina_net *inet,
			       const struct ina_job_config *config, int *attr,
			       struct netlink_ext_ack *extack);
void ina_job_destroy(struct ina_job *job);
struct ina_job *ina_job_find(struct ina_net *inet, u32 id);
struct ina_job *ina_job_get(struct ina_job *job);
void ina_job_put(struct ina_job *job);

#endif /* _INA_JOB_H */
