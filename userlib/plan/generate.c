// SPDX-License-Identifier: GPL-2.0
/*
 * Regular fabrics. Nodes come level by level from the hosts up, each level counted from 0
 * across the fabric: h0, h1, ... for hosts, e for edge, a for aggregation and c for core
 * switches, l for leaves and s for spines.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "topo.h"

#define INA_GENERATE_NODES	(1 << 24)

/* What one level looks like. */
struct ina_generate_level {
	char letter;
	int level;
	int n;
	int per_rack;
	int per_pod;
};

static bool ina_generate_rate_ok(double rate, double latency)
{
	return isfinite(rate) && rate > 0 && isfinite(latency) && latency >= 0;
}

/* 0 or a negative errno. */
static int ina_generate_level(struct ina_topo *topo, const struct ina_generate_level *level)
{
	int i;

	for (i = 0; i < level->n; i++) {
		int n;
		char name[16];
		struct ina_topo_node node = {
			.name = name,
			.kind = level->level ? INA_TOPO_SWITCH : INA_TOPO_HOST,
			.level = level->level,
			.rack = level->per_rack ? i / level->per_rack : INA_TOPO_NONE,
			.pod = level->per_pod ? i / level->per_pod : INA_TOPO_NONE,
			.capacity = level->level > 0,
		};

		snprintf(name, sizeof(name), "%c%d", level->letter, i);
		n = ina_topo_add_node(topo, &node);
		if (n < 0)
			return n;
	}
	return 0;
}

static int ina_generate_link(struct ina_topo *topo, int a, int b, double rate, double latency)
{
	struct ina_topo_link link = { .a = a, .b = b, .rate = rate, .latency = latency };
	int n = ina_topo_add_link(topo, &link);

	return n < 0 ? n : 0;
}

static struct ina_topo *ina_generate_end(struct ina_topo *topo, int err)
{
	if (!err)
		return topo;
	ina_topo_destroy(topo);
	errno = -err;
	return NULL;
}

/* Aggregation switch j of a pod is joined to the j-th group of @half core switches. */
static int ina_generate_fat_links(struct ina_topo *topo, int half, double rate, double latency)
{
	int hosts = 2 * half * half * half, edges = 2 * half * half;
	int aggs = hosts + edges, cores = aggs + edges;
	int err = 0, i, j;

	for (i = 0; !err && i < hosts; i++)
		err = ina_generate_link(topo, i, hosts + i / half, rate, latency);
	for (i = 0; i < edges; i++)
		for (j = 0; !err && j < half; j++)
			err = ina_generate_link(topo, hosts + i, aggs + i / half * half + j,
						rate, latency);
	for (i = 0; i < edges; i++)
		for (j = 0; !err && j < half; j++)
			err = ina_generate_link(topo, aggs + i, cores + i % half * half + j,
						rate, latency);
	return err;
}

struct ina_topo *ina_topo_fat_tree(int k, double rate, double latency)
{
	int half = k / 2, edges = half * k, err = 0;
	struct ina_topo *topo;
	size_t i;

	/* 256^3 / 4 hosts are the most. */
	if (k < 2 || k > 256 || k % 2 || !ina_generate_rate_ok(rate, latency))
		return ina_generate_end(NULL, -EINVAL);
	const struct ina_generate_level levels[] = {
		{ 'h', 0, edges * half, half, half * half },
		{ 'e', 1, edges, 1, half },
		{ 'a', 2, edges, 0, half },
		{ 'c', 3, half * half, 0, 0 },
	};

	topo = ina_topo_create();
	if (!topo)
		return NULL;
	for (i = 0; !err && i < sizeof(levels) / sizeof(*levels); i++)
		err = ina_generate_level(topo, &levels[i]);
	if (!err)
		err = ina_generate_fat_links(topo, half, rate, latency);
	return ina_generate_end(topo, err);
}

struct ina_topo *ina_topo_leaf_spine(int leaves, int spines, int hosts, double host_rate,
				     double spine_rate, double latency)
{
	int err = 0, i, j, n;
	struct ina_topo *topo;
	size_t l;

	if (leaves < 1 || spines < 1 || hosts < 1 ||
	    (double)leaves * (hosts + spines + 1.0) > INA_GENERATE_NODES ||
	    !ina_generate_rate_ok(host_rate, latency) ||
	    !ina_generate_rate_ok(spine_rate, latency))
		return ina_generate_end(NULL, -EINVAL);
	n = leaves * hosts;
	const struct ina_generate_level levels[] = {
		{ 'h', 0, n, hosts, n },
		{ 'l', 1, leaves, 1, leaves },
		{ 's', 2, spines, 0, spines },
	};

	topo = ina_topo_create();
	if (!topo)
		return NULL;
	for (l = 0; !err && l < sizeof(levels) / sizeof(*levels); l++)
		err = ina_generate_level(topo, &levels[l]);
	for (i = 0; !err && i < n; i++)
		err = ina_generate_link(topo, i, n + i / hosts, host_rate, latency);
	for (i = 0; i < leaves; i++)
		for (j = 0; !err && j < spines; j++)
			err = ina_generate_link(topo, n + i, n + leaves + j, spine_rate, latency);
	return ina_generate_end(topo, err);
}
