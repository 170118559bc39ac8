// SPDX-License-Identifier: GPL-2.0
/*
 * The exact search: on small cases it is compared with glpsol on a model written here, and out of
 * steps it keeps what there is.
 */
#include <unistd.h>

#include "forests.h"

#define SMALL		100

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

int main(void)
{
	ktap_start();
	test_exact();
	test_kept();
	test_budget();
	return ktap_end();
}
