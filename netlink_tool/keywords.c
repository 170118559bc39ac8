// SPDX-License-Identifier: GPL-2.0
/*
 * Words to variables, for commands that ask no kernel: a table of keywords says what follows each
 * and where it goes.
 */
#include <string.h>

#include "doc.h"
#include "inaconf.h"

static int keyword_take(const struct keyword *keyword, char *word)
{
	double number;

	if (keyword->type == KEYWORD_TEXT) {
		*(const char **)keyword->value = word;
		return INACONF_OK;
	}
	if (!ina_doc_number(word, &number))
		return error_usage("%s: \"%s\" is not a number; k, M, G, T, Ki, Mi, Gi, Ti may follow",
				   keyword->keyword, word);
	if (number < keyword->min || number > keyword->max)
		return error_usage("%s %s is not within %g and %g", keyword->keyword, word,
				   keyword->min, keyword->max);
	*(double *)keyword->value = number;
	return INACONF_OK;
}

int keywords_parse(const struct words *keywords, int argc, char **argv)
{
	const struct keyword *table = keywords->table;
	unsigned int seen = 0;
	int ret = INACONF_OK;

	for (int n = 0; !ret && n < argc; n++) {
		int i = words_find(keywords, argv[n]);

		if (i < 0)
			return words_unknown(keywords, "word", argv[n]);
		if (seen & 1U << i)
			return error_usage("%s is given twice", argv[n]);
		seen |= 1U << i;
		if (table[i].type == KEYWORD_FLAG)
			*(bool *)table[i].value = true;
		else if (++n >= argc)
			return error_usage("%s needs a value", table[i].keyword);
		else
			ret = keyword_take(&table[i], argv[n]);
	}
	return ret;
}
