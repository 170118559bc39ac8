/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rates are asked for up the tree with READY and granted down it with GRANT.
 */
#ifndef _INA_GRANT_H
#define _INA_GRANT_H

#include <linux/types.h>

#include "rate.h"

struct ina_child;
struct ina_node;
struct ina_path;
struct ina_peer;
struct ina_pkt;

#define INA_GRANT_DEVS	16	/* devices of a node that are shared, the bits of a u16 */

/**
 * struct ina_ask - what a child asks for and gets
 * @number: of its last READY
 * @heard: there was one
 * @sending: it is
 * @granted: @rate was told
 * @tell: a GRANT is to be sent
 * @devs: bits of those of ina_grant.devs through which it is reached; 0: none is known
 * @at: jiffies of its last READY
 * @send: what it can send
 * @receive: what it can receive
 * @rate: what it may send
 * @grants: GRANTs sent to it
 */
struct ina_ask {
	u32 number;
	bool heard;
	bool sending;
	bool granted;
	bool tell;
	u16 devs;
	unsigned long at;
	u64 send;
	u64 receive;
	u64 rate;
	u32 grants;
};

/**
 * struct ina_grant_dev - a device through which neighbours are reached
 * @ifindex: which
 * @in: its ingress, shared between the children that send
 * @out: its egress, shared between the children, which all get results
 * @used_in: what the node uses of it; read by other nodes without a lock
 * @used_out: the same of its egress
 */
struct ina_grant_dev {
	u32 ifindex;
	struct ina_rate_share in;
	struct ina_rate_share out;
	u64 used_in;
	u64 used_out;
};

/**
 * struct ina_grant - what a node asks for and gets, and what its children share
 * @number: of its last READY
 * @answered: number to which the last GRANT was the answer
 * @grants: number of that GRANT
 * @known: there was one
 * @alone: none came in time: what it asked for is taken for granted
 * @sending: the parent is told that it is
 * @tell: a READY is to be sent
 * @again: it was sent before
 * @waits: the sender waits for the first GRANT
 * @tries: READYs since the last GRANT
 * @delay: milliseconds the last GRANT took
 * @up: bits of those of @devs through which the parent is reached; 0: none is known
 * @send: what it asked for
 * @receive: what it said it can receive
 * @demand: what its children can send at most
 * @rate: what it was granted
 * @asked: when @number was sent, in nanoseconds
 * @active: jiffies at which something was sent to the parent; written without the lock
 * @repeat_at: jiffies at which READY is sent again
 * @devs: devices
 */
struct ina_grant {
	u32 number;
	u32 answered;
	u32 grants;
	bool known;
	bool alone;
	bool sending;
	bool tell;
	bool again;
	bool waits;
	unsigned int tries;
	unsigned int delay;
	u16 up;
	u64 send;
	u64 receive;
	u64 demand;
	u64 rate;
	u64 asked;
	unsigned long active;
	unsigned long repeat_at;
	struct ina_grant_dev devs[INA_GRANT_DEVS];
};

void ina_grant_ask(struct ina_grant *grant);
void ina_grant_start(struct ina_node *node);
void ina_grant_forget(struct ina_node *node);
void ina_grant_flush(struct ina_node *node);
unsigned int ina_grant_tick(struct ina_node *node);
int ina_grant_rx_ready(struct ina_node *node, struct ina_child *child,
		       const struct ina_pkt *pkt);
int ina_grant_rx_grant(struct ina_node *node, const struct ina_pkt *pkt);
void ina_grant_loss(struct ina_node *node, struct ina_peer *peer,
		    struct ina_path *path, struct ina_heard *heard);

/* share.c */
u16 ina_share_devs(struct ina_node *node, const u32 *ifindex);
void ina_share_update(struct ina_node *node);

#endif /* _INA_GRANT_H */
