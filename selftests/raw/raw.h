/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rawnode: leaf nodes of a job in user space, many in one process. They speak
 * the wire protocol to a real node, and lie where the command line says so.
 */
#ifndef _RAW_H
#define _RAW_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <linux/ina.h>
#include <linux/ina_wire.h>

#define RAW_PACKET_MAX	(sizeof(struct ina_hdr) + INA_FRAGMENT_MAX * 4)
#define RAW_BATCH_MAX	65000	/* bytes of a super-packet */
#define RAW_TICK_MS	100	/* unanswered control is repeated that often */

/**
 * union raw_addr - an address with a port, IPv4 or IPv6
 */
union raw_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/**
 * struct raw_options - the command line
 * @mode: NULL to run rounds, "fuzz" or "craft"
 * @kinds: what to craft, up to NULL
 * @packets: how many to fuzz
 * @seed: of the fuzz
 * @lies: RAW_LIE_* bits
 */
struct raw_options {
	const char *mode;
	char **kinds;
	unsigned long packets;
	unsigned long seed;
	union raw_addr parent;
	union raw_addr first;
	union raw_addr stranger;
	uint32_t job;
	uint32_t count;
	uint32_t rank;
	uint32_t elements;
	uint32_t fragment;
	uint32_t capacity;
	uint32_t depth;
	uint32_t group;
	uint32_t deadline;
	uint32_t floor;
	uint32_t rounds;
	uint32_t port;
	uint32_t mtu;
	uint32_t window;
	uint32_t timeout;
	uint32_t workers_lie;
	uint32_t duplicate;
	uint64_t hash;
	uint32_t lies;
	bool ip;
};

#define RAW_LIE_HASH		0x0001
#define RAW_LIE_TOKEN		0x0002
#define RAW_LIE_WORKERS		0x0004
#define RAW_LIE_LENGTH		0x0008
#define RAW_LIE_FRAGMENTS	0x0010
#define RAW_LIE_STRANGER	0x0020
#define RAW_LIE_EPOCH		0x0040
#define RAW_LIE_WINDOW		0x0080
#define RAW_REORDER		0x0100
#define RAW_GSO			0x0200
#define RAW_ZERO_CHECKSUM	0x0400
#define RAW_LEAVE		0x0800

/**
 * struct raw_child - one leaf
 * @got: fragments of the round whose result has come, a byte each
 * @heard: an EPOCH has come, the last with @heard_seq
 */
struct raw_child {
	int fd;
	uint16_t index;
	bool welcomed;
	bool open;
	bool heard;
	uint64_t instance;
	uint32_t generation;
	uint32_t token;
	uint32_t epoch;
	uint32_t members;
	uint32_t members_token;
	uint32_t seq;
	uint32_t heard_seq;
	uint64_t base;
	uint64_t acked;
	uint8_t *got;
};

/**
 * struct raw_round - the round that runs
 * @order: fragments in the order they are sent
 * @sent: how many of @order were
 * @held: by fragment, how many children have its result
 * @finished: fragments all have
 */
struct raw_round {
	uint64_t number;
	uint32_t frags;
	uint32_t *order;
	uint32_t sent;
	uint32_t *held;
	uint32_t finished;
	bool running;
};

/**
 * struct raw - everything
 * @careless: failures and closed epochs do not end the program
 */
struct raw {
	struct raw_options o;
	struct raw_child *child;
	struct raw_round round;
	uint64_t first;		/* round that we took part in */
	int epoll;
	int stranger;
	bool careless;
};

/* packet.c: what packets are made of */
uint64_t raw_hash(const struct raw_options *o);
uint64_t raw_random(void);
void raw_random_seed(uint64_t seed);
const char *raw_reason(uint32_t reason);
struct ina_hdr raw_header(const struct raw *raw, uint8_t type);
void raw_seal(void *packet, size_t len);
uint32_t raw_frags(const struct raw_options *o, uint32_t length);
uint32_t raw_count(const struct raw_options *o, uint32_t length, uint32_t frag);
int32_t raw_value(uint32_t rank, uint64_t round, uint32_t element);
int32_t raw_sum(uint32_t workers, uint64_t round, uint32_t element);

/* socket.c: in and out */
bool raw_addr_parse(union raw_addr *addr, const char *text);
void raw_addr_print(const uint8_t addr[16], char *text, size_t size);
int raw_socket(const struct raw *raw, const union raw_addr *from, uint32_t add);
void raw_send_as_is(int fd, const void *packet, size_t len);
void raw_send(const struct raw *raw, int fd, void *packet, size_t len);
void raw_send_batch(const struct raw *raw, int fd, void *packets, size_t len, size_t size);
size_t raw_recv(const struct raw *raw, int fd, const void **packet);
_Noreturn void raw_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* member.c: JOIN to EPOCH, and the loop that hears it all */
void raw_open(struct raw *raw);
void raw_join(const struct raw *raw, const struct raw_child *child);
void raw_join_all(struct raw *raw);
void raw_leave(struct raw *raw);
void raw_ack(const struct raw *raw, const struct raw_child *child);
void raw_hear(struct raw *raw, int timeout_ms);
void raw_wait(struct raw *raw, bool (*done)(const struct raw *raw), const char *what);

/* round.c: DATA up, RESULT down */
void raw_round_run(struct raw *raw, uint64_t number);
void raw_round_result(struct raw *raw, struct raw_child *child, const struct ina_hdr *hdr,
		      size_t len);
void raw_data(const struct raw *raw, struct raw_child *child, uint32_t frag, uint64_t round,
	      struct ina_hdr *hdr);

/* fuzz.c: packets nobody should send */
int raw_fuzz(struct raw *raw);

/* craft.c: one bad packet of a kind */
int raw_craft(struct raw *raw);

#endif /* _RAW_H */
