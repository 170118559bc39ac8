// SPDX-License-Identifier: GPL-2.0
/*
 * The leaves' side of membership, and the loop that hears what the parent
 * says to any of them. Whoever waits repeats, every RAW_TICK_MS.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <time.h>

#include "raw.h"

static uint64_t raw_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* A control packet: the header and what follows it. */
static void raw_control(const struct raw *raw, const struct raw_child *child, struct ina_hdr hdr,
			const void *body, size_t len)
{
	uint8_t packet[RAW_PACKET_MAX];

	memcpy(packet, &hdr, sizeof(hdr));
	memcpy(packet + sizeof(hdr), body, len);
	raw_send(raw, child->fd, packet, sizeof(hdr) + len);
}

static void raw_join_as(const struct raw *raw, const struct raw_child *child, uint32_t workers)
{
	struct ina_hdr hdr = raw_header(raw, INA_TYPE_JOIN);
	struct ina_join_hdr join = {
		.instance = htobe64(child->instance),
		.hash = htobe64(raw->o.hash),
		.floor = htobe64(raw->o.floor),
		.generation = htonl(child->generation),
		.workers = htonl(workers),
		.token = htonl(workers ? child->token : 0),
		.mtu = htons(raw->o.mtu),
		.reason = htons(workers ? 0 : INA_REASON_LEFT),
	};

	hdr.index = htons(INA_INDEX_NONE);
	raw_control(raw, child, hdr, &join, sizeof(join));
}

void raw_join(const struct raw *raw, const struct raw_child *child)
{
	raw_join_as(raw, child, 1);
}

void raw_ack(const struct raw *raw, const struct raw_child *child)
{
	struct ina_hdr hdr = raw_header(raw, INA_TYPE_ACK);
	struct ina_ack_hdr ack = {
		.acked = htobe64(child->acked),
		.base = htobe64(child->base),
	};

	hdr.epoch = htonl(child->epoch);
	hdr.index = htons(child->index);
	hdr.workers = htonl(child->open ? child->members : 0);
	raw_control(raw, child, hdr, &ack, sizeof(ack));
}

/* Sockets, identities; nothing is sent yet. */
void raw_open(struct raw *raw)
{
	const struct raw_options *o = &raw->o;
	struct raw_child *child;
	uint32_t i;

	raw->child = calloc(o->count, sizeof(*raw->child));
	raw->epoll = epoll_create1(0);
	if (!raw->child || raw->epoll < 0)
		raw_die("error no memory");
	for (i = 0; i < o->count; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.u32 = i };

		child = &raw->child[i];
		child->fd = raw_socket(raw, &o->first, i);
		child->generation = 1;
		if (getrandom(&child->instance, sizeof(child->instance), 0) < 0 ||
		    getrandom(&child->token, sizeof(child->token), 0) < 0)
			raw_die("error no random numbers");
		if (epoll_ctl(raw->epoll, EPOLL_CTL_ADD, child->fd, &event))
			raw_die("error epoll");
	}
	if (o->lies & RAW_LIE_STRANGER)
		raw->stranger = raw_socket(raw, &o->stranger, 0);
}

static void raw_hear_welcome(struct raw *raw, struct raw_child *child, const struct ina_hdr *hdr,
			     const struct ina_welcome_hdr *welcome)
{
	uint32_t reason = ntohl(welcome->reason);

	if (be64toh(welcome->instance) != child->instance ||
	    ntohl(welcome->generation) != child->generation)
		return;
	if (reason && !raw->careless)
		raw_die("refused %s", raw_reason(reason));
	child->welcomed = !reason;
	child->index = ntohs(hdr->index);
}

/* The first round of a new epoch that is neither complete nor failed. */
static uint64_t raw_first_round(const struct ina_epoch_hdr *epoch)
{
	uint32_t over = ntohl(epoch->final) | ntohl(epoch->failed);
	uint64_t round = be64toh(epoch->base);

	for (; over & 1; over >>= 1)
		round++;
	return round;
}

static void raw_hear_epoch(struct raw *raw, struct raw_child *child, const struct ina_hdr *hdr,
			   const struct ina_epoch_hdr *epoch)
{
	if (be64toh(epoch->instance) != child->instance ||
	    ntohl(epoch->generation) != child->generation ||
	    (child->heard && (int32_t)(ntohl(hdr->seq) - child->heard_seq) <= 0))
		return;
	child->heard = true;
	child->heard_seq = ntohl(hdr->seq);
	if (!epoch->workers && raw->round.running && !raw->careless)
		raw_die("closed %s", raw_reason(ntohl(epoch->reason)));
	if (ntohl(hdr->epoch) != child->epoch) {
		child->acked = raw_first_round(epoch);
		child->seq = 0;
	}
	child->epoch = ntohl(hdr->epoch);
	child->open = epoch->workers;
	child->members = ntohl(epoch->workers);
	child->members_token = ntohl(epoch->token);
	child->base = be64toh(epoch->base);
	raw_ack(raw, child);
}

static void raw_hear_fail(const struct raw *raw, const struct raw_child *child,
			  const struct ina_hdr *hdr, const struct ina_fail_hdr *fail)
{
	char culprit[INET6_ADDRSTRLEN];

	/* One that failed before we came is told again in each epoch until it is acknowledged. */
	if (raw->careless || !raw->round.running || ntohl(hdr->epoch) != child->epoch ||
	    (int32_t)(ntohl(hdr->round) - (uint32_t)raw->first) < 0)
		return;
	raw_addr_print(fail->culprit, culprit, sizeof(culprit));
	raw_die("failed %u %s %u %u %s", ntohl(hdr->round), raw_reason(ntohl(fail->reason)),
		ntohl(fail->detail[0]), ntohl(fail->detail[1]), culprit);
}

/*
 * All numbers from the group of @seq up to @end have come. One that has not ends in a timeout:
 * nothing is asked for again.
 */
static void raw_answer(const struct raw *raw, const struct raw_child *child,
		       const struct ina_hdr *to, uint32_t seq, uint32_t end)
{
	struct ina_hdr hdr = raw_header(raw, INA_TYPE_GROUP_OK);
	uint32_t group = raw->o.group;

	hdr.epoch = to->epoch;
	hdr.index = htons(child->index);
	for (seq -= seq % group; (int32_t)(end - seq) > 0; seq += group) {
		hdr.seq = htonl(seq);
		hdr.count = htons(end - seq < group ? end - seq : group);
		raw_control(raw, child, hdr, "", 0);
	}
}

/* The last number of a group is answered at once, any other if the parent asks. */
static void raw_hear_number(const struct raw *raw, const struct raw_child *child,
			    const struct ina_hdr *hdr)
{
	uint32_t seq = ntohl(hdr->seq);

	if ((seq + 1) % raw->o.group == 0)
		raw_answer(raw, child, hdr, seq, seq + 1);
}

static void raw_hear_packet(struct raw *raw, struct raw_child *child, const void *packet,
			    size_t len)
{
	const struct ina_hdr *hdr = packet;
	const void *body = hdr + 1;
	const struct ina_done_hdr *done = body;

	if (len < sizeof(*hdr) || ntohl(hdr->job) != raw->o.job)
		return;
	len -= sizeof(*hdr);
	if (hdr->type == INA_TYPE_WELCOME && len == sizeof(struct ina_welcome_hdr))
		raw_hear_welcome(raw, child, hdr, body);
	else if (hdr->type == INA_TYPE_EPOCH && len >= sizeof(struct ina_epoch_hdr))
		raw_hear_epoch(raw, child, hdr, body);
	else if (hdr->type == INA_TYPE_FAIL && len == sizeof(struct ina_fail_hdr))
		raw_hear_fail(raw, child, hdr, body);
	else if (hdr->type == INA_TYPE_DONE && len == sizeof(*done))
		raw_answer(raw, child, hdr, ntohl(hdr->seq), ntohl(done->end));
	else if (hdr->type == INA_TYPE_RESULT)
		raw_hear_number(raw, child, hdr);
	if (hdr->type == INA_TYPE_RESULT)
		raw_round_result(raw, child, hdr, len);
}

static void raw_hear_child(struct raw *raw, struct raw_child *child)
{
	const void *packet;
	size_t len;

	while ((len = raw_recv(raw, child->fd, &packet)))
		raw_hear_packet(raw, child, packet, len);
}

/* Hear what has come; wait for something if nothing has. */
void raw_hear(struct raw *raw, int timeout_ms)
{
	struct epoll_event event[64];
	int n = epoll_wait(raw->epoll, event, 64, timeout_ms);
	int i;

	for (i = 0; i < n; i++)
		raw_hear_child(raw, &raw->child[event[i].data.u32]);
}

/* Say again what has no answer. */
static void raw_repeat(struct raw *raw)
{
	uint32_t i;

	for (i = 0; i < raw->o.count; i++) {
		const struct raw_child *child = &raw->child[i];

		if (!child->welcomed)
			raw_join(raw, child);
		else if (child->open && child->acked > child->base)
			raw_ack(raw, child);
	}
}

/* Until @done, or nothing is heard of it for the timeout. */
void raw_wait(struct raw *raw, bool (*done)(const struct raw *raw), const char *what)
{
	uint64_t start = raw_now_ms(), tick = start;

	while (!done(raw)) {
		uint64_t now;

		raw_hear(raw, RAW_TICK_MS);
		now = raw_now_ms();
		if (now - start > raw->o.timeout * 1000ULL)
			raw_die("timeout %s", what);
		if (now - tick >= RAW_TICK_MS) {
			raw_repeat(raw);
			tick = now;
		}
	}
}

static bool raw_all_open(const struct raw *raw)
{
	uint32_t i;

	for (i = 0; i < raw->o.count; i++)
		if (!raw->child[i].welcomed || !raw->child[i].open ||
		    raw->child[i].epoch != raw->child[0].epoch)
			return false;
	return true;
}

/* All are in one open epoch. */
void raw_join_all(struct raw *raw)
{
	uint32_t i;

	for (i = 0; i < raw->o.count; i++) {
		raw_join(raw, &raw->child[i]);
		if (i % 32 == 31)
			raw_hear(raw, 0);
	}
	raw_wait(raw, raw_all_open, "epoch");
}

/* The first child says that it goes, until its parent has heard it. */
void raw_leave(struct raw *raw)
{
	struct raw_child *child = &raw->child[0];
	uint64_t end = raw_now_ms() + raw->o.timeout * 1000ULL;

	raw->careless = true;
	child->generation++;
	child->welcomed = false;
	raw->round.running = false;
	while (!child->welcomed) {
		if (raw_now_ms() > end)
			raw_die("timeout leave");
		raw_join_as(raw, child, 0);
		raw_hear(raw, RAW_TICK_MS);
	}
}
