// SPDX-License-Identifier: GPL-2.0
/*
 * Control packets: what membership and rounds want to be told, told. Each is
 * written from the state as it is when its turn comes, so a late one is never
 * a stale one. Context: process, the node's work; the node's lock is held to
 * write a packet and dropped to send it.
 */
#include <linux/jiffies.h>

#include "control.h"
#include "epoch.h"
#include "late.h"
#include "member.h"
#include "tx.h"
#include "wire.h"
#include "xmit.h"

/* EPOCH is the longest; JOIN has ranks behind it, too. */
#define INA_CONTROL_ROOM \
	(sizeof(struct ina_epoch_hdr) + INA_RANKS_SIZE(INA_RANKS_MAX))
static_assert(sizeof(struct ina_epoch_hdr) >= sizeof(struct ina_join_hdr));

/**
 * struct ina_control - a control packet to be sent
 * @peer: to whom
 * @pkt: header
 * @body: what follows
 */
struct ina_control {
	struct ina_peer *peer;
	struct ina_pkt pkt;
	union {
		struct ina_join_hdr join;
		struct ina_welcome_hdr welcome;
		struct ina_epoch_hdr epoch;
		struct ina_ack_hdr ack;
		struct ina_fail_hdr fail;
		struct ina_done_hdr done;
		u8 missing[INA_GROUP_MAX / 8];
		u8 room[INA_CONTROL_ROOM];
	} body;
};

/* Ranks follow the header of the type. */
static void ina_control_fill_ranks(struct ina_control *c, size_t offset,
				   const struct ina_ranks *ranks)
{
	c->pkt.count = ranks->count;
	memcpy(c->body.room + offset, ranks->bits,
	       INA_RANKS_SIZE(ranks->count));
}

static void ina_control_fill_join(const struct ina_node *node,
				  struct ina_control *c)
{
	c->pkt.type = INA_TYPE_JOIN;
	c->pkt.epoch = ina_member_last_epoch(node);
	c->pkt.index = INA_INDEX_NONE;
	c->body.join = (struct ina_join_hdr){
		.instance = cpu_to_be64(node->instance),
		.hash = cpu_to_be64(node->job->hash),
		.floor = cpu_to_be64(ina_member_floor(node)),
		.generation = cpu_to_be32(node->generation),
		.workers = cpu_to_be32(node->subtree),
		.token = cpu_to_be32(node->subtree_token),
		.mtu = cpu_to_be16(node->mtu),
		.reason = cpu_to_be16(node->change.reason),
		.worker = cpu_to_be32(node->change.worker),
		.last = cpu_to_be32(node->change.last),
		.height = cpu_to_be16(node->height),
	};
	ina_control_fill_ranks(c, sizeof(c->body.join), &node->subtree_ranks);
	memcpy(c->body.join.culprit, &node->change.culprit,
	       sizeof(c->body.join.culprit));
}

static void ina_control_fill_ack(const struct ina_node *node,
				 struct ina_control *c)
{
	c->pkt.type = INA_TYPE_ACK;
	c->pkt.epoch = node->epoch;
	c->pkt.index = node->index;
	c->pkt.workers = node->open ? node->members : 0;
	c->body.ack = (struct ina_ack_hdr){
		.acked = cpu_to_be64(node->acked),
		.base = cpu_to_be64(node->base),
	};
}

static void ina_control_fill_welcome(const struct ina_node *node, u16 index,
				     struct ina_control *c)
{
	const struct ina_child *child = &node->children[index];
	u32 reason = child->dropped ? INA_REASON_EXCLUDED : child->refused;

	c->pkt.type = INA_TYPE_WELCOME;
	c->pkt.index = index;
	/* Never heard of: it has to introduce itself. */
	if (!child->instance)
		reason = INA_REASON_CHILD_LOST;
	c->body.welcome = (struct ina_welcome_hdr){
		.instance = cpu_to_be64(child->instance),
		.generation = cpu_to_be32(child->generation),
		.reason = cpu_to_be32(reason),
	};
}

static void ina_control_fill_epoch(struct ina_node *node, u16 index,
				   struct ina_control *c)
{
	struct ina_child *child = &node->children[index];
	struct ina_over over = ina_epoch_over(node, true);
	const struct ina_blame *why = node->open ? &node->opened :
						   &node->closed;

	c->pkt.type = INA_TYPE_EPOCH;
	c->pkt.seq = child->announced++;
	c->pkt.epoch = node->epoch;
	c->pkt.index = index;
	c->body.epoch = (struct ina_epoch_hdr){
		.instance = cpu_to_be64(child->instance),
		.base = cpu_to_be64(node->base),
		.root = cpu_to_be64(node->root_id),
		.workers = cpu_to_be32(node->open ? node->members : 0),
		.token = cpu_to_be32(node->open ? node->token : 0),
		.reason = cpu_to_be32(why->reason),
		.generation = cpu_to_be32(child->generation),
		.final = cpu_to_be32(over.final),
		.failed = cpu_to_be32(over.failed),
		.left = cpu_to_be32(over.left),
		.running = cpu_to_be32(ina_late_running(node)),
		.worker = cpu_to_be32(why->worker),
		.last = cpu_to_be32(why->last),
	};
	memcpy(c->body.epoch.culprit, &why->culprit,
	       sizeof(c->body.epoch.culprit));
	ina_control_fill_ranks(c, sizeof(c->body.epoch), &node->ranks);
}

static void ina_control_fill_fail(const struct ina_node *node,
				  const struct ina_round *entry, u8 type,
				  u16 index, struct ina_control *c)
{
	c->pkt.type = type;
	c->pkt.epoch = node->epoch;
	c->pkt.round = entry->tag.round;
	c->pkt.index = index;
	c->body.fail = (struct ina_fail_hdr){
		.reason = cpu_to_be32(entry->blame.reason),
		.detail = { cpu_to_be32(entry->blame.detail[0]),
			    cpu_to_be32(entry->blame.detail[1]) },
		.worker = cpu_to_be32(entry->blame.worker),
		.last = cpu_to_be32(entry->blame.last),
	};
	memcpy(c->body.fail.culprit, &entry->blame.culprit,
	       sizeof(c->body.fail.culprit));
}

/* What a path has to answer or to ask. Its lock is taken inside the node's. */
static bool ina_control_next_path(struct ina_path *path, u16 index,
				  struct ina_control *c)
{
	struct ina_hop *hop = &path->hop;
	struct ina_hop_answer answer;
	u32 end;

	c->pkt.index = index;
	if (ina_hop_next_answer(hop, &c->pkt.epoch, &answer)) {
		c->pkt.type = answer.lost ? INA_TYPE_GROUP_NACK :
					    INA_TYPE_GROUP_OK;
		c->pkt.seq = answer.first;
		c->pkt.count = answer.count;
		c->pkt.frag = answer.earlier;
		c->pkt.length = atomic_xchg(&path->marked, 0);
		memcpy(c->body.missing, answer.missing,
		       sizeof(answer.missing));
		return true;
	}
	if (!ina_hop_done(hop, &c->pkt.epoch, &c->pkt.seq, &end))
		return false;
	c->pkt.type = INA_TYPE_DONE;
	c->body.done.end = cpu_to_be32(end);
	return true;
}

/* What the paths to or from a neighbour have. */
static bool ina_control_next_hop(struct ina_peer *peer, u16 index,
				 struct ina_control *c)
{
	u8 i, end = ina_path_end(peer);

	for (i = 0; i < end; i++) {
		c->pkt.path = i;
		if (ina_control_next_path(&peer->path[i], index, c))
			return true;
	}
	return false;
}

/* A failure to tell the parent, if there is one. */
static bool ina_control_next_fail(struct ina_node *node, struct ina_control *c)
{
	struct ina_round *entry;
	u32 i;

	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		if (!entry->tell_up)
			continue;
		entry->tell_up = false;
		ina_control_fill_fail(node, entry, entry->reported && !entry->failed ?
				      INA_TYPE_LATE : INA_TYPE_FAIL,
				      node->index, c);
		return true;
	}
	return false;
}

/* The next packet for the parent: failures first, they name the culprit. */
static bool ina_control_next_up(struct ina_node *node, struct ina_control *c)
{
	if (node->root)
		return false;
	c->peer = &node->parent;
	if (ina_control_next_fail(node, c))
		return true;
	/* What is held first: a node that leaves is not asked any more. */
	if (node->send_ack) {
		node->send_ack = false;
		node->acked_at = jiffies;
		ina_control_fill_ack(node, c);
	} else if (node->send_join) {
		node->send_join = false;
		ina_control_fill_join(node, c);
	} else {
		return ina_control_next_hop(&node->parent, node->index, c);
	}
	return true;
}

/* The next packet for child @index. */
static bool ina_control_next_down(struct ina_node *node, u16 index,
				  unsigned long *told, struct ina_control *c)
{
	struct ina_child *child = &node->children[index];
	struct ina_round *entry;
	u32 i;

	c->peer = &child->peer;
	for (i = 0; i < node->job->config.depth; i++) {
		entry = &node->rounds[i];
		if (!entry->tell_down || child->acked > entry->tag.round ||
		    __test_and_set_bit(i, told))
			continue;
		ina_control_fill_fail(node, entry, entry->failed ? INA_TYPE_FAIL :
				      INA_TYPE_EXCLUDE, index, c);
		return true;
	}
	if (child->welcome) {
		child->welcome = false;
		child->told_at = jiffies;
		ina_control_fill_welcome(node, index, c);
	} else if (child->announce && child->instance &&
		   (child->workers || !node->open)) {
		child->announce = false;
		child->told_at = jiffies;
		ina_control_fill_epoch(node, index, c);
	} else {
		return ina_control_next_hop(&child->peer, index, c);
	}
	return true;
}

/* Send to one child all there is to tell. @failed: rounds to tell of. */
static void ina_control_flush_child(struct ina_node *node, u16 index)
{
	struct ina_control c;
	unsigned long told = 0;
	bool more;

	do {
		c = (struct ina_control){ .pkt.job = node->job->config.id };
		spin_lock_bh(&node->lock);
		more = ina_control_next_down(node, index, &told, &c);
		spin_unlock_bh(&node->lock);
		if (more)
			ina_xmit_control(node, c.peer, &c.pkt, &c.body);
	} while (more);
}

/**
 * ina_control_flush() - send the control packets that wait
 * @node: the node
 *
 * Context: process (the node's work), no lock held.
 */
void ina_control_flush(struct ina_node *node)
{
	struct ina_tag told[INA_DEPTH_MAX] = {};
	struct ina_control c;
	bool more, room = true;
	u32 i;

	do {
		c = (struct ina_control){ .pkt.job = node->job->config.id };
		spin_lock_bh(&node->lock);
		more = ina_control_next_up(node, &c);
		spin_unlock_bh(&node->lock);
		if (more)
			ina_xmit_control(node, c.peer, &c.pkt, &c.body);
	} while (more);

	spin_lock_bh(&node->lock);
	for (i = 0; i < node->job->config.depth; i++)
		if (node->rounds[i].tell_down)
			told[i] = node->rounds[i].tag;
	spin_unlock_bh(&node->lock);
	for (i = 0; i < node->nchildren; i++) {
		/* If nothing leaves, not once more for each child. */
		room = room && ina_tx_wait(node);
		ina_control_flush_child(node, i);
		cond_resched();
	}
	/* Unless the entry has gone to another round meanwhile. */
	spin_lock_bh(&node->lock);
	for (i = 0; i < node->job->config.depth; i++)
		if (ina_tag_equal(&told[i], &node->rounds[i].tag))
			node->rounds[i].tell_down = false;
	spin_unlock_bh(&node->lock);
}

/**
 * ina_control_goodbye() - tell the parent that this node goes to another
 * @node: the node
 *
 * Context: process, no lock held.
 */
void ina_control_goodbye(struct ina_node *node)
{
	struct ina_control c = { .pkt.job = node->job->config.id };

	spin_lock_bh(&node->lock);
	node->generation++;
	ina_control_fill_join(node, &c);
	spin_unlock_bh(&node->lock);
	c.pkt.count = 0;
	c.body.join.workers = 0;
	c.body.join.token = 0;
	c.body.join.reason = cpu_to_be16(INA_REASON_TREE);
	memcpy(c.body.join.culprit, &node->local, sizeof(node->local));
	ina_xmit_control(node, &node->parent, &c.pkt, &c.body);
}
