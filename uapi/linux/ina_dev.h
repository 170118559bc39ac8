/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/ina: how a worker process takes part in a job. Open it, INA_IOC_ATTACH
 * to a job of the network namespace the process is in, map the three areas, write a
 * contribution, INA_IOC_SUBMIT, wait, read the result.
 * Documentation/uapi-mmap.rst tells the whole story.
 */
#ifndef _UAPI_LINUX_INA_DEV_H
#define _UAPI_LINUX_INA_DEV_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define INA_DEV_ABI		2
#define INA_DEPTH_MAX		16	/* rounds in flight */
#define INA_RANK_MAX		4095
#define INA_RANK_NONE		0xffffffffU

/* Offsets for mmap(). The control page and the results are read-only. */
#define INA_MMAP_CTL		0ULL
#define INA_MMAP_CONTRIB	0x010000000000ULL
#define INA_MMAP_RESULT		0x020000000000ULL

/**
 * struct ina_attach - INA_IOC_ATTACH
 * @job: in: number of the job
 * @flags: in: 0
 * @rank: in: number of this worker in the job, at most INA_RANK_MAX and used by
 *	no other, or INA_RANK_NONE
 * @index: out: number of this worker on this node
 * @dtype: out: enum ina_dtype
 * @fragment: out: elements in a packet
 * @depth: out: rounds in flight
 * @capacity: out: most elements in a round
 * @elem_size: out: bytes of an element
 * @on_loss: out: enum ina_on_loss
 * @exponent: out: of fixed: sums are multiples of 2^exponent; else 0
 * @pad: 0
 * @stride: out: bytes from one round's array to the next; the array of round
 *	r starts at (r % depth) * stride, in contributions and in results
 * @ctl_size: out: bytes to map at INA_MMAP_CTL
 * @array_size: out: bytes to map at INA_MMAP_CONTRIB and at INA_MMAP_RESULT
 *
 * Fails with ENOENT if there is no such job in the caller's namespace,
 * ENOTCONN if it has no tree here, EBUSY if all its workers are attached,
 * EISCONN if the file is attached, EEXIST if another local worker has the rank,
 * ERANGE if there is no such rank, ENOMEM beyond the limits.
 */
struct ina_attach {
	__u32	job;
	__u32	flags;
	__u32	rank;
	__u32	index;
	__u32	dtype;
	__u32	fragment;
	__u32	depth;
	__u32	capacity;
	__u32	elem_size;
	__u32	on_loss;
	__s32	exponent;
	__u32	pad;
	__u64	stride;
	__u64	ctl_size;
	__u64	array_size;
};

/**
 * struct ina_submit - INA_IOC_SUBMIT: contribute to the next round
 * @round: in: the round the contribution was written for, ina_ctl.next_round;
 *	the buffer belongs to the kernel until the round ends
 * @length: in: elements
 * @flags: in: 0
 *
 * Fails with EAGAIN while the window has no room (poll for EPOLLOUT),
 * ENOTCONN while no epoch is open, ESTALE if @round is not the next one (a
 * new epoch starts at another), EMSGSIZE if @length is 0 or above the
 * capacity, EINTR, ENODEV if the node is gone.
 */
struct ina_submit {
	__u64	round;
	__u32	length;
	__u32	flags;
};

/**
 * struct ina_wait - INA_IOC_WAIT: sleep until a round has ended
 * @round: in: a submitted round, or INA_WAIT_OPEN to wait until an epoch is
 *	open, which also releases all results of a closed one and brings a
 *	worker back in that the others went on without
 * @timeout_ms: in: -1 for ever
 * @flags: in: 0
 *
 * 0 once the round is INA_ROUND_DONE or INA_ROUND_FAILED, else ETIMEDOUT.
 */
struct ina_wait {
	__u64	round;
	__s32	timeout_ms;
	__u32	flags;
};

#define INA_WAIT_OPEN		(~0ULL)

#define INA_IOC_MAGIC		0xA6
#define INA_IOC_ATTACH		_IOWR(INA_IOC_MAGIC, 1, struct ina_attach)
#define INA_IOC_SUBMIT		_IOW(INA_IOC_MAGIC, 2, struct ina_submit)
#define INA_IOC_WAIT		_IOW(INA_IOC_MAGIC, 3, struct ina_wait)
/*
 * The argument points to a round: the results up to and with it are read.
 * EBUSY if it is active, EINVAL if it was not submitted, ESTALE if the others went
 * on without this worker meanwhile: what was read does not count. A node with children
 * or several workers enters the next epoch only when all results are released.
 * poll: EPOLLIN an ended round is not released, EPOLLOUT a round can be
 * submitted, EPOLLHUP the node is gone.
 */
#define INA_IOC_RELEASE		_IOW(INA_IOC_MAGIC, 4, __u64)

/**
 * enum ina_ctl_state - state of the node, as its workers see it
 * @INA_CTL_WAITING: no epoch is open: members are missing
 * @INA_CTL_OPEN: rounds can be submitted
 * @INA_CTL_GONE: the node or its namespace was deleted; close the file
 */
enum ina_ctl_state {
	INA_CTL_WAITING,
	INA_CTL_OPEN,
	INA_CTL_GONE,
};

/**
 * enum ina_round_state - state of a round
 * @INA_ROUND_IDLE: no round, or one is being entered
 * @INA_ROUND_ACTIVE: submitted; the contribution belongs to the kernel
 * @INA_ROUND_DONE: the result is complete; it stays until released
 * @INA_ROUND_FAILED: see error, reason, culprit and detail
 */
enum ina_round_state {
	INA_ROUND_IDLE,
	INA_ROUND_ACTIVE,
	INA_ROUND_DONE,
	INA_ROUND_FAILED,
};

/**
 * struct ina_ctl_round - one round of the window
 * @round: its number
 * @state: enum ina_round_state; read it first, with acquire
 * @error: 0, or a negative errno; -EOVERFLOW in state DONE: saturated
 * @reason: enum ina_reason, if FAILED
 * @length: elements
 * @workers: workers in the result
 * @epoch: epoch of the round
 * @detail: numbers that belong to @reason: DEADLINE fragments without a
 *	result and fragments in all; COUNT workers counted and expected;
 *	LENGTH elements of the two parties; ROOT_LOST, and TREE if it was the
 *	root's: the first round that not all have acknowledged, low half first
 * @culprit: IPv6 (or mapped IPv4) address of the node to blame, or ::
 * @worker: number of the worker to blame on that node, counted from 1, 0 if it
 *	is not known
 * @last: last fragment seen of it, counted from 1, 0 if none
 * @submit_ns: CLOCK_MONOTONIC at submit
 * @end_ns: CLOCK_MONOTONIC at the end
 * @flags: INA_ROUND_INEXACT: contributions had bits below the unit of the job's
 *	fixed-point sums, if DONE
 * @pad: 0
 */
struct ina_ctl_round {
	__u64	round;
	__u32	state;
	__s32	error;
	__u32	reason;
	__u32	length;
	__u32	workers;
	__u32	epoch;
	__u32	detail[2];
	__u8	culprit[16];
	__u32	worker;
	__u32	last;
	__u64	submit_ns;
	__u64	end_ns;
	__u32	flags;
	__u32	pad;
};

#define INA_ROUND_INEXACT	0x1

/**
 * struct ina_ctl - the control page, written by the kernel only
 * @abi: INA_DEV_ABI
 * @state: enum ina_ctl_state
 * @epoch: number of the membership
 * @workers: workers in the epoch, in the whole tree
 * @base: first round not complete everywhere
 * @next_round: round the next submit must name; its window slot is free when
 *	next_round < base + depth; less than before if the worker was left out
 * @refused: enum ina_reason, why the parent refuses this node
 * @closed: enum ina_reason, why no epoch is open; 0 before the first
 * @culprit: IPv6 (or mapped IPv4) address of the node to blame for that, or ::
 * @worker: number of the worker to blame on that node, counted from 1, or 0
 * @last: last fragment seen of it, counted from 1, or 0
 * @rounds: round r is at rounds[r % depth]
 * @ranks: of the round at rounds[i], if DONE, the workers in the result: rank k
 *	is bit k % 8 of ranks[i][k / 8]
 */
struct ina_ctl {
	__u32	abi;
	__u32	state;
	__u32	epoch;
	__u32	workers;
	__u64	base;
	__u64	next_round;
	__u32	refused;
	__u32	closed;
	__u8	culprit[16];
	__u32	worker;
	__u32	last;
	struct ina_ctl_round rounds[INA_DEPTH_MAX];
	__u8	ranks[INA_DEPTH_MAX][(INA_RANK_MAX + 1) / 8];
};

#endif /* _UAPI_LINUX_INA_DEV_H */
