// SPDX-License-Identifier: GPL-2.0
/*
 * Trees of many jobs: after every job that comes or goes on a random fabric, a checker that
 * knows only parents and capacities looks at all trees; and on small cases the exact search
 * is compared with glpsol on a model written here.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "forest.h"
#include "ktap.h"

#define FABRICS		120
#define EVENTS		40
#define SMALL		100
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

/* The model for glpsol: as many own trees as possible, then the most kept. */
static void write_model(struct bench *b, const int *before, int n, const char *path)
{
	FILE *file = fopen(path, "w");
	int resources = b->topo->n_nodes + b->topo->n_links, k, t, r, i;

	if (!file)
		abort();
	fprintf(file, "Maximize\n obj: 0 zero");
	for (k = 0; k < n; k++)
		for (t = 0; t < ina_forest_candidates(b->forest, b->job[k]); t++)
			fprintf(file, " + %d x%d_%d", n + 1 + (before[k] == t), k, t);
	fprintf(file, "\nSubject To\n z: zero = 0\n");
	for (k = 0; k < n; k++) {
		if (!ina_forest_candidates(b->forest, b->job[k]))
			continue;
		fprintf(file, " j%d: 0 zero", k);
		for (t = 0; t < ina_forest_candidates(b->forest, b->job[k]); t++)
			fprintf(file, " + x%d_%d", k, t);
		fprintf(file, " <= 1\n");
	}
	for (r = 0; r < resources; r++) {
		fprintf(file, " r%d: 0 zero", r);
		for (k = 0; k < n; k++)
			for (t = 0; t < ina_forest_candidates(b->forest, b->job[k]); t++) {
				int *list, count_of = ina_forest_resources(b->forest, b->job[k], t,
									   &list);

				for (i = 0; i < count_of; i++)
					if (list[i] == r)
						fprintf(file, " + x%d_%d", k, t);
				free(list);
			}
		fprintf(file, " <= %d\n", ina_forest_capacity(b->forest, r));
	}
	fprintf(file, "Binary\n");
	for (k = 0; k < n; k++)
		for (t = 0; t < ina_forest_candidates(b->forest, b->job[k]); t++)
			fprintf(file, " x%d_%d\n", k, t);
	fprintf(file, "End\n");
	if (fclose(file))
		abort();
}

/* The optimum by glpsol, -1 if it has none to tell. */
static long solve_model(const char *path)
{
	char command[600], line[200];
	double value = -1;
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "glpsol --lp %s --mipgap 0 -o %s.out >/dev/null 2>&1 && cat %s.out", path, path,
		 path);
	pipe = popen(command, "r");
	while (pipe && fgets(line, sizeof(line), pipe))
		if (sscanf(line, "Objective: obj = %lf", &value) == 1)
			break;
	while (pipe && fgets(line, sizeof(line), pipe))
		;
	if (!pipe || pclose(pipe))
		return -1;
	return (long)(value + 0.5);
}

/* Value of the forest as glpsol's objective counts it. */
static long value_of(struct bench *b, const int *before, int n)
{
	struct ina_forest_tree tree;
	long value = 0;

	for (int k = 0; k < n; k++) {
		ina_forest_get(b->forest, b->job[k], &tree);
		if (tree.kind == INA_FOREST_OWN)
			value += n + 1 + (before[k] == tree.index);
	}
	return value;
}

/* The same jobs in a new forest: some run with the trees they have, some wait. */
static int again(struct bench *b, int *before, int n)
{
	int k;

	ina_forest_destroy(b->forest);
	b->forest = ina_forest_create(b->topo, INA_FOREST_BEST, b->every, b->limit);
	for (k = 0; k < n; k++) {
		b->job[k] = ina_forest_enlist(b->forest, b->hosts[k], b->n[k]);
		if (b->job[k] < 0)
			abort();
		if (!draw(3))
			before[k] = INA_TOPO_NONE;
		if (before[k] >= 0)
			ina_forest_give(b->forest, b->job[k], before[k]);
	}
	return ina_forest_own(b->forest);
}

static void test_exact(void)
{
	bool equal = true, proven = true, ok = true, kept = true;
	char path[] = "/tmp/ina-forest-XXXXXX";
	int fd = mkstemp(path), before[JOBS], improved = 0, i;
	char out[sizeof(path) + 4];

	if (fd < 0)
		abort();
	close(fd);
	for (i = 0; i < SMALL && equal && proven && ok; i++) {
		struct ina_forest_tree tree;
		int n = 3 + draw(9), own, k;
		long optimum;
		struct bench b;

		bench_start(&b);
		b.first = ina_forest_create(b.topo, INA_FOREST_FIRST, b.every, 8);
		/* First fits leave more to be done. */
		if (draw(2)) {
			ina_forest_destroy(b.forest);
			b.forest = ina_forest_create(b.topo, INA_FOREST_FIRST, b.every, b.limit);
		}
		for (k = 0; k < n; k++)
			come(&b, k);
		for (k = 0; k < n; k++) {
			ina_forest_get(b.forest, b.job[k], &tree);
			before[k] = tree.index;
		}
		own = ina_forest_own(b.forest);
		/* Or they run with these trees and it is not known yet how the others fit. */
		if (draw(2))
			own = again(&b, before, n);
		write_model(&b, before, n, path);
		optimum = solve_model(path);
		proven = ina_forest_solve(b.forest, 100000000) == 1;
		equal = optimum >= 0 && value_of(&b, before, n) == optimum;
		if (!equal)
			printf("# glpsol has %ld, the search %ld\n", optimum,
			       value_of(&b, before, n));
		kept = kept && ina_forest_own(b.forest) >= own;
		improved += ina_forest_own(b.forest) > own;
		ok = check(&b) && check_groups(&b);
		bench_end(&b);
	}
	snprintf(out, sizeof(out), "%s.out", path);
	unlink(out);
	unlink(path);
	ktap_ok(equal, "%d small cases: as many own trees and as few changes as glpsol finds", i);
	ktap_ok(proven, "and proven so");
	ktap_ok(kept, "never fewer than before (%d cases got more)", improved);
	ktap_ok(ok, "what the search leaves is a forest%s%s", broken ? "; but not: " : "",
		broken ? broken : "");
}

static int add_node(struct ina_topo *topo, const char *kind, int level, int capacity)
{
	char name[16];
	struct ina_topo_node node = {
		.name = name, .kind = level ? INA_TOPO_SWITCH : INA_TOPO_HOST, .level = level,
		.rack = INA_TOPO_NONE, .pod = INA_TOPO_NONE, .capacity = capacity,
	};

	snprintf(name, sizeof(name), "%s%d", kind, topo->n_nodes);
	return ina_topo_add_node(topo, &node);
}

static void add_link(struct ina_topo *topo, int a, int b)
{
	struct ina_topo_link link = { .a = a, .b = b, .rate = 1e9 };

	if (ina_topo_add_link(topo, &link) < 0)
		abort();
}

/*
 * Leaves 0 and 1 are below both tops of one unit, leaf 2 only below the first, leaf 3 only below
 * the second. Who runs at the first is not to make room for one who could only take its place.
 */
static void test_kept(void)
{
	static const int ends[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 3 } };
	struct ina_topo *topo = ina_topo_create();
	struct ina_forest_tree tree[3];
	int top[2], leaf[4], hosts[3][2], job[3], before = INA_TOPO_NONE, solved, i, k;
	struct ina_forest *forest;

	for (i = 0; i < 2; i++)
		top[i] = add_node(topo, "s", 2, 1);
	for (i = 0; i < 4; i++) {
		leaf[i] = add_node(topo, "l", 1, 1);
		for (k = 0; k < 2; k++)
			if (i < 2 || i == k + 2)
				add_link(topo, leaf[i], top[k]);
	}
	for (i = 0; i < 3; i++)
		for (k = 0; k < 2; k++) {
			hosts[i][k] = add_node(topo, "h", 0, 1);
			add_link(topo, hosts[i][k], leaf[ends[i][k]]);
		}
	forest = ina_forest_create(topo, INA_FOREST_BEST, false, 8);
	for (i = 0; i < 3; i++)
		job[i] = ina_forest_enlist(forest, hosts[i], 2);
	for (i = 0; i < ina_forest_candidates(forest, job[0]); i++) {
		int *list;

		if (ina_forest_resources(forest, job[0], i, &list) == 1 && list[0] == top[0])
			before = i;
		free(list);
	}
	ina_forest_give(forest, job[0], before);
	solved = ina_forest_solve(forest, 0);
	for (i = 0; i < 3; i++)
		ina_forest_get(forest, job[i], &tree[i]);
	ktap_ok(before >= 0 && solved == 1 && ina_forest_own(forest) == 2 &&
		tree[0].kind == INA_FOREST_OWN && tree[0].index == before &&
		tree[2].kind == INA_FOREST_OWN,
		"a tree that runs is not lost if as many have one with it");
	ina_forest_destroy(forest);
	ina_topo_destroy(topo);
}

/* A search that may not look at anything keeps what there is. */
static void test_budget(void)
{
	bool kept = true, said = true;

	for (int i = 0; i < 50; i++) {
		struct bench b;
		int own, k, n = 4 + draw(8), ret;

		bench_start(&b);
		b.first = ina_forest_create(b.topo, INA_FOREST_FIRST, b.every, 8);
		for (k = 0; k < n; k++)
			come(&b, k);
		own = ina_forest_own(b.forest);
		ret = ina_forest_solve(b.forest, 1);
		said = said && (ret == 0 || ret == 1);
		kept = kept && ina_forest_own(b.forest) >= own && check(&b);
		bench_end(&b);
	}
	ktap_ok(kept && said, "a search out of steps leaves the forest as good as it was");
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
	test_exact();
	test_kept();
	test_budget();
	test_refusals();
	return ktap_end();
}
