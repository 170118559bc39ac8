// SPDX-License-Identifier: GPL-2.0
/*
 * The steps between hundreds of pairs of random plans, on the model of the machines; every
 * step fails once in every way.
 */
#include "machines.h"

#define PAIRS	500
#define THOROUGH	4	/* every fourth pair fails in all ways at each step */

static void shuffle(int *order, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int k = (int)ktap_below((uint32_t)i + 1), swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
}

/* A random tree over hosts with @workers, and some others. */
static void random_job(struct ina_plan_job *job, uint32_t id, const uint32_t *workers, int root,
		       const char *capacity)
{
	int order[HOSTS];

	job->id = id;
	job->options = calloc(3, sizeof(char *));
	job->options[0] = strdup("capacity");
	job->options[1] = strdup(capacity);
	job->nodes = calloc(HOSTS, sizeof(*job->nodes));
	for (int i = 0; i < HOSTS; i++)
		order[i] = i;
	shuffle(order, HOSTS);
	for (int i = 0; i < HOSTS; i++) {
		if (order[i] == root) {
			order[i] = order[0];
			order[0] = root;
		}
	}
	for (int i = 0; i < HOSTS; i++) {
		struct ina_plan_node *node = &job->nodes[job->n_nodes];

		if (i && !workers[order[i]] && ktap_below(3))
			continue;
		node->host = printed("h%d", order[i]);
		node->addr = printed("10.0.0.%d", order[i] + 1);
		node->workers = workers[order[i]];
		node->parent = i ? (int)ktap_below((uint32_t)job->n_nodes) : -1;
		job->n_nodes++;
	}
}

/* Machines change places: who was whose parent is so no more. */
static void rotate(struct ina_plan_job *job, const uint32_t *workers)
{
	int by = 1 + (int)ktap_below((uint32_t)job->n_nodes);
	struct ina_plan_node *old = malloc((size_t)job->n_nodes * sizeof(*old));

	memcpy(old, job->nodes, (size_t)job->n_nodes * sizeof(*old));
	for (int i = 1; i < job->n_nodes; i++) {
		int k = 1 + (i - 1 + by) % (job->n_nodes - 1);

		job->nodes[i].host = old[k].host;
		job->nodes[i].addr = old[k].addr;
		job->nodes[i].workers = workers[host_of(old[k].addr)];
	}
	free(old);
}

static struct ina_plan *plan_new(int n_jobs)
{
	struct ina_plan *plan = calloc(1, sizeof(*plan));

	plan->jobs = calloc((size_t)n_jobs, sizeof(*plan->jobs));
	plan->n_jobs = n_jobs;
	return plan;
}

/* Workers of one job on every host; at least one host has some. */
static void random_workers(uint32_t *workers)
{
	for (int h = 0; h < HOSTS; h++)
		workers[h] = ktap_below(2) ? 1 + ktap_below(2) :
			     ktap_below(3) ? 0 : 509 + ktap_below(3);
	workers[ktap_below(HOSTS)] = 1;
}

static void random_pair(struct ina_plan **a, struct ina_plan **b)
{
	int n = 1 + (int)ktap_below(JOBS);

	*a = plan_new(n);
	*b = plan_new(n);
	for (int j = 0; j < n; j++) {
		uint32_t workers[HOSTS], id = 7 + (uint32_t)j;
		int root = (int)ktap_below(HOSTS);
		uint64_t seed = ktap_random;

		random_workers(workers);
		random_job(&(*a)->jobs[j], id, workers, root, "1000");
		if (!ktap_below(3)) {
			uint64_t now = ktap_random;

			ktap_random = seed;
			random_workers(workers);
			random_job(&(*b)->jobs[j], id, workers, root, "1000");
			ktap_random = now;
			rotate(&(*b)->jobs[j], workers);
			continue;
		}
		if (!ktap_below(3))
			workers[ktap_below(HOSTS)] = 1;
		if (!ktap_below(3))
			root = (int)ktap_below(HOSTS);
		random_job(&(*b)->jobs[j], id, workers, root, ktap_below(12) ? "1000" : "2k");
	}
}

/* As many paths as a neighbour can have, without the implied one, which is path @i. */
static void full_paths(struct ina_place *place, int i, const struct ina_path *first)
{
	struct ina_path path = *first;

	place->paths[i] = path;
	for (int n = 1; n < PATHS; n++) {
		path.sport += 8;
		if (ina_place_add_path(place, &path))
			abort();
	}
}

/* An operator has added, weighed and deleted paths here and there. */
static long random_paths(struct ina_place *place)
{
	long more = 0;

	if (place->tree && !ktap_below(4))
		snprintf(place->tuning, sizeof(place->tuning), "chunk %u", 20000 + ktap_below(9));
	for (int i = place->n_paths; i-- > 0; ) {
		struct ina_path extra = { .peer = place->paths[i].peer, .weight = ktap_below(3) };

		if (!ktap_below(4))
			place->paths[i].weight = 1 + ktap_below(9);
		if (ktap_below(3))
			continue;
		more++;
		extra.sport = 49152 + ktap_below(8);
		if (ktap_below(2))
			snprintf(extra.dev, sizeof(extra.dev), "eth%u", ktap_below(2));
		if (!ktap_below(8)) {
			full_paths(place, i, &extra);
			continue;
		}
		if (!ktap_below(3))
			place->paths[i] = extra;
		else if (ina_place_add_path(place, &extra))
			abort();
	}
	return more;
}

struct totals {
	long pairs, steps, runs, refused, same, paths;
};

static const char *test_pair(struct totals *t)
{
	struct ina_plan *a, *b;
	struct ina_cluster *hosts, *now, *goal, *again;
	struct ina_steps steps;
	const char *why;

	random_pair(&a, &b);
	hosts = hosts_of(a, b);
	now = applied(hosts, a);
	/* Somebody has added jobs already, but no tree. */
	for (int i = 0; i < now->n_jobs * HOSTS; i++) {
		if (!now->places[i].options && !ktap_below(8))
			now->places[i].options = strdup("capacity 1000");
		t->paths += random_paths(&now->places[i]);
	}
	goal = ina_cluster_goal(now, b, false);
	t->refused += detach(now, goal);
	why = run_all(now, goal, t->pairs % THOROUGH == 0, &t->runs);
	if (!why && !ina_steps_plan(now, goal, &steps)) {
		t->steps += steps.n;
		t->same += !steps.n;
		ina_steps_clear(&steps);
	}
	again = ina_cluster_goal(goal, b, false);
	if (!why) {
		if (ina_steps_plan(goal, again, &steps) || steps.n)
			why = "the same plan again has steps";
		ina_steps_clear(&steps);
	}
	t->pairs++;
	ina_plan_destroy(a);
	ina_plan_destroy(b);
	ina_cluster_destroy(hosts);
	ina_cluster_destroy(now);
	ina_cluster_destroy(goal);
	ina_cluster_destroy(again);
	return why;
}

static void test_random(void)
{
	struct totals t = { 0 };
	uint64_t seed = 0;
	const char *why = NULL;

	for (int i = 0; !why && i < PAIRS; i++) {
		seed = ktap_random;
		why = test_pair(&t);
	}
	ktap_ok(!why, "%ld pairs of plans, %ld steps that fail in %d ways%s%s", t.pairs, t.steps,
		FAILURES, why ? ": " : "", why ? why : "");
	if (why)
		printf("# of the pair with INA_SEED=%llu\n", (unsigned long long)seed);
	ktap_ok(t.steps > 5 * PAIRS && t.refused && t.runs > 10 * PAIRS && t.paths > PAIRS,
		"they were worth it: %ld runs, %ld places with workers in the way, %ld paths",
		t.runs, t.refused, t.paths);
}

int main(void)
{
	ktap_start();
	machines_start();
	test_random();
	return ktap_end();
}
