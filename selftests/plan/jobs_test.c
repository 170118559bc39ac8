// SPDX-License-Identifier: GPL-2.0
/*
 * Plans for all jobs of random fabrics, while jobs come and go and some run with trees the
 * planner did not make. What must hold is worked out from names, links and capacities alone.
 */
#include <errno.h>
#include <string.h>

#include "jobs.h"
#include "plans.h"

#define FABRICS		400
#define EVENTS		25
#define ROOM		64	/* nodes of a fabric */
#define FAR		ROOM	/* steps where no way leads */

enum property {
	PLANNED,
	READS_BACK,
	WORKERS_STAY,
	FREE_MACHINES,
	CAPACITY,
	LINKS,
	ON_THE_WAY,
	TWO_CHILDREN,
	ROOT,
	KEPT,
	MOVED,
	OPTIMAL,
	GAIN,
	SAME_AGAIN,
	OCCUPIED,
	FAMILY,
	PROPERTIES,
};

static const char *const texts[PROPERTIES] = {
	[PLANNED] = "a job is placed if enough machines of one family are free, else refused",
	[READS_BACK] = "the plan, written, reads as the same plan",
	[WORKERS_STAY] = "workers stay where they are",
	[FREE_MACHINES] = "a new job gets machines that were free and do not aggregate",
	[CAPACITY] = "no machine aggregates for more jobs than it has units",
	[LINKS] = "no link is crossed by more trees than it has units, whoever planned them",
	[ON_THE_WAY] = "sums go up: each aggregator's switch is above those of its children",
	[TWO_CHILDREN] = "an aggregator has two children or more, who leaves has none",
	[ROOT] = "the root has workers, and stays the root",
	[KEPT] = "what is not said to be moved has the tree it had, what waits has none",
	[MOVED] = "what is said to be moved had a tree of aggregators, and another one",
	[OPTIMAL] = "small cases are proven optimal, and trees of their own are counted right",
	[GAIN] = "trees move only if more jobs have one then",
	[SAME_AGAIN] = "planned again, no tree changes",
	[OCCUPIED] = "what jobs aggregate is taken off the capacities, those of one job are not",
	[FAMILY] = "trees have one address family, and who comes into one has an address",
};

static int n_kind[3], n_fixed, n_moved, n_families;
static int steps[ROOM][ROOM];

static int draw(int n)
{
	return (int)ktap_below((uint32_t)n);
}

static int add(struct ina_topo *topo, const char *kind, int level, int rack, const char *aggregator)
{
	char name[16];
	struct ina_topo_node node = {
		.name = name, .kind = level ? INA_TOPO_SWITCH : INA_TOPO_HOST, .level = level,
		.rack = rack, .pod = rack < 0 ? INA_TOPO_NONE : 0,
		.aggregator = (char *)aggregator,
	};

	snprintf(name, sizeof(name), "%s%d", kind, topo->n_nodes);
	node.capacity = aggregator ? topo->nodes[ina_topo_find(topo, aggregator)].capacity : 1;
	return ina_topo_add_node(topo, &node);
}

/* A switch, most often with a machine that aggregates for it. */
static int add_switch(struct ina_topo *topo, int level, int rack)
{
	int host = draw(10) ? add(topo, "a", 0, rack, NULL) : -1, at;
	struct ina_topo_link link = { .a = host, .rate = 1e9 };

	if (host >= 0)
		topo->nodes[host].capacity = draw(5) ? 1 : draw(3);
	at = add(topo, "s", level, rack, host < 0 ? NULL : topo->nodes[host].name);
	link.b = at;
	if (host >= 0)
		ina_topo_add_link(topo, &link);
	return at;
}

/* No machine has an address; or all have one, most of the first family; or some, of either. */
static void give_addresses(struct ina_topo *topo)
{
	static const char *const formats[] = { "10.0.0.%d", "fd00::%d", "::ffff:10.0.0.%d" };
	int how = draw(5), first = draw(2);

	for (int i = 0; how < 3 && i < topo->n_nodes; i++) {
		int six = draw(10) ? first : !first;

		if (topo->nodes[i].level || (how == 1 && !draw(5)))
			continue;
		if (asprintf(&topo->nodes[i].addr, formats[six ? 1 : 2 * draw(2)], i + 1) < 0)
			abort();
	}
}

static struct ina_topo *fabric(void)
{
	struct ina_topo *topo = ina_topo_create();
	int racks = 2 + draw(4), tops = 1 + draw(3), rack[5];

	for (int i = 0; i < racks; i++) {
		rack[i] = add_switch(topo, 1, i);
		for (int k = 1 + draw(6); k >= 0; k--) {
			struct ina_topo_link link = { .b = rack[i], .rate = 1e9 };

			link.a = add(topo, "h", 0, i, NULL);
			ina_topo_add_link(topo, &link);
		}
	}
	for (int k = 0; k < tops; k++) {
		int top = add_switch(topo, 2, INA_TOPO_NONE);

		for (int i = 0; i < racks; i++) {
			struct ina_topo_link link = { .a = rack[i], .b = top, .rate = 1e9,
						      .capacity = draw(3) ? 0 : 1 + draw(2) };

			if (!k || draw(2))
				ina_topo_add_link(topo, &link);
		}
	}
	give_addresses(topo);
	return topo;
}

/* For which switch a machine aggregates, -1 if for none. */
static int switch_of(const struct ina_topo *topo, int host)
{
	for (int i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].aggregator &&
		    !strcmp(topo->nodes[i].aggregator, topo->nodes[host].name))
			return i;
	}
	return -1;
}

/* Whether links lead up from @from to @to. */
static bool leads_up(const struct ina_topo *topo, int from, int to)
{
	bool found = from == to;

	for (int i = 0; i < topo->n_links && !found; i++)
		found = topo->links[i].a == from && topo->nodes[topo->links[i].b].level &&
			leads_up(topo, topo->links[i].b, to);
	return found;
}

/* Steps between all nodes through switches, after Floyd and Warshall. */
static void count_steps(const struct ina_topo *topo)
{
	for (int a = 0; a < topo->n_nodes; a++) {
		for (int b = 0; b < topo->n_nodes; b++)
			steps[a][b] = a == b ? 0 : FAR;
	}
	for (int i = 0; i < topo->n_links; i++) {
		steps[topo->links[i].a][topo->links[i].b] = 1;
		steps[topo->links[i].b][topo->links[i].a] = 1;
	}
	for (int k = 0; k < topo->n_nodes; k++) {
		for (int a = 0; topo->nodes[k].level && a < topo->n_nodes; a++) {
			for (int b = 0; b < topo->n_nodes; b++) {
				if (steps[a][k] + steps[k][b] < steps[a][b])
					steps[a][b] = steps[a][k] + steps[k][b];
			}
		}
	}
}

/* The switch a machine aggregates for, else the machine. */
static int site_of(const struct ina_topo *topo, const struct ina_plan_node *node)
{
	int host = ina_topo_find(topo, node->host), at = switch_of(topo, host);

	return at < 0 ? host : at;
}

/* Whether sums that are not for a machine that is the root may go over a link of the fabric. */
static bool crosses(const struct ina_topo *topo, const struct ina_plan_job *job,
		    const struct ina_topo_link *link)
{
	bool found = false;

	for (int i = 0; i < job->n_nodes && !found; i++) {
		int parent = job->nodes[i].parent, from, to;

		if (parent < 0 || (!job->nodes[i].workers && !plan_children(job, i)))
			continue;
		from = site_of(topo, &job->nodes[i]);
		to = site_of(topo, &job->nodes[parent]);
		if (job->nodes[parent].parent >= 0 || topo->nodes[to].level)
			found = steps[from][to] < FAR &&
				(steps[from][link->a] + 1 + steps[link->b][to] == steps[from][to] ||
				 steps[from][link->b] + 1 + steps[link->a][to] == steps[from][to]);
	}
	return found;
}

/* Whether the limits of all links are kept. */
static bool links_hold(const struct ina_topo *topo, const struct ina_plan *plan)
{
	bool hold = true;

	for (int i = 0; i < topo->n_links && hold; i++) {
		int n = 0;

		for (int j = 0; topo->links[i].capacity && j < plan->n_jobs; j++)
			n += crosses(topo, &plan->jobs[j], &topo->links[i]);
		hold = n <= topo->links[i].capacity;
	}
	return hold;
}

static bool same_tree(const struct ina_plan_job *a, const struct ina_plan_job *b)
{
	bool same = a->n_nodes == b->n_nodes && a->id == b->id;

	for (int i = 0; same && i < a->n_nodes; i++) {
		int k = 0;

		while (k < b->n_nodes && strcmp(a->nodes[i].host, b->nodes[k].host))
			k++;
		same = k < b->n_nodes && a->nodes[i].workers == b->nodes[k].workers &&
		       (a->nodes[i].parent < 0) == (b->nodes[k].parent < 0) &&
		       (a->nodes[i].parent < 0 ||
			!strcmp(a->nodes[a->nodes[i].parent].host,
				b->nodes[b->nodes[k].parent].host));
	}
	return same;
}

static const struct ina_plan_job *job_of(const struct ina_plan *plan, uint32_t id)
{
	for (int j = 0; j < plan->n_jobs; j++) {
		if (plan->jobs[j].id == id)
			return &plan->jobs[j];
	}
	return NULL;
}

/* Jobs a machine aggregates for; jobs that have workers there. */
static int adds_for(const struct ina_plan *plan, const char *host, int *workers)
{
	int n = 0;

	*workers = 0;
	for (int j = 0; j < plan->n_jobs; j++) {
		for (int i = 0; i < plan->jobs[j].n_nodes; i++) {
			if (strcmp(plan->jobs[j].nodes[i].host, host))
				continue;
			n += plan_children(&plan->jobs[j], i) > 0;
			*workers += plan->jobs[j].nodes[i].workers > 0;
		}
	}
	return n;
}

/* A tree of aggregators below the root: sums go up in the fabric, and every aggregator joins. */
static void check_own(const struct ina_topo *topo, const struct ina_plan_job *job)
{
	bool up = true, joins = true;

	for (int i = 0; i < job->n_nodes; i++) {
		int host = ina_topo_find(topo, job->nodes[i].host), at = switch_of(topo, host);
		int parent = job->nodes[i].parent;

		joins = joins && (job->nodes[i].workers ? parent < 0 || !plan_children(job, i) :
							  at >= 0 && plan_children(job, i) != 1);
		if (parent < 0 || job->nodes[parent].parent < 0)
			continue;
		parent = switch_of(topo, ina_topo_find(topo, job->nodes[parent].host));
		up = up && parent >= 0 && leads_up(topo, at < 0 ? host : at, parent);
	}
	ktap_must(ON_THE_WAY, up);
	ktap_must(TWO_CHILDREN, joins);
}

/* A tree without aggregators: one machine with workers sums for the others. */
static bool waits(const struct ina_plan_job *job)
{
	bool direct = true;

	for (int i = 0; i < job->n_nodes; i++)
		direct = direct && (job->nodes[i].workers || !plan_children(job, i)) &&
			 (job->nodes[i].parent < 0 ||
			  job->nodes[job->nodes[i].parent].parent < 0);
	return direct;
}

static const struct ina_plan_node *root_of(const struct ina_plan_job *job)
{
	int i = 0;

	while (job->nodes[i].parent >= 0)
		i++;
	return &job->nodes[i];
}

/* Families of the addresses in a job, as bits: 1 no address, 2 IPv4, 4 IPv6. */
static int families(const struct ina_plan_job *job, bool workers)
{
	int seen = 0;

	for (int i = 0; i < job->n_nodes; i++) {
		const char *addr = job->nodes[i].addr;
		if (!workers || job->nodes[i].workers)
			seen |= !addr ? 1 : strncmp(addr, "fd", 2) ? 2 : 4;
	}
	return seen;
}

/* Aggregators of a tree that was found have an address if workers have. */
static void check_families(const struct ina_plan_job *job, bool own)
{
	int workers = families(job, true), all = families(job, false);

	ktap_must(FAMILY, (all & 6) != 6 && (!own || !(workers & 6) || all == workers));
	n_families |= own ? all : 0;
}

static void check_jobs(const struct ina_topo *topo, const struct ina_plan *before,
		       const struct ina_plan *plan, const struct ina_jobs *jobs)
{
	int own = 0, had = 0, moved = 0;

	for (int j = 0; j < plan->n_jobs; j++) {
		const struct ina_plan_job *job = &plan->jobs[j], *old = job_of(before, job->id);
		const struct ina_jobs_tree *tree = &jobs->trees[j];
		bool mine = !tree->fixed && tree->kind == INA_FOREST_OWN;

		own += mine;
		had += !tree->fixed && old && !waits(old);
		moved += tree->moved;
		n_fixed += tree->fixed;
		n_moved += tree->moved;
		n_kind[tree->kind] += !tree->fixed;
		if (mine)
			check_own(topo, job);
		check_families(job, mine);
		if (!tree->fixed)
			ktap_must(ROOT, root_of(job)->workers &&
				  (!old || !strcmp(root_of(job)->host, root_of(old)->host)));
		if (tree->moved)
			ktap_must(MOVED, old && !waits(old) && !same_tree(job, old));
		else
			ktap_must(KEPT, (mine || tree->fixed || waits(job)) &&
				  (!old || same_tree(job, old) || (mine && waits(old))));
	}
	ktap_must(OPTIMAL, jobs->optimal && own == jobs->own);
	ktap_must(GAIN, moved ? own > had : own >= had);
}

static void check_machines(const struct ina_topo *topo, const struct ina_plan *before,
			   const struct ina_plan *plan, uint32_t id)
{
	const struct ina_plan_job *new = job_of(plan, id);
	bool capacity = true, stay = true, free_ones = true;

	for (int i = 0; i < topo->n_nodes; i++) {
		int was, now, n = adds_for(plan, topo->nodes[i].name, &now);
		int added = adds_for(before, topo->nodes[i].name, &was);

		capacity = capacity && (topo->nodes[i].level || n <= topo->nodes[i].capacity);
		for (int k = 0; new && k < new->n_nodes; k++) {
			if (strcmp(new->nodes[k].host, topo->nodes[i].name) ||
			    !new->nodes[k].workers)
				continue;
			now--;
			free_ones = free_ones && !was && !added && switch_of(topo, i) < 0;
		}
		stay = stay && was == now;
	}
	ktap_must(CAPACITY, capacity);
	ktap_must(LINKS, links_hold(topo, plan));
	ktap_must(WORKERS_STAY, stay);
	if (new)
		ktap_must(FREE_MACHINES, free_ones);
}

/* A second look at the same jobs changes nothing. */
static void check_again(const struct ina_topo *topo, const struct ina_plan *plan)
{
	struct ina_plan *again = plan_again(plan);
	struct ina_jobs_new none = { 0 };
	struct ina_doc_error err;
	struct ina_jobs jobs;
	bool same;

	ktap_must(READS_BACK, again && again->n_jobs == plan->n_jobs);
	if (!again)
		return;
	for (int j = 0; j < plan->n_jobs; j++)
		ktap_must(READS_BACK, same_tree(&plan->jobs[j], &again->jobs[j]));
	same = !ina_jobs_plan(topo, again, &none, &jobs, &err);
	for (int j = 0; same && j < plan->n_jobs; j++)
		same = same_tree(&plan->jobs[j], &again->jobs[j]);
	ktap_must(SAME_AGAIN, same);
	free(jobs.trees);
	ina_plan_destroy(again);
}

/* Capacities that are left to somebody else, and to one of the jobs. */
static void check_occupied(struct ina_topo *topo, const struct ina_plan *plan)
{
	uint32_t except = plan->n_jobs ? plan->jobs[draw(plan->n_jobs)].id : 0;
	const struct ina_plan_job *job = job_of(plan, except);
	int capacity[ROOM] = { 0 }, workers;
	bool right = true;

	for (int i = 0; i < topo->n_nodes; i++)
		capacity[i] = topo->nodes[i].capacity;
	ina_jobs_occupy(topo, plan, except);
	for (int i = 0; i < topo->n_nodes; i++) {
		int left = capacity[i] - adds_for(plan, topo->nodes[i].name, &workers);

		for (int k = 0; job && k < job->n_nodes; k++)
			left += !strcmp(job->nodes[k].host, topo->nodes[i].name) &&
				plan_children(job, k);
		right = right && topo->nodes[i].capacity == (left < 0 ? 0 : left);
		topo->nodes[i].capacity = capacity[i];
	}
	ktap_must(OCCUPIED, right);
}

static void leave(struct ina_plan *plan, int j)
{
	ina_plan_job_clear(&plan->jobs[j]);
	plan->n_jobs--;
	for (; j < plan->n_jobs; j++)
		plan->jobs[j] = plan->jobs[j + 1];
}

/*
 * A job that somebody else planned, on any machines: below one that has a unit left and no
 * workers, wherever it is, which may be below one of them; or it waits for a tree.
 */
static void add_foreign(const struct ina_topo *topo, struct ina_plan *plan, uint32_t id,
			bool tree)
{
	struct ina_plan_job job = { .id = id };
	bool named = draw(4);
	int workers;

	job.options = calloc(3, sizeof(*job.options));
	job.options[0] = strdup("capacity");
	job.options[1] = strdup("1");
	job.nodes = calloc(ROOM, sizeof(*job.nodes));
	for (int i = 0; tree && i < topo->n_nodes && !job.n_nodes; i++) {
		if (topo->nodes[i].level || draw(3) ||
		    adds_for(plan, topo->nodes[i].name, &workers) >= topo->nodes[i].capacity ||
		    workers)
			continue;
		job.nodes[job.n_nodes].parent = -1;
		job.nodes[job.n_nodes++].host = strdup(topo->nodes[i].name);
	}
	for (int i = 0; (!tree || job.n_nodes) && job.n_nodes < 4 && i < topo->n_nodes; i++) {
		if (topo->nodes[i].level || switch_of(topo, i) >= 0 || draw(4) ||
		    adds_for(plan, topo->nodes[i].name, &workers) || workers ||
		    (job.n_nodes && !strcmp(job.nodes[0].host, topo->nodes[i].name)))
			continue;
		job.nodes[job.n_nodes].parent = job.n_nodes ? 0 : -1;
		job.nodes[job.n_nodes].workers = 1;
		job.nodes[job.n_nodes++].host = strdup(topo->nodes[i].name);
	}
	if (tree && job.n_nodes > 2 && draw(2)) {
		job.nodes[0].parent = 1;
		job.nodes[1].parent = -1;
	}
	plan->jobs = reallocarray(plan->jobs, (size_t)plan->n_jobs + 1, sizeof(job));
	plan->jobs[plan->n_jobs++] = job;
	for (int i = 0; named && i < job.n_nodes; i++) {
		const char *addr = topo->nodes[ina_topo_find(topo, job.nodes[i].host)].addr;

		job.nodes[i].addr = addr ? strdup(addr) : NULL;
	}
	if (job.n_nodes < 2 || (families(&job, false) & 6) == 6 || !links_hold(topo, plan))
		leave(plan, plan->n_jobs - 1);
}

/* A job comes; or none, and trees are planned for those who are there. */
static void event(const struct ina_topo *topo, struct ina_plan *plan, uint32_t id)
{
	char *options[] = { "capacity", "1000", NULL };
	struct ina_jobs_new new = { .id = id, .hosts = draw(6), .workers = 1 + ktap_below(3),
				    .alpha = INA_JOBS_ALPHA, .options = options };
	struct ina_plan *before = plan_again(plan);
	struct ina_doc_error err = { "" };
	struct ina_jobs jobs;
	int four = 0, six = 0, ret, workers;

	for (int i = 0; i < topo->n_nodes; i++) {
		const char *addr = topo->nodes[i].addr;

		if (adds_for(plan, topo->nodes[i].name, &workers) || workers ||
		    topo->nodes[i].level || switch_of(topo, i) >= 0)
			continue;
		four += !addr || strncmp(addr, "fd", 2);
		six += !addr || !strncmp(addr, "fd", 2);
	}
	ret = ina_jobs_plan(topo, plan, &new, &jobs, &err);
	ktap_must(PLANNED, ret == (new.hosts > (four > six ? four : six) ? -ENOSPC : 0) &&
		  (ret || plan->n_jobs == before->n_jobs + (new.hosts > 0)));
	if (!ret) {
		check_jobs(topo, before, plan, &jobs);
		check_machines(topo, before, plan, id);
		check_again(topo, plan);
	}
	free(jobs.trees);
	ina_plan_destroy(before);
}

static void test_events(void)
{
	for (int f = 0; f < FABRICS; f++) {
		struct ina_plan *plan = calloc(1, sizeof(*plan));
		struct ina_topo *topo = fabric();

		count_steps(topo);
		for (uint32_t e = 0; e < EVENTS; e++) {
			if (plan->n_jobs && !draw(3))
				leave(plan, draw(plan->n_jobs));
			if (!draw(3))
				add_foreign(topo, plan, 1000 + e, !draw(3));
			event(topo, plan, e);
			check_occupied(topo, plan);
		}
		ina_plan_destroy(plan);
		ina_topo_destroy(topo);
	}
	ktap_properties(texts, PROPERTIES);
	ktap_ok(n_kind[0] && n_kind[1] && n_kind[2] && n_fixed && n_moved && n_families == 7,
		"%d own trees, %d that do not fit, %d not possible, %d not ours, %d moved",
		n_kind[INA_FOREST_OWN], n_kind[INA_FOREST_SHARED], n_kind[INA_FOREST_NONE], n_fixed,
		n_moved);
}

int main(void)
{
	ktap_start();
	test_events();
	return ktap_end();
}
