// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf plan place: machines for a job that comes, and trees for it and all that run, as one
 * plan.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inaconf.h"
#include "jobs.h"

/**
 * struct plan_place - what is asked, and what came out
 * @topo_path: topology file
 * @running_path: plan of the jobs that run, NULL if none was given
 * @job: number of the job that comes, below 0 if none does
 * @hosts: machines it needs
 * @workers: on each, 0 if not given
 * @size: bytes of its gradient, 0 if not given
 * @alpha: weight of a fragment left free
 * @options: words of job add, NULL-ended
 * @topo: the cluster
 * @plan: running jobs, then all jobs
 * @jobs: what became of them
 */
struct plan_place {
	const char *topo_path;
	const char *running_path;
	double job;
	double hosts;
	double workers;
	double size;
	double alpha;
	char **options;
	struct ina_topo *topo;
	struct ina_plan *plan;
	struct ina_jobs jobs;
};

static int place_required(const struct plan_place *place, bool options)
{
	if (!place->topo_path)
		return error_usage("topo is required");
	if (place->job < 0 && (place->hosts || place->size || place->workers || options))
		return error_usage("job is required");
	if (place->job < 0 && !place->running_path)
		return error_usage("job or running is required");
	if (place->job >= 0 && !place->hosts)
		return error_usage("hosts is required: how many machines the job needs");
	if (place->job != floor(place->job) || place->hosts != floor(place->hosts) ||
	    place->workers != floor(place->workers))
		return error_usage("job, hosts and workers are whole numbers");
	if (place->running_path && !strcmp(place->topo_path, "-") &&
	    !strcmp(place->running_path, "-"))
		return error_usage("only one of topo and running can be standard input");
	return INACONF_OK;
}

static int place_words(struct inaconf *ctx, struct plan_place *place, int argc, char **argv)
{
	const struct keyword table[] = {
		{ "topo", KEYWORD_TEXT, &place->topo_path, 0, 0 },
		{ "running", KEYWORD_TEXT, &place->running_path, 0, 0 },
		{ "job", KEYWORD_NUMBER, &place->job, 0, UINT32_MAX },
		{ "hosts", KEYWORD_NUMBER, &place->hosts, 1, 1 << 20 },
		{ "workers", KEYWORD_NUMBER, &place->workers, 1, 64 },
		{ "size", KEYWORD_NUMBER, &place->size, 1, 1e13 },
		{ "alpha", KEYWORD_NUMBER, &place->alpha, 0, 1e6 },
		{ "options", KEYWORD_FLAG, NULL, 0, 0 },
	};
	const struct words words = WORDS(table);
	int used = plan_words(argc, argv), ret = keywords_parse(&words, used, argv);

	if (!ret)
		ret = place_required(place, used < argc);
	if (ret || place->job < 0)
		return ret;
	used += used < argc;
	return plan_options(ctx, place->job, place->size, argc - used, argv + used,
			    &place->options);
}

static int place_work_out(struct plan_place *place)
{
	struct ina_jobs_new new = {
		.id = place->job < 0 ? 0 : (uint32_t)place->job, .hosts = (int)place->hosts,
		.workers = place->workers ? (uint32_t)place->workers : 1, .alpha = place->alpha,
		.options = place->options,
	};
	struct ina_doc_error err;
	int ret;

	place->topo = ina_topo_read(place->topo_path, &err);
	if (!place->topo)
		return error_usage("%s", err.text);
	place->plan = place->running_path ? ina_plan_read(place->running_path, &err) :
					    calloc(1, sizeof(*place->plan));
	if (!place->plan)
		return place->running_path ? error_usage("%s", err.text) :
					     error_print("%s", strerror(ENOMEM));
	ret = ina_jobs_plan(place->topo, place->plan, &new, &place->jobs, &err);
	if (ret == -ENOSPC || ret == -ENOMEM)
		return error_print("%s", err.text);
	return ret ? error_usage("%s", err.text) : INACONF_OK;
}

/* What a job has, in a word. */
static const char *place_kind(const struct ina_jobs_tree *tree)
{
	static const char *const words[] = {
		[INA_FOREST_NONE] = "none", [INA_FOREST_OWN] = "own",
		[INA_FOREST_SHARED] = "shared",
	};

	return tree->fixed ? "fixed" : words[tree->kind];
}

static int place_machines(const struct plan_place *place, int j)
{
	const struct ina_plan_job *job = &place->plan->jobs[j];
	int n = 0;

	for (int i = 0; i < job->n_nodes; i++)
		n += job->nodes[i].workers > 0;
	return n;
}

/* Why a job has the tree it has, for people. */
static void place_print_text(struct print *p, const struct plan_place *place, int j)
{
	const struct ina_jobs_tree *tree = &place->jobs.trees[j];

	if (tree->fixed)
		print_text(p, "not a tree of plan place: stays");
	else if (tree->kind == INA_FOREST_OWN)
		print_text(p, "tree of its own at %s", place->topo->nodes[tree->root].name);
	else if (tree->kind == INA_FOREST_NONE)
		print_text(p, "%s; its first machine sums", place_machines(place, j) > 2 ?
			   "no aggregators join its machines" : "needs no aggregator");
	else
		print_text(p, "no tree of its own fits; its first machine sums");
	if (tree->moved)
		print_text(p, "; moved");
}

/* Who else a job that finds no tree of its own would have to take turns with. */
static void place_print_group(struct print *p, const struct plan_place *place, int j)
{
	const struct ina_jobs_tree *trees = place->jobs.trees;
	bool first = true;

	if (trees[j].fixed || trees[j].kind != INA_FOREST_SHARED)
		return;
	print_array_open(p, "group");
	for (int k = 0; k < place->plan->n_jobs; k++) {
		if (k == j || trees[k].fixed || trees[k].group != trees[j].group)
			continue;
		print_uint(p, NULL, first ? "; would share with " : " ", place->plan->jobs[k].id);
		first = false;
	}
	print_array_close(p);
}

static void place_print_job(struct print *p, const struct plan_place *place, int j)
{
	const struct ina_jobs_tree *tree = &place->jobs.trees[j];
	const struct ina_plan_job *job = &place->plan->jobs[j];

	print_object_open(p, NULL);
	print_uint(p, "job", "# job ", job->id);
	print_array_open(p, "hosts");
	print_text(p, ":");
	for (int i = 0; i < job->n_nodes; i++) {
		if (job->nodes[i].workers)
			print_string(p, NULL, " ", job->nodes[i].host);
	}
	print_array_close(p);
	print_text(p, "\n#   ");
	place_print_text(p, place, j);
	if (p->json) {
		print_string(p, "tree", "", place_kind(tree));
		if (tree->root != INA_TOPO_NONE)
			print_string(p, "root", "", place->topo->nodes[tree->root].name);
		print_bool(p, "moved", "", "", tree->moved);
	}
	place_print_group(p, place, j);
	print_text(p, "\n");
	print_object_close(p);
}

static void place_print(struct print *p, const struct plan_place *place)
{
	const struct ina_jobs *jobs = &place->jobs;
	int moved = 0;

	for (int j = 0; j < place->plan->n_jobs; j++)
		moved += jobs->trees[j].moved;
	print_object_open(p, NULL);
	if (place->job >= 0)
		print_number(p, "score", "# fragments: score ", jobs->score);
	print_text(p, place->job >= 0 ? "\n" : "");
	print_int(p, "own", "# trees of their own: ", jobs->own);
	print_int(p, "bound", ", at most ", jobs->bound);
	print_int(p, "moved", "; moved: ", moved);
	print_bool(p, "optimal", "; optimal", "; not proven optimal", jobs->optimal);
	print_text(p, "\n");
	print_array_open(p, "jobs");
	for (int j = 0; j < place->plan->n_jobs; j++)
		place_print_job(p, place, j);
	print_array_close(p);
	print_object_close(p);
}

int plan_place(struct inaconf *ctx, int argc, char **argv)
{
	struct plan_place place = { .job = -1, .alpha = INA_JOBS_ALPHA };
	int ret = place_words(ctx, &place, argc, argv);

	if (!ret)
		ret = place_work_out(&place);
	if (!ret) {
		place_print(&ctx->out, &place);
		/* What could not be written print_flush() says. */
		if (!ctx->out.json)
			ina_plan_write(place.plan, ctx->out.file);
	}
	free(place.options);
	free(place.jobs.trees);
	ina_plan_destroy(place.plan);
	ina_topo_destroy(place.topo);
	return ret;
}
