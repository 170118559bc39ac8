/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the machines that obeys the words of inaconf as the kernel does, and steps from one
 * plan to another done on it. After every command: no epoch could open without a worker that
 * stays, nobody is counted by two parents, no machine aggregates for more jobs than before or
 * after.
 */
#ifndef INA_SELFTESTS_PLAN_MACHINES_H
#define INA_SELFTESTS_PLAN_MACHINES_H

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "plans.h"
#include "steps.h"

#define HOSTS	11
#define JOBS	3
#define PATHS	8	/* to a neighbour, as many as the kernel takes */

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
 * A parent forgets a child only by being told: the child's farewell may be lost. One that is dead
 * cannot be told.
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

			if (!lists)
				m->joined[job][p][c] = false;
			else if (names)
				m->joined[job][p][c] = true;
			owners += m->joined[job][p][c] && p != m->dead;
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
	bool paths = step->phase != INA_PHASE_HOLD &&
		     ina_place_equal(&step->from, &step->to);
	bool fails = !undo && (paths ? !ktap_below(4) && m->at == m->fail_at + 1 :
				       m->at++ == m->fail_at) && m->failure != FAIL_STOP;

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
	m->dead = -1;
	for (int j = 0; j < m->now->n_jobs; j++)
		model_check(m, j, 0);
	ret = ina_steps_run(m->before, steps, &model_ops, m);
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

/* Once, before anything else. */
static void machines_start(void)
{
	for (int h = 0; h < HOSTS; h++)
		snprintf(addresses[h].text, sizeof(addresses[h].text), "10.0.0.%d", h + 1);
}

#endif
