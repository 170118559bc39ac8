// SPDX-License-Identifier: GPL-2.0
/*
 * The job table of a namespace. Context: process, inet->lock held, unless said
 * otherwise.
 */
#include <linux/log2.h>
#include <linux/netlink.h>
#include <linux/slab.h>

#include "encap.h"
#include "job.h"
#include "net.h"
#include "node.h"
#include "stats.h"
#include "sum.h"
#include "wire.h"

/* Have the enums such numbers? The policy lets all pass, for these texts. */
static int ina_job_check_enums(const struct ina_job_config *config, int *attr,
			       struct netlink_ext_ack *extack)
{
	*attr = INA_A_JOB_DTYPE;
	if (config->dtype > INA_DTYPE_FIXED) {
		NL_SET_ERR_MSG(extack,
			       "No such dtype: use 0 for int32, 1 for fp32, 2 for bf16 or 3 for fixed");
		return -ERANGE;
	}
	*attr = INA_A_JOB_ENCAP;
	if (config->encap > INA_ENCAP_IP) {
		NL_SET_ERR_MSG(extack,
			       "No such encap: use 0 for udp or 1 for ip");
		return -ERANGE;
	}
	*attr = INA_A_JOB_ON_LOSS;
	if (config->on_loss > INA_ON_LOSS_DEGRADE) {
		NL_SET_ERR_MSG(extack,
			       "No such on-loss: use 0 for fail or 1 for degrade");
		return -ERANGE;
	}
	return 0;
}

/* Does what belongs to the type of the elements fit it? */
static int ina_job_check_type(const struct ina_job_config *config, int *attr,
			      struct netlink_ext_ack *extack)
{
	*attr = INA_A_JOB_FRAGMENT;
	if (config->fragment * ina_sum_wide(config->dtype) >
	    INA_FRAGMENT_BYTES) {
		NL_SET_ERR_MSG(extack,
			       "Fragment is out of range: use 1 to 1024 elements with fixed");
		return -ERANGE;
	}
	*attr = INA_A_JOB_EXPONENT;
	if (config->exponent && config->dtype != INA_DTYPE_FIXED) {
		NL_SET_ERR_MSG(extack,
			       "Only fixed has an exponent: leave it out or use dtype fixed");
		return -EINVAL;
	}
	if (config->exponent < INA_FIXED_EXPONENT_MIN ||
	    config->exponent > INA_FIXED_EXPONENT_MAX) {
		NL_SET_ERR_MSG(extack,
			       "Exponent is out of range: use -149 to 64");
		return -ERANGE;
	}
	return 0;
}

/**
 * ina_job_check() - can there be such a job
 * @config: its numbers
 * @attr: where INA_A_JOB_* of the one that is wrong goes
 * @extack: says what is wrong
 *
 * Return: 0 or a negative errno.
 */
int ina_job_check(const struct ina_job_config *config, int *attr,
		  struct netlink_ext_ack *extack)
{
	*attr = INA_A_JOB_ID;
	if (!config->id) {
		NL_SET_ERR_MSG(extack, "Job 0 is reserved: use 1 or more");
		return -EINVAL;
	}
	*attr = INA_A_JOB_CAPACITY;
	if (!config->capacity || config->capacity > S32_MAX) {
		NL_SET_ERR_MSG(extack,
			       "Capacity is out of range: use 1 to 2147483647 elements");
		return -ERANGE;
	}
	*attr = INA_A_JOB_FRAGMENT;
	if (config->fragment > INA_FRAGMENT_MAX) {
		NL_SET_ERR_MSG(extack,
			       "Fragment is out of range: use 1 to 2048 elements, or 0 for what fits the path");
		return -ERANGE;
	}
	if (config->fragment &&
	    ina_wire_frags(config->capacity, config->fragment) >
	    INA_JOB_FRAGMENTS_MAX) {
		NL_SET_ERR_MSG(extack,
			       "A round would have more than 16777216 fragments: use larger ones or lower the capacity");
		return -ERANGE;
	}
	*attr = INA_A_JOB_DEPTH;
	if (!config->depth || config->depth > INA_DEPTH_MAX) {
		NL_SET_ERR_MSG(extack,
			       "Depth is out of range: use 1 to 16 rounds");
		return -ERANGE;
	}
	*attr = INA_A_JOB_GROUP;
	if (!is_power_of_2(config->group) || config->group < INA_GROUP_MIN ||
	    config->group > INA_GROUP_MAX) {
		NL_SET_ERR_MSG(extack,
			       "Group is out of range: use a power of two from 8 to 2048 packets");
		return -ERANGE;
	}
	*attr = INA_A_JOB_DEADLINE;
	if (!config->deadline_ms || config->deadline_ms > 86400000) {
		NL_SET_ERR_MSG(extack,
			       "Deadline is out of range: use 1 to 86400000 ms");
		return -ERANGE;
	}
	*attr = INA_A_JOB_PORT;
	if (!config->port) {
		NL_SET_ERR_MSG(extack, "Port 0 is reserved: use 1 to 65535");
		return -ERANGE;
	}
	return ina_job_check_enums(config, attr, extack) ?:
	       ina_job_check_type(config, attr, extack);
}

/**
 * ina_job_hash() - hash of what nodes must agree on
 * @config: the job
 *
 * FNV-1a over the big-endian numbers, the same on every machine.
 * Context: any.
 * Return: the hash.
 */
u64 ina_job_hash(const struct ina_job_config *config)
{
	const __be32 words[] = {
		cpu_to_be32(INA_WIRE_VERSION), cpu_to_be32(config->id),
		cpu_to_be32(config->dtype), cpu_to_be32(config->fragment),
		cpu_to_be32(config->capacity), cpu_to_be32(config->depth),
		cpu_to_be32(config->group), cpu_to_be32(config->deadline_ms),
		cpu_to_be32(config->encap), cpu_to_be32(config->on_loss),
		cpu_to_be32(config->exponent),
	};
	const u8 *byte = (const u8 *)words;
	u64 hash = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < sizeof(words); i++)
		hash = (hash ^ byte[i]) * 0x100000001b3ULL;
	return hash;
}

/**
 * ina_job_settle() - decide how many elements a packet has
 * @job: the job, without a node
 * @fragment: how many; 0: not decided after all
 */
void ina_job_settle(struct ina_job *job, u32 fragment)
{
	job->config.fragment = fragment;
	job->hash = ina_job_hash(&job->config);
}

/**
 * ina_job_find() - look a job up
 * @inet: the namespace
 * @id: its number
 *
 * Context: any, under RCU or inet->lock.
 * Return: the job without a reference, or NULL.
 */
struct ina_job *ina_job_find(struct ina_net *inet, u32 id)
{
	return xa_load(&inet->jobs, id);
}

/**
 * ina_job_get() - take a reference
 * @job: the job
 *
 * Context: any.
 * Return: @job.
 */
struct ina_job *ina_job_get(struct ina_job *job)
{
	refcount_inc(&job->refs);
	return job;
}

static void ina_job_free(struct rcu_head *rcu)
{
	struct ina_job *job = container_of(rcu, struct ina_job, rcu);

	free_percpu(job->stats);
	kfree(job);
}

/**
 * ina_job_put() - drop a reference
 * @job: the job
 *
 * Context: any.
 */
void ina_job_put(struct ina_job *job)
{
	if (refcount_dec_and_test(&job->refs))
		call_rcu(&job->rcu, ina_job_free);
}

/* Enter a job into the table. */
static int ina_job_insert(struct ina_net *inet, struct ina_job *job, int *attr,
			  struct netlink_ext_ack *extack)
{
	int err;

	*attr = INA_A_JOB_PORT;
	err = ina_encap_get(job, extack);
	if (err)
		return err;
	*attr = INA_A_JOB_ID;
	err = xa_insert(&inet->jobs, job->config.id, job, GFP_KERNEL_ACCOUNT);
	if (!err)
		return 0;
	if (err == -EBUSY) {
		NL_SET_ERR_MSG(extack,
			       "Job exists: delete it first or use another number");
		err = -EEXIST;
	}
	ina_encap_put(job);
	return err;
}

/**
 * ina_job_create() - add a job
 * @inet: the namespace
 * @config: its numbers, checked
 * @attr: where INA_A_JOB_* of the one that is wrong goes
 * @extack: says what is wrong
 *
 * Return: the job, which belongs to the table, or ERR_PTR.
 */
struct ina_job *ina_job_create(struct ina_net *inet,
			       const struct ina_job_config *config, int *attr,
			       struct netlink_ext_ack *extack)
{
	struct ina_job *job;
	int err = -ENOMEM;

	job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	if (!job)
		return ERR_PTR(-ENOMEM);
	job->config = *config;
	job->hash = ina_job_hash(config);
	job->inet = inet;
	refcount_set(&job->refs, 1);
	job->stats = alloc_percpu_gfp(struct ina_stats,
				      GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (job->stats)
		err = ina_job_insert(inet, job, attr, extack);
	if (err) {
		ina_job_put(job);
		return ERR_PTR(err);
	}
	return job;
}

/**
 * ina_job_destroy() - delete a job and its node
 * @job: the job
 */
void ina_job_destroy(struct ina_job *job)
{
	struct ina_net *inet = job->inet;
	struct ina_node *node;

	xa_erase(&inet->jobs, job->config.id);
	node = rcu_replace_pointer(job->node, NULL,
				   lockdep_is_held(&inet->lock));
	if (node)
		ina_node_destroy(node);
	ina_encap_put(job);
	ina_job_put(job);
}
