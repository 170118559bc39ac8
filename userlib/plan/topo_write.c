// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a topology as the file topo_read.c reads: one line a machine, switch or link, what
 * is absent left out, and numbers with as many digits as it takes to read the same number.
 */
#include <errno.h>
#include <stdlib.h>

#include "topo.h"

static void write_number(FILE *file, const char *key, double number)
{
	char text[40];

	if (!number)
		return;
	snprintf(text, sizeof(text), "%.15g", number);
	if (strtod(text, NULL) != number)
		snprintf(text, sizeof(text), "%.17g", number);
	fprintf(file, ", %s: %s", key, text);
}

static void write_text(FILE *file, const char *key, const char *text)
{
	if (text)
		fprintf(file, ", %s: \"%s\"", key, text);
}

static void write_int(FILE *file, const char *key, int number)
{
	if (number != INA_TOPO_NONE)
		fprintf(file, ", %s: %d", key, number);
}

static void write_node(FILE *file, const struct ina_topo_node *node)
{
	fprintf(file, "  - {name: \"%s\"", node->name);
	if (node->kind == INA_TOPO_SWITCH)
		write_int(file, "level", node->level);
	write_text(file, "addr", node->addr);
	write_text(file, "where", node->where);
	write_int(file, "rack", node->rack);
	write_int(file, "pod", node->pod);
	write_number(file, "cores", node->cores);
	write_number(file, "idle-cores", node->idle_cores);
	write_number(file, "memory", node->memory);
	write_number(file, "used-memory", node->used_memory);
	write_text(file, "aggregator", node->aggregator);
	if (!node->aggregator)
		write_int(file, "capacity", node->capacity);
	fputs("}\n", file);
}

static void write_nodes(const struct ina_topo *topo, FILE *file, enum ina_topo_kind kind,
			const char *key)
{
	bool first = true;

	for (int i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].kind != kind)
			continue;
		if (first)
			fprintf(file, "%s:\n", key);
		first = false;
		write_node(file, &topo->nodes[i]);
	}
}

static void write_link(const struct ina_topo *topo, FILE *file, const struct ina_topo_link *link)
{
	fprintf(file, "  - {between: [\"%s\", \"%s\"]", topo->nodes[link->a].name,
		topo->nodes[link->b].name);
	write_number(file, "rate", link->rate);
	write_number(file, "used", link->used);
	write_number(file, "latency", link->latency);
	if (link->capacity)
		write_int(file, "capacity", link->capacity);
	fputs("}\n", file);
}

int ina_topo_write(const struct ina_topo *topo, FILE *file)
{
	write_nodes(topo, file, INA_TOPO_HOST, "hosts");
	write_nodes(topo, file, INA_TOPO_SWITCH, "switches");
	if (topo->n_links)
		fputs("links:\n", file);
	for (int i = 0; i < topo->n_links; i++)
		write_link(topo, file, &topo->links[i]);
	return fflush(file) || ferror(file) ? -EIO : 0;
}
