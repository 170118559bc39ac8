// SPDX-License-Identifier: GPL-2.0
/*
 * Topology files: lists of hosts, switches and links in YAML. Machines are added before
 * switches and their own links before the others; what topo_write.c writes is read as the same topology.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo.h"

#define READ_NAME_MAX	255
#define READ_NUMBER_MAX	(1 << 20)
#define READ_LEVEL_MAX	64
#define READ_RATE_MAX	1e15
#define READ_BYTES_MAX	1e18

/**
 * struct topo_read - a topology being read
 * @topo: what there is of it
 * @links: links found so far; they are added once the level of every switch is known
 * @n_links: how many
 * @room: for how many @links has room
 * @err: where the reason of a refusal goes
 */
struct topo_read {
	struct ina_topo *topo;
	struct ina_topo_link *links;
	int n_links;
	int room;
	struct ina_doc_error *err;
};

bool ina_topo_name_ok(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			       "0123456789._-:/@+%");

	return length && length <= READ_NAME_MAX && !name[length];
}

static int read_name(const struct topo_read *read, const struct ina_doc_value *value,
		     const char **name)
{
	int ret = ina_doc_string(value, name, read->err);

	if (ret || ina_topo_name_ok(*name))
		return ret;
	return ina_doc_fail(value, read->err,
			    "\"%.40s\" is no name: at most 255 of a-z A-Z 0-9 . _ - : / @ + %%", *name);
}

static int read_addr(const struct topo_read *read, const struct ina_doc_value *value, char **addr)
{
	unsigned char binary[sizeof(struct in6_addr)];
	const char *text;
	int ret = ina_doc_string(value, &text, read->err);

	if (ret)
		return ret;
	if (inet_pton(AF_INET, text, binary) != 1 && inet_pton(AF_INET6, text, binary) != 1)
		return ina_doc_fail(value, read->err, "\"%.40s\" is no IPv4 or IPv6 address", text);
	*addr = (char *)text;
	return 0;
}

/* A key that may be absent: *@number stays what it was then. */
static int read_quantity(const struct topo_read *read, const struct ina_doc_value *map,
			 const char *key, double max, double *number)
{
	const struct ina_doc_value *value = ina_doc_get(map, key);

	return value ? ina_doc_quantity(value, 0, max, number, read->err) : 0;
}

static int read_int(const struct topo_read *read, const struct ina_doc_value *map, const char *key,
		    long min, long max, int *number)
{
	const struct ina_doc_value *value = ina_doc_get(map, key);
	long n = *number;
	int ret = value ? ina_doc_int(value, min, max, &n, read->err) : 0;

	*number = (int)n;
	return ret;
}

/* A pair of keys, the second of which is a part of the first. */
static int read_part(const struct topo_read *read, const struct ina_doc_value *map,
		     const char *whole, const char *part, double max, double *n, double *of)
{
	int ret = read_quantity(read, map, whole, max, of);

	if (!ret)
		ret = read_quantity(read, map, part, max, n);
	if (!ret && *n > *of)
		ret = ina_doc_fail(ina_doc_get(map, part), read->err, "more than %s", whole);
	return ret;
}

static int read_place(const struct topo_read *read, const struct ina_doc_value *map,
		      struct ina_topo_node *node)
{
	int ret = read_int(read, map, "rack", 0, READ_NUMBER_MAX, &node->rack);

	if (!ret)
		ret = read_int(read, map, "pod", 0, READ_NUMBER_MAX, &node->pod);
	if (!ret)
		ret = read_int(read, map, "capacity", 0, READ_NUMBER_MAX, &node->capacity);
	return ret;
}

static int read_add(const struct topo_read *read, const struct ina_doc_value *map,
		    struct ina_topo_node *node)
{
	const struct ina_doc_value *value = ina_doc_get(map, "name");
	const char *name = NULL;
	int ret = value ? read_name(read, value, &name) :
			  ina_doc_fail(map, read->err, "name is required");

	if (ret)
		return ret;
	node->name = (char *)name;
	ina_doc_place(map, &node->line);
	ret = ina_topo_add_node(read->topo, node);
	if (ret == -EEXIST)
		return ina_doc_fail(value, read->err, "there are two of the name \"%.80s\"", name);
	return ret < 0 ? ina_doc_fail(map, read->err, "%s", strerror(-ret)) : 0;
}

static int read_keep_link(struct topo_read *read, const struct ina_topo_link *link,
			  const struct ina_doc_value *map)
{
	if (read->n_links == read->room) {
		int room = read->room ? 2 * read->room : 64;
		struct ina_topo_link *links = reallocarray(read->links, (size_t)room,
							   sizeof(*links));

		if (!links)
			return ina_doc_fail(map, read->err, "%s", strerror(ENOMEM));
		read->links = links;
		read->room = room;
	}
	read->links[read->n_links++] = *link;
	return 0;
}

/* The end of a link that @value names. */
static int read_end(const struct topo_read *read, const struct ina_doc_value *value, int *node)
{
	const char *name;
	int ret = ina_doc_string(value, &name, read->err);

	if (ret)
		return ret;
	*node = ina_topo_find(read->topo, name);
	if (*node == INA_TOPO_NONE)
		return ina_doc_fail(value, read->err, "no host or switch \"%.80s\"", name);
	return 0;
}

/* What a link has besides its ends. */
static int read_link(struct topo_read *read, const struct ina_doc_value *map, int a, int b)
{
	struct ina_topo_link link = { .a = a, .b = b };
	int ret = read_part(read, map, "rate", "used", READ_RATE_MAX, &link.used, &link.rate);

	if (!ret && link.rate <= 0)
		ret = ina_doc_fail(ina_doc_get(map, "rate") ? ina_doc_get(map, "rate") : map,
				   read->err, "rate is required: bit/s, such as 100G");
	if (!ret)
		ret = read_quantity(read, map, "latency", 3600, &link.latency);
	if (!ret)
		ret = read_int(read, map, "capacity", 0, READ_NUMBER_MAX, &link.capacity);
	if (!ret && a == b)
		ret = ina_doc_fail(map, read->err, "both ends are \"%.80s\"",
				   read->topo->nodes[a].name);
	return ret ? ret : read_keep_link(read, &link, map);
}

static int read_nic(struct topo_read *read, const struct ina_doc_value *nic, int host)
{
	static const char *const known[] = { "to", "rate", "used", "latency", "capacity", NULL };
	const struct ina_doc_value *to;
	int b, ret = ina_doc_only(nic, known, read->err);

	if (ret)
		return ret;
	to = ina_doc_get(nic, "to");
	if (!to)
		return ina_doc_fail(nic, read->err, "to is required");
	ret = read_end(read, to, &b);
	return ret ? ret : read_link(read, nic, host, b);
}

static int read_nics(struct topo_read *read, const struct ina_doc_value *map, int host)
{
	const struct ina_doc_value *nics = ina_doc_get(map, "nics");
	int n = nics ? ina_doc_count(nics, read->err) : 0, ret = n < 0 ? n : 0;

	for (int i = 0; !ret && i < n; i++)
		ret = read_nic(read, ina_doc_at(nics, i), host);
	return ret;
}

static int read_between(struct topo_read *read, const struct ina_doc_value *map)
{
	static const char *const known[] = { "between", "rate", "used", "latency", "capacity",
					     NULL };
	const struct ina_doc_value *ends;
	int a, b, n, ret = ina_doc_only(map, known, read->err);

	if (ret)
		return ret;
	ends = ina_doc_get(map, "between");
	if (!ends)
		return ina_doc_fail(map, read->err, "between is required");
	n = ina_doc_count(ends, read->err);
	if (n < 0)
		return n;
	if (n != 2)
		return ina_doc_fail(ends, read->err, "a link has two ends, not %d", n);
	ret = read_end(read, ina_doc_at(ends, 0), &a);
	if (!ret)
		ret = read_end(read, ina_doc_at(ends, 1), &b);
	return ret ? ret : read_link(read, map, a, b);
}

static int read_host(struct topo_read *read, const struct ina_doc_value *map)
{
	static const char *const known[] = { "name", "addr", "where", "rack", "pod", "cores",
					     "idle-cores", "memory", "used-memory", "capacity",
					     "nics", NULL };
	struct ina_topo_node node = { .kind = INA_TOPO_HOST, .rack = INA_TOPO_NONE,
				      .pod = INA_TOPO_NONE, .capacity = 1 };
	const struct ina_doc_value *value;
	int ret = ina_doc_only(map, known, read->err);

	value = ret ? NULL : ina_doc_get(map, "addr");
	if (value)
		ret = read_addr(read, value, &node.addr);
	value = ret ? NULL : ina_doc_get(map, "where");
	if (value)
		ret = read_name(read, value, (const char **)&node.where);
	if (!ret)
		ret = read_part(read, map, "cores", "idle-cores", READ_NUMBER_MAX,
				&node.idle_cores, &node.cores);
	if (!ret)
		ret = read_part(read, map, "memory", "used-memory", READ_BYTES_MAX,
				&node.used_memory, &node.memory);
	if (!ret)
		ret = read_place(read, map, &node);
	return ret ? ret : read_add(read, map, &node);
}

/* The machine that aggregates for a switch: one of one switch, which lends it its capacity. */
static int read_aggregator(const struct topo_read *read, const struct ina_doc_value *map,
			   struct ina_topo_node *node)
{
	const struct ina_doc_value *value = ina_doc_get(map, "aggregator");
	const struct ina_topo *topo = read->topo;
	const char *name;
	int host, ret = ina_doc_string(value, &name, read->err);

	if (ret)
		return ret;
	host = ina_topo_find(topo, name);
	if (host == INA_TOPO_NONE || topo->nodes[host].kind != INA_TOPO_HOST)
		return ina_doc_fail(value, read->err, "no host \"%.80s\"", name);
	for (int i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].aggregator && !strcmp(topo->nodes[i].aggregator, name))
			return ina_doc_fail(value, read->err, "\"%.80s\" aggregates for \"%.80s\"",
					    name, topo->nodes[i].name);
	}
	if (ina_doc_get(map, "capacity"))
		return ina_doc_fail(ina_doc_get(map, "capacity"), read->err,
				    "a switch with an aggregator has its capacity");
	node->aggregator = (char *)name;
	node->capacity = topo->nodes[host].capacity;
	return 0;
}

static int read_switch(struct topo_read *read, const struct ina_doc_value *map)
{
	static const char *const known[] = { "name", "level", "rack", "pod", "capacity",
					     "aggregator", NULL };
	struct ina_topo_node node = { .kind = INA_TOPO_SWITCH, .rack = INA_TOPO_NONE,
				      .pod = INA_TOPO_NONE };
	int ret = ina_doc_only(map, known, read->err);

	if (!ret)
		ret = read_int(read, map, "level", 1, READ_LEVEL_MAX, &node.level);
	if (!ret)
		ret = read_place(read, map, &node);
	if (!ret && ina_doc_get(map, "aggregator"))
		ret = read_aggregator(read, map, &node);
	return ret ? ret : read_add(read, map, &node);
}

/*
 * A switch without a level is one above the lowest of its neighbours; level by level, so
 * that each gets the least it may have.
 */
static void read_levels(const struct topo_read *read)
{
	struct ina_topo_node *nodes = read->topo->nodes;

	for (int level = 0; level < READ_LEVEL_MAX; level++) {
		for (int i = 0; i < 2 * read->n_links; i++) {
			const struct ina_topo_link *link = &read->links[i / 2];
			int from = i % 2 ? link->a : link->b, to = i % 2 ? link->b : link->a;
			bool below = nodes[from].level == level &&
				     (level || nodes[from].kind == INA_TOPO_HOST);

			if (below && nodes[to].kind == INA_TOPO_SWITCH && !nodes[to].level)
				nodes[to].level = level + 1;
		}
	}
	for (int i = 0; i < read->topo->n_nodes; i++) {
		if (nodes[i].kind == INA_TOPO_SWITCH && !nodes[i].level)
			nodes[i].level = 1;
	}
}

static int read_each(struct topo_read *read, const struct ina_doc_value *root, const char *key,
		     int (*take)(struct topo_read *read, const struct ina_doc_value *map))
{
	const struct ina_doc_value *list = ina_doc_get(root, key);
	int n = list ? ina_doc_count(list, read->err) : 0, ret = n < 0 ? n : 0;

	for (int i = 0; !ret && i < n; i++)
		ret = take(read, ina_doc_at(list, i));
	return ret;
}

/* Node @i disagrees with node @first about the pod of their rack. */
static int read_fail_pod(const struct topo_read *read, const struct ina_doc_value *map, int i,
			 int first)
{
	const struct ina_doc_value *pod = ina_doc_get(map, "pod");
	const struct ina_topo_node *other = &read->topo->nodes[first];
	char where[24] = "no pod";

	if (other->pod >= 0)
		snprintf(where, sizeof(where), "pod %d", other->pod);
	return ina_doc_fail(pod ? pod : map, read->err, "rack %d is in %s at \"%.80s\"",
			    read->topo->nodes[i].rack, where, other->name);
}

/* All hosts of a rack are in one pod, and so are its switches if they say one. */
static int read_check_pods(const struct topo_read *read, const struct ina_doc_value *root)
{
	const struct ina_doc_value *hosts = ina_doc_get(root, "hosts");
	const struct ina_doc_value *switches = ina_doc_get(root, "switches");
	const struct ina_topo_node *nodes = read->topo->nodes;
	int n_hosts = ina_doc_count(hosts, read->err), ret = 0;
	int *first = calloc((size_t)read->topo->n_racks + 1, sizeof(*first));

	if (!first)
		return ina_doc_fail(root, read->err, "%s", strerror(ENOMEM));
	for (int i = 0; !ret && i < read->topo->n_nodes; i++) {
		int *seen = nodes[i].rack < 0 ? NULL : &first[nodes[i].rack];

		if (!seen || (i >= n_hosts && nodes[i].pod < 0))
			continue;
		if (!*seen)
			*seen = i + 1;
		else if (nodes[*seen - 1].pod != nodes[i].pod)
			ret = read_fail_pod(read, i < n_hosts ? ina_doc_at(hosts, i) :
					    ina_doc_at(switches, i - n_hosts), i, *seen - 1);
	}
	free(first);
	return ret;
}

static int read_topo(struct topo_read *read, const struct ina_doc_value *root)
{
	static const char *const known[] = { "hosts", "switches", "links", NULL };
	int ret = ina_doc_only(root, known, read->err);

	if (!ret)
		ret = read_each(read, root, "hosts", read_host);
	if (!ret && !read->topo->n_nodes)
		ret = ina_doc_fail(root, read->err, "no hosts");
	if (!ret)
		ret = read_each(read, root, "switches", read_switch);
	return ret ? ret : read_check_pods(read, root);
}

static int read_all_links(struct topo_read *read, const struct ina_doc_value *root)
{
	const struct ina_doc_value *hosts = ina_doc_get(root, "hosts");
	int n_hosts = ina_doc_count(hosts, read->err), ret = 0;

	for (int i = 0; !ret && i < n_hosts; i++)
		ret = read_nics(read, ina_doc_at(hosts, i), i);
	if (!ret)
		ret = read_each(read, root, "links", read_between);
	if (!ret)
		read_levels(read);
	for (int i = 0; !ret && i < read->n_links; i++) {
		int n = ina_topo_add_link(read->topo, &read->links[i]);

		if (n < 0)
			ret = ina_doc_fail(root, read->err, "%s", strerror(-n));
	}
	return ret;
}

static struct ina_topo *read_doc(const struct ina_doc *doc, struct ina_doc_error *err)
{
	struct topo_read read = { .topo = ina_topo_create(), .err = err };
	const struct ina_doc_value *root = ina_doc_root(doc);
	int ret, line;

	if (read.topo)
		read.topo->file = strdup(ina_doc_place(root, &line));
	if (!read.topo || !read.topo->file) {
		ina_topo_destroy(read.topo);
		ina_doc_fail(root, err, "%s", strerror(ENOMEM));
		return NULL;
	}
	ret = read_topo(&read, root);
	if (!ret)
		ret = read_all_links(&read, root);
	free(read.links);
	if (!ret)
		return read.topo;
	ina_topo_destroy(read.topo);
	return NULL;
}

struct ina_topo *ina_topo_parse(const char *name, const char *text, size_t size,
				struct ina_doc_error *err)
{
	struct ina_doc *doc = ina_doc_parse(name, text, size, err);
	struct ina_topo *topo = doc ? read_doc(doc, err) : NULL;

	ina_doc_destroy(doc);
	return topo;
}

struct ina_topo *ina_topo_read(const char *path, struct ina_doc_error *err)
{
	struct ina_doc *doc = ina_doc_read(path, err);
	struct ina_topo *topo = doc ? read_doc(doc, err) : NULL;

	ina_doc_destroy(doc);
	return topo;
}
