// SPDX-License-Identifier: GPL-2.0
/*
 * The words of inaconf that make one place out of another. The kernel forgets the paths to a
 * neighbour that leaves, or becomes a parent instead of a child: who comes back gets them back.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

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

/* Does @to have a neighbour that @from has not, or not as what it is there? */
static bool commands_comes(const struct ina_place *from, const struct ina_place *to,
			   const struct ina_addr *peer)
{
	if (commands_is_parent(to, peer))
		return !commands_is_parent(from, peer);
	return commands_is_child(to, peer) && !commands_is_child(from, peer);
}

/* Is path @i the last to its peer, and the implied one not among them? */
static bool commands_replaces(const struct ina_place *place, int i)
{
	const struct ina_addr *peer = &place->paths[i].peer;

	for (int k = 0; k < place->n_paths; k++) {
		if ((k > i || ina_path_is_implied(&place->paths[k])) &&
		    ina_addr_equal(&place->paths[k].peer, peer))
			return false;
	}
	return true;
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

/* The paths to neighbours that come; to all if the job does. */
static int commands_paths(struct ina_commands *commands, uint32_t job,
			  const struct ina_place *from, const struct ina_place *to)
{
	int ret = 0;

	for (int i = 0; !ret && i < to->n_paths; i++) {
		const struct ina_path *path = &to->paths[i];

		if (!commands_comes(from, to, &path->peer))
			continue;
		ret = commands_path(commands, job, path);
		if (!ret && commands_replaces(to, i))
			ret = commands_add(commands, "path del job %" PRIu32 " peer %s id 0", job,
					   path->peer.text);
	}
	return ret;
}

int ina_place_commands(uint32_t job, const struct ina_place *from, const struct ina_place *to,
		       struct ina_commands *commands)
{
	static const struct ina_place nothing;
	bool other = from->options && to->options && strcmp(from->options, to->options);
	/* A node can be replaced but not taken away: only its job can. */
	bool del = from->options && (!to->options || other || (from->tree && !to->tree));
	bool add = to->options && (!from->options || del);
	int ret = 0;

	*commands = (struct ina_commands){ 0 };
	if (del)
		ret = commands_add(commands, "job del id %" PRIu32, job);
	if (!ret && add)
		ret = commands_add(commands, "job add id %" PRIu32 " %s", job, to->options);
	if (!ret && to->tree && (add || !ina_place_equal(from, to)))
		ret = commands_tree(commands, job, to);
	if (!ret && to->tree && add && *to->tuning)
		ret = commands_add(commands, "path set job %" PRIu32 " %s", job, to->tuning);
	if (!ret && to->tree)
		ret = commands_paths(commands, job, add ? &nothing : from, to);
	if (ret)
		ina_commands_clear(commands);
	return ret;
}
