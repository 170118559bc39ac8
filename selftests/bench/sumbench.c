// SPDX-License-Identifier: GPL-2.0
/*
 * Nanoseconds to add a fragment of 256 elements, with the module's own code
 * compiled for user space. Not in it: what the kernel takes to make vector
 * registers usable, once for a batch of fragments.
 *
 * Four ways to reach contributions and slots: always the same one; 512 of each
 * in turn; more than the caches hold, in turn; the same, but slots in random
 * order. "b += a" is a plain loop over 32-bit integers that need not saturate, as
 * the compiler makes it: about what memory allows. "int32 add, copy" copies each sum
 * to another place afterwards, as what goes on is copied into a packet; "int32 add to
 * both" stores it to both places at once. Printed is the least of seven measurements,
 * as others may use the machine, too.
 *
 * usage: sumbench [MEGABYTES of contributions, and at least as much of slots]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sum.h"

#define COUNT	256
#define REPEATS	7
#define NS	60000000	/* of one measurement */

enum { ADD, ADD_WIDE, ADD_COPY, ADD_BOTH, FINISH, PLAIN };

static const struct row {
	const char *name;
	u8 dtype;
	int op;
} rows[] = {
	{ "b += a", INA_DTYPE_INT32, PLAIN },
	{ "int32 add", INA_DTYPE_INT32, ADD },
	{ "int32 add, copy", INA_DTYPE_INT32, ADD_COPY },
	{ "int32 add to both", INA_DTYPE_INT32, ADD_BOTH },
	{ "fp32 add", INA_DTYPE_FP32, ADD },
	{ "bf16 add", INA_DTYPE_BF16, ADD },
	{ "bf16 finish", INA_DTYPE_BF16, FINISH },
	{ "fixed add", INA_DTYPE_FIXED, ADD },
	{ "fixed finish", INA_DTYPE_FIXED, FINISH },
	{ "fixed add wide", INA_DTYPE_FIXED, ADD_WIDE },
};

static const char * const ways[] = { "hot", "512", "memory", "scattered" };

static u8 *contributions, *slots, *packets;
static u32 *order;	/* of the slots */
static unsigned int total;

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

__attribute__((noinline, optimize("O3"), INA_SHIM_VECTOR))
static void plain(u32 *restrict b, const u32 *restrict a)
{
	for (int i = 0; i < COUNT; i++)
		b[i] += a[i];
}

static volatile s32 saturated;	/* looked at, so that it is not left out */

__attribute__((noinline, INA_SHIM_VECTOR))
static void both(u8 *acc, u8 *packet, const u8 *src)
{
	typedef s32 v __attribute__((vector_size(32), aligned(1), may_alias));
	v over = { 0 };

#pragma GCC unroll 4
	for (size_t i = 0; i < COUNT * sizeof(s32); i += sizeof(v)) {
		v a = *(v *)(acc + i), b = *(const v *)(src + i), sum = a + b;

		over |= (a ^ sum) & (b ^ sum);
		*(v *)(acc + i) = sum;
		*(v *)(packet + i) = sum;
	}
	saturated = over[0] | over[1] | over[2] | over[3] | over[4] | over[5] | over[6] | over[7];
}

/* Small numbers, so that nothing saturates and nothing is denormal. */
static void fill(const struct row *row)
{
	unsigned int size = row->op == ADD_WIDE ? ina_sum_wide(row->dtype) :
						  ina_sum_narrow(row->dtype);
	size_t i;

	for (i = 0; i < (size_t)total * COUNT * 4 / size; i++) {
		float value = (rand() - RAND_MAX / 2) / (float)RAND_MAX;
		s64 bits = 0;

		memcpy(&bits, &value, sizeof(value));
		if (size == 8 || row->dtype == INA_DTYPE_INT32)
			bits = value * 100;
		if (row->dtype == INA_DTYPE_BF16)
			bits >>= 16;
		memcpy(contributions + i * size, &bits, size);
	}
	memset(slots, 0, (size_t)total * COUNT * ina_sum_wide(row->dtype));
}

static void one(const struct ina_sum_ctx *ctx, const struct row *row,
		unsigned int from, unsigned int to)
{
	const struct ina_sum_type type = { row->dtype, -30 };
	size_t in = COUNT * ina_sum_narrow(row->dtype);
	size_t wide = COUNT * ina_sum_wide(row->dtype);
	void *src = contributions + from * in, *acc = slots + to * wide;
	void *copy = packets + from * in;
	static u8 packet[COUNT * 8];

	switch (row->op) {
	case PLAIN:
		plain(acc, src);
		break;
	case ADD:
		ina_sum_add(ctx, &type, acc, src, COUNT);
		break;
	case ADD_COPY:
		ina_sum_add(ctx, &type, acc, src, COUNT);
		memcpy(copy, acc, wide);
		break;
	case ADD_BOTH:
		both(acc, copy, src);
		break;
	case ADD_WIDE:	/* half as many contributions, twice as large */
		src = contributions + from / 2 * wide;
		ina_sum_add_wide(ctx, &type, acc, src, COUNT);
		break;
	default:
		ina_sum_finish(ctx, &type, packet, acc, COUNT);
	}
}

static double measure(const struct row *row, unsigned int way, bool simd)
{
	unsigned int n = way == 0 ? 1 : way == 1 ? 512 : total, i = 0, k;
	struct ina_sum_ctx ctx;
	u64 start, end, done = 0;

	ina_sum_begin_as(&ctx, simd);
	start = now();
	do {
		for (k = 0; k < 512; k++, done++) {
			one(&ctx, row, i, way == 3 ? order[i] : i);
			i = i + 1 < n ? i + 1 : 0;
		}
		end = now();
	} while (end - start < NS);
	ina_sum_end(&ctx);
	return (double)(end - start) / done;
}

static void report(const struct row *row, bool simd)
{
	unsigned int way, i;
	double ns, least;

	printf("%-17s %-8s", row->name, row->op == PLAIN || row->op == ADD_BOTH ? "compiler" :
	       simd ? INA_SIMD_NAME : "integer");
	for (way = 0; way < ARRAY_SIZE(ways); way++) {
		for (i = 0, least = 0; i < REPEATS; i++) {
			ns = measure(row, way, simd);
			least = !i || ns < least ? ns : least;
		}
		printf(" %9.1f", least);
		fflush(stdout);
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	size_t bytes = (argc > 1 ? atol(argv[1]) : 256) << 20;
	unsigned int i;

	total = bytes / (COUNT * 4);
	contributions = aligned_alloc(64, bytes);
	slots = aligned_alloc(64, 2 * bytes);
	packets = aligned_alloc(64, bytes);
	order = malloc(total * sizeof(*order));
	if (!contributions || !slots || !packets || !order || total < 512)
		return 1;
	for (i = 0; i < total; i++) {
		unsigned int j = rand() % (i + 1), was = order[j];

		order[j] = i;
		order[i] = was;
	}
	printf("%-26s", "ns per 256 elements");
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		printf(" %9s", ways[i]);
	putchar('\n');
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].op != FINISH)	/* what the row before summed */
			fill(&rows[i]);
		report(&rows[i], false);
		if (rows[i].op != PLAIN && rows[i].op != ADD_BOTH && ina_simd_present())
			report(&rows[i], true);
	}
	return 0;
}
