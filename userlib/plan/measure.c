// SPDX-License-Identifier: GPL-2.0
/*
 * What a round of training costs each machine: t1 until its gradient is there, t2 to send
 * it. Either written down by the training program, or seen by the root's module.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define MEASURE_SECONDS_MAX	1e6
#define MEASURE_SIZE_MAX	1e13
#define MEASURE_WORKERS_MAX	64

/* Nanoseconds of the statistics are at most these seconds. */
#define MEASURE_NS_MAX		(MEASURE_SECONDS_MAX * 1e9)

void ina_measure_destroy(struct ina_measure *measure)
{
	if (!measure)
		return;
	free(measure->workers);
	free(measure);
}

static int measure_seconds(const struct ina_doc_value *map, const char *key, double max,
			   double *seconds, struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, key);

	if (!value)
		return ina_doc_fail(map, err, "%s is required", key);
	return ina_doc_quantity(value, 0, max, seconds, err);
}

static int measure_host(const struct ina_doc_value *map, const struct ina_topo *topo,
			struct ina_measure_worker *worker, struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, "host");
	const char *name;
	int ret = value ? ina_doc_string(value, &name, err) :
			  ina_doc_fail(map, err, "host is required");

	if (ret)
		return ret;
	worker->host = ina_topo_find(topo, name);
	if (worker->host == INA_TOPO_NONE || topo->nodes[worker->host].kind != INA_TOPO_HOST)
		return ina_doc_fail(value, err, "no host \"%.80s\" in %.80s", name,
				    ina_topo_file(topo));
	return 0;
}

static int measure_worker(const struct ina_doc_value *map, const struct ina_topo *topo,
			  struct ina_measure_worker *worker, struct ina_doc_error *err)
{
	static const char *const known[] = { "host", "workers", "t1", "t2", NULL };
	const struct ina_doc_value *value;
	long n = 1;
	int ret = ina_doc_only(map, known, err);

	if (!ret)
		ret = measure_host(map, topo, worker, err);
	if (!ret)
		ret = measure_seconds(map, "t1", MEASURE_SECONDS_MAX, &worker->t1, err);
	if (!ret)
		ret = measure_seconds(map, "t2", MEASURE_SECONDS_MAX, &worker->t2, err);
	value = ret ? NULL : ina_doc_get(map, "workers");
	if (value)
		ret = ina_doc_int(value, 1, MEASURE_WORKERS_MAX, &n, err);
	worker->workers = (uint32_t)n;
	return ret;
}

/* The machine that has the address of a child. */
static int measure_addr(const struct ina_doc_value *map, const struct ina_topo *topo,
			struct ina_measure_worker *worker, struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, "addr");
	char addr[INET6_ADDRSTRLEN], other[INET6_ADDRSTRLEN];
	const char *text;
	int ret = value ? ina_doc_string(value, &text, err) :
			  ina_doc_fail(map, err, "addr is required");

	if (ret)
		return ret;
	if (!ina_plan_addr(text, addr))
		return ina_doc_fail(value, err, "\"%.40s\" is no IPv4 or IPv6 address", text);
	for (int i = 0; i < topo->n_nodes; i++) {
		const struct ina_topo_node *node = &topo->nodes[i];

		if (node->kind == INA_TOPO_HOST && node->addr && ina_plan_addr(node->addr, other) &&
		    !strcmp(addr, other)) {
			worker->host = i;
			return 0;
		}
	}
	return ina_doc_fail(value, err, "no host has the address %s in %.80s", addr,
			    ina_topo_file(topo));
}

/* A child as the root's module saw it: from its first to its last contribution. */
static int measure_child(const struct ina_doc_value *map, const struct ina_topo *topo,
			 struct ina_measure_worker *worker, struct ina_doc_error *err)
{
	static const char *const known[] = { "addr", "late_ns", "first_ns", "last_ns", "lost",
					     "lost_round", "round", "request", "rate", NULL };
	double first, last;
	int ret = ina_doc_only(map, known, err);

	if (!ret)
		ret = measure_addr(map, topo, worker, err);
	if (!ret)
		ret = measure_seconds(map, "first_ns", MEASURE_NS_MAX, &first, err);
	if (!ret)
		ret = measure_seconds(map, "last_ns", MEASURE_NS_MAX, &last, err);
	if (ret)
		return ret;
	if (last < first)
		return ina_doc_fail(map, err, "last_ns is before first_ns");
	worker->workers = 1;
	worker->t1 = first / 1e9;
	worker->t2 = (last - first) / 1e9;
	return 0;
}

typedef int (*measure_take_fn)(const struct ina_doc_value *map, const struct ina_topo *topo,
			       struct ina_measure_worker *worker, struct ina_doc_error *err);

static int measure_list(struct ina_measure *measure, const struct ina_doc_value *list,
			const struct ina_topo *topo, measure_take_fn take,
			struct ina_doc_error *err)
{
	int n = ina_doc_count(list, err), ret = n < 0 ? n : 0;
	bool *seen = calloc((size_t)topo->n_nodes + 1, sizeof(*seen));

	if (!ret && !n)
		ret = ina_doc_fail(list, err, "no workers");
	measure->workers = ret ? NULL : calloc((size_t)n, sizeof(*measure->workers));
	if (!ret && (!seen || !measure->workers))
		ret = ina_doc_fail(list, err, "%s", strerror(ENOMEM));
	for (int i = 0; !ret && i < n; i++) {
		struct ina_measure_worker *worker = &measure->workers[i];

		ret = take(ina_doc_at(list, i), topo, worker, err);
		if (!ret && seen[worker->host])
			ret = ina_doc_fail(ina_doc_at(list, i), err, "\"%.80s\" is there twice",
					   topo->nodes[worker->host].name);
		if (!ret)
			seen[worker->host] = true;
		measure->n_workers = i + 1;
	}
	free(seen);
	return ret;
}

static int measure_file(struct ina_measure *measure, const struct ina_doc_value *root,
			const struct ina_topo *topo, struct ina_doc_error *err)
{
	static const char *const known[] = { "size", "workers", NULL };
	const struct ina_doc_value *value;
	int ret = ina_doc_only(root, known, err);

	value = ret ? NULL : ina_doc_get(root, "size");
	if (value)
		ret = ina_doc_quantity(value, 1, MEASURE_SIZE_MAX, &measure->size, err);
	value = ret ? NULL : ina_doc_get(root, "workers");
	if (ret)
		return ret;
	if (!value)
		return ina_doc_fail(root, err, "workers is required");
	return measure_list(measure, value, topo, measure_worker, err);
}

/*
 * Times of the statistics begin with the first contribution of any child. What was before
 * is what the step takes longer than until the last one.
 */
static int measure_shift(struct ina_measure *measure, const struct ina_doc_value *root,
			 double step, struct ina_doc_error *err)
{
	double last = 0;

	for (int i = 0; i < measure->n_workers; i++) {
		const struct ina_measure_worker *worker = &measure->workers[i];

		if (worker->t1 + worker->t2 > last)
			last = worker->t1 + worker->t2;
	}
	if (step <= 0)
		return ina_doc_fail(root, err,
				    "statistics do not tell how long a step is: step SECONDS is required");
	if (step < last)
		return ina_doc_fail(root, err, "the last round took %g s, longer than a step of %g s",
				    last, step);
	for (int i = 0; i < measure->n_workers; i++)
		measure->workers[i].t1 += step - last;
	return 0;
}

/* What `inaconf -j stats child job ID` prints: a list of one job. */
static int measure_stats(struct ina_measure *measure, const struct ina_doc_value *root,
			 const struct ina_topo *topo, double step, struct ina_doc_error *err)
{
	static const char *const known[] = { "job", "children", NULL };
	const struct ina_doc_value *children;
	int n = ina_doc_count(root, err), ret;

	if (n != 1)
		return ina_doc_fail(root, err, "statistics of one job are needed, not of %d", n);
	ret = ina_doc_only(ina_doc_at(root, 0), known, err);
	if (ret)
		return ret;
	children = ina_doc_get(ina_doc_at(root, 0), "children");
	if (!children)
		return ina_doc_fail(ina_doc_at(root, 0), err, "children is required");
	ret = measure_list(measure, children, topo, measure_child, err);
	return ret ? ret : measure_shift(measure, root, step, err);
}

struct ina_measure *ina_measure_from(const struct ina_doc *doc, const struct ina_topo *topo,
				     double step, struct ina_doc_error *err)
{
	const struct ina_doc_value *root = ina_doc_root(doc);
	struct ina_measure *measure = calloc(1, sizeof(*measure));
	int ret;

	if (!measure)
		ret = ina_doc_fail(root, err, "%s", strerror(ENOMEM));
	else if (ina_doc_is_list(root))
		ret = measure_stats(measure, root, topo, step, err);
	else
		ret = measure_file(measure, root, topo, err);
	if (!ret)
		return measure;
	ina_measure_destroy(measure);
	return NULL;
}

struct ina_measure *ina_measure_read(const char *path, const struct ina_topo *topo, double step,
				     struct ina_doc_error *err)
{
	struct ina_doc *doc = ina_doc_read(path, err);
	struct ina_measure *measure = doc ? ina_measure_from(doc, topo, step, err) : NULL;

	ina_doc_destroy(doc);
	return measure;
}

double ina_measure_communication(const struct ina_measure *measure)
{
	double t = 0, t2 = 0;

	for (int i = 0; i < measure->n_workers; i++) {
		t += measure->workers[i].t1 + measure->workers[i].t2;
		t2 += measure->workers[i].t2;
	}
	return t > 0 ? t2 / t : 0;
}
