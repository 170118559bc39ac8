// SPDX-License-Identifier: GPL-2.0
/*
 * XAgg's tree: workers of similar speed share an aggregator, aggregators are taken in the order
 * of their idle resources and layer by layer from the workers up, each with as many children as
 * its bandwidth carries at the rate of the first.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

/* Children of a server of @idle bandwidth at the reference rate, at least one. */
static int xagg_children(double idle, double rate, int k)
{
	return (int)fmin(k, fmax(1, ceil(idle / rate - 0.5)));
}

/*
 * Group the @n sites in @layer below servers from *@next on; those beyond the last server
 * stay as they are. Returns the size of the new layer.
 */
static int xagg_layer(const struct ina_tree_problem *problem, int k, int *layer, int n, int *next,
		      int *parent)
{
	double rate = problem->sites[*next].idle / k;
	int made = 0, done = 0;

	while (done < n && *next < problem->n_sites) {
		int server = (*next)++;
		int take = xagg_children(problem->sites[server].idle, rate, k);

		for (; take && done < n; take--)
			parent[layer[done++]] = server;
		layer[made++] = server;
	}
	while (done < n)
		layer[made++] = layer[done++];
	return made;
}

/* The N aggregators that are left become the first N servers. */
static void xagg_compact(const struct ina_tree_problem *problem, int *parent, int *place)
{
	int top = problem->n_workers + 1;

	for (int i = 0; i < problem->n_sites; i++) {
		place[i] = i;
		if (i > problem->n_workers && parent[i] != INA_TREE_UNUSED)
			place[i] = top++;
	}
	for (int i = 0; i < problem->n_sites; i++) {
		int up = parent[i] < 0 ? parent[i] : place[parent[i]];

		/* A server moves to a place that was read already or is its own. */
		parent[i] = INA_TREE_UNUSED;
		if (up != INA_TREE_UNUSED)
			parent[place[i]] = up;
	}
}

/* How many children each site has, and the sum of their numbers: with one child, the child. */
static void xagg_count(const struct ina_tree_problem *problem, const int *parent, int *children,
		       int64_t *sum)
{
	for (int i = 0; i < problem->n_sites; i++) {
		if (parent[i] < 0)
			continue;
		children[parent[i]]++;
		sum[parent[i]] += i;
	}
}

int ina_tree_prune(const struct ina_tree_problem *problem, int *parent)
{
	size_t n = (size_t)problem->n_sites;
	int *children = calloc(n, sizeof(*children)), i = problem->n_workers + 1;
	int64_t *sum = calloc(n, sizeof(*sum));

	if (children && sum)
		xagg_count(problem, parent, children, sum);
	while (children && sum && i < problem->n_sites) {
		int up = parent[i];

		if (up == INA_TREE_UNUSED || children[i] > 1) {
			i++;
			continue;
		}
		if (children[i])
			parent[sum[i]] = up;
		sum[up] += sum[i] - i;
		children[up] += children[i] - 1;
		parent[i] = INA_TREE_UNUSED;
		/* A parent that was looked at may have lost its second child. */
		i = up > problem->n_workers && up < i ? up : i + 1;
	}
	free(children);
	free(sum);
	return children && sum ? 0 : -ENOMEM;
}

int ina_xagg_build(const struct ina_tree_problem *problem, int k, int *parent)
{
	int *layer = calloc((size_t)problem->n_sites, sizeof(*layer));
	int n = problem->n_workers, next = n + 1, ret;

	if (!layer)
		return -ENOMEM;
	ina_tree_direct(problem, parent);
	for (int i = 0; i < n; i++)
		layer[i] = i + 1;
	while (n > k && next < problem->n_sites)
		n = xagg_layer(problem, k, layer, n, &next, parent);
	for (int i = 0; i < n; i++)
		parent[layer[i]] = 0;
	ret = ina_tree_prune(problem, parent);
	xagg_compact(problem, parent, layer);
	free(layer);
	return ret;
}

int ina_xagg_best(struct ina_predict *predict, int *parent)
{
	const struct ina_tree_problem *problem = predict->problem;
	int *tree = calloc((size_t)problem->n_sites, sizeof(*tree)), best = -ENOMEM;
	double least = INFINITY;

	for (int k = INA_XAGG_K_MIN; tree && k <= INA_XAGG_K_MAX; k++) {
		double seconds;

		if (ina_xagg_build(problem, k, tree)) {
			best = -ENOMEM;
			break;
		}
		seconds = ina_predict_run(predict, tree);
		if (best < 0 || seconds < least) {
			least = seconds;
			best = k;
			memcpy(parent, tree, (size_t)problem->n_sites * sizeof(*parent));
		}
	}
	free(tree);
	return best;
}
