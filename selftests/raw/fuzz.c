// SPDX-License-Identifier: GPL-2.0
/*
 * Packets nobody should send: true ones of every type with fields, bits and
 * lengths changed, and noise, from a child of an open epoch.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "raw.h"

#define RAW_FUZZ_JOIN	64	/* packets until the child joins again */

static const size_t raw_bodies[INA_TYPE_MAX] = {
	[INA_TYPE_JOIN] = sizeof(struct ina_join_hdr),
	[INA_TYPE_WELCOME] = sizeof(struct ina_welcome_hdr),
	[INA_TYPE_EPOCH] = sizeof(struct ina_epoch_hdr),
	[INA_TYPE_ACK] = sizeof(struct ina_ack_hdr),
	[INA_TYPE_FAIL] = sizeof(struct ina_fail_hdr),
	[INA_TYPE_DONE] = sizeof(struct ina_done_hdr),
	[INA_TYPE_LATE] = sizeof(struct ina_fail_hdr),
	[INA_TYPE_READY] = sizeof(struct ina_ready_hdr),
	[INA_TYPE_GRANT] = sizeof(struct ina_grant_hdr),
};

/* What the types say that are not DATA: fields that make sense. */
static void raw_fuzz_body(const struct raw *raw, const struct raw_child *child, uint8_t type,
			  void *body)
{
	struct ina_join_hdr *join = body;
	struct ina_ack_hdr *ack = body;
	struct ina_fail_hdr *fail = body;

	memset(body, 0, raw_bodies[type]);
	if (type == INA_TYPE_JOIN) {
		join->instance = htobe64(child->instance);
		join->hash = htobe64(raw->o.hash);
		join->generation = htonl(child->generation);
		join->workers = htonl(1);
		join->token = htonl(child->token);
		join->mtu = htons(raw->o.mtu);
	} else if (type == INA_TYPE_ACK) {
		ack->acked = htobe64(child->acked);
		ack->base = htobe64(child->base);
	} else if (type == INA_TYPE_FAIL) {
		fail->reason = htonl(INA_REASON_COUNT);
	}
}

/* A true packet of a random type. Return: its bytes. */
static size_t raw_fuzz_true(const struct raw *raw, struct raw_child *child, uint8_t *packet)
{
	struct ina_hdr *hdr = (struct ina_hdr *)packet;
	uint8_t type = 1 + raw_random() % (INA_TYPE_MAX - 1);
	uint64_t round = child->base + raw_random() % raw->o.depth;

	raw_data(raw, child, raw_random() % raw_frags(&raw->o, raw->o.elements), round, hdr);
	if (type == INA_TYPE_DATA || type == INA_TYPE_RESULT) {
		hdr->type = type;
		return sizeof(*hdr) + ntohs(hdr->count) * 4;
	}
	*hdr = raw_header(raw, type);
	hdr->index = htons(child->index);
	if (type != INA_TYPE_WELCOME && type < INA_TYPE_PROBE)
		hdr->epoch = htonl(child->epoch);
	if (type == INA_TYPE_FAIL || type == INA_TYPE_LATE || type == INA_TYPE_EXCLUDE)
		hdr->round = htonl(round);
	if (type == INA_TYPE_ACK)
		hdr->workers = htonl(child->members);
	raw_fuzz_body(raw, child, type, hdr + 1);
	return sizeof(*hdr) + raw_bodies[type];
}

/* A 16- or 32-bit word at random becomes a number at the edge of something. */
static void raw_fuzz_field(uint8_t *packet, size_t len)
{
	static const uint32_t edges[] = {
		0, 1, 2, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
	};
	size_t edge = raw_random() % (sizeof(edges) / sizeof(edges[0]) + 1);
	uint32_t value = htonl(edge < sizeof(edges) / sizeof(edges[0]) ? edges[edge] :
									 raw_random());
	size_t span = len < 100 ? len : 100;
	size_t width = raw_random() & 1 ? 2 : 4;

	memcpy(packet + raw_random() % (span / width) * width, (uint8_t *)&value + 4 - width,
	       width);
}

static void raw_fuzz_noise(uint8_t *packet, size_t len)
{
	while (len--)
		*packet++ = raw_random();
}

/* Return: bytes of the packet, which may be none. */
static size_t raw_fuzz_mutate(uint8_t *packet, size_t len, size_t limit)
{
	switch (raw_random() % 8) {
	case 0:
		len = raw_random() % 200;
		raw_fuzz_noise(packet, len);
		return len;
	case 1:
		return raw_random() % len;
	case 2:
		len += raw_random() % 64;
		return len < limit ? len : limit;
	case 3:
		packet[raw_random() % len] ^= 1 << raw_random() % 8;
		return len;
	case 4:
		return len;
	case 5:
		raw_fuzz_field(packet, len);
		/* fall through */
	default:
		raw_fuzz_field(packet, len);
		return len;
	}
}

static void raw_fuzz_one(const struct raw *raw, struct raw_child *child)
{
	static uint8_t packet[RAW_PACKET_MAX + 256];
	size_t limit = raw->o.mtu - 60 < RAW_PACKET_MAX ? raw->o.mtu - 60 : RAW_PACKET_MAX;
	size_t len = raw_fuzz_true(raw, child, packet);
	bool sealed = raw_random() % 8 != 0;

	len = raw_fuzz_mutate(packet, len, limit);
	if (len >= sizeof(struct ina_hdr) && (raw->o.ip ? sealed : !sealed))
		raw_seal(packet, len);
	raw_send_as_is(child->fd, packet, len);
}

int raw_fuzz(struct raw *raw)
{
	unsigned long i;
	uint32_t k;

	raw_random_seed(raw->o.seed);
	raw->careless = true;
	raw->round.running = false;
	for (i = 0; i < raw->o.packets; i++) {
		raw_fuzz_one(raw, &raw->child[raw_random() % raw->o.count]);
		if (i % 8 == 7)
			raw_hear(raw, 0);
		if (i % RAW_FUZZ_JOIN != 0)
			continue;
		/* The truth again, so that packets find an open epoch. */
		for (k = 0; k < raw->o.count; k++)
			raw_join(raw, &raw->child[k]);
	}
	printf("ok fuzz %lu packets seed %lu\n", raw->o.packets, raw->o.seed);
	return 0;
}
