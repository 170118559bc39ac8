/* SPDX-License-Identifier: GPL-2.0 */
/* What the XDP programs and their loader share. ELEMENTS of a packet is fixed when it is built. */
#ifndef BENCH_XDP_H
#define BENCH_XDP_H

#define XDP_WORKERS	4
#define XDP_PORT	4257
#define XDP_INFLIGHT	8
#define XDP_WAKE	48	/* results after which a worker is told */
#define XDP_HEADERS	(14 + 20 + 8)

/**
 * struct xagg_head - of a gradient packet, behind the UDP header
 * @id: one bit, of the child it comes from
 * @idx: slot of the fragment
 * @seq: number of the fragment over all rounds: tells a slot's epochs apart
 */
struct xagg_head {
	__u32 id;
	__u32 idx;
	__u64 seq;
};

/**
 * struct xdp_flow - a worker
 * @sent: fragments sent, by the worker's program
 * @first: number of the workload's first fragment
 * @per_round: fragments of a round
 * @inflight: rounds
 * @taken: results received
 * @got: of these, of each round in flight
 *
 * Nothing of one worker shares a cache line with another's.
 */
struct xdp_flow {
	__u64 sent;
	__u64 first;
	__u64 per_round;
	__u64 inflight;
	__u64 taken;
	__u64 pad[3];
	__u64 got[XDP_INFLIGHT];
} __attribute__((aligned(64)));

/**
 * struct xdp_replay - which slots packets go to
 * @packets: how many have come
 * @bits: there are 1 << @bits slots in use
 * @step: from one to the next; odd
 */
struct xdp_replay {
	__u64 packets;
	__u32 bits;
	__u32 step;
} __attribute__((aligned(64)));

/**
 * struct xdp_choice - written before the programs are loaded
 * @locked: slots are
 * @has_root: the aggregator has a parent
 * @stride: fragments of a worker in the maps
 */
struct xdp_choice {
	__u8 locked;
	__u8 has_root;
	__u32 stride;
};

/**
 * struct xdp_state - shared with the programs that run
 * @flow: of each worker
 * @replay: of the program that is measured alone
 */
struct xdp_state {
	struct xdp_flow flow[XDP_WORKERS];
	struct xdp_replay replay;
};

#endif /* BENCH_XDP_H */
