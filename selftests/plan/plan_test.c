// SPDX-License-Identifier: GPL-2.0
/*
 * Plan files: what is read, the exact text of every refusal, that a written plan reads the
 * same, and thousands of damaged files.
 */
#include <string.h>

#include "cluster.h"
#include "plans.h"

#define DAMAGED	5000
#define RANDOM	2000

static const char sample[] =
	"jobs:\n"
	"- id: 9\n"
	"  options: capacity 10k  dtype fp32\n"
	"  tree:\n"
	"  - {host: x, where: ns-x, addr: \"fd00:0::1\", workers: 2}\n"
	"- id: 7\n"
	"  options: {capacity: 1000, on-loss: degrade}\n"
	"  tree:\n"
	"  - {host: b, parent: a, addr: 10.0.0.2, workers: 1}\n"
	"  - {host: a, where: \"a b: \\\"c\\\"\", addr: 10.0.0.1}\n";

/* Written, read and written again is the same. */
static bool lasts(const struct ina_plan *plan)
{
	struct ina_doc_error err = { "" };
	size_t size, again = 0;
	char *text = plan_written(plan, &size), *second = NULL;
	struct ina_plan *copy = plan_parse(text, size, &err);
	bool same;

	if (copy)
		second = plan_written(copy, &again);
	same = copy && size == again && !memcmp(text, second, size);
	if (!same)
		printf("# %s\n%s", err.text, text);
	ina_plan_destroy(copy);
	free(text);
	free(second);
	return same;
}

static void test_read(void)
{
	struct ina_doc_error err;
	struct ina_plan *plan = plan_parse(sample, strlen(sample), &err);
	const struct ina_plan_job *job = plan ? plan->jobs : NULL;

	ktap_ok(plan && plan->n_jobs == 2 && job[0].id == 7 && job[1].id == 9, "jobs, by id");
	ktap_ok(plan && job[0].n_nodes == 2 && job[0].nodes[0].parent == 1 &&
		job[0].nodes[1].parent == -1 && job[0].nodes[0].workers == 1 &&
		!job[0].nodes[0].where && !strcmp(job[0].nodes[1].where, "a b: \"c\""), "a tree");
	ktap_ok(plan && !strcmp(job[1].nodes[0].addr, "fd00::1"), "an address as all write it");
	ktap_ok(plan && !strcmp(ina_plan_option(job[1].options, "dtype"), "fp32") &&
		!strcmp(ina_plan_option(job[0].options, "on-loss"), "degrade") &&
		!ina_plan_option(job[0].options, "dtype"), "options as words and as a mapping");
	ktap_ok(plan && lasts(plan), "written and read again it is the same");
	ina_plan_destroy(plan);
}

#define J(rest)		"jobs: [{id: 7, options: {capacity: 1}, " rest "}]"
#define T(rest)		J("tree: [" rest "]")

/* a has workers below it, b a leaf without any, c is a leaf, d the leaf without workers. */
static void test_adds(void)
{
	struct ina_plan_node nodes[] = {
		{ .parent = -1 }, { .parent = 0 }, { .parent = 0, .workers = 1 }, { .parent = 1 },
	};
	struct ina_plan_job job = { .nodes = nodes, .n_nodes = 4 };
	struct ina_plan_node alone = { .parent = -1, .workers = 2 };
	struct ina_plan_job single = { .nodes = &alone, .n_nodes = 1 };

	ktap_ok(ina_plan_adds(&job, 0) && !ina_plan_adds(&job, 1) && !ina_plan_adds(&job, 2) &&
		!ina_plan_adds(&job, 3) && !ina_plan_adds(&single, 0),
		"who has workers below adds, a leaf and who has none below do not");
}

static void test_refusals(void)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "[]", "f:1: must be a mapping, not a list" },
		{ "{}", "f:1: jobs is required" },
		{ "jobs: 1", "f:1: jobs: must be a list, not a word or number" },
		{ "jobs: []\nrack: 1", "f:2: rack: unknown; known: jobs" },
		{ "jobs: [{}]", "f:1: jobs[0]: id is required" },
		{ "jobs: [{id: x}]", "f:1: jobs[0].id: \"x\" is no whole number" },
		{ "jobs: [{id: 4294967296}]",
		  "f:1: jobs[0].id: 4294967296 is not within 0 and 4294967295" },
		{ "jobs: [{id: 7}]", "f:1: jobs[0]: options is required" },
		{ "jobs: [{id: 7, options: {}}]", "f:1: jobs[0].options: capacity is required" },
		{ "jobs: [{id: 7, options: [1]}]",
		  "f:1: jobs[0].options: must be a mapping, not a list" },
		{ "jobs: [{id: 7, options: {capacity: 1 2}}]",
		  "f:1: jobs[0].options.capacity: must be one word" },
		{ "jobs: [{id: 7, options: {speed: 1}}]",
		  "f:1: jobs[0].options.speed: unknown; known: capacity, dtype, exponent, "
		  "fragment, depth, group, deadline, on-loss, encap, port" },
		{ "jobs: [{id: 7, options: capacity}]",
		  "f:1: jobs[0].options: capacity needs a value" },
		{ "jobs: [{id: 7, options: capacity 1 capacity 2}]",
		  "f:1: jobs[0].options: capacity is given twice" },
		{ "jobs: [{id: 7, options: speed 1}]",
		  "f:1: jobs[0].options: unknown word \"speed\"; known: capacity, dtype, "
		  "exponent, fragment, depth, group, deadline, on-loss, encap, port" },
		{ J("tre: []"), "f:1: jobs[0].tre: unknown; known: id, options, tree" },
		{ "jobs: [{id: 7, options: {capacity: 1}}]", "f:1: jobs[0]: tree is required" },
		{ T(""), "f:1: jobs[0].tree: a tree without hosts" },
		{ T("{}"), "f:1: jobs[0].tree[0]: host is required" },
		{ T("{host: ''}"), "f:1: jobs[0].tree[0].host: must not be empty" },
		{ T("{host: a, port: 1}"),
		  "f:1: jobs[0].tree[0].port: unknown; known: host, where, addr, parent, workers" },
		{ T("{host: a, addr: 10.0.0}"),
		  "f:1: jobs[0].tree[0].addr: \"10.0.0\" is not an IPv4 or IPv6 address" },
		{ T("{host: a, workers: 65}"),
		  "f:1: jobs[0].tree[0].workers: 65 is not within 0 and 64" },
		{ T("{host: a}"),
		  "f:1: jobs[0].tree[0]: a has no children: workers is required, "
		  "0 to end its part" },
		{ T("{host: a, workers: 0}"), "f:1: jobs[0].tree: a tree without workers" },
		{ T("{host: a, parent: b, workers: 1}"),
		  "f:1: jobs[0].tree[0].parent: no host b in this tree" },
		{ T("{host: a, workers: 1}, {host: b, workers: 1}"),
		  "f:1: jobs[0].tree[1]: a second root: a and b have no parent" },
		{ T("{host: a, parent: a, workers: 1}"),
		  "f:1: jobs[0].tree: no root: a host without a parent" },
		{ T("{host: r, workers: 1}, {host: a, parent: b}, {host: b, parent: c}, "
		    "{host: c, parent: a}"),
		  "f:1: jobs[0].tree[1]: a is above itself: a tree has no cycles" },
		{ T("{host: a, workers: 1}, {host: a, parent: a, workers: 1}"),
		  "f:1: jobs[0].tree[1]: host a is in the tree twice" },
		{ T("{host: a, addr: 10.0.0.1}, "
		    "{host: b, parent: a, addr: '::ffff:10.0.0.1', workers: 1}"),
		  "f:1: jobs[0].tree[1]: address 10.0.0.1 is in the tree twice" },
		{ T("{host: a, addr: 10.0.0.1},\n{host: b, parent: a, addr: '::ffff:10.0.0.2'},\n"
		    "{host: c, parent: b, workers: 1,\naddr: 'fd00::3'}"),
		  "f:4: jobs[0].tree[2].addr: c has an IPv6 address (fd00::3), "
		  "b an IPv4 one (10.0.0.2): a tree has one family" },
		{ "jobs:\n- {id: 7, options: capacity 1, tree: [{host: a, workers: 1}]}\n"
		  "- {id: 7, options: capacity 1, tree: [{host: a, workers: 1}]}",
		  "f:3: jobs[1].id: job 7 is there twice" },
		{ "jobs: [", "f:1: did not find expected node content" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ina_doc_error err = { "nothing" };
		struct ina_plan *plan = plan_parse(cases[i].text, strlen(cases[i].text), &err);
		bool same = !plan && !strcmp(err.text, cases[i].error);

		if (!same)
			printf("# %s\n", err.text);
		ktap_ok(same, "%s", cases[i].error);
		ina_plan_destroy(plan);
	}
}

/* Plans that are right but cannot be applied. */
static void test_apply(void)
{
	static const char *const cases[][2] = {
		{ T("{host: a, workers: 1}"), "job 7: host a has no address (addr)" },
		{ "jobs: [{id: 7, options: capacity 1, "
		  "tree: [{host: a, addr: 10.0.0.1, workers: 1}]}, "
		  "{id: 8, options: capacity 1, "
		  "tree: [{host: a, where: b, addr: 10.0.0.1, workers: 1}]}]",
		  "job 8: host a is at b, and at a in another job" },
		{ "jobs: [{id: 7, options: capacity 1, "
		  "tree: [{host: a, addr: 10.0.0.1, workers: 1}]}, "
		  "{id: 8, options: capacity 1, "
		  "tree: [{host: b, where: a, addr: 10.0.0.1, workers: 1}]}]",
		  "job 8: host b is at a, and so is host a: a machine has one name" },
		{ T("{host: a, where: -oProxyCommand=x, addr: 10.0.0.1, workers: 1}"),
		  "job 7: host a is at -oProxyCommand=x: a place does not begin with -" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ina_doc_error err = { "nothing" };
		struct ina_plan *plan = plan_parse(cases[i][0], strlen(cases[i][0]), &err);
		struct ina_cluster *cluster = plan ? ina_cluster_create(plan, NULL, &err) : NULL;

		ktap_ok(plan && !cluster && !strcmp(err.text, cases[i][1]), "%s", cases[i][1]);
		ina_cluster_destroy(cluster);
		ina_plan_destroy(plan);
	}
}

static char *random_name(int i)
{
	static const char letters[] = "aZ09 _.-:\"\\'#{}[],&*!|>%@`~\t\n\x01\x7f\xc3\xa4";
	char name[24] = "";
	int n = snprintf(name, sizeof(name), "%d", i);

	/* The two bytes of one letter stay together. */
	while (n < 12) {
		uint32_t k = ktap_below(sizeof(letters) - 2);

		name[n++] = letters[k];
		if (letters[k] == '\xc3')
			name[n++] = '\xa4';
	}
	return strdup(name);
}

static void random_job(struct ina_plan_job *job, uint32_t id)
{
	job->id = id;
	job->n_nodes = 1 + (int)ktap_below(20);
	job->nodes = calloc((size_t)job->n_nodes, sizeof(*job->nodes));
	job->options = calloc(5, sizeof(char *));
	job->options[0] = strdup("capacity");
	job->options[1] = strdup("12Ki");
	job->options[2] = strdup("encap");
	job->options[3] = strdup(ktap_below(2) ? "on" : "null");
	for (int i = 0; i < job->n_nodes; i++) {
		struct ina_plan_node *node = &job->nodes[i];

		node->host = random_name(i);
		node->where = ktap_below(2) ? random_name(i) : NULL;
		if (asprintf(&node->addr, "10.0.%d.1", i) < 0)
			abort();
		node->parent = i ? (int)ktap_below((uint32_t)i) : -1;
		node->workers = i ? ktap_below(3) : 1;
	}
}

static void test_random(void)
{
	int good = 0;

	for (int i = 0; i < RANDOM; i++) {
		struct ina_plan *plan = calloc(1, sizeof(*plan));

		plan->n_jobs = (int)ktap_below(4);
		plan->jobs = calloc(4, sizeof(*plan->jobs));
		for (int j = 0; j < plan->n_jobs; j++)
			random_job(&plan->jobs[j], (uint32_t)j);
		good += lasts(plan);
		ina_plan_destroy(plan);
		if (good <= i)
			break;
	}
	ktap_ok(good == RANDOM, "%d random plans are the same when read again", good);
}

/* A few bytes changed: it is read or refused with a reason, and nothing worse. */
static void test_damaged(void)
{
	int refused = 0, reasons = 0, read = 0, lasting = 0;

	for (int i = 0; i < DAMAGED; i++) {
		struct ina_doc_error err = { "" };
		struct ina_plan *plan;
		char text[2 * sizeof(sample)];
		size_t size = ktap_mutate(sample, sizeof(sample) - 1, text, sizeof(text));

		plan = plan_parse(text, size, &err);
		lasting += plan && lasts(plan);
		read += !!plan;
		refused += !plan;
		reasons += !plan && ktap_is_reason(err.text, text, size);
		ina_plan_destroy(plan);
	}
	ktap_ok(refused == reasons && refused > DAMAGED / 2 && read && lasting == read,
		"%d damaged plans: %d refused with a reason, %d still plans", DAMAGED, refused,
		read);
}

int main(void)
{
	ktap_start();
	test_read();
	test_adds();
	test_refusals();
	test_apply();
	test_random();
	test_damaged();
	return ktap_end();
}
