// SPDX-License-Identifier: GPL-2.0
/*
 * The steps from one plan to another, done on a model of the machines that obeys the words of
 * inaconf as the kernel does. After every command: no epoch could open without a worker that
 * stays, nobody is counted by two parents, no machine aggregates for more jobs than before or
 * after. Thousands of pairs of plans; every step fails once in every way.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "plans.h"
#include "steps.h"

#define HOSTS	11
#define JOBS	3
#define PATHS	8	/* to a neighbour, as many as the kernel takes */
#define PAIRS	2000
#define THOROUGH	4	/* every fourth pair fails in all ways at each step */

enum failure {
	FAIL_BEFORE,	/* refused, nothing done */
	FAIL_AFTER,	/* done, but nobody heard so */
	FAIL_HALF,	/* the first one or two of its commands done */
	FAIL_STOP,	/* a signal: no step fails */
	FAIL_DEAD,	/* the machine does not answer any more */
	FAILURES,
};

/**
 * struct model - machines that do what they are told
 * @now: what they have
 * @before: what they had
 * @goal: what they are to have
 * @joined: [job][parent][child]: the parent counts the child, as it has not heard otherwise
 * @bits: [job][host]: of the slots of the node, 0: as many as it needed at first
 * @at: steps done
 * @fail_at: the step that fails, -1 for none
 * @failure: in which way
 * @back: undoing what was done
 * @dead: machine that does not answer, -1 for none
 * @why: what went wrong first; empty: nothing
 */
struct model {
	struct ina_cluster *now;
	const struct ina_cluster *before;
	const struct ina_cluster *goal;
	bool joined[JOBS][HOSTS][HOSTS];
	uint32_t bits[JOBS][HOSTS];
	int at;
	int fail_at;
	enum failure failure;
	bool back;
	int dead;
	char why[256];
};

__attribute__((format(printf, 2, 3)))
static int model_blame(struct model *m, const char *format, ...)
{
	va_list ap;

	if (*m->why)
		return -EINVAL;
	va_start(ap, format);
	vsnprintf(m->why, sizeof(m->why), format, ap);
	va_end(ap);
	return -EINVAL;
}

static const struct ina_place nothing;
static struct ina_addr addresses[HOSTS];

static int host_of(const char *addr)
{
	return atoi(addr + strlen("10.0.0.")) - 1;
}

/* Who is summed at @host: false if somebody is missing. */
static bool model_members(const struct model *m, int job, int host, bool *members)
{
	const struct ina_place *place = ina_cluster_place(m->now, job, host);

	for (int i = 0; i < place->n_children; i++) {
		int child = host_of(place->children[i].text);
		const struct ina_place *below = ina_cluster_place(m->now, job, child);

		if (!below->tree || !ina_addr_equal(&below->parent, &place->local) ||
		    strcmp(below->options, place->options) ||
		    !model_members(m, job, child, members))
			return false;
	}
	members[host] = true;
	return true;
}

static bool stays(const struct model *m, int job, int host)
{
	const struct ina_place *a = ina_cluster_place(m->before, job, host);
	const struct ina_place *b = ina_cluster_place(m->goal, job, host);

	return a->tree && b->tree && a->workers && b->workers && !strcmp(a->options, b->options);
}

/* No root is complete without a worker that stays; no two roots are. */
static void model_check_epoch(struct model *m, int job)
{
	int open = 0;

	for (int h = 0; h < HOSTS; h++) {
		bool members[HOSTS] = { false };

		if (!ina_place_is_root(ina_cluster_place(m->now, job, h)) ||
		    !model_members(m, job, h, members))
			continue;
		if (open++)
			model_blame(m, "two epochs");
		for (int w = 0; w < HOSTS; w++) {
			if (stays(m, job, w) && !members[w])
				model_blame(m, "an epoch without host %d", w);
		}
	}
}

/*
 * A parent forgets a child only by being told: the child's farewell may be lost. On the way back
 * it is heard.
 */
static void model_check_owners(struct model *m, int job)
{
	for (int c = 0; c < HOSTS; c++) {
		const struct ina_place *child = ina_cluster_place(m->now, job, c);
		int owners = 0;

		for (int p = 0; p < HOSTS; p++) {
			const struct ina_place *parent = ina_cluster_place(m->now, job, p);
			bool lists = parent->tree && ina_place_has_child(parent, &addresses[c]);
			bool names = child->tree && ina_addr_equal(&child->parent, &parent->local);

			if (!lists || (m->back && !names))
				m->joined[job][p][c] = false;
			else if (names)
				m->joined[job][p][c] = true;
			owners += m->joined[job][p][c];
		}
		if (owners > 1)
			model_blame(m, "host %d has %d owners", c, owners);
	}
}

static int aggregated(const struct ina_cluster *cluster, int host)
{
	int n = 0;

	for (int j = 0; j < cluster->n_jobs; j++)
		n += ina_place_aggregates(ina_cluster_place(cluster, j, host));
	return n;
}

/* What may have become wrong with a change of @job on @host. */
static void model_check(struct model *m, int job, int host)
{
	int n = aggregated(m->now, host);

	model_check_epoch(m, job);
	model_check_owners(m, job);
	if (n > aggregated(m->before, host) && n > aggregated(m->goal, host))
		model_blame(m, "host %d aggregates for %d jobs at once", host, n);
}

/* The words behind "tree set job ID" into @to. */
static void model_parse_tree(char *words, struct ina_place *to)
{
	char *rest = NULL, *key;

	to->tree = true;
	for (key = strtok_r(words, " ", &rest); key; key = strtok_r(NULL, " ", &rest)) {
		const char *value = strtok_r(NULL, " ", &rest);
		struct ina_addr addr = { "" };

		snprintf(addr.text, sizeof(addr.text), "%s", value);
		if (!strcmp(key, "local"))
			to->local = addr;
		else if (!strcmp(key, "parent"))
			to->parent = addr;
		else if (!strcmp(key, "workers"))
			to->workers = (uint32_t)atoi(value);
		else if (strcmp(key, "child") || ina_place_add_child(to, &addr))
			abort();
	}
}

/* What the kernel refuses. */
static const char *model_refusal(const struct ina_place *from, const struct ina_place *to)
{
	if (!from->options)
		return "no such job";
	if (!to->n_children && !to->workers)
		return "sums nothing";
	if (ina_place_has_child(to, &to->parent) || ina_place_has_child(to, &to->local) ||
	    ina_addr_equal(&to->local, &to->parent))
		return "a cycle";
	for (int i = 0; i < to->n_children; i++) {
		for (int k = 0; k < i; k++) {
			if (ina_addr_equal(&to->children[i], &to->children[k]))
				return "a child twice";
		}
	}
	if (from->tree && from->attached &&
	    (ina_place_is_root(from) != ina_place_is_root(to) || from->workers != to->workers ||
	     !ina_addr_equal(&from->local, &to->local)))
		return "workers are attached";
	return NULL;
}

/* The paths to @peer that @place has, or the one that everybody has; into @to. */
static void paths_take(struct ina_place *to, const struct ina_place *place,
		       const struct ina_addr *peer)
{
	struct ina_path implied = { .peer = *peer };
	int n = to->n_paths;

	for (int i = 0; place && i < place->n_paths; i++) {
		if (ina_addr_equal(&place->paths[i].peer, peer) &&
		    ina_place_add_path(to, &place->paths[i]))
			abort();
	}
	if (to->n_paths == n && ina_place_add_path(to, &implied))
		abort();
}

/* Bytes of bits per contributor that slots have: whole cache lines. */
static uint32_t slot_bits(const struct ina_place *place)
{
	return ((uint32_t)place->n_children + place->workers + 511) / 512 * 64;
}

/* Does the kernel make a new node? @bits: of the slots of the one there is. */
static bool model_replaces(const struct ina_place *from, const struct ina_place *to, uint32_t bits)
{
	return !from->tree || !*from->parent.text != !*to->parent.text ||
	       from->workers != to->workers || !ina_addr_equal(&from->local, &to->local) ||
	       slot_bits(to) > bits;
}

/* Paths as the kernel keeps them: those to a neighbour that stays what it is. */
static void model_keep_paths(struct ina_place *to, const struct ina_place *from)
{
	if (*to->parent.text)
		paths_take(to, from->tree && ina_addr_equal(&from->parent, &to->parent) ?
			       from : NULL,
			   &to->parent);
	for (int i = 0; i < to->n_children; i++)
		paths_take(to, ina_place_has_child(from, &to->children[i]) ? from : NULL,
			   &to->children[i]);
	memcpy(to->tuning, from->tuning, sizeof(to->tuning));
}

static int model_tree_set(struct model *m, struct ina_place *place, uint32_t *bits, char *words)
{
	struct ina_place to = { .attached = place->attached };
	const char *refusal;

	model_parse_tree(words, &to);
	refusal = model_refusal(place, &to);
	if (refusal) {
		ina_place_clear(&to);
		return model_blame(m, "tree set refused: %s", refusal);
	}
	to.options = place->options;
	if (!*bits)
		*bits = slot_bits(place);
	if (model_replaces(place, &to, *bits)) {
		model_keep_paths(&to, &nothing);
		*bits = slot_bits(&to);
	} else {
		model_keep_paths(&to, place);
	}
	free(place->children);
	free(place->paths);
	*place = to;
	return 0;
}

/* Where the @n-th path to @peer is, from 0; as model and kernel, what is deleted leaves a gap. */
static int model_path_find(const struct ina_place *place, const struct ina_addr *peer, int n)
{
	for (int i = 0; i < place->n_paths; i++) {
		if (ina_addr_equal(&place->paths[i].peer, peer) && !n--)
			return i;
	}
	return -1;
}

static int model_path_add(struct model *m, struct ina_place *place, const struct ina_path *path)
{
	int n = 0;

	for (int i = 0; i < place->n_paths; i++) {
		struct ina_path other = place->paths[i];

		other.weight = path->weight;
		if (ina_path_equal(&other, path))
			return model_blame(m, "path add refused: there is such a path");
		n += ina_addr_equal(&other.peer, &path->peer);
	}
	if (n >= PATHS)
		return model_blame(m, "path add refused: there are %d already", n);
	return ina_place_add_path(place, path);
}

/* The words behind "path". Only the first path is ever set or deleted. */
static int model_path(struct model *m, struct ina_place *place, char *words)
{
	char *rest = NULL, *what = strtok_r(words, " ", &rest), *key;
	struct ina_path path = { .weight = 0 };
	int at;

	while ((key = strtok_r(NULL, " ", &rest))) {
		const char *value = strtok_r(NULL, " ", &rest);

		if (!strcmp(key, "peer"))
			snprintf(path.peer.text, sizeof(path.peer.text), "%s", value);
		else if (!strcmp(key, "dev"))
			snprintf(path.dev, sizeof(path.dev), "%s", value);
		else if (!strcmp(key, "sport"))
			path.sport = (unsigned int)atoi(value);
		else if (!strcmp(key, "weight"))
			path.weight = (uint32_t)atoi(value);
		else if (!strcmp(key, "chunk"))
			snprintf(place->tuning, sizeof(place->tuning), "chunk %s", value);
		else if (strcmp(key, "job") && (strcmp(key, "id") || strcmp(value, "0")))
			return model_blame(m, "no words of inaconf path: %s %s", key, value);
	}
	if (!*path.peer.text)
		return strcmp(what, "set") || !*place->tuning ? model_blame(m, "no peer") : 0;
	at = model_path_find(place, &path.peer, 0);
	if (at < 0)
		return model_blame(m, "path %s refused: %s is no neighbour", what, path.peer.text);
	if (!strcmp(what, "add"))
		return model_path_add(m, place, &path);
	if (!strcmp(what, "set")) {
		place->paths[at].weight = path.weight;
		return 0;
	}
	if (model_path_find(place, &path.peer, 1) < 0)
		return model_blame(m, "path del refused: the last one");
	place->n_paths--;
	memmove(&place->paths[at], &place->paths[at + 1],
		(size_t)(place->n_paths - at) * sizeof(*place->paths));
	return 0;
}

static int model_command(struct model *m, int job, int host, char *command)
{
	struct ina_place *place = ina_cluster_place(m->now, job, host);
	int skip = 0, ret = 0;

	if (!strncmp(command, "job del id ", 11)) {
		if (!place->options || place->attached)
			return model_blame(m, "job del refused");
		m->bits[job][host] = 0;
		ina_place_clear(place);
	} else if (sscanf(command, "job add id %*u %n", &skip) == 0 && skip) {
		if (place->options)
			return model_blame(m, "job add refused");
		place->options = strdup(command + skip);
	} else if (sscanf(command, "tree set job %*u %n", &skip) == 0 && skip) {
		ret = model_tree_set(m, place, &m->bits[job][host], command + skip);
	} else if (!strncmp(command, "path ", 5)) {
		ret = model_path(m, place, command + 5);
	} else {
		return model_blame(m, "no words of inaconf: %s", command);
	}
	model_check(m, job, host);
	return ret;
}

/* Do the first @most commands of a step. */
static int model_do(struct model *m, const struct ina_step *step, int most)
{
	struct ina_commands commands;
	int ret = ina_place_commands(m->now->jobs[step->job], &step->from, &step->to, &commands);

	if (ret || (!commands.n && !ina_place_equal(&step->from, &step->to)))
		return model_blame(m, "a step without commands");
	for (int i = 0; !ret && i < commands.n && i < most; i++)
		ret = model_command(m, step->job, step->host, commands.words[i]);
	ina_commands_clear(&commands);
	return ret;
}

static int model_change(void *ctx, const struct ina_step *step, bool undo)
{
	struct model *m = ctx;
	/* Of a step that changes paths only, too, one command may fail. */
	bool paths = ina_place_equal(&step->from, &step->to);
	bool fails = !undo && (paths ? !ktap_below(4) && m->at == m->fail_at + 1 :
				       m->at++ == m->fail_at) && m->failure != FAIL_STOP;

	m->back = undo;
	if (fails && m->failure == FAIL_DEAD)
		m->dead = step->host;
	if (step->host == m->dead)
		return -ETIMEDOUT;
	if (!fails)
		return model_do(m, step, INT_MAX);
	if (m->failure != FAIL_BEFORE)
		model_do(m, step, m->failure == FAIL_AFTER ? INT_MAX : 1 + (int)ktap_below(2));
	return -EIO;
}

static int model_look(void *ctx, int job, int host, struct ina_place *place)
{
	struct model *m = ctx;

	if (host == m->dead)
		return -ETIMEDOUT;
	return ina_place_copy(place, ina_cluster_place(m->now, job, host));
}

static bool model_stop(void *ctx)
{
	const struct model *m = ctx;

	return m->failure == FAIL_STOP && m->at == m->fail_at;
}

static const struct ina_run_ops model_ops = { model_change, model_look, model_stop };

/* Has @a the paths that @wanted has to its neighbours, in whatever order? */
static bool same_paths(const struct ina_place *a, const struct ina_place *wanted)
{
	struct ina_place b = { 0 };
	bool found = true;

	if (strcmp(a->tuning, wanted->tuning))
		return false;
	/* Most have not been touched. */
	for (int i = 0; found && i < a->n_paths; i++)
		found = a->n_paths == wanted->n_paths &&
			ina_path_equal(&a->paths[i], &wanted->paths[i]);
	if (found && a->n_paths == wanted->n_paths)
		return true;
	found = true;
	if (*wanted->parent.text)
		paths_take(&b, wanted, &wanted->parent);
	for (int i = 0; i < wanted->n_children; i++)
		paths_take(&b, wanted, &wanted->children[i]);
	for (int i = 0; found && i < b.n_paths; i++) {
		found = false;
		for (int k = 0; k < a->n_paths; k++)
			found |= ina_path_equal(&a->paths[k], &b.paths[i]);
	}
	found &= a->n_paths == b.n_paths;
	ina_place_clear(&b);
	return found;
}

static bool same(const struct ina_cluster *a, const struct ina_cluster *b, int except)
{
	for (int i = 0; i < a->n_jobs * HOSTS; i++) {
		if (i % HOSTS != except && (!ina_place_equal(&a->places[i], &b->places[i]) ||
					    !same_paths(&a->places[i], &b->places[i])))
			return false;
	}
	return true;
}

/* One run of all steps, of which one may fail; how it ended, in words. */
static const char *run(struct model *m, const struct ina_steps *steps)
{
	int ret;

	m->now = ina_cluster_copy(m->before);
	memset(m->joined, 0, sizeof(m->joined));
	memset(m->bits, 0, sizeof(m->bits));
	m->at = 0;
	m->back = false;
	m->dead = -1;
	for (int j = 0; j < m->now->n_jobs; j++)
		model_check(m, j, 0);
	ret = ina_steps_run(steps, &model_ops, m);
	if (!*m->why && m->fail_at < 0 && (ret || !same(m->now, m->goal, -1)))
		model_blame(m, "the goal was not reached: %d", ret);
	if (!*m->why && m->fail_at >= 0 && !same(m->now, m->before, m->dead))
		model_blame(m, "not all is as before");
	if (!*m->why && m->fail_at >= 0 &&
	    ret != (m->failure == FAIL_DEAD ? -ENOTRECOVERABLE : -ECANCELED))
		model_blame(m, "wrong result %d", ret);
	ina_cluster_destroy(m->now);
	return *m->why ? m->why : NULL;
}

static void show(const struct ina_cluster *now, const struct ina_steps *steps, const char *why)
{
	struct ina_commands commands;

	for (int i = 0; i < now->n_jobs * HOSTS + steps->n; i++) {
		int k = i - now->n_jobs * HOSTS;
		int job = k < 0 ? i / HOSTS : steps->steps[k].job;
		const struct ina_place *from = k < 0 ? &nothing : &steps->steps[k].from;
		const struct ina_place *to = k < 0 ? &now->places[i] : &steps->steps[k].to;

		if (ina_place_commands(now->jobs[job], from, to, &commands))
			abort();
		for (int c = 0; c < commands.n; c++)
			printf("# %s h%d: %s\n",
			       k < 0 ? "had" : ina_phase_words[steps->steps[k].phase],
			       k < 0 ? i % HOSTS : steps->steps[k].host, commands.words[c]);
		ina_commands_clear(&commands);
	}
	printf("# %s\n", why);
}

/* Without failure, and with every failure of every step, or one each. */
static const char *run_all(const struct ina_cluster *before, const struct ina_cluster *goal,
			   bool thorough, long *runs)
{
	static struct model m;
	struct ina_steps steps;
	const char *why;

	memset(&m, 0, sizeof(m));
	m.before = before;
	m.goal = goal;
	m.fail_at = -1;
	if (ina_steps_plan(before, goal, &steps))
		abort();
	why = run(&m, &steps);
	for (int i = 0; !why && i < steps.n * FAILURES; i++) {
		m.fail_at = i / FAILURES;
		m.failure = i % FAILURES;
		if (!thorough && ktap_below(FAILURES))
			continue;
		/* A machine that dies leaves others waiting: only what they have is looked at. */
		why = run(&m, &steps);
		if (why && m.failure == FAIL_DEAD && strstr(why, "epoch"))
			why = NULL, *m.why = 0;
		++*runs;
	}
	if (why) {
		show(before, &steps, why);
		printf("# at step %d of %d, failure %d at %d\n", m.at, steps.n, m.failure,
		       m.fail_at);
	}
	ina_steps_clear(&steps);
	return why;
}

static char *printed(const char *format, int n)
{
	char *copy;

	if (asprintf(&copy, format, n) < 0)
		abort();
	return copy;
}

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

/* What is configured once @plan has been applied. */
static struct ina_cluster *applied(const struct ina_cluster *hosts, const struct ina_plan *plan)
{
	struct ina_cluster *now = ina_cluster_goal(hosts, plan, false);

	for (int i = 0; now && i < now->n_jobs * HOSTS; i++) {
		struct ina_place *place = &now->places[i];

		place->attached = place->workers;
		if (place->tree)
			model_keep_paths(place, &nothing);
	}
	return now;
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

static struct ina_cluster *hosts_of(const struct ina_plan *a, const struct ina_plan *b)
{
	struct ina_cluster *hosts = calloc(1, sizeof(*hosts));

	hosts->hosts = calloc(HOSTS, sizeof(*hosts->hosts));
	hosts->n_hosts = HOSTS;
	for (int h = 0; h < HOSTS; h++) {
		hosts->hosts[h].name = printed("h%d", h);
		hosts->hosts[h].where = printed("h%d", h);
	}
	for (int j = 0; j < a->n_jobs + b->n_jobs; j++)
		ina_cluster_job(hosts, j < a->n_jobs ? a->jobs[j].id : b->jobs[j - a->n_jobs].id);
	return hosts;
}

/* Workers end where they would be in the way, as the check says. */
static int detach(struct ina_cluster *now, const struct ina_cluster *goal)
{
	struct ina_doc_error err;
	int refused = 0;

	while (ina_steps_check(now, goal, &err)) {
		int job, host;

		if (sscanf(err.text, "job %d: workers are attached on h%d,", &job, &host) != 2)
			abort();
		ina_cluster_place(now, job - 7, host)->attached = 0;
		refused++;
	}
	return refused;
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
	if (!why && (ina_steps_plan(goal, again, &steps) || steps.n))
		why = "the same plan again has steps";
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

#define JOB(id, tree)	"- {id: " #id ", options: {capacity: 10}, tree: [" tree "]}\n"
#define NODE(h, ip, rest)	"{host: h" #h ", addr: 10.0.0." #ip ", " rest "}, "

/* The steps from @a to @b as text, one line each: job, host and the last command. */
static bool steps_are(const char *a, const char *b, bool prune, const char *wanted)
{
	struct ina_plan *first = plan_of(a), *second = plan_of(b);
	struct ina_cluster *hosts = hosts_of(first, second), *now = applied(hosts, first);
	struct ina_cluster *goal = ina_cluster_goal(now, second, prune);
	char got[4096] = "";
	struct ina_commands commands;
	struct ina_steps steps;
	const char *why;
	long runs = 0;

	detach(now, goal);
	why = run_all(now, goal, true, &runs);
	if (ina_steps_plan(now, goal, &steps))
		abort();
	for (int i = 0; i < steps.n; i++) {
		const struct ina_step *s = &steps.steps[i];

		if (ina_place_commands(now->jobs[s->job], &s->from, &s->to, &commands))
			abort();
		for (int k = 0; k < commands.n; k++)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s h%d: %s\n",
				 ina_phase_words[s->phase], s->host, commands.words[k]);
		ina_commands_clear(&commands);
	}
	ina_steps_clear(&steps);
	ina_cluster_destroy(hosts);
	ina_cluster_destroy(now);
	ina_cluster_destroy(goal);
	ina_plan_destroy(first);
	ina_plan_destroy(second);
	if (!why && !strcmp(got, wanted))
		return true;
	printf("# %s\n# got:\n%s", why ? why : "other steps", got);
	return false;
}

static const char chain[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(1, 2, "parent: h0, workers: 1")
	NODE(2, 3, "parent: h1, workers: 1"));
static const char swapped[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(2, 3, "parent: h0, workers: 1")
	NODE(1, 2, "parent: h2, workers: 1"));
static const char aggregator[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(1, 2, "parent: h0")
	NODE(2, 3, "parent: h1, workers: 1") NODE(3, 4, "parent: h1, workers: 1"));
static const char contracted[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(1, 2, "parent: h0, workers: 0")
	NODE(2, 3, "parent: h0, workers: 1") NODE(3, 4, "parent: h0, workers: 1"));
static const char crossed[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(1, 2, "parent: h0")
	NODE(2, 3, "parent: h1, workers: 1")) JOB(8,
	NODE(3, 4, "workers: 0") NODE(4, 5, "parent: h3")
	NODE(5, 6, "parent: h4, workers: 1"));
static const char back[] = "jobs:\n" JOB(7,
	NODE(0, 1, "workers: 0") NODE(4, 5, "parent: h0")
	NODE(2, 3, "parent: h4, workers: 1")) JOB(8,
	NODE(3, 4, "workers: 0") NODE(1, 2, "parent: h3")
	NODE(5, 6, "parent: h1, workers: 1"));
static const char pair[] = "jobs:\n" JOB(7, NODE(0, 1, "workers: 0")
	NODE(1, 2, "parent: h0, workers: 1") NODE(2, 3, "parent: h0, workers: 1"));
static const char joined[] = "jobs:\n" JOB(7, NODE(0, 1, "workers: 0")
	NODE(1, 2, "parent: h0, workers: 1") NODE(2, 3, "parent: h1, workers: 1")
	NODE(3, 4, "parent: h0, workers: 1"));
static const char under[] = "jobs:\n" JOB(7, NODE(4, 5, "workers: 0")
	NODE(0, 1, "parent: h4") NODE(1, 2, "parent: h0, workers: 1")
	NODE(2, 3, "parent: h1, workers: 1"));
static const char deeper[] = "jobs:\n"
	"- {id: 7, options: {capacity: 20}, tree: [" NODE(0, 1, "workers: 0")
	NODE(1, 2, "parent: h0, workers: 1") "]}";
static const char elsewhere[] = "jobs:\n" JOB(9, NODE(6, 7, "workers: 1"));

static const struct {
	const char *from, *to;
	bool prune;
	const char *steps, *text;
} named[] = {
	{ chain, chain, false,
	  "",
	  "the same plan has no steps" },
	{ chain, swapped, false,
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.3 workers 0\n"
	  "move h1: tree set job 7 local 10.0.0.2 parent 10.0.0.3 workers 1\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.1 child 10.0.0.2 workers 1\n",
	  "parent and child change places" },
	{ aggregator, contracted, false,
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.3 child 10.0.0.4 workers 0\n"
	  "end h1: job del id 7\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.1 workers 1\n"
	  "move h3: tree set job 7 local 10.0.0.4 parent 10.0.0.1 workers 1\n",
	  "children go to the root, and who has nobody left ends its part" },
	{ contracted, aggregator, false,
	  "create h1: job add id 7 capacity 10\n"
	  "create h1: tree set job 7 local 10.0.0.2 parent 10.0.0.1 child 10.0.0.3 child 10.0.0.4 "
	  "workers 0\n"
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.2 workers 0\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.2 workers 1\n"
	  "move h3: tree set job 7 local 10.0.0.4 parent 10.0.0.2 workers 1\n",
	  "and back" },
	{ crossed, back, false,
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.3 workers 0\n"
	  "end h1: job del id 7\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.1 workers 1\n"
	  "create h1: job add id 8 capacity 10\n"
	  "create h1: tree set job 8 local 10.0.0.2 parent 10.0.0.4 child 10.0.0.6 workers 0\n"
	  "expect h3: tree set job 8 local 10.0.0.4 child 10.0.0.2 workers 0\n"
	  "end h4: job del id 8\n"
	  "move h5: tree set job 8 local 10.0.0.6 parent 10.0.0.2 workers 1\n"
	  "create h4: job add id 7 capacity 10\n"
	  "create h4: tree set job 7 local 10.0.0.5 parent 10.0.0.1 child 10.0.0.3 workers 0\n"
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.5 workers 0\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.5 workers 1\n",
	  "two jobs exchange their aggregators: the first steps aside" },
	{ pair, joined, false,
	  "create h3: job add id 7 capacity 10\n"
	  "create h3: tree set job 7 local 10.0.0.4 parent 10.0.0.1 workers 1\n"
	  "expect h0: tree set job 7 local 10.0.0.1 child 10.0.0.2 child 10.0.0.4 child 10.0.0.3 "
	  "workers 0\n"
	  "expect h1: tree set job 7 local 10.0.0.2 parent 10.0.0.1 child 10.0.0.3 workers 1\n"
	  "release h0: tree set job 7 local 10.0.0.1 child 10.0.0.2 child 10.0.0.4 workers 0\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.2 workers 1\n",
	  "a worker that comes does not make up for one that moves" },
	{ pair, under, false,
	  "create h4: job add id 7 capacity 10\n"
	  "create h4: tree set job 7 local 10.0.0.5 child 10.0.0.1 workers 0\n"
	  "expect h1: tree set job 7 local 10.0.0.2 parent 10.0.0.1 child 10.0.0.3 workers 1\n"
	  "abdicate h0: tree set job 7 local 10.0.0.1 parent 10.0.0.5 child 10.0.0.2 workers 0\n"
	  "move h2: tree set job 7 local 10.0.0.3 parent 10.0.0.2 workers 1\n",
	  "another root, under which nobody is forgotten" },
	{ chain, deeper, false,
	  "abdicate h0: job del id 7\n"
	  "end h1: job del id 7\n"
	  "end h2: job del id 7\n"
	  "create h0: job add id 7 capacity 20\n"
	  "create h0: tree set job 7 local 10.0.0.1 child 10.0.0.2 workers 0\n"
	  "create h1: job add id 7 capacity 20\n"
	  "create h1: tree set job 7 local 10.0.0.2 parent 10.0.0.1 workers 1\n",
	  "other settings: the job ends everywhere before it begins again" },
	{ chain, elsewhere, false,
	  "create h6: job add id 9 capacity 10\n"
	  "create h6: tree set job 9 local 10.0.0.7 workers 1\n",
	  "a job that is not in the plan is left alone" },
	{ chain, elsewhere, true,
	  "abdicate h0: job del id 7\n"
	  "end h1: job del id 7\n"
	  "end h2: job del id 7\n"
	  "create h6: job add id 9 capacity 10\n"
	  "create h6: tree set job 9 local 10.0.0.7 workers 1\n",
	  "unless it is to be pruned" },
};

static void test_named(void)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		ktap_ok(steps_are(named[i].from, named[i].to, named[i].prune, named[i].steps), "%s",
			named[i].text);
}

/* What a job has, in the words of `job show`, does for what a plan says in its own. */
static void test_settings(void)
{
	static const struct {
		const char *words;
		bool same;
	} cases[] = {
		{ "capacity 1000", true }, { "capacity 1k", true }, { "capacity 0x3e8", true },
		{ "capacity 1k fragment auto depth 2", true }, { "capacity 1k fragment 0", true },
		{ "capacity 1k dtype fp32", true }, { "capacity 1k dtype int32", false },
		{ "capacity 1Ki", false }, { "capacity 1k depth 3", false },
		{ "capacity 1k fragment 128", false }, { "capacity 1k exponent 3", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char yaml[256];
		struct ina_plan *plan;
		struct ina_cluster *hosts, *now, *goal;
		struct ina_steps steps;

		snprintf(yaml, sizeof(yaml), "jobs: [{id: 7, options: %s, tree: [{host: h0, "
			 "addr: 10.0.0.1, workers: 1}]}]", cases[i].words);
		plan = plan_of(yaml);
		hosts = hosts_of(plan, plan);
		now = applied(hosts, plan);
		free(now->places[0].options);
		now->places[0].options = strdup("capacity 1000 dtype fp32 fragment 256 depth 2");
		goal = ina_cluster_goal(now, plan, false);
		if (ina_steps_plan(now, goal, &steps))
			abort();
		ktap_ok(!steps.n == cases[i].same, "%s %s", cases[i].words,
			cases[i].same ? "is there" : "is something else");
		ina_steps_clear(&steps);
		ina_plan_destroy(plan);
		ina_cluster_destroy(hosts);
		ina_cluster_destroy(now);
		ina_cluster_destroy(goal);
	}
}

/* What is configured may be nonsense: machines that are each other's parents. */
static void test_nonsense(void)
{
	struct ina_plan *plan = plan_of("jobs:\n" JOB(7, NODE(0, 1, "workers: 0")
		NODE(1, 2, "parent: h0") NODE(2, 3, "parent: h1")
		NODE(3, 4, "parent: h2, workers: 1")
		NODE(4, 5, "parent: h3, workers: 1")));
	struct ina_cluster *hosts = hosts_of(plan, plan), *now = applied(hosts, plan);
	struct ina_cluster *goal = ina_cluster_goal(now, plan, false);
	struct ina_steps steps;

	for (int h = 0; h < 4; h++) {
		struct ina_place *place = ina_cluster_place(now, 0, h);

		place->parent = addresses[(h + 3) % 4];
		place->n_children = 0;
		if (ina_place_add_child(place, &addresses[(h + 1) % 4]))
			abort();
	}
	for (int h = 0; h < 4; h++)
		ina_cluster_place(now, 0, h)->attached = 0;
	ktap_ok(!ina_steps_plan(now, goal, &steps) && steps.n, "a ring becomes a tree");
	ina_steps_clear(&steps);
	ina_plan_destroy(plan);
	ina_cluster_destroy(hosts);
	ina_cluster_destroy(now);
	ina_cluster_destroy(goal);
}

int main(void)
{
	ktap_start();
	for (int h = 0; h < HOSTS; h++)
		snprintf(addresses[h].text, sizeof(addresses[h].text), "10.0.0.%d", h + 1);
	test_named();
	test_settings();
	test_nonsense();
	test_random();
	return ktap_end();
}
