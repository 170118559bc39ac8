/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What doc.c, which knows values, and doc_read.c, which reads them, share.
 */
#ifndef INA_PLAN_DOC_IMPL_H
#define INA_PLAN_DOC_IMPL_H

#include "doc.h"

enum doc_kind {
	DOC_SCALAR,
	DOC_LIST,
	DOC_MAP,
};

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

/* Where @key is in the table of @map, or the empty entry where it would be. */
int *ina_doc_slot(const struct ina_doc_value *map, const char *key);

/* Free a value and what it holds. */
void ina_doc_value_free(struct ina_doc_value *value);

#endif
