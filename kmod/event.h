/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events: what happened, told to whoever listens to the group `events`.
 */
#ifndef _INA_EVENT_H
#define _INA_EVENT_H

#include <linux/in6.h>
#include <uapi/linux/ina.h>

struct genl_family;
struct net;
struct ina_blame;
struct ina_node;
struct ina_peer;

/**
 * struct ina_event - an event; zero fields are left out of the message
 * @type: enum ina_event_type
 * @job: number of the job
 * @addr: the peer it is about
 * @has_round: @round is set
 * @round: the round it is about
 * @reason: enum ina_reason
 * @epoch: membership
 * @workers: how many
 * @ifindex: device
 * @blame: whose worker and fragment are told, may be NULL
 */
struct ina_event {
	u32 type;
	u32 job;
	struct in6_addr addr;
	bool has_round;
	u64 round;
	u32 reason;
	u32 epoch;
	u32 workers;
	u32 ifindex;
	const struct ina_blame *blame;
};

extern struct genl_family ina_nl_family;

__printf(3, 4)
void ina_event_send(struct net *net, const struct ina_event *event,
		    const char *fmt, ...);
void ina_event_round_failed(const struct ina_node *node, u64 round,
			    const struct ina_blame *blame);
void ina_event_peer(const struct ina_node *node, const struct ina_peer *peer,
		    enum ina_event_type type);
const char *ina_event_reason(u32 reason);

#endif /* _INA_EVENT_H */
