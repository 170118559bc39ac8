// SPDX-License-Identifier: GPL-2.0
/*
 * A bar chart in SVG: for each rate a panel, for each trace the score of each variant, and under
 * its bar the mean JCT.
 */
#include <string.h>

#include "sim.h"

#define PLOT_LEFT	60
#define PLOT_BAR	9
#define PLOT_HEIGHT	220
#define PLOT_JCT	36	/* room for a time, upright */
#define PLOT_PANEL	(PLOT_HEIGHT + PLOT_JCT + 70)
#define PLOT_TOP	20

static const char *const ina_sim_colours[] = {
	"#bdbdbd", "#969696", "#9ecae1", "#4292c6", "#c7e9c0", "#74c476", "#fdae6b", "#e6550d",
	"#d9d9d9", "#737373", "#deebf7", "#08519c", "#e5f5e0", "#238b45", "#fdd0a2", "#a63603",
};

/* Bars of the first trace, which are those of every trace. */
static int ina_sim_plot_variants(const struct ina_sim_table *table)
{
	int n = 0;

	while (n < table->n && !strcmp(table->rows[n].trace, table->rows[0].trace) &&
	       table->rows[n].rate == table->rows[0].rate)
		n++;
	return n;
}

static void ina_sim_plot_axis(FILE *file, int top, int width, double rate)
{
	int i;

	fprintf(file, "<text x=\"%d\" y=\"%d\">INA efficiency score", PLOT_LEFT, top - 6);
	if (rate > 0)
		fprintf(file, ", all-reduce at %g GB/s", rate / 1e9);
	fprintf(file, "; below each bar: mean JCT in s</text>\n");
	for (i = 0; i <= 5; i++) {
		int y = top + PLOT_HEIGHT - i * PLOT_HEIGHT / 5;

		fprintf(file, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#ddd\"/>"
			"<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.1f</text>\n", PLOT_LEFT, y,
			width - 10, y, PLOT_LEFT - 6, y + 4, i / 5.0);
	}
}

static void ina_sim_plot_legend(const struct ina_sim_table *table, int variants, int top,
				FILE *file)
{
	int i;

	for (i = 0; i < variants; i++) {
		const struct ina_sim_row *row = &table->rows[i];
		int x = PLOT_LEFT + i % 4 * 195, y = top + i / 4 * 18;

		fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>"
			"<text x=\"%d\" y=\"%d\">%s, %s%s%s</text>\n", x, y,
			ina_sim_colours[i], x + 15, y + 9,
			row->best_place ? "placed" : "first n",
			row->best_trees ? "trees" : "first fit", row->best_trees && row->shared ? ", shared" : "",
			row->every ? "" : ", joining");
	}
}

/* The bar of a row at @x on a ground at @y, and its time below. */
static void ina_sim_plot_bar(const struct ina_sim_row *row, int x, int y, const char *colour,
			     FILE *file)
{
	double height = PLOT_HEIGHT * (row->result.score > 0 ? row->result.score : 0);

	fprintf(file, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"/>\n", x,
		y - height, PLOT_BAR - 1, height, colour);
	fprintf(file, "<text transform=\"translate(%d %d) rotate(-90)\" text-anchor=\"end\" "
		"font-size=\"9\">%.3f</text>\n", x + PLOT_BAR - 2, y + 4, row->result.jct);
}

void ina_sim_plot(const struct ina_sim_table *table, FILE *file)
{
	int variants = ina_sim_plot_variants(table), group = variants * PLOT_BAR + 14, i;
	int traces = 1, panels = 1, width, top;

	for (i = 1; i < table->n; i++) {
		panels += table->rows[i].rate != table->rows[i - 1].rate;
		traces += table->rows[i].rate == table->rows[0].rate &&
			  strcmp(table->rows[i].trace, table->rows[i - 1].trace) != 0;
	}
	width = PLOT_LEFT + traces * group + 20;
	width = width < 840 ? 840 : width;
	fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", width,
		PLOT_TOP + panels * PLOT_PANEL + 18 * ((variants + 3) / 4) + 14);
	for (i = 0, top = PLOT_TOP - PLOT_PANEL; i < table->n; i++) {
		const struct ina_sim_row *row = &table->rows[i];
		int at = i / variants % traces, x = PLOT_LEFT + 7 + at * group;

		if (i % (variants * traces) == 0) {
			top += PLOT_PANEL;
			ina_sim_plot_axis(file, top + 10, width, row->rate);
		}
		if (i % variants == 0)
			fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
				x + variants * PLOT_BAR / 2, top + PLOT_HEIGHT + PLOT_JCT + 26,
				row->trace);
		ina_sim_plot_bar(row, x + i % variants * PLOT_BAR, top + 10 + PLOT_HEIGHT,
				 ina_sim_colours[i % variants], file);
	}
	ina_sim_plot_legend(table, variants, top + PLOT_PANEL, file);
	fprintf(file, "</svg>\n");
}
