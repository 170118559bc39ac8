// SPDX-License-Identifier: GPL-2.0
/*
 * Machines, and the places jobs have on them: copied and compared.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

void ina_place_clear(struct ina_place *place)
{
	free(place->options);
	free(place->children);
	free(place->paths);
	*place = (struct ina_place){ 0 };
}

/* A copy of @size bytes, never NULL but without memory. */
static void *place_memdup(const void *from, size_t size)
{
	void *copy = malloc(size ? size : 1);

	if (copy && size)
		memcpy(copy, from, size);
	return copy;
}

int ina_place_copy(struct ina_place *to, const struct ina_place *from)
{
	struct ina_place copy = *from;

	copy.options = from->options ? strdup(from->options) : NULL;
	copy.children = place_memdup(from->children,
				     (size_t)from->n_children * sizeof(*from->children));
	copy.paths = place_memdup(from->paths, (size_t)from->n_paths * sizeof(*from->paths));
	if (!copy.children || !copy.paths || (from->options && !copy.options)) {
		ina_place_clear(&copy);
		return -ENOMEM;
	}
	ina_place_clear(to);
	*to = copy;
	return 0;
}

int ina_place_copy_paths(struct ina_place *to, const struct ina_place *from)
{
	struct ina_path *paths = place_memdup(from->paths,
					      (size_t)from->n_paths * sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	free(to->paths);
	to->paths = paths;
	to->n_paths = from->n_paths;
	memcpy(to->tuning, from->tuning, sizeof(to->tuning));
	return 0;
}

int ina_place_add_path(struct ina_place *place, const struct ina_path *path)
{
	size_t n = (size_t)place->n_paths + 1;
	struct ina_path *paths = realloc(place->paths, n * sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	place->paths = paths;
	paths[place->n_paths++] = *path;
	return 0;
}

static int place_find_child(const struct ina_place *place, const struct ina_addr *child)
{
	for (int i = 0; i < place->n_children; i++) {
		if (ina_addr_equal(&place->children[i], child))
			return i;
	}
	return -1;
}

bool ina_place_has_child(const struct ina_place *place, const struct ina_addr *child)
{
	return place_find_child(place, child) >= 0;
}

int ina_place_add_child(struct ina_place *place, const struct ina_addr *child)
{
	size_t n = (size_t)place->n_children + 1;
	struct ina_addr *children = realloc(place->children, n * sizeof(*children));

	if (!children)
		return -ENOMEM;
	place->children = children;
	children[place->n_children++] = *child;
	return 0;
}

void ina_place_del_child(struct ina_place *place, const struct ina_addr *child)
{
	int i = place_find_child(place, child);

	if (i < 0)
		return;
	place->n_children--;
	memmove(&place->children[i], &place->children[i + 1],
		(size_t)(place->n_children - i) * sizeof(*place->children));
}

static bool place_same_options(const struct ina_place *a, const struct ina_place *b)
{
	return a->options && b->options ? !strcmp(a->options, b->options) :
					  !a->options && !b->options;
}

static bool place_same_tree(const struct ina_place *a, const struct ina_place *b)
{
	if (a->tree != b->tree || !a->tree)
		return a->tree == b->tree;
	if (!ina_addr_equal(&a->local, &b->local) || !ina_addr_equal(&a->parent, &b->parent) ||
	    a->workers != b->workers || a->n_children != b->n_children)
		return false;
	for (int i = 0; i < a->n_children; i++) {
		if (!ina_place_has_child(b, &a->children[i]))
			return false;
	}
	return true;
}

bool ina_place_equal(const struct ina_place *a, const struct ina_place *b)
{
	return place_same_options(a, b) && place_same_tree(a, b);
}

void ina_cluster_destroy(struct ina_cluster *cluster)
{
	if (!cluster)
		return;
	for (int i = 0; i < cluster->n_hosts; i++) {
		free(cluster->hosts[i].name);
		free(cluster->hosts[i].where);
	}
	for (long i = 0; i < (long)cluster->n_hosts * cluster->n_jobs; i++)
		ina_place_clear(&cluster->places[i]);
	free(cluster->hosts);
	free(cluster->jobs);
	free(cluster->places);
	free(cluster);
}

/* Room for one more, as the arrays here only grow. */
static bool cluster_grow(void **array, int n, size_t size)
{
	void *bigger;

	/* At powers of two only. */
	if (n & (n - 1))
		return true;
	bigger = realloc(*array, (n ? 2 * (size_t)n : 1) * size);
	if (bigger)
		*array = bigger;
	return bigger;
}

int ina_cluster_job(struct ina_cluster *cluster, uint32_t id)
{
	size_t hosts = (size_t)cluster->n_hosts;
	size_t row = (hosts ? hosts : 1) * sizeof(*cluster->places);
	int n = cluster->n_jobs;

	for (int i = 0; i < n; i++) {
		if (cluster->jobs[i] == id)
			return i;
	}
	if (!cluster_grow((void **)&cluster->jobs, n, sizeof(*cluster->jobs)) ||
	    !cluster_grow((void **)&cluster->places, n, row))
		return -ENOMEM;
	memset(cluster->places + (size_t)n * hosts, 0, row);
	cluster->jobs[n] = id;
	return cluster->n_jobs++;
}

static int cluster_add_host(struct ina_cluster *cluster, const char *name, const char *where)
{
	struct ina_host host = { strdup(name), strdup(where) };

	if (host.name && host.where &&
	    cluster_grow((void **)&cluster->hosts, cluster->n_hosts, sizeof(host))) {
		cluster->hosts[cluster->n_hosts] = host;
		return cluster->n_hosts++;
	}
	free(host.name);
	free(host.where);
	return -ENOMEM;
}

static int cluster_fail(struct ina_doc_error *err, const char *text)
{
	snprintf(err->text, sizeof(err->text), "%s", text);
	return -ENOMEM;
}

int ina_cluster_find(const struct ina_cluster *cluster, const char *name)
{
	for (int i = 0; i < cluster->n_hosts; i++) {
		if (!strcmp(cluster->hosts[i].name, name))
			return i;
	}
	return -1;
}

/* Index of the machine that is reached at @where, -1 if there is none. */
static int cluster_at(const struct ina_cluster *cluster, const char *where)
{
	int i = cluster->n_hosts - 1;

	while (i >= 0 && strcmp(cluster->hosts[i].where, where))
		i--;
	return i;
}

static int cluster_take_node(struct ina_cluster *cluster, const struct ina_plan_job *job,
			     const struct ina_plan_node *node, bool apply,
			     struct ina_doc_error *err)
{
	const char *where = node->where ? node->where : node->host;
	int host = ina_cluster_find(cluster, node->host), at = cluster_at(cluster, where);

	if (apply && !node->addr) {
		snprintf(err->text, sizeof(err->text),
			 "job %" PRIu32 ": host %.80s has no address (addr)", job->id, node->host);
		return -EINVAL;
	}
	/* To the hook it would be an option. */
	if (*where == '-') {
		snprintf(err->text, sizeof(err->text),
			 "job %" PRIu32 ": host %.80s is at %.80s: a place does not begin with -",
			 job->id, node->host, where);
		return -EINVAL;
	}
	if (host < 0 && at < 0)
		return cluster_add_host(cluster, node->host, where) < 0 ?
		       cluster_fail(err, "out of memory") : 0;
	/* A former plan may have reached it in another way, or given it another name. */
	if (!apply || host == at)
		return 0;
	if (host < 0) {
		snprintf(err->text, sizeof(err->text),
			 "job %" PRIu32 ": host %.80s is at %.80s, and so is host %.80s: a machine "
			 "has one name", job->id, node->host, where, cluster->hosts[at].name);
		return -EINVAL;
	}
	snprintf(err->text, sizeof(err->text),
		 "job %" PRIu32 ": host %.80s is at %.80s, and at %.80s in another job", job->id,
		 node->host, where, cluster->hosts[host].where);
	return -EINVAL;
}

static int cluster_take_plan(struct ina_cluster *cluster, const struct ina_plan *plan, bool apply,
			     struct ina_doc_error *err)
{
	int ret = 0;

	for (int j = 0; j < plan->n_jobs; j++) {
		const struct ina_plan_job *job = &plan->jobs[j];

		for (int i = 0; !ret && i < job->n_nodes; i++)
			ret = cluster_take_node(cluster, job, &job->nodes[i], apply, err);
	}
	return ret;
}

struct ina_cluster *ina_cluster_create(const struct ina_plan *plan, const struct ina_plan *former,
				       struct ina_doc_error *err)
{
	struct ina_cluster *cluster = calloc(1, sizeof(*cluster));
	int ret = cluster ? 0 : cluster_fail(err, "out of memory");

	if (!ret)
		ret = cluster_take_plan(cluster, plan, true, err);
	if (!ret && former)
		ret = cluster_take_plan(cluster, former, false, err);
	for (int i = 0; !ret && i < plan->n_jobs; i++) {
		if (ina_cluster_job(cluster, plan->jobs[i].id) < 0)
			ret = cluster_fail(err, "out of memory");
	}
	if (!ret)
		return cluster;
	ina_cluster_destroy(cluster);
	return NULL;
}

struct ina_cluster *ina_cluster_copy(const struct ina_cluster *cluster)
{
	struct ina_cluster *copy = calloc(1, sizeof(*copy));
	int ret = copy ? 0 : -ENOMEM;

	for (int i = 0; !ret && i < cluster->n_hosts; i++) {
		if (cluster_add_host(copy, cluster->hosts[i].name, cluster->hosts[i].where) < 0)
			ret = -ENOMEM;
	}
	for (int i = 0; !ret && i < cluster->n_jobs; i++) {
		if (ina_cluster_job(copy, cluster->jobs[i]) < 0)
			ret = -ENOMEM;
	}
	for (long i = 0; !ret && i < (long)cluster->n_hosts * cluster->n_jobs; i++)
		ret = ina_place_copy(&copy->places[i], &cluster->places[i]);
	if (!ret)
		return copy;
	ina_cluster_destroy(copy);
	return NULL;
}
