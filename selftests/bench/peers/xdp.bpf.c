// SPDX-License-Identifier: GPL-2.0
/*
 * XAgg's aggregator in XDP [XAgg Algorithm 1], unrolled, and what it needs around it:
 * workers that send frames and take results without a socket.
 *
 * As published an epoch ends with a reset of all slots. Here the first packet of an
 * epoch stores instead of adding, and the last one takes the sum along instead of
 * storing it: less work than published. @choice.locked adds the spin lock without which two
 * CPUs lose updates.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "xdp.h"

const volatile struct xdp_choice choice;
struct xdp_state state;

struct grad {
	__u32 v[ELEMENTS];
};

struct slot {
	struct bpf_spin_lock lock;
	__u32 bitmap;
	__u32 counter;
	__u32 pad;
	__u64 seq;
	struct grad grad;
};

#define SIZE	(XDP_HEADERS + sizeof(struct xagg_head) + sizeof(struct grad))

struct slots {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct slot);
} agg_slots SEC(".maps"), root_slots SEC(".maps");

struct grads {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct grad);
} contributions SEC(".maps"), results SEC(".maps");

struct ports {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, XDP_WORKERS);
	__type(key, __u32);
	__type(value, __u32);
} workers SEC(".maps"), children SEC(".maps"), parent SEC(".maps");

/* The gradient packet, or NULL: then it is for the stack. */
static __always_inline struct xagg_head *head_of(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct iphdr *ip = data + sizeof(*eth);
	struct udphdr *udp = data + sizeof(*eth) + sizeof(*ip);

	if (data + SIZE > end || eth->h_proto != bpf_htons(ETH_P_IP) ||
	    ip->protocol != IPPROTO_UDP || udp->dest != bpf_htons(XDP_PORT))
		return NULL;
	return data + XDP_HEADERS;
}

static __always_inline void copy(void *to, const void *from)
{
	__u64 *d = to;
	const __u64 *s = from;
	int i;

#pragma unroll
	for (i = 0; i < ELEMENTS / 2; i++)
		d[i] = s[i];
}

static __always_inline void add(__u32 *to, const __u32 *from)
{
	int i;

#pragma unroll
	for (i = 0; i < ELEMENTS; i++)
		to[i] += from[i];
}

/* Algorithm 1, lines 5 to 12. Return: whether the packet now holds the sum. */
static __always_inline bool aggregate(struct slot *agg, struct xagg_head *head, __u32 n)
{
	__u32 *grad = (__u32 *)(head + 1);

	if (agg->seq != head->seq) {
		agg->seq = head->seq;
		agg->bitmap = 0;
		agg->counter = 0;
	} else if (agg->bitmap & head->id) {
		return false;
	}
	agg->bitmap += head->id;
	agg->counter++;
	if (agg->counter == n) {
		if (n > 1)
			add(grad, agg->grad.v);
		return true;
	}
	if (agg->counter == 1)
		copy(agg->grad.v, grad);
	else
		add(agg->grad.v, grad);
	return false;
}

static __always_inline bool aggregate_of(struct slot *agg, struct xagg_head *head)
{
	bool complete;

	if (!choice.locked)
		return aggregate(agg, head, XDP_WORKERS);
	bpf_spin_lock(&agg->lock);
	complete = aggregate(agg, head, XDP_WORKERS);
	bpf_spin_unlock(&agg->lock);
	return complete;
}

SEC("xdp.frags")
int xdp_agg(struct xdp_md *ctx)
{
	struct xagg_head *head = head_of(ctx);
	struct slot *agg;
	__u32 idx;

	if (!head)
		return XDP_PASS;
	idx = head->idx;
	agg = bpf_map_lookup_elem(&agg_slots, &idx);
	if (!agg)
		return XDP_DROP;
	if (!aggregate_of(agg, head))
		return XDP_DROP;
	head->id = 1;
	if (choice.has_root)
		return bpf_redirect_map(&parent, 0, 0);
	return bpf_redirect_map(&children, 0, BPF_F_BROADCAST);
}

/* Algorithm 1 alone, for BPF_PROG_RUN: the workers one after the other, slots as its state says. */
SEC("xdp")
int xdp_replay(struct xdp_md *ctx)
{
	struct xagg_head *head = head_of(ctx);
	__u64 n = state.replay.packets++, pass = n >> state.replay.bits;
	struct slot *agg;
	__u32 idx;

	if (!head)
		return XDP_PASS;
	idx = n * state.replay.step & ((1 << state.replay.bits) - 1);
	head->id = 1 << pass % XDP_WORKERS;
	head->seq = pass / XDP_WORKERS + 1;
	agg = bpf_map_lookup_elem(&agg_slots, &idx);
	if (!agg)
		return XDP_DROP;
	return aggregate_of(agg, head) ? XDP_TX : XDP_DROP;
}

/* What BPF_PROG_RUN takes itself. */
SEC("xdp")
int xdp_nothing(struct xdp_md *ctx)
{
	return XDP_DROP;
}

/* The root has one child: its sum is the result. */
SEC("xdp.frags")
int xdp_root(struct xdp_md *ctx)
{
	struct xagg_head *head = head_of(ctx);
	struct slot *agg;
	__u32 idx;

	if (!head)
		return XDP_PASS;
	idx = head->idx;
	agg = bpf_map_lookup_elem(&root_slots, &idx);
	if (!agg || !aggregate(agg, head, 1))
		return XDP_DROP;
	return XDP_TX;
}

/* Results of the root, on the aggregator. */
SEC("xdp.frags")
int xdp_down(struct xdp_md *ctx)
{
	if (!head_of(ctx))
		return XDP_PASS;
	return bpf_redirect_map(&children, 0, BPF_F_BROADCAST);
}

/* Into the worker's array; @ring tells it now and then, and at the end of a round. */
static __always_inline int result(struct xdp_md *ctx, __u32 worker, void *ring)
{
	struct xagg_head *head = head_of(ctx);
	struct xdp_flow *f = &state.flow[worker];
	struct grad *to;
	__u64 *got;
	__u32 key;

	if (!head)
		return XDP_PASS;
	key = worker * choice.stride + head->idx;
	to = bpf_map_lookup_elem(&results, &key);
	if (!to || !f->per_round || !f->inflight)
		return XDP_DROP;
	copy(to, head + 1);
	/* Programs of one device do not run at once. */
	got = &f->got[(head->seq - f->first) / f->per_round % f->inflight % XDP_INFLIGHT];
	++*got;
	if (++f->taken % XDP_WAKE == 0 || *got % f->per_round == 0)
		bpf_ringbuf_output(ring, &key, sizeof(key), 0);
	return XDP_DROP;
}

/* One frame for each run: the next fragment of the gradient. */
static __always_inline int send(struct xdp_md *ctx, __u32 worker)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct xagg_head *head = data + XDP_HEADERS;
	struct xdp_flow *f = &state.flow[worker];
	struct grad *from;
	__u32 key, idx;

	if (data + SIZE > end || !f->per_round || !f->inflight)
		return XDP_ABORTED;
	idx = f->sent % (f->per_round * f->inflight);
	key = worker * choice.stride + idx;
	from = bpf_map_lookup_elem(&contributions, &key);
	if (!from)
		return XDP_ABORTED;
	head->id = 1 << worker;
	head->idx = idx;
	head->seq = f->first + f->sent;
	copy(head + 1, from);
	f->sent++;
	return bpf_redirect_map(&workers, worker, 0);
}

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

#define WORKER(n)					\
struct ring ring##n SEC(".maps");			\
SEC("xdp.frags") int xdp_result##n(struct xdp_md *ctx)	\
{							\
	return result(ctx, n, &ring##n);		\
}							\
SEC("xdp") int xdp_send##n(struct xdp_md *ctx)		\
{							\
	return send(ctx, n);				\
}

WORKER(0)
WORKER(1)
WORKER(2)
WORKER(3)

char _license[] SEC("license") = "GPL";
