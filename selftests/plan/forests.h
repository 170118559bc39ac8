/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forests under test: random fabrics, jobs that come and go, and a checker that knows only
 * parents and capacities.
 */
#ifndef INA_SELFTESTS_PLAN_FORESTS_H
#define INA_SELFTESTS_PLAN_FORESTS_H

#include <limits.h>
#include <string.h>

#include "forest.h"
#include "ktap.h"

#define JOBS		64

static int draw(int n)
{
	return (int)ktap_below((uint32_t)n);
}

static int add(struct ina_topo *topo, enum ina_topo_kind kind, int level, int rack, int pod)
{
	char name[16];
	struct ina_topo_node node = {
		.name = name, .kind = kind, .level = level, .rack = rack, .pod = pod,
		.capacity = kind == INA_TOPO_SWITCH,
	};

	snprintf(name, sizeof(name), "n%d", topo->n_nodes);
	return ina_topo_add_node(topo, &node);
}

static void join(struct ina_topo *topo, int a, int b)
{
	struct ina_topo_link link = { .a = a, .b = b, .rate = 1e9 };

	if (ina_topo_add_link(topo, &link) < 0)
		abort();
}

/* Irregular: racks of different sizes, and switches above them joined at random. */
static struct ina_topo *irregular(void)
{
	struct ina_topo *topo = ina_topo_create();
	int racks = 2 + draw(5), tops = 1 + draw(4), rack[6], i, k;

	for (i = 0; i < racks; i++) {
		rack[i] = add(topo, INA_TOPO_SWITCH, 1, i, 0);
		for (k = draw(5); k >= 0; k--)
			join(topo, add(topo, INA_TOPO_HOST, 0, i, 0), rack[i]);
	}
	for (k = 0; k < tops; k++) {
		int top = add(topo, INA_TOPO_SWITCH, 2, INA_TOPO_NONE, 0);

		for (i = 0; i < racks; i++)
			if (!k || draw(3))
				join(topo, rack[i], top);
	}
	if (draw(2)) {
		int top = add(topo, INA_TOPO_SWITCH, 3, INA_TOPO_NONE, INA_TOPO_NONE);

		for (i = 0; i < top; i++)
			if (topo->nodes[i].level == 2)
				join(topo, i, top);
	}
	return topo;
}

/* Capacities at random: of switches, of links, of both, some switches without any. */
static struct ina_topo *fabric(void)
{
	int which = draw(3), limit = draw(4), i;
	struct ina_topo *topo = which == 0 ? ina_topo_fat_tree(4, 1e9, 0) :
		which == 1 ? ina_topo_leaf_spine(2 + draw(4), 1 + draw(3), 1 + draw(5), 1e9,
						 1e9, 0) :
		irregular();

	for (i = 0; i < topo->n_nodes; i++)
		if (topo->nodes[i].kind == INA_TOPO_SWITCH)
			topo->nodes[i].capacity = limit == 1 ? INT_MAX :
				limit == 3 ? draw(3) : 1 + draw(2);
	for (i = 0; i < topo->n_links; i++)
		topo->links[i].capacity = limit == 0 ? 0 : 1 + draw(2);
	return topo;
}

/**
 * struct bench - a forest under test
 * @topo: the fabric
 * @every: switches with one child count
 * @limit: candidates of a job
 * @forest: under test
 * @first: the plan of first fits for the same jobs
 * @job: number of each job in @forest, -1 if there is none
 * @other: its number in @first
 * @hosts: its machines
 * @n: how many
 * @node: units taken of each node, by all trees and by those of their own
 * @link: the same of each link
 */
struct bench {
	struct ina_topo *topo;
	bool every;
	int limit;
	struct ina_forest *forest;
	struct ina_forest *first;
	int job[JOBS];
	int other[JOBS];
	int *hosts[JOBS];
	int n[JOBS];
	int *node[2];
	int *link[2];
};

static const char *broken;

static bool holds(bool ok, const char *what)
{
	if (!ok && !broken)
		broken = what;
	return ok;
}

static int link_between(const struct ina_topo *topo, int a, int b)
{
	for (int i = 0; i < topo->n_links; i++)
		if (topo->links[i].a == a && topo->links[i].b == b)
			return i;
	return -1;
}

/* Add @by to whatever candidate @index of a job takes, found from its parents alone. */
static bool count(struct bench *b, int k, int index, int root, int by, bool own)
{
	struct ina_topo *topo = b->topo;
	int *parent = calloc((size_t)topo->n_nodes, sizeof(int)), steps, i, at, workers = 0;
	int *children = calloc((size_t)topo->n_nodes, sizeof(int));
	bool ok = true;

	ina_forest_parents(b->forest, b->job[k], index, parent);
	for (i = 0; i < topo->n_nodes; i++)
		if (parent[i] >= 0)
			children[parent[i]]++;
	for (i = 0; i < b->n[k]; i++) {
		for (at = b->hosts[k][i], steps = 0;
		     at != root && at >= 0 && steps < 100; steps++) {
			ok = ok && holds(parent[at] < 0 || topo->nodes[parent[at]].level >
					 topo->nodes[at].level, "a parent is above its child");
			at = parent[at];
		}
		ok = ok && holds(at == root, "every worker's way ends at the root, in no circle");
		ok = ok && holds(children[b->hosts[k][i]] == 0, "a worker is a leaf");
	}
	for (i = 0; i < topo->n_nodes; i++) {
		int cable = parent[i] >= 0 ? link_between(topo, i, parent[i]) : -1;

		workers += topo->nodes[i].kind == INA_TOPO_HOST && parent[i] >= 0;
		ok = ok && holds(parent[i] < 0 || cable >= 0, "a child is joined to its parent");
		if (cable >= 0 && topo->links[cable].capacity)
			b->link[own][cable] += by;
		if (topo->nodes[i].kind == INA_TOPO_SWITCH && children[i] > (b->every ? 0 : 1)) {
			ok = ok && holds(topo->nodes[i].capacity > 0 || children[i] == 1,
					 "only switches with a capacity join branches");
			if (topo->nodes[i].capacity)
				b->node[own][i] += by;
		}
	}
	ok = ok && holds(workers == b->n[k], "each worker is once in the tree, and nobody else");
	free(children);
	free(parent);
	return ok;
}

/* Everything that must hold of the forest as it is. */
static bool check(struct bench *b)
{
	const struct ina_topo *topo = b->topo;
	int own = 0, group[JOBS], i, k, own_root;
	bool ok = true;

	for (i = 0; i < 2; i++) {
		memset(b->node[i], 0, (size_t)topo->n_nodes * sizeof(int));
		memset(b->link[i], 0, (size_t)topo->n_links * sizeof(int));
	}
	ok = holds(!ina_forest_groups(b->forest, group, JOBS), "groups can be asked for");
	for (k = 0; k < JOBS; k++) {
		struct ina_forest_tree tree;

		if (b->job[k] < 0)
			continue;
		ina_forest_get(b->forest, b->job[k], &tree);
		own_root = tree.root;
		own += tree.kind == INA_FOREST_OWN;
		ok = ok && holds((tree.kind == INA_FOREST_NONE) == (tree.index < 0) &&
				 (tree.kind == INA_FOREST_NONE) == (group[b->job[k]] < 0),
				 "a job has a tree and a group, or neither");
		ok = ok && holds(tree.kind != INA_FOREST_NONE ||
				 !ina_forest_candidates(b->forest, b->job[k]),
				 "who can have a tree has one, if shared");
		if (tree.kind == INA_FOREST_NONE)
			continue;
		ok = count(b, k, tree.index, own_root, 1, false) && ok;
		if (tree.kind == INA_FOREST_OWN)
			ok = count(b, k, tree.index, own_root, 1, true) && ok;
	}
	for (i = 0; i < topo->n_nodes; i++)
		ok = ok && holds(b->node[1][i] <= topo->nodes[i].capacity,
				 "no switch is in more own trees than it has units");
	for (i = 0; i < topo->n_links; i++)
		ok = ok && holds(!topo->links[i].capacity ||
				 b->link[1][i] <= topo->links[i].capacity,
				 "no link is in more own trees than it has units");
	return ok && holds(own == ina_forest_own(b->forest), "own trees are counted right");
}

/* Who is on an overfull switch or link is crowded and in one group; others are not. */
static bool check_groups(struct bench *b)
{
	int group[JOBS], *list, n, i, k, r, in;
	bool ok = true;

	ina_forest_groups(b->forest, group, JOBS);
	for (r = 0; r < b->topo->n_nodes + b->topo->n_links; r++) {
		bool node = r < b->topo->n_nodes;
		int used = node ? b->node[0][r] : b->link[0][r - b->topo->n_nodes];
		int room = ina_forest_capacity(b->forest, r);

		for (k = 0, in = -1; used > room && k < JOBS; k++) {
			struct ina_forest_tree tree;

			if (b->job[k] < 0)
				continue;
			ina_forest_get(b->forest, b->job[k], &tree);
			if (tree.kind == INA_FOREST_NONE)
				continue;
			n = ina_forest_resources(b->forest, b->job[k], tree.index, &list);
			for (i = 0; i < n && list[i] != r; i++)
				;
			free(list);
			if (i == n)
				continue;
			ok = ok && holds(tree.crowded, "who is on an overfull switch is crowded") &&
			     holds(in < 0 || group[b->job[k]] == in,
				   "who is on one overfull switch is in one group");
			in = group[b->job[k]];
		}
	}
	return ok;
}

static void come(struct bench *b, int k)
{
	int n = 0, i, *all = calloc((size_t)b->topo->n_nodes, sizeof(int)), want;

	for (i = 0; i < b->topo->n_nodes; i++)
		if (b->topo->nodes[i].kind == INA_TOPO_HOST)
			all[n++] = i;
	want = 1 + draw(n < 6 ? n : 6);
	for (i = 0; i < want; i++) {
		int pick = i + draw(n - i), host = all[pick];

		all[pick] = all[i];
		all[i] = host;
	}
	b->hosts[k] = all;
	b->n[k] = want;
	b->job[k] = ina_forest_add(b->forest, all, want);
	b->other[k] = ina_forest_add(b->first, all, want);
	if (b->job[k] < 0 || b->other[k] < 0)
		abort();
}

static void go(struct bench *b, int k)
{
	if (ina_forest_remove(b->forest, b->job[k]) || ina_forest_remove(b->first, b->other[k]))
		abort();
	free(b->hosts[k]);
	b->hosts[k] = NULL;
	b->job[k] = -1;
}

static void bench_start(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	memset(b->job, 0xff, sizeof(b->job));
	b->topo = fabric();
	b->every = draw(2);
	b->limit = 1 + draw(8);
	b->forest = ina_forest_create(b->topo, INA_FOREST_BEST, b->every, b->limit);
	b->first = NULL;
	for (int i = 0; i < 2; i++) {
		b->node[i] = calloc((size_t)b->topo->n_nodes, sizeof(int));
		b->link[i] = calloc((size_t)b->topo->n_links, sizeof(int));
	}
}

static void bench_end(struct bench *b)
{
	for (int k = 0; k < JOBS; k++)
		if (b->job[k] >= 0)
			go(b, k);
	ina_forest_destroy(b->forest);
	ina_forest_destroy(b->first);
	ina_topo_destroy(b->topo);
	for (int i = 0; i < 2; i++) {
		free(b->node[i]);
		free(b->link[i]);
	}
}

#endif
