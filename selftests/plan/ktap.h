/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the planner's tests share: results as KTAP lines, and random numbers whose seed is
 * printed and may be given as INA_SEED.
 */
#ifndef INA_SELFTESTS_PLAN_KTAP_H
#define INA_SELFTESTS_PLAN_KTAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int ktap_count;
static int ktap_failed;
static uint64_t ktap_random;

/* One result; the text says what holds. */
__attribute__((format(printf, 2, 3), unused))
static bool ktap_ok(bool ok, const char *format, ...)
{
	va_list ap;

	printf("%s %d - ", ok ? "ok" : "not ok", ++ktap_count);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
	ktap_failed += !ok;
	return ok;
}

__attribute__((unused))
static void ktap_start(void)
{
	const char *seed = getenv("INA_SEED");

	ktap_random = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
	printf("# INA_SEED=%llu\n", (unsigned long long)ktap_random);
}

/* The exit status. */
__attribute__((unused))
static int ktap_end(void)
{
	printf("1..%d\n", ktap_count);
	return ktap_failed || !ktap_count;
}

/* A number below @n; splitmix64. */
__attribute__((unused))
static uint32_t ktap_below(uint32_t n)
{
	uint64_t z = ktap_random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (uint32_t)((z ^ z >> 31) % n);
}

#endif
