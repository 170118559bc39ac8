// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of a tree whose aggregators go: who moves, who comes, who leaves, and that no tree
 * is slower than the one in which the children go up. On random clusters what comes out is always
 * a plan with the same root and workers, in which nobody who is out aggregates.
 */
#include <math.h>
#include <string.h>

#include "plans.h"
#include "replan.h"

static struct ina_topo *topo_of(const char *text)
{
	struct ina_doc_error err = { "" };
	struct ina_topo *topo = ina_topo_parse("topo", text, strlen(text), &err);

	if (!topo)
		printf("# %s\n", err.text);
	return topo;
}

/* Names of machines that are out, each with a blank behind it. */
static bool out_host(const void *ctx, const char *host)
{
	char name[32];

	snprintf(name, sizeof(name), "%s ", host);
	return strstr(ctx, name);
}

/* A plan as text: HOST:PARENT/WORKERS for every node. */
static void show(const struct ina_plan *plan, char *text, size_t size)
{
	*text = '\0';
	for (int j = 0; j < plan->n_jobs; j++) {
		for (int i = 0; i < plan->jobs[j].n_nodes; i++) {
			const struct ina_plan_node *n = &plan->jobs[j].nodes[i];

			snprintf(text + strlen(text), size - strlen(text), "%s:%s/%u ", n->host,
				 n->parent < 0 ? "" : plan->jobs[j].nodes[n->parent].host,
				 n->workers);
		}
	}
}

static bool has(const char *got, const char *words)
{
	char copy[512], *rest = NULL;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char wanted[64];

		snprintf(wanted, sizeof(wanted), "%s ", word);
		if (!strstr(got, wanted)) {
			printf("# no %s in %s\n", word, got);
			return false;
		}
	}
	return true;
}

#define HOST(name, addr, cores, rate) "- {name: " name ", addr: 10.0.0." addr ", where: at-" name \
	", cores: 16, idle-cores: " cores ", memory: 64Gi, nics: [{to: s, rate: " rate "}]}\n"
#define WORKERS	HOST("w0", "10", "0", "10G") HOST("w1", "11", "0", "10G") \
		HOST("w2", "12", "0", "10G") \
	HOST("w3", "13", "0", "10G") HOST("w4", "14", "0", "10G") HOST("w5", "15", "0", "10G")
#define AGGREGATORS HOST("a", "2", "16", "40G") HOST("b", "3", "16", "40G")
#define SWITCH	"switches: [{name: s}]\n"

static const char pair[] =
	"jobs: [{id: 7, options: {capacity: 100M}, tree: [{host: r, addr: 10.0.0.1},"
	" {host: a, addr: 10.0.0.2, parent: r}, {host: b, addr: 10.0.0.3, parent: r},"
	" {host: w0, addr: 10.0.0.10, parent: a, workers: 1},"
	" {host: w1, addr: 10.0.0.11, parent: a, workers: 1},"
	" {host: w2, addr: 10.0.0.12, parent: a, workers: 1},"
	" {host: w3, addr: 10.0.0.13, parent: b, workers: 1},"
	" {host: w4, addr: 10.0.0.14, parent: b, workers: 1},"
	" {host: w5, addr: 10.0.0.15, parent: b, workers: 1}]}]";

/* The plan @text without @out on @hosts has the nodes @wanted; @reason: why it was not planned. */
static bool becomes(const char *text, const char *hosts, const char *out, const char *wanted,
		    const char *reason)
{
	char yaml[4096], got[2048] = "";
	struct ina_replan how = { .per_core = INA_TREE_PER_CORE };
	struct ina_plan *plan = plan_of(text), *left;
	struct ina_doc_error why;
	bool ok;

	snprintf(yaml, sizeof(yaml), "hosts:\n%s" SWITCH, hosts);
	how.topo = topo_of(yaml);
	left = ina_replan(plan, &how, out_host, out, &why);
	show(left, got, sizeof(got));
	ok = has(got, wanted) && !strcmp(why.text, reason);
	if (!ok)
		printf("# %s; %s\n", got, why.text);
	for (int i = 0; i < how.topo->n_nodes; i++)
		ok &= how.topo->nodes[i].kind == INA_TOPO_SWITCH ||
		      how.topo->nodes[i].capacity == 1;
	ina_plan_destroy(plan);
	ina_plan_destroy(left);
	ina_topo_destroy(how.topo);
	return ok;
}

static void test_named(void)
{
	static const char root[] = HOST("r", "1", "16", "10G");
	static const char fast[] = HOST("r", "1", "16", "160G");
	static const char more[] = HOST("c", "4", "16", "40G");
	char hosts[4096], two[2048], *six;

	snprintf(hosts, sizeof(hosts), "%s" AGGREGATORS WORKERS "%s", root, more);
	ktap_ok(becomes(pair, hosts, "", "a:r/0 w0:a/1 w2:a/1 w3:b/1", ""),
		"nobody is out: as it is");
	ktap_ok(becomes(pair, hosts, "a ",
			"b:r/0 w0:c/1 w1:c/1 w2:c/1 w3:b/1 w4:b/1 w5:b/1 a:r/0", ""),
		"another machine takes the place of one, and nobody else moves");
	/* The topology has others for w0 and b, as long: fd00::10, fd00::3. */
	six = strstr(hosts, "10.0.0.10,");
	memcpy(six, "fd00::010,", 10);
	six = strstr(hosts, "10.0.0.3,");
	memcpy(six, "fd00::03,", 9);
	ktap_ok(becomes(pair, hosts, "a ",
			"b:r/0 w0:c/1 w1:c/1 w2:c/1 w3:b/1 w4:b/1 w5:b/1 a:r/0", ""),
		"the addresses of a plan are those in it, whatever the topology says");
	snprintf(hosts, sizeof(hosts), "%s" AGGREGATORS WORKERS "%s", root, more);
	ktap_ok(becomes(pair, hosts, "a c ", "w0:b/1 w1:b/1 w2:b/1 w3:b/1 w4:b/1 w5:b/1 a:r/0", ""),
		"if there is none, another aggregator takes its children");
	ktap_ok(becomes(pair, hosts, "a b c ", "w0:r/1 w5:r/1 a:r/0 b:r/0", ""),
		"if there is none, either, the root");
	ktap_ok(becomes(pair, hosts, "r w0 ", "a:r/0 w0:a/1 w3:b/1", ""),
		"a root stays, and a leaf has nothing to give up");
	snprintf(hosts, sizeof(hosts), "%s" AGGREGATORS WORKERS "%s", fast, more);
	ktap_ok(becomes(pair, hosts, "a ", "w0:r/1 w1:r/1 w2:r/1 w3:b/1 a:r/0", ""),
		"if nothing better is found they go up");
	snprintf(hosts, sizeof(hosts), "%s" AGGREGATORS, root);
	ktap_ok(becomes(pair, hosts, "a ", "w0:r/1 w3:b/1 a:r/0",
			"job 7: host w0 is not in the topology"),
		"nor without a topology of all, which is said");
	snprintf(hosts, sizeof(hosts), "%s" AGGREGATORS WORKERS HOST("d", "5", "16", "160G") "%s",
		 root, more);
	snprintf(two, sizeof(two),
		 "%.*s, {id: 8, options: {capacity: 1k}, tree: [{host: c, addr: 10.0.0.4,"
		 " where: there, workers: 1}]}]", (int)strlen(pair) - 1, pair);
	ktap_ok(becomes(two, hosts, "a d ", "w0:c/1 c:/1", ""), "a root alone takes no room");
	snprintf(two, sizeof(two),
		 "%.*s, {id: 8, options: {capacity: 1k}, tree: [{host: c, addr: 10.0.0.4,"
		 " where: there}, {host: d, parent: c, addr: 10.0.0.5, workers: 1}]}]",
		 (int)strlen(pair) - 1, pair);
	ktap_ok(becomes(two, hosts, "a d ", "w0:b/1 c:/0", ""),
		"a machine has no room for two jobs");
}

#define HOSTS	24

/* A random cluster, and a plan for it: machine 0 is the root, about half have workers. */
static struct ina_topo *random_topo(bool *works)
{
	static char text[HOSTS * 256];

	strcpy(text, "hosts:\n");
	for (int i = 0; i < HOSTS; i++) {
		works[i] = i && ktap_below(3);
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "- {name: h%d, addr: 10.0.0.%d, cores: 16, idle-cores: %u, memory: 64Gi,"
			 " nics: [{to: s, rate: %uG}]}\n", i, i + 1, ktap_below(17),
			 10 * (1 + ktap_below(8)));
	}
	works[1] = works[2] = true;
	strcat(text, SWITCH);
	return topo_of(text);
}

static const char *parent_of(const struct ina_plan_job *job, const char *host)
{
	for (int i = 0; i < job->n_nodes; i++) {
		if (!strcmp(job->nodes[i].host, host))
			return job->nodes[i].parent < 0 ? "" :
			       job->nodes[job->nodes[i].parent].host;
	}
	return "";
}

/* Do only those move whose parents are out? */
static bool moves_few(const struct ina_plan_job *was, const struct ina_plan_job *is,
		      const char *out)
{
	for (int i = 0; i < was->n_nodes; i++) {
		const char *up = parent_of(was, was->nodes[i].host);

		if (!out_host(out, was->nodes[i].host) && !out_host(out, up) &&
		    strcmp(up, parent_of(is, was->nodes[i].host)))
			return false;
	}
	return true;
}

/* Predicted seconds of the tree of @job; 0 if somebody came who was no site before. */
static double seconds_of(struct ina_predict *predict, const struct ina_plan_job *job)
{
	const struct ina_tree_problem *problem = predict->problem;
	int parent[2 * HOSTS], site[HOSTS];
	bool used[2 * HOSTS];

	ina_plan_used(job, used);
	for (int h = 0; h < HOSTS; h++)
		site[h] = -1;
	for (int s = 0; s < problem->n_sites; s++) {
		site[problem->sites[s].host] = s;
		parent[s] = INA_TREE_UNUSED;
	}
	for (int i = 0; i < job->n_nodes; i++) {
		int up = job->nodes[i].parent;

		if (used[i] && site[atoi(job->nodes[i].host + 1)] < 0)
			return 0;
		if (used[i])
			parent[site[atoi(job->nodes[i].host + 1)]] = up < 0 ? INA_TREE_ROOT :
				site[atoi(job->nodes[up].host + 1)];
	}
	return ina_predict_run(predict, parent);
}

static const char *random_case(long *better, long *few)
{
	struct ina_doc_error err = { "" }, why;
	struct ina_measure_worker workers[HOSTS];
	struct ina_measure measure = { workers, 0, 400e6 };
	char *options[] = { (char *)"capacity", (char *)"100M", NULL };
	bool works[HOSTS];
	char out[HOSTS * 8] = "";
	struct ina_replan how = { random_topo(works), &measure, INA_TREE_PER_CORE };
	struct ina_tree_problem *problem;
	struct ina_predict *predict;
	struct ina_plan *plan, *left, *up;
	const char *bad = NULL;
	int parent[2 * HOSTS];
	char a[2048], b[2048];

	for (int i = 0; i < HOSTS; i++) {
		if (works[i])
			workers[measure.n_workers++] = (struct ina_measure_worker){
				.host = i, .workers = 1, .t1 = ktap_below(10) / 10.0, .t2 = 1 };
	}
	problem = ina_tree_problem_create(how.topo, &measure, 0, measure.size, how.per_core, &err);
	predict = ina_predict_create(problem);
	if (ina_search(predict, 1, 2000, parent))
		abort();
	plan = ina_tree_plan(problem, parent, 7, options);
	for (int i = 0; i < plan->jobs[0].n_nodes; i++) {
		int upper = plan->jobs[0].nodes[i].parent;

		if (upper > 0 && !out_host(out, plan->jobs[0].nodes[upper].host) && ktap_below(2))
			snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s ",
				 plan->jobs[0].nodes[upper].host);
	}
	left = ina_replan(plan, &how, out_host, out, &why);
	up = ina_load_plan(plan, out_host, out);
	show(left, a, sizeof(a));
	show(up, b, sizeof(b));
	*better += strcmp(a, b) != 0;
	*few += strcmp(a, b) && moves_few(&plan->jobs[0], &left->jobs[0], out);
	if (*why.text)
		bad = "not planned";
	else if (seconds_of(predict, &left->jobs[0]) > seconds_of(predict, &up->jobs[0]))
		bad = "slower than if they had gone up";
	for (int i = 0, n = 0; !bad && i < left->jobs[0].n_nodes; i++) {
		const struct ina_plan_node *node = &left->jobs[0].nodes[i];
		int upper = node->parent;

		n += node->workers;
		if ((upper < 0) != !strcmp(node->host, "h0"))
			bad = "another root";
		if (upper > 0 && out_host(out, left->jobs[0].nodes[upper].host))
			bad = "one that is out aggregates";
		if (node->workers != works[atoi(node->host + 1)])
			bad = "other workers";
		if (i == left->jobs[0].n_nodes - 1 && n != measure.n_workers)
			bad = "not all workers";
	}
	for (int i = 0; !bad && i < plan->jobs[0].n_nodes; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s:", plan->jobs[0].nodes[i].host);
		if (!strstr(a, name))
			bad = "a machine is forgotten";
	}
	if (bad)
		printf("# out %s\n# %s\n# %s\n", out, b, a);
	ina_plan_destroy(plan);
	ina_plan_destroy(left);
	ina_plan_destroy(up);
	ina_predict_destroy(predict);
	ina_tree_problem_destroy(problem);
	ina_topo_destroy(how.topo);
	return bad;
}

static void test_random(void)
{
	const char *bad = NULL;
	long better = 0, few = 0;
	uint64_t seed = 0;
	int n = 0;

	for (; !bad && n < 60; n++) {
		seed = ktap_random;
		bad = random_case(&better, &few);
	}
	ktap_ok(!bad, "%d clusters%s%s", n, bad ? ": " : "", bad ? bad : "");
	if (bad)
		printf("# of the cluster with INA_SEED=%llu\n", (unsigned long long)seed);
	ktap_ok(better > n / 4 && few > better / 10,
		"%ld of them planned anew, %ld without moving others", better, few);
}

int main(void)
{
	ktap_start();
	test_named();
	test_random();
	return ktap_end();
}
