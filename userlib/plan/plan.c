// SPDX-License-Identifier: GPL-2.0
/*
 * Plans from files: every mistake is named by its line. What is read is a tree; whether it can
 * be applied is for others to say.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#define PLAN_WORKERS_MAX	64	/* what a node takes */

/* Words of `inaconf job add`. */
const char *const ina_plan_options[] = {
	"capacity", "dtype", "exponent", "fragment", "depth", "group", "deadline", "on-loss",
	"encap", "port", NULL
};

#define PLAN_OPTIONS	(sizeof(ina_plan_options) / sizeof(ina_plan_options[0]) - 1)

/**
 * struct plan_name - a machine of a job by name, to look it up
 * @name: of the machine
 * @node: its index
 */
struct plan_name {
	const char *name;
	int node;
};

static void plan_node_free(struct ina_plan_node *node)
{
	free(node->host);
	free(node->where);
	free(node->addr);
}

void ina_plan_job_clear(struct ina_plan_job *job)
{
	for (int i = 0; job->options && job->options[i]; i++)
		free(job->options[i]);
	for (int i = 0; i < job->n_nodes; i++)
		plan_node_free(&job->nodes[i]);
	free(job->options);
	free(job->nodes);
}

void ina_plan_destroy(struct ina_plan *plan)
{
	if (!plan)
		return;
	for (int i = 0; i < plan->n_jobs; i++)
		ina_plan_job_clear(&plan->jobs[i]);
	free(plan->jobs);
	free(plan);
}

static int plan_fail_memory(struct ina_doc_error *err)
{
	snprintf(err->text, sizeof(err->text), "out of memory");
	return -ENOMEM;
}

static int plan_copy(char **copy, const char *text, struct ina_doc_error *err)
{
	*copy = strdup(text);
	return *copy ? 0 : plan_fail_memory(err);
}

/* A copy of the text of @key in @map, which may be absent. */
static int plan_text(const struct ina_doc_value *map, const char *key, char **copy,
		     struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, key);
	const char *text;
	int ret;

	if (!value)
		return 0;
	ret = ina_doc_string(value, &text, err);
	return ret ? ret : plan_copy(copy, text, err);
}

/* The value of @key, which must be there. */
static const struct ina_doc_value *plan_need(const struct ina_doc_value *map, const char *key,
					     struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, key);

	if (!value)
		ina_doc_fail(map, err, "%s is required", key);
	return value;
}

static int plan_option_find(const char *word)
{
	for (size_t i = 0; i < PLAN_OPTIONS; i++) {
		if (!strcmp(ina_plan_options[i], word))
			return (int)i;
	}
	return -1;
}

/* Append a keyword and its value to the options of @job, which have room. */
static int plan_option_add(struct ina_plan_job *job, const char *key, const char *value,
			   struct ina_doc_error *err)
{
	int n = 0;

	while (job->options[n])
		n++;
	if (plan_copy(&job->options[n], key, err))
		return -ENOMEM;
	return plan_copy(&job->options[n + 1], value, err);
}

static int plan_options_map(const struct ina_doc_value *map, struct ina_plan_job *job,
			    struct ina_doc_error *err)
{
	int ret = ina_doc_only(map, ina_plan_options, err);

	for (size_t i = 0; !ret && i < PLAN_OPTIONS; i++) {
		const struct ina_doc_value *value = ina_doc_get(map, ina_plan_options[i]);
		const char *text;

		if (!value)
			continue;
		ret = ina_doc_string(value, &text, err);
		if (!ret && strpbrk(text, " \t\n"))
			ret = ina_doc_fail(value, err, "must be one word");
		if (!ret)
			ret = plan_option_add(job, ina_plan_options[i], text, err);
	}
	return ret;
}

/* Options as one would type them: "capacity 1000 dtype fp32". */
static int plan_options_words(const struct ina_doc_value *value, const char *text,
			      struct ina_plan_job *job, struct ina_doc_error *err)
{
	char *copy = strdup(text), *rest = NULL, *key;
	unsigned int seen = 0;
	int ret = copy ? 0 : plan_fail_memory(err);

	for (key = copy ? strtok_r(copy, " \t\n", &rest) : NULL; !ret && key;
	     key = strtok_r(NULL, " \t\n", &rest)) {
		const char *word = strtok_r(NULL, " \t\n", &rest);
		int i = plan_option_find(key);

		if (i < 0)
			ret = ina_doc_fail(value, err, "unknown word \"%.40s\"; known: "
					   "capacity, dtype, exponent, fragment, depth, group, "
					   "deadline, on-loss, encap, port", key);
		else if (seen & 1U << i)
			ret = ina_doc_fail(value, err, "%s is given twice", key);
		else if (!word)
			ret = ina_doc_fail(value, err, "%s needs a value", key);
		else
			ret = plan_option_add(job, key, word, err);
		seen |= 1U << (i < 0 ? 0 : i);
	}
	free(copy);
	return ret;
}

static int plan_read_options(const struct ina_doc_value *map, struct ina_plan_job *job,
			     struct ina_doc_error *err)
{
	const struct ina_doc_value *value = plan_need(map, "options", err);
	struct ina_doc_error none;
	const char *text;
	int ret;

	if (!value)
		return -EINVAL;
	job->options = calloc(2 * PLAN_OPTIONS + 1, sizeof(*job->options));
	if (!job->options)
		return plan_fail_memory(err);
	if (!ina_doc_string(value, &text, &none))
		ret = plan_options_words(value, text, job, err);
	else
		ret = plan_options_map(value, job, err);
	if (!ret && !ina_plan_option(job->options, "capacity"))
		ret = ina_doc_fail(value, err, "capacity is required");
	return ret;
}

const char *ina_plan_option(char *const *options, const char *key)
{
	for (int i = 0; options && options[i] && options[i + 1]; i += 2) {
		if (!strcmp(options[i], key))
			return options[i + 1];
	}
	return NULL;
}

/* Addresses are kept as everybody writes them, so that equal ones have equal texts. */
static int plan_read_addr(const struct ina_doc_value *map, struct ina_plan_node *node,
			  struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(map, "addr");
	char text[INET6_ADDRSTRLEN];
	const char *word;
	int ret;

	if (!value)
		return 0;
	ret = ina_doc_string(value, &word, err);
	if (!ret && !ina_plan_addr(word, text))
		ret = ina_doc_fail(value, err, "\"%.40s\" is not an IPv4 or IPv6 address", word);
	return ret ? ret : plan_copy(&node->addr, text, err);
}

bool ina_plan_addr(const char *word, char text[INET6_ADDRSTRLEN])
{
	struct in6_addr addr;
	int family = strchr(word, ':') ? AF_INET6 : AF_INET;

	if (inet_pton(family, word, &addr) != 1)
		return false;
	if (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&addr))
		return inet_ntop(AF_INET, &addr.s6_addr[12], text, INET6_ADDRSTRLEN);
	return inet_ntop(family, &addr, text, INET6_ADDRSTRLEN);
}

int ina_plan_family(const char *addr)
{
	char text[INET6_ADDRSTRLEN];

	if (!addr || !ina_plan_addr(addr, text))
		return 0;
	return strchr(text, ':') ? 6 : 4;
}

bool ina_plan_one_family(const char *host, const char *addr, const char *other,
			 const char *other_addr, struct ina_doc_error *why)
{
	int family = ina_plan_family(addr), other_family = ina_plan_family(other_addr);
	char text[INET6_ADDRSTRLEN], other_text[INET6_ADDRSTRLEN];

	if (!family || !other_family || family == other_family)
		return true;
	if (why && ina_plan_addr(addr, text) && ina_plan_addr(other_addr, other_text))
		snprintf(why->text, sizeof(why->text),
			 "%.80s has an IPv%d address (%s), %.80s an IPv%d one (%s): "
			 "a tree has one family", host, family, text, other, other_family,
			 other_text);
	return false;
}

int ina_plan_misfit(const struct ina_plan_job *job, struct ina_doc_error *why)
{
	for (int i = 0; i < job->n_nodes; i++) {
		const struct ina_plan_node *node = &job->nodes[i];
		const struct ina_plan_node *up = &job->nodes[node->parent < 0 ? i : node->parent];

		if (!ina_plan_one_family(node->host, node->addr, up->host, up->addr, why))
			return i;
	}
	return -1;
}

static int plan_read_node(const struct ina_doc_value *map, struct ina_plan_node *node,
			  struct ina_doc_error *err)
{
	static const char *const known[] = { "host", "where", "addr", "parent", "workers", NULL };
	const struct ina_doc_value *workers;
	long number = 0;
	int ret = ina_doc_only(map, known, err);

	if (!ret && !plan_need(map, "host", err))
		return -EINVAL;
	if (!ret)
		ret = plan_text(map, "host", &node->host, err);
	if (!ret)
		ret = plan_text(map, "where", &node->where, err);
	if (!ret)
		ret = plan_read_addr(map, node, err);
	workers = ret ? NULL : ina_doc_get(map, "workers");
	if (workers)
		ret = ina_doc_int(workers, 0, PLAN_WORKERS_MAX, &number, err);
	node->workers = (uint32_t)number;
	return ret;
}

static int plan_name_compare(const void *a, const void *b)
{
	const struct plan_name *one = a, *other = b;
	int order = strcmp(one->name, other->name);

	return order ? order : one->node - other->node;
}

static int plan_name_match(const void *key, const void *entry)
{
	return strcmp(key, ((const struct plan_name *)entry)->name);
}

/* Sort the hosts of a job (its addresses if @addr); those there are none of are left out. */
static int plan_names_sort(const struct ina_plan_job *job, bool addr, struct plan_name *names)
{
	int n = 0;

	for (int i = 0; i < job->n_nodes; i++) {
		const char *name = addr ? job->nodes[i].addr : job->nodes[i].host;

		if (name)
			names[n++] = (struct plan_name){ name, i };
	}
	qsort(names, (size_t)n, sizeof(*names), plan_name_compare);
	return n;
}

static int plan_names_unique(const struct ina_doc_value *list, const struct plan_name *names,
			     int n, const char *what, struct ina_doc_error *err)
{
	for (int i = 1; i < n; i++) {
		if (!strcmp(names[i - 1].name, names[i].name))
			return ina_doc_fail(ina_doc_at(list, names[i].node), err,
					    "%s %.80s is in the tree twice", what, names[i].name);
	}
	return 0;
}

/* The parent of node @i by its name; the root has none. */
static int plan_read_parent(const struct ina_doc_value *list, struct ina_plan_job *job, int i,
			    const struct plan_name *names, struct ina_doc_error *err)
{
	const struct ina_doc_value *value = ina_doc_get(ina_doc_at(list, i), "parent");
	const struct plan_name *found;
	const char *name;
	int ret;

	job->nodes[i].parent = -1;
	if (!value)
		return 0;
	ret = ina_doc_string(value, &name, err);
	if (ret)
		return ret;
	found = bsearch(name, names, (size_t)job->n_nodes, sizeof(*names), plan_name_match);
	if (!found)
		return ina_doc_fail(value, err, "no host %.80s in this tree", name);
	job->nodes[i].parent = found->node;
	return 0;
}

/* Exactly one root. */
static int plan_check_root(const struct ina_doc_value *list, const struct ina_plan_job *job,
			   struct ina_doc_error *err)
{
	int root = -1;

	for (int i = 0; i < job->n_nodes; i++) {
		if (job->nodes[i].parent >= 0)
			continue;
		if (root >= 0)
			return ina_doc_fail(ina_doc_at(list, i), err,
					    "a second root: %.80s and %.80s have no parent",
					    job->nodes[root].host, job->nodes[i].host);
		root = i;
	}
	return root < 0 ? ina_doc_fail(list, err, "no root: a host without a parent") : 0;
}

/* Walk up from every node; @seen[i] is who came by last, or n_nodes once it leads to the root. */
static int plan_check_cycle(const struct ina_doc_value *list, const struct ina_plan_job *job,
			    int *seen, struct ina_doc_error *err)
{
	for (int i = 0; i < job->n_nodes; i++)
		seen[i] = -1;
	for (int i = 0; i < job->n_nodes; i++) {
		int at = i;

		for (; at >= 0 && seen[at] < 0; at = job->nodes[at].parent)
			seen[at] = i;
		if (at >= 0 && seen[at] == i)
			return ina_doc_fail(ina_doc_at(list, at), err,
					    "%.80s is above itself: a tree has no cycles",
					    job->nodes[at].host);
		for (at = i; at >= 0 && seen[at] == i; at = job->nodes[at].parent)
			seen[at] = job->n_nodes;
	}
	return 0;
}

/* Child and parent must reach each other. */
static int plan_check_families(const struct ina_doc_value *list, const struct ina_plan_job *job,
			       struct ina_doc_error *err)
{
	struct ina_doc_error why;
	int node = ina_plan_misfit(job, &why);

	return node < 0 ? 0 : ina_doc_fail(ina_doc_get(ina_doc_at(list, node), "addr"), err, "%s",
					   why.text);
}

/* A leaf says how many workers it has, lest one that was forgotten gives up the job. */
static int plan_check_leaves(const struct ina_doc_value *list, const struct ina_plan_job *job,
			     int *children, struct ina_doc_error *err)
{
	uint32_t workers = 0;

	memset(children, 0, (size_t)job->n_nodes * sizeof(*children));
	for (int i = 0; i < job->n_nodes; i++) {
		workers += job->nodes[i].workers;
		if (job->nodes[i].parent >= 0)
			children[job->nodes[i].parent]++;
	}
	for (int i = 0; i < job->n_nodes; i++) {
		if (!children[i] && !ina_doc_get(ina_doc_at(list, i), "workers"))
			return ina_doc_fail(ina_doc_at(list, i), err,
					    "%.80s has no children: workers is required, 0 to end its part",
					    job->nodes[i].host);
	}
	return workers ? 0 : ina_doc_fail(list, err, "a tree without workers");
}

static int plan_check_tree(const struct ina_doc_value *list, struct ina_plan_job *job,
			   struct plan_name *names, int *room, struct ina_doc_error *err)
{
	int n = plan_names_sort(job, true, names);
	int ret = plan_names_unique(list, names, n, "address", err);

	n = plan_names_sort(job, false, names);
	if (!ret)
		ret = plan_names_unique(list, names, n, "host", err);
	for (int i = 0; !ret && i < job->n_nodes; i++)
		ret = plan_read_parent(list, job, i, names, err);
	if (!ret)
		ret = plan_check_root(list, job, err);
	if (!ret)
		ret = plan_check_cycle(list, job, room, err);
	if (!ret)
		ret = plan_check_families(list, job, err);
	return ret ? ret : plan_check_leaves(list, job, room, err);
}

static int plan_read_tree(const struct ina_doc_value *map, struct ina_plan_job *job,
			  struct ina_doc_error *err)
{
	const struct ina_doc_value *list = plan_need(map, "tree", err);
	int n = list ? ina_doc_count(list, err) : -EINVAL;
	struct plan_name *names;
	int *room, ret = 0;

	if (n <= 0)
		return n ? n : ina_doc_fail(list, err, "a tree without hosts");
	job->nodes = calloc((size_t)n, sizeof(*job->nodes));
	names = calloc((size_t)n, sizeof(*names));
	room = calloc((size_t)n, sizeof(*room));
	if (!job->nodes || !names || !room)
		ret = plan_fail_memory(err);
	for (int i = 0; !ret && i < n; i++) {
		job->n_nodes++;
		ret = plan_read_node(ina_doc_at(list, i), &job->nodes[i], err);
	}
	if (!ret)
		ret = plan_check_tree(list, job, names, room, err);
	free(names);
	free(room);
	return ret;
}

static int plan_read_job(const struct ina_doc_value *map, struct ina_plan *plan, int at,
			 struct ina_doc_error *err)
{
	static const char *const known[] = { "id", "options", "tree", NULL };
	struct ina_plan_job *job = &plan->jobs[at];
	const struct ina_doc_value *value;
	int ret = ina_doc_only(map, known, err);
	long id;

	if (ret)
		return ret;
	value = plan_need(map, "id", err);
	ret = value ? ina_doc_int(value, 0, UINT32_MAX, &id, err) : -EINVAL;
	if (ret)
		return ret;
	job->id = (uint32_t)id;
	for (int i = 0; i < at; i++) {
		if (plan->jobs[i].id == job->id)
			return ina_doc_fail(value, err, "job %ld is there twice", id);
	}
	ret = plan_read_options(map, job, err);
	return ret ? ret : plan_read_tree(map, job, err);
}

static int plan_job_compare(const void *a, const void *b)
{
	const struct ina_plan_job *one = a, *other = b;

	return one->id < other->id ? -1 : one->id > other->id;
}

static int plan_read_jobs(const struct ina_doc_value *root, struct ina_plan *plan,
			  struct ina_doc_error *err)
{
	static const char *const known[] = { "jobs", NULL };
	const struct ina_doc_value *list;
	int n, ret = ina_doc_only(root, known, err);

	if (ret)
		return ret;
	list = plan_need(root, "jobs", err);
	n = list ? ina_doc_count(list, err) : -EINVAL;
	if (n < 0)
		return n;
	plan->jobs = calloc((size_t)n + 1, sizeof(*plan->jobs));
	if (!plan->jobs)
		return plan_fail_memory(err);
	for (int i = 0; !ret && i < n; i++) {
		plan->n_jobs++;
		ret = plan_read_job(ina_doc_at(list, i), plan, i, err);
	}
	qsort(plan->jobs, (size_t)plan->n_jobs, sizeof(*plan->jobs), plan_job_compare);
	return ret;
}

struct ina_plan *ina_plan_from(const struct ina_doc *doc, struct ina_doc_error *err)
{
	struct ina_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		plan_fail_memory(err);
	else if (!plan_read_jobs(ina_doc_root(doc), plan, err))
		return plan;
	ina_plan_destroy(plan);
	return NULL;
}

struct ina_plan *ina_plan_read(const char *path, struct ina_doc_error *err)
{
	struct ina_doc *doc = ina_doc_read(path, err);
	struct ina_plan *plan = doc ? ina_plan_from(doc, err) : NULL;

	ina_doc_destroy(doc);
	return plan;
}

void ina_plan_used(const struct ina_plan_job *job, bool *used)
{
	for (int i = 0; i < job->n_nodes; i++)
		used[i] = false;
	for (int i = 0; i < job->n_nodes; i++) {
		int at = job->nodes[i].workers ? i : -1;

		for (; at >= 0 && !used[at]; at = job->nodes[at].parent)
			used[at] = true;
	}
}

bool ina_plan_adds(const struct ina_plan_job *job, int node)
{
	bool adds = false;

	for (int i = 0; i < job->n_nodes && !adds; i++) {
		int at = job->nodes[i].workers ? job->nodes[i].parent : -1;

		while (at >= 0 && at != node)
			at = job->nodes[at].parent;
		adds = at == node;
	}
	return adds;
}
