/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A YAML document (JSON is one, too) with the line of every value, so that an error
 * says file, line and field. Built on libyaml; bounded in size and depth.
 */
#ifndef INA_PLAN_DOC_H
#define INA_PLAN_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct ina_doc_error - why an input was refused
 * @text: "FILE:LINE: FIELD: what is wrong and what is known"
 */
struct ina_doc_error {
	char text[512];
};

struct ina_doc;
struct ina_doc_value;

/* Read @path ("-": standard input); NULL with the reason in @err. Keys are unique. */
struct ina_doc *ina_doc_read(const char *path, struct ina_doc_error *err);
void ina_doc_destroy(struct ina_doc *doc);

/* The same of @size bytes at @text; @name stands for the file in errors. */
struct ina_doc *ina_doc_parse(const char *name, const char *text, size_t size,
			      struct ina_doc_error *err);

/*
 * The bytes of a file ("-": standard input), at most 16 MiB; the caller frees *@text. 0 or a
 * negative errno with the reason in @err.
 */
int ina_doc_load(const char *path, char **text, size_t *size, struct ina_doc_error *err);

const struct ina_doc_value *ina_doc_root(const struct ina_doc *doc);

/* Write "FILE:LINE: FIELD: ..." of @value to @err; returns -EINVAL. */
int ina_doc_fail(const struct ina_doc_value *value, struct ina_doc_error *err,
		 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The file @value is in, as errors name it, and its line. */
const char *ina_doc_place(const struct ina_doc_value *value, int *line);

/*
 * Refuse a mapping that has keys other than @known (NULL-ended), or a value that is no
 * mapping. 0 or -EINVAL.
 */
int ina_doc_only(const struct ina_doc_value *map, const char *const *known,
		 struct ina_doc_error *err);

/* The value of @key in @map; NULL if absent. */
const struct ina_doc_value *ina_doc_get(const struct ina_doc_value *map, const char *key);

bool ina_doc_is_list(const struct ina_doc_value *value);

/* Elements of a sequence: number (-EINVAL if it is none), and one by its position. */
int ina_doc_count(const struct ina_doc_value *list, struct ina_doc_error *err);
const struct ina_doc_value *ina_doc_at(const struct ina_doc_value *list, int i);

/*
 * Scalars. 0 or -EINVAL with the reason in @err. A quantity may end in k, M, G, T (powers
 * of 1000) or Ki, Mi, Gi, Ti, and must be finite and within [@min, @max].
 */
int ina_doc_string(const struct ina_doc_value *value, const char **text,
		   struct ina_doc_error *err);
int ina_doc_quantity(const struct ina_doc_value *value, double min, double max, double *number,
		     struct ina_doc_error *err);
int ina_doc_int(const struct ina_doc_value *value, long min, long max, long *number,
		struct ina_doc_error *err);

/* A quantity outside of a document, such as a word of a command line. */
bool ina_doc_number(const char *text, double *number);

#endif
