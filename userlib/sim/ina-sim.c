// SPDX-License-Identifier: GPL-2.0
/*
 * ina-sim: runs every trace at every rate with every variant asked for, and writes what came
 * out. What is written to a file replaces it only when it is complete.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "sim.h"

#ifndef INA_SIM_TRACES
#define INA_SIM_TRACES	"/usr/share/ina/traces"
#endif

#define INA_SIM_VARIANTS	16

/**
 * struct ina_sim_bar - progress on a terminal
 * @total: jobs of all runs
 * @before: jobs of the runs that are over
 * @shown: per mille shown last
 */
struct ina_sim_bar {
	long total;
	long before;
	long shown;
};

static void ina_sim_bar_show(void *data, int jobs)
{
	struct ina_sim_bar *bar = data;
	long mille = (bar->before + jobs) * 1000 / bar->total;
	static const char full[] = "########################################";

	if (mille == bar->shown || !isatty(STDERR_FILENO))
		return;
	bar->shown = mille;
	fprintf(stderr, "\r[%-40.*s] %3ld%%", (int)(mille / 25), full, mille / 10);
	if (mille == 1000)
		fprintf(stderr, "\r%*s\r", 48, "");
	fflush(stderr);
}

static int ina_sim_fail(int err, const char *what)
{
	fprintf(stderr, "ina-sim: %s: %s\n", what, strerror(-err));
	return 1;
}

static int ina_sim_is_model(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, ".json") && strcmp(entry->d_name, "hosts.json") &&
	       entry->d_name[0] != '.';
}

static int ina_sim_read(struct ina_sim_workload *load, const char *path,
			int (*take)(struct ina_sim_workload *load,
				    const struct ina_doc_value *root, struct ina_doc_error *err))
{
	struct ina_doc_error err = { "" };
	struct ina_doc *doc = ina_doc_read(path, &err);
	int bad = doc ? take(load, ina_doc_root(doc), &err) : -EINVAL;

	ina_doc_destroy(doc);
	if (bad)
		fprintf(stderr, "ina-sim: %s\n", err.text);
	return bad;
}

/* All models of the folder, in the order of their names, and the histograms. */
static int ina_sim_load(struct ina_sim_workload *load, const char *folder)
{
	struct dirent **entries;
	char path[PATH_MAX];
	int n = scandir(folder, &entries, ina_sim_is_model, alphasort), i, bad = 0;

	if (n < 0)
		return ina_sim_fail(-errno, folder) + 1;
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		bad = bad ? bad : ina_sim_read(load, path, ina_sim_workload_model);
		free(entries[i]);
	}
	free(entries);
	snprintf(path, sizeof(path), "%s/hosts.json", folder);
	if (!bad && !n) {
		fprintf(stderr, "ina-sim: %s: no models: expected *.json\n", folder);
		return 2;
	}
	return bad || ina_sim_read(load, path, ina_sim_workload_hosts) ? 2 : 0;
}

/* Capacities: one kind of limit for all, unless they are as in the file. */
static void ina_sim_limit(struct ina_topo *topo, bool links, int capacity)
{
	int i;

	for (i = 0; capacity && i < topo->n_nodes; i++)
		if (topo->nodes[i].kind == INA_TOPO_SWITCH)
			topo->nodes[i].capacity = links ? INT_MAX : capacity;
	for (i = 0; capacity && i < topo->n_links; i++)
		topo->links[i].capacity = links ? capacity : 0;
}

/* Whether every machine has a link with something left; the first without is named. */
static bool ina_sim_linked(const struct ina_topo *topo)
{
	bool *linked = calloc((size_t)topo->n_nodes + 1, sizeof(*linked));
	int i;

	for (i = 0; linked && i < topo->n_links; i++)
		linked[topo->links[i].a] |= topo->links[i].rate > topo->links[i].used;
	for (i = 0; linked && i < topo->n_nodes; i++)
		if (topo->nodes[i].kind == INA_TOPO_HOST && !linked[i]) {
			fprintf(stderr, "ina-sim: host '%s' has no rate left: give --rate\n",
				topo->nodes[i].name);
			break;
		}
	i = linked && i == topo->n_nodes;
	free(linked);
	return i;
}

/* The fabric; NULL after saying why not, with the exit status in @status. */
static struct ina_topo *ina_sim_fabric(const struct ina_sim_options *o, int *status)
{
	struct ina_doc_error err = { "" };
	struct ina_topo *topo;

	if (o->topology) {
		topo = ina_topo_read(o->topology, &err);
		if (!topo)
			fprintf(stderr, "ina-sim: %s\n", err.text);
		if (topo && !(o->rates[0] > 0) && !ina_sim_linked(topo)) {
			ina_topo_destroy(topo);
			topo = NULL;
		}
		*status = 2;
	} else {
		/* Rates of links play no part: --rate does. */
		topo = ina_topo_fat_tree(o->degree, 200e9, 0);
		*status = topo ? 0 : ina_sim_fail(-errno, "fat-tree");
	}
	if (topo)
		ina_sim_limit(topo, o->links, o->capacity);
	return topo;
}

static bool ina_sim_wanted(enum ina_sim_which which, bool on)
{
	return which == INA_SIM_BOTH || (which == INA_SIM_ON) == on;
}

static void ina_sim_configure(const struct ina_sim_options *o, const struct ina_topo *topo,
			      struct ina_sim_bar *bar, struct ina_sim_config *config)
{
	*config = (struct ina_sim_config){
		.topo = topo, .share = &ina_sim_greedy, .alpha = o->alpha,
		.candidates = o->candidates, .speedup = o->speedup, .latency = o->latency,
		.round = o->round,
		.progress = ina_sim_bar_show, .data = bar,
	};
}

/*
 * Whether variant @v of INA_SIM_VARIANTS is asked for; it is written to @row. First fits are
 * never shared, so these run once unless --share says how.
 */
static bool ina_sim_variant(const struct ina_sim_options *o, int v, struct ina_sim_row *row)
{
	row->best_place = v & 1;
	row->best_trees = v & 2;
	row->shared = !(v & 4);
	row->every = !(v & 8);
	return ina_sim_wanted(o->place, row->best_place) &&
	       ina_sim_wanted(o->trees, row->best_trees) &&
	       ina_sim_wanted(o->share, row->shared) &&
	       ina_sim_wanted(o->joining, !row->every) &&
	       (row->best_trees || row->shared || o->share != INA_SIM_BOTH);
}

/* One trace at one rate: all variants on the same jobs. */
static int ina_sim_trace(const struct ina_sim_options *o, struct ina_sim_config *config,
			 const struct ina_sim_job *jobs, const char *trace,
			 struct ina_sim_table *table)
{
	struct ina_sim_bar *bar = config->data;
	int v, err;

	for (v = 0; v < INA_SIM_VARIANTS; v++) {
		struct ina_sim_row *row = &table->rows[table->n];

		*row = (struct ina_sim_row){ .trace = trace, .rate = config->rate };
		if (!ina_sim_variant(o, v, row))
			continue;
		config->best_place = row->best_place;
		config->trees = row->best_trees ? INA_FOREST_BEST : INA_FOREST_FIRST;
		config->every = row->every;
		config->share = row->shared ? &ina_sim_greedy : &ina_sim_unshared;
		config->gap = row->best_trees;
		err = ina_sim_run(config, jobs, o->jobs, &row->result);
		if (err)
			return err;
		table->n++;
		bar->before += o->jobs;
	}
	return 0;
}

static int ina_sim_all(const struct ina_sim_options *o, const struct ina_sim_workload *load,
		       struct ina_sim_config *config, int hosts, struct ina_sim_table *table)
{
	int r, h, err;

	for (r = 0; r < o->n_rates; r++)
		for (h = 0; h < load->n_histograms; h++) {
			struct ina_sim_job *jobs;

			if (o->trace && strcmp(load->histograms[h].name, o->trace))
				continue;
			config->rate = o->rates[r];
			jobs = ina_sim_workload_draw(load, h, o->jobs, hosts,
						     o->seed + 1000003u * (uint64_t)h);
			if (!jobs)
				return -errno;
			err = ina_sim_trace(o, config, jobs, load->histograms[h].name, table);
			free(jobs);
			if (err)
				return err;
		}
	return 0;
}

/* The planner on one size: jobs of the first histogram that take one step each. */
static int ina_sim_size(const struct ina_sim_options *o, const struct ina_sim_workload *load,
			struct ina_sim_config *config, int degree, struct ina_sim_growth *growth)
{
	struct ina_topo *topo = ina_topo_fat_tree(degree, 200e9, 0);
	struct ina_sim_job *jobs;
	int n, i, err = -ENOMEM;

	if (!topo)
		return -errno;
	ina_sim_limit(topo, o->links, o->capacity);
	growth->hosts = degree * degree * degree / 4;
	growth->switches = topo->n_nodes - growth->hosts;
	n = 200 + growth->hosts / 4;
	jobs = ina_sim_workload_draw(load, 0, n, growth->hosts, o->seed);
	if (!jobs)
		err = -errno;
	for (i = 0; jobs && i < n; i++)
		jobs[i].steps /= 10;
	config->topo = topo;
	if (jobs)
		err = ina_sim_run(config, jobs, n, &growth->result);
	free(jobs);
	ina_topo_destroy(topo);
	return err;
}

static int ina_sim_grow(const struct ina_sim_options *o, const struct ina_sim_workload *load,
			struct ina_sim_config config, struct ina_sim_table *table)
{
	static const int degrees[] = { 8, 16, 24, 32, 40, 42 };
	int n = sizeof(degrees) / sizeof(*degrees), err = 0;

	config.best_place = true;
	config.trees = INA_FOREST_BEST;
	config.every = o->joining == INA_SIM_OFF;
	config.gap = true;
	config.rate = o->rates[0] > 0 ? o->rates[0] : 12.5e9;
	config.progress = NULL;
	table->growth = calloc((size_t)n, sizeof(*table->growth));
	if (!table->growth)
		return -ENOMEM;
	for (; !err && table->n_growth < n && degrees[table->n_growth] <= o->growth; table->n_growth++)
		err = ina_sim_size(o, load, &config, degrees[table->n_growth],
				   &table->growth[table->n_growth]);
	return err;
}

/* Write a file as a whole or not at all. */
static int ina_sim_write(const char *path, const struct ina_sim_table *table,
			 void (*write)(const struct ina_sim_table *table, FILE *file))
{
	char part[PATH_MAX];
	FILE *file;
	int err;

	if (!path)
		return 0;
	if (snprintf(part, sizeof(part), "%s.part", path) >= (int)sizeof(part))
		return ina_sim_fail(-ENAMETOOLONG, path);
	file = fopen(part, "w");
	if (!file)
		return ina_sim_fail(-errno, part);
	write(table, file);
	err = ferror(file) ? -EIO : 0;
	if (fclose(file) || err || rename(part, path)) {
		err = err ? err : -errno;
		unlink(part);
		return ina_sim_fail(err, path);
	}
	return 0;
}

static int ina_sim_output(const struct ina_sim_options *o, const struct ina_sim_table *table)
{
	int bad = 0;

	ina_sim_report_text(table, stdout);
	if (fflush(stdout) || ferror(stdout))
		bad = ina_sim_fail(-errno, "standard output");
	bad |= ina_sim_write(o->csv, table, ina_sim_report_csv);
	bad |= ina_sim_write(o->json, table, ina_sim_report_json);
	bad |= ina_sim_write(o->markdown, table, ina_sim_report_text);
	bad |= ina_sim_write(o->svg, table, ina_sim_plot);
	return bad;
}

/* Histograms asked for; 0 after naming those there are. */
static int ina_sim_traces(const struct ina_sim_options *o, const struct ina_sim_workload *load)
{
	int n = 0, i;

	for (i = 0; i < load->n_histograms; i++)
		n += !o->trace || !strcmp(load->histograms[i].name, o->trace);
	if (n)
		return n;
	fprintf(stderr, "ina-sim: --trace: '%s': expected", o->trace);
	for (i = 0; i < load->n_histograms; i++)
		fprintf(stderr, "%s %s", i ? "," : "", load->histograms[i].name);
	fprintf(stderr, "\n");
	return 0;
}

static int ina_sim_go(const struct ina_sim_options *o, const struct ina_sim_workload *load,
		      const struct ina_topo *topo, struct ina_sim_table *table)
{
	int traces = ina_sim_traces(o, load), hosts = 0, i, err;
	struct ina_sim_bar bar = { .shown = -1 };
	struct ina_sim_row row;
	struct ina_sim_config config;

	if (!traces)
		return 2;
	for (i = 0; i < INA_SIM_VARIANTS; i++)
		bar.total += ina_sim_variant(o, i, &row);
	bar.total *= (long)traces * o->n_rates * o->jobs;
	for (i = 0; i < topo->n_nodes; i++)
		hosts += topo->nodes[i].kind == INA_TOPO_HOST;
	table->rows = calloc((size_t)traces * (size_t)o->n_rates * INA_SIM_VARIANTS + 1,
			     sizeof(*table->rows));
	if (!table->rows)
		return ina_sim_fail(-ENOMEM, "table");
	ina_sim_configure(o, topo, &bar, &config);
	err = ina_sim_all(o, load, &config, hosts, table);
	if (err == -ERANGE) {
		fprintf(stderr, "ina-sim: a job of the traces needs more than the %d hosts\n",
			hosts);
		return 2;
	}
	if (!err && o->growth)
		err = ina_sim_grow(o, load, config, table);
	return err ? ina_sim_fail(err, "run") : ina_sim_output(o, table);
}

/* The command as it was given, for the report. */
static char *ina_sim_command(int argc, char **argv)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	int i;

	if (!file)
		return NULL;
	fprintf(file, "ina-sim");
	for (i = 1; i < argc; i++)
		fprintf(file, " %s", argv[i]);
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}

int main(int argc, char **argv)
{
	struct ina_sim_options o = {
		.degree = 16, .traces = INA_SIM_TRACES, .jobs = 2000, .seed = 1, .alpha = 0.5,
		.candidates = 64, .speedup = 2, .latency = 50e-6, .round = 4e6,
	};
	struct ina_sim_table table = { 0 };
	struct ina_sim_workload load = { 0 };
	char *command = ina_sim_command(argc, argv);
	struct ina_topo *topo = NULL;
	int status = ina_sim_options_parse(&o, argc, argv);

	table.command = command ? command : "ina-sim";
	if (status) {
		free(command);
		return status == 1 ? fflush(stdout) != 0 : status;
	}
	status = ina_sim_load(&load, o.traces);
	if (!status)
		topo = ina_sim_fabric(&o, &status);
	if (topo)
		status = ina_sim_go(&o, &load, topo, &table);
	ina_topo_destroy(topo);
	ina_sim_workload_clear(&load);
	free(table.rows);
	free(table.growth);
	free(command);
	return status;
}
