/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A local worker: a process attached to a node through /dev/ina.
 */
#ifndef _INA_WORKER_H
#define _INA_WORKER_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <uapi/linux/ina_dev.h>

#include "region.h"

struct ina_blame;
struct ina_net;
struct ina_node;
struct ina_round;
struct work_struct;

/**
 * struct ina_worker - an attached process
 * @node: what it is attached to; a reference is held
 * @index: its number among the node's workers
 * @token: random, counted with each of its contributions
 * @rank: its number in the job, INA_RANK_NONE if it has none
 * @out: the others go on without it; under the node's lock
 * @returned: the others went on without it, or one whose place it took
 * @pushing: contributions of it that are being added; under the node's lock
 * @contrib: its contributions, depth arrays
 * @ctl_page: memory of the control page
 * @ctl: the control page; written under the node's lock
 * @submit_lock: one submit at a time
 * @detached: it left; under the node's lock
 * @next: round its next submit must name; under the node's lock
 * @acked: rounds below have ended (and are read, where the memory is shared
 *	with children); under the node's lock
 * @released: results below are read; under the node's lock
 * @revoked: results below that were not released have been taken away
 * @last: fragments of its last round that are contributed
 */
struct ina_worker {
	struct ina_node *node;
	u16 index;
	u32 token;
	u32 rank;
	bool out;
	bool returned;
	u16 pushing;
	struct ina_region contrib;
	struct ina_region ctl_page;
	struct ina_ctl *ctl;
	struct mutex submit_lock;	/* one submit at a time */
	bool detached;
	u64 next;
	u64 acked;
	u64 released;
	u64 revoked;
	u32 last;
};

struct ina_worker *ina_worker_attach(struct ina_net *inet,
				     struct ina_attach *attach);
void ina_worker_detach(struct ina_worker *worker);
void ina_worker_free(struct ina_worker *worker);
int ina_worker_submit(struct ina_worker *worker,
		      const struct ina_submit *submit);
int ina_worker_wait(struct ina_worker *worker, const struct ina_wait *wait);
int ina_worker_release(struct ina_worker *worker, u64 round);
__poll_t ina_worker_poll(struct ina_worker *worker);
void ina_worker_restart(struct work_struct *work);

/* page.c */
struct ina_ctl_round *ina_worker_round(struct ina_worker *worker, u64 round);
void ina_worker_ack(struct ina_worker *worker);
void ina_worker_show(struct ina_worker *worker, u64 round, u32 length);
bool ina_worker_is_active(struct ina_worker *worker, u64 round);
bool ina_worker_settled(const struct ina_worker *worker, u64 below, u64 base,
			u32 final);
void ina_worker_give_up(struct ina_worker *worker, u64 first, u64 below,
			const struct ina_blame *blame);
void ina_worker_leave_out(struct ina_worker *worker);
void ina_worker_round_end(struct ina_worker *worker,
			  const struct ina_round *round, u16 flags);
void ina_worker_state(struct ina_worker *worker, enum ina_ctl_state state);
void ina_worker_closed(struct ina_worker *worker,
		       const struct ina_blame *blame);
void ina_worker_epoch(struct ina_worker *worker);
void ina_worker_skip(struct ina_worker *worker, bool fresh);
void ina_worker_base(struct ina_worker *worker);
void ina_worker_refused(struct ina_node *node);

#endif /* _INA_WORKER_H */
