// SPDX-License-Identifier: GPL-2.0
/*
 * YAML becomes a document. The events of libyaml are read one by one, so that size, depth,
 * doubled keys and aliases are refused while reading.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "doc_impl.h"

#define DOC_SIZE_MAX	(16U << 20)
#define DOC_DEPTH_MAX	64
#define DOC_VALUES_MAX	(1 << 21)
#define DOC_TABLE_MIN	16

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
		*ina_doc_slot(map, map->items[i]->key) = i + 1;
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
		ina_doc_value_free(value);
		return doc_fail_memory(build);
	}
	open->items[open->n_items++] = value;
	if (open->kind == DOC_MAP)
		*ina_doc_slot(open, value->key) = open->n_items;
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

	if (build->open->n_table && *ina_doc_slot(build->open, text))
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
