// SPDX-License-Identifier: GPL-2.0
/*
 * The words of inaconf that make one place out of another. The kernel forgets the paths to a
 * neighbour that leaves, or becomes a parent instead of a child, and all paths and what holds for
 * them when it replaces the node: what is wanted and not there any more is given back.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

void ina_commands_clear(struct ina_commands *commands)
{
	for (int i = 0; i < commands->n; i++)
		free(commands->words[i]);
	free(commands->words);
	*commands = (struct ina_commands){ 0 };
}

/* Append a command, which is freed if there is no room; NULL: there was no memory for it. */
static int commands_take(struct ina_commands *commands, char *command)
{
	size_t n = (size_t)commands->n + 1;
	char **words = command ? realloc(commands->words, n * sizeof(*words)) : NULL;

	if (!words) {
		free(command);
		return -ENOMEM;
	}
	commands->words = words;
	words[commands->n++] = command;
	return 0;
}

__attribute__((format(printf, 2, 3)))
static int commands_add(struct ina_commands *commands, const char *format, ...)
{
	char *command;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&command, format, ap);
	va_end(ap);
	return commands_take(commands, n < 0 ? NULL : command);
}

static int commands_tree(struct ina_commands *commands, uint32_t job, const struct ina_place *place)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return -ENOMEM;
	fprintf(file, "tree set job %" PRIu32 " local %s", job, place->local.text);
	if (*place->parent.text)
		fprintf(file, " parent %s", place->parent.text);
	for (int i = 0; i < place->n_children; i++)
		fprintf(file, " child %s", place->children[i].text);
	fprintf(file, " workers %" PRIu32, place->workers);
	if (!fclose(file))
		return commands_take(commands, text);
	free(text);
	return -ENOMEM;
}

static bool commands_is_parent(const struct ina_place *place, const struct ina_addr *peer)
{
	return place->tree && ina_addr_equal(&place->parent, peer);
}

static bool commands_is_child(const struct ina_place *place, const struct ina_addr *peer)
{
	return place->tree && ina_place_has_child(place, peer);
}

/* Is @peer to @to what it is to @from? */
static bool commands_stays(const struct ina_place *from, const struct ina_place *to,
			   const struct ina_addr *peer)
{
	if (commands_is_parent(to, peer))
		return commands_is_parent(from, peer);
	return commands_is_child(to, peer) && commands_is_child(from, peer);
}

/* The path to @peer that every neighbour has from the beginning; NULL if it was deleted. */
static const struct ina_path *commands_implied(const struct ina_place *place,
					       const struct ina_addr *peer)
{
	for (int i = 0; i < place->n_paths; i++) {
		if (ina_addr_equal(&place->paths[i].peer, peer) &&
		    ina_path_is_implied(&place->paths[i]))
			return &place->paths[i];
	}
	return NULL;
}

static bool commands_has_path(const struct ina_place *place, const struct ina_path *path)
{
	int i = 0;

	while (i < place->n_paths && !ina_path_equal(&place->paths[i], path))
		i++;
	return i < place->n_paths;
}

static int commands_path(struct ina_commands *commands, uint32_t job, const struct ina_path *path)
{
	char dev[32] = "", src[64] = "", dst[64] = "", sport[32] = "", weight[32] = "";

	if (*path->dev)
		snprintf(dev, sizeof(dev), " dev %s", path->dev);
	if (*path->src.text)
		snprintf(src, sizeof(src), " src %s", path->src.text);
	if (*path->dst.text)
		snprintf(dst, sizeof(dst), " dst %s", path->dst.text);
	if (path->sport)
		snprintf(sport, sizeof(sport), " sport %u", path->sport);
	if (path->weight)
		snprintf(weight, sizeof(weight), " weight %" PRIu32, path->weight);
	if (!ina_path_is_implied(path))
		return commands_add(commands, "path add job %" PRIu32 " peer %s%s%s%s%s%s", job,
				    path->peer.text, dev, src, dst, sport, weight);
	return *weight ? commands_add(commands, "path set job %" PRIu32 " peer %s id 0%s", job,
				      path->peer.text, weight) : 0;
}

/*
 * The paths to one neighbour, of which @from has some if it stays. There is room for all of them
 * only without the implied one, and that cannot go before there is another.
 */
static int commands_peer(struct ina_commands *commands, uint32_t job, const struct ina_place *from,
			 const struct ina_place *to, const struct ina_addr *peer)
{
	bool stays = commands_stays(from, to, peer);
	bool drop = !commands_implied(to, peer) && (!stays || commands_implied(from, peer));
	int ret = 0;

	for (int i = 0; !ret && i < to->n_paths; i++) {
		if (!ina_addr_equal(&to->paths[i].peer, peer))
			continue;
		if (!stays || !commands_has_path(from, &to->paths[i]))
			ret = commands_path(commands, job, &to->paths[i]);
		if (!ret && drop)
			ret = commands_add(commands, "path del job %" PRIu32 " peer %s id 0", job,
					   peer->text);
		drop = false;
	}
	return ret;
}

static int commands_paths(struct ina_commands *commands, uint32_t job,
			  const struct ina_place *from, const struct ina_place *to)
{
	int ret = *to->parent.text ? commands_peer(commands, job, from, to, &to->parent) : 0;

	for (int i = 0; !ret && i < to->n_children; i++)
		ret = commands_peer(commands, job, from, to, &to->children[i]);
	return ret;
}

/* As ina_tree_fits() of the kernel, but for how much room there is: run.c looks at that. */
static bool commands_replaces(const struct ina_place *from, const struct ina_place *to)
{
	return ina_place_is_root(from) != ina_place_is_root(to) || from->workers != to->workers ||
	       !ina_addr_equal(&from->local, &to->local);
}

int ina_step_commands(uint32_t job, const struct ina_step *step, unsigned int ms,
		      struct ina_commands *commands)
{
	if (step->phase != INA_PHASE_HOLD)
		return ina_place_commands(job, &step->from, &step->to, commands);
	*commands = (struct ina_commands){ 0 };
	return commands_add(commands, "tree hold job %" PRIu32 " ms %u", job, ms);
}

int ina_place_commands(uint32_t job, const struct ina_place *from, const struct ina_place *to,
		       struct ina_commands *commands)
{
	static const struct ina_place nothing;
	bool other = from->options && to->options && strcmp(from->options, to->options);
	/* A node can be replaced but not taken away: only its job can. */
	bool del = from->options && (!to->options || other || (from->tree && !to->tree));
	bool add = to->options && (!from->options || del);
	bool fresh = add || commands_replaces(from, to);
	int ret = 0;

	*commands = (struct ina_commands){ 0 };
	if (del)
		ret = commands_add(commands, "job del id %" PRIu32, job);
	if (!ret && add)
		ret = commands_add(commands, "job add id %" PRIu32 " %s", job, to->options);
	if (!ret && to->tree && (add || !ina_place_equal(from, to)))
		ret = commands_tree(commands, job, to);
	if (!ret && to->tree && *to->tuning && (fresh || strcmp(from->tuning, to->tuning)))
		ret = commands_add(commands, "path set job %" PRIu32 " %s", job, to->tuning);
	if (!ret && to->tree)
		ret = commands_paths(commands, job, fresh ? &nothing : from, to);
	if (ret)
		ina_commands_clear(commands);
	return ret;
}
