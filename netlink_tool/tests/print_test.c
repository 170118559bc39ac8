// SPDX-License-Identifier: GPL-2.0
/*
 * Unit test of print.c: what one sequence of calls looks like as text, as JSON
 * and as JSON with line breaks, and how strings are quoted. Speaks TAP.
 */
#include <stdlib.h>
#include <string.h>

#include "inaconf.h"

static void sample_print(struct print *p)
{
	print_array_open(p, NULL);
	print_object_open(p, NULL);
	print_uint(p, "job", "job ", UINT64_MAX);
	print_hex(p, "hash", " hash ", 0xab);
	print_bytes(p, "memory", " memory ", 3 << 19);
	print_bool(p, "joined", " joined", " missing", true);
	print_rate(p, "rate", " rate ", 1250000000);
	print_percent(p, "loss_ppm", " loss ", 12500);
	print_array_open(p, "children");
	print_string(p, NULL, " ", "a");
	print_string(p, NULL, " ", "b");
	print_array_close(p);
	print_object_open(p, "none");
	print_object_close(p);
	print_object_close(p);
	print_array_close(p);
	print_text(p, "\n");
}

static void quote_print(struct print *p)
{
	print_string(p, NULL, "", "\"\\\n\x7f \xc3\xa4 \xff\xe2\x82 \xed\xa0\x80");
}

static int failed;

static void expect(int number, const char *name, struct print form,
		   void (*fn)(struct print *p), const char *expected)
{
	char *text = NULL;
	size_t length;
	bool same;

	form.file = open_memstream(&text, &length);
	if (!form.file)
		abort();
	fn(&form);
	fclose(form.file);
	same = !strcmp(text, expected);
	printf("%sok %d - %s\n", same ? "" : "not ", number, name);
	if (!same)
		printf("# got      %s\n# expected %s\n", text, expected);
	failed += !same;
	free(text);
}

int main(void)
{
	printf("1..4\n");
	expect(1, "text", (struct print){ .json = false }, sample_print,
	       "job 18446744073709551615 hash 0x00000000000000ab memory 1.5 MiB joined rate 10gbit loss 1.25% a b\n");
	expect(2, "json", (struct print){ .json = true }, sample_print,
	       "[{\"job\":18446744073709551615,\"hash\":\"0x00000000000000ab\","
	       "\"memory\":1572864,\"joined\":true,\"rate\":1250000000,"
	       "\"loss_ppm\":12500,\"children\":[\"a\",\"b\"],\"none\":{}}]\n");
	expect(3, "pretty", (struct print){ .json = true, .pretty = true }, sample_print,
	       "[\n    {\n        \"job\": 18446744073709551615,\n"
	       "        \"hash\": \"0x00000000000000ab\",\n        \"memory\": 1572864,\n"
	       "        \"joined\": true,\n        \"rate\": 1250000000,\n"
	       "        \"loss_ppm\": 12500,\n        \"children\": [\n            \"a\",\n"
	       "            \"b\"\n        ],\n        \"none\": {}\n    }\n]\n");
	expect(4, "quote", (struct print){ .json = true }, quote_print,
	       "\"\\\"\\\\\\u000a\\u007f \xc3\xa4 \\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd\"");
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
