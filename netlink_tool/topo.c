// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf topo: the machines, switches and links of a cluster, read from a file or made by rule;
 * shown, drawn, or written as a topology file.
 */
#include <errno.h>
#include <string.h>

#include "inaconf.h"
#include "topo.h"

#define TOPO_RATE	100e9
#define TOPO_LATENCY	1e-6
#define TOPO_RATE_MAX	1e15

static const char topo_help[] =
	"Usage: inaconf topo show SOURCE [--dot | --svg]\n"
	"       inaconf topo write SOURCE\n"
	"\n"
	"SOURCE     [file] FILE                  a topology file; -: standard input\n"
	"           slurm FILE                   Slurm's topology.conf\n"
	"           fat-tree K                   fat-tree of degree K\n"
	"           leaf-spine LEAVES SPINES N   N hosts at each leaf\n"
	"           but for a file followed by   [rate R] [latency SECONDS]\n"
	"\n"
	"show       print it; --dot: a graph for graphviz, --svg: a picture\n"
	"write      write a topology file\n"
	"rate       bit/s of every link, such as 25G; 100G if absent\n"
	"spine-rate leaf-spine: bit/s from leaves to spines; rate if absent\n"
	"latency    seconds to cross a link, such as 2e-6; 1e-6 if absent\n";

/**
 * struct topo_source - where a topology comes from
 * @name: first word
 * @count: words behind it that must be there
 * @what: what they are
 * @rates: rate and latency may follow
 */
struct topo_source {
	const char *name;
	int count;
	const char *what;
	bool rates;
};

enum {
	TOPO_FILE,
	TOPO_SLURM,
	TOPO_FAT_TREE,
	TOPO_LEAF_SPINE,
};

static const struct topo_source topo_sources[] = {
	[TOPO_FILE] = { "file", 1, "a file", false },
	[TOPO_SLURM] = { "slurm", 1, "a file", true },
	[TOPO_FAT_TREE] = { "fat-tree", 1, "a degree", true },
	[TOPO_LEAF_SPINE] = { "leaf-spine", 3, "numbers of leaves, spines and hosts at a leaf", true },
};

static const struct words topo_source_words = WORDS(topo_sources);

/**
 * struct topo_options - what follows a source
 * @rate: bit/s
 * @spine_rate: bit/s, 0 for @rate
 * @latency: seconds
 * @dot: draw for graphviz
 * @svg: draw
 */
struct topo_options {
	double rate;
	double spine_rate;
	double latency;
	bool dot;
	bool svg;
};

static int topo_parse_options(int kind, bool draw, struct topo_options *options, int argc,
			      char **argv)
{
	const struct keyword table[] = {
		{ "rate", KEYWORD_NUMBER, &options->rate, 1, TOPO_RATE_MAX },
		{ "latency", KEYWORD_NUMBER, &options->latency, 0, 3600 },
		{ "spine-rate", KEYWORD_NUMBER, &options->spine_rate, 1, TOPO_RATE_MAX },
		{ "--dot", KEYWORD_FLAG, &options->dot, 0, 0 },
		{ "--svg", KEYWORD_FLAG, &options->svg, 0, 0 },
	};
	struct keyword known[ARRAY_SIZE(table)];
	struct words words = { known, 0, sizeof(known[0]) };

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (i < 2 ? topo_sources[kind].rates : i == 2 ? kind == TOPO_LEAF_SPINE : draw)
			known[words.count++] = table[i];
	}
	return keywords_parse(&words, argc, argv);
}

/* Whole numbers of a source. */
static int topo_parse_numbers(const struct topo_source *source, char **argv, int *numbers)
{
	for (int i = 0; i < source->count; i++) {
		double number;

		if (!ina_doc_number(argv[i], &number) || number < 1 || number > 1 << 24 ||
		    number != (int)number)
			return error_usage("%s: \"%s\" is not a number from 1 to %d", source->name,
					   argv[i], 1 << 24);
		numbers[i] = (int)number;
	}
	return INACONF_OK;
}

static int topo_generate(int kind, const struct topo_options *options, char **argv,
			 struct ina_topo **topo)
{
	double spine = options->spine_rate > 0 ? options->spine_rate : options->rate;
	int n[3], ret = topo_parse_numbers(&topo_sources[kind], argv, n);

	if (ret)
		return ret;
	if (kind == TOPO_FAT_TREE)
		*topo = ina_topo_fat_tree(n[0], options->rate, options->latency);
	else
		*topo = ina_topo_leaf_spine(n[0], n[1], n[2], options->rate, spine,
					    options->latency);
	if (*topo)
		return INACONF_OK;
	if (errno == ENOMEM)
		return error_print("%s", strerror(errno));
	return error_usage(kind == TOPO_FAT_TREE ? "fat-tree: the degree must be even, 2 to 256" :
						   "leaf-spine: more than 16 million links");
}

static int topo_read(int kind, const struct topo_options *options, const char *path,
		     struct ina_topo **topo)
{
	struct ina_doc_error err;

	if (kind == TOPO_FILE)
		*topo = ina_topo_read(path, &err);
	else
		*topo = ina_topo_read_slurm(path, options->rate, options->latency, &err);
	return *topo ? INACONF_OK : error_usage("%s", err.text);
}

/* The topology that @argv names; the caller destroys it. */
static int topo_get(bool draw, struct topo_options *options, int argc, char **argv,
		    struct ina_topo **topo)
{
	int kind = argc ? words_find(&topo_source_words, argv[0]) : -1, ret;

	if (!argc)
		return error_usage("a source is needed: a file, or file, slurm, fat-tree, leaf-spine");
	if (kind < 0) {
		kind = TOPO_FILE;
	} else {
		argc--;
		argv++;
	}
	if (argc < topo_sources[kind].count)
		return error_usage("%s needs %s", topo_sources[kind].name, topo_sources[kind].what);
	*options = (struct topo_options){ .rate = TOPO_RATE, .latency = TOPO_LATENCY };
	ret = topo_parse_options(kind, draw, options, argc - topo_sources[kind].count,
				 argv + topo_sources[kind].count);
	if (ret)
		return ret;
	if (kind == TOPO_FILE || kind == TOPO_SLURM)
		return topo_read(kind, options, argv[0], topo);
	return topo_generate(kind, options, argv, topo);
}

static void topo_print_text(struct print *p, const char *key, const char *prefix, const char *text)
{
	if (text)
		print_string(p, key, prefix, text);
}

static void topo_print_some(struct print *p, const char *key, const char *prefix, double value)
{
	if (value > 0)
		print_number(p, key, prefix, value);
}

static void topo_print_int(struct print *p, const char *key, const char *prefix, int value)
{
	if (value != INA_TOPO_NONE)
		print_int(p, key, prefix, value);
}

static void topo_print_memory(struct print *p, const char *key, const char *prefix, double value)
{
	if (value > 0 && p->json)
		print_number(p, key, prefix, value);
	else if (value > 0)
		print_bytes(p, key, prefix, (uint64_t)value);
}

static void topo_print_node(struct print *p, const struct ina_topo_node *node)
{
	bool host = node->kind == INA_TOPO_HOST;

	print_object_open(p, NULL);
	print_string(p, "name", host ? "host " : "switch ", node->name);
	if (!host)
		print_int(p, "level", " level ", node->level);
	topo_print_text(p, "addr", " addr ", node->addr);
	topo_print_text(p, "where", " where ", node->where);
	topo_print_int(p, "rack", " rack ", node->rack);
	topo_print_int(p, "pod", " pod ", node->pod);
	topo_print_some(p, "cores", " cores ", node->cores);
	topo_print_some(p, "idle-cores", " idle ", node->idle_cores);
	topo_print_memory(p, "memory", " memory ", node->memory);
	topo_print_memory(p, "used-memory", " used ", node->used_memory);
	topo_print_text(p, "aggregator", " aggregator ", node->aggregator);
	if (!node->aggregator)
		print_int(p, "capacity", " capacity ", node->capacity);
	print_object_close(p);
	print_text(p, "\n");
}

static void topo_print_nodes(struct print *p, const struct ina_topo *topo, const char *key,
			     enum ina_topo_kind kind)
{
	print_array_open(p, key);
	for (int i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].kind == kind)
			topo_print_node(p, &topo->nodes[i]);
	}
	print_array_close(p);
}

static void topo_print_link(struct print *p, const struct ina_topo *topo,
			    const struct ina_topo_link *link)
{
	print_object_open(p, NULL);
	print_array_open(p, "between");
	print_string(p, NULL, "link ", topo->nodes[link->a].name);
	print_string(p, NULL, " ", topo->nodes[link->b].name);
	print_array_close(p);
	print_number(p, "rate", " rate ", link->rate);
	topo_print_some(p, "used", " used ", link->used);
	topo_print_some(p, "latency", " latency ", link->latency);
	if (link->capacity)
		print_int(p, "capacity", " capacity ", link->capacity);
	print_object_close(p);
	print_text(p, "\n");
}

/* In JSON, too, it is a topology file. */
static void topo_print(struct print *p, const struct ina_topo *topo)
{
	print_object_open(p, NULL);
	topo_print_nodes(p, topo, "hosts", INA_TOPO_HOST);
	topo_print_nodes(p, topo, "switches", INA_TOPO_SWITCH);
	print_array_open(p, "links");
	for (int i = 0; i < topo->n_links; i++)
		topo_print_link(p, topo, &topo->links[i]);
	print_array_close(p);
	print_object_close(p);
}

static int topo_show(struct inaconf *ctx, int argc, char **argv)
{
	struct topo_options options;
	struct ina_topo *topo = NULL;
	int ret = topo_get(true, &options, argc, argv, &topo);

	if (ret)
		return ret;
	if (options.dot + options.svg + ctx->out.json > 1)
		ret = error_usage("--dot, --svg and -j exclude each other");
	else if (options.dot)
		topo_draw_dot(topo, ctx->out.file);
	else if (options.svg)
		ret = topo_draw_svg(topo, ctx->out.file);
	else
		topo_print(&ctx->out, topo);
	ina_topo_destroy(topo);
	return ret;
}

static int topo_write(struct inaconf *ctx, int argc, char **argv)
{
	struct topo_options options;
	struct ina_topo *topo = NULL;
	int ret = topo_get(false, &options, argc, argv, &topo);

	if (ret)
		return ret;
	/* What could not be written print_flush() says. */
	ina_topo_write(topo, ctx->out.file);
	ina_topo_destroy(topo);
	return INACONF_OK;
}

static const struct command topo_commands[] = {
	{ "show", topo_show },
	{ "write", topo_write },
	{ "help", NULL },
};

static const struct object topo_object = {
	.commands = WORDS(topo_commands),
	.fallback = topo_show,
	.help = topo_help,
};

int topo_run(struct inaconf *ctx, int argc, char **argv)
{
	return object_run(&topo_object, ctx, argc, argv);
}
