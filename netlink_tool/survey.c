// SPDX-License-Identifier: GPL-2.0
/*
 * What is configured on machines, as inaconf there prints it. Nothing of it is believed that
 * does not look like it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"

/* Ask for a list; NULL with the reason in @err. */
static struct ina_doc *survey_ask(const struct reach *reach, const struct ina_host *host,
				  const char *words, struct ina_doc_error *err)
{
	struct answer answer;
	struct ina_doc *doc = NULL;
	char name[128];

	snprintf(name, sizeof(name), "host %.80s: %.32s", host->name, words);
	if (host_run(reach, host, words, true, &answer)) {
		snprintf(err->text, sizeof(err->text), "%s: %s", name, answer.why);
	} else {
		doc = ina_doc_parse(name, answer.text ? answer.text : "", answer.size, err);
		if (doc && ina_doc_count(ina_doc_root(doc), err) < 0) {
			ina_doc_destroy(doc);
			doc = NULL;
		}
	}
	free(answer.text);
	return doc;
}

static int survey_uint(const struct ina_doc_value *map, const char *key, uint32_t *number,
		       struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, key);
	long n = 0;
	int ret = value ? ina_doc_int(value, 0, UINT32_MAX, &n, err) :
			  ina_doc_fail(map, err, "no %s: not what inaconf prints", key);

	*number = (uint32_t)n;
	return ret;
}

/* An address, of which there may be none. */
static int survey_addr(const struct ina_doc_value *map, const char *key, struct ina_addr *addr,
		       struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, key);
	const char *text;
	int ret = value ? ina_doc_string(value, &text, err) : 0;

	if (value && !ret && !ina_plan_addr(text, addr->text))
		ret = ina_doc_fail(value, err, "\"%.40s\" is no address", text);
	return ret;
}

/* The settings of a job as words of `job add`, in the order of the table. */
static int survey_options(const struct ina_doc_value *map, char **options,
			  struct ina_doc_error *err)
{
	char text[512] = "";
	int ret = 0;

	for (int i = 0; !ret && ina_plan_options[i]; i++) {
		const struct ina_doc_value *value = ina_doc_get(map, ina_plan_options[i]);
		size_t used = strlen(text);
		const char *word;

		if (!value)
			continue;
		ret = ina_doc_string(value, &word, err);
		if (!ret && (strlen(word) > 20 || strpbrk(word, " \t\n")))
			ret = ina_doc_fail(value, err, "not what inaconf prints");
		if (!ret)
			snprintf(text + used, sizeof(text) - used, "%s%s %s", used ? " " : "",
				 ina_plan_options[i], word);
	}
	if (!ret && !*text)
		ret = ina_doc_fail(map, err, "no capacity: not what inaconf prints");
	if (ret)
		return ret;
	*options = strdup(text);
	return *options ? 0 : -ENOMEM;
}

static int survey_children(const struct ina_doc_value *map, struct ina_place *place,
			   struct ina_doc_error *err)
{
	const struct ina_doc_value *list = ina_doc_get(map, "children");
	int ret = 0, n = list ? ina_doc_count(list, err) :
			 ina_doc_fail(map, err, "no children: not what inaconf prints");

	for (int i = 0; !ret && i < n; i++) {
		struct ina_addr addr = { "" };

		ret = survey_addr(ina_doc_at(list, i), "addr", &addr, err);
		if (!ret && !*addr.text)
			ret = ina_doc_fail(ina_doc_at(list, i), err, "a child without an address");
		if (!ret)
			ret = ina_place_add_child(place, &addr);
	}
	return n < 0 ? n : ret;
}

static int survey_tree(const struct ina_doc_value *map, struct ina_place *place,
		       struct ina_doc_error *err)
{
	int ret = survey_addr(map, "local", &place->local, err);

	place->tree = true;
	if (!ret)
		ret = survey_addr(map, "parent", &place->parent, err);
	if (!ret)
		ret = survey_uint(map, "workers", &place->workers, err);
	if (!ret)
		ret = survey_uint(map, "attached", &place->attached, err);
	return ret ? ret : survey_children(map, place, err);
}

/* A part of a path that is what it would be without having been chosen is left out. */
static void survey_path_plain(const struct ina_place *place, struct ina_path *path)
{
	char port[24];

	snprintf(port, sizeof(port), " port %u", path->sport);
	if (strstr(place->options, port) && !strstr(place->options, port)[strlen(port)])
		path->sport = 0;
	if (ina_addr_equal(&path->src, &place->local))
		path->src = (struct ina_addr){ "" };
	if (ina_addr_equal(&path->dst, &path->peer))
		path->dst = (struct ina_addr){ "" };
}

static int survey_path_dev(const struct ina_doc_value *map, struct ina_path *path,
			   struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, "dev");
	const char *name;
	int ret = value ? ina_doc_string(value, &name, err) : 0;

	if (!value || ret)
		return ret;
	if (strlen(name) >= sizeof(path->dev) || strpbrk(name, " \t\n"))
		return ina_doc_fail(value, err, "not what inaconf prints");
	strcpy(path->dev, name);
	return 0;
}

/* What holds for all paths; each tells it. */
static int survey_tuning(const struct ina_doc_value *map, struct ina_place *place,
			 struct ina_doc_error *err)
{
	uint32_t chunk, timeout, limit = 0;
	int ret = survey_uint(map, "chunk", &chunk, err);

	if (!ret)
		ret = survey_uint(map, "timeout", &timeout, err);
	if (!ret)
		ret = survey_uint(map, "loss_limit_ppm", &limit, err);
	if (!ret)
		snprintf(place->tuning, sizeof(place->tuning),
			 "chunk %" PRIu32 " timeout %" PRIu32 " loss-limit %g", chunk, timeout,
			 limit / 1e4);
	return ret;
}

static int survey_path(const struct ina_doc_value *map, struct ina_place *place,
		       struct ina_doc_error *err)
{
	struct ina_path path = { .weight = 0 };
	int ret = survey_addr(map, "peer", &path.peer, err);

	if (!ret && !*path.peer.text)
		ret = ina_doc_fail(map, err, "no peer: not what inaconf prints");
	/* The tree or the job came between the questions, or the device of the path has gone. */
	if (ret || !place->tree || !place->options ||
	    (ina_doc_get(map, "ifindex") && !ina_doc_get(map, "dev")))
		return ret;
	ret = survey_path_dev(map, &path, err);
	if (!ret)
		ret = survey_addr(map, "src", &path.src, err);
	if (!ret)
		ret = survey_addr(map, "dst", &path.dst, err);
	if (!ret && ina_doc_get(map, "sport"))
		ret = survey_uint(map, "sport", &path.sport, err);
	if (!ret)
		ret = survey_uint(map, "weight", &path.weight, err);
	if (!ret)
		ret = survey_tuning(map, place, err);
	survey_path_plain(place, &path);
	return ret ? ret : ina_place_add_path(place, &path);
}

typedef int (*survey_fn)(const struct ina_doc_value *map, struct ina_place *place,
			 struct ina_doc_error *err);

static int survey_job(const struct ina_doc_value *map, struct ina_place *place,
		      struct ina_doc_error *err)
{
	ina_place_clear(place);
	return survey_options(map, &place->options, err);
}

/* Call @fn for each job in a list, of those in @cluster, to which it may be added. */
static int survey_list(const struct ina_doc *doc, const char *key, struct ina_cluster *cluster,
		       int host, bool all, survey_fn fn, struct ina_doc_error *err)
{
	const struct ina_doc_value *list = ina_doc_root(doc);
	int ret = 0, n = ina_doc_count(list, err);

	for (int i = 0; !ret && i < n; i++) {
		int job = 0;
		uint32_t id;

		ret = survey_uint(ina_doc_at(list, i), key, &id, err);
		while (!all && job < cluster->n_jobs && cluster->jobs[job] != id)
			job++;
		if (ret || job == cluster->n_jobs)
			continue;
		if (all)
			job = ina_cluster_job(cluster, id);
		ret = job < 0 ? job : fn(ina_doc_at(list, i), ina_cluster_place(cluster, job, host),
					 err);
	}
	return ret;
}

/* A job may have come or gone between the two questions. */
static int survey_settle(const struct ina_cluster *cluster, int host, struct ina_doc_error *err)
{
	for (int j = 0; j < cluster->n_jobs; j++) {
		const struct ina_place *place = ina_cluster_place(cluster, j, host);

		if (!place->tree || place->options)
			continue;
		snprintf(err->text, sizeof(err->text), "host %.80s: job %" PRIu32
			 " has a tree but is not there: try again", cluster->hosts[host].name,
			 cluster->jobs[j]);
		return -EAGAIN;
	}
	return 0;
}

/**
 * struct survey - what one machine said
 * @jobs: its jobs, NULL if it did not answer
 * @trees: its trees
 * @paths: its paths
 * @err: why it did not answer
 */
struct survey {
	struct ina_doc *jobs;
	struct ina_doc *trees;
	struct ina_doc *paths;
	struct ina_doc_error err;
};

static void survey_question(const struct reach *reach, const struct ina_host *host,
			    struct survey *survey)
{
	survey->jobs = survey_ask(reach, host, "job show", &survey->err);
	if (survey->jobs)
		survey->trees = survey_ask(reach, host, "tree show", &survey->err);
	if (survey->trees)
		survey->paths = survey_ask(reach, host, "path show", &survey->err);
}

/* Take what machine @host said; it is freed. */
static int survey_take(struct survey *survey, struct ina_cluster *cluster, int host, bool all,
		       struct ina_doc_error *err)
{
	int ret = survey->paths ? 0 : -EIO;

	*err = survey->err;
	if (!ret)
		ret = survey_list(survey->jobs, "id", cluster, host, all, survey_job, err);
	if (!ret)
		ret = survey_list(survey->trees, "job", cluster, host, all, survey_tree, err);
	if (!ret)
		ret = survey_list(survey->paths, "job", cluster, host, all, survey_path, err);
	if (!ret)
		ret = survey_settle(cluster, host, err);
	ina_doc_destroy(survey->jobs);
	ina_doc_destroy(survey->trees);
	ina_doc_destroy(survey->paths);
	return ret;
}

/**
 * struct survey_queue - machines to be asked
 * @reach: how
 * @cluster: which
 * @surveys: what each said
 */
struct survey_queue {
	const struct reach *reach;
	const struct ina_cluster *cluster;
	struct survey *surveys;
};

static void survey_work(void *ctx, int host)
{
	const struct survey_queue *queue = ctx;

	survey_question(queue->reach, &queue->cluster->hosts[host], &queue->surveys[host]);
}

int survey_all(const struct reach *reach, struct ina_cluster *cluster, bool all,
	       struct ina_doc_error *err)
{
	struct survey_queue queue = { .reach = reach, .cluster = cluster };
	int ret = 0;

	snprintf(err->text, sizeof(err->text), "out of memory");
	queue.surveys = calloc((size_t)cluster->n_hosts + 1, sizeof(*queue.surveys));
	if (!queue.surveys)
		return -ENOMEM;
	host_each(cluster->n_hosts, survey_work, &queue);
	for (int h = 0; h < cluster->n_hosts; h++) {
		struct ina_doc_error ignored = { "" };
		int one = survey_take(&queue.surveys[h], cluster, h, all, ret ? &ignored : err);

		ret = ret ? ret : one;
	}
	free(queue.surveys);
	return ret;
}

int survey_place(const struct reach *reach, const struct ina_cluster *cluster, int job, int host,
		 struct ina_place *place, struct ina_doc_error *err)
{
	struct ina_cluster one = { .hosts = &cluster->hosts[host], .n_hosts = 1,
				   .jobs = &cluster->jobs[job], .n_jobs = 1, .places = place };

	return survey_all(reach, &one, false, err);
}
