// SPDX-License-Identifier: GPL-2.0
/*
 * The simulator: two jobs computed by hand, random jobs on one switch against a plain
 * simulation written here, what must hold of every run, and damaged traces.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "ktap.h"
#include "sim/sim.h"

#define RANDOM	1500
#define RUNS	30
#define MUTATIONS	3000
#define OPS	5
#define RACK	8
#define JOBS	10

static const char model_sample[] =
	"{\"name\": \"bert-base\", \"parameters\": 109482240, \"batch\": 16, \"tokens\": 512,\n"
	"  \"step\": 0.074612,\n"
	"  \"allreduces\": [\n"
	"    {\"start\": 0.031, \"size\": 1050624},\n"
	"    {\"start\": 0.042, \"size\": 28.3M},\n"
	"    {\"start\": 7.4e-2, \"size\": 95348736}\n"
	"  ]}\n";

static const char hosts_sample[] =
	"histograms:\n"
	"  - {name: \"1\", hosts: [[1, 10910], [2, 9719], [4, 16374], [128, 61]]}\n"
	"  - {name: \"2\", hosts: [[1, 26464], [48, 0.5]]}\n";

static int draw(int n)
{
	return (int)ktap_below((uint32_t)n);
}

/* A time that no other sum of times will meet. */
static double moment(double from, double to)
{
	return from + (to - from) * ktap_below(1u << 31) / (1u << 31);
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9 * (1 + fabs(b));
}

static struct ina_sim_config config_of(const struct ina_topo *topo)
{
	return (struct ina_sim_config){
		.topo = topo, .best_place = true, .trees = INA_FOREST_BEST,
		.share = &ina_sim_greedy,
		.alpha = 0.5, .candidates = 8, .rate = 1, .speedup = 2,
	};
}

/*
 * Two jobs of two machines on one switch of capacity 1; an all-reduce takes 0.4 s, or 0.2 s
 * in the network, and starts when the step would end.
 *
 *   first   1.0 +0.2 in the network = 1.2   2.2 +0.2 in the network = 2.4
 *   second  1.03 taken: +0.4 = 1.43         2.46 free: +0.2 = 2.66
 *
 * In rounds of a quarter, what finds the tree taken asks again after each; the first as above:
 *
 *   second  1.03 taken twice: +0.1 +0.1 = 1.23   2.36 taken: +0.1 = 2.46
 *           free: half of it, +0.1 = 1.33        free: the rest, +0.15 = 2.61
 */
static void test_two(void)
{
	struct ina_topo *topo = ina_topo_leaf_spine(1, 1, 4, 1e9, 1e9, 0);
	struct ina_sim_op op1 = { 1.0, 0.4 }, op2 = { 1.03, 0.4 };
	struct ina_sim_model m1 = { .step = 1.0, .ops = &op1, .n_ops = 1 };
	struct ina_sim_model m2 = { .step = 1.03, .ops = &op2, .n_ops = 1 };
	struct ina_sim_job jobs[] = { { &m1, 2, 2 }, { &m2, 2, 2 } };
	struct ina_sim_config config = config_of(topo);
	struct ina_sim_result r;
	int err = ina_sim_run(&config, jobs, 2, &r);

	ktap_ok(!err && near(r.jct, (2.4 + 2.66) / 2) && near(r.jct_p99, 2.66) &&
		near(r.makespan, 2.66), "two jobs that share: %.3f s", r.jct);
	ktap_ok(near(r.jct_none, 2.83) && near(r.jct_all, 2.43) && near(r.score, 0.75),
		"their score is 0.75");
	ktap_ok(near(r.utilisation, (0.4 / 2.4 + 0.2 / 2.66) / 2), "and their utilisation");
	ktap_ok(near(r.load, (2 * 2.4 + 2 * 2.66) / (4 * 2.66)) && near(r.own, 0.5),
		"machines were in use, one of two trees was own");
	jobs[0].steps = 3;
	ktap_ok(!ina_sim_run(&config, jobs, 2, &r) && near(r.jct, (3.6 + 2.66) / 2),
		"the second takes it between two of the first");
	config.share = &ina_sim_unshared;
	ktap_ok(!ina_sim_run(&config, jobs, 2, &r) && near(r.jct, (3.6 + 2.86) / 2),
		"without sharing it does not");
	config.share = &ina_sim_greedy;
	jobs[0].steps = 2;
	config.round = 0.1;
	ktap_ok(!ina_sim_run(&config, jobs, 2, &r) && near(r.jct, (2.4 + 2.61) / 2) &&
		near(r.utilisation, (0.4 / 2.4 + 0.25 / 2.61) / 2),
		"two jobs that share, round by round: %.3f s", r.jct);
	ktap_ok(near(r.jct_none, 2.83) && near(r.jct_all, 2.43), "the best and the worst are the same");
	config.latency = 0.01;
	ktap_ok(!ina_sim_run(&config, jobs, 2, &r) && near(r.jct, (2.42 + 2.65) / 2),
		"a latency is paid at the start, and when an all-reduce changes over");
	config.round = 0;
	config.latency = 0;
	config.trees = INA_FOREST_FIRST;
	ktap_ok(!ina_sim_run(&config, jobs, 2, &r) && near(r.jct, (2.4 + 2.86) / 2) &&
		near(r.score, 0.5), "with first fits the second gets no tree: score 0.5");
	topo->nodes[ina_topo_find(topo, "l0")].capacity = 2;
	ktap_ok(!ina_sim_run(&config, jobs, 2, &r) && near(r.score, 1),
		"with a switch of two units both are as fast as they can be");
	config.latency = 0.1;
	ktap_ok(!ina_sim_run(&config, jobs, 2, &r) && near(r.jct_all, 2.63) && near(r.jct, 2.63),
		"a latency is paid by every all-reduce");
	ina_topo_destroy(topo);
}

/**
 * struct plain - a job in the plain simulation
 * @job: what it is
 * @runs: it has machines
 * @start: since when
 * @begin: of its step
 * @step: which
 * @op: which
 * @sent: of it
 * @part: of it under way
 * @busy: under way
 * @ina: in the network
 * @end: of it
 * @ina_time: in the network so far
 */
struct plain {
	const struct ina_sim_job *job;
	bool runs;
	double start;
	double begin;
	int step;
	int op;
	double sent;
	double part;
	bool busy;
	bool ina;
	double end;
	double ina_time;
};

static double plain_next(const struct plain *p, double now)
{
	const struct ina_sim_model *model = p->job->model;

	if (p->busy)
		return p->end;
	return fmax(now, p->begin + (p->op < model->n_ops ? model->ops[p->op].start : model->step));
}

/* Start jobs in order while there are machines; how many have started. */
static int plain_start(struct plain *p, int n, int next, int *free, double now)
{
	for (; next < n && p[next].job->hosts <= *free; next++) {
		*free -= p[next].job->hosts;
		p[next].runs = true;
		p[next].start = p[next].begin = now;
		/* Nothing to exchange. */
		p[next].op = p[next].job->hosts == 1 ? p[next].job->model->n_ops : 0;
	}
	return next;
}

/* One event at a time, on one switch of capacity 1. */
static double plain_run(struct plain *p, int n, const struct ina_sim_config *config,
			double *utilisation)
{
	int left = n, user = -1, free = RACK, i, at, next = plain_start(p, n, 0, &free, 0);
	double now = 0, sum = 0;

	for (*utilisation = 0; left; ) {
		for (at = -1, i = 0; i < n; i++)
			if (p[i].runs && (at < 0 || plain_next(&p[i], now) <
					  plain_next(&p[at], now)))
				at = i;
		struct plain *q = &p[at];
		const struct ina_sim_model *model = q->job->model;

		now = plain_next(q, now);
		if (q->busy) {
			q->busy = false;
			q->ina_time += q->ina ? q->part / config->rate / config->speedup : 0;
			user = user == at ? -1 : user;
			q->sent += q->part;
			if (q->sent >= model->ops[q->op].size) {
				q->sent = 0;
				q->op++;
			}
		} else if (q->op < model->n_ops) {
			q->ina = user < 0;
			user = q->ina ? at : user;
			q->busy = true;
			q->part = model->ops[q->op].size - q->sent;
			if (!q->ina && config->round)
				q->part = fmin(q->part, config->round);
			q->end = now + q->part / config->rate / (q->ina ? config->speedup : 1);
		} else if (++q->step < q->job->steps) {
			q->op = q->job->hosts == 1 ? model->n_ops : 0;
			q->begin = now;
		} else {
			q->runs = false;
			left--;
			sum += now - q->start;
			*utilisation += q->ina_time / (now - q->start) / n;
			free += q->job->hosts;
			next = plain_start(p, n, next, &free, now);
		}
	}
	return sum / n;
}

static void random_model(struct ina_sim_model *model, struct ina_sim_op *ops)
{
	double start = 0;

	model->step = moment(1, 2);
	model->ops = ops;
	model->n_ops = draw(OPS + 1);
	for (int i = 0; i < model->n_ops; i++) {
		start = moment(start, model->step);
		ops[i] = (struct ina_sim_op){ start, moment(0.05, 0.8) };
	}
}

static void test_plain(void)
{
	struct ina_topo *topo = ina_topo_leaf_spine(1, 1, RACK, 1e9, 1e9, 0);
	struct ina_sim_config config = config_of(topo);
	bool ok = true;
	int i;

	for (i = 0; i < RANDOM && ok; i++) {
		struct ina_sim_op ops[JOBS][OPS];
		struct ina_sim_model models[JOBS];
		struct ina_sim_job jobs[JOBS];
		struct plain p[JOBS];
		struct ina_sim_result r;
		int n = 1 + draw(JOBS), k;
		double jct, utilisation;

		memset(p, 0, sizeof(p));
		for (k = 0; k < n; k++) {
			random_model(&models[k], ops[k]);
			jobs[k] = (struct ina_sim_job){ &models[k], 1 + draw(4), 1 + draw(5) };
			p[k].job = &jobs[k];
		}
		config.round = i % 2 ? moment(0.02, 0.5) : 0;
		jct = plain_run(p, n, &config, &utilisation);
		ok = !ina_sim_run(&config, jobs, n, &r) && near(r.jct, jct) &&
		     near(r.utilisation, utilisation);
		if (!ok)
			printf("# %d jobs: mean %.9g, plain %.9g; utilisation %.9g, plain %.9g\n",
			       n, r.jct, jct, r.utilisation, utilisation);
	}
	ktap_ok(ok, "%d random sets of jobs on one switch: times as in a plain simulation", i);
	ina_topo_destroy(topo);
}

/**
 * struct watch - a policy that looks on
 * @sim: the run
 * @now: last time seen
 * @used: units of each resource in use by what it saw
 * @back: time went back
 * @over: more units in use than there are
 * @asked: questions
 */
struct watch {
	struct ina_sim *sim;
	double now;
	int used[4096];
	bool back;
	bool over;
	long asked;
};

static struct watch watch;

static void *watch_create(struct ina_sim *sim)
{
	memset(&watch, 0, sizeof(watch));
	watch.sim = sim;
	return &watch;
}

static void watch_time(double now)
{
	watch.back = watch.back || now < watch.now;
	watch.now = now;
}

static bool watch_ask(void *state, const struct ina_sim_run *run, bool is_free, double now)
{
	const struct ina_forest *forest = ina_sim_forest(watch.sim);

	(void)state;
	watch_time(now);
	watch.asked++;
	for (int i = 0; is_free && i < run->n_resources; i++)
		watch.over = watch.over || ++watch.used[run->resources[i]] >
			     ina_forest_capacity(forest, run->resources[i]);
	return is_free;
}

/* Time, and groups that are there for every job with a tree. */
static void watch_regroup(void *state, double now)
{
	const struct ina_sim_run *const *runs;
	int n = ina_sim_runs(watch.sim, &runs), group[512], i;

	(void)state;
	watch_time(now);
	memset(watch.used, 0, sizeof(watch.used));
	for (i = 0; i < n; i++)
		for (int k = 0; k < runs[i]->n_held; k++)
			watch.used[runs[i]->held[k]]++;
	if (ina_forest_groups(ina_sim_forest(watch.sim), group, 512))
		watch.over = true;
	for (i = 0; i < n; i++)
		if ((group[runs[i]->number] < 0) != (runs[i]->tree.kind == INA_FOREST_NONE))
			watch.over = true;
}

static void watch_done(void *state, const struct ina_sim_run *run, double now)
{
	(void)state;
	(void)run;
	watch_time(now);
	watch_regroup(state, now);
}

static const struct ina_sim_share watching = {
	.name = "watch",
	.create = watch_create,
	.regroup = watch_regroup,
	.ask = watch_ask,
	.done = watch_done,
};

/* Runs of drawn jobs on a small fabric. */
static void test_runs(void)
{
	bool ended = true, same = true, within = true, forward = true, kept = true;
	struct ina_sim_op ops[3][OPS];
	struct ina_sim_model models[3];
	int hosts[] = { 1, 2, 3, 5, 8 };
	double weight[] = { 1, 2, 2, 2, 1 };
	struct ina_sim_histogram histogram = { .hosts = hosts, .weight = weight, .n = 5 };
	struct ina_sim_workload load = { models, 3, &histogram, 1 };
	long asked = 0;

	for (int i = 0; i < RUNS; i++) {
		struct ina_topo *topo = ina_topo_fat_tree(4, 1e9, 0);
		struct ina_sim_config config = config_of(topo);
		struct ina_sim_result a, b;
		struct ina_sim_job *jobs;
		uint64_t seed = (uint64_t)draw(1000000);

		for (int k = 0; k < 3; k++)
			random_model(&models[k], ops[k]);
		for (int k = 0; draw(2) && k < topo->n_nodes; k++)
			topo->nodes[k].capacity *= 1 + draw(2);
		config.best_place = draw(2);
		config.every = draw(2);
		config.trees = draw(4) ? INA_FOREST_BEST : INA_FOREST_FIRST;
		config.share = &watching;
		config.gap = true;
		jobs = ina_sim_workload_draw(&load, 0, 60, 16, seed);
		ended = ended && !ina_sim_run(&config, jobs, 60, &a) && a.jobs == 60;
		forward = forward && !watch.back;
		kept = kept && !watch.over;
		asked += watch.asked;
		free(jobs);
		jobs = ina_sim_workload_draw(&load, 0, 60, 16, seed);
		config.share = &ina_sim_greedy;
		ended = ended && !ina_sim_run(&config, jobs, 60, &b);
		a.plan_median = b.plan_median;
		a.plan_p99 = b.plan_p99;
		a.plan_max = b.plan_max;
		same = same && !memcmp(&a, &b, sizeof(a));
		within = within && a.jct <= a.jct_none + 1e-9 && a.jct >= a.jct_all - 1e-9 &&
			 a.load <= 1 && a.utilisation <= 1 && a.gap >= 0;
		free(jobs);
		ina_topo_destroy(topo);
	}
	ktap_ok(ended, "%d runs: all jobs end", RUNS);
	ktap_ok(forward && asked, "time never goes back (%ld questions)", asked);
	ktap_ok(kept, "no switch has more users at a time than units");
	ktap_ok(within, "no job is slower than without, or faster than with it everywhere");
	ktap_ok(same, "the same jobs give the same result");
}

static void test_draw(void)
{
	int hosts[] = { 2, 4 };
	double weight[] = { 1, 3 };
	struct ina_sim_model model = { .step = 1 };
	struct ina_sim_histogram histogram = { .hosts = hosts, .weight = weight, .n = 2 };
	struct ina_sim_workload load = { &model, 1, &histogram, 1 };
	struct ina_sim_job *a = ina_sim_workload_draw(&load, 0, 4000, 4, 7);
	struct ina_sim_job *b = ina_sim_workload_draw(&load, 0, 4000, 4, 7);
	struct ina_sim_job *c = ina_sim_workload_draw(&load, 0, 4000, 4, 8);
	int fours = 0;

	for (int i = 0; i < 4000; i++)
		fours += a[i].hosts == 4;
	ktap_ok(!memcmp(a, b, 4000 * sizeof(*a)) && memcmp(a, c, 4000 * sizeof(*a)),
		"a seed draws the same jobs, another one others");
	ktap_ok(fours > 2880 && fours < 3120, "three of four jobs as the histogram says: %d",
		fours);
	errno = 0;
	ktap_ok(!ina_sim_workload_draw(&load, 0, 10, 3, 7) && errno == ERANGE,
		"jobs larger than the fabric are refused");
	free(a);
	free(b);
	free(c);
}

/* A model, or histograms, from a text. */
static int parse(struct ina_sim_workload *load, bool hosts, const char *text, size_t size,
		 struct ina_doc_error *err)
{
	struct ina_doc *doc = ina_doc_parse("f", text, size, err);
	int ret = -EINVAL;

	if (doc)
		ret = hosts ? ina_sim_workload_hosts(load, ina_doc_root(doc), err) :
			      ina_sim_workload_model(load, ina_doc_root(doc), err);
	ina_doc_destroy(doc);
	return ret;
}

#define MODEL(step, ops) "{\"name\": \"x\", \"step\": " step ",\n\"allreduces\": [" ops "]}"
#define HOSTS(pairs) "{\"histograms\": [\n{\"name\": \"1\", \"hosts\": [" pairs "]}]}"

static const struct {
	bool hosts;
	const char *text;
	const char *why;
} refusals[] = {
	{ false, "{\"step\": 1, \"allreduces\": []}", "f:1: 'name' is missing" },
	{ false, "{\"name\": \"x\", \"allreduces\": []}", "f:1: 'step' is missing" },
	{ false, "{\"name\": \"x\", \"step\": 1}", "f:1: 'allreduces' is missing" },
	{ false, "{\"name\": \"a b\", \"step\": 1, \"allreduces\": []}",
	  "f:1: name: only letters, digits and . _ - : / @ + %" },
	{ false, MODEL("0", ""), "f:1: step: 0 is not within 1e-06 and 1e+06" },
	{ false, "{\"name\": \"x\", \"step\": 1, \"allreduces\": 3}",
	  "f:1: allreduces: must be a list, not a word or number" },
	{ false, MODEL("1", "{\"start\": 2, \"size\": 1}"),
	  "f:2: allreduces[0].start: 2 is not within 0 and 1" },
	{ false, MODEL("1", "{\"start\": 0, \"size\": -1}"),
	  "f:2: allreduces[0].size: -1 is not within 0 and 1e+15" },
	{ false, MODEL("1", "{\"start\": 0}"), "f:2: allreduces[0]: 'size' is missing" },
	{ false, MODEL("1", "{\"start\": 0.5, \"size\": 1},\n{\"start\": 0.4, \"size\": 1}"),
	  "f:3: allreduces[1]: starts before the all-reduce in front of it" },
	{ false, "{\"name\": \"x\", \"speed\": 2}",
	  "f:1: speed: unknown; known: name, parameters, batch, tokens, step, allreduces" },
	{ true, "{}", "f:1: 'histograms' is missing" },
	{ true, "{\"histograms\": []}", "f:1: histograms: is empty" },
	{ true, "{\"histograms\": [{\"hosts\": [[1, 1]]}]}",
	  "f:1: histograms[0]: 'name' is missing" },
	{ true, "{\"histograms\": [{\"name\": \"1\"}]}", "f:1: histograms[0]: 'hosts' is missing" },
	{ true, HOSTS(""), "f:2: histograms[0].hosts: is empty" },
	{ true, HOSTS("[1]"), "f:2: histograms[0].hosts[0]: is not [hosts, how often]" },
	{ true, HOSTS("[1, 1], [0, 1]"),
	  "f:2: histograms[0].hosts[1][0]: 0 is not within 1 and 16777216" },
	{ true, HOSTS("[1, 0]"),
	  "f:2: histograms[0].hosts[0][1]: 0 is not within 1e-09 and 1e+15" },
	{ true, "{\"histograms\": [{\"name\": \"1\", \"hosts\": [[1, 1]]},\n"
	  "{\"name\": \"1\", \"hosts\": [[1, 1]]}]}",
	  "f:2: histograms[1].name: there are two of the name \"1\"" },
};

/* What is wrong with a trace is told with file, line and field. */
static void test_refusals(void)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		const char *text = refusals[i].text;
		struct ina_sim_workload load = { 0 };
		struct ina_doc_error err = { "" };
		int ret = parse(&load, refusals[i].hosts, text, strlen(text), &err);

		if (!ktap_ok(ret == -EINVAL && !strcmp(err.text, refusals[i].why), "refused: %s",
			     refusals[i].why))
			printf("# got: %s\n", err.text);
		ina_sim_workload_clear(&load);
	}
}

/* A model that was read can be run: its step takes a time, no less than it says. */
static bool model_is_sane(const struct ina_sim_model *model)
{
	struct ina_sim_config config = { .speedup = 2, .latency = 50e-6 };
	struct ina_sim_job job = { model, 2, 1 };
	double step = ina_sim_step(&config, &job, 12.5e9, true), last = 0;
	bool ok = ina_topo_name_ok(model->name) && model->step > 0 && step >= model->step &&
		  isfinite(step) && step <= ina_sim_step(&config, &job, 12.5e9, false);

	for (int i = 0; ok && i < model->n_ops; last = model->ops[i++].start)
		ok = model->ops[i].start >= last && model->ops[i].start <= model->step;
	return ok;
}

/* Jobs drawn from histograms that were read have hosts that one of them has. */
static bool hosts_are_sane(struct ina_sim_workload *load)
{
	struct ina_sim_model model = { .step = 1 };
	bool ok = load->n_histograms > 0;

	load->models = &model;
	load->n_models = 1;
	for (int h = 0; ok && h < load->n_histograms; h++) {
		const struct ina_sim_histogram *histogram = &load->histograms[h];
		struct ina_sim_job *jobs = ina_sim_workload_draw(load, h, 20, 1 << 24, 1);

		ok = jobs && ina_topo_name_ok(histogram->name);
		for (int i = 0; ok && i < 20; i++) {
			ok = false;
			for (int k = 0; !ok && k < histogram->n; k++)
				ok = jobs[i].hosts == histogram->hosts[k] && jobs[i].hosts > 0;
		}
		free(jobs);
	}
	load->models = NULL;
	load->n_models = 0;
	return ok;
}

static void test_mutations(bool hosts, const char *text)
{
	char copy[4096];
	int bad = 0, good = 0;

	for (int i = 0; i < MUTATIONS; i++) {
		size_t size = ktap_mutate(text, strlen(text), copy, sizeof(copy));
		struct ina_sim_workload load = { 0 };
		struct ina_doc_error err = { "" };
		int ret = parse(&load, hosts, copy, size, &err);

		good += !ret;
		if (ret ? ret != -EINVAL || !ktap_is_reason(err.text, copy, size) :
			  !(hosts ? hosts_are_sane(&load) : model_is_sane(load.models))) {
			printf("# mutation %d: \"%s\"\n%.*s\n", i, err.text, (int)size, copy);
			bad++;
		}
		ina_sim_workload_clear(&load);
	}
	ktap_ok(!bad && good && good < MUTATIONS,
		"%d damaged %s: %d can still be run, the rest refused with file and line",
		MUTATIONS, hosts ? "histograms" : "models", good);
}

int main(void)
{
	ktap_start();
	test_two();
	test_plain();
	test_runs();
	test_draw();
	test_refusals();
	test_mutations(false, model_sample);
	test_mutations(true, hosts_sample);
	return ktap_end();
}
