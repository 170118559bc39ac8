// SPDX-License-Identifier: GPL-2.0
/*
 * Trees of random clusters. What must hold is worked out here from the topology and the
 * papers' formulas; of the planner only the trees and the rates it promises are taken.
 */
#include <math.h>
#include <string.h>

#include "plans.h"
#include "tree.h"

#define CLUSTERS	2000
#define TINY		300
#define TINY_TREES	7776	/* of six sites: 6^5 */
#define MUTATIONS	3000
#define HOSTS_MAX	40
#define ALIKE_MAX	300
#define PER_CORE	10e9
#define CLOSE		1e-9

enum property {
	EVERY_WORKER_ONCE,
	NO_CYCLE,
	NO_IDLE_SERVER,
	SCREENED,
	READS_BACK,
	INGRESS,
	EGRESS,
	BOTH_WAYS,
	CAUSAL,
	IN_TIME,
	AT_MOST_K,
	WIDE_ENOUGH,
	LEAST_HEIGHT,
	TOP_N,
	NOT_WORSE,
	SAME_AGAIN,
	PROPERTIES,
};

static const char *const texts[PROPERTIES] = {
	[EVERY_WORKER_ONCE] = "every worker is in the tree exactly once",
	[NO_CYCLE] = "every machine leads to the root",
	[NO_IDLE_SERVER] = "a server without workers has two children or more",
	[SCREENED] = "aggregators pass the screening and have a capacity",
	[READS_BACK] = "the plan, written, reads as the same tree",
	[INGRESS] = "Iq. 1: what children send fits the idle ingress of their parent",
	[EGRESS] = "Iq. 1: the slowest child that sends is no faster than the idle egress",
	[BOTH_WAYS] = "sums up and results down together fit every link of a machine",
	[CAUSAL] = "nothing is sent before it is there",
	[IN_TIME] = "all bits are sent when the round is said to end",
	[AT_MOST_K] = "XAgg: no aggregator has more than k children, no worker aggregates",
	[WIDE_ENOUGH] = "XAgg: Iq. 2: k, h, w are 2 or more, no more workers than k^(h - 1)",
	[LEAST_HEIGHT] = "XAgg: Iq. 2: more workers than k^(h - 2) if all servers are alike",
	[TOP_N] = "XAgg: the aggregators are the top N candidates",
	[NOT_WORSE] = "ours takes no longer than direct and XAgg's",
	[SAME_AGAIN] = "the same seed gives the same tree",
};


/**
 * struct cluster - a random cluster, what was measured there, and its problem
 * @topo: the cluster
 * @measure: the measurement
 * @root: a machine
 * @size: bytes
 * @problem: made of all that
 * @predict: for it
 */
struct cluster {
	struct ina_topo *topo;
	struct ina_measure measure;
	struct ina_measure_worker workers[HOSTS_MAX];
	int root;
	double size;
	struct ina_tree_problem *problem;
	struct ina_predict *predict;
};

static double pick(const double *list, int n)
{
	return list[ktap_below((uint32_t)n)];
}

static void cluster_add_host(struct ina_topo *topo, int i)
{
	static const double rates[] = { 1e9, 10e9, 10e9, 25e9, 40e9, 100e9 };
	char name[16];
	struct ina_topo_node node = { .name = name, .rack = INA_TOPO_NONE, .pod = INA_TOPO_NONE,
				      .capacity = ktap_below(10) ? 1 + (int)ktap_below(2) : 0 };
	struct ina_topo_link link = { .b = (int)ktap_below(3), .rate = pick(rates, 6) };

	snprintf(name, sizeof(name), "h%d", i);
	node.cores = 4 * ktap_below(17);
	node.idle_cores = node.cores * ktap_below(101) / 100;
	node.memory = 1e9 * (1 + ktap_below(64));
	node.used_memory = node.memory * ktap_below(101) / 100;
	/* Half of them have a lot to spare. */
	if (ktap_below(2)) {
		node.idle_cores = node.cores = 64;
		node.used_memory /= 8;
	}
	link.used = link.rate * ktap_below(90) / 100;
	link.latency = 1e-6 * ktap_below(50);
	link.a = ina_topo_add_node(topo, &node);
	ina_topo_add_link(topo, &link);
	/* Some machines have two network cards. */
	if (!ktap_below(4))
		ina_topo_add_link(topo, &link);
}

static void cluster_add_workers(struct cluster *cluster, int hosts)
{
	int n = 1 + (int)ktap_below((uint32_t)hosts);

	cluster->measure.workers = cluster->workers;
	for (int i = 0; i < hosts && cluster->measure.n_workers < n; i++) {
		struct ina_measure_worker *worker = &cluster->workers[cluster->measure.n_workers++];

		*worker = (struct ina_measure_worker){ .host = 3 + i, .workers = 1 + ktap_below(4),
						       .t1 = 1e-3 * ktap_below(1000),
						       .t2 = 1e-3 * ktap_below(1000) };
		if (!ktap_below(8))
			worker->t1 *= 5;
	}
}

/* False if there is nothing to plan. */
static bool cluster_create(struct cluster *cluster, int hosts)
{
	static const double sizes[] = { 1e4, 1e6, 1e7, 1e8, 1e9 };
	struct ina_doc_error err = { "" };

	memset(cluster, 0, sizeof(*cluster));
	cluster->topo = ina_topo_create();
	for (int i = 0; i < 3; i++) {
		char name[] = { 's', (char)('0' + i), 0 };
		struct ina_topo_node node = { .name = name, .kind = INA_TOPO_SWITCH,
					      .level = i ? 1 : 2, .rack = -1, .pod = -1 };
		struct ina_topo_link link = { .a = i, .rate = 400e9, .latency = 2e-6 };

		ina_topo_add_node(cluster->topo, &node);
		if (i)
			ina_topo_add_link(cluster->topo, &link);
	}
	for (int i = 0; i < hosts; i++)
		cluster_add_host(cluster->topo, i);
	cluster_add_workers(cluster, hosts);
	cluster->root = 3 + (int)ktap_below((uint32_t)hosts);
	cluster->size = pick(sizes, 5);
	cluster->problem = ina_tree_problem_create(cluster->topo, &cluster->measure, cluster->root,
						   cluster->size, PER_CORE, &err);
	if (cluster->problem)
		cluster->predict = ina_predict_create(cluster->problem);
	return cluster->predict;
}

static void cluster_destroy(struct cluster *cluster)
{
	ina_predict_destroy(cluster->predict);
	ina_tree_problem_destroy(cluster->problem);
	ina_topo_destroy(cluster->topo);
}

/* Idle bandwidth of a machine, from its links. */
static double idle_of(const struct ina_topo *topo, int host)
{
	double idle = 0;

	for (int i = 0; i < topo->n_links; i++) {
		if (topo->links[i].a == host || topo->links[i].b == host)
			idle += topo->links[i].rate - topo->links[i].used;
	}
	return idle;
}

/* [XAgg V]: used memory and the model within 80 %, idle bandwidth within what idle cores add. */
static bool may_aggregate(const struct cluster *cluster, int host)
{
	const struct ina_topo_node *node = &cluster->topo->nodes[host];

	return node->capacity > 0 && node->used_memory + cluster->size <= 0.8 * node->memory &&
	       idle_of(cluster->topo, host) <= PER_CORE * node->idle_cores;
}

static uint32_t workers_of(const struct cluster *cluster, int host)
{
	for (int i = 0; i < cluster->measure.n_workers; i++) {
		if (cluster->workers[i].host == host)
			return cluster->workers[i].workers;
	}
	return 0;
}

/* The plan as it would be written: who is in it and below whom. */
static void check_plan(const struct cluster *cluster, const struct ina_plan_job *job)
{
	int seen[HOSTS_MAX + 3] = { 0 };
	bool once = true, leads = true, busy = true, screened = true;

	for (int i = 0; i < job->n_nodes; i++) {
		int host = ina_topo_find(cluster->topo, job->nodes[i].host), up = i, steps = 0;
		bool root = host == cluster->root, inner = plan_children(job, i) > 0;

		once = once && !seen[host]++ && job->nodes[i].workers == workers_of(cluster, host);
		while (job->nodes[up].parent >= 0 && steps++ < job->n_nodes)
			up = job->nodes[up].parent;
		leads = leads && ina_topo_find(cluster->topo, job->nodes[up].host) == cluster->root;
		if (root)
			continue;
		busy = busy && (job->nodes[i].workers || plan_children(job, i) > 1);
		screened = screened && (!inner || may_aggregate(cluster, host));
	}
	for (int i = 0; i < cluster->measure.n_workers; i++)
		once = once && seen[cluster->workers[i].host] == 1;
	ktap_must(EVERY_WORKER_ONCE, once && seen[cluster->root] == 1);
	ktap_must(NO_CYCLE, leads);
	ktap_must(NO_IDLE_SERVER, busy);
	ktap_must(SCREENED, screened);
}

static double latency_of(const struct cluster *cluster, int a, int b)
{
	return cluster->problem->latency[a * cluster->problem->n_sites + b];
}

/* Seconds from the root to the farthest machine of the tree. */
static double farthest_of(const struct cluster *cluster, const int *parent)
{
	double farthest = 0;

	for (int i = 0; i < cluster->problem->n_sites; i++) {
		double way = 0;

		for (int up = i; parent[up] >= 0; up = parent[up])
			way += latency_of(cluster, parent[up], up);
		farthest = fmax(farthest, way);
	}
	return farthest;
}

/* Iq. 1 of XAgg at the moment when all children send, and the same with results on the way down. */
static void check_rates(const struct cluster *cluster, const int *parent, double round)
{
	const struct ina_predict_time *times = cluster->predict->times;
	const struct ina_tree_problem *problem = cluster->problem;
	double results = 8 * cluster->size /
			 (round - farthest_of(cluster, parent) - times[0].start);

	for (int p = 0; p < problem->n_sites; p++) {
		double sum = 0, most = 0, limit, up = p ? times[p].rate : 0;
		int n = 0;

		for (int c = 0; c < problem->n_sites; c++) {
			if (parent[c] != p)
				continue;
			sum += times[c].rate;
			most = fmax(most, times[c].rate);
			n++;
		}
		if (!n)
			continue;
		limit = idle_of(cluster->topo, problem->sites[p].host) * (1 + CLOSE);
		ktap_must(INGRESS, sum <= limit);
		/* At some moment the fastest one may be the only one that sends. */
		ktap_must(EGRESS, most <= limit);
		ktap_must(BOTH_WAYS, sum + (p ? results : 0) <= limit * (1 + 1e-6) &&
			  up + n * results <= limit * (1 + 1e-6));
	}
}

/* Bits of @c that are at its parent @p at @now. */
static double sent(const struct cluster *cluster, int c, int p, double now)
{
	const struct ina_predict_time *time = &cluster->predict->times[c];
	double bits = time->rate * (now - time->start - (p < 0 ? 0 : latency_of(cluster, c, p)));

	return fmax(0, fmin(bits, 8 * cluster->size));
}

/* At @now a machine has sent no more than it had: its own gradient and those of its children. */
static bool is_causal(const struct cluster *cluster, const int *parent, int site, double now)
{
	const struct ina_tree_problem *problem = cluster->problem;
	double bits = 8 * cluster->size, out = sent(cluster, site, -1, now);

	for (int c = 0; c < problem->n_sites; c++) {
		if (parent[c] == site && out > sent(cluster, c, site, now) + bits * 1e-6)
			return false;
	}
	return now >= problem->sites[site].ready || out <= bits * 1e-6;
}

static void check_streams(const struct cluster *cluster, const int *parent, double round)
{
	const struct ina_tree_problem *problem = cluster->problem;
	bool causal = true, in_time = true;

	for (int i = 1; i < problem->n_sites; i++) {
		if (parent[i] < 0)
			continue;
		for (int moment = 0; moment <= 16; moment++)
			causal = causal && is_causal(cluster, parent, i, round * moment / 16);
		in_time = in_time && sent(cluster, i, parent[i], round) >= 8 * cluster->size *
								(1 - 1e-6);
	}
	ktap_must(CAUSAL, causal);
	ktap_must(IN_TIME, in_time);
}

static bool reads_back(const struct ina_plan *plan)
{
	struct ina_plan *again = plan_again(plan);
	bool ok = again && again->n_jobs == 1 && again->jobs[0].n_nodes == plan->jobs[0].n_nodes;

	for (int i = 0; ok && i < plan->jobs[0].n_nodes; i++)
		ok = !strcmp(plan->jobs[0].nodes[i].host, again->jobs[0].nodes[i].host) &&
		     plan->jobs[0].nodes[i].parent == again->jobs[0].nodes[i].parent;
	ina_plan_destroy(again);
	return ok;
}

static double check_tree(const struct cluster *cluster, const int *parent)
{
	char *options[] = { "capacity", "1000", NULL };
	struct ina_plan *plan = ina_tree_plan(cluster->problem, parent, 1, options);
	double round = ina_predict_run(cluster->predict, parent);

	check_plan(cluster, &plan->jobs[0]);
	ktap_must(READS_BACK, reads_back(plan));
	check_rates(cluster, parent, round);
	check_streams(cluster, parent, round);
	ina_plan_destroy(plan);
	return round;
}

/* How a machine stands in XAgg's order: by idle bandwidth, idle cores, free memory. */
static bool is_better(const struct cluster *cluster, int a, int b)
{
	const struct ina_topo_node *x = &cluster->topo->nodes[a], *y = &cluster->topo->nodes[b];
	double p = idle_of(cluster->topo, a), q = idle_of(cluster->topo, b);

	if (p != q)
		return p > q;
	if (x->idle_cores != y->idle_cores)
		return x->idle_cores > y->idle_cores;
	return x->memory - x->used_memory > y->memory - y->used_memory;
}

static void check_xagg(const struct cluster *cluster, const int *parent, int k)
{
	const struct ina_tree_problem *problem = cluster->problem;
	bool used[HOSTS_MAX + 3] = { false }, narrow = true, top = true;

	for (int i = 0; i < problem->n_sites; i++) {
		int n = 0, host = problem->sites[i].host;

		for (int c = 0; c < problem->n_sites; c++)
			n += parent[c] == i;
		used[host] = i && n;
		narrow = narrow && (!i || (n <= k && !(n && workers_of(cluster, host))));
	}
	for (int a = 3; a < cluster->topo->n_nodes; a++) {
		for (int b = 3; b < cluster->topo->n_nodes; b++)
			top = top && !(used[b] && !used[a] && a != cluster->root &&
				       !workers_of(cluster, a) && may_aggregate(cluster, a) &&
				       is_better(cluster, a, b));
	}
	ktap_must(AT_MOST_K, narrow);
	ktap_must(TOP_N, top);
}

/*
 * Iq. 2 of XAgg for w workers below a tree of h levels, the root and the workers included:
 * k^(h - 2) < w <= k^(h - 1). The root takes what is left when there are no more servers,
 * and a server with less bandwidth fewer than k, so that a tree may be higher.
 */
static void check_height(const struct ina_tree_problem *problem, const int *parent, int k,
			 bool alike)
{
	int h = 0, w = problem->n_workers, top = 0;

	for (int i = 1; i < problem->n_sites; i++) {
		int levels = 1;

		for (int up = i; parent[up] >= 0; up = parent[up])
			levels++;
		h = levels > h ? levels : h;
		top += parent[i] == 0;
	}
	if (w < 2 || (top > k && !alike))
		return;
	ktap_must(WIDE_ENOUGH, k >= 2 && h >= 2 && top >= 2 && w <= pow(k, h - 1));
	if (alike)
		ktap_must(LEAST_HEIGHT, w > pow(k, h - 2) &&
			  h == (int)ceil(1 + log(w) / log(k) - 1e-9));
}

/* As many servers as can be of use, all with the same bandwidth. */
static void check_alike(int w)
{
	static const double rates[] = { 10e9, 25e9, 100e9 };
	struct ina_measure_worker workers[ALIKE_MAX];
	struct ina_measure round = { .workers = workers, .n_workers = w };
	struct ina_topo_node node = { .name = "s", .kind = INA_TOPO_SWITCH, .level = 1,
				      .rack = INA_TOPO_NONE, .pod = INA_TOPO_NONE };
	struct ina_topo_link link = { .rate = pick(rates, 3) };
	struct ina_topo *topo = ina_topo_create();
	struct ina_doc_error err = { "" };
	struct ina_tree_problem *problem;
	char name[16];

	link.b = ina_topo_add_node(topo, &node);
	node = (struct ina_topo_node){ .name = name, .rack = INA_TOPO_NONE, .pod = INA_TOPO_NONE,
				       .cores = 64, .idle_cores = 64, .memory = 1e12,
				       .capacity = 1 };
	for (int i = 0; i < 2 * w + 20; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		link.a = ina_topo_add_node(topo, &node);
		ina_topo_add_link(topo, &link);
		if (i < w)
			round.workers[i] = (struct ina_measure_worker){ link.a, 1, ktap_below(100),
									ktap_below(100) };
	}
	problem = ina_tree_problem_create(topo, &round, link.a, 1e6, PER_CORE, &err);
	for (int k = INA_XAGG_K_MIN; problem && k <= INA_XAGG_K_MAX; k++) {
		int parent[2 * ALIKE_MAX + 20];

		ina_xagg_build(problem, k, parent);
		check_height(problem, parent, k, true);
	}
	ktap_must(LEAST_HEIGHT, problem);
	ina_tree_problem_destroy(problem);
	ina_topo_destroy(topo);
}

static double gain_direct, gain_xagg;
static int n_gain;

static void check_cluster(const struct cluster *cluster)
{
	int tree[HOSTS_MAX + 3], again[HOSTS_MAX + 3];
	double direct, xagg = INFINITY, ours, best;
	uint64_t seed = ktap_below(1000);

	ina_tree_direct(cluster->problem, tree);
	direct = check_tree(cluster, tree);
	for (int k = INA_XAGG_K_MIN; k <= INA_XAGG_K_MAX; k++) {
		ina_xagg_build(cluster->problem, k, tree);
		xagg = fmin(xagg, check_tree(cluster, tree));
		check_xagg(cluster, tree, k);
		check_height(cluster->problem, tree, k, false);
	}
	ina_xagg_best(cluster->predict, tree);
	best = ina_predict_run(cluster->predict, tree);
	ina_search(cluster->predict, seed, 400, tree);
	ours = check_tree(cluster, tree);
	ktap_must(NOT_WORSE, best == xagg && ours <= xagg && ours <= direct);
	ina_search(cluster->predict, seed, 400, again);
	ktap_must(SAME_AGAIN,
		  !memcmp(tree, again, (size_t)cluster->problem->n_sites * sizeof(int)));
	gain_direct += log(direct / ours);
	gain_xagg += log(xagg / ours);
	n_gain++;
}

static void test_clusters(void)
{
	int refused = 0;

	for (int i = 0; i < CLUSTERS; i++) {
		struct cluster cluster;

		if (cluster_create(&cluster, 2 + (int)ktap_below(HOSTS_MAX - 1)))
			check_cluster(&cluster);
		else
			refused++;
		cluster_destroy(&cluster);
	}
	for (int i = 0; i < CLUSTERS / 10; i++)
		check_alike(2 + (int)ktap_below(ALIKE_MAX - 1));
	ktap_properties(texts, PROPERTIES);
	ktap_ok(n_gain > CLUSTERS / 2, "%d clusters planned, %d have no root that may be one",
		n_gain, refused);
	printf("# a step is %.2f times as long direct and %.2f times with XAgg's tree "
	       "(geometric means)\n",
	       exp(gain_direct / n_gain), exp(gain_xagg / n_gain));
}

/* The shortest round of all trees there are, tried one by one. */
static double try_all(const struct cluster *cluster, int *parent, int site)
{
	const struct ina_tree_problem *problem = cluster->problem;
	double least = INFINITY;

	if (site == problem->n_sites)
		return ina_predict_run(cluster->predict, parent);
	if (site > problem->n_workers) {
		parent[site] = INA_TREE_UNUSED;
		least = try_all(cluster, parent, site + 1);
	}
	for (int p = 0; p < problem->n_sites; p++) {
		if (p == site || (p && !problem->sites[p].candidate))
			continue;
		parent[site] = p;
		least = fmin(least, try_all(cluster, parent, site + 1));
	}
	return least;
}

static void test_tiny(void)
{
	int n = 0, exact = 0;
	double worst = 1;

	for (int i = 0; i < TINY; i++) {
		struct cluster cluster;

		if (cluster_create(&cluster, 2 + (int)ktap_below(6)) &&
		    cluster.problem->n_sites < 7) {
			int parent[HOSTS_MAX];
			double all, ours;

			parent[0] = INA_TREE_ROOT;
			all = try_all(&cluster, parent, 1);
			ina_search(cluster.predict, 1, TINY_TREES, parent);
			ours = ina_predict_run(cluster.predict, parent);
			worst = fmax(worst, ours / all);
			exact += ours <= all * (1 + 1e-4);
			n++;
		}
		cluster_destroy(&cluster);
	}
	ktap_ok(n > TINY / 3 && exact == n,
		"of %d tiny clusters %d have the best of all trees, "
		"the worst one takes %.3f of it", n, exact, worst);
}

static const char measured[] =
	"size: 1M\nworkers:\n- {host: a, t1: 0.5, t2: 0.25}\n"
	"- {host: b, t1: 1, t2: 2, workers: 3}\n";

static const char statistics[] =
	"[{\"job\":1,\"children\":["
	"{\"addr\":\"10.0.0.2\",\"first_ns\":250000000,\"last_ns\":500000000},\n"
	"{\"addr\":\"10.0.0.1\",\"late_ns\":1,\"first_ns\":0,\"last_ns\":125000000,"
	"\"lost\":1}]}]\n";

static struct ina_measure *measure(const struct ina_topo *topo, const char *text, size_t size,
				   struct ina_doc_error *err)
{
	struct ina_doc *doc = ina_doc_parse("f", text, size, err);
	struct ina_measure *made = doc ? ina_measure_from(doc, topo, 1, err) : NULL;

	ina_doc_destroy(doc);
	return made;
}

static void test_mutations(const struct ina_topo *topo, const char *text)
{
	int bad = 0, good = 0;

	for (int i = 0; i < MUTATIONS; i++) {
		char copy[1024];
		size_t size = ktap_mutate(text, strlen(text), copy, sizeof(copy));
		struct ina_doc_error err = { "" };
		struct ina_measure *made = measure(topo, copy, size, &err);

		good += !!made;
		bad += made ? !(ina_measure_communication(made) >= 0 &&
				ina_measure_communication(made) <= 1) :
			      !ktap_is_reason(err.text, copy, size);
		ina_measure_destroy(made);
	}
	ktap_ok(!bad && good && good < MUTATIONS,
		"%d damaged measurements: %d are still one, the rest refused with file and line",
		MUTATIONS, good);
}

static void test_measure(void)
{
	static const char hosts[] = "hosts: [{name: a, addr: 10.0.0.1}, {name: b, addr: 10.0.0.2}]";
	struct ina_doc_error err = { "" };
	struct ina_topo *topo = ina_topo_parse("topo", hosts, strlen(hosts), &err);
	struct ina_measure *file = measure(topo, measured, strlen(measured), &err);
	struct ina_measure *stats = measure(topo, statistics, strlen(statistics), &err);

	ktap_ok(file && file->size == 1e6 && file->n_workers == 2 && file->workers[1].host == 1 &&
		file->workers[1].workers == 3 && file->workers[1].t1 == 1, "a measurement file");
	ktap_ok(file && ina_measure_communication(file) == 2.25 / 3.75, "its communication");
	ktap_ok(stats && stats->n_workers == 2 && stats->workers[0].host == 1 &&
		stats->workers[0].t1 == 0.75 && stats->workers[0].t2 == 0.25 &&
		stats->workers[1].host == 0 && stats->workers[1].t1 == 0.5,
		"statistics: the step ends with the last contribution");
	ina_measure_destroy(file);
	ina_measure_destroy(stats);
	test_mutations(topo, measured);
	test_mutations(topo, statistics);
	ina_topo_destroy(topo);
}

int main(void)
{
	ktap_start();
	test_measure();
	test_clusters();
	test_tiny();
	return ktap_end();
}
