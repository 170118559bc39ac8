// SPDX-License-Identifier: GPL-2.0
/*
 * Which of several equal ways a router chooses for a flow: the hash functions
 * routers compute over addresses, ports and protocol. Pure.
 */
#include <string.h>

#include "route.h"

#define FLOW_BYTES	(2 * sizeof(struct in6_addr) + 5)

/* Source and destination as the router has them; returns the size of an address. */
static size_t flow_addrs(const struct flow *flow, const uint8_t **src, const uint8_t **dst)
{
	size_t skip = IN6_IS_ADDR_V4MAPPED(&flow->src) ? 12 : 0;

	*src = &flow->src.s6_addr[skip];
	*dst = &flow->dst.s6_addr[skip];
	return sizeof(struct in6_addr) - skip;
}

/* Addresses, ports and protocol one behind the other; returns the size. */
static size_t flow_bytes(const struct flow *flow, uint8_t bytes[FLOW_BYTES])
{
	const uint8_t *src, *dst;
	size_t size = flow_addrs(flow, &src, &dst);
	const uint8_t rest[] = { flow->sport >> 8, flow->sport & 0xff, flow->dport >> 8,
				 flow->dport & 0xff, flow->proto };

	memcpy(bytes, src, size);
	memcpy(bytes + size, dst, size);
	memcpy(bytes + 2 * size, rest, sizeof(rest));
	return 2 * size + sizeof(rest);
}

uint16_t flowhash_xor(const struct flow *flow)
{
	uint8_t bytes[FLOW_BYTES];
	size_t size = flow_bytes(flow, bytes);
	uint16_t hash = flow->proto;

	for (size_t i = 0; i + 1 < size; i += 2)
		hash ^= (uint16_t)(bytes[i] << 8 | bytes[i + 1]);
	return hash;
}

uint16_t flowhash_crc16(const void *data, size_t size)
{
	const uint8_t *bytes = data;
	uint16_t crc = 0;

	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1;
	}
	return crc;
}

static uint64_t rotate(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void siphash_rounds(uint64_t v[4], int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

/* SipHash-2-4. */
uint64_t flowhash_siphash(const void *data, size_t size, const uint64_t key[2])
{
	uint64_t v[4] = {
		key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
		key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573,
	};
	const uint8_t *bytes = data;

	for (size_t at = 0; at <= size; at += 8) {
		uint64_t word = 0;

		for (size_t i = 0; i < 8 && at + i < size; i++)
			word |= (uint64_t)bytes[at + i] << 8 * i;
		if (size - at < 8)
			word |= (uint64_t)size << 56;
		v[3] ^= word;
		siphash_rounds(v, 2);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Is the little-endian number at @a less than that at @b? */
static bool number_less(const uint8_t *a, const uint8_t *b, size_t size)
{
	while (size--) {
		if (a[size] != b[size])
			return a[size] < b[size];
	}
	return false;
}

/*
 * The kernel hashes its struct flow_keys from the protocol on: protocol at 2,
 * ports at 28, addresses at 36, and the padding of the struct. The lesser of
 * two addresses and of two ports comes first, so that both directions of a flow
 * are the same: IPv4 addresses and ports as a little-endian machine compares them.
 */
uint32_t flowhash_linux(const struct flow *flow, uint32_t seed)
{
	const uint64_t key[2] = { (uint64_t)seed << 32 | seed, (uint64_t)seed << 32 | seed };
	uint8_t ports[2][2] = { { flow->sport >> 8, flow->sport & 0xff },
				{ flow->dport >> 8, flow->dport & 0xff } };
	const uint8_t *addr[2];
	size_t size = flow_addrs(flow, &addr[0], &addr[1]);
	uint8_t keys[72] = { [2] = flow->proto };
	bool swap_ports = number_less(ports[1], ports[0], 2);
	bool swap = size == 4 ? number_less(addr[1], addr[0], size) :
			memcmp(addr[1], addr[0], size) < 0;
	uint32_t hash;

	memcpy(&keys[28], ports[swap_ports], 2);
	memcpy(&keys[30], ports[!swap_ports], 2);
	memcpy(&keys[36], addr[swap], size);
	memcpy(&keys[36 + size], addr[!swap], size);
	hash = (uint32_t)flowhash_siphash(keys, 40 + 2 * size, key);
	return hash ? hash : 1;
}

/* The kernel divides the 31 upper bits into @n ranges. */
static unsigned int linux_bucket(uint32_t hash, unsigned int n)
{
	unsigned int i = 0;

	while (i + 1 < n && hash >> 1 > (((uint64_t)(i + 1) << 31) + n / 2) / n - 1)
		i++;
	return i;
}

unsigned int flowhash_bucket(enum flowhash_kind kind, uint32_t seed, const struct flow *flow,
			     unsigned int n)
{
	uint8_t bytes[FLOW_BYTES];

	switch (kind) {
	case FLOWHASH_XOR:
		return flowhash_xor(flow) % n;
	case FLOWHASH_CRC16:
		return flowhash_crc16(bytes, flow_bytes(flow, bytes)) % n;
	case FLOWHASH_LINUX:
		return linux_bucket(flowhash_linux(flow, seed), n);
	}
	return 0;
}
