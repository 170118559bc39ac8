/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ways through a fabric: where the packets of a flow go by what routers compute
 * (flowhash.c) or as they show when asked (trace.c), and which flows have
 * nothing in common (disjoint.c). flowhash.c and disjoint.c are pure.
 */
#ifndef INACONF_ROUTE_H
#define INACONF_ROUTE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROUTE_HOPS	30	/* most routers of a way */
#define ROUTE_MAX	64	/* most ways to choose from */

/**
 * struct flow - what routers tell packets apart by
 * @src: source address, IPv4 mapped into IPv6
 * @dst: destination address
 * @sport: source port
 * @dport: destination port
 * @proto: protocol
 */
struct flow {
	struct in6_addr src;
	struct in6_addr dst;
	uint16_t sport;
	uint16_t dport;
	uint8_t proto;
};

/**
 * struct route - the way of a flow
 * @flow: the flow
 * @ifindex: device it has to leave by, 0 any
 * @id: number of the path that is there, -1 none
 * @hop: routers, those that are not known are all zero
 */
struct route {
	struct flow flow;
	unsigned int ifindex;
	int id;
	struct in6_addr hop[ROUTE_HOPS];
};

/* flowhash.c */

/**
 * enum flowhash_kind - how a router computes which of its ways a flow takes
 * @FLOWHASH_XOR: exclusive or of the 16-bit words of addresses, ports and protocol
 * @FLOWHASH_CRC16: CRC-16 (polynomial 0x8005, reflected) of the same
 * @FLOWHASH_LINUX: as Linux 6.11 and later, with a given seed
 */
enum flowhash_kind {
	FLOWHASH_XOR,
	FLOWHASH_CRC16,
	FLOWHASH_LINUX,
};

uint16_t flowhash_xor(const struct flow *flow);
uint16_t flowhash_crc16(const void *data, size_t size);
uint64_t flowhash_siphash(const void *data, size_t size, const uint64_t key[2]);
uint32_t flowhash_linux(const struct flow *flow, uint32_t seed);

/* Which of @n equal ways a flow takes. */
unsigned int flowhash_bucket(enum flowhash_kind kind, uint32_t seed, const struct flow *flow,
			     unsigned int n);

/* disjoint.c */

/* Are hops number @i of ways with @n_hops routers told apart, or the ends all share? */
bool disjoint_counts(unsigned int i, unsigned int n_hops);

/*
 * Choose at most @most of @n @routes, as many as can be, of which no two share
 * a router with each other or with one of @n_fixed @fixed. Routers that all
 * share and hops that are not known do not count. Of equal choices the one
 * with the first routes is taken. Returns how many, their indices in @chosen.
 */
size_t disjoint_choose(const struct route *fixed, size_t n_fixed, const struct route *routes,
		       size_t n, unsigned int n_hops, size_t most, size_t *chosen);

/* Flows to look at until it is likely that a fabric has no more than @n disjoint ways. */
unsigned int disjoint_enough(size_t n);

/* trace.c */

/* Count the routers between the ends of a flow; negative INACONF_* if it cannot be told. */
int trace_distance(const struct flow *flow, unsigned int ifindex);

/* Milliseconds since some time. */
int64_t trace_clock(void);

/*
 * Find the routers of @n @routes, at most ROUTE_MAX, with @n_hops each that are not known yet and
 * count, asking none again after @end. Returns INACONF_*; routers that do not
 * answer remain unknown.
 */
int trace_routes(struct route *routes, size_t n, unsigned int n_hops, int64_t end);

#endif /* INACONF_ROUTE_H */
