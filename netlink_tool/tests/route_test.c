// SPDX-License-Identifier: GPL-2.0
/*
 * Unit test of flowhash.c and disjoint.c: hashes against published values and
 * against what the kernel's own code gives, the choice of routes against trying
 * every subset. Random numbers from INA_SEED, if given. Speaks TAP.
 */
#include <stdlib.h>
#include <string.h>

#include "../../selftests/plan/ktap.h"
#include "inaconf.h"
#include "route.h"

#define SUBSETS_MAX	12
#define RANDOM_CASES	3000

static struct flow flow_of(const char *src, const char *dst, uint16_t sport, uint16_t dport)
{
	struct flow flow = { .sport = sport, .dport = dport, .proto = IPPROTO_UDP };

	if (!addr_parse(src, &flow.src) || !addr_parse(dst, &flow.dst))
		abort();
	return flow;
}

static void test_xor(void)
{
	struct flow four = flow_of("10.0.0.1", "10.0.0.2", 49152, 4253);
	struct flow six = flow_of("fd00::1", "fd00:0:7::2", 49152, 4253);

	/* 0a00 ^ 0001 ^ 0a00 ^ 0002 ^ c000 ^ 109d ^ 11 */
	ktap_ok(flowhash_xor(&four) == (0x1 ^ 0x2 ^ 0xc000 ^ 0x109d ^ 0x11), "xor of IPv4");
	ktap_ok(flowhash_xor(&six) == (0x1 ^ 0x7 ^ 0x2 ^ 0xc000 ^ 0x109d ^ 0x11), "xor of IPv6");
	ktap_ok(flowhash_bucket(FLOWHASH_XOR, 0, &four, 4) == (0xd08f & 3), "xor: the way");
}

/* The table of the authors of SipHash, and the check value of the CRC catalogues. */
static void test_published(void)
{
	const uint64_t key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	uint8_t bytes[15];

	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	ktap_ok(flowhash_crc16("123456789", 9) == 0xbb3d, "crc16: check value");
	ktap_ok(flowhash_siphash(bytes, 0, key) == 0x726fdb47dd0e0e31, "siphash of 0 bytes");
	ktap_ok(flowhash_siphash(bytes, 8, key) == 0x93f5f5799a932462, "siphash of 8 bytes");
	ktap_ok(flowhash_siphash(bytes, 15, key) == 0xa129ca6149be45e5, "siphash of 15 bytes");
}

/* Computed by flow_hash_from_keys_seed() of Linux 6.12. */
static void test_linux(void)
{
	static const struct {
		const char *src, *dst;
		uint16_t sport, dport;
		uint32_t seed, hash;
	} known[] = {
		{ "10.0.0.1", "10.0.0.2", 49152, 4253, 1, 0xc4de6a0e },
		{ "10.0.0.2", "10.0.0.1", 4253, 49152, 1, 0xc4de6a0e },
		{ "192.168.255.1", "10.1.2.3", 65535, 256, 0xdeadbeef, 0xdb842dd7 },
		{ "10.1.0.1", "10.2.0.1", 50000, 4253, 42, 0x0013170b },
		{ "fd00::1", "fd00::2", 49152, 4253, 1, 0x4a53bd8e },
		{ "fd00:2::9", "fd00:1::1", 50001, 4253, 0xdeadbeef, 0x357e3277 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct flow flow = flow_of(known[i].src, known[i].dst, known[i].sport,
					   known[i].dport);
		uint32_t hash = flowhash_linux(&flow, known[i].seed);

		ktap_ok(hash == known[i].hash, "linux: %s port %u: 0x%08x", known[i].src,
			known[i].sport, hash);
	}
}

static void test_buckets(void)
{
	static const char *const names[] = { "xor", "crc16", "linux" };

	for (int kind = FLOWHASH_XOR; kind <= FLOWHASH_LINUX; kind++) {
		bool within = true, all = true;

		for (unsigned int n = 1; n <= 64; n++) {
			uint64_t seen = 0;

			for (unsigned int port = 49152; port < 49152 + 2048; port++) {
				struct flow flow = flow_of("10.1.0.2", "10.2.0.2",
							   (uint16_t)port, 4253);
				unsigned int way = flowhash_bucket(kind, 7, &flow, n);

				within &= way < n;
				seen |= 1ULL << (way & 63);
			}
			all &= __builtin_popcountll(seen) == (int)n;
		}
		ktap_ok(within, "%s: ways are those that are there", names[kind]);
		ktap_ok(all, "%s: every way has a port", names[kind]);
	}
}

/* Router @number at hop @i; 0 is not known. */
static void hop_set(struct route *route, unsigned int i, uint8_t number)
{
	memset(&route->hop[i], 0, sizeof(route->hop[i]));
	route->hop[i].s6_addr[15] = number;
}

/* The same question asked plainly: do two routes share a router that counts? */
static bool plain_clash(const struct route *a, const struct route *b, uint32_t counts)
{
	for (unsigned int i = 0; i < ROUTE_HOPS; i++) {
		for (unsigned int j = 0; j < ROUTE_HOPS; j++) {
			if ((counts >> i & 1) && (counts >> j & 1) && a->hop[i].s6_addr[15] &&
			    a->hop[i].s6_addr[15] == b->hop[j].s6_addr[15])
				return true;
		}
	}
	return false;
}

static bool plain_known(const struct route *route, uint32_t counts)
{
	for (unsigned int i = 0; i < ROUTE_HOPS; i++) {
		if ((counts >> i & 1) && route->hop[i].s6_addr[15])
			return true;
	}
	return false;
}

/* Hops that tell routes apart: not the ends of a long way, and more than one router. */
static uint32_t plain_counts(const struct route *routes, size_t n, unsigned int n_hops)
{
	uint32_t counts = 0;

	for (unsigned int i = 0; i < n_hops; i++) {
		unsigned int low = 256, high = 0;

		for (size_t r = 0; r < n; r++) {
			unsigned int number = routes[r].hop[i].s6_addr[15];

			if (number && number < low)
				low = number;
			if (number > high)
				high = number;
		}
		if (low < high && (n_hops < 3 || (i && i < n_hops - 1)))
			counts |= 1U << i;
	}
	return counts;
}

/* Is this subset of routes[1..] free of clashes, also with routes[0], which is there? */
static bool plain_is_good(const struct route *routes, size_t n, uint32_t subset, uint32_t counts)
{
	for (size_t i = 1; i < n; i++) {
		if (!(subset >> i & 1))
			continue;
		if (!plain_known(&routes[i], counts) || plain_clash(&routes[i], &routes[0], counts))
			return false;
		for (size_t j = i + 1; j < n; j++) {
			if ((subset >> j & 1) && plain_clash(&routes[i], &routes[j], counts))
				return false;
		}
	}
	return true;
}

static size_t plain_most(const struct route *routes, size_t n, uint32_t counts, size_t most)
{
	size_t best = 0;

	for (uint32_t subset = 0; subset < 1U << n; subset += 2) {
		size_t count = (size_t)__builtin_popcount(subset);

		if (count > best && count <= most && plain_is_good(routes, n, subset, counts))
			best = count;
	}
	return best;
}

static void test_random(void)
{
	size_t worse = 0, wrong = 0;

	for (int k = 0; k < RANDOM_CASES; k++) {
		struct route routes[SUBSETS_MAX] = { 0 };
		size_t n = 1 + ktap_below(SUBSETS_MAX), most = ktap_below(9), chosen[ROUTE_MAX];
		unsigned int n_hops = 1 + ktap_below(5), kinds = 1 + ktap_below(9);
		uint32_t counts, subset = 0;
		size_t count;

		for (size_t r = 0; r < n; r++) {
			for (unsigned int i = 0; i < n_hops; i++)
				hop_set(&routes[r], i, (uint8_t)(ktap_below(8) ?
					(ktap_below(9) ? 10 * i : 0) + 1 + ktap_below(kinds) : 0));
		}
		counts = plain_counts(routes, n, n_hops);
		count = disjoint_choose(routes, 1, routes + 1, n - 1, n_hops, most, chosen);
		for (size_t i = 0; i < count; i++)
			subset |= 2U << chosen[i];
		worse += count != plain_most(routes, n, counts, most);
		wrong += !plain_is_good(routes, n, subset, counts) ||
			 (size_t)__builtin_popcount(subset) != count;
	}
	ktap_ok(!wrong, "%d choices at random: none shares a router", RANDOM_CASES);
	ktap_ok(!worse, "%d choices at random: none could be larger", RANDOM_CASES);
}

/* Two leaves, 16 spines, as many ports as there may be. */
static void test_fabric(void)
{
	static struct route routes[ROUTE_MAX];
	size_t chosen[ROUTE_MAX], count;

	for (unsigned int i = 0; i < ROUTE_MAX; i++) {
		hop_set(&routes[i], 0, 1);
		hop_set(&routes[i], 1, (uint8_t)(2 + i * 7 % 16));
		hop_set(&routes[i], 2, 100);
	}
	count = disjoint_choose(routes, 1, routes, ROUTE_MAX, 3, 64, chosen);
	ktap_ok(count == 15, "16 spines, one in use: %zu more", count);
	count = disjoint_choose(routes, 1, routes, ROUTE_MAX, 3, 7, chosen);
	ktap_ok(count == 7 && chosen[0] == 1 && chosen[6] == 7, "no more than wanted, the first ones");
	for (unsigned int i = 0; i < ROUTE_MAX; i++)
		hop_set(&routes[i], 1, 2);
	count = disjoint_choose(routes, 1, routes, ROUTE_MAX, 3, 7, chosen);
	ktap_ok(!count, "one spine: none");
	memset(routes, 0, sizeof(routes));
	count = disjoint_choose(routes, 1, routes, ROUTE_MAX, 3, 7, chosen);
	ktap_ok(!count, "nothing known: none");
	ktap_ok(disjoint_enough(1) == 11 && disjoint_enough(2) == 20 && disjoint_enough(4) == 39,
		"ports until it is likely that there is no other way");
}

int main(void)
{
	ktap_start();
	test_xor();
	test_published();
	test_linux();
	test_buckets();
	test_fabric();
	test_random();
	return ktap_end();
}
