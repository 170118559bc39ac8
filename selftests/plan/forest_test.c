// SPDX-License-Identifier: GPL-2.0
/*
 * Trees of many jobs: after every job that comes or goes on a random fabric, a checker that
 * knows only parents and capacities looks at all trees.
 */
#include <errno.h>

#include "forests.h"

#define FABRICS		120
#define EVENTS		40

/**
 * struct before - trees and units before an event
 * @tree: of each job
 * @own: every job that can have a tree has one of its own
 * @node: units taken of each node
 * @link: of each link
 */
struct before {
	struct ina_forest_tree tree[JOBS];
	bool own;
	int *node;
	int *link;
};

static void remember(const struct bench *b, struct before *before)
{
	before->own = true;
	memcpy(before->node, b->node[1], (size_t)b->topo->n_nodes * sizeof(int));
	memcpy(before->link, b->link[1], (size_t)b->topo->n_links * sizeof(int));
	for (int k = 0; k < JOBS; k++) {
		before->tree[k] = (struct ina_forest_tree){ .index = INA_TOPO_NONE };
		if (b->job[k] < 0)
			continue;
		ina_forest_get(b->forest, b->job[k], &before->tree[k]);
		before->own = before->own && before->tree[k].kind != INA_FOREST_SHARED;
	}
}

/* Whether candidate @index of job @k fits beside what is taken; of tree @less it has units. */
static bool fits(const struct bench *b, int k, int index, int less, const int *node,
		 const int *link)
{
	int *list, *mine = NULL, n = ina_forest_resources(b->forest, b->job[k], index, &list);
	int own = less < 0 ? 0 : ina_forest_resources(b->forest, b->job[k], less, &mine);
	bool ok = true;

	for (int i = 0; i < n; i++) {
		int r = list[i], used = r < b->topo->n_nodes ? node[r] : link[r - b->topo->n_nodes];

		for (int m = 0; m < own; m++)
			used -= mine[m] == r;
		ok = ok && used < ina_forest_capacity(b->forest, r);
	}
	free(mine);
	free(list);
	return ok;
}

/* Trees that moved in the last event; *@needless of them fit where they were. */
static int moved(const struct bench *b, const struct before *before, int *needless)
{
	int n = 0;

	for (int k = 0; k < JOBS; k++) {
		struct ina_forest_tree now;
		int old = before->tree[k].index;

		if (b->job[k] < 0 || old < 0)
			continue;
		ina_forest_get(b->forest, b->job[k], &now);
		if (now.index == old)
			continue;
		n++;
		*needless += now.kind == INA_FOREST_OWN &&
			     fits(b, k, old, now.index, b->node[1], b->link[1]);
	}
	return n;
}

/* Whether job @k, which has come, would have fitted beside those who had trees of their own. */
static bool fitted(const struct bench *b, int k, const struct before *before)
{
	bool any = false;

	for (int t = 0; b->job[k] >= 0 && t < ina_forest_candidates(b->forest, b->job[k]); t++)
		any = any || fits(b, k, t, -1, before->node, before->link);
	return any && before->own && before->tree[k].index < 0;
}

/* Jobs come and go; everything is looked at each time. */
static void test_events(void)
{
	bool ok = true, groups = true, better = true, bound = true, empty = true;
	long events = 0, more = 0, moves = 0, free_fits = 0;
	int needless = 0, disturbed = 0;
	struct before before;
	struct bench b;

	for (int f = 0; f < FABRICS && ok && groups && better && bound; f++) {
		bench_start(&b);
		b.first = ina_forest_create(b.topo, INA_FOREST_FIRST, b.every, b.limit);
		before.node = calloc((size_t)b.topo->n_nodes, sizeof(int));
		before.link = calloc((size_t)b.topo->n_links, sizeof(int));
		for (int e = 0; e < EVENTS && ok; e++, events++) {
			int k = draw(16), n;

			remember(&b, &before);
			if (b.job[k] < 0)
				come(&b, k);
			else
				go(&b, k);
			ok = check(&b);
			groups = check_groups(&b);
			n = moved(&b, &before, &needless);
			moves += n;
			if (fitted(&b, k, &before)) {
				free_fits++;
				disturbed += n;
			}
			better = better && ina_forest_own(b.forest) >= ina_forest_own(b.first);
			more += ina_forest_own(b.forest) - ina_forest_own(b.first);
			bound = bound && ina_forest_own(b.forest) <= ina_forest_bound(b.forest);
		}
		for (int k = 0; k < JOBS; k++)
			if (b.job[k] >= 0)
				go(&b, k);
		empty = empty && ina_forest_own(b.forest) == 0 && check(&b);
		bench_end(&b);
		free(before.node);
		free(before.link);
	}
	ktap_ok(ok, "%ld events: trees are trees, each worker once, no capacity exceeded%s%s",
		events, broken ? "; but not: " : "", broken ? broken : "");
	ktap_ok(groups, "sharing groups are those of overfull switches and links");
	ktap_ok(better, "never fewer own trees than first fits (%ld more in all)", more);
	ktap_ok(more > 0, "and more in some");
	ktap_ok(bound, "never more own trees than the bound");
	ktap_ok(free_fits && !disturbed,
		"%ld jobs came that fit in what was free: %d trees moved", free_fits, disturbed);
	ktap_ok(moves && !needless, "of %ld trees that moved %d could have stayed", moves,
		needless);
	ktap_ok(empty, "nothing is left when all jobs are gone");
}

static void test_refusals(void)
{
	struct ina_topo *topo = ina_topo_fat_tree(4, 1e9, 0);
	struct ina_forest *forest = ina_forest_create(topo, INA_FOREST_BEST, false, 4);
	static const int twice[] = { 0, 1, 0 }, not_host[] = { 0, 17 }, outside[] = { -1, 99 };
	static const int fine[] = { 0, 2 };

	ktap_ok(ina_forest_add(forest, twice, 3) == -EINVAL &&
		ina_forest_add(forest, not_host, 2) == -EINVAL &&
		ina_forest_add(forest, outside, 2) == -EINVAL &&
		ina_forest_add(forest, fine, 0) == -EINVAL,
		"a machine twice, a switch, no node and no machines are refused");
	ktap_ok(ina_forest_remove(forest, 0) == -EINVAL && ina_forest_add(forest, fine, 2) == 0 &&
		ina_forest_remove(forest, 0) == 0 && ina_forest_remove(forest, 0) == -EINVAL,
		"a job that is not there cannot go");
	errno = 0;
	ktap_ok(!ina_forest_create(topo, INA_FOREST_BEST, false, 0) && errno == EINVAL,
		"no candidates are refused");
	ina_forest_destroy(forest);
	ina_topo_destroy(topo);
}

int main(void)
{
	ktap_start();
	test_events();
	test_refusals();
	return ktap_end();
}
