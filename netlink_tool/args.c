// SPDX-License-Identifier: GPL-2.0
/*
 * Words to attributes: a table of keywords says what follows each and which
 * attribute it becomes. Whatever is wrong is said here, before the kernel is
 * asked.
 */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "inaconf.h"

static const char *const suffixes[] = { "k", "M", "G", "Ki", "Mi", "Gi" };

static const uint64_t factors[] = {
	1000, 1000 * 1000, 1000 * 1000 * 1000, 1 << 10, 1 << 20, 1 << 30
};

static const struct words suffix_words = WORDS(suffixes);

/* Factor of the suffix @text of a number, 0 if there is no such suffix. */
static uint64_t number_factor(const char *text, enum param_type type)
{
	int i;

	if (!*text)
		return 1;
	if (type != PARAM_SIZE)
		return 0;
	i = words_find(&suffix_words, text);
	return i < 0 ? 0 : factors[i];
}

static int number_parse(const struct param *param, const char *word, uint64_t max, uint64_t *value)
{
	int base = !strncmp(word, "0x", 2) ? 16 : 10;
	uint64_t factor = 0;
	char *end = NULL;

	errno = 0;
	*value = strtoull(word, &end, base);
	if (*word >= '0' && *word <= '9' && end != word)
		factor = number_factor(end, param->type);
	if (!factor)
		return error_usage("%s: \"%s\" is not a number%s", param->keyword, word,
				   param->type == PARAM_SIZE ?
				   "; k, M, G, Ki, Mi, Gi may follow" : "");
	if (errno == ERANGE || *value > max / factor)
		return error_usage("%s %s is too large: at most %llu", param->keyword, word,
				   (unsigned long long)max);
	*value *= factor;
	return INACONF_OK;
}

static int attr_put(struct nlmsghdr *request, uint16_t attr, size_t len, const void *data)
{
	if (mnl_attr_put_check(request, NL_REQUEST_SIZE, attr, len, data))
		return INACONF_OK;
	return error_usage("too many words for one request");
}

static int param_put_number(const struct param *param, const char *word, struct nlmsghdr *request)
{
	bool narrow = param->type == PARAM_U16;
	uint64_t value;
	uint32_t u32;
	uint16_t u16;
	int ret;

	ret = number_parse(param, word, narrow ? UINT16_MAX : UINT32_MAX, &value);
	if (ret)
		return ret;
	u16 = (uint16_t)value;
	u32 = (uint32_t)value;
	if (narrow)
		return attr_put(request, param->attr, sizeof(u16), &u16);
	return attr_put(request, param->attr, sizeof(u32), &u32);
}

static int param_put_signed(const struct param *param, const char *word, struct nlmsghdr *request)
{
	bool negative = *word == '-';
	uint64_t value;
	int32_t s32;
	int ret;

	ret = number_parse(param, word + negative, INT32_MAX, &value);
	if (ret)
		return ret;
	s32 = negative ? -(int32_t)value : (int32_t)value;
	return attr_put(request, param->attr, sizeof(s32), &s32);
}

static int param_put_word(const struct param *param, const char *word, struct nlmsghdr *request)
{
	int i = words_find(param->words, word);
	uint32_t value = (uint32_t)i;

	if (i < 0)
		return words_unknown(param->words, param->keyword, word);
	return attr_put(request, param->attr, sizeof(value), &value);
}

static int param_put_addr(const struct param *param, const char *word, struct nlmsghdr *request)
{
	struct in6_addr addr;

	if (!addr_parse(word, &addr))
		return error_usage("%s: \"%s\" is not an IPv4 or IPv6 address",
				   param->keyword, word);
	return attr_put(request, param->attr, sizeof(addr), &addr);
}

static int param_put_dev(const struct param *param, const char *word, struct nlmsghdr *request)
{
	uint32_t index = if_nametoindex(word);

	if (!index)
		return error_print("Cannot find device \"%s\" in this network namespace", word);
	return attr_put(request, param->attr, sizeof(index), &index);
}

/* A number of at least 0 with decimals, what follows it in *@end. */
static bool decimal_parse(const char *word, double *value, char **end)
{
	*value = strtod(word, end);
	return *word >= '0' && *word <= '9';
}

static int param_put_rate(const struct param *param, const char *word, struct nlmsghdr *request)
{
	static const struct {
		const char *name;
		double bytes;
	} units[] = {
		{ "", 1. / 8 }, { "bit", 1. / 8 }, { "kbit", 1e3 / 8 }, { "mbit", 1e6 / 8 },
		{ "gbit", 1e9 / 8 }, { "tbit", 1e12 / 8 }, { "bps", 1 }, { "kbps", 1e3 },
		{ "mbps", 1e6 }, { "gbps", 1e9 }, { "tbps", 1e12 },
	};
	size_t i = 0;
	uint64_t u64;
	double value;
	char *end;

	if (!strcmp(word, "auto"))
		return attr_put(request, INA_A_DEV_AUTO, 0, NULL);
	if (!decimal_parse(word, &value, &end))
		i = ARRAY_SIZE(units);
	while (i < ARRAY_SIZE(units) && strcasecmp(units[i].name, end))
		i++;
	if (i == ARRAY_SIZE(units))
		return error_usage("%s: \"%s\" is not a rate; like 10gbit, 800mbit, 100mbps, or auto",
				   param->keyword, word);
	value *= units[i].bytes;
	if (value >= 0x1p63)
		return error_usage("%s %s is too large", param->keyword, word);
	u64 = (uint64_t)value;
	return attr_put(request, param->attr, sizeof(u64), &u64);
}

static int param_put_percent(const struct param *param, const char *word, struct nlmsghdr *request)
{
	double value;
	uint32_t u32;
	char *end;

	if (!decimal_parse(word, &value, &end) || (*end && strcmp(end, "%")) || value > 100)
		return error_usage("%s: \"%s\" is not a share in percent", param->keyword, word);
	u32 = (uint32_t)(value * 1e4 + 0.5);
	return attr_put(request, param->attr, sizeof(u32), &u32);
}

static int param_put(const struct param *param, const char *word, struct nlmsghdr *request)
{
	switch (param->type) {
	case PARAM_U16:
	case PARAM_U32:
	case PARAM_SIZE:
		if (param->words && words_find(param->words, word) >= 0)
			return param_put_word(param, word, request);
		return param_put_number(param, word, request);
	case PARAM_S32:
		return param_put_signed(param, word, request);
	case PARAM_WORD:
		return param_put_word(param, word, request);
	case PARAM_ADDR:
		return param_put_addr(param, word, request);
	case PARAM_DEV:
		return param_put_dev(param, word, request);
	case PARAM_RATE:
		return param_put_rate(param, word, request);
	case PARAM_PERCENT:
		return param_put_percent(param, word, request);
	case PARAM_FLAG:
		break;
	}
	return INACONF_OK;
}

static int params_missing(const struct words *params, unsigned int seen)
{
	const struct param *param = params->table;

	for (size_t i = 0; i < params->count; i++) {
		if ((param[i].flags & PARAM_REQUIRED) && !(seen & 1U << i))
			return error_usage("%s is required", param[i].keyword);
	}
	return INACONF_OK;
}

/* Which entry argv[0] stands for; *used is how many words name it. */
static int params_match(const struct words *params, const char *word, bool first, int *used)
{
	const struct param *param = params->table;
	int i = words_find(params, word);

	*used = 1;
	if (i >= 0 || !first || !params->count || !(param->flags & PARAM_BARE))
		return i;
	*used = 0;
	return 0;
}

/* Take the entry argv[0] stands for; returns the words used or -INACONF_*. */
static int params_take(const struct words *params, int argc, char **argv,
		       struct nlmsghdr *request, unsigned int *seen, bool first)
{
	const struct param *param = params->table;
	int used, ret, i = params_match(params, argv[0], first, &used);

	if (i < 0)
		return -words_unknown(params, "word", argv[0]);
	param += i;
	if ((*seen & 1U << i) && !(param->flags & PARAM_MULTI))
		return -error_usage("%s is given twice", param->keyword);
	*seen |= 1U << i;
	if (param->type == PARAM_FLAG)
		return used;
	if (used >= argc)
		return -error_usage("%s needs a value", param->keyword);
	ret = param_put(param, argv[used], request);
	return ret ? -ret : used + 1;
}

int args_parse(const struct words *params, int argc, char **argv, struct nlmsghdr *request,
	       unsigned int *seen)
{
	unsigned int done = 0;
	int n = 0;

	while (n < argc) {
		int used = params_take(params, argc - n, argv + n, request, &done, n == 0);

		if (used < 0)
			return -used;
		n += used;
	}
	if (seen)
		*seen = done;
	return params_missing(params, done);
}

static bool word_is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "-h") || !strcmp(word, "--help");
}

int object_run(const struct object *object, struct inaconf *ctx, int argc, char **argv)
{
	const struct command *command = object->commands.table;
	int i;

	if (!argc)
		return object->fallback(ctx, 0, argv);
	if (word_is_help(argv[0])) {
		fputs(object->help, ctx->out.file);
		return INACONF_OK;
	}
	i = words_find(&object->commands, argv[0]);
	if (i >= 0 && command[i].run)
		return command[i].run(ctx, argc - 1, argv + 1);
	if (object->any)
		return object->fallback(ctx, argc, argv);
	return words_unknown(&object->commands, "command", argv[0]);
}
