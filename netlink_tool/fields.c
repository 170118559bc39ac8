// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes to output: sort the attributes of a reply by number, read their
 * values whatever their width, print those a table names.
 */
#include <arpa/inet.h>
#include <string.h>

#include "inaconf.h"

static int attrs_take(const struct nlattr *attr, void *data)
{
	struct attrs *attrs = data;
	uint16_t type = mnl_attr_get_type(attr);

	if (type < ATTRS_MAX && !attrs->attr[type])
		attrs->attr[type] = attr;
	return MNL_CB_OK;
}

void attrs_parse(struct attrs *attrs, const struct nlmsghdr *reply)
{
	memset(attrs, 0, sizeof(*attrs));
	mnl_attr_parse(reply, GENL_HDRLEN, attrs_take, attrs);
}

void attrs_parse_nested(struct attrs *attrs, const struct nlattr *nest)
{
	memset(attrs, 0, sizeof(*attrs));
	mnl_attr_parse_nested(nest, attrs_take, attrs);
}

uint64_t attr_uint(const struct nlattr *attr)
{
	switch (attr ? mnl_attr_get_payload_len(attr) : 0) {
	case sizeof(uint16_t):
		return mnl_attr_get_u16(attr);
	case sizeof(uint32_t):
		return mnl_attr_get_u32(attr);
	case sizeof(uint64_t):
		return mnl_attr_get_u64(attr);
	default:
		return 0;
	}
}

const char *attr_string(const struct nlattr *attr)
{
	if (!attr || mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0)
		return "";
	return mnl_attr_get_str(attr);
}

const char *attr_addr(const struct nlattr *attr, char text[ADDR_SIZE])
{
	if (!attr || mnl_attr_get_payload_len(attr) != sizeof(struct in6_addr))
		return "-";
	return addr_text(mnl_attr_get_payload(attr), text);
}

const char *addr_text(const struct in6_addr *addr, char text[ADDR_SIZE])
{
	const void *bytes = addr;
	int family = AF_INET6;

	if (IN6_IS_ADDR_V4MAPPED(addr)) {
		family = AF_INET;
		bytes = &addr->s6_addr[12];
	}
	return inet_ntop(family, bytes, text, ADDR_SIZE) ? text : "-";
}

bool addr_parse(const char *text, struct in6_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, &addr->s6_addr[12]) == 1) {
		addr->s6_addr[10] = 0xff;
		addr->s6_addr[11] = 0xff;
		return true;
	}
	return inet_pton(AF_INET6, text, addr) == 1;
}

static void field_print_word(struct print *p, const struct field *field, uint64_t value)
{
	const char *word = words_get(field->words, value);

	if (word)
		print_string(p, field->key, field->prefix, word);
	else
		print_uint(p, field->key, field->prefix, value);
}

static void field_print(struct print *p, const struct field *field, const struct nlattr *attr)
{
	char text[ADDR_SIZE];

	switch (field->type) {
	case FIELD_UINT:
		print_uint(p, field->key, field->prefix, attr_uint(attr));
		break;
	case FIELD_INT:
		print_int(p, field->key, field->prefix, (int32_t)attr_uint(attr));
		break;
	case FIELD_HEX:
		print_hex(p, field->key, field->prefix, attr_uint(attr));
		break;
	case FIELD_BYTES:
		print_bytes(p, field->key, field->prefix, attr_uint(attr));
		break;
	case FIELD_WORD:
		field_print_word(p, field, attr_uint(attr));
		break;
	case FIELD_STRING:
		print_string(p, field->key, field->prefix, attr_string(attr));
		break;
	case FIELD_ADDR:
		print_string(p, field->key, field->prefix, attr_addr(attr, text));
		break;
	case FIELD_RATE:
		print_rate(p, field->key, field->prefix, attr_uint(attr));
		break;
	case FIELD_PERCENT:
		print_percent(p, field->key, field->prefix, attr_uint(attr));
		break;
	}
}

void fields_print(struct print *p, const struct field *fields, size_t count,
		  const struct attrs *attrs)
{
	for (size_t i = 0; i < count; i++) {
		const struct nlattr *attr = attrs->attr[fields[i].attr];

		if (attr)
			field_print(p, &fields[i], attr);
	}
}
