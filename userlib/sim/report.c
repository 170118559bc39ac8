// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of many runs: Markdown for people, CSV and JSON for programs.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sim.h"

/* Columns: one name, one unit, one place in the result. */
static const struct {
	const char *name;
	size_t at;
} ina_sim_columns[] = {
	{ "score", offsetof(struct ina_sim_result, score) },
	{ "utilisation", offsetof(struct ina_sim_result, utilisation) },
	{ "jct", offsetof(struct ina_sim_result, jct) },
	{ "jct_p99", offsetof(struct ina_sim_result, jct_p99) },
	{ "jct_none", offsetof(struct ina_sim_result, jct_none) },
	{ "jct_all", offsetof(struct ina_sim_result, jct_all) },
	{ "makespan", offsetof(struct ina_sim_result, makespan) },
	{ "load", offsetof(struct ina_sim_result, load) },
	{ "own", offsetof(struct ina_sim_result, own) },
	{ "moves", offsetof(struct ina_sim_result, moves) },
	{ "gap", offsetof(struct ina_sim_result, gap) },
	{ "plan_median", offsetof(struct ina_sim_result, plan_median) },
	{ "plan_p99", offsetof(struct ina_sim_result, plan_p99) },
	{ "plan_max", offsetof(struct ina_sim_result, plan_max) },
};

#define INA_SIM_SCORE	0.90
#define INA_SIM_GAIN	0.40
#define INA_SIM_COLUMNS	(sizeof(ina_sim_columns) / sizeof(*ina_sim_columns))

static double ina_sim_value(const struct ina_sim_result *result, size_t column)
{
	double value;

	memcpy(&value, (const char *)result + ina_sim_columns[column].at, sizeof(value));
	return value;
}

static bool ina_sim_same(const struct ina_sim_row *a, const struct ina_sim_row *b)
{
	return a->rate == b->rate && a->best_place == b->best_place &&
	       a->best_trees == b->best_trees && a->every == b->every && a->shared == b->shared;
}

void ina_sim_report_mean(const struct ina_sim_table *table, const struct ina_sim_row *row,
			 struct ina_sim_result *mean)
{
	int i, n = 0;
	size_t c;

	memset(mean, 0, sizeof(*mean));
	for (i = 0; i < table->n; i++)
		n += ina_sim_same(&table->rows[i], row);
	for (c = 0; c < INA_SIM_COLUMNS; c++) {
		double sum = 0;

		for (i = 0; i < table->n; i++)
			if (ina_sim_same(&table->rows[i], row))
				sum += ina_sim_value(&table->rows[i].result, c) / n;
		memcpy((char *)mean + ina_sim_columns[c].at, &sum, sizeof(sum));
	}
}

static const char *ina_sim_tick(bool yes)
{
	return yes ? "yes" : "–";
}

/* Whether a row is the first of its rate (and variant). */
static bool ina_sim_is_first(const struct ina_sim_table *table, int i, bool variant)
{
	int k;

	for (k = 0; k < i; k++)
		if (table->rows[k].rate == table->rows[i].rate &&
		    (!variant || ina_sim_same(&table->rows[k], &table->rows[i])))
			return false;
	return true;
}

/*
 * What is wanted of placement, trees and greedy sharing together, as MINA reports of its first
 * trace (0.263 to 0.900), beside what came out. The baseline counts units in the same way.
 */
static void ina_sim_text_wanted(const struct ina_sim_table *table, double rate, bool every,
				FILE *file)
{
	const struct ina_sim_row first = { .rate = rate, .every = every, .shared = true };
	struct ina_sim_row best = first;
	struct ina_sim_result a, b;

	best.best_place = best.best_trees = true;
	ina_sim_report_mean(table, &first, &a);
	ina_sim_report_mean(table, &best, &b);
	if (!isfinite(a.score) || !isfinite(b.score) || !a.jct || !b.jct)
		return;
	fprintf(file, "Placement, trees and greedy sharing%s: score %.3f (at least %.2f wanted: "
		"%s), %.3f above the baseline (at least %.2f wanted: %s).\n\n",
		every ? "" : ", joining only", b.score, INA_SIM_SCORE,
		b.score >= INA_SIM_SCORE ? "met" : "missed", b.score - a.score, INA_SIM_GAIN,
		b.score - a.score >= INA_SIM_GAIN ? "met" : "missed");
}

static void ina_sim_text_means(const struct ina_sim_table *table, double rate, FILE *file)
{
	struct ina_sim_result m;
	int i;

	fprintf(file, "| placement | trees | sharing | joining only | score | utilisation | "
		"mean JCT s | p99 JCT s | own tree | moves a job | gap | planner median ms | p99 ms |\n"
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
	for (i = 0; i < table->n; i++) {
		const struct ina_sim_row *row = &table->rows[i];

		if (row->rate != rate || !ina_sim_is_first(table, i, true))
			continue;
		ina_sim_report_mean(table, row, &m);
		fprintf(file, "| %s | %s | %s | %s | %.3f | %.3f | %.3f | %.2f | %.2f | %.2f | ",
			ina_sim_tick(row->best_place), ina_sim_tick(row->best_trees),
			ina_sim_tick(row->best_trees && row->shared), ina_sim_tick(!row->every),
			m.score, m.utilisation, m.jct, m.jct_p99, m.own, m.moves);
		if (row->best_trees)
			fprintf(file, "%.3f | ", m.gap);
		else
			fprintf(file, "– | ");
		fprintf(file, "%.3f | %.3f |\n", m.plan_median * 1e3, m.plan_p99 * 1e3);
	}
	for (i = 0; table->rows[i].rate != rate; i++)
		;
	ina_sim_report_mean(table, &table->rows[i], &m);
	fprintf(file, "\nMean JCT with no all-reduce in the network (score 0): %.3f s; with every "
		"one (score 1): %.3f s.\n\n", m.jct_none, m.jct_all);
	ina_sim_text_wanted(table, rate, true, file);
	ina_sim_text_wanted(table, rate, false, file);
}

/* Score and mean JCT of every variant by trace. */
static void ina_sim_text_traces(const struct ina_sim_table *table, double rate, FILE *file)
{
	int i, k;

	fprintf(file, "Score (mean JCT in s) by trace; P: placement, T: trees, S: sharing, J: joining "
		"only:\n\n"
		"| trace |");
	for (i = 0; i < table->n; i++)
		if (table->rows[i].rate == rate && ina_sim_is_first(table, i, true))
			fprintf(file, " %s%s%s%s |", table->rows[i].best_place ? "P" : "–",
				table->rows[i].best_trees ? "T" : "–",
				table->rows[i].best_trees && table->rows[i].shared ? "S" : "–",
				table->rows[i].every ? "–" : "J");
	fprintf(file, "\n|---|");
	for (i = 0; i < table->n; i++)
		if (table->rows[i].rate == rate && ina_sim_is_first(table, i, true))
			fprintf(file, "---|");
	for (i = 0; i < table->n; i = k) {
		for (k = i; k < table->n && table->rows[k].rate == table->rows[i].rate &&
		     !strcmp(table->rows[k].trace, table->rows[i].trace); k++) {
			const struct ina_sim_row *row = &table->rows[k];

			if (row->rate != rate)
				continue;
			if (k == i)
				fprintf(file, "\n| %s |", row->trace);
			fprintf(file, " %.3f (%.3f) |", row->result.score, row->result.jct);
		}
	}
	fprintf(file, "\n\n");
}

static void ina_sim_text_growth(const struct ina_sim_table *table, FILE *file)
{
	int i;

	fprintf(file, "## The planner on larger fabrics\n\n"
		"| hosts | switches | jobs | median ms | p99 ms | longest ms | gap |\n"
		"|---|---|---|---|---|---|---|\n");
	for (i = 0; i < table->n_growth; i++) {
		const struct ina_sim_growth *g = &table->growth[i];

		fprintf(file, "| %d | %d | %d | %.3f | %.3f | %.3f | %.3f |\n", g->hosts,
			g->switches, g->result.jobs, g->result.plan_median * 1e3,
			g->result.plan_p99 * 1e3, g->result.plan_max * 1e3, g->result.gap);
	}
	fprintf(file, "\n");
}

void ina_sim_report_text(const struct ina_sim_table *table, FILE *file)
{
	int i;

	fprintf(file, "Made by `%s`.\n\n", table->command);
	for (i = 0; i < table->n; i++)
		if (ina_sim_is_first(table, i, false)) {
			if (table->rows[i].rate > 0)
				fprintf(file, "## All-reduce at %g GB/s\n\n",
					table->rows[i].rate / 1e9);
			else
				fprintf(file, "## All-reduce as fast as a job's slowest machine\n\n");
			ina_sim_text_means(table, table->rows[i].rate, file);
			ina_sim_text_traces(table, table->rows[i].rate, file);
		}
	if (table->n_growth)
		ina_sim_text_growth(table, file);
}

void ina_sim_report_csv(const struct ina_sim_table *table, FILE *file)
{
	size_t c;
	int i;

	fprintf(file, "trace,rate,placement,trees,sharing,joining_only,jobs,events");
	for (c = 0; c < INA_SIM_COLUMNS; c++)
		fprintf(file, ",%s", ina_sim_columns[c].name);
	fprintf(file, "\n");
	for (i = 0; i < table->n; i++) {
		const struct ina_sim_row *row = &table->rows[i];

		fprintf(file, "%s,%.9g,%d,%d,%d,%d,%d,%llu", row->trace, row->rate,
			row->best_place, row->best_trees, row->best_trees && row->shared,
			!row->every, row->result.jobs,
			(unsigned long long)row->result.events);
		for (c = 0; c < INA_SIM_COLUMNS; c++)
			fprintf(file, ",%.9g", ina_sim_value(&row->result, c));
		fprintf(file, "\n");
	}
}

/* JSON has no NAN: null. */
static void ina_sim_json_result(const struct ina_sim_result *result, FILE *file)
{
	size_t c;

	fprintf(file, "\"jobs\": %d, \"events\": %llu", result->jobs,
		(unsigned long long)result->events);
	for (c = 0; c < INA_SIM_COLUMNS; c++) {
		double value = ina_sim_value(result, c);

		if (isfinite(value))
			fprintf(file, ", \"%s\": %.9g", ina_sim_columns[c].name, value);
		else
			fprintf(file, ", \"%s\": null", ina_sim_columns[c].name);
	}
}

static void ina_sim_json_string(const char *text, FILE *file)
{
	fputc('"', file);
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\')
			fprintf(file, "\\u%04x", (unsigned char)*text);
		else
			fputc(*text, file);
	fputc('"', file);
}

void ina_sim_report_json(const struct ina_sim_table *table, FILE *file)
{
	int i;

	fprintf(file, "{\"command\": ");
	ina_sim_json_string(table->command, file);
	fprintf(file, ",\n\"runs\": [");
	for (i = 0; i < table->n; i++) {
		const struct ina_sim_row *row = &table->rows[i];

		fprintf(file, "%s\n  {\"trace\": ", i ? "," : "");
		ina_sim_json_string(row->trace, file);
		fprintf(file, ", \"rate\": %.9g, \"placement\": %s, \"trees\": %s, "
			"\"sharing\": %s, \"joining_only\": %s, ", row->rate,
			row->best_place ? "true" : "false", row->best_trees ? "true" : "false",
			row->best_trees && row->shared ? "true" : "false",
			row->every ? "false" : "true");
		ina_sim_json_result(&row->result, file);
		fprintf(file, "}");
	}
	fprintf(file, "\n],\n\"growth\": [");
	for (i = 0; i < table->n_growth; i++) {
		fprintf(file, "%s\n  {\"hosts\": %d, \"switches\": %d, ", i ? "," : "",
			table->growth[i].hosts, table->growth[i].switches);
		ina_sim_json_result(&table->growth[i].result, file);
		fprintf(file, "}");
	}
	fprintf(file, "\n]}\n");
}
