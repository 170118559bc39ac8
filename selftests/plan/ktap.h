/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the planner's tests share: results as KTAP lines, properties that hold in many cases,
 * random numbers whose seed is printed and may be given as INA_SEED, and damaged input.
 */
#ifndef INA_SELFTESTS_PLAN_KTAP_H
#define INA_SELFTESTS_PLAN_KTAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int ktap_count;
static int ktap_failed;
static uint64_t ktap_random;
static int ktap_cases[32];
static int ktap_wrong[32];

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

/* One case of a property, a small number. */
__attribute__((unused))
static void ktap_must(int property, bool holds)
{
	ktap_cases[property]++;
	ktap_wrong[property] += !holds;
}

/* One result for each property; one that was never looked at does not hold. */
__attribute__((unused))
static void ktap_properties(const char *const *texts, int n)
{
	for (int i = 0; i < n; i++)
		ktap_ok(ktap_cases[i] && !ktap_wrong[i], "%s (%d of %d)", texts[i],
			ktap_cases[i] - ktap_wrong[i], ktap_cases[i]);
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

/* Damage a text in one to four places: bytes, pieces doubled, cut or moved. */
__attribute__((unused))
static size_t ktap_mutate(const char *from, size_t size, char *to, size_t room)
{
	static const char special[] = "[]{}:,-&*\"'\\#\n\t =|>?!%@0123456789.eEkMGTi\xff\xc3\x00";

	memcpy(to, from, size);
	for (uint32_t n = 1 + ktap_below(4); n--;) {
		size_t at = ktap_below((uint32_t)size + 1), length = 1 + ktap_below(12);

		if (!size || at + length > size)
			continue;
		switch (ktap_below(4)) {
		case 0:
			to[at] = special[ktap_below(sizeof(special))];
			break;
		case 1:
			memmove(to + at, to + at + length, size - at - length);
			size -= length;
			break;
		case 2:
			if (size + length > room)
				break;
			memmove(to + at + length, to + at, size - at);
			size += length;
			break;
		default:
			memmove(to + ktap_below((uint32_t)(size - length) + 1), to + at, length);
		}
	}
	return size;
}

/* "f:LINE: text", a line of the text. */
__attribute__((unused))
static bool ktap_is_reason(const char *reason, const char *text, size_t size)
{
	unsigned long lines = 1;
	char *end;
	unsigned long line = strncmp(reason, "f:", 2) ? 0 : strtoul(reason + 2, &end, 10);

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n' || text[i] == '\r';
	return line && line <= lines && !strncmp(end, ": ", 2) && end[2];
}

#endif
