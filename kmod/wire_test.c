// SPDX-License-Identifier: GPL-2.0
/*
 * The wire format: every reason to refuse a packet for every type, and what
 * is built is what is parsed. Sizes and the crc are fixed numbers here: other
 * machines depend on them.
 */
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "test.h"
#include "wire.h"

#define WIRE_TEST_ELEM	4
#define WIRE_TEST_MAX	(sizeof(struct ina_hdr) + \
			 (INA_FRAGMENT_MAX + 1) * WIRE_TEST_ELEM)

unsigned int ina_test_seed;
module_param_named(test_seed, ina_test_seed, uint, 0444);
MODULE_PARM_DESC(test_seed, "Seed of the random tests (0: a new one each time)");

static bool wire_test_elements(u8 type)
{
	return type == INA_TYPE_DATA || type == INA_TYPE_RESULT;
}

static bool wire_test_counts(u8 type)
{
	return wire_test_elements(type) || type == INA_TYPE_GROUP_OK ||
	       type == INA_TYPE_GROUP_NACK;
}

/* Write a valid packet of a type. Return: its size. */
static unsigned int wire_test_fill(struct ina_hdr *hdr, u8 type)
{
	struct ina_pkt pkt = { .type = type, .job = 1, .elem = WIRE_TEST_ELEM };

	if (wire_test_elements(type))
		pkt.length = 3;
	if (wire_test_counts(type))
		pkt.count = 3;
	ina_wire_build(hdr, &pkt);
	return sizeof(*hdr) + ina_wire_body_size(&pkt);
}

/* Fill a packet of elements whose size fits its count. */
static unsigned int wire_test_fill_count(struct ina_hdr *hdr, u8 type,
					 u16 count)
{
	struct ina_pkt pkt = { .type = type, .count = count, .length = 1 };

	ina_wire_build(hdr, &pkt);
	return sizeof(*hdr) + count * WIRE_TEST_ELEM;
}

/* Parse and verify. */
static int wire_test_take(const struct ina_hdr *hdr, unsigned int len,
			  bool need_crc, struct ina_pkt *pkt)
{
	return ina_wire_parse(hdr, len, need_crc, pkt) ?:
	       ina_wire_verify(hdr, len, pkt);
}

static int wire_test_parse(const struct ina_hdr *hdr, unsigned int len)
{
	struct ina_pkt pkt;

	return wire_test_take(hdr, len, false, &pkt);
}

static void body_size__types(struct kunit *test)
{
	static const unsigned int size[] = {
		[INA_TYPE_JOIN] = 74, [INA_TYPE_WELCOME] = 16,
		[INA_TYPE_EPOCH] = 82, [INA_TYPE_ACK] = 16,
		[INA_TYPE_DATA] = 36, [INA_TYPE_RESULT] = 36,
		[INA_TYPE_FAIL] = 36, [INA_TYPE_DONE] = 4,
		[INA_TYPE_LATE] = 36, [INA_TYPE_EXCLUDE] = 0,
		[INA_TYPE_GROUP_NACK] = 2, [INA_TYPE_PROBE] = 16,
		[INA_TYPE_ECHO] = 16, [INA_TYPE_READY] = 24,
		[INA_TYPE_GRANT] = 16, [INA_TYPE_MAX] = 0,
	};
	struct ina_pkt pkt = { .count = 9, .elem = WIRE_TEST_ELEM };

	KUNIT_EXPECT_EQ(test, sizeof(struct ina_hdr), 44);
	for (pkt.type = 0; pkt.type < ARRAY_SIZE(size); pkt.type++)
		KUNIT_EXPECT_EQ(test, ina_wire_body_size(&pkt), size[pkt.type]);
}

/* Ranks have an end, too. */
static void parse__ranks(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	struct ina_pkt pkt = { .type = INA_TYPE_EPOCH, .count = INA_RANKS_MAX };
	const unsigned int len = sizeof(*hdr) + sizeof(struct ina_epoch_hdr);

	ina_wire_build(hdr, &pkt);
	KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len + 512), 0);
	KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len + 511),
			INA_STAT_DROP_SIZE);
	pkt.count++;
	ina_wire_build(hdr, &pkt);
	KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len + 513),
			INA_STAT_DROP_SIZE);
}

/* A bitmap has a bit for each packet of the group, and a group has an end. */
static void parse__group(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	struct ina_pkt pkt = { .type = INA_TYPE_GROUP_NACK, .count = 9 };
	const unsigned int len = sizeof(*hdr);

	ina_wire_build(hdr, &pkt);
	KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len + 2), 0);
	KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len + 1), INA_STAT_DROP_SIZE);
	KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len + 3), INA_STAT_DROP_SIZE);
	pkt.count = INA_GROUP_MAX + 1;
	ina_wire_build(hdr, &pkt);
	KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len + 257),
			INA_STAT_DROP_FRAGMENT);
	pkt.type = INA_TYPE_GROUP_OK;
	pkt.count = 0;
	ina_wire_build(hdr, &pkt);
	KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len), INA_STAT_DROP_FRAGMENT);
}

static void parse__valid(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	struct ina_pkt pkt;
	unsigned int len;
	u8 type;

	for (type = 1; type < INA_TYPE_MAX; type++) {
		len = wire_test_fill(hdr, type);
		KUNIT_EXPECT_EQ_MSG(test,
				    ina_wire_parse(hdr, len, false, &pkt), 0,
				    "type %u", type);
		KUNIT_EXPECT_PTR_EQ(test, pkt.body, (const void *)(hdr + 1));
	}
}

static void parse__short(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	unsigned int len;
	u8 type;

	for (type = 1; type < INA_TYPE_MAX; type++) {
		wire_test_fill(hdr, type);
		for (len = 0; len < sizeof(*hdr); len++)
			KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len),
					(int)INA_STAT_DROP_SHORT);
	}
}

static void parse__version(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	unsigned int len, version;
	u8 type;

	for (type = 1; type < INA_TYPE_MAX; type++) {
		len = wire_test_fill(hdr, type);
		for (version = 0; version <= U8_MAX; version++) {
			if (version == INA_WIRE_VERSION)
				continue;
			hdr->version = version;
			KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len),
					(int)INA_STAT_DROP_VERSION);
		}
	}
}

static void parse__type(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	unsigned int len = wire_test_fill(hdr, INA_TYPE_ACK);
	unsigned int type;

	hdr->type = 0;
	KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len),
			(int)INA_STAT_DROP_TYPE);
	for (type = INA_TYPE_MAX; type <= U8_MAX; type++) {
		hdr->type = type;
		KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len),
				(int)INA_STAT_DROP_TYPE);
	}
}

static void parse__flags(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	unsigned int len, bit;
	u8 type;

	for (type = 1; type < INA_TYPE_MAX; type++) {
		len = wire_test_fill(hdr, type);
		for (bit = 0; bit < 8; bit++) {
			if (BIT(bit) & INA_F_ALL)
				continue;
			hdr->flags = BIT(bit);
			KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len),
					(int)INA_STAT_DROP_FLAGS);
		}
		hdr->flags = INA_F_OVERFLOW;
		KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len), 0);
		hdr->path = INA_PATHS_MAX - 1;
		KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len), 0);
		hdr->path = INA_PATHS_MAX;
		KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len),
				(int)INA_STAT_DROP_FLAGS);
	}
}

/* Each byte of what is reserved, and no other. */
static void reserved__pads(struct kunit *test)
{
	static const struct {
		u8 type, at, len;
	} pads[] = {
		{ INA_TYPE_JOIN, 66, 6 }, { INA_TYPE_READY, 20, 4 }, { INA_TYPE_GRANT, 12, 4 },
	};
	struct ina_hdr *hdr = test->priv;
	u8 *body = (u8 *)(hdr + 1);
	struct ina_pkt pkt;
	unsigned int i, at, len;
	int want;

	for (i = 0; i < ARRAY_SIZE(pads); i++) {
		len = wire_test_fill(hdr, pads[i].type);
		KUNIT_ASSERT_EQ(test, ina_wire_parse(hdr, len, false, &pkt), 0);
		for (at = 0; at < len - sizeof(*hdr); at++) {
			want = at >= pads[i].at && at < pads[i].at + pads[i].len ?
			       INA_STAT_DROP_FLAGS : 0;
			memset(body, 0, len - sizeof(*hdr));
			body[at] = 1;
			KUNIT_EXPECT_EQ(test, ina_wire_reserved(&pkt), want);
		}
	}
}

/* A field of the header that its type has not. */
static void reserved__header(struct kunit *test)
{
	/* By field: bytes, and the types that have it. */
	static const struct {
		u8 at, len;
		u32 types;
	} fields[] = {
		{ 2, 1, BIT(INA_TYPE_DONE) | BIT(INA_TYPE_GROUP_OK) | BIT(INA_TYPE_GROUP_NACK) |
			BIT(INA_TYPE_PROBE) | BIT(INA_TYPE_ECHO) },
		{ 8, 4, (u32)~(BIT(INA_TYPE_WELCOME) | BIT(INA_TYPE_READY) | BIT(INA_TYPE_GRANT) |
			  BIT(INA_TYPE_PROBE) | BIT(INA_TYPE_ECHO)) },
		{ 12, 4, BIT(INA_TYPE_FAIL) | BIT(INA_TYPE_LATE) | BIT(INA_TYPE_EXCLUDE) },
		{ 16, 4, BIT(INA_TYPE_EPOCH) | BIT(INA_TYPE_DONE) | BIT(INA_TYPE_GROUP_OK) |
			 BIT(INA_TYPE_GROUP_NACK) | BIT(INA_TYPE_READY) | BIT(INA_TYPE_GRANT) },
		{ 20, 4, BIT(INA_TYPE_GROUP_OK) | BIT(INA_TYPE_GROUP_NACK) },
		{ 24, 4, BIT(INA_TYPE_GROUP_OK) | BIT(INA_TYPE_GROUP_NACK) | BIT(INA_TYPE_ECHO) },
		{ 28, 2, ~0U },
		{ 32, 4, BIT(INA_TYPE_ACK) },
		{ 36, 4, 0 },
	};
	struct ina_hdr *hdr = test->priv;
	struct ina_pkt pkt;
	unsigned int i, at, len;
	u8 type;

	for (type = 1; type < INA_TYPE_MAX; type++) {
		for (i = 0; i < ARRAY_SIZE(fields) && !wire_test_elements(type); i++) {
			for (at = 0; at < fields[i].len; at++) {
				memset(hdr, 0, 256);
				len = wire_test_fill(hdr, type);
				((u8 *)hdr)[fields[i].at + at] = 1;
				KUNIT_ASSERT_EQ(test, ina_wire_parse(hdr, len, false, &pkt), 0);
				KUNIT_EXPECT_EQ_MSG(test, ina_wire_reserved(&pkt),
						    fields[i].types & BIT(type) ? 0 :
						    INA_STAT_DROP_FLAGS,
						    "type %u, byte %u", type, fields[i].at + at);
			}
		}
	}
}

/* A count of what does not follow, and what is said of elements. */
static void reserved__rest(struct kunit *test)
{
	struct ina_pkt pkt = { .type = INA_TYPE_ACK };

	KUNIT_EXPECT_EQ(test, ina_wire_reserved(&pkt), 0);
	pkt.flags = INA_F_CRC;
	KUNIT_EXPECT_EQ(test, ina_wire_reserved(&pkt), 0);
	pkt.flags = INA_F_CRC | INA_F_OVERFLOW;
	KUNIT_EXPECT_EQ(test, ina_wire_reserved(&pkt), INA_STAT_DROP_FLAGS);
	pkt.flags = 0;
	pkt.count = 1;
	KUNIT_EXPECT_EQ(test, ina_wire_reserved(&pkt), INA_STAT_DROP_FLAGS);
}

/* Could it be the size of a packet of three elements? */
static bool wire_test_fits(unsigned int len)
{
	len -= sizeof(struct ina_hdr);
	return len == 3 * 2 || len == 3 * 4 || len == 3 * 8;
}

static void parse__size(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	unsigned int len, wrong;
	u8 type;

	for (type = 1; type < INA_TYPE_MAX; type++) {
		len = wire_test_fill(hdr, type);
		for (wrong = sizeof(*hdr); wrong < 2 * len; wrong++) {
			if (wrong == len || (wire_test_elements(type) &&
					     wire_test_fits(wrong)))
				continue;
			KUNIT_EXPECT_EQ_MSG(test, wire_test_parse(hdr, wrong),
					    (int)INA_STAT_DROP_SIZE,
					    "type %u size %u", type, wrong);
		}
	}
}

/* Elements have 2, 4 or 8 bytes. */
static void parse__elem(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	struct ina_pkt pkt;
	unsigned int elem;
	u8 type;

	for (type = INA_TYPE_DATA; type <= INA_TYPE_RESULT; type++) {
		wire_test_fill_count(hdr, type, 5);
		for (elem = 0; elem <= 17; elem++) {
			if (elem != 2 && elem != 4 && elem != 8) {
				KUNIT_EXPECT_EQ(test,
						wire_test_parse(hdr, sizeof(*hdr) + 5 * elem),
						INA_STAT_DROP_SIZE);
				continue;
			}
			KUNIT_EXPECT_EQ(test,
					ina_wire_parse(hdr, sizeof(*hdr) + 5 * elem,
						       false, &pkt), 0);
			KUNIT_EXPECT_EQ(test, pkt.elem, elem);
		}
	}
}

static void parse__count(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	unsigned int len;
	u8 type;

	for (type = INA_TYPE_DATA; type <= INA_TYPE_RESULT; type++) {
		len = wire_test_fill_count(hdr, type, 0);
		KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len),
				(int)INA_STAT_DROP_FRAGMENT);
		len = wire_test_fill_count(hdr, type, 1);
		KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len), 0);
		len = wire_test_fill_count(hdr, type, INA_FRAGMENT_MAX);
		KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len), 0);
		len = wire_test_fill_count(hdr, type, INA_FRAGMENT_MAX + 1);
		KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len),
				(int)INA_STAT_DROP_FRAGMENT);
	}
}

static void parse__length(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	unsigned int len;
	u8 type;

	for (type = 1; type < INA_TYPE_MAX; type++) {
		len = wire_test_fill(hdr, type);
		hdr->length = 0;
		KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len),
				wire_test_elements(type) ?
				(int)INA_STAT_DROP_FRAGMENT : 0);
	}
}

static void parse__crc_missing(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	struct ina_pkt pkt;
	unsigned int len;
	u8 type;

	for (type = 1; type < INA_TYPE_MAX; type++) {
		len = wire_test_fill(hdr, type);
		KUNIT_EXPECT_EQ(test, ina_wire_parse(hdr, len, true, &pkt),
				(int)INA_STAT_DROP_NOCSUM);
	}
}

static void parse__crc_wrong(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	unsigned int len;
	u8 type;

	for (type = 1; type < INA_TYPE_MAX; type++) {
		len = wire_test_fill(hdr, type);
		ina_wire_seal(hdr, len);
		be32_add_cpu(&hdr->crc, 1);
		KUNIT_EXPECT_EQ(test, wire_test_parse(hdr, len),
				(int)INA_STAT_DROP_CRC);
	}
}

static void parse__crc_right(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	struct ina_pkt pkt;
	unsigned int len;
	u8 type;

	for (type = 1; type < INA_TYPE_MAX; type++) {
		len = wire_test_fill(hdr, type);
		ina_wire_seal(hdr, len);
		KUNIT_EXPECT_EQ(test, wire_test_take(hdr, len, true, &pkt), 0);
		KUNIT_EXPECT_EQ(test, wire_test_take(hdr, len, false, &pkt), 0);
		KUNIT_EXPECT_TRUE(test, pkt.flags & INA_F_CRC);
	}
}

/* No single bit of a sealed packet can change unnoticed, whatever its type. */
static void parse__crc_flip(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	u8 *bytes = test->priv;
	struct ina_pkt pkt;
	unsigned int len, bit;
	u8 type;

	for (type = 1; type < INA_TYPE_MAX; type++) {
		len = wire_test_fill(hdr, type);
		ina_wire_seal(hdr, len);
		for (bit = 0; bit < len * 8; bit++) {
			bytes[bit / 8] ^= BIT(bit % 8);
			KUNIT_EXPECT_NE_MSG(test,
					    wire_test_take(hdr, len, true, &pkt),
					    0, "type %u bit %u", type, bit);
			bytes[bit / 8] ^= BIT(bit % 8);
		}
		KUNIT_EXPECT_EQ(test, wire_test_take(hdr, len, true, &pkt), 0);
	}
}

static void build__round_trip(struct kunit *test)
{
	struct ina_hdr *hdr = test->priv;
	struct ina_pkt in, out;
	struct rnd_state rnd;
	unsigned int i;

	ina_test_random(test, &rnd);
	for (i = 0; i < 1000; i++) {
		prandom_bytes_state(&rnd, &in, sizeof(in));
		in.type = i & 1 ? INA_TYPE_DATA : INA_TYPE_RESULT;
		in.flags &= INA_F_STICKY;
		in.path %= INA_PATHS_MAX;
		in.count = 1 + in.count % INA_FRAGMENT_MAX;
		in.length = in.length ?: 1;
		ina_wire_build(hdr, &in);
		KUNIT_ASSERT_EQ(test, ina_wire_parse(hdr, sizeof(*hdr) +
				in.count * WIRE_TEST_ELEM, false, &out), 0);
		KUNIT_ASSERT_EQ(test, out.type, in.type);
		KUNIT_ASSERT_EQ(test, out.path, in.path);
		KUNIT_ASSERT_EQ(test, out.flags, in.flags);
		KUNIT_ASSERT_EQ(test, out.job, in.job);
		KUNIT_ASSERT_EQ(test, out.epoch, in.epoch);
		KUNIT_ASSERT_EQ(test, out.round, in.round);
		KUNIT_ASSERT_EQ(test, out.seq, in.seq);
		KUNIT_ASSERT_EQ(test, out.frag, in.frag);
		KUNIT_ASSERT_EQ(test, out.length, in.length);
		KUNIT_ASSERT_EQ(test, out.index, in.index);
		KUNIT_ASSERT_EQ(test, out.count, in.count);
		KUNIT_ASSERT_EQ(test, out.workers, in.workers);
		KUNIT_ASSERT_EQ(test, out.token, in.token);
	}
}

/* A packet written down byte by byte; the crc was computed elsewhere. */
static void seal__known(struct kunit *test)
{
	static const u8 known[] = {
		1, INA_TYPE_DATA, 0, INA_F_CRC, 0, 0, 0, 7,
		1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 2,
		0, 0, 2, 1, 0, 3, 0, 1, 0, 0, 0, 4,
		0xde, 0xad, 0xbe, 0xef, 0xb0, 0xc2, 0x0d, 0x68,
		1, 2, 3, 4,
	};
	struct ina_pkt pkt = {
		.type = INA_TYPE_DATA, .job = 7, .epoch = 0x01020304,
		.round = 0x05060708, .frag = 2, .length = 513, .index = 3,
		.count = 1, .workers = 4, .token = 0xdeadbeef,
	};
	struct ina_hdr *hdr = test->priv;

	ina_wire_build(hdr, &pkt);
	memcpy(hdr + 1, known + sizeof(*hdr), WIRE_TEST_ELEM);
	ina_wire_seal(hdr, sizeof(known));
	KUNIT_EXPECT_EQ(test, memcmp(hdr, known, sizeof(known)), 0);
}

static void round__near_zero(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ina_wire_round(0, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, ina_wire_round(3, 5), 3ULL);
	KUNIT_EXPECT_EQ(test, ina_wire_round(S32_MAX, 0), (u64)S32_MAX);
	/* Before round 0: above any window. */
	KUNIT_EXPECT_EQ(test, ina_wire_round(U32_MAX, 0), U64_MAX);
	KUNIT_EXPECT_EQ(test, ina_wire_round(U32_MAX - 1, 3), U64_MAX - 1);
}

static void round__wrap(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ina_wire_round(1, 0xfffffffeULL), 0x100000001ULL);
	KUNIT_EXPECT_EQ(test, ina_wire_round(0, 0xffffffffULL), 0x100000000ULL);
	KUNIT_EXPECT_EQ(test, ina_wire_round(U32_MAX, 0x100000001ULL),
			0xffffffffULL);
	KUNIT_EXPECT_EQ(test, ina_wire_round(5, 0x7ffffffffULL), 0x800000005ULL);
}

static void round__random(struct kunit *test)
{
	struct rnd_state rnd;
	u64 base, round;
	unsigned int i;

	ina_test_random(test, &rnd);
	for (i = 0; i < 10000; i++) {
		prandom_bytes_state(&rnd, &base, sizeof(base));
		round = base + (s32)prandom_u32_state(&rnd);
		KUNIT_ASSERT_EQ(test, ina_wire_round((u32)round, base), round);
	}
}

static void frags__edges(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ina_wire_frags(0, 256), 0);
	KUNIT_EXPECT_EQ(test, ina_wire_frags(1, 256), 1);
	KUNIT_EXPECT_EQ(test, ina_wire_frags(255, 256), 1);
	KUNIT_EXPECT_EQ(test, ina_wire_frags(256, 256), 1);
	KUNIT_EXPECT_EQ(test, ina_wire_frags(257, 256), 2);
	KUNIT_EXPECT_EQ(test, ina_wire_frags(S32_MAX, 1), (u32)S32_MAX);
	KUNIT_EXPECT_EQ(test, ina_wire_frags(S32_MAX, 2048), 1U << 20);
}

static void count__edges(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ina_wire_count(1, 256, 0), 1);
	KUNIT_EXPECT_EQ(test, ina_wire_count(256, 256, 0), 256);
	KUNIT_EXPECT_EQ(test, ina_wire_count(257, 256, 0), 256);
	KUNIT_EXPECT_EQ(test, ina_wire_count(257, 256, 1), 1);
	KUNIT_EXPECT_EQ(test, ina_wire_count(S32_MAX, 2048, (1U << 20) - 1),
			2047);
}

/* The fragments of a round hold all its elements, none is empty. */
static void count__random(struct kunit *test)
{
	u32 length, fragment, frag, count, sum;
	struct rnd_state rnd;
	unsigned int i;

	ina_test_random(test, &rnd);
	for (i = 0; i < 200; i++) {
		fragment = 1 + ina_test_below(&rnd, INA_FRAGMENT_MAX);
		length = 1 + ina_test_below(&rnd, 64 * fragment);
		sum = 0;
		for (frag = 0; frag < ina_wire_frags(length, fragment); frag++) {
			count = ina_wire_count(length, fragment, frag);
			KUNIT_ASSERT_TRUE(test, count && count <= fragment);
			sum += count;
		}
		KUNIT_ASSERT_EQ(test, sum, length);
	}
}

static int wire_test_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, WIRE_TEST_MAX, GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static struct kunit_case wire_test_cases[] = {
	KUNIT_CASE(body_size__types),
	KUNIT_CASE(parse__group),
	KUNIT_CASE(parse__ranks),
	KUNIT_CASE(parse__valid),
	KUNIT_CASE(parse__short),
	KUNIT_CASE(parse__version),
	KUNIT_CASE(parse__type),
	KUNIT_CASE(parse__flags),
	KUNIT_CASE(parse__size),
	KUNIT_CASE(parse__elem),
	KUNIT_CASE(parse__count),
	KUNIT_CASE(parse__length),
	KUNIT_CASE(parse__crc_missing),
	KUNIT_CASE(parse__crc_wrong),
	KUNIT_CASE(parse__crc_right),
	KUNIT_CASE(parse__crc_flip),
	KUNIT_CASE(build__round_trip),
	KUNIT_CASE(seal__known),
	KUNIT_CASE(round__near_zero),
	KUNIT_CASE(round__wrap),
	KUNIT_CASE(round__random),
	KUNIT_CASE(frags__edges),
	KUNIT_CASE(count__edges),
	KUNIT_CASE(count__random),
	KUNIT_CASE(reserved__pads),
	KUNIT_CASE(reserved__header),
	KUNIT_CASE(reserved__rest),
	{}
};

static struct kunit_suite wire_test_suite = {
	.name = "ina_wire",
	.init = wire_test_init,
	.test_cases = wire_test_cases,
};

kunit_test_suite(wire_test_suite);
