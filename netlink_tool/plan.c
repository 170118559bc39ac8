// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf plan: who aggregates for whom. plan tree works out the tree of one job from a topology
 * and a measured round, says what it expects of it and writes the plan.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inaconf.h"
#include "jobs.h"
#include "tree.h"

static const char plan_help[] =
	"Usage: inaconf plan tree topo FILE measure FILE root HOST job ID [size BYTES]\n"
	"                         [step SECONDS] [running PLAN] [per-core RATE] [seed N]\n"
	"                         [--dot] [options WORD...]\n"
	"       inaconf plan place topo FILE [running PLAN] [job ID hosts N [workers N]\n"
	"                          [size BYTES] [alpha X] [options WORD...]]\n"
	"       inaconf plan diff PLAN [from PLAN] [hook CMD] [timeout S] [prune]\n"
	"       inaconf plan apply PLAN [from PLAN] [hook CMD] [timeout S] [prune] [--dry-run]\n"
	"       inaconf plan load\n"
	"       inaconf plan watch PLAN [from PLAN] [hook CMD] [timeout S] [interval S] [hold S]\n"
	"                          [high PERCENT] [low PERCENT] [count N] [topo FILE]\n"
	"                          [measure FILE] [running PLAN] [step SECONDS] [per-core RATE]\n"
	"\n"
	"tree       work out who aggregates for whom in one job and write a plan\n"
	"place      find machines for a job, and trees for it and all that run; write a plan\n"
	"diff       what differs between a plan and what is configured\n"
	"apply      configure all machines as the plan says, or none\n"
	"load       how busy this machine is, as plan watch reads it\n"
	"watch      keep a plan applied, without aggregators that are under pressure\n"
	"\n"
	"topo       topology file; plan watch plans anew with it\n"
	"measure    measurement file, or what \"inaconf -j stats child job ID\" printed at the root\n"
	"root       machine where the sums are complete\n"
	"job        number of the job\n"
	"size       bytes of the gradient, if the measurement file does not say\n"
	"step       seconds of a training step, needed for statistics\n"
	"running    plan of the jobs that run: what aggregates for them is taken\n"
	"per-core   bit/s one core adds up; 10G if absent\n"
	"seed       of the search; 1 if absent\n"
	"--dot      the tree as a graph for graphviz instead of a plan\n"
	"hosts      how many machines the job needs\n"
	"workers    on each of them; 1 if absent\n"
	"alpha      weight of a fragment of free machines; 0.5 if absent\n"
	"options    words of \"inaconf job add\" behind the number\n"
	"\n"
	"PLAN       a file, - for standard input; plan watch reads a file again when it changes\n"
	"from       the plan until now: machines that are only in it end their part\n"
	"hook       runs CMD WHERE inaconf ... for machines that are no network namespace here\n"
	"timeout    seconds a machine has for an answer; 30 if absent\n"
	"prune      jobs on these machines that are not in the plan end\n"
	"--dry-run  only print the steps\n"
	"interval   seconds between two looks; 5 if absent\n"
	"hold       seconds that pressure, or its absence, must last; 10 if absent. Its absence\n"
	"           longer, if the machine was out shortly before\n"
	"high, low  percent of waiting for a processor where pressure begins and ends; 40 and 20\n"
	"count      looks, then end\n";

#define PLAN_SIZE_MAX	1e13

/**
 * struct plan_tree - a tree to be planned, and what came out
 * @topo_path: topology file
 * @measure_path: measurement file
 * @running_path: plan of the jobs that run, NULL if none was given
 * @root: name of the root
 * @job: number of the job, below 0 if it was not given
 * @size: bytes of the gradient, 0 if not given
 * @step: seconds of a step, 0 if not given
 * @per_core: bit/s
 * @seed: of the search
 * @dot: draw instead of writing a plan
 * @topo: the cluster
 * @measure: the measured round
 * @problem: made of both
 * @predict: for it
 * @parent: the tree, our own or XAgg's
 * @options: words of job add, NULL-ended
 * @communication: part of a step
 * @direct: predicted seconds of a step without aggregators
 * @xagg: with XAgg's tree
 * @k: most children in XAgg's tree
 * @ours: with the tree of the plan
 */
struct plan_tree {
	const char *topo_path;
	const char *measure_path;
	const char *running_path;
	const char *root;
	double job;
	double size;
	double step;
	double per_core;
	double seed;
	bool dot;
	struct ina_topo *topo;
	struct ina_measure *measure;
	struct ina_tree_problem *problem;
	struct ina_predict *predict;
	int *parent;
	char **options;
	double communication;
	double direct;
	double xagg;
	int k;
	double ours;
};

static int plan_tree_required(const struct plan_tree *tree)
{
	if (!tree->topo_path)
		return error_usage("topo is required");
	if (!tree->measure_path)
		return error_usage("measure is required");
	if (!tree->root)
		return error_usage("root is required");
	if (tree->job < 0)
		return error_usage("job is required");
	if (tree->job != floor(tree->job) || tree->seed != floor(tree->seed))
		return error_usage("job and seed are whole numbers");
	if (!strcmp(tree->topo_path, "-") + !strcmp(tree->measure_path, "-") +
	    (tree->running_path && !strcmp(tree->running_path, "-")) > 1)
		return error_usage("only one of topo, measure and running can be standard input");
	return INACONF_OK;
}

int plan_words(int argc, char **argv)
{
	int n = 0;

	while (n < argc && strcmp(argv[n], "options"))
		n++;
	return n;
}

/* The words up to "options"; *@used is how many they are. */
static int plan_tree_words(struct plan_tree *tree, int argc, char **argv, int *used)
{
	const struct keyword table[] = {
		{ "topo", KEYWORD_TEXT, &tree->topo_path, 0, 0 },
		{ "measure", KEYWORD_TEXT, &tree->measure_path, 0, 0 },
		{ "running", KEYWORD_TEXT, &tree->running_path, 0, 0 },
		{ "root", KEYWORD_TEXT, &tree->root, 0, 0 },
		{ "job", KEYWORD_NUMBER, &tree->job, 0, UINT32_MAX },
		{ "size", KEYWORD_NUMBER, &tree->size, 1, PLAN_SIZE_MAX },
		{ "step", KEYWORD_NUMBER, &tree->step, 0, 1e6 },
		{ "per-core", KEYWORD_NUMBER, &tree->per_core, 1, 1e15 },
		{ "seed", KEYWORD_NUMBER, &tree->seed, 0, UINT32_MAX },
		{ "--dot", KEYWORD_FLAG, &tree->dot, 0, 0 },
		{ "options", KEYWORD_FLAG, NULL, 0, 0 },
	};
	const struct words words = WORDS(table);
	int ret;

	*used = plan_words(argc, argv);
	ret = keywords_parse(&words, *used, argv);
	return ret ? ret : plan_tree_required(tree);
}

/* Machines that aggregate for other jobs have less to give. */
static int plan_tree_occupy(struct plan_tree *tree)
{
	struct ina_doc_error err;
	struct ina_plan *running;

	if (!tree->running_path)
		return INACONF_OK;
	running = ina_plan_read(tree->running_path, &err);
	if (!running)
		return error_usage("%s", err.text);
	ina_jobs_occupy(tree->topo, running, (uint32_t)tree->job);
	ina_plan_destroy(running);
	return INACONF_OK;
}

static int plan_tree_read(struct plan_tree *tree)
{
	struct ina_doc_error err;
	int root, ret;

	tree->topo = ina_topo_read(tree->topo_path, &err);
	if (tree->topo)
		tree->measure = ina_measure_read(tree->measure_path, tree->topo, tree->step, &err);
	if (!tree->measure)
		return error_usage("%s", err.text);
	root = ina_topo_find(tree->topo, tree->root);
	if (root == INA_TOPO_NONE)
		return error_usage("root: no host \"%s\" in %s", tree->root, tree->topo_path);
	if (!tree->size)
		tree->size = tree->measure->size;
	if (!tree->size)
		return error_usage("size is required: %s does not say it", tree->measure_path);
	ret = plan_tree_occupy(tree);
	if (ret)
		return ret;
	tree->communication = ina_measure_communication(tree->measure);
	tree->problem = ina_tree_problem_create(tree->topo, tree->measure, root, tree->size,
						tree->per_core, &err);
	return tree->problem ? INACONF_OK : error_usage("%s", err.text);
}

static const char *plan_option(int argc, char **argv, const char *key)
{
	for (int i = 0; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], key))
			return argv[i + 1];
	}
	return NULL;
}

int plan_options(struct inaconf *ctx, double job, double size, int argc, char **argv,
		 char ***options)
{
	const char *dtype = plan_option(argc, argv, "dtype");
	int bytes = dtype && !strcmp(dtype, "bf16") ? 2 : 4, n = 2;
	char id[16], **words = calloc(1, ((size_t)argc + 5) * sizeof(*words) + 24);
	char *capacity;
	int ret;

	if (!words)
		return error_print("%s", strerror(ENOMEM));
	*options = words;
	capacity = (char *)(words + argc + 5);
	snprintf(id, sizeof(id), "%.0f", job);
	words[0] = "id";
	words[1] = id;
	if (size && !plan_option(argc, argv, "capacity")) {
		snprintf(capacity, 24, "%.0f", ceil(size / bytes));
		words[n++] = "capacity";
		words[n++] = capacity;
	}
	memcpy(words + n, argv, (size_t)argc * sizeof(*words));
	ret = args_parse(&job_add_params, n + argc, words, nl_request(&ctx->nl, INA_CMD_JOB_ADD),
			 NULL);
	memmove(words, words + 2, (size_t)(n + argc - 1) * sizeof(*words));
	return ret;
}

static int plan_tree_work_out(struct plan_tree *tree)
{
	tree->predict = ina_predict_create(tree->problem);
	tree->parent = calloc((size_t)tree->problem->n_sites, sizeof(*tree->parent));
	if (!tree->predict || !tree->parent)
		return error_print("%s", strerror(ENOMEM));
	ina_tree_direct(tree->problem, tree->parent);
	tree->direct = ina_predict_run(tree->predict, tree->parent);
	tree->k = ina_xagg_best(tree->predict, tree->parent);
	tree->xagg = ina_predict_run(tree->predict, tree->parent);
	if (tree->k < 0 || ina_search(tree->predict, (uint64_t)tree->seed, 0, tree->parent))
		return error_print("%s", strerror(ENOMEM));
	tree->ours = ina_predict_run(tree->predict, tree->parent);
	return INACONF_OK;
}

static const char *plan_tree_name(const struct plan_tree *tree, int site)
{
	return tree->topo->nodes[tree->problem->sites[site].host].name;
}

/* A node of the tree, for programs. */
static void plan_tree_print_site(struct print *p, const struct plan_tree *tree, int site)
{
	const struct ina_predict_time *time = &tree->predict->times[site];

	print_object_open(p, NULL);
	print_string(p, "host", "", plan_tree_name(tree, site));
	if (site) {
		print_string(p, "parent", "", plan_tree_name(tree, tree->parent[site]));
		print_number(p, "rate", "", time->rate);
	}
	print_uint(p, "workers", "", tree->problem->sites[site].workers);
	print_number(p, "start", "", time->start);
	print_number(p, "end", "", time->end);
	print_object_close(p);
}

static void plan_tree_print(struct print *p, const struct plan_tree *tree, bool planned)
{
	print_object_open(p, NULL);
	print_uint(p, "job", "", (uint64_t)tree->job);
	print_number(p, "communication", "", tree->communication);
	print_bool(p, "planned", "", "", planned);
	if (planned) {
		print_object_open(p, "predicted");
		print_number(p, "direct", "", tree->direct);
		print_number(p, "xagg", "", tree->xagg);
		print_int(p, "xagg_k", "", tree->k);
		print_number(p, "plan", "", tree->ours);
		print_object_close(p);
		print_array_open(p, "tree");
		for (int i = 0; i < tree->problem->n_sites; i++) {
			if (tree->parent[i] != INA_TREE_UNUSED)
				plan_tree_print_site(p, tree, i);
		}
		print_array_close(p);
	}
	print_object_close(p);
}

static void plan_tree_draw(struct print *p, const struct plan_tree *tree)
{
	print_text(p, "digraph ina {\n\trankdir=BT;\n\tnode [shape=box];\n\tlabel=\"job %.0f: step of "
		   "%.6g s, direct %.6g s, XAgg %.6g s\";\n", tree->job, tree->ours, tree->direct,
		   tree->xagg);
	for (int i = 0; i < tree->problem->n_sites; i++) {
		uint32_t workers = tree->problem->sites[i].workers;

		if (tree->parent[i] == INA_TREE_UNUSED)
			continue;
		print_text(p, "\t\"%s\"%s;\n", plan_tree_name(tree, i),
			   workers ? "" : " [style=filled]");
		if (i)
			print_text(p, "\t\"%s\" -> \"%s\" [label=\"%.3gG\"];\n",
				   plan_tree_name(tree, i),
				   plan_tree_name(tree, tree->parent[i]),
				   tree->predict->times[i].rate / 1e9);
	}
	print_text(p, "}\n");
}

/* The plan, with what is expected of it as remarks. */
static int plan_tree_write(const struct print *p, const struct plan_tree *tree)
{
	struct ina_plan *plan = ina_tree_plan(tree->problem, tree->parent, (uint32_t)tree->job,
					      tree->options);

	if (!plan)
		return error_print("%s", strerror(ENOMEM));
	fprintf(p->file, "# %d machines with workers, %d in the tree; gradient %.0f bytes\n"
		"# communication: %.1f %% of the measured steps\n"
		"# predicted step: direct %.6g s, XAgg (k %d) %.6g s, this plan %.6g s\n",
		tree->measure->n_workers, plan->jobs[0].n_nodes, tree->size,
		100 * tree->communication, tree->direct, tree->k, tree->xagg, tree->ours);
	/* What could not be written print_flush() says. */
	ina_plan_write(plan, p->file);
	ina_plan_destroy(plan);
	return INACONF_OK;
}

static int plan_tree_leave(struct print *p, const struct plan_tree *tree)
{
	if (p->json)
		plan_tree_print(p, tree, false);
	else
		fprintf(stderr, "communication is %.1f %% of a step, below %.0f %%: no tree is planned\n",
			100 * tree->communication, 100 * INA_TREE_COMMUNICATION);
	return INACONF_OK;
}

static int plan_tree_run(struct inaconf *ctx, struct plan_tree *tree, int argc, char **argv)
{
	int used, ret = plan_tree_words(tree, argc, argv, &used);

	if (ret)
		return ret;
	if (tree->dot && ctx->out.json)
		return error_usage("--dot and -j exclude each other");
	ret = plan_tree_read(tree);
	if (!ret)
		ret = plan_options(ctx, tree->job, tree->size, argc > used ? argc - used - 1 : 0,
				   argv + used + (argc > used), &tree->options);
	if (ret)
		return ret;
	if (tree->communication < INA_TREE_COMMUNICATION)
		return plan_tree_leave(&ctx->out, tree);
	ret = plan_tree_work_out(tree);
	if (ret)
		return ret;
	if (!tree->dot && !ctx->out.json)
		return plan_tree_write(&ctx->out, tree);
	if (tree->dot)
		plan_tree_draw(&ctx->out, tree);
	else
		plan_tree_print(&ctx->out, tree, true);
	return INACONF_OK;
}

static int plan_tree(struct inaconf *ctx, int argc, char **argv)
{
	struct plan_tree tree = { .job = -1, .per_core = INA_TREE_PER_CORE, .seed = 1 };
	int ret = plan_tree_run(ctx, &tree, argc, argv);

	free(tree.options);
	free(tree.parent);
	ina_predict_destroy(tree.predict);
	ina_tree_problem_destroy(tree.problem);
	ina_measure_destroy(tree.measure);
	ina_topo_destroy(tree.topo);
	return ret;
}

static int plan_nothing(struct inaconf *ctx, int argc, char **argv)
{
	(void)ctx;
	(void)argc;
	(void)argv;
	fputs(plan_help, stderr);
	return INACONF_USAGE;
}

static const struct command plan_commands[] = {
	{ "tree", plan_tree },
	{ "place", plan_place },
	{ "diff", plan_diff },
	{ "apply", plan_apply },
	{ "load", plan_load },
	{ "watch", plan_watch },
	{ "help", NULL },
};

static const struct object plan_object = {
	.commands = WORDS(plan_commands),
	.fallback = plan_nothing,
	.help = plan_help,
};

int plan_run(struct inaconf *ctx, int argc, char **argv)
{
	return object_run(&plan_object, ctx, argc, argv);
}
