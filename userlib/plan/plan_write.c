// SPDX-License-Identifier: GPL-2.0
/*
 * Plans to files: reading what is written gives the same again.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "plan.h"

/* Could be written as it is, and no reader takes it for something else? */
static bool plan_is_plain(const char *text)
{
	static const char *const taken[] = { "null", "true", "false", "yes", "no", "on", "off" };

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		if (!strcasecmp(text, taken[i]))
			return false;
	}
	return isalnum((unsigned char)*text) &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_.-")] == '\0';
}

static void plan_write_text(FILE *file, const char *text)
{
	if (plan_is_plain(text)) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == 0x7f)
			fprintf(file, "\\x%02x", c);
		else
			fprintf(file, "%s%c", c == '"' || c == '\\' ? "\\" : "", c);
	}
	fputc('"', file);
}

static void plan_write_field(FILE *file, const char *key, const char *text)
{
	if (!text)
		return;
	fprintf(file, "    %s: ", key);
	plan_write_text(file, text);
	fputc('\n', file);
}

static void plan_write_node(FILE *file, const struct ina_plan_job *job,
			    const struct ina_plan_node *node)
{
	fputs("  - host: ", file);
	plan_write_text(file, node->host);
	fputc('\n', file);
	plan_write_field(file, "where", node->where);
	plan_write_field(file, "addr", node->addr);
	if (node->parent >= 0)
		plan_write_field(file, "parent", job->nodes[node->parent].host);
	fprintf(file, "    workers: %" PRIu32 "\n", node->workers);
}

static void plan_write_job(FILE *file, const struct ina_plan_job *job)
{
	fprintf(file, "- id: %" PRIu32 "\n  options: {", job->id);
	for (int i = 0; job->options && job->options[i] && job->options[i + 1]; i += 2) {
		fprintf(file, "%s%s: ", i ? ", " : "", job->options[i]);
		plan_write_text(file, job->options[i + 1]);
	}
	fputs("}\n  tree:\n", file);
	for (int i = 0; i < job->n_nodes; i++)
		plan_write_node(file, job, &job->nodes[i]);
}

int ina_plan_write(const struct ina_plan *plan, FILE *file)
{
	fputs(plan->n_jobs ? "jobs:\n" : "jobs: []\n", file);
	for (int i = 0; i < plan->n_jobs; i++)
		plan_write_job(file, &plan->jobs[i]);
	return fflush(file) || ferror(file) ? -EIO : 0;
}
