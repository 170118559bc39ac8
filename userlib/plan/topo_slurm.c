// SPDX-License-Identifier: GPL-2.0
/*
 * Slurm's topology.conf: a line names a switch and the nodes or switches below it, in lists such as
 * node[001-128,130]. Nodes become hosts, switches keep their place in the file.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "topo.h"

#define SLURM_NAMES_MAX	(1 << 20)
#define SLURM_NAME_SIZE	256
#define SLURM_LEVEL_MAX	64

/**
 * struct slurm_switch - a line of the file
 * @name: the switch
 * @nodes: list of nodes below it, NULL if none
 * @switches: list of switches below it, NULL if none
 * @line: number of the line
 */
struct slurm_switch {
	const char *name;
	const char *nodes;
	const char *switches;
	int line;
};

/**
 * struct slurm_read - a file being read
 * @topo: what there is of it
 * @file: its name
 * @line: the line being looked at
 * @text: its bytes, cut into words
 * @switches: its lines
 * @n_switches: how many
 * @n_hosts: machines, which come first in @topo
 * @n_names: names that came out of lists
 * @links: what is below what
 * @n_links: how many
 * @room: for how many @links has room
 * @rate: of every link
 * @latency: of every link
 * @at: the switch whose list is being taken
 * @err: where the reason of a refusal goes
 */
struct slurm_read {
	struct ina_topo *topo;
	const char *file;
	int line;
	char *text;
	struct slurm_switch *switches;
	int n_switches;
	int n_hosts;
	int n_names;
	struct ina_topo_link *links;
	int n_links;
	int room;
	double rate;
	double latency;
	int at;
	struct ina_doc_error *err;
};

typedef int (*slurm_take_fn)(struct slurm_read *read, const char *name);

#define slurm_fail(read, format, ...)						\
	(snprintf((read)->err->text, sizeof((read)->err->text), "%.128s:%d: " format,	\
		  (read)->file, (read)->line, ##__VA_ARGS__), -EINVAL)

/* One name out of a list. */
static int slurm_take_name(struct slurm_read *read, const char *field, const char *name,
			   slurm_take_fn take)
{
	if (++read->n_names > SLURM_NAMES_MAX)
		return slurm_fail(read, "%s: more than %d names in the file", field, SLURM_NAMES_MAX);
	if (!ina_topo_name_ok(name))
		return slurm_fail(read, "%s: \"%.40s\" is no name", field, name);
	return take(read, name);
}

/* What stands before and behind the first bracket of an entry of a list. */
struct slurm_range {
	char before[SLURM_NAME_SIZE];
	const char *behind;
	const char *field;
};

static int slurm_take_entry(struct slurm_read *read, const char *field, const char *entry,
			    slurm_take_fn take);

static int slurm_expand(struct slurm_read *read, const struct slurm_range *range, long number,
			int width, slurm_take_fn take)
{
	char entry[SLURM_NAME_SIZE];
	int n = snprintf(entry, sizeof(entry), "%s%0*ld%s", range->before, width, number,
			 range->behind);

	if (n >= (int)sizeof(entry))
		return slurm_fail(read, "%s: a name longer than 255 bytes", range->field);
	return slurm_take_entry(read, range->field, entry, take);
}

/* A number of a range: digits only, at most nine. -1 if it is none. */
static long slurm_number(const char **text, int *width)
{
	const char *start = *text;
	long n = 0;

	while (isdigit((unsigned char)**text) && *text - start < 9)
		n = n * 10 + (*(*text)++ - '0');
	*width = (int)(*text - start);
	return *width ? n : -1;
}

/* The inside of a bracket: 001-128,130 */
static int slurm_take_range(struct slurm_read *read, const struct slurm_range *range,
			    const char *text, slurm_take_fn take)
{
	int width, ignored, ret = 0;

	do {
		long first = slurm_number(&text, &width), last = first;

		if (first >= 0 && *text == '-') {
			text++;
			last = slurm_number(&text, &ignored);
		}
		if (first < 0 || last < first || !strchr(",]", *text))
			return slurm_fail(read, "%s: a range is like [001-128,130]", range->field);
		if (last - first >= SLURM_NAMES_MAX)
			return slurm_fail(read, "%s: more than %d names in the file", range->field,
					  SLURM_NAMES_MAX);
		for (long i = first; !ret && i <= last; i++)
			ret = slurm_expand(read, range, i, width, take);
	} while (!ret && *text++ == ',');
	return ret;
}

/* An entry of a list: a name, with ranges in brackets. */
static int slurm_take_entry(struct slurm_read *read, const char *field, const char *entry,
			    slurm_take_fn take)
{
	const char *open = strchr(entry, '['), *close = open ? strchr(open, ']') : NULL;
	struct slurm_range range = { .field = field };

	if (!open && !strchr(entry, ']'))
		return slurm_take_name(read, field, entry, take);
	if (!close || open - entry >= SLURM_NAME_SIZE)
		return slurm_fail(read, "%s: a bracket without its other one", field);
	memcpy(range.before, entry, (size_t)(open - entry));
	range.behind = close + 1;
	return slurm_take_range(read, &range, open + 1, take);
}

/* A list: entries with commas between them, but for those in brackets. */
static int slurm_take_list(struct slurm_read *read, const char *field, const char *list,
			   slurm_take_fn take)
{
	char *copy = strdup(list), *entry = copy, *end;
	bool more = true;
	int ret = copy ? 0 : slurm_fail(read, "out of memory");

	while (!ret && more) {
		bool inside = false;

		for (end = entry; *end && (inside || *end != ','); end++)
			inside = *end == '[' || (inside && *end != ']');
		more = *end;
		*end = 0;
		ret = slurm_take_entry(read, field, entry, take);
		entry = end + 1;
	}
	free(copy);
	return ret;
}

static int slurm_add_node(struct slurm_read *read, const struct ina_topo_node *node)
{
	int ret = ina_topo_add_node(read->topo, node);

	if (ret == -EEXIST)
		return slurm_fail(read, "\"%.80s\" is there twice", node->name);
	return ret < 0 ? slurm_fail(read, "%s", strerror(-ret)) : 0;
}

static int slurm_add_host(struct slurm_read *read, const char *name)
{
	struct ina_topo_node node = { .name = (char *)name, .kind = INA_TOPO_HOST,
				      .rack = INA_TOPO_NONE, .pod = INA_TOPO_NONE, .capacity = 1 };

	return slurm_add_node(read, &node);
}

/* Keep that node @below hangs at the switch at hand. */
static int slurm_keep_link(struct slurm_read *read, int below)
{
	struct ina_topo_link link = { .a = below, .b = read->n_hosts + read->at,
				      .rate = read->rate, .latency = read->latency };

	if (read->n_links == read->room) {
		int room = read->room ? 2 * read->room : 64;
		struct ina_topo_link *links = reallocarray(read->links, (size_t)room,
							   sizeof(*links));

		if (!links)
			return slurm_fail(read, "out of memory");
		read->links = links;
		read->room = room;
	}
	read->links[read->n_links++] = link;
	return 0;
}

static int slurm_link_host(struct slurm_read *read, const char *name)
{
	return slurm_keep_link(read, ina_topo_find(read->topo, name));
}

static int slurm_link_switch(struct slurm_read *read, const char *name)
{
	int below = ina_topo_find(read->topo, name);

	if (below < read->n_hosts)
		return slurm_fail(read, "Switches: no SwitchName=%.80s in the file", name);
	return slurm_keep_link(read, below);
}

/* Call @take for all nodes, or all switches, of every line. */
static int slurm_each(struct slurm_read *read, bool nodes, slurm_take_fn take)
{
	int ret = 0;

	read->n_names = 0;
	for (read->at = 0; !ret && read->at < read->n_switches; read->at++) {
		const struct slurm_switch *at = &read->switches[read->at];
		const char *list = nodes ? at->nodes : at->switches;

		read->line = at->line;
		if (list)
			ret = slurm_take_list(read, nodes ? "Nodes" : "Switches", list, take);
	}
	return ret;
}

static int slurm_add_switches(struct slurm_read *read)
{
	int ret = 0, racks = 0;

	for (int i = 0; !ret && i < read->n_switches; i++) {
		struct ina_topo_node node = { .name = (char *)read->switches[i].name,
					      .kind = INA_TOPO_SWITCH, .level = 1,
					      .rack = INA_TOPO_NONE, .pod = INA_TOPO_NONE };

		if (read->switches[i].nodes)
			node.rack = racks++;
		read->line = read->switches[i].line;
		ret = slurm_add_node(read, &node);
	}
	return ret;
}

/* Put every switch above what is below it. Returns a switch that had to rise, 0 if none had. */
static int slurm_raise(const struct slurm_read *read)
{
	struct ina_topo_node *nodes = read->topo->nodes;
	int risen = 0;

	for (int i = 0; i < read->n_links; i++) {
		const struct ina_topo_link *link = &read->links[i];

		if (nodes[link->b].level > nodes[link->a].level)
			continue;
		nodes[link->b].level = nodes[link->a].level + 1;
		risen = link->b;
	}
	return risen;
}

/* In a ring of switches levels would rise for ever. */
static int slurm_set_levels(struct slurm_read *read)
{
	int risen = 0;

	for (int i = 0; i <= SLURM_LEVEL_MAX; i++) {
		risen = slurm_raise(read);
		if (!risen)
			return 0;
	}
	read->line = read->switches[risen - read->n_hosts].line;
	return slurm_fail(read, "Switches: a ring, or more than %d levels", SLURM_LEVEL_MAX);
}

/* A switch of level 2 makes a pod of what is below it, a switch with nodes a rack. */
static void slurm_set_places(const struct slurm_read *read)
{
	struct ina_topo_node *nodes = read->topo->nodes;
	int pods = 0;

	for (int i = read->n_hosts; i < read->topo->n_nodes; i++) {
		if (nodes[i].level == 2)
			nodes[i].pod = pods++;
	}
	for (int i = read->n_links; i-- > 0;) {
		const struct ina_topo_link *link = &read->links[i];

		if (nodes[link->b].level <= 2)
			nodes[link->a].pod = nodes[link->b].pod;
		if (link->a < read->n_hosts)
			nodes[link->a].rack = nodes[link->b].rack;
	}
	read->topo->n_pods = pods;
}

static int slurm_add_links(struct slurm_read *read)
{
	int ret = 0;

	for (int i = 0; ret >= 0 && i < read->n_links; i++)
		ret = ina_topo_add_link(read->topo, &read->links[i]);
	return ret < 0 ? slurm_fail(read, "%s", strerror(-ret)) : 0;
}

/* Links to hosts come first, so that pods go from switches to switches, then to hosts. */
static int slurm_build(struct slurm_read *read)
{
	int ret = slurm_each(read, true, slurm_add_host);

	read->n_hosts = read->topo->n_nodes;
	if (!ret && !read->n_hosts)
		ret = slurm_fail(read, "no Nodes in the file");
	if (!ret)
		ret = slurm_add_switches(read);
	if (!ret)
		ret = slurm_each(read, true, slurm_link_host);
	if (!ret)
		ret = slurm_each(read, false, slurm_link_switch);
	if (!ret)
		ret = slurm_set_levels(read);
	if (ret)
		return ret;
	slurm_set_places(read);
	return slurm_add_links(read);
}

/* One word of a line: Key=Value. */
static int slurm_take_word(struct slurm_read *read, struct slurm_switch *at, char *word)
{
	char *value = strchr(word, '=');
	const char **field = NULL, *ignored = NULL;

	if (!value || !value[1])
		return slurm_fail(read, "\"%.40s\" is not like Key=Value", word);
	*value++ = 0;
	if (!strcasecmp(word, "SwitchName"))
		field = &at->name;
	else if (!strcasecmp(word, "Nodes"))
		field = &at->nodes;
	else if (!strcasecmp(word, "Switches"))
		field = &at->switches;
	else if (!strcasecmp(word, "LinkSpeed"))
		field = &ignored;
	if (!field)
		return slurm_fail(read, "%.40s: unknown; known: SwitchName, Nodes, Switches, LinkSpeed",
				  word);
	if (*field)
		return slurm_fail(read, "%s: is given twice", word);
	*field = value;
	return 0;
}

static int slurm_take_line(struct slurm_read *read, char *line)
{
	struct slurm_switch *at = &read->switches[read->n_switches];
	char *save = NULL, *word;
	int ret = 0, words = 0;

	at->line = read->line;
	line[strcspn(line, "#")] = 0;
	for (word = strtok_r(line, " \t\r\f\v", &save); word && !ret;
	     word = strtok_r(NULL, " \t\r\f\v", &save), words++)
		ret = slurm_take_word(read, at, word);
	if (ret || !words)
		return ret;
	read->n_switches++;
	if (!at->name)
		return slurm_fail(read, "SwitchName: is required");
	if (!ina_topo_name_ok(at->name))
		return slurm_fail(read, "SwitchName: \"%.40s\" is no name", at->name);
	if (!at->nodes == !at->switches)
		return slurm_fail(read, "either Nodes or Switches is required");
	return 0;
}

/* A line that ends in a backslash goes on in the next. */
static void slurm_join_lines(char *text)
{
	for (char *end = strstr(text, "\\\n"); end; end = strstr(end, "\\\n"))
		memcpy(end, " \v", 2);
}

/* Joined lines keep their number: the line end became a vertical tab, which is counted. */
static int slurm_take_lines(struct slurm_read *read)
{
	char *line = read->text, *end;
	int lines = 1, ret = 0;

	slurm_join_lines(line);
	for (const char *c = line; *c; c++)
		lines += *c == '\n';
	read->switches = calloc((size_t)lines, sizeof(*read->switches));
	if (!read->switches)
		return slurm_fail(read, "out of memory");
	for (lines = 1; !ret && line; line = end) {
		int next = lines + 1;

		end = strchr(line, '\n');
		for (const char *c = line; *c && c != end; c++)
			next += *c == '\v';
		if (end)
			*end++ = 0;
		read->line = lines;
		ret = slurm_take_line(read, line);
		lines = next;
	}
	return ret;
}

struct ina_topo *ina_topo_parse_slurm(const char *name, const char *text, size_t size,
				      double rate, double latency, struct ina_doc_error *err)
{
	struct slurm_read read = { .topo = ina_topo_create(), .file = name, .line = 1,
				   .text = strndup(text, size), .rate = rate,
				   .latency = latency, .err = err };
	int ret;

	if (!read.topo || !read.text)
		ret = slurm_fail(&read, "out of memory");
	else if (memchr(text, 0, size))
		ret = slurm_fail(&read, "a zero byte in the file");
	else
		ret = slurm_take_lines(&read);
	if (!ret)
		ret = slurm_build(&read);
	free(read.switches);
	free(read.links);
	free(read.text);
	if (!ret)
		return read.topo;
	ina_topo_destroy(read.topo);
	return NULL;
}

struct ina_topo *ina_topo_read_slurm(const char *path, double rate, double latency,
				     struct ina_doc_error *err)
{
	struct ina_topo *topo;
	size_t size;
	char *text;

	if (ina_doc_load(path, &text, &size, err))
		return NULL;
	topo = ina_topo_parse_slurm(strcmp(path, "-") ? path : "standard input", text, size, rate,
				    latency, err);
	free(text);
	return topo;
}
