// SPDX-License-Identifier: GPL-2.0
/*
 * Ways that have no router in common, as many as can be: the largest set of
 * routes no two of which conflict, by trying with and without each. There are
 * few kinds of routes, as alike ones count once. Pure.
 */
#include <string.h>

#include "route.h"

bool disjoint_counts(unsigned int i, unsigned int n_hops)
{
	return n_hops < 3 || (i > 0 && i + 1 < n_hops);
}

static bool hop_known(const struct in6_addr *hop)
{
	return !IN6_IS_ADDR_UNSPECIFIED(hop);
}

/**
 * struct choice - what is chosen from
 * @fixed: routes that are there
 * @n_fixed: how many
 * @routes: routes that may be chosen
 * @n: how many
 * @n_hops: routers of each
 * @most: how many may be chosen
 * @clash: bit j of entry i: routes i and j cannot both be chosen
 * @shared: bit i: hop number i does not tell routes apart
 * @best: the largest set so far
 * @count: its size
 */
struct choice {
	const struct route *fixed;
	size_t n_fixed;
	const struct route *routes;
	size_t n;
	unsigned int n_hops;
	size_t most;
	uint64_t clash[ROUTE_MAX];
	uint32_t shared;
	uint64_t best;
	size_t count;
};

/* Route number @i, first the fixed ones. */
static const struct route *choice_route(const struct choice *choice, size_t i)
{
	return i < choice->n_fixed ? &choice->fixed[i] : &choice->routes[i - choice->n_fixed];
}

/* Do all routes whose hop number @i is known have the same router there? */
static bool hop_is_shared(const struct choice *choice, unsigned int i)
{
	const struct in6_addr *first = NULL;

	for (size_t r = 0; r < choice->n_fixed + choice->n; r++) {
		const struct in6_addr *hop = &choice_route(choice, r)->hop[i];

		if (!hop_known(hop))
			continue;
		if (first && !IN6_ARE_ADDR_EQUAL(first, hop))
			return false;
		first = hop;
	}
	return true;
}

static bool hop_counts(const struct choice *choice, const struct route *route, unsigned int i)
{
	return !(choice->shared & 1U << i) && hop_known(&route->hop[i]);
}

static bool route_known(const struct choice *choice, const struct route *route)
{
	for (unsigned int i = 0; i < choice->n_hops; i++) {
		if (hop_counts(choice, route, i))
			return true;
	}
	return false;
}

static bool routes_clash(const struct choice *choice, const struct route *a, const struct route *b)
{
	for (unsigned int i = 0; i < choice->n_hops; i++) {
		for (unsigned int j = 0; j < choice->n_hops; j++) {
			if (hop_counts(choice, a, i) && hop_counts(choice, b, j) &&
			    IN6_ARE_ADDR_EQUAL(&a->hop[i], &b->hop[j]))
				return true;
		}
	}
	return false;
}

static bool route_may(const struct choice *choice, const struct route *route)
{
	for (size_t i = 0; i < choice->n_fixed; i++) {
		if (routes_clash(choice, route, &choice->fixed[i]))
			return false;
	}
	return route_known(choice, route);
}

/* Routes that may be chosen, of those that clash with the same ones only the first. */
static uint64_t choice_start(struct choice *choice)
{
	uint64_t left = 0, may = 0;

	for (size_t i = 0; i < choice->n; i++)
		may |= (uint64_t)route_may(choice, &choice->routes[i]) << i;
	for (size_t i = 0; i < choice->n; i++) {
		for (size_t j = 0; j < choice->n; j++) {
			if ((may >> i & may >> j & 1) &&
			    routes_clash(choice, &choice->routes[i], &choice->routes[j]))
				choice->clash[i] |= 1ULL << j;
		}
	}
	for (size_t i = 0; i < choice->n; i++) {
		bool alike = false;

		for (size_t j = 0; j < i; j++)
			alike |= (left >> j & 1) && choice->clash[i] == choice->clash[j];
		if ((may >> i & 1) && !alike)
			left |= 1ULL << i;
	}
	return left;
}

/* @taken is chosen, any of @left may be. */
static void choice_search(struct choice *choice, uint64_t left, uint64_t taken, size_t count)
{
	if (count > choice->count) {
		choice->best = taken;
		choice->count = count;
	}
	while (left && choice->count < choice->most &&
	       count + (size_t)__builtin_popcountll(left) > choice->count) {
		int i = __builtin_ctzll(left);

		choice_search(choice, left & ~choice->clash[i], taken | 1ULL << i, count + 1);
		left &= ~(1ULL << i);
		if (!(choice->clash[i] & left))
			return;
	}
}

size_t disjoint_choose(const struct route *fixed, size_t n_fixed, const struct route *routes,
		       size_t n, unsigned int n_hops, size_t most, size_t *chosen)
{
	struct choice choice = { .fixed = fixed, .n_fixed = n_fixed, .routes = routes, .n = n,
				 .n_hops = n_hops, .most = most };
	size_t count = 0;

	for (unsigned int i = 0; i < n_hops; i++) {
		if (!disjoint_counts(i, n_hops) || hop_is_shared(&choice, i))
			choice.shared |= 1U << i;
	}
	choice_search(&choice, choice_start(&choice), 0, 0);
	for (size_t i = 0; i < n; i++) {
		if (choice.best >> i & 1)
			chosen[count++] = i;
	}
	return count;
}

/*
 * If one more of n + 1 equally likely ways were there, so many flows would have
 * missed it with a probability below 0.1 %: n + 1 times (n / (n + 1))^k.
 */
unsigned int disjoint_enough(size_t n)
{
	double missed = (double)(n + 1), share = (double)n / (double)(n + 1);
	unsigned int k = 0;

	for (; missed > 0.001 && k < ROUTE_MAX; k++)
		missed *= share;
	return k;
}
