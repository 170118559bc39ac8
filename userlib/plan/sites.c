// SPDX-License-Identifier: GPL-2.0
/*
 * Who may be in the tree of a job: the root, the machines with workers and those that pass
 * XAgg's screening, with their idle bandwidth and how far they are from each other.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define SITES_MAX	8192
#define SITES_SPARE	13	/* aggregators with one child, one a layer, while XAgg's tree is built */

/**
 * struct sites_graph - to walk the cluster
 * @ends: links by machine or switch
 * @seconds: distance of each node from where a walk began
 * @heap: nodes to visit, nearest first
 * @at: position of each node in @heap, -1 if it is not there
 * @n_heap: how many nodes are to be visited
 */
struct sites_graph {
	struct ina_topo_ends ends;
	double *seconds;
	int *heap;
	int *at;
	int n_heap;
};

static int sites_fail(const struct ina_topo *topo, int host, struct ina_doc_error *err,
		      const char *what)
{
	return ina_topo_fail(topo, host, err, "%.80s: %s", topo->nodes[host].name, what);
}

static int sites_fail_memory(struct ina_doc_error *err)
{
	snprintf(err->text, sizeof(err->text), "%s", strerror(ENOMEM));
	return -ENOMEM;
}

static void sites_graph_free(struct sites_graph *graph)
{
	ina_topo_ends_clear(&graph->ends);
	free(graph->seconds);
	free(graph->heap);
	free(graph->at);
}

static bool sites_graph_init(struct sites_graph *graph, const struct ina_topo *topo)
{
	size_t n = (size_t)topo->n_nodes;

	graph->seconds = calloc(n, sizeof(*graph->seconds));
	graph->heap = calloc(n, sizeof(*graph->heap));
	graph->at = calloc(n, sizeof(*graph->at));
	return graph->seconds && graph->heap && graph->at &&
	       ina_topo_ends_init(&graph->ends, topo);
}

static void sites_heap_put(struct sites_graph *graph, int i, int node)
{
	graph->heap[i] = node;
	graph->at[node] = i;
}

/* A node came nearer: let it rise. */
static void sites_heap_rise(struct sites_graph *graph, int node)
{
	int i = graph->at[node] < 0 ? graph->n_heap++ : graph->at[node];

	while (i && graph->seconds[node] < graph->seconds[graph->heap[(i - 1) / 2]]) {
		sites_heap_put(graph, i, graph->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	sites_heap_put(graph, i, node);
}

static int sites_heap_pop(struct sites_graph *graph)
{
	int top = graph->heap[0], node = graph->heap[--graph->n_heap], i = 0, child;

	for (; (child = 2 * i + 1) < graph->n_heap; i = child) {
		if (child + 1 < graph->n_heap && graph->seconds[graph->heap[child + 1]] <
						  graph->seconds[graph->heap[child]])
			child++;
		if (graph->seconds[node] <= graph->seconds[graph->heap[child]])
			break;
		sites_heap_put(graph, i, graph->heap[child]);
	}
	sites_heap_put(graph, i, node);
	graph->at[top] = -1;
	return top;
}

/* Distance of all nodes from @from by the fastest way through switches. */
static void sites_walk(struct sites_graph *graph, const struct ina_topo *topo, int from)
{
	for (int i = 0; i < topo->n_nodes; i++) {
		graph->seconds[i] = INFINITY;
		graph->at[i] = -1;
	}
	graph->seconds[from] = 0;
	graph->n_heap = 0;
	sites_heap_rise(graph, from);
	while (graph->n_heap) {
		int node = sites_heap_pop(graph);

		if (node != from && topo->nodes[node].kind == INA_TOPO_HOST)
			continue;
		for (int i = graph->ends.first[node]; i < graph->ends.first[node + 1]; i++) {
			int link = graph->ends.link[i], other = ina_topo_other(topo, link, node);
			double seconds = graph->seconds[node] + topo->links[link].latency;

			if (seconds >= graph->seconds[other])
				continue;
			graph->seconds[other] = seconds;
			sites_heap_rise(graph, other);
		}
	}
}

/**
 * struct sites_door - where the ways of a site begin
 * @from: the switch of a machine with one link, else the machine
 * @site: the site
 * @seconds: from the machine to @from
 */
struct sites_door {
	int from;
	int site;
	double seconds;
};

static int sites_by_door(const void *a, const void *b)
{
	return ((const struct sites_door *)a)->from - ((const struct sites_door *)b)->from;
}

/* Machines at the same switch side by side: one walk does for all of them. */
static struct sites_door *sites_doors(const struct ina_tree_problem *problem,
				      const struct sites_graph *graph)
{
	struct sites_door *doors = calloc((size_t)problem->n_sites, sizeof(*doors));

	for (int i = 0; doors && i < problem->n_sites; i++) {
		int host = problem->sites[i].host, first = graph->ends.first[host];

		doors[i] = (struct sites_door){ .from = host, .site = i };
		if (graph->ends.first[host + 1] == first + 1) {
			int only = graph->ends.link[first];
			int other = ina_topo_other(problem->topo, only, host);

			if (problem->topo->nodes[other].kind == INA_TOPO_SWITCH)
				doors[i] = (struct sites_door){
					other, i, problem->topo->links[only].latency };
		}
	}
	if (doors)
		qsort(doors, (size_t)problem->n_sites, sizeof(*doors), sites_by_door);
	return doors;
}

static int sites_measure_ways(struct ina_tree_problem *problem, struct ina_doc_error *err)
{
	size_t n = (size_t)problem->n_sites;
	struct sites_graph graph = { 0 };
	struct sites_door *doors = NULL;
	int ret = 0;

	problem->latency = malloc(n * n * sizeof(*problem->latency));
	if (problem->latency && sites_graph_init(&graph, problem->topo))
		doors = sites_doors(problem, &graph);
	if (!doors)
		ret = sites_fail_memory(err);
	for (size_t i = 0; !ret && i < n; i++) {
		float *row = &problem->latency[(size_t)doors[i].site * n];

		if (!i || doors[i].from != doors[i - 1].from)
			sites_walk(&graph, problem->topo, doors[i].from);
		for (size_t j = 0; j < n; j++)
			row[j] = (float)(doors[i].seconds +
					 graph.seconds[problem->sites[j].host]);
		if (isinf(row[0]))
			ret = sites_fail(problem->topo, problem->sites[doors[i].site].host, err,
					 "no way leads from here to the root");
	}
	free(doors);
	sites_graph_free(&graph);
	return ret;
}

static double *sites_idle(const struct ina_topo *topo)
{
	double *idle = calloc((size_t)topo->n_nodes, sizeof(*idle));

	for (int i = 0; idle && i < topo->n_links; i++) {
		const struct ina_topo_link *link = &topo->links[i];

		idle[link->a] += link->rate - link->used;
		idle[link->b] += link->rate - link->used;
	}
	return idle;
}

/* XAgg's two criteria, and that it may aggregate at all. */
static bool sites_screen(const struct ina_topo_node *node, double idle, double size,
			 double per_core)
{
	return node->kind == INA_TOPO_HOST && node->capacity > 0 && idle > 0 &&
	       node->used_memory + size <= INA_TREE_MEMORY * node->memory &&
	       idle <= per_core * node->idle_cores;
}

/* Whether a machine can be in a tree with those before; if not, @why may be given. */
static bool sites_meet(const struct ina_tree_problem *problem, int host, struct ina_doc_error *why)
{
	const struct ina_topo_node *nodes = problem->topo->nodes, *node = &nodes[host];
	const struct ina_topo_node *first = &nodes[problem->sites[0].host];

	for (int i = 1; !first->addr && i < problem->n_sites; i++)
		first = &nodes[problem->sites[i].host];
	return ina_plan_one_family(node->name, node->addr, first->name, first->addr, why);
}

static void sites_add(struct ina_tree_problem *problem, const double *idle, int host,
		      double size, double per_core)
{
	const struct ina_topo_node *node = &problem->topo->nodes[host];
	struct ina_tree_site *site = &problem->sites[problem->n_sites++];

	site->host = host;
	site->idle = idle[host];
	site->candidate = sites_screen(node, idle[host], size, per_core);
	site->adds = idle[host];
	/* The root has to, even with every core busy: one is counted as idle. */
	if (node->cores > 0)
		site->adds = fmin(idle[host], per_core * fmax(1, node->idle_cores));
}

static int sites_by_step(const void *a, const void *b)
{
	const struct ina_tree_site *x = a, *y = b;

	return x->step != y->step ? (x->step > y->step) - (x->step < y->step) :
				    x->host - y->host;
}

/* The machines with workers; one that is the root only lends it its times. */
static int sites_add_workers(struct ina_tree_problem *problem, const struct ina_measure *measure,
			     const double *idle, double size, double per_core,
			     struct ina_doc_error *err)
{
	struct ina_doc_error why;

	for (int i = 0; i < measure->n_workers; i++) {
		const struct ina_measure_worker *worker = &measure->workers[i];
		struct ina_tree_site *site = problem->sites;

		if (worker->host != site->host) {
			site += problem->n_sites;
			sites_add(problem, idle, worker->host, size, per_core);
		}
		site->workers = worker->workers;
		site->ready = worker->t1;
		site->step = worker->t1 + worker->t2;
		if (site->idle <= 0)
			return sites_fail(problem->topo, site->host, err, "no idle bandwidth");
		if (!sites_meet(problem, site->host, &why))
			return ina_topo_fail(problem->topo, site->host, err, "%.360s", why.text);
	}
	problem->n_workers = problem->n_sites - 1;
	if (!problem->n_workers)
		return sites_fail(problem->topo, problem->sites[0].host, err,
				  "no workers besides those of the root");
	qsort(problem->sites + 1, (size_t)problem->n_workers, sizeof(*problem->sites), sites_by_step);
	return 0;
}

/**
 * struct sites_server - a machine in XAgg's order: most idle bandwidth, cores, memory first
 * @host: its index
 * @idle: bit/s
 * @cores: idle
 * @memory: bytes free
 */
struct sites_server {
	int host;
	double idle;
	double cores;
	double memory;
};

static int sites_by_idle(const void *a, const void *b)
{
	const struct sites_server *x = a, *y = b;

	if (x->idle != y->idle)
		return x->idle < y->idle ? 1 : -1;
	if (x->cores != y->cores)
		return x->cores < y->cores ? 1 : -1;
	if (x->memory != y->memory)
		return x->memory < y->memory ? 1 : -1;
	return x->host - y->host;
}

/* A node has at least two children in the end, so no more servers than workers are of use. */
static int sites_add_servers(struct ina_tree_problem *problem, const double *idle, double size,
			     double per_core, struct ina_doc_error *err)
{
	const struct ina_topo *topo = problem->topo;
	struct sites_server *servers = calloc((size_t)topo->n_nodes, sizeof(*servers));
	bool *taken = calloc((size_t)topo->n_nodes, sizeof(*taken));
	int n = 0;

	for (int i = 0; taken && i < problem->n_sites; i++)
		taken[problem->sites[i].host] = true;
	for (int i = 0; taken && servers && i < topo->n_nodes; i++) {
		const struct ina_topo_node *node = &topo->nodes[i];

		if (!taken[i] && sites_screen(node, idle[i], size, per_core) &&
		    sites_meet(problem, i, NULL))
			servers[n++] = (struct sites_server){ i, idle[i], node->idle_cores,
							      node->memory - node->used_memory };
	}
	if (n)
		qsort(servers, (size_t)n, sizeof(*servers), sites_by_idle);
	for (int i = 0; i < n && i < problem->n_workers + SITES_SPARE; i++)
		sites_add(problem, idle, servers[i].host, size, per_core);
	n = servers && taken ? 0 : sites_fail_memory(err);
	free(servers);
	free(taken);
	return n;
}

static int sites_fill(struct ina_tree_problem *problem, const struct ina_measure *measure,
		      int root, double size, double per_core, struct ina_doc_error *err)
{
	const struct ina_topo_node *node = &problem->topo->nodes[root];
	double *idle = sites_idle(problem->topo);
	int ret;

	problem->sites = calloc(2 * (size_t)measure->n_workers + 1 + SITES_SPARE,
				sizeof(*problem->sites));
	if (!idle || !problem->sites)
		ret = sites_fail_memory(err);
	else if (node->kind != INA_TOPO_HOST || node->capacity <= 0)
		ret = sites_fail(problem->topo, root, err, node->kind != INA_TOPO_HOST ?
				 "a switch cannot be the root" :
				 "may not be the root: no capacity is left");
	else if (idle[root] <= 0)
		ret = sites_fail(problem->topo, root, err, "no idle bandwidth");
	else if (measure->n_workers > SITES_MAX / 2)
		ret = sites_fail(problem->topo, root, err, "more than 4096 machines with workers");
	else
		ret = 0;
	if (!ret) {
		sites_add(problem, idle, root, size, per_core);
		ret = sites_add_workers(problem, measure, idle, size, per_core, err);
	}
	if (!ret)
		ret = sites_add_servers(problem, idle, size, per_core, err);
	free(idle);
	return ret;
}

struct ina_tree_problem *ina_tree_problem_create(const struct ina_topo *topo,
						 const struct ina_measure *measure, int root,
						 double size, double per_core,
						 struct ina_doc_error *err)
{
	struct ina_tree_problem *problem = calloc(1, sizeof(*problem));
	int ret;

	if (!problem) {
		sites_fail_memory(err);
		return NULL;
	}
	problem->topo = topo;
	problem->bits = 8 * size;
	ret = sites_fill(problem, measure, root, size, per_core, err);
	if (!ret)
		ret = sites_measure_ways(problem, err);
	if (!ret)
		return problem;
	ina_tree_problem_destroy(problem);
	return NULL;
}

void ina_tree_problem_destroy(struct ina_tree_problem *problem)
{
	if (!problem)
		return;
	free(problem->sites);
	free(problem->latency);
	free(problem);
}

/* A copy of @text, which may be NULL. */
static bool sites_copy(char **copy, const char *text)
{
	*copy = text ? strdup(text) : NULL;
	return !text || *copy;
}

/* The sites that are in the tree, parents by their place there. */
static bool sites_plan_nodes(const struct ina_tree_problem *problem, const int *parent,
			     struct ina_plan_job *job)
{
	int *place = calloc((size_t)problem->n_sites, sizeof(*place));
	bool ok = place;

	for (int i = 0, n = 0; ok && i < problem->n_sites; i++)
		place[i] = parent[i] == INA_TREE_UNUSED ? -1 : n++;
	for (int i = 0; ok && i < problem->n_sites; i++) {
		const struct ina_topo_node *host = &problem->topo->nodes[problem->sites[i].host];
		struct ina_plan_node *node;

		if (parent[i] == INA_TREE_UNUSED)
			continue;
		node = &job->nodes[job->n_nodes++];
		node->parent = parent[i] < 0 ? -1 : place[parent[i]];
		node->workers = problem->sites[i].workers;
		ok = sites_copy(&node->host, host->name) && sites_copy(&node->where, host->where) &&
		     sites_copy(&node->addr, host->addr);
	}
	free(place);
	return ok;
}

struct ina_plan *ina_tree_plan(const struct ina_tree_problem *problem, const int *parent,
			       uint32_t id, char *const *options)
{
	struct ina_plan *plan = calloc(1, sizeof(*plan));
	struct ina_plan_job *job = calloc(1, sizeof(*job));
	int n = 0;
	bool ok;

	if (!plan || !job) {
		free(plan);
		free(job);
		return NULL;
	}
	while (options[n])
		n++;
	plan->jobs = job;
	plan->n_jobs = 1;
	job->id = id;
	job->nodes = calloc((size_t)problem->n_sites, sizeof(*job->nodes));
	job->options = calloc((size_t)n + 1, sizeof(*job->options));
	ok = job->nodes && job->options && sites_plan_nodes(problem, parent, job);
	for (int i = 0; ok && i < n; i++)
		ok = sites_copy(&job->options[i], options[i]);
	if (ok)
		return plan;
	ina_plan_destroy(plan);
	return NULL;
}
