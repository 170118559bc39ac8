// SPDX-License-Identifier: GPL-2.0
/*
 * What the receive path calls: the rest of the kernel, as little of it as is
 * reached, and the rest of the module, which is not reached or is not measured.
 */
#include "event.h"
#include "fail.h"
#include "member.h"
#include "net.h"
#include "rx.h"
#include "rxbench.h"
#include "tx.h"
#include "worker.h"
#include "xmit.h"

__thread int ina_shim_bh;
__thread long ina_shim_cpu;
bool ina_shim_simd;
unsigned long jiffies;
unsigned long rx_failed;

unsigned long find_next_bit(const unsigned long *map, unsigned long size,
			    unsigned long at)
{
	for (; at < size; at++)
		if (test_bit(at, map))
			return at;
	return size;
}

void bitmap_zero(unsigned long *map, unsigned int bits)
{
	memset(map, 0, BITS_TO_LONGS(bits) * sizeof(long));
}

void bitmap_and(unsigned long *to, const unsigned long *a,
		const unsigned long *b, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(bits); i++)
		to[i] = a[i] & b[i];
}

void bitmap_clear(unsigned long *map, unsigned int first, unsigned int bits)
{
	for (; bits >= 64 && !(first % 64); bits -= 64, first += 64)
		map[BIT_WORD(first)] = 0;
	for (; bits; bits--, first++)
		map[BIT_WORD(first)] &= ~BIT(first % 64);
}

/* As the kernel does: a word at a time. */
void bitmap_set(unsigned long *map, unsigned int first, unsigned int bits)
{
	unsigned int n;

	for (; bits; bits -= n, first += n) {
		n = min(bits, 64 - first % 64);
		map[BIT_WORD(first)] |= (~0UL >> (64 - n)) << first % 64;
	}
}

bool bitmap_empty(const unsigned long *map, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < bits / 64; i++)
		if (map[i])
			return false;
	return !(bits % 64) || !(map[i] & (BIT(bits % 64) - 1));
}

/* The caller's, and used again. */
void consume_skb(struct sk_buff *skb)
{
}

struct ina_job *ina_job_find(struct ina_net *inet, u32 id)
{
	return inet->jobs.entry;
}

/* What is queued is not sent. */
void ina_tx_queue(struct ina_node *node, u32 slot, u32 count, u8 way)
{
}

void ina_tx_run(struct ina_node *node, int budget)
{
}

/* Work is queued if it is not already. */
void ina_node_kick(struct ina_node *node)
{
	if (!test_bit(0, &node->tx.busy))
		set_bit(0, &node->tx.busy);
}

void ina_node_tick_in(struct ina_node *node, unsigned int ms)
{
}

void ina_node_tick(struct ina_node *node)
{
}

/* Only without the lock of a slot. */
bool ina_fail_round(struct ina_node *node, const struct ina_tag *tag,
		    const struct ina_blame *blame)
{
	__atomic_fetch_add(&rx_failed, 1, __ATOMIC_RELAXED);
	return false;
}

/* Nothing is lost. */
u64 ina_path_lost(const struct ina_peer *peer)
{
	return 0;
}

/* Never reached: nobody fails, is late, joins, or is a local worker. */
#define NEVER(type, name, ...)						\
type name(__VA_ARGS__)							\
{									\
	fputs(#name " was called\n", stderr);				\
	abort();							\
}

NEVER(int, skb_copy_bits, const struct sk_buff *skb, int offset, void *to, int len)
NEVER(void, kfree_skb, struct sk_buff *skb)
NEVER(u32, crc32c, u32 crc, const void *data, unsigned int len)
NEVER(int, ina_node_child_from, const struct ina_node *node,
      const struct in6_addr *addr)
NEVER(void, ina_event_send, struct net *net, const struct ina_event *event,
      const char *fmt, ...)
NEVER(bool, ina_fail_round_locked, struct ina_node *node,
      const struct ina_tag *tag, const struct ina_blame *blame)
NEVER(int, ina_rx_control, struct ina_node *node, struct ina_pkt *pkt,
      const struct ina_rx_info *info)
NEVER(void, ina_member_stranger, struct ina_node *node, struct ina_child *child)
NEVER(void, ina_xmit_stranger, struct ina_node *node, const struct in6_addr *to,
      const struct ina_join_hdr *join)
NEVER(void, ina_worker_give_up, struct ina_worker *worker, u64 first, u64 below,
      const struct ina_blame *blame)
NEVER(void, ina_worker_round_end, struct ina_worker *worker,
      const struct ina_round *round, u16 flags)
NEVER(void, ina_worker_base, struct ina_worker *worker)
NEVER(bool, ina_path_is_added, const struct ina_peer *peer,
      const struct in6_addr *addr)
NEVER(bool, ina_path_is_extra, const struct ina_node *node,
      const struct in6_addr *addr)
