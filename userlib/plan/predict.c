// SPDX-License-Identifier: GPL-2.0
/*
 * How long a round of a tree takes. Every machine sends to its parent at one constant rate that
 * makes all children of a node end together; so what a node sends up is again a stream
 * of constant rate, and a round is predicted in one walk from the leaves to the root.
 *
 * A node with n children cuts its idle bandwidth into n + 1 equal shares in each direction:
 * one for itself and its parent, one for each child; sums go up and results come down in
 * them. The root has no parent and n shares.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

/* Relative room left below a limit, so that rounding does not cross it. */
#define PREDICT_ROOM	1e-12
#define PREDICT_ROUNDS	200

struct ina_predict *ina_predict_create(const struct ina_tree_problem *problem)
{
	struct ina_predict *predict = calloc(1, sizeof(*predict));
	size_t n = (size_t)problem->n_sites;

	if (!predict)
		return NULL;
	predict->problem = problem;
	predict->times = calloc(n, sizeof(*predict->times));
	predict->order = calloc(n, sizeof(*predict->order));
	predict->first = calloc(n + 2, sizeof(*predict->first));
	predict->child = calloc(n, sizeof(*predict->child));
	predict->way = calloc(n, sizeof(*predict->way));
	if (predict->times && predict->order && predict->first && predict->child && predict->way)
		return predict;
	ina_predict_destroy(predict);
	return NULL;
}

void ina_predict_destroy(struct ina_predict *predict)
{
	if (!predict)
		return;
	free(predict->times);
	free(predict->order);
	free(predict->first);
	free(predict->child);
	free(predict->way);
	free(predict);
}

/* Put the children of each site side by side. */
static int predict_children(struct ina_predict *predict, const int *parent)
{
	int n = predict->problem->n_sites, *first = predict->first, used = 0;

	memset(first, 0, ((size_t)n + 2) * sizeof(*first));
	for (int i = 0; i < n; i++) {
		used += parent[i] != INA_TREE_UNUSED;
		if (parent[i] >= 0)
			first[parent[i] + 2]++;
	}
	for (int i = 0; i < n; i++) {
		predict->times[i].children = first[i + 2];
		first[i + 2] += first[i + 1];
	}
	for (int i = 0; i < n; i++) {
		if (parent[i] >= 0)
			predict->child[first[parent[i] + 1]++] = i;
	}
	return used;
}

/* Sites of the tree in @order, parents first. False if some are not below the root. */
static bool predict_sort(struct ina_predict *predict, const int *parent)
{
	int n = 1;

	predict->n = predict_children(predict, parent);
	if (parent[0] != INA_TREE_ROOT)
		return false;
	predict->order[0] = 0;
	for (int i = 0; i < n; i++) {
		int p = predict->order[i];

		for (int c = predict->first[p]; c < predict->first[p + 1]; c++)
			predict->order[n++] = predict->child[c];
	}
	return n == predict->n;
}

static double predict_latency(const struct ina_predict *predict, int a, int b)
{
	return predict->problem->latency[(size_t)a * (size_t)predict->problem->n_sites + (size_t)b];
}

/* Shares a site cuts its bandwidth into. */
static int predict_shares(const struct ina_predict *predict, int site)
{
	return predict->times[site].children + (site != 0);
}

/* The earliest end at @p that each child alone allows; what they send begins at *@start. */
static double predict_alone(const struct ina_predict *predict, int p, double *start)
{
	const struct ina_tree_problem *problem = predict->problem;
	double end = 0;

	for (int i = predict->first[p]; i < predict->first[p + 1]; i++) {
		int c = predict->child[i];
		const struct ina_predict_time *time = &predict->times[c];
		double latency = predict_latency(predict, c, p);
		double share = problem->sites[c].idle / predict_shares(predict, c);

		*start = fmax(*start, time->start + latency);
		end = fmax(end, time->end + latency);
		end = fmax(end, time->start + latency + problem->bits / share);
	}
	return end;
}

/*
 * The end T at which the children together use up the bandwidth of @p: each sends all its
 * bits from its start until T. The harmonic mean of the spans grows with T and bends down, so
 * Newton's steps come from below and never pass the solution.
 */
static double predict_together(const struct ina_predict *predict, int p, double end)
{
	const struct ina_tree_problem *problem = predict->problem;
	int shares = predict_shares(predict, p), n = predict->times[p].children;
	double span = problem->bits * (1 + PREDICT_ROOM) /
		      fmin(problem->sites[p].adds, problem->sites[p].idle * n / shares);

	for (int round = 0; round < PREDICT_ROUNDS; round++) {
		double sum = 0, squares = 0;

		for (int i = predict->first[p]; i < predict->first[p + 1]; i++) {
			int c = predict->child[i];
			double rate = 1 / (end - predict->times[c].start -
					   predict_latency(predict, c, p));

			sum += rate;
			squares += rate * rate;
		}
		if (1 / sum >= span * (1 - PREDICT_ROOM))
			break;
		/* Steps may be too small to count, or no number where a span is 0. */
		end = fmax(end + (span - 1 / sum) * sum * sum / squares, nextafter(end, INFINITY));
	}
	return end;
}

static void predict_site(struct ina_predict *predict, int p)
{
	const struct ina_tree_problem *problem = predict->problem;
	struct ina_predict_time *time = &predict->times[p];

	time->start = problem->sites[p].ready;
	time->end = problem->sites[p].ready;
	if (!time->children)
		return;
	time->end = fmax(time->end, predict_together(predict, p,
						     predict_alone(predict, p, &time->start)));
	for (int i = predict->first[p]; i < predict->first[p + 1]; i++) {
		int c = predict->child[i];

		predict->times[c].rate = problem->bits / (time->end - predict->times[c].start -
							  predict_latency(predict, c, p));
	}
}

/* From the root down along the children that hold their parent up. */
static int predict_slowest(const struct ina_predict *predict)
{
	int p = 0, next = 0;

	do {
		p = next;
		for (int i = predict->first[p]; i < predict->first[p + 1]; i++) {
			int c = predict->child[i];

			if (predict->times[c].children && predict->times[c].end +
			    predict_latency(predict, c, p) >= predict->times[p].end)
				next = c;
		}
	} while (next != p);
	return p;
}

/* When the last result has come down, if sums were done at the root's end. */
static double predict_results(struct ina_predict *predict, const int *parent)
{
	const struct ina_tree_problem *problem = predict->problem;
	const struct ina_predict_time *root = &predict->times[0];
	double end = root->end, farthest = 0;

	predict->critical = predict_slowest(predict);
	for (int i = 0; i < predict->n; i++) {
		int site = predict->order[i];
		double *way = &predict->way[site], share = problem->sites[site].idle /
							    predict_shares(predict, site);

		*way = site ? predict->way[parent[site]] +
			      predict_latency(predict, parent[site], site) : 0;
		farthest = fmax(farthest, *way);
		if (root->start + problem->bits / share > end) {
			end = root->start + problem->bits / share;
			predict->critical = site;
		}
	}
	return end + farthest;
}

double ina_predict_run(struct ina_predict *predict, const int *parent)
{
	if (!predict_sort(predict, parent))
		return INFINITY;
	for (int i = predict->n; i--;)
		predict_site(predict, predict->order[i]);
	return predict_results(predict, parent);
}

void ina_tree_direct(const struct ina_tree_problem *problem, int *parent)
{
	for (int i = 0; i < problem->n_sites; i++)
		parent[i] = i <= problem->n_workers ? 0 : INA_TREE_UNUSED;
	parent[0] = INA_TREE_ROOT;
}
