/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stand-ins for the receive path, included before each of its files: locks and
 * atomics are real ones, a CPU is a thread, and RCU is nothing, as nobody
 * frees. Names that only have to be known are empty. Headers of the kernel are
 * empty files that the Makefile makes.
 */
#ifndef _INA_SHIM_SOFTIRQ_H
#define _INA_SHIM_SOFTIRQ_H

#include <errno.h>
#include <linux/types.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Types and numbers. */
#define __percpu
#define __rcu
#define __printf(a, b)		__attribute__((format(printf, a, b)))
#define __must_hold(x)
#define ____cacheline_aligned	__attribute__((aligned(64)))
#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX
#define BITS_PER_LONG		64
#define BIT(n)			(1UL << (n))
#define BIT_WORD(n)		((n) / BITS_PER_LONG)
#define BITS_TO_LONGS(n)	DIV_ROUND_UP(n, BITS_PER_LONG)
#define GENMASK(h, l)		(~0UL >> (63 - (h)) & ~0UL << (l))
#define GENMASK_ULL		GENMASK
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define round_up(x, y)		(((x) + (y) - 1) & ~((y) - 1))
#define ALIGN(x, a)		round_up(x, (typeof(x))(a))
#define PAGE_SIZE		4096UL
#define PAGE_ALIGN(x)		ALIGN(x, PAGE_SIZE)
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define is_power_of_2(n)	((n) && !((n) & ((n) - 1)))
#define ilog2(n)		(63 - __builtin_clzl(n))
#define cpu_to_be16		__builtin_bswap16
#define cpu_to_be32		__builtin_bswap32
#define be16_to_cpu		__builtin_bswap16
#define be32_to_cpu		__builtin_bswap32
#define __ffs			__builtin_ctzl
#define get_unaligned_be16(p)	be16_to_cpu(get_unaligned_le16(p))
#define get_unaligned_be32(p)	be32_to_cpu(get_unaligned_le32(p))
#define DECLARE_BITMAP(name, bits)	unsigned long name[BITS_TO_LONGS(bits)]
#define MAX_ERRNO		4095
#define ERR_PTR(err)		((void *)(long)(err))
#define PTR_ERR(p)		((long)(p))
#define IS_ERR(p)		((unsigned long)(p) >= (unsigned long)-MAX_ERRNO)

/* As the kernel copies: gcc what is short, else one instruction, if there is one. */
static inline void *ina_shim_memcpy(void *dst, const void *src, size_t size)
{
#ifdef __x86_64__
	void *to = dst;

	asm volatile("rep movsb" : "+D" (to), "+S" (src), "+c" (size) :: "memory");
	return dst;
#else
	return memcpy(dst, src, size);
#endif
}

#define memcpy(dst, src, size)						\
	(__builtin_constant_p(size) && (size) <= 64 ?			\
	 __builtin_memcpy(dst, src, size) : ina_shim_memcpy(dst, src, size))

/* Memory order. */
#define barrier()		asm volatile("" ::: "memory")
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile typeof(x) *)&(x) = (v))
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define rcu_read_lock()
#define rcu_read_unlock()
#define rcu_dereference(p)	READ_ONCE(p)
#define rcu_access_pointer(p)	READ_ONCE(p)

#define xchg(p, v)		__atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define cmpxchg(p, old, new)						\
	({ typeof(*(p)) __old = (old);					\
	   __atomic_compare_exchange_n(p, &__old, new, false,		\
				       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); __old; })

typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;
typedef struct { long counter; } atomic_long_t;
typedef struct { int refs; } refcount_t;

#define atomic_add(i, v)		__atomic_add_fetch(&(v)->counter, i, __ATOMIC_RELAXED)
#define atomic_long_or(i, v)		__atomic_or_fetch(&(v)->counter, i, __ATOMIC_RELAXED)
#define atomic64_read(v)		READ_ONCE((v)->counter)
#define atomic64_read_acquire(v)	smp_load_acquire(&(v)->counter)
#define atomic64_set(v, i)		WRITE_ONCE((v)->counter, i)
#define atomic64_set_release(v, i)	smp_store_release(&(v)->counter, i)
#define atomic64_try_cmpxchg(v, old, new)				\
	__atomic_compare_exchange_n(&(v)->counter, old, new, false,	\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

/* Locks: one locked instruction to take, a store to give back. */
typedef struct { u32 taken; } spinlock_t;

static inline void spin_lock(spinlock_t *lock)
{
#ifndef INA_SHIM_NO_LOCK
	while (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE))
		while (READ_ONCE(lock->taken))
			barrier();
#endif
}

static inline void spin_unlock(spinlock_t *lock)
{
#ifndef INA_SHIM_NO_LOCK
	__atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
#endif
}

extern __thread int ina_shim_bh;	/* as the kernel counts them */
extern __thread long ina_shim_cpu;	/* offset of this CPU's part of what is per CPU */

#undef local_bh_disable
#undef local_bh_enable
#define local_bh_disable()	({ ina_shim_bh++; barrier(); })
#define local_bh_enable()	({ barrier(); ina_shim_bh--; })
#define spin_lock_init(lock)	((lock)->taken = 0)
#define spin_lock_bh(lock)	({ local_bh_disable(); spin_lock(lock); })
#define spin_unlock_bh(lock)	({ spin_unlock(lock); local_bh_enable(); })
#define lockdep_assert_held(lock)
#define lockdep_assert_in_softirq()

/* Per CPU. */
#define INA_SHIM_CPUS		2
#define INA_SHIM_PERCPU		16384
#define alloc_percpu(type)						\
	((type *)memset(aligned_alloc(64, INA_SHIM_CPUS * INA_SHIM_PERCPU), 0, \
			INA_SHIM_CPUS * INA_SHIM_PERCPU))
#define free_percpu		free
#define per_cpu_ptr(p, cpu)	((typeof(p))((char *)(p) + (cpu) * INA_SHIM_PERCPU))
#define this_cpu_ptr(p)		((typeof(p))((char *)(p) + ina_shim_cpu))
#define this_cpu_add(x, n)	(*this_cpu_ptr(&(x)) += (n))
#define this_cpu_inc(x)		this_cpu_add(x, 1)
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < INA_SHIM_CPUS; (cpu)++)

/* Bits. */
static inline void set_bit(long bit, unsigned long *map)
{
	__atomic_fetch_or(map + BIT_WORD(bit), BIT(bit % 64), __ATOMIC_SEQ_CST);
}

static inline bool test_and_clear_bit(long bit, unsigned long *map)
{
	return __atomic_fetch_and(map + BIT_WORD(bit), ~BIT(bit % 64),
				  __ATOMIC_SEQ_CST) & BIT(bit % 64);
}

static inline bool test_bit(long bit, const unsigned long *map)
{
	return READ_ONCE(map[BIT_WORD(bit)]) & BIT(bit % 64);
}

static inline void __set_bit(long bit, unsigned long *map)
{
	map[BIT_WORD(bit)] |= BIT(bit % 64);
}

static inline bool __test_and_set_bit(long bit, unsigned long *map)
{
	bool was = test_bit(bit, map);

	__set_bit(bit, map);
	return was;
}

unsigned long find_next_bit(const unsigned long *map, unsigned long size,
			    unsigned long at);
void bitmap_zero(unsigned long *map, unsigned int bits);
void bitmap_and(unsigned long *to, const unsigned long *a,
		const unsigned long *b, unsigned int bits);
void bitmap_clear(unsigned long *map, unsigned int first, unsigned int bits);
void bitmap_set(unsigned long *map, unsigned int first, unsigned int bits);
bool bitmap_empty(const unsigned long *map, unsigned int bits);

#define find_first_bit(map, size)	find_next_bit(map, size, 0)

/* Clocks. */
extern unsigned long jiffies;

#define msecs_to_jiffies(ms)	(ms)
#define jiffies_to_msecs(j)	(j)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)

static inline u64 ktime_get_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* A packet: no linear bytes but those of its head, page fragments behind. */
#define MAX_SKB_FRAGS		17
#define SKB_GSO_UDP_L4		1

struct page;

typedef struct {
	struct page *page;
	unsigned int off;
	unsigned int size;
} skb_frag_t;

struct skb_shared_info {
	u8 nr_frags;
	u16 gso_size;
	u32 gso_type;
	struct sk_buff *frag_list;
	skb_frag_t frags[MAX_SKB_FRAGS];
};

struct sk_buff {
	struct sk_buff *next;
	unsigned int len;
	unsigned int data_len;
	u8 *data;
	struct skb_shared_info *shared;
};

#define skb_shinfo(skb)		((skb)->shared)
#define skb_is_gso(skb)		((skb)->shared->gso_size)
#define skb_headlen(skb)	((skb)->len - (skb)->data_len)
#define skb_frag_size(frag)	((frag)->size)
#define skb_frag_page(frag)	((frag)->page)
#define skb_frag_address(frag)	((void *)(frag)->page + (frag)->off)
#define PageHighMem(page)	false

int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int len);
void consume_skb(struct sk_buff *skb);
void kfree_skb(struct sk_buff *skb);
u32 crc32c(u32 crc, const void *data, unsigned int len);

static inline bool ipv6_addr_equal(const struct in6_addr *a,
				   const struct in6_addr *b)
{
	const u64 *x = (const u64 *)a, *y = (const u64 *)b;

	return !((x[0] ^ y[0]) | (x[1] ^ y[1]));
}

/* A table of one job. */
struct xarray {
	void *entry;
};

/* What only has to be known. */
struct rcu_head { };
struct list_head { };
struct mutex { };
struct rw_semaphore { };
struct tasklet_struct { };
struct hrtimer { };
struct work_struct { };
struct delayed_work { };
struct dst_cache { };
struct timer_list { };
#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#define try_cmpxchg(p, old, new) \
	__atomic_compare_exchange_n(p, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
typedef unsigned int gfp_t;
struct wait_queue_entry { };
struct page_frag { };
struct net;
typedef struct { } wait_queue_head_t;
typedef unsigned int __poll_t;

void *net_generic(const struct net *net, unsigned int id);

#define TP_PROTO(...)		__VA_ARGS__
#define TRACE_EVENT(name, proto, ...)					\
static inline void trace_##name(proto)					\
{									\
}

/* Whether vector registers are usable is what a measurement chooses. */
extern bool ina_shim_simd;

#undef may_use_simd
#define may_use_simd()		ina_shim_simd

#endif /* _INA_SHIM_SOFTIRQ_H */
