// SPDX-License-Identifier: GPL-2.0
/*
 * Draws a topology by levels, hosts at the bottom: as a graph for graphviz, or as a picture of its
 * own in which a level is a row, spread over the width. Names have no character to escape.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inaconf.h"
#include "topo.h"

#define DRAW_ROW	120	/* pixels from level to level */
#define DRAW_CELL	14	/* least pixels a node has */
#define DRAW_WIDTH	640	/* least pixels of the picture */
#define DRAW_NAMED	48	/* pixels a node needs to show its name */

static int draw_levels(const struct ina_topo *topo)
{
	int levels = 1;

	for (int i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].level >= levels)
			levels = topo->nodes[i].level + 1;
	}
	return levels;
}

void topo_draw_dot(const struct ina_topo *topo, FILE *file)
{
	fputs("graph ina {\n\trankdir=BT;\n\tnode [shape=box];\n", file);
	for (int level = 0; level < draw_levels(topo); level++) {
		fputs("\t{ rank=same;", file);
		for (int i = 0; i < topo->n_nodes; i++) {
			if (topo->nodes[i].level == level)
				fprintf(file, " \"%s\"%s;", topo->nodes[i].name,
					level ? "" : " [shape=ellipse]");
		}
		fputs(" }\n", file);
	}
	for (int i = 0; i < topo->n_links; i++) {
		const struct ina_topo_link *link = &topo->links[i];

		fprintf(file, "\t\"%s\" -- \"%s\" [label=\"%gG\"];\n", topo->nodes[link->a].name,
			topo->nodes[link->b].name, link->rate / 1e9);
	}
	fputs("}\n", file);
}

/**
 * struct draw - a picture being drawn
 * @topo: of what
 * @file: where it goes
 * @count: nodes of each level
 * @place: of each node in its level, from 0
 * @levels: how many
 * @width: pixels
 */
struct draw {
	const struct ina_topo *topo;
	FILE *file;
	int *count;
	int *place;
	int levels;
	int width;
};

static double draw_cell(const struct draw *draw, int node)
{
	return (double)draw->width / draw->count[draw->topo->nodes[node].level];
}

static double draw_x(const struct draw *draw, int node)
{
	return draw_cell(draw, node) * (draw->place[node] + 0.5);
}

static double draw_y(const struct draw *draw, int node)
{
	return DRAW_ROW * (draw->levels - draw->topo->nodes[node].level - 0.5);
}

static void draw_link(const struct draw *draw, const struct ina_topo_link *link)
{
	fprintf(draw->file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\">"
		"<title>%s - %s, %gG, used %gG</title></line>\n",
		draw_x(draw, link->a), draw_y(draw, link->a), draw_x(draw, link->b),
		draw_y(draw, link->b), draw->topo->nodes[link->a].name,
		draw->topo->nodes[link->b].name, link->rate / 1e9, link->used / 1e9);
}

/* Hosts are round; what may aggregate is dark. */
static void draw_node(const struct draw *draw, int i)
{
	const struct ina_topo_node *node = &draw->topo->nodes[i];
	double x = draw_x(draw, i), y = draw_y(draw, i);

	fprintf(draw->file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" rx=\"%d\"%s>"
		"<title>%s, capacity %d</title></rect>\n", x - 5, y - 5,
		node->kind == INA_TOPO_HOST ? 5 : 0, node->capacity ? " fill=\"#357\"" : "",
		node->name, node->capacity);
	if (draw_cell(draw, i) >= DRAW_NAMED)
		fprintf(draw->file, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, y + 20,
			node->name);
}

static void draw_picture(const struct draw *draw)
{
	fprintf(draw->file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"10\" "
		"text-anchor=\"middle\">\n<g stroke=\"#999\">\n", draw->width,
		draw->levels * DRAW_ROW, draw->width, draw->levels * DRAW_ROW);
	for (int i = 0; i < draw->topo->n_links; i++)
		draw_link(draw, &draw->topo->links[i]);
	fputs("</g>\n<g fill=\"#bcd\">\n", draw->file);
	for (int i = 0; i < draw->topo->n_nodes; i++)
		draw_node(draw, i);
	fputs("</g>\n</svg>\n", draw->file);
}

int topo_draw_svg(const struct ina_topo *topo, FILE *file)
{
	struct draw draw = { .topo = topo, .file = file, .levels = draw_levels(topo),
			     .width = DRAW_WIDTH };

	draw.count = calloc((size_t)draw.levels, sizeof(*draw.count));
	draw.place = calloc((size_t)topo->n_nodes + 1, sizeof(*draw.place));
	for (int i = 0; draw.count && draw.place && i < topo->n_nodes; i++) {
		draw.place[i] = draw.count[topo->nodes[i].level]++;
		if (DRAW_CELL * draw.count[topo->nodes[i].level] > draw.width)
			draw.width = DRAW_CELL * draw.count[topo->nodes[i].level];
	}
	if (draw.count && draw.place)
		draw_picture(&draw);
	free(draw.count);
	free(draw.place);
	return draw.count && draw.place ? INACONF_OK : error_print("%s", strerror(ENOMEM));
}
