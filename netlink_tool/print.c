// SPDX-License-Identifier: GPL-2.0
/*
 * Text and JSON from one call: in text a value follows its prefix, in JSON its
 * key. Objects and arrays leave no trace in text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "inaconf.h"

/* Length of the UTF-8 sequence at @s, 0 if it is none. */
static size_t json_utf8(const unsigned char *s)
{
	static const struct {
		unsigned char low, high, length, min, max;
	} leads[] = {
		{ 0x00, 0x7f, 1, 0x00, 0x00 },
		{ 0xc2, 0xdf, 2, 0x80, 0xbf },
		{ 0xe0, 0xe0, 3, 0xa0, 0xbf },
		{ 0xe1, 0xec, 3, 0x80, 0xbf },
		{ 0xed, 0xed, 3, 0x80, 0x9f },
		{ 0xee, 0xef, 3, 0x80, 0xbf },
		{ 0xf0, 0xf0, 4, 0x90, 0xbf },
		{ 0xf1, 0xf3, 4, 0x80, 0xbf },
		{ 0xf4, 0xf4, 4, 0x80, 0x8f },
	};
	size_t i = 0, n;

	while (i < ARRAY_SIZE(leads) && (*s < leads[i].low || *s > leads[i].high))
		i++;
	if (i == ARRAY_SIZE(leads))
		return 0;
	if (leads[i].length > 1 && (s[1] < leads[i].min || s[1] > leads[i].max))
		return 0;
	for (n = 2; n < leads[i].length; n++) {
		if ((s[n] & 0xc0) != 0x80)
			return 0;
	}
	return leads[i].length;
}

static void json_quote(struct print *p, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	fputc('"', p->file);
	for (; *s; s += n ? n : 1) {
		n = json_utf8(s);
		if (!n)
			fputs("\\ufffd", p->file);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(p->file, "\\u%04x", *s);
		else if (*s == '"' || *s == '\\')
			fprintf(p->file, "\\%c", *s);
		else
			fwrite(s, 1, n, p->file);
	}
	fputc('"', p->file);
}

static void json_break(struct print *p)
{
	if (p->pretty)
		fprintf(p->file, "\n%*s", (int)p->depth * 4, "");
}

/* What stands before any value: comma, line break, key. */
static void json_start(struct print *p, const char *key)
{
	if (p->later)
		fputc(',', p->file);
	if (p->depth)
		json_break(p);
	p->later = true;
	if (!key)
		return;
	json_quote(p, key);
	fputs(p->pretty ? ": " : ":", p->file);
}

static void json_open(struct print *p, const char *key, char bracket)
{
	if (!p->json)
		return;
	json_start(p, key);
	fputc(bracket, p->file);
	p->depth++;
	p->later = false;
}

static void json_close(struct print *p, char bracket)
{
	if (!p->json)
		return;
	p->depth--;
	if (p->later)
		json_break(p);
	fputc(bracket, p->file);
	p->later = p->depth > 0;
	if (!p->depth)
		fputc('\n', p->file);
}

void print_array_open(struct print *p, const char *key)
{
	json_open(p, key, '[');
}

void print_array_close(struct print *p)
{
	json_close(p, ']');
}

void print_object_open(struct print *p, const char *key)
{
	json_open(p, key, '{');
}

void print_object_close(struct print *p)
{
	json_close(p, '}');
}

void print_string(struct print *p, const char *key, const char *prefix, const char *value)
{
	if (!p->json) {
		fprintf(p->file, "%s%s", prefix, value);
		return;
	}
	json_start(p, key);
	json_quote(p, value);
}

void print_uint(struct print *p, const char *key, const char *prefix, uint64_t value)
{
	if (p->json)
		json_start(p, key);
	else
		fputs(prefix, p->file);
	fprintf(p->file, "%" PRIu64, value);
}

void print_int(struct print *p, const char *key, const char *prefix, int64_t value)
{
	if (p->json)
		json_start(p, key);
	else
		fputs(prefix, p->file);
	fprintf(p->file, "%" PRId64, value);
}

void print_hex(struct print *p, const char *key, const char *prefix, uint64_t value)
{
	char text[sizeof("0x") + 16];

	snprintf(text, sizeof(text), "0x%016" PRIx64, value);
	print_string(p, key, prefix, text);
}

/* In text with a suffix, in JSON with as many digits as it takes to read the same number. */
void print_number(struct print *p, const char *key, const char *prefix, double value)
{
	static const char *const suffixes[] = { "", "k", "M", "G", "T" };
	size_t i = 0;

	if (p->json) {
		char text[40];

		snprintf(text, sizeof(text), "%.15g", value);
		if (strtod(text, NULL) != value)
			snprintf(text, sizeof(text), "%.17g", value);
		json_start(p, key);
		fputs(text, p->file);
		return;
	}
	for (; value >= 1000 && i + 1 < ARRAY_SIZE(suffixes); i++)
		value /= 1000;
	fprintf(p->file, "%s%.6g%s", prefix, value, suffixes[i]);
}

void print_bytes(struct print *p, const char *key, const char *prefix, uint64_t value)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double scaled = (double)value / 1024;
	size_t i = 0;

	if (p->json || value < 1024) {
		print_uint(p, key, prefix, value);
		return;
	}
	for (; scaled >= 1024 && i + 1 < ARRAY_SIZE(units); i++)
		scaled /= 1024;
	fprintf(p->file, "%s%.1f %s", prefix, scaled, units[i]);
}

const char *rate_text(char text[RATE_SIZE], uint64_t value)
{
	static const char *const units[] = { "bit", "kbit", "mbit", "gbit", "tbit" };
	double scaled = (double)value * 8;
	size_t i = 0;

	for (; scaled >= 1000 && i + 1 < ARRAY_SIZE(units); i++)
		scaled /= 1000;
	snprintf(text, RATE_SIZE, "%.6g%s", scaled, units[i]);
	return text;
}

void print_rate(struct print *p, const char *key, const char *prefix, uint64_t value)
{
	char text[RATE_SIZE];

	rate_text(text, value);
	if (p->json)
		print_uint(p, key, prefix, value);
	else
		print_string(p, key, prefix, text);
}

void print_percent(struct print *p, const char *key, const char *prefix, uint64_t value)
{
	if (p->json)
		print_uint(p, key, prefix, value);
	else
		fprintf(p->file, "%s%.4g%%", prefix, (double)value / 1e4);
}

void print_bool(struct print *p, const char *key, const char *yes, const char *no, bool value)
{
	if (!p->json) {
		fputs(value ? yes : no, p->file);
		return;
	}
	json_start(p, key);
	fputs(value ? "true" : "false", p->file);
}

void print_text(struct print *p, const char *format, ...)
{
	va_list ap;

	if (p->json)
		return;
	va_start(ap, format);
	vfprintf(p->file, format, ap);
	va_end(ap);
}

int print_flush(struct print *p)
{
	if (!fflush(p->file) && !ferror(p->file))
		return INACONF_OK;
	return error_print("cannot write the output: %s", strerror(errno));
}
