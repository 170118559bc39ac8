// SPDX-License-Identifier: GPL-2.0
/*
 * Every operation on every type: integer-only against exact numbers, vector
 * registers against integer-only, bit for bit, with what is around the elements
 * left alone.
 */
#include <linux/bottom_half.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "sum.h"
#include "sum_exact.h"
#include "test_random.h"

#define SUM_TEST_GUARD	0x5a

enum sum_test_op {
	SUM_TEST_STORE,
	SUM_TEST_STORE_WIDE,
	SUM_TEST_ADD,
	SUM_TEST_ADD_WIDE,
	SUM_TEST_FINISH,
	SUM_TEST_OPS,
};

/**
 * struct sum_test_side - what one implementation makes of it
 * @acc: sums
 * @dst: what is made of the sums
 * @flags: what the operation returned
 */
struct sum_test_side {
	u64 acc[INA_FRAGMENT_MAX + 1];
	u8 dst[(INA_FRAGMENT_MAX + 2) * 8];
	u16 flags;
};

/**
 * struct sum_test - one operation
 * @type: of the elements
 * @hostile: the control register is set to the worst before
 * @rnd: random numbers
 * @was: sums before
 * @src: contribution
 * @side: integer-only, vector registers
 */
struct sum_test {
	struct ina_sum_type type;
	bool hostile;
	struct rnd_state rnd;
	u64 was[INA_FRAGMENT_MAX];
	u8 src[(INA_FRAGMENT_MAX + 1) * 8];
	struct sum_test_side side[2];
};

static const u32 sum_test_edges[] = {
	0x00000000, 0x00000001, 0x00000002, 0x007fffff, 0x00800000, 0x00800001,
	0x33000000, 0x33800000, 0x33800001, 0x34000000, 0x3f7fffff, 0x3f800000,
	0x3f800001, 0x4b000001, 0x4b7fffff, 0x4b800000, 0x4cbebc20, 0x5effffff,
	0x5f000000, 0x73000000, 0x73800000, 0x7f000000, 0x7f7ffffe, 0x7f7fffff,
	0x7f800000, 0x7f800001, 0x7fa00000, 0x7fc00000, 0x7fc12345, 0x7fffffff,
	0x3f808000, 0x3f818000, 0x3f808001, 0x7f7f8000, 0x00008000, 0x00018000,
	0x3e800000, 0x3effffff, 0x3f000000, 0x3f000001, 0x3fc00000, 0x3f400000,
};

/* Of 64 bits; no more than of the others, with which they are paired. */
static const s64 sum_test_wide_edges[] = {
	0, 1, 2, 0xffffff, 0x1000000, 0x1000001, 0x1000003,
	(1LL << 44) - 1, 1LL << 44, (1LL << 45) - 1, 1LL << 45, (1LL << 53) + 1,
	0x4000000000000000, 0x4000004000000000, 0x4000004000000001,
	0x4000004000000400, 0x400000c000000000, 0x7fffffbfffffffff, 0x7fffffc000000000,
	S64_MAX - 1, S64_MAX,
};

static u32 sum_test_edge(unsigned int i)
{
	return sum_test_edges[i / 2] | (i & 1 ? 0x80000000 : 0);
}

/* An edge in so many bytes. */
static u64 sum_test_edge_of(unsigned int size, unsigned int i)
{
	if (size == 8)
		return sum_test_wide_edges[i / 2 % ARRAY_SIZE(sum_test_wide_edges)] ^
		       -(s64)(i & 1);
	return sum_test_edge(i) >> (size == 2 ? 16 : 0);
}

/* An fp32: anything, near each other, near the unit of fixed, small, large. */
static u32 sum_test_f32(struct sum_test *t)
{
	u32 a = prandom_u32_state(&t->rnd), e;

	switch (ina_test_below(&t->rnd, 8)) {
	case 0:
		return a;
	case 1:
		return sum_test_edge(a % (2 * ARRAY_SIZE(sum_test_edges)));
	case 2:
		e = a % 4;
		break;
	case 3:
		e = 250 + a % 6;
		break;
	case 4:
	case 5:
		e = clamp(115 + t->type.exponent + (int)(a % 80), 0, 254);
		break;
	default:
		e = 115 + a % 24;
	}
	/* Few bits, so that sums are often halfway. */
	a = prandom_u32_state(&t->rnd);
	return (a & 0x807fffff & ~0U << (a >> 24) % 23) | e << 23;
}

static s64 sum_test_s64(struct sum_test *t)
{
	u64 a = (u64)prandom_u32_state(&t->rnd) << 32 |
		prandom_u32_state(&t->rnd);
	unsigned int shift = ina_test_below(&t->rnd, 64);

	switch (ina_test_below(&t->rnd, 8)) {
	case 0:
		return (s64)(1ULL << shift) - (s64)(a % 3) + 1;
	case 1:	/* halfway between two fp32 */
		return (s64)((a | 1ULL << 63) >> 39 << 39 | 1ULL << 38) >> shift;
	default:
		return (s64)a >> shift;
	}
}

/* A partial sum; an fp32 in it is never another NaN than the one. */
static u64 sum_test_wide(struct sum_test *t)
{
	u32 a;

	if (t->type.dtype == INA_DTYPE_FIXED)
		return sum_test_s64(t);
	if (t->type.dtype == INA_DTYPE_INT32)
		return (u32)(sum_test_s64(t) >> 31);
	a = sum_test_f32(t);
	return sum_exact_is_nan(a) ? 0x7fc00000 : a;
}

static u64 sum_test_narrow(struct sum_test *t)
{
	if (t->type.dtype == INA_DTYPE_INT32)
		return sum_test_wide(t);
	return sum_test_f32(t) >> (t->type.dtype == INA_DTYPE_BF16 ? 16 : 0);
}

static u64 sum_test_get(const void *p, unsigned int size, unsigned int i)
{
	switch (size) {
	case 2:
		return get_unaligned_le16(p + 2 * i);
	case 4:
		return get_unaligned_le32(p + 4 * i);
	default:
		return get_unaligned_le64(p + 8 * i);
	}
}

static void sum_test_put(void *p, unsigned int size, unsigned int i, u64 value)
{
	switch (size) {
	case 2:
		return put_unaligned_le16(value, p + 2 * i);
	case 4:
		return put_unaligned_le32(value, p + 4 * i);
	default:
		return put_unaligned_le64(value, p + 8 * i);
	}
}

static bool sum_test_adds(unsigned int op)
{
	return op == SUM_TEST_ADD || op == SUM_TEST_ADD_WIDE;
}

/* Size of an element of the source, 0 if the operation has none. */
static unsigned int sum_test_in(const struct sum_test *t, unsigned int op)
{
	if (op == SUM_TEST_FINISH)
		return 0;
	if (op == SUM_TEST_STORE_WIDE || op == SUM_TEST_ADD_WIDE)
		return ina_sum_wide(t->type.dtype);
	return ina_sum_narrow(t->type.dtype);
}

/* Size of an element of what is made of the sums, 0 if that is nothing. */
static unsigned int sum_test_out(const struct sum_test *t, unsigned int op)
{
	return op == SUM_TEST_FINISH ? ina_sum_narrow(t->type.dtype) : 0;
}

static void sum_test_exact(struct kunit *test, unsigned int op,
			   const void *src, const void *dst,
			   unsigned int count)
{
	struct sum_test *t = test->priv;
	unsigned int wide = ina_sum_wide(t->type.dtype), i;
	unsigned int in = sum_test_in(t, op), out = sum_test_out(t, op);
	u16 flags = 0;
	u64 a, b;

	for (i = 0; i < count; i++) {
		a = sum_test_get(t->was, wide, i);
		b = in ? sum_exact_widen(&t->type, in == wide,
					 sum_test_get(src, in, i), &flags) : a;
		if (sum_test_adds(op))
			b = sum_exact_add(&t->type, a, b, &flags);
		KUNIT_ASSERT_EQ_MSG(test, sum_test_get(t->side[0].acc, wide, i),
				    b, "op %u of type %u on %llx, exponent %d",
				    op, t->type.dtype, a, t->type.exponent);
		if (!out)
			continue;
		b = sum_exact_finish(&t->type, b);
		KUNIT_ASSERT_EQ_MSG(test, sum_test_get(dst, out, i), b,
				    "op %u of type %u on %llx, exponent %d",
				    op, t->type.dtype, a, t->type.exponent);
	}
	KUNIT_ASSERT_EQ(test, t->side[0].flags, flags);
}

/* Denormals are 0, rounding is towards 0, and all that can happen has. */
static void sum_test_hostile(void)
{
	struct ina_simd_state state;

	ina_simd_begin(&state);
#if defined(CONFIG_X86_64)
	asm volatile("ldmxcsr %0" :: "m" ((u32){ 0xffc0 }));
#elif defined(CONFIG_ARM64)
	write_sysreg(0x03c00000, fpcr);
	write_sysreg(0x0800009f, fpsr);
#endif
	ina_simd_end(&state);
}

static void sum_test_run(struct kunit *test, bool simd, unsigned int op,
			 const void *src, unsigned int offset,
			 unsigned int count)
{
	struct sum_test *t = test->priv;
	struct sum_test_side *side = &t->side[simd];
	const struct ina_sum_type *type = &t->type;
	void *acc = side->acc, *dst = side->dst + offset;
	struct ina_sum_ctx ctx;

	side->flags = 0;
	local_bh_disable();
	if (t->hostile)
		sum_test_hostile();
	ina_sum_begin_as(&ctx, simd);
	if (op == SUM_TEST_STORE)
		side->flags = ina_sum_store(&ctx, type, acc, src, count);
	else if (op == SUM_TEST_STORE_WIDE)
		side->flags = ina_sum_store_wide(&ctx, type, acc, src, count);
	else if (op == SUM_TEST_ADD)
		side->flags = ina_sum_add(&ctx, type, acc, src, count);
	else if (op == SUM_TEST_ADD_WIDE)
		side->flags = ina_sum_add_wide(&ctx, type, acc, src, count);
	else
		ina_sum_finish(&ctx, type, dst, acc, count);
	ina_sum_end(&ctx);
	local_bh_enable();
	KUNIT_ASSERT_EQ(test, ctx.simd, simd);
}

/* Nothing but the elements has been written to. */
static void sum_test_guards(struct kunit *test, unsigned int op,
			    unsigned int offset, unsigned int count)
{
	struct sum_test *t = test->priv;
	struct sum_test_side *side = t->side;
	unsigned int acc = count * ina_sum_wide(t->type.dtype);
	unsigned int end = offset + count * sum_test_out(t, op);

	KUNIT_ASSERT_NULL(test, memchr_inv((u8 *)side->acc + acc,
					   SUM_TEST_GUARD,
					   sizeof(side->acc) - acc));
	KUNIT_ASSERT_NULL(test, memchr_inv(side->dst, SUM_TEST_GUARD, offset));
	KUNIT_ASSERT_NULL(test, memchr_inv(side->dst + end, SUM_TEST_GUARD,
					   sizeof(side->dst) - end));
}

/* One operation on random elements. */
static void sum_test_step(struct kunit *test, bool simd, bool exact,
			  unsigned int op, unsigned int count)
{
	struct sum_test *t = test->priv;
	unsigned int wide = ina_sum_wide(t->type.dtype), i;
	unsigned int in = sum_test_in(t, op), at = prandom_u32_state(&t->rnd);
	void *src = t->src + at % 8;

	at = at / 8 % 8;
	memset(t->side, SUM_TEST_GUARD, sizeof(t->side));
	for (i = 0; i < count; i++) {
		sum_test_put(t->was, wide, i, sum_test_wide(t));
		if (in)
			sum_test_put(src, in, i, in == wide ?
				     sum_test_wide(t) : sum_test_narrow(t));
	}
	memcpy(t->side[0].acc, t->was, wide * count);
	memcpy(t->side[1].acc, t->was, wide * count);
	sum_test_run(test, false, op, src, at, count);
	sum_test_guards(test, op, at, count);
	if (exact)
		sum_test_exact(test, op, src, t->side[0].dst + at, count);
	if (!simd)
		return;
	sum_test_run(test, true, op, src, at, count);
	KUNIT_ASSERT_EQ_MSG(test, memcmp(&t->side[0], &t->side[1],
					 sizeof(t->side[0])), 0,
			    "op %u of type %u, %u elements, flags %x %x", op,
			    t->type.dtype, count, t->side[0].flags,
			    t->side[1].flags);
}

/* All operations on all types, with these numbers of elements. */
static void sum_test_all(struct kunit *test, bool simd, bool exact,
			 unsigned int from, unsigned int to)
{
	struct sum_test *t = test->priv;
	unsigned int count, op;
	u8 dtype;

	for (count = from; count <= to; count++) {
		for (dtype = 0; dtype <= INA_DTYPE_FIXED; dtype++) {
			t->type.dtype = dtype;
			t->type.exponent = INA_FIXED_EXPONENT_MIN +
				ina_test_below(&t->rnd, 1 - INA_FIXED_EXPONENT_MIN +
					       INA_FIXED_EXPONENT_MAX);
			if (dtype != INA_DTYPE_FIXED || count & 1)
				t->type.exponent = -30;
			for (op = 0; op < SUM_TEST_OPS; op++)
				sum_test_step(test, simd, exact, op, count);
		}
	}
}

static void sum_test_need_simd(struct kunit *test)
{
	if (!INA_SIMD_BUILT || !ina_simd_present())
		kunit_skip(test, "the CPU has no " INA_SIMD_NAME);
}

static void choose__words(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ina_sum_choose("auto", true), 1);
	KUNIT_EXPECT_EQ(test, ina_sum_choose("auto", false), 0);
	KUNIT_EXPECT_EQ(test, ina_sum_choose("off", true), 0);
	KUNIT_EXPECT_EQ(test, ina_sum_choose(INA_SIMD_NAME, true), 1);
	KUNIT_EXPECT_EQ(test, ina_sum_choose(INA_SIMD_NAME, false),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ina_sum_choose("avx2", true) +
			ina_sum_choose("neon", true), 1 - EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ina_sum_choose("sse", true), -EINVAL);
	KUNIT_EXPECT_EQ(test, ina_sum_choose("", true), -EINVAL);
}

static void begin__hostile(struct kunit *test)
{
	struct sum_test *t = test->priv;

	sum_test_need_simd(test);
	t->hostile = true;
	sum_test_all(test, true, true, 60, 64);
}

static void scalar__exact(struct kunit *test)
{
	sum_test_all(test, false, true, 1, 40);
}

static void simd__exact(struct kunit *test)
{
	sum_test_need_simd(test);
	sum_test_all(test, true, true, 1, 40);
}

/* Every tail and, with so many operations, every alignment. */
static void simd__tails(struct kunit *test)
{
	static const unsigned int large[] = { 255, 256, 257, 1000, 2047, 2048 };
	unsigned int i;

	sum_test_need_simd(test);
	for (i = 0; i < 4; i++)
		sum_test_all(test, true, false, 1, 64);
	for (i = 0; i < ARRAY_SIZE(large); i++)
		sum_test_all(test, true, false, large[i], large[i]);
}

#define SUM_TEST_ROW	43	/* blocks, vectors and a tail of all implementations */

/*
 * The same pair in every third element, so that it gets into each lane; zeros
 * between, so that the flags are those of the pair.
 */
static void sum_test_pair(struct kunit *test, unsigned int op, unsigned int i,
			  unsigned int j, bool simd)
{
	struct sum_test *t = test->priv;
	unsigned int wide = ina_sum_wide(t->type.dtype), in = sum_test_in(t, op);
	struct sum_test_side *side = t->side;
	u64 was = sum_exact_widen(&t->type, true, sum_test_edge_of(wide, i), NULL);
	u64 add = in ? sum_test_edge_of(in, j) : 0;
	unsigned int k;

	memset(t->was, 0, SUM_TEST_ROW * 8);
	memset(t->src, 0, SUM_TEST_ROW * 8);
	for (k = 0; k < SUM_TEST_ROW; k += 3) {
		sum_test_put(t->was, wide, k, was);
		if (in)
			sum_test_put(t->src, in, k, add);
	}
	for (k = 0; k <= simd; k++) {
		memcpy(side[k].acc, t->was, SUM_TEST_ROW * 8);
		sum_test_run(test, k, op, t->src, 0, SUM_TEST_ROW);
	}
	sum_test_exact(test, op, t->src, side[0].dst, 1);
	if (!simd)
		return;
	KUNIT_ASSERT_EQ_MSG(test, side[1].flags, side[0].flags,
			    "flags of op %u of type %u on %llx and %llx, exponent %d",
			    op, t->type.dtype, was, add, t->type.exponent);
	KUNIT_ASSERT_EQ_MSG(test, memcmp(side[0].acc, side[1].acc, SUM_TEST_ROW * 8) |
			    memcmp(side[0].dst, side[1].dst, SUM_TEST_ROW * 4), 0,
			    "op %u of type %u on %llx and %llx, exponent %d",
			    op, t->type.dtype, was, add, t->type.exponent);
}

/* Every edge on every edge; what does not add takes but one of them. */
static void add__edges(struct kunit *test)
{
	static const struct ina_sum_type types[] = {
		{ INA_DTYPE_INT32 }, { INA_DTYPE_FP32 }, { INA_DTYPE_BF16 },
		{ INA_DTYPE_FIXED, INA_FIXED_EXPONENT_MIN }, { INA_DTYPE_FIXED, -24 },
		{ INA_DTYPE_FIXED, 0 }, { INA_DTYPE_FIXED, INA_FIXED_EXPONENT_MAX },
	};
	const unsigned int n = 2 * ARRAY_SIZE(sum_test_edges);
	bool simd = INA_SIMD_BUILT && ina_simd_present();
	struct sum_test *t = test->priv;
	unsigned int i, j, op;

	for (i = 0; i < ARRAY_SIZE(types) * n; i++) {
		t->type = types[i / n];
		cond_resched();
		for (j = 0; j < n; j++) {
			for (op = 0; op < SUM_TEST_OPS; op++) {
				if (sum_test_adds(op) || i % n == j)
					sum_test_pair(test, op, i % n, j, simd);
			}
		}
	}
}

/* One element with a flag among those without, wherever it is. */
/* With a unit of 2^-30. */
static const struct {
	u8 dtype;
	u32 was, add;
	u16 flags;
} sum_test_flags[] = {
	{ INA_DTYPE_INT32, S32_MAX, 1, INA_F_OVERFLOW },
	{ INA_DTYPE_INT32, S32_MIN, -1, INA_F_OVERFLOW },
	{ INA_DTYPE_INT32, S32_MAX, 0, 0 },
	{ INA_DTYPE_FP32, 0x7f7fffff, 0x7f7fffff, 0 },
	{ INA_DTYPE_FP32, 0x3f800000, 0x00000001, 0 },
	{ INA_DTYPE_FP32, 0x7f800000, 0xff800000, 0 },
	{ INA_DTYPE_FIXED, 0, 0x30000000, INA_F_INEXACT }, /* 2^-31 */
	{ INA_DTYPE_FIXED, 0, 0x30800000, 0 },
	{ INA_DTYPE_FIXED, 0, 0x50000000, INA_F_OVERFLOW }, /* 2^33 */
	{ INA_DTYPE_FIXED, 0, 0xd0000000, INA_F_OVERFLOW },
	{ INA_DTYPE_FIXED, 0, 0x4fffffff, 0 },
	{ INA_DTYPE_FIXED, 0x4fffffff, 0x44000000, INA_F_OVERFLOW },
	{ INA_DTYPE_FIXED, 0, 0x7f800000, INA_F_OVERFLOW },
	{ INA_DTYPE_FIXED, 0, 0xffc00001, INA_F_OVERFLOW },
};

static void add__flags(struct kunit *test)
{
	bool simd = INA_SIMD_BUILT && ina_simd_present();
	struct sum_test *t = test->priv;
	unsigned int i, at, side;

	for (i = 0; i < ARRAY_SIZE(sum_test_flags) * 33; i++) {
		t->type = (struct ina_sum_type){ sum_test_flags[i / 33].dtype, -30 };
		at = i % 33;
		for (side = 0; side <= simd; side++) {
			memset(t->src, 0, 33 * 4);
			put_unaligned_le32(sum_test_flags[i / 33].was, t->src + 4 * at);
			sum_test_run(test, side, SUM_TEST_STORE, t->src, 0, 33);
			put_unaligned_le32(sum_test_flags[i / 33].add, t->src + 4 * at);
			sum_test_run(test, side, SUM_TEST_ADD, t->src, 0, 33);
			KUNIT_EXPECT_EQ_MSG(test, t->side[side].flags,
					    sum_test_flags[i / 33].flags,
					    "case %u, element %u", i / 33, at);
		}
	}
}

/* One case of sum_test_flags. Return: the flags of its addition. */
static u16 sum_test_flag(struct sum_test *t, const struct ina_sum_ctx *ctx,
			 unsigned int i)
{
	struct ina_sum_type type = { sum_test_flags[i].dtype, -30 };
	void *acc = t->side[ctx->simd].acc;

	memset(t->src, 0, 32 * 4);
	put_unaligned_le32(sum_test_flags[i].was, t->src);
	ina_sum_store(ctx, &type, acc, t->src, 32);
	put_unaligned_le32(sum_test_flags[i].add, t->src);
	return ina_sum_add(ctx, &type, acc, t->src, 32);
}

/* What one operation of a batch has met is not said of the next, whatever their types. */
static void add__flags_apart(struct kunit *test)
{
	bool simd = INA_SIMD_BUILT && ina_simd_present();
	const unsigned int n = ARRAY_SIZE(sum_test_flags);
	struct sum_test *t = test->priv;
	struct ina_sum_ctx ctx;
	unsigned int i, side;
	u16 flags;

	for (i = 0; i < 2 * n * n; i++) {
		side = i & simd;
		local_bh_disable();
		ina_sum_begin_as(&ctx, side);
		sum_test_flag(t, &ctx, i / 2 / n);
		flags = sum_test_flag(t, &ctx, i / 2 % n);
		ina_sum_end(&ctx);
		local_bh_enable();
		KUNIT_EXPECT_EQ_MSG(test, flags, sum_test_flags[i / 2 % n].flags,
				    "case %u after %u", i / 2 % n, i / 2 / n);
	}
}

/* 1e8, 1, -1e8 and 1 are 2 in every order; so are sums of sums. */
static void fixed__order(struct kunit *test)
{
	static const u32 values[] = { 0x4cbebc20, 0x3f800000, 0xccbebc20,
				      0x3f800000 };
	struct sum_test *t = test->priv;
	struct sum_test_side *side = t->side;
	unsigned int i, j;
	u16 order[4];
	u8 src[4];

	t->type = (struct ina_sum_type){ INA_DTYPE_FIXED, -30 };
	for (i = 0; i < 100; i++) {
		ina_test_shuffle(&t->rnd, order, 4);
		for (j = 0; j < 4; j++) {
			put_unaligned_le32(values[order[j]], src);
			sum_test_run(test, false, j ? SUM_TEST_ADD :
				     SUM_TEST_STORE, src, 0, 1);
			KUNIT_EXPECT_EQ(test, side->flags, 0);
		}
		sum_test_run(test, false, SUM_TEST_FINISH, NULL, 0, 1);
		KUNIT_EXPECT_EQ(test, get_unaligned_le32(side->dst),
				0x40000000);
	}
}

#define SUM_TEST_PARTS	40

/* Random contributions in two random orders, the second one as two sums. */
static void fixed__order_random(struct kunit *test)
{
	struct sum_test *t = test->priv;
	struct sum_test_side *side = t->side;
	bool simd = INA_SIMD_BUILT && ina_simd_present();
	u16 order[SUM_TEST_PARTS];
	unsigned int i, op;
	u64 want[16];

	t->type = (struct ina_sum_type){ INA_DTYPE_FIXED, -30 };
	for (i = 0; i < SUM_TEST_PARTS * 16; i++)
		sum_test_put(t->src, 4, i, (prandom_u32_state(&t->rnd) &
					    0x8fffffff) + 0x2e000000);
	for (i = 0; i < SUM_TEST_PARTS; i++)
		sum_test_run(test, false, i ? SUM_TEST_ADD : SUM_TEST_STORE,
			     t->src + 64 * i, 0, 16);
	memcpy(want, side->acc, sizeof(want));
	ina_test_shuffle(&t->rnd, order, SUM_TEST_PARTS);
	for (i = 0; i < SUM_TEST_PARTS; i++) {
		op = i % (SUM_TEST_PARTS / 2) ? SUM_TEST_ADD : SUM_TEST_STORE;
		if (i == SUM_TEST_PARTS / 2)
			memcpy(side->dst, side[simd].acc, sizeof(want));
		sum_test_run(test, simd, op, t->src + 64 * order[i], 0, 16);
	}
	sum_test_run(test, simd, SUM_TEST_ADD_WIDE, side->dst, 0, 16);
	KUNIT_EXPECT_EQ(test, memcmp(want, side[simd].acc, sizeof(want)), 0);
}

/* A result may take the place of the sum it is made of. */
static void finish__in_place(struct kunit *test)
{
	bool simd = INA_SIMD_BUILT && ina_simd_present();
	struct sum_test *t = test->priv;
	struct sum_test_side *side = t->side;
	struct ina_sum_ctx ctx;
	unsigned int count, i;

	t->type.exponent = -30;
	for (count = 0; count < 4 * 100; count++) {
		t->type.dtype = count % 4;
		for (i = 0; i < count / 4; i++)
			sum_test_put(side->acc, ina_sum_wide(t->type.dtype), i,
				     sum_test_wide(t));
		memcpy(side[1].acc, side->acc, sizeof(side->acc));
		sum_test_run(test, false, SUM_TEST_FINISH, NULL, 0, count / 4);
		for (i = 0; i <= simd; i++) {
			local_bh_disable();
			ina_sum_begin_as(&ctx, i);
			ina_sum_finish(&ctx, &t->type, side[i].acc, side[i].acc,
				       count / 4);
			ina_sum_end(&ctx);
			local_bh_enable();
			KUNIT_EXPECT_EQ(test,
					memcmp(side->dst, side[i].acc, count / 4 *
					       ina_sum_narrow(t->type.dtype)), 0);
		}
	}
}

static int sum_test_init(struct kunit *test)
{
	struct sum_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	ina_test_random(test, &t->rnd);
	return 0;
}

static struct kunit_case sum_test_cases[] = {
	KUNIT_CASE(choose__words),
	KUNIT_CASE(begin__hostile),
	KUNIT_CASE(scalar__exact),
	KUNIT_CASE(simd__exact),
	KUNIT_CASE(simd__tails),
	KUNIT_CASE(add__edges),
	KUNIT_CASE(add__flags),
	KUNIT_CASE(add__flags_apart),
	KUNIT_CASE(finish__in_place),
	KUNIT_CASE(fixed__order),
	KUNIT_CASE(fixed__order_random),
	{}
};

static struct kunit_suite sum_test_suite = {
	.name = "ina_sum",
	.init = sum_test_init,
	.test_cases = sum_test_cases,
};

kunit_test_suite(sum_test_suite);
