// SPDX-License-Identifier: GPL-2.0
/*
 * A document as a tree of values that know their line and, through their parents, their field:
 * what they are, and what is wrong with them.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_impl.h"

/* What the user calls each. */
static const char *const doc_kinds[] = { "a word or number", "a list", "a mapping" };

void ina_doc_value_free(struct ina_doc_value *value)
{
	if (!value)
		return;
	for (int i = 0; i < value->n_items; i++)
		ina_doc_value_free(value->items[i]);
	free(value->items);
	free(value->table);
	free(value->text);
	free(value->key);
	free(value);
}

void ina_doc_destroy(struct ina_doc *doc)
{
	if (!doc)
		return;
	ina_doc_value_free(doc->root);
	free(doc->file);
	free(doc);
}

const struct ina_doc_value *ina_doc_root(const struct ina_doc *doc)
{
	return doc->root;
}

/* Append to a text of bounded size; what does not fit is cut. */
static void doc_append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(text + used, size - used, format, ap);
	va_end(ap);
}

/* The field of @value, such as hosts[3].cores, from the top down. */
static void doc_path(const struct ina_doc_value *value, char *text, size_t size)
{
	if (!value->parent)
		return;
	doc_path(value->parent, text, size);
	if (value->key)
		doc_append(text, size, "%s%s", *text ? "." : "", value->key);
	else
		doc_append(text, size, "[%d]", value->index);
}

int ina_doc_fail(const struct ina_doc_value *value, struct ina_doc_error *err,
		 const char *format, ...)
{
	char path[128] = "", what[216];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	doc_path(value, path, sizeof(path));
	snprintf(err->text, sizeof(err->text), "%.*s:%d: %s%s%s", (int)sizeof(err->text) / 4,
		 value->file, value->line, path, *path ? ": " : "", what);
	return -EINVAL;
}

const char *ina_doc_place(const struct ina_doc_value *value, int *line)
{
	*line = value->line;
	return value->file;
}

static unsigned int doc_hash(const char *key)
{
	unsigned int hash = 5381;

	while (*key)
		hash = hash * 33 + (unsigned char)*key++;
	return hash;
}

int *ina_doc_slot(const struct ina_doc_value *map, const char *key)
{
	unsigned int mask = (unsigned int)map->n_table - 1, i = doc_hash(key) & mask;

	while (map->table[i] && strcmp(map->items[map->table[i] - 1]->key, key))
		i = (i + 1) & mask;
	return &map->table[i];
}

static int doc_need(const struct ina_doc_value *value, enum doc_kind kind,
		    struct ina_doc_error *err)
{
	if (value->kind == kind)
		return 0;
	return ina_doc_fail(value, err, "must be %s, not %s", doc_kinds[kind],
			    doc_kinds[value->kind]);
}

static int doc_fail_unknown(const struct ina_doc_value *value, const char *const *known,
			    struct ina_doc_error *err)
{
	char list[200] = "";

	for (int i = 0; known[i]; i++)
		doc_append(list, sizeof(list), "%s %s", i ? "," : "", known[i]);
	return ina_doc_fail(value, err, "unknown; known:%s", list);
}

int ina_doc_only(const struct ina_doc_value *map, const char *const *known,
		 struct ina_doc_error *err)
{
	int ret = doc_need(map, DOC_MAP, err);

	for (int i = 0; !ret && i < map->n_items; i++) {
		int k = 0;

		while (known[k] && strcmp(known[k], map->items[i]->key))
			k++;
		if (!known[k])
			ret = doc_fail_unknown(map->items[i], known, err);
	}
	return ret;
}

const struct ina_doc_value *ina_doc_get(const struct ina_doc_value *map, const char *key)
{
	int at = map->kind == DOC_MAP && map->n_table ? *ina_doc_slot(map, key) : 0;

	return at ? map->items[at - 1] : NULL;
}

bool ina_doc_is_list(const struct ina_doc_value *value)
{
	return value->kind == DOC_LIST;
}

int ina_doc_count(const struct ina_doc_value *list, struct ina_doc_error *err)
{
	int ret = doc_need(list, DOC_LIST, err);

	return ret ? ret : list->n_items;
}

const struct ina_doc_value *ina_doc_at(const struct ina_doc_value *list, int i)
{
	return list->items[i];
}

int ina_doc_string(const struct ina_doc_value *value, const char **text,
		   struct ina_doc_error *err)
{
	int ret = doc_need(value, DOC_SCALAR, err);

	if (!ret && !*value->text)
		ret = ina_doc_fail(value, err, "must not be empty");
	if (!ret)
		*text = value->text;
	return ret;
}

/* Factor of what stands behind a number, 0 if it is unknown. */
static double doc_factor(const char *suffix)
{
	static const struct {
		const char *suffix;
		double factor;
	} known[] = {
		{ "", 1 }, { "k", 1e3 }, { "M", 1e6 }, { "G", 1e9 }, { "T", 1e12 },
		{ "Ki", 0x1p10 }, { "Mi", 0x1p20 }, { "Gi", 0x1p30 }, { "Ti", 0x1p40 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(known[i].suffix, suffix))
			return known[i].factor;
	}
	return 0;
}

bool ina_doc_number(const char *text, double *number)
{
	char *end;

	/* strtod() also takes hexadecimal, inf, nan and leading blanks. */
	if (!*text || !strchr("0123456789.-+", *text) || strpbrk(text, "xXnN"))
		return false;
	*number = strtod(text, &end);
	if (end == text)
		return false;
	*number *= doc_factor(end);
	return doc_factor(end) && isfinite(*number);
}

int ina_doc_quantity(const struct ina_doc_value *value, double min, double max, double *number,
		     struct ina_doc_error *err)
{
	int ret = doc_need(value, DOC_SCALAR, err);
	double n;

	if (ret)
		return ret;
	if (!ina_doc_number(value->text, &n))
		return ina_doc_fail(value, err,
				    "\"%.40s\" is no number; k, M, G, T, Ki, Mi, Gi, Ti may follow",
				    value->text);
	if (n < min || n > max)
		return ina_doc_fail(value, err, "%.40s is not within %g and %g", value->text, min,
				    max);
	*number = n;
	return 0;
}

int ina_doc_int(const struct ina_doc_value *value, long min, long max, long *number,
		struct ina_doc_error *err)
{
	int ret = doc_need(value, DOC_SCALAR, err);
	char *end = NULL;
	long n;

	if (ret)
		return ret;
	errno = 0;
	n = strtol(value->text, &end, 10);
	if (!strchr("0123456789-", *value->text) || !*value->text || *end)
		return ina_doc_fail(value, err, "\"%.40s\" is no whole number", value->text);
	if (errno || n < min || n > max)
		return ina_doc_fail(value, err, "%.40s is not within %ld and %ld", value->text, min,
				    max);
	*number = n;
	return 0;
}
