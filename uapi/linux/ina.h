/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/ina.yaml */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_INA_H
#define _UAPI_LINUX_INA_H

#define INA_FAMILY_NAME		"ina"
#define INA_FAMILY_VERSION	1

/**
 * enum ina_dtype - Type of the elements of a job.
 * @INA_DTYPE_INT32: signed 32 bits, saturating, overflow is reported
 * @INA_DTYPE_FP32: IEEE 754 single, rounded with every addition
 * @INA_DTYPE_BF16: the upper half of an fp32, summed in fp32
 * @INA_DTYPE_FIXED: fp32 summed in 64-bit fixed point, the same in any order
 */
enum ina_dtype {
	INA_DTYPE_INT32,
	INA_DTYPE_FP32,
	INA_DTYPE_BF16,
	INA_DTYPE_FIXED,
};

/**
 * enum ina_encap - How the packets of a job are carried.
 * @INA_ENCAP_UDP: UDP, with checksums
 * @INA_ENCAP_IP: IP protocol 253, with the header's own crc32c
 */
enum ina_encap {
	INA_ENCAP_UDP,
	INA_ENCAP_IP,
};

/**
 * enum ina_on_loss - What becomes of a round that lacks a worker.
 * @INA_ON_LOSS_FAIL: it fails on every worker
 * @INA_ON_LOSS_DEGRADE: it ends without the worker
 */
enum ina_on_loss {
	INA_ON_LOSS_FAIL,
	INA_ON_LOSS_DEGRADE,
};

/**
 * enum ina_node_state - What a node waits for.
 * @INA_NODE_STATE_IDLE: not every child has joined or not every local worker
 *   is attached
 * @INA_NODE_STATE_JOINING: the subtree is complete, the root has not opened an
 *   epoch
 * @INA_NODE_STATE_OPEN: the epoch is open, rounds can run
 */
enum ina_node_state {
	INA_NODE_STATE_IDLE,
	INA_NODE_STATE_JOINING,
	INA_NODE_STATE_OPEN,
};

/**
 * enum ina_reason - Why a round failed, a join was refused or an epoch closed.
 * @INA_REASON_NONE: no reason
 * @INA_REASON_DEADLINE: the round did not end within the deadline of the job
 * @INA_REASON_COUNT: the result does not count every worker exactly once
 * @INA_REASON_LENGTH: contributors disagree on the number of elements
 * @INA_REASON_LEFT: a worker left or its process ended
 * @INA_REASON_CHILD_LOST: a child restarted or joined again
 * @INA_REASON_PARENT_LOST: the parent closed the epoch or restarted
 * @INA_REASON_TREE: the node was removed or its tree replaced
 * @INA_REASON_HASH: the configuration of the job differs from the parent's
 * @INA_REASON_UNKNOWN_CHILD: the parent has no such child
 * @INA_REASON_MTU: a fragment does not fit the path
 * @INA_REASON_ROOT_LOST: the root was replaced, it knows nothing of earlier
 *   rounds
 * @INA_REASON_EXCLUDED: the others went on without this node
 */
enum ina_reason {
	INA_REASON_NONE,
	INA_REASON_DEADLINE,
	INA_REASON_COUNT,
	INA_REASON_LENGTH,
	INA_REASON_LEFT,
	INA_REASON_CHILD_LOST,
	INA_REASON_PARENT_LOST,
	INA_REASON_TREE,
	INA_REASON_HASH,
	INA_REASON_UNKNOWN_CHILD,
	INA_REASON_MTU,
	INA_REASON_ROOT_LOST,
	INA_REASON_EXCLUDED,
};

/**
 * enum ina_pacing - Who holds packets back until it is their time to leave a
 *   device.
 * @INA_PACING_SENDER: the sender alone, a super-packet at a time
 * @INA_PACING_FQ: the queueing discipline fq
 * @INA_PACING_ETF: the queueing discipline etf, perhaps the device itself
 * @INA_PACING_INA: the queueing discipline ina
 */
enum ina_pacing {
	INA_PACING_SENDER,
	INA_PACING_FQ,
	INA_PACING_ETF,
	INA_PACING_INA,
};

/**
 * enum ina_path_state - Is a path in use.
 * @INA_PATH_STATE_UP: it is
 * @INA_PATH_STATE_LINK_DOWN: its device has no link
 * @INA_PATH_STATE_SILENT: the peer does not answer on it
 */
enum ina_path_state {
	INA_PATH_STATE_UP,
	INA_PATH_STATE_LINK_DOWN,
	INA_PATH_STATE_SILENT,
};

/**
 * enum ina_event_type - What an event tells.
 * @INA_EVENT_TYPE_JOB_ADDED: a job was added
 * @INA_EVENT_TYPE_JOB_DELETED: a job was deleted
 * @INA_EVENT_TYPE_TREE_SET: a node got its place in the tree
 * @INA_EVENT_TYPE_DEV_ADDED: a device got the ingress hook
 * @INA_EVENT_TYPE_DEV_DELETED: a device lost the ingress hook
 * @INA_EVENT_TYPE_CHILD_JOINED: the subtree of a child is complete
 * @INA_EVENT_TYPE_CHILD_LEFT: the subtree of a child is not complete any more
 * @INA_EVENT_TYPE_CHILD_REFUSED: a child was refused
 * @INA_EVENT_TYPE_REFUSED: the parent refused this node
 * @INA_EVENT_TYPE_WORKER_ATTACHED: a local worker attached
 * @INA_EVENT_TYPE_WORKER_LEFT: a local worker left
 * @INA_EVENT_TYPE_EPOCH_OPENED: rounds can run
 * @INA_EVENT_TYPE_EPOCH_CLOSED: no new rounds until the members are complete
 * @INA_EVENT_TYPE_ROUND_FAILED: a round failed on this node
 * @INA_EVENT_TYPE_OVERFLOW: a completed round holds saturated elements
 * @INA_EVENT_TYPE_PEER_SILENT: a parent or child does not answer
 * @INA_EVENT_TYPE_PEER_BACK: a parent or child answers again
 * @INA_EVENT_TYPE_PARENT_CHANGED: the node was given another parent
 * @INA_EVENT_TYPE_DEGRADED: rounds go on without a worker
 * @INA_EVENT_TYPE_RANK_TWICE: two workers have the same rank
 * @INA_EVENT_TYPE_LINK_DOWN: a device with the ingress hook lost its link
 * @INA_EVENT_TYPE_LINK_UP: a device with the ingress hook has its link again
 * @INA_EVENT_TYPE_PATH_DOWN: a path to a peer is not used any more
 * @INA_EVENT_TYPE_PATH_UP: a path to a peer is used again
 */
enum ina_event_type {
	INA_EVENT_TYPE_JOB_ADDED,
	INA_EVENT_TYPE_JOB_DELETED,
	INA_EVENT_TYPE_TREE_SET,
	INA_EVENT_TYPE_DEV_ADDED,
	INA_EVENT_TYPE_DEV_DELETED,
	INA_EVENT_TYPE_CHILD_JOINED,
	INA_EVENT_TYPE_CHILD_LEFT,
	INA_EVENT_TYPE_CHILD_REFUSED,
	INA_EVENT_TYPE_REFUSED,
	INA_EVENT_TYPE_WORKER_ATTACHED,
	INA_EVENT_TYPE_WORKER_LEFT,
	INA_EVENT_TYPE_EPOCH_OPENED,
	INA_EVENT_TYPE_EPOCH_CLOSED,
	INA_EVENT_TYPE_ROUND_FAILED,
	INA_EVENT_TYPE_OVERFLOW,
	INA_EVENT_TYPE_PEER_SILENT,
	INA_EVENT_TYPE_PEER_BACK,
	INA_EVENT_TYPE_PARENT_CHANGED,
	INA_EVENT_TYPE_DEGRADED,
	INA_EVENT_TYPE_RANK_TWICE,
	INA_EVENT_TYPE_LINK_DOWN,
	INA_EVENT_TYPE_LINK_UP,
	INA_EVENT_TYPE_PATH_DOWN,
	INA_EVENT_TYPE_PATH_UP,
};

enum {
	INA_A_JOB_ID = 1,
	INA_A_JOB_DTYPE,
	INA_A_JOB_FRAGMENT,
	INA_A_JOB_CAPACITY,
	INA_A_JOB_DEPTH,
	INA_A_JOB_GROUP,
	INA_A_JOB_DEADLINE,
	INA_A_JOB_ENCAP,
	INA_A_JOB_PORT,
	INA_A_JOB_HASH,
	INA_A_JOB_MEMORY,
	INA_A_JOB_ATTACHED,
	INA_A_JOB_PAD,
	INA_A_JOB_ON_LOSS,
	INA_A_JOB_EXPONENT,

	__INA_A_JOB_MAX,
	INA_A_JOB_MAX = (__INA_A_JOB_MAX - 1)
};

enum {
	INA_A_MEMBER_ADDR = 1,
	INA_A_MEMBER_INDEX,
	INA_A_MEMBER_JOINED,
	INA_A_MEMBER_WORKERS,
	INA_A_MEMBER_ACKED,
	INA_A_MEMBER_PAD,
	INA_A_MEMBER_ROUND,
	INA_A_MEMBER_FIRST,
	INA_A_MEMBER_LAST,
	INA_A_MEMBER_LATE,
	INA_A_MEMBER_LOST,
	INA_A_MEMBER_REQUEST,
	INA_A_MEMBER_RATE,
	INA_A_MEMBER_LOST_ROUND,

	__INA_A_MEMBER_MAX,
	INA_A_MEMBER_MAX = (__INA_A_MEMBER_MAX - 1)
};

enum {
	INA_A_TREE_JOB = 1,
	INA_A_TREE_LOCAL,
	INA_A_TREE_PARENT,
	INA_A_TREE_CHILD,
	INA_A_TREE_WORKERS,
	INA_A_TREE_STATE,
	INA_A_TREE_EPOCH,
	INA_A_TREE_BASE,
	INA_A_TREE_MEMBERS,
	INA_A_TREE_ATTACHED,
	INA_A_TREE_REASON,
	INA_A_TREE_MEMBER,
	INA_A_TREE_PAD,
	INA_A_TREE_REQUEST,
	INA_A_TREE_RATE,
	INA_A_TREE_HOLD,
	INA_A_TREE_LEFT,

	__INA_A_TREE_MAX,
	INA_A_TREE_MAX = (__INA_A_TREE_MAX - 1)
};

enum {
	INA_A_DEV_IFINDEX = 1,
	INA_A_DEV_NAME,
	INA_A_DEV_PAD,
	INA_A_DEV_RATE,
	INA_A_DEV_SPEED,
	INA_A_DEV_AUTO,
	INA_A_DEV_PACING,

	__INA_A_DEV_MAX,
	INA_A_DEV_MAX = (__INA_A_DEV_MAX - 1)
};

enum {
	INA_A_PATH_JOB = 1,
	INA_A_PATH_PEER,
	INA_A_PATH_ID,
	INA_A_PATH_IFINDEX,
	INA_A_PATH_SRC,
	INA_A_PATH_DST,
	INA_A_PATH_SPORT,
	INA_A_PATH_WEIGHT,
	INA_A_PATH_STATE,
	INA_A_PATH_RTT,
	INA_A_PATH_GOODPUT,
	INA_A_PATH_LOSS,
	INA_A_PATH_RATE,
	INA_A_PATH_SENT,
	INA_A_PATH_LOST,
	INA_A_PATH_SHARE,
	INA_A_PATH_CHUNK,
	INA_A_PATH_TIMEOUT,
	INA_A_PATH_LOSS_LIMIT,
	INA_A_PATH_PAD,

	__INA_A_PATH_MAX,
	INA_A_PATH_MAX = (__INA_A_PATH_MAX - 1)
};

enum {
	INA_A_COUNTER_NAME = 1,
	INA_A_COUNTER_VALUE,
	INA_A_COUNTER_PAD,

	__INA_A_COUNTER_MAX,
	INA_A_COUNTER_MAX = (__INA_A_COUNTER_MAX - 1)
};

enum {
	INA_A_STATS_JOB = 1,
	INA_A_STATS_COUNTER,

	__INA_A_STATS_MAX,
	INA_A_STATS_MAX = (__INA_A_STATS_MAX - 1)
};

enum {
	INA_A_EVENT_TYPE = 1,
	INA_A_EVENT_JOB,
	INA_A_EVENT_ADDR,
	INA_A_EVENT_ROUND,
	INA_A_EVENT_REASON,
	INA_A_EVENT_EPOCH,
	INA_A_EVENT_WORKERS,
	INA_A_EVENT_IFINDEX,
	INA_A_EVENT_TEXT,
	INA_A_EVENT_PAD,
	INA_A_EVENT_WORKER,
	INA_A_EVENT_LAST_FRAGMENT,

	__INA_A_EVENT_MAX,
	INA_A_EVENT_MAX = (__INA_A_EVENT_MAX - 1)
};

enum {
	INA_CMD_JOB_ADD = 1,
	INA_CMD_JOB_DEL,
	INA_CMD_JOB_GET,
	INA_CMD_TREE_SET,
	INA_CMD_TREE_GET,
	INA_CMD_DEV_ADD,
	INA_CMD_DEV_DEL,
	INA_CMD_DEV_GET,
	INA_CMD_STATS_GET,
	INA_CMD_EVENT,
	INA_CMD_DEV_SET,
	INA_CMD_PATH_ADD,
	INA_CMD_PATH_DEL,
	INA_CMD_PATH_SET,
	INA_CMD_PATH_GET,
	INA_CMD_TREE_HOLD,

	__INA_CMD_MAX,
	INA_CMD_MAX = (__INA_CMD_MAX - 1)
};

#define INA_MCGRP_EVENTS	"events"

#endif /* _UAPI_LINUX_INA_H */
