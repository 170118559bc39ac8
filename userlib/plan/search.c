// SPDX-License-Identifier: GPL-2.0
/*
 * A tree whose predicted round is short: starts (direct, XAgg's, and trees filled up to a
 * common rate) are improved by small changes around the site that limits the round. Worse trees
 * are accepted within a threshold that falls to zero; the best one seen is kept. If there are
 * few trees, all are tried.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define SEARCH_STARTS		4	/* trees that are improved */
#define SEARCH_RATES		32	/* common rates that are tried */
#define SEARCH_WORK		60e6	/* sites looked at, if nobody says how many tries */
#define SEARCH_TRIES_MAX	50000
#define SEARCH_TRIES_MIN	500
#define SEARCH_THRESHOLD	0.05	/* how much worse a tree may be at first */

/**
 * struct search - a search
 * @predict: to predict trees
 * @problem: the problem
 * @random: state of the random numbers
 * @n: sites
 * @starts: the best trees to begin with, SEARCH_STARTS of n parents each
 * @seconds: their rounds, shortest first
 * @tree: the tree being changed
 * @next: the changed one
 * @scratch: n numbers
 */
struct search {
	struct ina_predict *predict;
	const struct ina_tree_problem *problem;
	uint64_t random;
	int n;
	int *starts;
	double seconds[SEARCH_STARTS];
	int *tree;
	int *next;
	int *scratch;
};

/* splitmix64. */
static int search_below(struct search *search, int n)
{
	uint64_t z = search->random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (int)((z ^ z >> 31) % (uint64_t)n);
}

static void search_copy(const struct search *search, int *to, const int *from)
{
	memcpy(to, from, (size_t)search->n * sizeof(*to));
}

static int *search_start(const struct search *search, int i)
{
	return search->starts + (size_t)i * (size_t)search->n;
}

/* Keep @tree among the starts if it is better than the worst of them and new. */
static double search_offer(struct search *search, const int *tree)
{
	double seconds = ina_predict_run(search->predict, tree);
	int i = SEARCH_STARTS - 1;

	for (int j = 0; j < SEARCH_STARTS; j++) {
		if (seconds == search->seconds[j])
			return seconds;
	}
	if (seconds >= search->seconds[i])
		return seconds;
	for (; i && seconds < search->seconds[i - 1]; i--) {
		search->seconds[i] = search->seconds[i - 1];
		search_copy(search, search_start(search, i), search_start(search, i - 1));
	}
	search->seconds[i] = seconds;
	search_copy(search, search_start(search, i), tree);
	return seconds;
}

/* Children a site can have if every stream has @rate. */
static int search_room(const struct search *search, int site, double rate)
{
	const struct ina_tree_site *at = &search->problem->sites[site];

	if (!site)
		return (int)fmin(search->n, at->adds / rate);
	return at->candidate ? (int)fmin(search->n, fmax(0, at->idle / rate - 1)) : 0;
}

/*
 * Sites in the order in which they get a place, from the root on: @late workers that are
 * late, servers, workers that may aggregate, then the other workers, late ones first.
 */
static int search_queue(const struct search *search, int late, double rate, int *queue)
{
	int workers = search->problem->n_workers, n = 0;

	for (int i = workers; i > workers - late; i--)
		queue[n++] = i;
	for (int i = workers + 1; i < search->n && search_room(search, i, rate) > 1; i++)
		queue[n++] = i;
	for (int i = workers - late; i > 0; i--) {
		if (search_room(search, i, rate))
			queue[n++] = i;
	}
	for (int i = workers - late; i > 0; i--) {
		if (!search_room(search, i, rate))
			queue[n++] = i;
	}
	return n;
}

/* Fill a tree level by level; every node has as many children as @rate allows. */
static void search_fill(const struct search *search, int late, double rate, int *tree)
{
	int *queue = search->scratch, n = search_queue(search, late, rate, queue);
	int at = -1, p = 0, room = search_room(search, 0, rate);

	ina_tree_direct(search->problem, tree);
	for (int i = 0; i < n; i++) {
		while (!room && at + 1 < i) {
			p = queue[++at];
			room = search_room(search, p, rate);
		}
		if (room)
			room--;
		else
			p = 0;
		tree[queue[i]] = p;
	}
}

static int search_offer_filled(struct search *search)
{
	const struct ina_tree_problem *problem = search->problem;
	double most = 0;
	int ret = 0;

	for (int i = 0; i < search->n; i++)
		most = fmax(most, problem->sites[i].idle);
	for (int late = 0; !ret && late < problem->n_workers; late = late ? 4 * late : 1) {
		for (int i = 0; !ret && i < SEARCH_RATES; i++) {
			double rate = most * pow(problem->n_workers + 2.0,
						 -(i + 1.0) / SEARCH_RATES);

			search_fill(search, late, rate, search->next);
			ret = ina_tree_prune(problem, search->next);
			search_offer(search, search->next);
		}
	}
	return ret;
}

static int search_offer_known(struct search *search)
{
	int ret = 0;

	ina_tree_direct(search->problem, search->next);
	search_offer(search, search->next);
	for (int k = INA_XAGG_K_MIN; !ret && k <= INA_XAGG_K_MAX; k++) {
		ret = ina_xagg_build(search->problem, k, search->next);
		search_offer(search, search->next);
	}
	return ret;
}

static bool search_used(const struct search *search, int site)
{
	return search->next[site] != INA_TREE_UNUSED;
}

static bool search_may_aggregate(const struct search *search, int site)
{
	return !site || search->problem->sites[site].candidate;
}

/* @site is @top or below it. */
static bool search_is_below(const struct search *search, int site, int top)
{
	while (site >= 0 && site != top)
		site = search->next[site];
	return site == top;
}

/* A site of the tree but the root: a child of the limiting one, the limiting one or any. */
static int search_pick(struct search *search)
{
	int critical = search->predict->critical, site, start;

	if (critical && !search_below(search, 4))
		return critical;
	site = start = 1 + search_below(search, search->n - 1);
	if (search_below(search, 2)) {
		do {
			if (search->next[site] == critical)
				return site;
			site = site + 1 < search->n ? site + 1 : 1;
		} while (site != start);
	}
	while (!search_used(search, site))
		site = site + 1 < search->n ? site + 1 : 1;
	return site;
}

/* A site of the tree that may aggregate. */
static int search_pick_parent(struct search *search)
{
	int site = search_below(search, search->n);

	while (!search_used(search, site) || !search_may_aggregate(search, site))
		site = site + 1 < search->n ? site + 1 : 0;
	return site;
}

/* A server that is not in the tree, one of the best; 0 if there is none. */
static int search_pick_server(struct search *search)
{
	int first = search->problem->n_workers + 1;

	for (int i = first; i < search->n; i++) {
		if (!search_used(search, i) && (i + 1 == search->n || search_below(search, 4)))
			return i;
	}
	return 0;
}

/* Hang a site below another one. */
static bool search_move(struct search *search)
{
	int site = search_pick(search), p = search_pick_parent(search);

	if (p == search->next[site] || search_is_below(search, p, site))
		return false;
	search->next[site] = p;
	return true;
}

/* Let two sites change places, each with what is below it. */
static bool search_swap(struct search *search)
{
	int a = search_pick(search), b = 1 + search_below(search, search->n - 1), p;

	if (!search_used(search, b) || search->next[a] == search->next[b] ||
	    search_is_below(search, a, b) || search_is_below(search, b, a))
		return false;
	p = search->next[a];
	search->next[a] = search->next[b];
	search->next[b] = p;
	return true;
}

/* Put a server between a site and some of its children. */
static bool search_insert(struct search *search)
{
	int server = search_pick_server(search), p = search->next[search_pick(search)];
	int part = 2 + search_below(search, 4), moved = 0;

	if (!server)
		return false;
	for (int i = 1; i < search->n; i++) {
		if (search->next[i] == p && !search_below(search, part)) {
			search->next[i] = server;
			moved++;
		}
	}
	search->next[server] = p;
	return moved > 1;
}

/* Hang all children of @from below @to. */
static void search_hand_over(const struct search *search, int from, int to)
{
	for (int i = 1; i < search->n; i++) {
		if (search->next[i] == from)
			search->next[i] = to;
	}
}

/* Take a server out; its children go to its parent. */
static bool search_contract(struct search *search)
{
	int site = search_pick_parent(search);

	if (site <= search->problem->n_workers)
		return false;
	search_hand_over(search, site, search->next[site]);
	search->next[site] = INA_TREE_UNUSED;
	return true;
}

/* Put another server in the place of one. */
static bool search_replace(struct search *search)
{
	int site = search_pick_parent(search), server = search_pick_server(search);

	if (!server || site <= search->problem->n_workers)
		return false;
	search_hand_over(search, site, server);
	search->next[server] = search->next[site];
	search->next[site] = INA_TREE_UNUSED;
	return true;
}

static bool search_change(struct search *search)
{
	static bool (*const changes[])(struct search *search) = {
		search_move, search_move, search_move, search_swap, search_swap, search_insert,
		search_contract, search_replace,
	};

	return changes[search_below(search, sizeof(changes) / sizeof(changes[0]))](search);
}

/* Improve the tree in @best, whose round takes *@least, in @tries tries. */
static int search_improve(struct search *search, long tries, int *best, double *least)
{
	double current = ina_predict_run(search->predict, best);
	int critical = search->predict->critical, ret = 0;

	search_copy(search, search->tree, best);
	for (long i = 0; !ret && i < tries; i++) {
		double threshold = 1 + SEARCH_THRESHOLD * (double)(tries - i) / (double)tries;
		double seconds;

		search_copy(search, search->next, search->tree);
		search->predict->critical = critical;
		if (!search_change(search))
			continue;
		ret = ina_tree_prune(search->problem, search->next);
		seconds = ina_predict_run(search->predict, search->next);
		if (ret || (seconds > current && seconds > *least * threshold))
			continue;
		current = seconds;
		critical = search->predict->critical;
		search_copy(search, search->tree, search->next);
		if (seconds >= *least)
			continue;
		*least = seconds;
		search_copy(search, best, search->next);
	}
	return ret;
}

/* Whether every server of search->next has two children or more. */
static bool search_is_lean(const struct search *search)
{
	for (int i = search->problem->n_workers + 1; i < search->n; i++) {
		int children = 0;

		for (int c = 1; c < search->n; c++)
			children += search->next[c] == i;
		if (search->next[i] != INA_TREE_UNUSED && children < 2)
			return false;
	}
	return true;
}

/* Try all trees whose first @site parents are those in search->next. */
static void search_all(struct search *search, int site, int *best, double *least)
{
	const struct ina_tree_problem *problem = search->problem;

	if (site == search->n) {
		double seconds = search_is_lean(search) ?
				 ina_predict_run(search->predict, search->next) : INFINITY;

		if (seconds < *least) {
			*least = seconds;
			search_copy(search, best, search->next);
		}
		return;
	}
	if (site > problem->n_workers) {
		search->next[site] = INA_TREE_UNUSED;
		search_all(search, site + 1, best, least);
	}
	for (int p = 0; p < search->n; p++) {
		if (p == site || (p && !problem->sites[p].candidate))
			continue;
		search->next[site] = p;
		search_all(search, site + 1, best, least);
	}
}

static int search_run(struct search *search, long tries, int *parent)
{
	int best = 0, ret = search_offer_known(search);

	if (!ret)
		ret = search_offer_filled(search);
	if (!tries)
		tries = (long)fmin(SEARCH_TRIES_MAX, fmax(SEARCH_TRIES_MIN, SEARCH_WORK / search->n));
	for (int i = 0; !ret && i < SEARCH_STARTS && isfinite(search->seconds[i]); i++) {
		ret = search_improve(search, tries / SEARCH_STARTS, search_start(search, i),
				     &search->seconds[i]);
		if (search->seconds[i] < search->seconds[best])
			best = i;
	}
	if (ret)
		return ret;
	search_copy(search, parent, search_start(search, best));
	search->next[0] = INA_TREE_ROOT;
	if (pow(search->n, search->n - 1) <= (double)tries)
		search_all(search, 1, parent, &search->seconds[best]);
	return 0;
}

int ina_search(struct ina_predict *predict, uint64_t seed, long tries, int *parent)
{
	struct search search = { .predict = predict, .problem = predict->problem,
				 .random = seed, .n = predict->problem->n_sites };
	size_t n = (size_t)search.n;
	int ret = -ENOMEM;

	for (int i = 0; i < SEARCH_STARTS; i++)
		search.seconds[i] = INFINITY;
	search.starts = calloc(SEARCH_STARTS * n, sizeof(int));
	search.tree = calloc(n, sizeof(int));
	search.next = calloc(n, sizeof(int));
	search.scratch = calloc(n, sizeof(int));
	if (search.starts && search.tree && search.next && search.scratch)
		ret = search_run(&search, tries, parent);
	free(search.starts);
	free(search.tree);
	free(search.next);
	free(search.scratch);
	return ret;
}
