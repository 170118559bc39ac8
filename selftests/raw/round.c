// SPDX-License-Identifier: GPL-2.0
/*
 * Rounds: DATA of every child for every fragment, no more in flight than the
 * receiver can take, every element of every RESULT checked, ACK.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

static uint32_t raw_length(const struct raw *raw, const struct raw_child *child)
{
	bool last = child == &raw->child[raw->o.count - 1];

	return raw->o.elements - (last && (raw->o.lies & RAW_LIE_LENGTH));
}

/* A DATA packet at @hdr, as true as the command line allows. */
void raw_data(const struct raw *raw, struct raw_child *child, uint32_t frag, uint64_t round,
	      struct ina_hdr *hdr)
{
	const struct raw_options *o = &raw->o;
	uint32_t length = raw_length(raw, child);
	uint32_t count = raw_count(o, length, frag);
	uint32_t rank = o->rank + (child - raw->child);
	bool liar = child == raw->child;
	uint8_t *payload = (uint8_t *)(hdr + 1);
	uint32_t i, value;

	*hdr = raw_header(raw, INA_TYPE_DATA);
	hdr->epoch = htonl(child->epoch);
	hdr->round = htonl(round);
	hdr->seq = htonl(child->seq++);
	hdr->frag = htonl(frag);
	hdr->length = htonl(length);
	hdr->index = htons(child->index);
	hdr->count = htons(count);
	hdr->workers = htonl(liar && (o->lies & RAW_LIE_WORKERS) ? o->workers_lie : 1);
	hdr->token = htonl(child->token + (liar && (o->lies & RAW_LIE_TOKEN)));
	for (i = 0; i < count; i++) {
		value = htole32(raw_value(rank, round, frag * o->fragment + i));
		memcpy(payload + i * 4, &value, 4);
	}
}

static size_t raw_data_size(const struct ina_hdr *hdr)
{
	return sizeof(*hdr) + ntohs(hdr->count) * 4;
}

/* Some of it twice, if asked for. */
static void raw_send_twice(const struct raw *raw, int fd, struct ina_hdr *hdr)
{
	if (raw_random() % 100 < raw->o.duplicate)
		raw_send(raw, fd, hdr, raw_data_size(hdr));
}

/* Fragments @from to @to (in sending order) of one child. */
static void raw_send_data(const struct raw *raw, struct raw_child *child, uint32_t from,
			  uint32_t to)
{
	static uint8_t packets[RAW_BATCH_MAX + RAW_PACKET_MAX];
	size_t full = sizeof(struct ina_hdr) + raw->o.fragment * 4;
	size_t len = 0;

	for (; from < to; from++) {
		struct ina_hdr *hdr = (struct ina_hdr *)(packets + len);

		raw_data(raw, child, raw->round.order[from], raw->round.number, hdr);
		raw_send_twice(raw, child->fd, hdr);
		len += raw_data_size(hdr);
		if (raw_data_size(hdr) < full || len + full > RAW_BATCH_MAX || from + 1 == to) {
			raw_send_batch(raw, child->fd, packets, len, full);
			len = 0;
		}
	}
}

/* What must be refused, one packet of each. */
static void raw_send_lies(const struct raw *raw)
{
	uint8_t packet[RAW_PACKET_MAX];
	struct ina_hdr *hdr = (struct ina_hdr *)packet;
	struct raw_child *child = raw->child;
	uint64_t round = raw->round.number;
	uint32_t lies = raw->o.lies;

	raw_data(raw, child, 0, round, hdr);
	if (lies & RAW_LIE_STRANGER)
		raw_send(raw, raw->stranger, packet, raw_data_size(hdr));
	if (lies & RAW_LIE_FRAGMENTS) {
		hdr->frag = htonl(raw->round.frags);
		raw_send(raw, child->fd, packet, raw_data_size(hdr));
		hdr->frag = 0;
		hdr->length = htonl(raw->o.capacity + 1);
		raw_send(raw, child->fd, packet, raw_data_size(hdr));
		hdr->length = htonl(raw->o.elements);
		hdr->count = htons(ntohs(hdr->count) - 1);
		raw_send(raw, child->fd, packet, raw_data_size(hdr));
	}
	raw_data(raw, child, 0, round, hdr);
	hdr->epoch = htonl(child->epoch - 1);
	if (lies & RAW_LIE_EPOCH)
		raw_send(raw, child->fd, packet, raw_data_size(hdr));
	if (!(lies & RAW_LIE_WINDOW))
		return;
	raw_data(raw, child, 0, round + raw->o.depth, hdr);
	raw_send(raw, child->fd, packet, raw_data_size(hdr));
	raw_data(raw, child, 0, round - 1, hdr);
	raw_send(raw, child->fd, packet, raw_data_size(hdr));
}

/* Every element, or the end. */
static void raw_check(const struct raw *raw, const struct raw_child *child,
		      const struct ina_hdr *hdr)
{
	uint32_t frag = ntohl(hdr->frag), count = ntohs(hdr->count), i;
	const uint8_t *payload = (const uint8_t *)(hdr + 1);
	uint64_t round = raw->round.number;

	for (i = 0; i < count; i++) {
		uint32_t element = frag * raw->o.fragment + i, value;
		int32_t want = raw_sum(child->members, round, element);

		memcpy(&value, payload + i * 4, 4);
		if ((int32_t)le32toh(value) != want)
			raw_die("wrong round %llu element %u: expected %d, got %d",
				(unsigned long long)round, element, want, le32toh(value));
	}
}

void raw_round_result(struct raw *raw, struct raw_child *child, const struct ina_hdr *hdr,
		      size_t len)
{
	struct raw_round *round = &raw->round;
	uint32_t frag = ntohl(hdr->frag);

	if (!round->running || raw->careless || ntohl(hdr->round) != (uint32_t)round->number ||
	    ntohl(hdr->epoch) != child->epoch)
		return;
	if (frag >= round->frags || ntohl(hdr->length) != raw->o.elements ||
	    ntohs(hdr->count) != raw_count(&raw->o, raw->o.elements, frag) ||
	    len != ntohs(hdr->count) * 4U)
		raw_die("wrong result fragment %u", frag);
	if (ntohl(hdr->workers) != child->members || ntohl(hdr->token) != child->members_token)
		raw_die("wrong result members %u", ntohl(hdr->workers));
	raw_check(raw, child, hdr);
	if (child->got[frag]++)
		raw_die("wrong result twice: fragment %u", frag);
	if (++round->held[frag] == raw->o.count)
		round->finished++;
}

/* Enough came back to send more, or all. */
static bool raw_round_room(const struct raw *raw)
{
	const struct raw_round *round = &raw->round;

	return round->finished == round->frags ||
	       (round->sent < round->frags && round->sent - round->finished < raw->o.window);
}

static bool raw_round_in_window(const struct raw *raw)
{
	uint32_t i;

	for (i = 0; i < raw->o.count; i++)
		if (raw->child[i].base != raw->round.number)
			return false;
	return true;
}

static void raw_round_order(struct raw_round *round, bool shuffle)
{
	uint32_t i;

	for (i = 0; i < round->frags; i++)
		round->order[i] = i;
	for (i = round->frags - 1; i > 0 && shuffle; i--) {
		uint32_t j = raw_random() % (i + 1), swap = round->order[i];

		round->order[i] = round->order[j];
		round->order[j] = swap;
	}
}

/* Fresh memory for a round. */
static void raw_round_begin(struct raw *raw, uint64_t number)
{
	uint32_t frags = raw_frags(&raw->o, raw->o.elements), i;
	struct raw_round *round = &raw->round;

	free(round->order);
	free(round->held);
	*round = (struct raw_round){
		.number = number, .frags = frags, .running = true,
		.order = calloc(frags, sizeof(*round->order)),
		.held = calloc(frags, sizeof(*round->held)),
	};
	for (i = 0; i < raw->o.count; i++) {
		free(raw->child[i].got);
		raw->child[i].got = calloc(frags, 1);
		if (!raw->child[i].got)
			raw_die("error no memory");
	}
	if (!round->order || !round->held)
		raw_die("error no memory");
	raw_round_order(round, raw->o.lies & RAW_REORDER);
}

static void raw_round_send(struct raw *raw)
{
	struct raw_round *round = &raw->round;
	uint32_t to = round->finished + raw->o.window, i;

	if (to > round->frags)
		to = round->frags;
	if (to <= round->sent)
		return;
	for (i = 0; i < raw->o.count; i++)
		raw_send_data(raw, &raw->child[i], round->sent, to);
	round->sent = to;
}

/* One round from the first DATA to the ACK that all heard. */
void raw_round_run(struct raw *raw, uint64_t number)
{
	struct raw_round *round = &raw->round;
	uint32_t i;

	raw_round_begin(raw, number);
	raw_wait(raw, raw_round_in_window, "window");
	raw_send_lies(raw);
	while (round->finished < round->frags) {
		raw_round_send(raw);
		raw_wait(raw, raw_round_room, "results");
	}
	for (i = 0; i < raw->o.count; i++) {
		raw->child[i].acked = number + 1;
		raw_ack(raw, &raw->child[i]);
	}
	round->number++;
	raw_wait(raw, raw_round_in_window, "acknowledgement");
}
