// SPDX-License-Identifier: GPL-2.0
/*
 * What packets are made of: headers, crc32c, the configuration hash, and
 * contributions whose sum is known (the pattern of ina-perf with seed 1).
 */
#include <arpa/inet.h>

#include "raw.h"

static uint64_t raw_state = 1;

void raw_random_seed(uint64_t seed)
{
	raw_state = seed;
}

static uint64_t raw_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

uint64_t raw_random(void)
{
	raw_state += 0x9e3779b97f4a7c15ULL;
	return raw_mix(raw_state);
}

/* FNV-1a over the big-endian numbers nodes must agree on, as kmod/job.c. */
uint64_t raw_hash(const struct raw_options *o)
{
	const uint32_t words[] = {
		htonl(INA_WIRE_VERSION), htonl(o->job), htonl(INA_DTYPE_INT32),
		htonl(o->fragment), htonl(o->capacity), htonl(o->depth),
		htonl(o->group), htonl(o->deadline),
		htonl(o->ip ? INA_ENCAP_IP : INA_ENCAP_UDP), htonl(INA_ON_LOSS_FAIL), 0,
	};
	const uint8_t *byte = (const uint8_t *)words;
	uint64_t hash = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < sizeof(words); i++)
		hash = (hash ^ byte[i]) * 0x100000001b3ULL;
	return hash;
}

const char *raw_reason(uint32_t reason)
{
	static const char * const names[] = {
		[INA_REASON_NONE] = "none",
		[INA_REASON_DEADLINE] = "deadline",
		[INA_REASON_COUNT] = "count",
		[INA_REASON_LENGTH] = "length",
		[INA_REASON_LEFT] = "left",
		[INA_REASON_CHILD_LOST] = "child-lost",
		[INA_REASON_PARENT_LOST] = "parent-lost",
		[INA_REASON_TREE] = "tree",
		[INA_REASON_HASH] = "hash",
		[INA_REASON_UNKNOWN_CHILD] = "unknown-child",
		[INA_REASON_MTU] = "mtu",
		[INA_REASON_ROOT_LOST] = "root-lost",
		[INA_REASON_EXCLUDED] = "excluded",
	};

	return reason < sizeof(names) / sizeof(names[0]) ? names[reason] : "unknown";
}

static uint32_t raw_crc32c(uint32_t crc, const void *data, size_t len)
{
	static uint32_t table[256];
	const uint8_t *byte = data;
	uint32_t i, k, x;

	for (i = 0; i < 256 && !table[255]; i++) {
		for (x = i, k = 0; k < 8; k++)
			x = x >> 1 ^ (x & 1 ? 0x82f63b78 : 0);
		table[i] = x;
	}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *byte++) & 0xff];
	return crc;
}

void raw_seal(void *packet, size_t len)
{
	struct ina_hdr *hdr = packet;

	hdr->flags |= INA_F_CRC;
	hdr->crc = 0;
	hdr->crc = htonl(~raw_crc32c(~0U, packet, len));
}

struct ina_hdr raw_header(const struct raw *raw, uint8_t type)
{
	return (struct ina_hdr){
		.version = INA_WIRE_VERSION,
		.type = type,
		.job = htonl(raw->o.job),
	};
}

uint32_t raw_frags(const struct raw_options *o, uint32_t length)
{
	return (length + o->fragment - 1) / o->fragment;
}

uint32_t raw_count(const struct raw_options *o, uint32_t length, uint32_t frag)
{
	uint32_t left = length - frag * o->fragment;

	return left < o->fragment ? left : o->fragment;
}

static int32_t raw_factor(uint64_t round, uint32_t element)
{
	uint32_t x = (uint32_t)raw_mix(raw_mix(1) + round);

	x ^= element * 0x9e3779b1U;
	x ^= x >> 15;
	x *= 0x85ebca6bU;
	return (int32_t)(x >> 21) - 1024;
}

int32_t raw_value(uint32_t rank, uint64_t round, uint32_t element)
{
	return raw_factor(round, element) * ((int32_t)rank + 1) + (int32_t)rank;
}

int32_t raw_sum(uint32_t workers, uint64_t round, uint32_t element)
{
	int32_t n = (int32_t)workers;

	return raw_factor(round, element) * (n * (n + 1) / 2) + n * (n - 1) / 2;
}
