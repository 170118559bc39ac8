// SPDX-License-Identifier: GPL-2.0
/*
 * Events to user space, in words and in numbers. Context: any, locks may be
 * held; an event that finds no memory is lost, the counters are not.
 */
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "event.h"
#include "netlink_gen.h"
#include "node.h"

static const char * const ina_event_reasons[] = {
	[INA_REASON_NONE] = "no reason",
	[INA_REASON_DEADLINE] = "deadline passed",
	[INA_REASON_COUNT] = "workers miscounted",
	[INA_REASON_LENGTH] = "lengths differ",
	[INA_REASON_LEFT] = "worker left",
	[INA_REASON_CHILD_LOST] = "child restarted",
	[INA_REASON_PARENT_LOST] = "parent lost",
	[INA_REASON_TREE] = "node removed",
	[INA_REASON_HASH] = "job configuration differs",
	[INA_REASON_UNKNOWN_CHILD] = "not a child of the parent",
	[INA_REASON_MTU] = "fragment does not fit the path MTU",
	[INA_REASON_ROOT_LOST] = "root lost",
	[INA_REASON_EXCLUDED] = "others went on without it",
};

/**
 * ina_event_reason() - a reason in words
 * @reason: enum ina_reason, may be out of range
 *
 * Return: a text that is never freed.
 */
const char *ina_event_reason(u32 reason)
{
	return reason < ARRAY_SIZE(ina_event_reasons) ?
	       ina_event_reasons[reason] : "unknown reason";
}

static int ina_event_put_u32(struct sk_buff *skb, int attr, u32 value)
{
	return value ? nla_put_u32(skb, attr, value) : 0;
}

/* Which worker at the address it is about, and how far it came. */
static int ina_event_put_blame(struct sk_buff *skb,
			       const struct ina_blame *blame)
{
	if (!blame)
		return 0;
	return (blame->worker && nla_put_u32(skb, INA_A_EVENT_WORKER,
					     blame->worker - 1)) ||
	       (blame->last && nla_put_u32(skb, INA_A_EVENT_LAST_FRAGMENT,
					   blame->last - 1));
}

static int ina_event_fill(struct sk_buff *skb, const struct ina_event *event,
			  const char *text)
{
	return nla_put_u32(skb, INA_A_EVENT_TYPE, event->type) ||
	       ina_event_put_u32(skb, INA_A_EVENT_JOB, event->job) ||
	       (!ipv6_addr_any(&event->addr) &&
		nla_put_in6_addr(skb, INA_A_EVENT_ADDR, &event->addr)) ||
	       (event->has_round &&
		nla_put_u64_64bit(skb, INA_A_EVENT_ROUND, event->round,
				  INA_A_EVENT_PAD)) ||
	       ina_event_put_u32(skb, INA_A_EVENT_REASON, event->reason) ||
	       ina_event_put_u32(skb, INA_A_EVENT_EPOCH, event->epoch) ||
	       ina_event_put_u32(skb, INA_A_EVENT_WORKERS, event->workers) ||
	       ina_event_put_u32(skb, INA_A_EVENT_IFINDEX, event->ifindex) ||
	       ina_event_put_blame(skb, event->blame) ||
	       nla_put_string(skb, INA_A_EVENT_TEXT, text);
}

/**
 * ina_event_send() - tell the listeners of a namespace
 * @net: the namespace
 * @event: numbers
 * @fmt: words
 */
void ina_event_send(struct net *net, const struct ina_event *event,
		    const char *fmt, ...)
{
	struct sk_buff *skb;
	char text[160];
	va_list args;
	void *hdr;

	if (!genl_has_listeners(&ina_nl_family, net, INA_NLGRP_EVENTS))
		return;
	va_start(args, fmt);
	vscnprintf(text, sizeof(text), fmt, args);
	va_end(args);

	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &ina_nl_family, 0, INA_CMD_EVENT);
	if (!hdr || ina_event_fill(skb, event, text)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&ina_nl_family, net, skb, 0, INA_NLGRP_EVENTS,
				GFP_ATOMIC);
}

/* Is it said which rounds all have acknowledged? */
static bool ina_event_has_acked(const struct ina_blame *blame)
{
	return blame->reason == INA_REASON_ROOT_LOST ||
	       (blame->reason == INA_REASON_TREE &&
		(blame->detail[0] || blame->detail[1]));
}

/**
 * ina_event_round_failed() - a round failed on a node
 * @node: where
 * @round: which
 * @blame: why
 */
void ina_event_round_failed(const struct ina_node *node, u64 round,
			    const struct ina_blame *blame)
{
	struct ina_event event = {
		.type = INA_EVENT_TYPE_ROUND_FAILED,
		.job = node->job->config.id,
		.addr = blame->culprit,
		.has_round = true,
		.round = round,
		.reason = blame->reason,
		.blame = blame,
	};

	if (blame->reason == INA_REASON_COUNT)
		ina_event_send(node->net, &event,
			       "job %u round %llu failed: counted %u of %u workers",
			       event.job, round, blame->detail[0],
			       blame->detail[1]);
	else if (blame->worker && blame->last)
		ina_event_send(node->net, &event,
			       "job %u round %llu failed: %s (%pI6c worker %u, last fragment %u)",
			       event.job, round,
			       ina_event_reason(blame->reason), &event.addr,
			       blame->worker - 1, blame->last - 1);
	else if (blame->worker)
		ina_event_send(node->net, &event,
			       "job %u round %llu failed: %s (%pI6c worker %u, no fragment seen)",
			       event.job, round,
			       ina_event_reason(blame->reason), &event.addr,
			       blame->worker - 1);
	else if (ina_event_has_acked(blame))
		ina_event_send(node->net, &event,
			       "job %u round %llu failed: %s (%pI6c), all have the rounds below %llu",
			       event.job, round,
			       ina_event_reason(blame->reason), &event.addr,
			       blame->detail[0] | (u64)blame->detail[1] << 32);
	else if (blame->last)
		ina_event_send(node->net, &event,
			       "job %u round %llu failed: %s (%pI6c, last fragment %u)",
			       event.job, round,
			       ina_event_reason(blame->reason), &event.addr,
			       blame->last - 1);
	/* Maybe it is the root that is gone. */
	else if (blame->reason == INA_REASON_DEADLINE)
		ina_event_send(node->net, &event,
			       "job %u round %llu failed: %s (%pI6c), all have the rounds below %llu",
			       event.job, round,
			       ina_event_reason(blame->reason), &event.addr,
			       READ_ONCE(node->base));
	else
		ina_event_send(node->net, &event,
			       "job %u round %llu failed: %s (%pI6c)",
			       event.job, round,
			       ina_event_reason(blame->reason), &event.addr);
}

/**
 * ina_event_peer() - a neighbour fell silent or is back
 * @node: whose neighbour
 * @peer: which
 * @type: INA_EVENT_TYPE_PEER_SILENT or INA_EVENT_TYPE_PEER_BACK
 */
void ina_event_peer(const struct ina_node *node, const struct ina_peer *peer,
		    enum ina_event_type type)
{
	ina_event_send(node->net, &(struct ina_event){
			.type = type, .job = node->job->config.id,
			.addr = peer->addr },
		       "job %u %s %pI6c %s", node->job->config.id,
		       peer == &node->parent ? "parent" : "child", &peer->addr,
		       type == INA_EVENT_TYPE_PEER_BACK ? "answers again" :
							  "does not answer");
}
