// SPDX-License-Identifier: GPL-2.0
/*
 * Builds a topology node by node and link by link. Names are found through a hash table
 * with linear probing, never more than half full; arrays double when they are full.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "topo.h"

#define INA_TOPO_FIRST	64

struct ina_topo *ina_topo_create(void)
{
	return calloc(1, sizeof(struct ina_topo));
}

void ina_topo_destroy(struct ina_topo *topo)
{
	int i;

	if (!topo)
		return;
	for (i = 0; i < topo->n_nodes; i++) {
		free(topo->nodes[i].name);
		free(topo->nodes[i].addr);
		free(topo->nodes[i].where);
		free(topo->nodes[i].aggregator);
	}
	free(topo->nodes);
	free(topo->links);
	free(topo->names);
	free(topo->file);
	free(topo);
}

/* FNV-1a. */
static uint32_t ina_topo_hash(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash ^ hash >> 15;
}

/* Where @name is in the table, or the free place where it belongs. */
static int *ina_topo_slot(const struct ina_topo *topo, const char *name)
{
	uint32_t mask = 2 * (uint32_t)topo->room_nodes - 1;
	uint32_t at = ina_topo_hash(name) & mask;

	while (topo->names[at] != INA_TOPO_NONE &&
	       strcmp(topo->nodes[topo->names[at]].name, name))
		at = (at + 1) & mask;
	return &topo->names[at];
}

int ina_topo_find(const struct ina_topo *topo, const char *name)
{
	return topo->n_nodes ? *ina_topo_slot(topo, name) : INA_TOPO_NONE;
}

static int ina_topo_grow_nodes(struct ina_topo *topo)
{
	int room = topo->room_nodes ? 2 * topo->room_nodes : INA_TOPO_FIRST;
	struct ina_topo_node *nodes;
	int *names;
	int i;

	if (topo->room_nodes > INT_MAX / 4)
		return -ENOMEM;
	nodes = reallocarray(topo->nodes, (size_t)room, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	topo->nodes = nodes;
	names = calloc(2 * (size_t)room, sizeof(*names));
	if (!names)
		return -ENOMEM;
	memset(names, 0xff, 2 * (size_t)room * sizeof(*names));
	free(topo->names);
	topo->names = names;
	topo->room_nodes = room;
	for (i = 0; i < topo->n_nodes; i++)
		*ina_topo_slot(topo, nodes[i].name) = i;
	return 0;
}

static int ina_topo_copy(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

int ina_topo_add_node(struct ina_topo *topo, const struct ina_topo_node *node)
{
	struct ina_topo_node *copy;
	int *slot;

	if (!node->name || !*node->name || node->level < 0 || node->rack < INA_TOPO_NONE ||
	    node->pod < INA_TOPO_NONE || node->rack == INT_MAX || node->pod == INT_MAX)
		return -EINVAL;
	if (topo->n_nodes == topo->room_nodes && ina_topo_grow_nodes(topo))
		return -ENOMEM;
	slot = ina_topo_slot(topo, node->name);
	if (*slot != INA_TOPO_NONE)
		return -EEXIST;
	copy = &topo->nodes[topo->n_nodes];
	*copy = *node;
	if (ina_topo_copy(&copy->name, node->name) | ina_topo_copy(&copy->addr, node->addr) |
	    ina_topo_copy(&copy->where, node->where) |
	    ina_topo_copy(&copy->aggregator, node->aggregator)) {
		free(copy->name);
		free(copy->addr);
		free(copy->where);
		free(copy->aggregator);
		return -ENOMEM;
	}
	if (node->rack >= topo->n_racks)
		topo->n_racks = node->rack + 1;
	if (node->pod >= topo->n_pods)
		topo->n_pods = node->pod + 1;
	*slot = topo->n_nodes;
	return topo->n_nodes++;
}

int ina_topo_add_link(struct ina_topo *topo, const struct ina_topo_link *link)
{
	struct ina_topo_link *copy;

	if (link->a < 0 || link->b < 0 || link->a >= topo->n_nodes ||
	    link->b >= topo->n_nodes || link->a == link->b)
		return -EINVAL;
	if (topo->n_links == topo->room_links) {
		int room = topo->room_links ? 2 * topo->room_links : INA_TOPO_FIRST;

		if (topo->room_links > INT_MAX / 4)
			return -ENOMEM;
		copy = reallocarray(topo->links, (size_t)room, sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		topo->links = copy;
		topo->room_links = room;
	}
	copy = &topo->links[topo->n_links];
	*copy = *link;
	if (topo->nodes[link->a].level > topo->nodes[link->b].level) {
		copy->a = link->b;
		copy->b = link->a;
	}
	return topo->n_links++;
}

int ina_topo_fail(const struct ina_topo *topo, int node, struct ina_doc_error *err,
		  const char *format, ...)
{
	int line = node < 0 ? 0 : topo->nodes[node].line;
	char at[140] = "", what[sizeof(err->text) - sizeof(at)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	if (topo->file && line)
		snprintf(at, sizeof(at), "%.*s:%d: ", (int)sizeof(err->text) / 4, topo->file, line);
	else if (topo->file)
		snprintf(at, sizeof(at), "%.*s: ", (int)sizeof(err->text) / 4, topo->file);
	snprintf(err->text, sizeof(err->text), "%s%s", at, what);
	return -EINVAL;
}

bool ina_topo_ends_init(struct ina_topo_ends *ends, const struct ina_topo *topo)
{
	size_t n = (size_t)topo->n_nodes;

	/* Two places on, so that filling moves each start to where it belongs. */
	ends->first = calloc(n + 2, sizeof(*ends->first));
	ends->link = calloc(2 * (size_t)topo->n_links + 1, sizeof(*ends->link));
	if (!ends->first || !ends->link)
		return false;
	for (int i = 0; i < topo->n_links; i++) {
		ends->first[topo->links[i].a + 2]++;
		ends->first[topo->links[i].b + 2]++;
	}
	for (size_t i = 2; i < n + 2; i++)
		ends->first[i] += ends->first[i - 1];
	for (int i = 0; i < topo->n_links; i++) {
		ends->link[ends->first[topo->links[i].a + 1]++] = i;
		ends->link[ends->first[topo->links[i].b + 1]++] = i;
	}
	return true;
}

void ina_topo_ends_clear(struct ina_topo_ends *ends)
{
	free(ends->first);
	free(ends->link);
}
