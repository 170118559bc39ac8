/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the KUnit suites share: a node on the loopback in a namespace state of
 * its own. A 6.1 kernel runs the suites before module_init: what that registers
 * cannot be used here.
 */
#ifndef _INA_TEST_H
#define _INA_TEST_H

#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "job.h"
#include "member.h"
#include "net.h"
#include "node.h"
#include "round.h"
#include "stats.h"
#include "test_random.h"

/* 127.0.0.@host */
static inline struct in6_addr ina_test_addr(u8 host)
{
	struct in6_addr addr;

	ipv6_addr_set_v4mapped(htonl(INADDR_LOOPBACK & ~0xff) | htonl(host),
			       &addr);
	return addr;
}

/* State of a namespace without being one's. */
static inline struct ina_net *ina_test_inet_create(struct kunit *test)
{
	struct ina_net *inet = kunit_kzalloc(test, sizeof(*inet), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, inet);
	inet->net = &init_net;
	mutex_init(&inet->lock);
	xa_init(&inet->jobs);
	INIT_LIST_HEAD(&inet->ports);
	INIT_LIST_HEAD(&inet->devs);
	return inet;
}

/* Its jobs go with it. */
static inline void ina_test_inet_destroy(struct ina_net *inet)
{
	struct ina_job *job;
	unsigned long id;

	mutex_lock(&inet->lock);
	xa_for_each(&inet->jobs, id, job)
		ina_job_destroy(job);
	mutex_unlock(&inet->lock);
	xa_destroy(&inet->jobs);
}

/* Integer only. */
static const struct ina_sum_ctx ina_test_ctx __maybe_unused;

/* Contribute a fragment, and tell if its slot is complete. */
static inline int ina_test_contribute(struct ina_node *node,
				      struct ina_part *part, u32 frag,
				      const void *src,
				      const struct in6_addr *from)
{
	struct ina_row row = {};
	int err;

	part->at = ina_node_at(node, part->tag.round);
	err = ina_round_contribute(node, &ina_test_ctx, &row, part, frag, src,
				   from);
	ina_round_settle(node, &row);
	return err;
}

/* A result of a fragment. */
static inline int ina_test_result(struct ina_node *node, struct ina_part *part,
				  u32 frag, const void *src)
{
	struct ina_row row = {};
	int err;

	part->at = ina_node_at(node, part->tag.round);
	err = ina_round_result(node, &row, part, frag, src);
	ina_round_settle(node, &row);
	return err;
}

#define INA_TEST_FRAGMENT	4
#define INA_TEST_CAPACITY	64
#define INA_TEST_DEPTH		4
#define INA_TEST_GROUP		8
#define INA_TEST_ROOT		5	/* instance of the root */
#define INA_TEST_LOCAL		1	/* 127.0.0.1 */
#define INA_TEST_PARENT		2
#define INA_TEST_CHILD		10	/* the first */

/* Carried in IP: opens no port. */
static inline struct ina_job_config ina_test_config(void)
{
	return (struct ina_job_config){
		.id = 7, .dtype = INA_DTYPE_INT32,
		.fragment = INA_TEST_FRAGMENT, .capacity = INA_TEST_CAPACITY,
		.depth = INA_TEST_DEPTH, .group = INA_TEST_GROUP,
		.deadline_ms = 600000,
		.encap = INA_ENCAP_IP, .port = INA_UDP_PORT,
	};
}

static inline void ina_test_loopback_up(struct kunit *test)
{
	int err = 0;

	rtnl_lock();
	if (!(init_net.loopback_dev->flags & IFF_UP))
		err = dev_open(init_net.loopback_dev, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, err, 0);
}

/*
 * A node of a job with children on the loopback. It is marked dead from the start:
 * its work never runs, so that all that happens to it is what the test does.
 */
static inline struct ina_node *
ina_test_node_of(struct kunit *test, struct ina_net *inet,
		 const struct ina_job_config *config, bool root, u16 nchildren)
{
	struct ina_tree_addr *children =
		kunit_kcalloc(test, nchildren + 1, sizeof(*children), GFP_KERNEL);
	struct ina_tree tree = {
		.local.addr = ina_test_addr(INA_TEST_LOCAL),
		.children = children, .nchildren = nchildren,
	};
	struct ina_node *node;
	struct ina_job *job;
	int attr;
	u16 i;

	KUNIT_ASSERT_NOT_NULL(test, children);
	ina_test_loopback_up(test);
	if (!root)
		tree.parent.addr = ina_test_addr(INA_TEST_PARENT);
	for (i = 0; i < nchildren; i++)
		children[i].addr = ina_test_addr(INA_TEST_CHILD + i);
	mutex_lock(&inet->lock);
	job = ina_job_create(inet, config, &attr, NULL);
	node = IS_ERR(job) ? ERR_CAST(job) : ina_node_create(job, &tree, NULL);
	if (!IS_ERR(node)) {
		node->dead = true;
		rcu_assign_pointer(job->node, node);
	}
	mutex_unlock(&inet->lock);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, node);
	return node;
}

static inline struct ina_node *ina_test_node_create(struct kunit *test,
						    struct ina_net *inet,
						    bool root, u16 nchildren)
{
	struct ina_job_config config = ina_test_config();

	return ina_test_node_of(test, inet, &config, root, nchildren);
}

/* A JOIN that will be accepted. */
static inline struct ina_join_hdr ina_test_join_hdr(const struct ina_node *node,
						    u64 instance,
						    u32 generation,
						    u32 workers, u32 token)
{
	return (struct ina_join_hdr){
		.instance = cpu_to_be64(instance),
		.hash = cpu_to_be64(node->job->hash),
		.generation = cpu_to_be32(generation),
		.workers = cpu_to_be32(workers),
		.token = cpu_to_be32(token),
		.mtu = cpu_to_be16(1500),
	};
}

/* Child @index sends a JOIN. */
static inline void ina_test_join(struct ina_node *node, u16 index,
				 const struct ina_join_hdr *join)
{
	struct in6_addr from = ina_test_addr(INA_TEST_CHILD + index);
	struct ina_pkt pkt = {
		.type = INA_TYPE_JOIN, .job = node->job->config.id,
		.index = INA_INDEX_NONE, .body = join,
	};

	ina_member_rx_join(node, &pkt, &from);
}

/* Every child joins with @workers workers; the token of child i is i + 1. */
static inline void ina_test_join_all(struct ina_node *node, u32 workers)
{
	struct ina_join_hdr join;
	u16 i;

	for (i = 0; i < node->nchildren; i++) {
		join = ina_test_join_hdr(node, 100 + i, 1, workers, i + 1);
		ina_test_join(node, i, &join);
	}
}

/* Child @index acknowledges rounds of an epoch. */
static inline void ina_test_ack_base(struct ina_node *node, u16 index, u32 epoch,
				     u64 acked, u64 base, bool open)
{
	struct ina_ack_hdr ack = {
		.acked = cpu_to_be64(acked), .base = cpu_to_be64(base),
	};
	struct ina_pkt pkt = {
		.type = INA_TYPE_ACK, .job = node->job->config.id,
		.epoch = epoch, .index = index,
		.workers = open ? node->members : 0, .body = &ack,
	};

	ina_member_rx_ack(node, &node->children[index], &pkt);
}

static inline void ina_test_ack(struct ina_node *node, u16 index, u32 epoch,
				u64 acked)
{
	ina_test_ack_base(node, index, epoch, acked, node->base, true);
}

/* Announcement @seq of the parent: an epoch; no workers: it is closed. */
static inline void ina_test_epoch_seq(struct ina_node *node, u32 seq, u32 epoch,
				      u64 base, u32 workers, u32 token)
{
	struct ina_epoch_hdr hdr = {
		.instance = cpu_to_be64(node->instance),
		.generation = cpu_to_be32(node->generation),
		.base = cpu_to_be64(base),
		.root = cpu_to_be64(INA_TEST_ROOT),
		.workers = cpu_to_be32(workers),
		.token = cpu_to_be32(token),
		.reason = cpu_to_be32(workers ? 0 : INA_REASON_LEFT),
	};
	struct ina_pkt pkt = {
		.type = INA_TYPE_EPOCH, .job = node->job->config.id,
		.seq = seq, .epoch = epoch, .body = &hdr,
	};

	ina_member_rx_epoch(node, &pkt);
}

/* The next announcement of the parent. */
static inline void ina_test_epoch(struct ina_node *node, u32 epoch, u64 base,
				  u32 workers, u32 token)
{
	ina_test_epoch_seq(node, node->heard_seq + 1, epoch, base, workers,
			   token);
}

static inline u64 ina_test_stat(const struct ina_node *node,
				enum ina_stat stat)
{
	return ina_stats_sum(node->job->stats, stat);
}

#endif /* _INA_TEST_H */
