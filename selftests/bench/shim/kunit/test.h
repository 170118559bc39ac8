/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Enough of KUnit to run a suite as a program: all cases, as often as the first
 * argument says. A failed expectation ends it.
 */
#ifndef _INA_SHIM_KUNIT_H
#define _INA_SHIM_KUNIT_H

#include <linux/types.h>
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

struct kunit {
	void *priv;
};

struct kunit_case {
	void (*run)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	struct kunit_case *test_cases;
};

extern jmp_buf kunit_skipped;

#define GFP_KERNEL			0
#define KUNIT_CASE(fn)			{ fn, #fn }
#define kunit_kzalloc(test, size, gfp)	calloc(1, size)
#define kunit_info(test, ...)
#define kunit_skip(test, why)		(puts("skip: " why), longjmp(kunit_skipped, 1))

#define KUNIT_ASSERT_EQ_MSG(test, a, b, fmt, ...)			\
do {									\
	u64 __a = (u64)(a), __b = (u64)(b);				\
									\
	if (__a != __b) {						\
		printf("%s:%d: %llx, not %llx: " fmt "\n", __FILE__,	\
		       __LINE__, (unsigned long long)__a,		\
		       (unsigned long long)__b, ##__VA_ARGS__);		\
		exit(1);						\
	}								\
} while (0)
#define KUNIT_ASSERT_EQ(test, a, b)	KUNIT_ASSERT_EQ_MSG(test, a, b, "")
#define KUNIT_EXPECT_EQ			KUNIT_ASSERT_EQ
#define KUNIT_EXPECT_EQ_MSG		KUNIT_ASSERT_EQ_MSG
#define KUNIT_ASSERT_NULL(test, p)	KUNIT_ASSERT_EQ(test, (uintptr_t)(p), 0)

#define kunit_test_suite(suite)						\
jmp_buf kunit_skipped;							\
unsigned int ina_test_seed;						\
									\
int main(int argc, char **argv)						\
{									\
	volatile int runs = argc > 1 ? atoi(argv[1]) : 1;		\
	struct kunit_case *volatile c;					\
	struct kunit test;						\
									\
	for (ina_test_seed = 1; runs--; ina_test_seed++) {		\
		for (c = (suite).test_cases; c->run; c++) {		\
			if ((suite).init(&test))			\
				return 1;				\
			if (!setjmp(kunit_skipped))			\
				c->run(&test);				\
			free(test.priv);				\
			if (!runs)					\
				printf("ok %s.%s\n", (suite).name,	\
				       c->name);			\
		}							\
	}								\
	return 0;							\
}									\
extern int ina_shim_end

#endif /* _INA_SHIM_KUNIT_H */
