// SPDX-License-Identifier: GPL-2.0
/*
 * A YAML document as a tree of values that know their line and, through their parents,
 * their field. The events of libyaml are read one by one, so that size, depth, doubled keys and
 * aliases are refused while reading.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "doc.h"

#define DOC_SIZE_MAX	(16U << 20)
#define DOC_DEPTH_MAX	64
#define DOC_VALUES_MAX	(1 << 21)
#define DOC_TABLE_MIN	16

enum doc_kind {
	DOC_SCALAR,
	DOC_LIST,
	DOC_MAP,
};

/* What the user calls each. */
static const char *const doc_kinds[] = { "a word or number", "a list", "a mapping" };

/**
 * struct ina_doc_value - a scalar, a list or a mapping
 * @kind: which
 * @line: where it starts, from 1
 * @file: name of the file, owned by the document
 * @parent: the list or mapping it is in, NULL at the top
 * @key: its key in a mapping, owned; NULL in a list
 * @index: its position in @parent
 * @text: a scalar's text
 * @items: what a list or mapping holds
 * @n_items: how many
 * @room: for how many @items has room
 * @table: hash of the keys of a mapping: position + 1, 0 if empty
 * @n_table: entries of @table, a power of two
 */
struct ina_doc_value {
	enum doc_kind kind;
	int line;
	const char *file;
	struct ina_doc_value *parent;
	char *key;
	int index;
	char *text;
	struct ina_doc_value **items;
	int n_items;
	int room;
	int *table;
	int n_table;
};

struct ina_doc {
	char *file;
	struct ina_doc_value *root;
};

/**
 * struct doc_build - a document being read
 * @doc: what there is of it
 * @open: the innermost list or mapping that is open, NULL outside
 * @key: key read last, whose value comes next; NULL if none
 * @depth: open lists and mappings
 * @n_values: values so far
 * @text: what is read
 * @size: bytes of it
 * @lines: lines of it
 * @err: where the reason of a refusal goes
 */
struct doc_build {
	struct ina_doc *doc;
	struct ina_doc_value *open;
	char *key;
	int depth;
	int n_values;
	const char *text;
	size_t size;
	size_t lines;
	struct ina_doc_error *err;
};

static void doc_value_free(struct ina_doc_value *value)
{
	if (!value)
		return;
	for (int i = 0; i < value->n_items; i++)
		doc_value_free(value->items[i]);
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
	doc_value_free(doc->root);
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

static int doc_fail_line(struct doc_build *build, size_t line, const char *what)
{
	snprintf(build->err->text, sizeof(build->err->text), "%.*s:%zu: %s",
		 (int)sizeof(build->err->text) / 4, build->doc->file, line, what);
	return -EINVAL;
}

static int doc_fail_memory(struct doc_build *build)
{
	doc_fail_line(build, 1, "out of memory");
	return -ENOMEM;
}

static unsigned int doc_hash(const char *key)
{
	unsigned int hash = 5381;

	while (*key)
		hash = hash * 33 + (unsigned char)*key++;
	return hash;
}

/* Where @key is in the table of @map, or the empty entry where it would be. */
static int *doc_slot(const struct ina_doc_value *map, const char *key)
{
	unsigned int mask = (unsigned int)map->n_table - 1, i = doc_hash(key) & mask;

	while (map->table[i] && strcmp(map->items[map->table[i] - 1]->key, key))
		i = (i + 1) & mask;
	return &map->table[i];
}

/* Keep the table of a mapping at most half full. */
static bool doc_table_grow(struct ina_doc_value *map)
{
	int n = map->n_table ? 2 * map->n_table : DOC_TABLE_MIN;

	if (2 * (map->n_items + 1) <= map->n_table)
		return true;
	free(map->table);
	map->table = calloc((size_t)n, sizeof(*map->table));
	map->n_table = map->table ? n : 0;
	for (int i = 0; map->table && i < map->n_items; i++)
		*doc_slot(map, map->items[i]->key) = i + 1;
	return map->table;
}

static bool doc_items_grow(struct ina_doc_value *value)
{
	int room = value->room ? 2 * value->room : 4;
	struct ina_doc_value **items = value->items;

	if (value->n_items < value->room)
		return true;
	items = realloc(items, (size_t)room * sizeof(*items));
	if (!items)
		return false;
	value->items = items;
	value->room = room;
	return true;
}

/* Put @value into what is open. It is freed here if that fails. */
static int doc_attach(struct doc_build *build, struct ina_doc_value *value)
{
	struct ina_doc_value *open = build->open;

	value->parent = open;
	value->key = build->key;
	build->key = NULL;
	if (!open) {
		build->doc->root = value;
		return 0;
	}
	value->index = open->n_items;
	if (!doc_items_grow(open) || (open->kind == DOC_MAP && !doc_table_grow(open))) {
		doc_value_free(value);
		return doc_fail_memory(build);
	}
	open->items[open->n_items++] = value;
	if (open->kind == DOC_MAP)
		*doc_slot(open, value->key) = open->n_items;
	return 0;
}

/* NULL with the reason in build->err. */
static struct ina_doc_value *doc_value_create(struct doc_build *build, enum doc_kind kind,
					      const yaml_event_t *event)
{
	struct ina_doc_value *value = NULL;

	if (++build->n_values > DOC_VALUES_MAX) {
		doc_fail_line(build, event->start_mark.line + 1, "more than 2097152 values");
		return NULL;
	}
	value = calloc(1, sizeof(*value));
	if (!value) {
		doc_fail_memory(build);
		return NULL;
	}
	value->kind = kind;
	value->file = build->doc->file;
	value->line = (int)event->start_mark.line + 1;
	return value;
}

static int doc_take_key(struct doc_build *build, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	struct ina_doc_value place = { .line = (int)event->start_mark.line + 1,
				       .file = build->doc->file, .parent = build->open,
				       .key = (char *)text };

	if (build->open->n_table && *doc_slot(build->open, text))
		return ina_doc_fail(&place, build->err, "is given twice");
	build->key = strdup(text);
	return build->key ? 0 : doc_fail_memory(build);
}

static int doc_take_scalar(struct doc_build *build, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	struct ina_doc_value *value;

	if (event->data.scalar.anchor)
		return doc_fail_line(build, event->start_mark.line + 1,
				     "anchors and aliases are not known here");
	if (strlen(text) != event->data.scalar.length)
		return doc_fail_line(build, event->start_mark.line + 1, "a zero byte in a text");
	if (build->open && build->open->kind == DOC_MAP && !build->key)
		return doc_take_key(build, event);
	value = doc_value_create(build, DOC_SCALAR, event);
	if (!value)
		return -EINVAL;
	value->text = strdup(text);
	if (value->text)
		return doc_attach(build, value);
	free(value);
	return doc_fail_memory(build);
}

static int doc_take_open(struct doc_build *build, enum doc_kind kind, const yaml_event_t *event)
{
	size_t line = event->start_mark.line + 1;
	struct ina_doc_value *value;
	int ret;

	if (kind == DOC_MAP ? event->data.mapping_start.anchor : event->data.sequence_start.anchor)
		return doc_fail_line(build, line, "anchors and aliases are not known here");
	if (build->open && build->open->kind == DOC_MAP && !build->key)
		return doc_fail_line(build, line, "a key must be a word");
	if (++build->depth > DOC_DEPTH_MAX)
		return doc_fail_line(build, line, "more than 64 levels");
	value = doc_value_create(build, kind, event);
	if (!value)
		return -EINVAL;
	ret = doc_attach(build, value);
	if (!ret)
		build->open = value;
	return ret;
}

static int doc_take(struct doc_build *build, const yaml_event_t *event)
{
	size_t line = event->start_mark.line + 1;

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return doc_take_scalar(build, event);
	case YAML_SEQUENCE_START_EVENT:
		return doc_take_open(build, DOC_LIST, event);
	case YAML_MAPPING_START_EVENT:
		return doc_take_open(build, DOC_MAP, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		build->open = build->open->parent;
		build->depth--;
		return 0;
	case YAML_ALIAS_EVENT:
		return doc_fail_line(build, line, "anchors and aliases are not known here");
	case YAML_DOCUMENT_START_EVENT:
		if (build->doc->root)
			return doc_fail_line(build, line, "a second document in the file");
		return 0;
	default:
		return 0;
	}
}

/*
 * What is missing at the end of the file is missing behind its last line for libyaml; of bytes
 * that are no text it knows the place only.
 */
static int doc_fail_syntax(struct doc_build *build, const yaml_parser_t *parser)
{
	size_t line = parser->problem_mark.line + 1;

	if (parser->error == YAML_READER_ERROR) {
		line = 1;
		for (size_t i = 0; i < parser->problem_offset && i < build->size; i++)
			line += build->text[i] == '\n';
	}
	if (parser->error == YAML_MEMORY_ERROR)
		return doc_fail_memory(build);
	return doc_fail_line(build, line < build->lines ? line : build->lines,
			     parser->problem ? parser->problem : "not YAML");
}

static int doc_parse_events(struct doc_build *build, yaml_parser_t *parser)
{
	yaml_event_t event;
	bool end = false;
	int ret = 0;

	while (!ret && !end) {
		if (!yaml_parser_parse(parser, &event))
			return doc_fail_syntax(build, parser);
		end = event.type == YAML_STREAM_END_EVENT;
		ret = doc_take(build, &event);
		yaml_event_delete(&event);
	}
	if (!ret && !build->doc->root)
		ret = doc_fail_line(build, 1, "the file is empty");
	return ret;
}

static int doc_parse(struct doc_build *build, const char *text, size_t size)
{
	yaml_parser_t parser;
	int ret;

	build->text = text;
	build->size = size;
	build->lines = 1;
	for (size_t i = 0; i + 1 < size; i++)
		build->lines += text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n');
	if (!yaml_parser_initialize(&parser))
		return doc_fail_memory(build);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	ret = doc_parse_events(build, &parser);
	free(build->key);
	yaml_parser_delete(&parser);
	return ret;
}

static int doc_fail_read(struct ina_doc_error *err, const char *file, int error)
{
	snprintf(err->text, sizeof(err->text), "%.*s: cannot be read: %s",
		 (int)sizeof(err->text) / 4, file, strerror(error));
	return -error;
}

int ina_doc_load(const char *path, char **text, size_t *size, struct ina_doc_error *err)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	int ret = 0;

	if (!file)
		return doc_fail_read(err, path, errno);
	*text = malloc(DOC_SIZE_MAX + 1);
	errno = 0;
	*size = *text ? fread(*text, 1, DOC_SIZE_MAX + 1, file) : 0;
	if (!*text || ferror(file)) {
		ret = doc_fail_read(err, path, *text ? errno ? errno : EIO : ENOMEM);
	} else if (*size > DOC_SIZE_MAX) {
		snprintf(err->text, sizeof(err->text), "%.*s: larger than 16 MiB",
			 (int)sizeof(err->text) / 4, path);
		ret = -EFBIG;
	}
	if (file != stdin)
		fclose(file);
	if (ret) {
		free(*text);
		*text = NULL;
	}
	return ret;
}

struct ina_doc *ina_doc_parse(const char *name, const char *text, size_t size,
			      struct ina_doc_error *err)
{
	struct ina_doc *doc = calloc(1, sizeof(*doc));
	struct doc_build build = { .doc = doc, .err = err };

	if (doc)
		doc->file = strdup(name);
	if (!doc || !doc->file) {
		free(doc);
		doc_fail_read(err, name, ENOMEM);
		return NULL;
	}
	if (!doc_parse(&build, text, size))
		return doc;
	ina_doc_destroy(doc);
	return NULL;
}

struct ina_doc *ina_doc_read(const char *path, struct ina_doc_error *err)
{
	struct ina_doc *doc;
	size_t size;
	char *text;

	if (ina_doc_load(path, &text, &size, err))
		return NULL;
	doc = ina_doc_parse(strcmp(path, "-") ? path : "standard input", text, size, err);
	free(text);
	return doc;
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
	int at = map->kind == DOC_MAP && map->n_table ? *doc_slot(map, key) : 0;

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
