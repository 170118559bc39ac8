// SPDX-License-Identifier: GPL-2.0
/*
 * Walks up from the machines of a job to find the lowest switches above all of them, and
 * down from each to find its tree. Marks are serial numbers, so nothing is ever cleared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "candidate.h"

/**
 * struct ina_candidate_edges - links of every node in one direction
 * @start: where the links of a node begin; n_nodes + 1 entries
 * @to: the other end
 * @link: the link
 */
struct ina_candidate_edges {
	int *start;
	int *to;
	int *link;
};

/**
 * struct ina_candidate_graph - a topology made ready, and scratch memory
 * @topo: the topology
 * @every: switches with one child count, too
 * @up: links to higher levels
 * @down: links to lower levels
 * @serial: of the job
 * @walk: of the walk down
 * @above: serial of the last job the node was above of, or a machine of
 * @seen: serial of the last walk that came by
 * @inside: serial of the last walk whose tree it was in
 * @cover: machines of the job below, those on two ways counted twice
 * @parent: in the last walk
 * @via: link to @parent
 * @children: in the last tree
 * @order: nodes above the machines, lowest first
 * @queue: of a walk
 * @times: how many trees take a resource; all 0 between calls
 */
struct ina_candidate_graph {
	const struct ina_topo *topo;
	bool every;
	struct ina_candidate_edges up;
	struct ina_candidate_edges down;
	int serial;
	int walk;
	int *above;
	int *seen;
	int *inside;
	int *cover;
	int *parent;
	int *via;
	int *children;
	int *order;
	int *queue;
	int *times;
};

static bool ina_candidate_edges_fill(struct ina_candidate_edges *edges,
				     const struct ina_topo *topo, bool up)
{
	int i;

	edges->start = calloc((size_t)topo->n_nodes + 2, sizeof(int));
	edges->to = calloc((size_t)topo->n_links + 1, sizeof(int));
	edges->link = calloc((size_t)topo->n_links + 1, sizeof(int));
	if (!edges->start || !edges->to || !edges->link)
		return false;
	/* Two places on, so that filling moves each start to where it belongs. */
	for (i = 0; i < topo->n_links; i++)
		if (topo->nodes[topo->links[i].a].level < topo->nodes[topo->links[i].b].level)
			edges->start[(up ? topo->links[i].a : topo->links[i].b) + 2]++;
	for (i = 2; i <= topo->n_nodes; i++)
		edges->start[i] += edges->start[i - 1];
	for (i = 0; i < topo->n_links; i++) {
		int a = topo->links[i].a, b = topo->links[i].b, at;

		if (topo->nodes[a].level >= topo->nodes[b].level)
			continue;
		at = edges->start[(up ? a : b) + 1]++;
		edges->to[at] = up ? b : a;
		edges->link[at] = i;
	}
	return true;
}

static void ina_candidate_edges_free(struct ina_candidate_edges *edges)
{
	free(edges->start);
	free(edges->to);
	free(edges->link);
}

struct ina_candidate_graph *ina_candidate_create(const struct ina_topo *topo, bool every)
{
	struct ina_candidate_graph *graph = calloc(1, sizeof(*graph));
	bool ok;
	size_t i;

	if (!graph)
		return NULL;
	int **const arrays[] = {
		&graph->above, &graph->seen, &graph->inside, &graph->cover, &graph->parent,
		&graph->via, &graph->children, &graph->order, &graph->queue,
	};

	graph->topo = topo;
	graph->every = every;
	graph->times = calloc((size_t)topo->n_nodes + (size_t)topo->n_links + 1, sizeof(int));
	ok = ina_candidate_edges_fill(&graph->up, topo, true) &&
	     ina_candidate_edges_fill(&graph->down, topo, false) && graph->times;
	for (i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
		*arrays[i] = calloc((size_t)topo->n_nodes + 1, sizeof(int));
		ok = ok && *arrays[i];
	}
	if (ok)
		return graph;
	ina_candidate_destroy(graph);
	errno = ENOMEM;
	return NULL;
}

void ina_candidate_destroy(struct ina_candidate_graph *graph)
{
	if (!graph)
		return;
	ina_candidate_edges_free(&graph->up);
	ina_candidate_edges_free(&graph->down);
	free(graph->above);
	free(graph->seen);
	free(graph->inside);
	free(graph->cover);
	free(graph->parent);
	free(graph->via);
	free(graph->children);
	free(graph->order);
	free(graph->queue);
	free(graph->times);
	free(graph);
}

void ina_candidate_clear(struct ina_candidates *candidates)
{
	free(candidates->roots);
	free(candidates->common);
	free(candidates->rest);
	free(candidates->start);
	memset(candidates, 0, sizeof(*candidates));
}

/* Mark everything above the machines; the number of such nodes, or -EINVAL. */
static int ina_candidate_mark(struct ina_candidate_graph *graph, const int *hosts, int n)
{
	const struct ina_topo *topo = graph->topo;
	int count = 0, i, e;

	graph->serial++;
	for (i = 0; i < n; i++) {
		int host = hosts[i];

		if (host < 0 || host >= topo->n_nodes ||
		    topo->nodes[host].kind != INA_TOPO_HOST ||
		    graph->above[host] == graph->serial)
			return -EINVAL;
		graph->above[host] = graph->serial;
		graph->order[count++] = host;
	}
	for (i = 0; i < count; i++)
		for (e = graph->up.start[graph->order[i]];
		     e < graph->up.start[graph->order[i] + 1]; e++) {
			int to = graph->up.to[e];

			if (graph->above[to] == graph->serial ||
			    topo->nodes[to].kind == INA_TOPO_HOST)
				continue;
			graph->above[to] = graph->serial;
			graph->cover[to] = 0;
			graph->order[count++] = to;
		}
	for (i = 0; i < n; i++)
		graph->cover[hosts[i]] = 1;
	return count;
}

/* Order by level, then index: a stable sort by counting would need the highest level. */
static int ina_candidate_compare(const void *a, const void *b, void *topo)
{
	const struct ina_topo_node *nodes = ((const struct ina_topo *)topo)->nodes;
	int x = *(const int *)a, y = *(const int *)b;

	return nodes[x].level != nodes[y].level ? nodes[x].level - nodes[y].level : x - y;
}

/* Add up, from the machines, how many of them are below each node. */
static void ina_candidate_cover(struct ina_candidate_graph *graph, int count)
{
	int i, e;

	qsort_r(graph->order, (size_t)count, sizeof(int), ina_candidate_compare,
		(void *)graph->topo);
	for (i = 0; i < count; i++)
		for (e = graph->up.start[graph->order[i]];
		     e < graph->up.start[graph->order[i] + 1]; e++)
			graph->cover[graph->up.to[e]] += graph->cover[graph->order[i]];
}

/* Walk down from @root over marked nodes; whether all @n machines were reached. */
static bool ina_candidate_walk(struct ina_candidate_graph *graph, int root, int n)
{
	int head = 0, tail = 0, reached = 0, e;

	graph->walk++;
	graph->seen[root] = graph->walk;
	graph->parent[root] = INA_TOPO_NONE;
	graph->children[root] = 0;
	graph->queue[tail++] = root;
	while (head < tail) {
		int node = graph->queue[head++];

		if (graph->topo->nodes[node].kind == INA_TOPO_HOST) {
			reached++;
			continue;
		}
		for (e = graph->down.start[node]; e < graph->down.start[node + 1]; e++) {
			int to = graph->down.to[e];

			if (graph->above[to] != graph->serial || graph->seen[to] == graph->walk)
				continue;
			graph->seen[to] = graph->walk;
			graph->parent[to] = node;
			graph->via[to] = graph->down.link[e];
			graph->children[to] = 0;
			graph->queue[tail++] = to;
		}
	}
	return reached == n;
}

/*
 * The nodes of the tree of the last walk, in graph->queue: the machines and what is
 * between them and the root. Counts children. Number of nodes.
 */
static int ina_candidate_tree(struct ina_candidate_graph *graph, const int *hosts, int n)
{
	int count = 0, i, node;

	for (i = 0; i < n; i++)
		for (node = hosts[i]; node >= 0 && graph->inside[node] != graph->walk;
		     node = graph->parent[node]) {
			graph->inside[node] = graph->walk;
			graph->queue[count++] = node;
			if (graph->parent[node] >= 0)
				graph->children[graph->parent[node]]++;
		}
	return count;
}

/*
 * Limited resources of the tree of the last walk to @list; their number, or -EINVAL if it
 * would aggregate on a switch that cannot.
 */
static int ina_candidate_list(struct ina_candidate_graph *graph, int count, int *list)
{
	const struct ina_topo *topo = graph->topo;
	int n = 0, i;

	for (i = 0; i < count; i++) {
		int node = graph->queue[i], capacity = topo->nodes[node].capacity;

		if (topo->nodes[node].kind == INA_TOPO_SWITCH) {
			if (capacity == 0 && graph->children[node] > 1)
				return -EINVAL;
			if (capacity > 0 && (graph->every || graph->children[node] > 1))
				list[n++] = node;
		}
		if (graph->parent[node] >= 0 && topo->links[graph->via[node]].capacity > 0)
			list[n++] = topo->n_nodes + graph->via[node];
	}
	return n;
}

/* The roots of the lowest level that has any, in place of graph->order; their number. */
static int ina_candidate_roots(struct ina_candidate_graph *graph, int count, int n)
{
	const struct ina_topo_node *nodes = graph->topo->nodes;
	int found = 0, level = 0, i;

	for (i = 0; i < count; i++) {
		int node = graph->order[i];

		if (found && nodes[node].level != level)
			break;
		if (nodes[node].kind == INA_TOPO_HOST || graph->cover[node] < n ||
		    !ina_candidate_walk(graph, node, n))
			continue;
		level = nodes[node].level;
		graph->order[found++] = node;
	}
	return found;
}

/* Split what was collected, all trees one after the other, into common and rest. */
static int ina_candidate_split(struct ina_candidate_graph *graph, struct ina_candidates *out)
{
	int kept = 0, total = out->start[out->n], t, i, from, *less;

	out->common = calloc((size_t)out->start[out->n > 0] + 1, sizeof(int));
	if (!out->common)
		return -ENOMEM;
	for (i = 0; i < total; i++)
		graph->times[out->rest[i]]++;
	for (i = 0; i < out->start[out->n > 0]; i++)
		if (graph->times[out->rest[i]] == out->n)
			out->common[out->n_common++] = out->rest[i];
	for (t = 0, from = 0; t < out->n; t++) {
		int end = out->start[t + 1];

		out->start[t] = kept;
		for (; from < end; from++)
			if (graph->times[out->rest[from]] < out->n)
				out->rest[kept++] = out->rest[from];
	}
	out->start[out->n] = kept;
	less = reallocarray(out->rest, (size_t)kept + 1, sizeof(int));
	if (less)
		out->rest = less;
	for (i = 0; i < kept; i++)
		graph->times[out->rest[i]] = 0;
	for (i = 0; i < out->n_common; i++)
		graph->times[out->common[i]] = 0;
	return 0;
}

/* Make room for a tree of @count nodes behind the others; @room is what there is. */
static int ina_candidate_room(struct ina_candidates *out, int count, size_t *room)
{
	size_t need = (size_t)out->start[out->n] + 2 * (size_t)count + 1;
	int *list;

	if (need <= *room)
		return 0;
	list = reallocarray(out->rest, 2 * need, sizeof(int));
	if (!list)
		return -ENOMEM;
	out->rest = list;
	*room = 2 * need;
	return 0;
}

/* Add the tree under @root, if there is one. 0 or -ENOMEM. */
static int ina_candidate_add(struct ina_candidate_graph *graph, const int *hosts, int n, int root,
			     struct ina_candidates *out, size_t *room)
{
	int count, got;

	ina_candidate_walk(graph, root, n);
	count = ina_candidate_tree(graph, hosts, n);
	if (ina_candidate_room(out, count, room))
		return -ENOMEM;
	got = ina_candidate_list(graph, count, out->rest + out->start[out->n]);
	if (got < 0)
		return 0;
	out->roots[out->n++] = root;
	out->start[out->n] = out->start[out->n - 1] + got;
	return 0;
}

int ina_candidate_build(struct ina_candidate_graph *graph, const int *hosts, int n, int max,
			struct ina_candidates *out)
{
	int count = ina_candidate_mark(graph, hosts, n), err = 0, roots, trees, i;
	size_t room = 0;

	memset(out, 0, sizeof(*out));
	if (count < 0 || n < 1)
		return -EINVAL;
	ina_candidate_cover(graph, count);
	roots = n > 1 ? ina_candidate_roots(graph, count, n) : 0;
	trees = roots < max ? roots : max;
	out->roots = calloc((size_t)trees + 1, sizeof(int));
	out->start = calloc((size_t)trees + 1, sizeof(int));
	if (!out->roots || !out->start)
		err = -ENOMEM;
	for (i = 0; !err && i < trees; i++)
		err = ina_candidate_add(graph, hosts, n, graph->order[(long)i * roots / trees],
					out, &room);
	if (!err)
		err = ina_candidate_split(graph, out);
	if (err)
		ina_candidate_clear(out);
	return err;
}

void ina_candidate_parents(struct ina_candidate_graph *graph, const int *hosts, int n, int root,
			   int *parent)
{
	int count, i;

	for (i = 0; i < graph->topo->n_nodes; i++)
		parent[i] = INA_TOPO_NONE;
	count = ina_candidate_mark(graph, hosts, n);
	if (count < 0 || !ina_candidate_walk(graph, root, n))
		return;
	count = ina_candidate_tree(graph, hosts, n);
	for (i = 0; i < count; i++)
		parent[graph->queue[i]] = graph->parent[graph->queue[i]];
}
