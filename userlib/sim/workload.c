// SPDX-License-Identifier: GPL-2.0
/*
 * Traces: a step of each model and how many hosts jobs ask for. Jobs are drawn from them
 * with a generator of our own, so a seed means the same jobs everywhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define INA_SIM_OPS	100000

/* SplitMix64. */
static uint64_t ina_sim_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static double ina_sim_random_unit(uint64_t *state)
{
	return (double)(ina_sim_random(state) >> 11) * 0x1p-53;
}

static int ina_sim_quantity(const struct ina_doc_value *map, const char *key, double min,
			    double max, double *number, struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, key);

	if (!value)
		return ina_doc_fail(map, err, "'%s' is missing", key);
	return ina_doc_quantity(value, min, max, number, err);
}

static int ina_sim_name(const struct ina_doc_value *map, char **name, struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, "name");
	const char *text;

	if (!value)
		return ina_doc_fail(map, err, "'name' is missing");
	if (ina_doc_string(value, &text, err))
		return -EINVAL;
	if (!ina_topo_name_ok(text))
		return ina_doc_fail(value, err, "only letters, digits and . _ - : / @ + %%");
	*name = strdup(text);
	return *name ? 0 : ina_doc_fail(map, err, "out of memory");
}

static int ina_sim_model_ops(struct ina_sim_model *model, const struct ina_doc_value *list,
			     struct ina_doc_error *err)
{
	static const char *const known[] = { "start", "size", NULL };
	int n = ina_doc_count(list, err), i;

	if (n < 0)
		return n;
	if (n > INA_SIM_OPS)
		return ina_doc_fail(list, err, "%d all-reduces: at most %d", n, INA_SIM_OPS);
	model->ops = calloc((size_t)n + 1, sizeof(*model->ops));
	if (!model->ops)
		return ina_doc_fail(list, err, "out of memory");
	for (i = 0; i < n; i++) {
		const struct ina_doc_value *op = ina_doc_at(list, i);

		if (ina_doc_only(op, known, err) ||
		    ina_sim_quantity(op, "start", 0, model->step, &model->ops[i].start, err) ||
		    ina_sim_quantity(op, "size", 0, 1e15, &model->ops[i].size, err))
			return -EINVAL;
		if (i && model->ops[i].start < model->ops[i - 1].start)
			return ina_doc_fail(op, err, "starts before the all-reduce in front of it");
	}
	model->n_ops = n;
	return 0;
}

static int ina_sim_model_read(struct ina_sim_model *model, const struct ina_doc_value *root,
			      struct ina_doc_error *err)
{
	static const char *const known[] = {
		"name", "parameters", "batch", "tokens", "step", "allreduces", NULL
	};
	const struct ina_doc_value *list;

	if (ina_doc_only(root, known, err) || ina_sim_name(root, &model->name, err) ||
	    ina_sim_quantity(root, "step", 1e-6, 1e6, &model->step, err))
		return -EINVAL;
	list = ina_doc_get(root, "allreduces");
	if (!list)
		return ina_doc_fail(root, err, "'allreduces' is missing");
	return ina_sim_model_ops(model, list, err);
}

int ina_sim_workload_model(struct ina_sim_workload *load, const struct ina_doc_value *root,
			   struct ina_doc_error *err)
{
	struct ina_sim_model *models = reallocarray(load->models, (size_t)load->n_models + 1,
						    sizeof(*models));

	if (!models)
		return ina_doc_fail(root, err, "out of memory");
	load->models = models;
	memset(&models[load->n_models], 0, sizeof(*models));
	return ina_sim_model_read(&models[load->n_models++], root, err);
}

static int ina_sim_histogram_read(struct ina_sim_histogram *h, const struct ina_doc_value *map,
				  struct ina_doc_error *err)
{
	static const char *const known[] = { "name", "hosts", NULL };
	const struct ina_doc_value *list;
	int n, i;

	if (ina_doc_only(map, known, err) || ina_sim_name(map, &h->name, err))
		return -EINVAL;
	list = ina_doc_get(map, "hosts");
	if (!list)
		return ina_doc_fail(map, err, "'hosts' is missing");
	n = ina_doc_count(list, err);
	if (n < 1)
		return n < 0 ? n : ina_doc_fail(list, err, "is empty");
	h->hosts = calloc((size_t)n, sizeof(*h->hosts));
	h->weight = calloc((size_t)n, sizeof(*h->weight));
	if (!h->hosts || !h->weight)
		return ina_doc_fail(list, err, "out of memory");
	for (i = 0; i < n; i++, h->n++) {
		const struct ina_doc_value *pair = ina_doc_at(list, i);
		int size = ina_doc_count(pair, err);
		long hosts;

		if (size != 2)
			return size < 0 ? size : ina_doc_fail(pair, err,
							      "is not [hosts, how often]");
		if (ina_doc_int(ina_doc_at(pair, 0), 1, 1 << 24, &hosts, err) ||
		    ina_doc_quantity(ina_doc_at(pair, 1), 1e-9, 1e15, &h->weight[i], err))
			return -EINVAL;
		h->hosts[i] = (int)hosts;
	}
	return 0;
}

int ina_sim_workload_hosts(struct ina_sim_workload *load, const struct ina_doc_value *root,
			   struct ina_doc_error *err)
{
	static const char *const known[] = { "histograms", NULL };
	const struct ina_doc_value *list;
	int n, i, k, ret = 0;

	if (ina_doc_only(root, known, err))
		return -EINVAL;
	list = ina_doc_get(root, "histograms");
	if (!list)
		return ina_doc_fail(root, err, "'histograms' is missing");
	n = ina_doc_count(list, err);
	if (n < 1)
		return n < 0 ? n : ina_doc_fail(list, err, "is empty");
	load->histograms = calloc((size_t)n, sizeof(*load->histograms));
	if (!load->histograms)
		return ina_doc_fail(list, err, "out of memory");
	load->n_histograms = n;
	for (i = 0; !ret && i < n; i++) {
		ret = ina_sim_histogram_read(&load->histograms[i], ina_doc_at(list, i), err);
		for (k = 0; !ret && k < i; k++)
			if (!strcmp(load->histograms[k].name, load->histograms[i].name))
				ret = ina_doc_fail(ina_doc_get(ina_doc_at(list, i), "name"), err,
						   "there are two of the name \"%s\"",
						   load->histograms[i].name);
	}
	return ret;
}

void ina_sim_workload_clear(struct ina_sim_workload *load)
{
	int i;

	for (i = 0; i < load->n_models; i++) {
		free(load->models[i].name);
		free(load->models[i].ops);
	}
	for (i = 0; i < load->n_histograms; i++) {
		free(load->histograms[i].name);
		free(load->histograms[i].hosts);
		free(load->histograms[i].weight);
	}
	free(load->models);
	free(load->histograms);
	memset(load, 0, sizeof(*load));
}

static int ina_sim_histogram_draw(const struct ina_sim_histogram *h, uint64_t *state)
{
	double total = 0, at;
	int i;

	for (i = 0; i < h->n; i++)
		total += h->weight[i];
	at = ina_sim_random_unit(state) * total;
	for (i = 0; i < h->n - 1 && at >= h->weight[i]; i++)
		at -= h->weight[i];
	return h->hosts[i];
}

struct ina_sim_job *ina_sim_workload_draw(const struct ina_sim_workload *load, int h, int n,
					  int hosts, uint64_t seed)
{
	const struct ina_sim_histogram *histogram = &load->histograms[h];
	struct ina_sim_job *jobs;
	int i;

	for (i = 0; i < histogram->n; i++)
		if (histogram->hosts[i] > hosts) {
			errno = ERANGE;
			return NULL;
		}
	jobs = calloc((size_t)n + 1, sizeof(*jobs));
	for (i = 0; jobs && i < n; i++) {
		jobs[i].model = &load->models[ina_sim_random(&seed) % (uint64_t)load->n_models];
		jobs[i].hosts = ina_sim_histogram_draw(histogram, &seed);
		jobs[i].steps = 10 * (1 + (int)(ina_sim_random(&seed) % 10));
	}
	return jobs;
}
