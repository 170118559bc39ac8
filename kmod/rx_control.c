// SPDX-License-Identifier: GPL-2.0
/*
 * Control packets: membership, failures and lateness, loss recovery. rx.c has
 * validated them. Context: softirq, under RCU.
 */
#include <net/ipv6.h>

#include <linux/jiffies.h>

#include "epoch.h"
#include "fail.h"
#include "late.h"
#include "member.h"
#include "probe.h"
#include "round.h"
#include "rx.h"
#include "stats.h"
#include "tx.h"
#include "watch.h"
#include "wire.h"
#include "xmit.h"

/* Which round a packet is about. */
static int ina_rx_tag(struct ina_node *node, const struct ina_pkt *pkt,
		      struct ina_tag *tag)
{
	u64 epoch_era = ina_epoch_published(node), base = READ_ONCE(node->base);
	u64 round = ina_wire_round(pkt->round, base);

	if (!epoch_era || pkt->epoch != epoch_era >> 32)
		return INA_STAT_DROP_EPOCH;
	if (round - base >= node->job->config.depth)
		return INA_STAT_DROP_OVER;
	*tag = ina_round_tag(node, (u32)epoch_era, round);
	return 0;
}

static struct ina_blame ina_rx_blame(const struct ina_fail_hdr *fail)
{
	struct ina_blame blame = {
		.reason = be32_to_cpu(fail->reason),
		.detail = { be32_to_cpu(fail->detail[0]),
			    be32_to_cpu(fail->detail[1]) },
		.worker = be32_to_cpu(fail->worker),
		.last = be32_to_cpu(fail->last),
	};

	memcpy(&blame.culprit, fail->culprit, sizeof(fail->culprit));
	return blame;
}

/* A round waits, says a child; or it is to end, says the parent. */
static int ina_rx_late(struct ina_node *node, const struct ina_pkt *pkt,
		       const struct ina_rx_info *info)
{
	bool order = pkt->type == INA_TYPE_EXCLUDE;
	struct ina_child *child;
	struct ina_blame blame;
	struct ina_tag tag;
	int err;

	if (order)
		err = ina_rx_from_parent(node, info) ? 0 : INA_STAT_DROP_SOURCE;
	else
		err = ina_rx_child(node, pkt, info, &child);
	if (!err)
		err = ina_rx_tag(node, pkt, &tag);
	if (err)
		return err;
	if (order) {
		ina_late_order(node, &tag);
		return 0;
	}
	blame = ina_rx_blame(pkt->body);
	ina_late_named(node, child, &tag, &blame);
	return 0;
}

/* A child's failure goes up to the root, the root's comes down to all. */
static int ina_rx_fail(struct ina_node *node, struct ina_pkt *pkt,
		       const struct ina_rx_info *info)
{
	bool down = ina_rx_from_parent(node, info);
	struct ina_child *child;
	struct ina_blame blame;
	struct ina_tag tag;
	int err = down ? 0 : ina_rx_child(node, pkt, info, &child);

	if (!err)
		err = ina_rx_tag(node, pkt, &tag);
	if (err)
		return err;
	blame = ina_rx_blame(pkt->body);
	if (down || node->root) {
		ina_fail_round_from(node, &tag, &blame);
	} else {
		pkt->index = READ_ONCE(node->index);
		pkt->flags &= ~INA_F_CRC;
		ina_xmit_control(node, &node->parent, pkt, pkt->body);
	}
	return 0;
}

/* The neighbour answers what was sent to it. Return: 0 or a counter. */
static int ina_rx_group(struct ina_node *node, struct ina_peer *peer,
			const struct ina_pkt *pkt)
{
	const u8 *missing = pkt->type == INA_TYPE_GROUP_NACK ? pkt->body : NULL;
	u16 index = peer == &node->parent ? INA_INDEX_NONE : pkt->index;
	struct ina_path *path = &peer->path[pkt->path];
	struct ina_hop_news news;

	if (!ina_hop_answered(&path->hop, pkt->epoch, pkt->seq, pkt->count,
			      missing, pkt->frag, &news))
		return INA_STAT_DROP_OVER;
	ina_path_answered(node, path, news.packets, news.lost);
	/* But for marks ECHOs tell it sooner, unless they take long. */
	if (!time_after(jiffies, READ_ONCE(path->fed) +
				 (READ_ONCE(path->pace.rate) ? HZ : INA_PATH_FED)))
		news.packets = 0;
	if (news.packets || pkt->length)
		ina_grant_loss(node, peer, path, &(struct ina_heard){
				.epoch = pkt->epoch, .seq = pkt->seq,
				.packets = news.packets, .lost = news.lost,
				.marked = pkt->length });
	ina_tx_ready(node, index);
	if (READ_ONCE(path->hop.ask))
		ina_node_kick(node);
	if (READ_ONCE(peer->silent))
		ina_watch_answers(node, peer);
	return 0;
}

/* Loss recovery, the same in both directions. Return: 0 or a counter. */
static int ina_rx_hop(struct ina_node *node, const struct ina_pkt *pkt,
		      const struct ina_rx_info *info)
{
	bool down = ina_rx_from_parent(node, info);
	const struct ina_done_hdr *done = pkt->body;
	u64 epoch_era = ina_epoch_published(node);
	struct ina_child *child;
	struct ina_peer *peer;
	int err = down ? 0 : ina_rx_child(node, pkt, info, &child);

	if (err)
		return err;
	if (!epoch_era || pkt->epoch != epoch_era >> 32)
		return INA_STAT_DROP_EPOCH;
	peer = down ? &node->parent : &child->peer;
	if (pkt->type != INA_TYPE_DONE)
		return ina_rx_group(node, peer, pkt);
	ina_rx_todo(node, ina_hop_asked(ina_path_of(peer, pkt->path), pkt->epoch,
					pkt->seq, be32_to_cpu(done->end)));
	return 0;
}

/* Does a path lead here? Return: 0 or a counter. */
static int ina_rx_probe(struct ina_node *node, const struct ina_pkt *pkt,
			const struct ina_rx_info *info)
{
	bool down = ina_rx_from_parent(node, info);
	struct ina_child *child;
	int err = down ? 0 : ina_rx_child(node, pkt, info, &child);

	return err ?: ina_probe_rx(node, down ? &node->parent : &child->peer, pkt);
}

/*
 * A child asks for a rate. One that has not joined yet does so again, as it gets no
 * answer. Return: 0 or a counter.
 */
static int ina_rx_ready(struct ina_node *node, const struct ina_pkt *pkt,
			const struct ina_rx_info *info)
{
	struct ina_child *child;

	if (pkt->index >= node->nchildren)
		return INA_STAT_DROP_SOURCE;
	child = &node->children[pkt->index];
	if (!ina_path_is_from(&child->peer, &info->saddr))
		return INA_STAT_DROP_SOURCE;
	if (!READ_ONCE(child->workers))
		return INA_STAT_DROP_EPOCH;
	return ina_grant_rx_ready(node, child, pkt);
}

/**
 * ina_rx_control() - all but packets of elements
 * @node: the node
 * @pkt: the packet; its body is a copy
 * @info: what the entry knows
 *
 * Context: softirq, under RCU, no lock held, vector registers free.
 * Return: 0 or a counter.
 */
int ina_rx_control(struct ina_node *node, struct ina_pkt *pkt,
		   const struct ina_rx_info *info)
{
	struct ina_child *child;
	int err;

	switch (pkt->type) {
	case INA_TYPE_JOIN:
		ina_member_rx_join(node, pkt, &info->saddr);
		return 0;
	case INA_TYPE_ACK:
		err = ina_rx_child(node, pkt, info, &child);
		if (!err)
			ina_member_rx_ack(node, child, pkt);
		return err;
	case INA_TYPE_FAIL:
		return ina_rx_fail(node, pkt, info);
	case INA_TYPE_LATE:
	case INA_TYPE_EXCLUDE:
		return ina_rx_late(node, pkt, info);
	case INA_TYPE_DONE:
	case INA_TYPE_GROUP_OK:
	case INA_TYPE_GROUP_NACK:
		return ina_rx_hop(node, pkt, info);
	case INA_TYPE_PROBE:
	case INA_TYPE_ECHO:
		return ina_rx_probe(node, pkt, info);
	case INA_TYPE_READY:
		return ina_rx_ready(node, pkt, info);
	}
	if (!ina_rx_from_parent(node, info))
		return INA_STAT_DROP_SOURCE;
	if (pkt->type == INA_TYPE_GRANT)
		return ina_grant_rx_grant(node, pkt);
	if (pkt->type == INA_TYPE_WELCOME)
		ina_member_rx_welcome(node, pkt);
	else
		ina_member_rx_epoch(node, pkt);
	return 0;
}
