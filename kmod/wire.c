// SPDX-License-Identifier: GPL-2.0
/*
 * The wire format: validate, parse and build headers. Pure functions of bytes,
 * no skb, no job; what a packet means is decided by those who get it parsed.
 * Any context.
 */
#include <linux/crc32c.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "stats.h"
#include "wire.h"

/**
 * ina_wire_body_size() - bytes behind the header of a packet
 * @pkt: its header
 *
 * Return: the size.
 */
unsigned int ina_wire_body_size(const struct ina_pkt *pkt)
{
	switch (pkt->type) {
	case INA_TYPE_DATA:
	case INA_TYPE_RESULT:
		return pkt->count * pkt->elem;
	case INA_TYPE_JOIN:
		return sizeof(struct ina_join_hdr) + INA_RANKS_SIZE(pkt->count);
	case INA_TYPE_WELCOME:
		return sizeof(struct ina_welcome_hdr);
	case INA_TYPE_EPOCH:
		return sizeof(struct ina_epoch_hdr) + INA_RANKS_SIZE(pkt->count);
	case INA_TYPE_ACK:
		return sizeof(struct ina_ack_hdr);
	case INA_TYPE_FAIL:
	case INA_TYPE_LATE:
		return sizeof(struct ina_fail_hdr);
	case INA_TYPE_DONE:
		return sizeof(struct ina_done_hdr);
	case INA_TYPE_PROBE:
	case INA_TYPE_ECHO:
		return sizeof(struct ina_probe_hdr);
	case INA_TYPE_GROUP_NACK:
		return INA_NACK_SIZE(pkt->count);
	case INA_TYPE_READY:
		return sizeof(struct ina_ready_hdr);
	case INA_TYPE_GRANT:
		return sizeof(struct ina_grant_hdr);
	}
	return 0;
}

/* crc32c of a packet, its crc field taken as zero. */
static __be32 ina_wire_crc(const struct ina_hdr *hdr, const void *body,
			   unsigned int len)
{
	const __be32 zero = 0;
	u32 crc;

	crc = crc32c(~0, hdr, offsetof(struct ina_hdr, crc));
	crc = crc32c(crc, &zero, sizeof(zero));
	crc = crc32c(crc, body, len - sizeof(*hdr));
	return cpu_to_be32(~crc);
}

/* Bytes of an element, if @len is a whole number of those there can be, or 0. */
static u8 ina_wire_elem(unsigned int len, u16 count)
{
	u8 elem;

	for (elem = 8; elem >= 2; elem /= 2)
		if (len == count * elem)
			return elem;
	return 0;
}

/* Return: 0 if @len is what the type and the count say, else a counter. */
static int ina_wire_check_size(struct ina_pkt *pkt, unsigned int len)
{
	switch (pkt->type) {
	case INA_TYPE_DATA:
	case INA_TYPE_RESULT:
		if (!pkt->count || pkt->count > INA_FRAGMENT_MAX || !pkt->length)
			return INA_STAT_DROP_FRAGMENT;
		pkt->elem = ina_wire_elem(len, pkt->count);
		if (!pkt->elem)
			return INA_STAT_DROP_SIZE;
		break;
	case INA_TYPE_GROUP_OK:
	case INA_TYPE_GROUP_NACK:
		if (!pkt->count || pkt->count > INA_GROUP_MAX)
			return INA_STAT_DROP_FRAGMENT;
		break;
	case INA_TYPE_JOIN:
	case INA_TYPE_EPOCH:
		if (pkt->count > INA_RANKS_MAX)
			return INA_STAT_DROP_SIZE;
	}
	return len == ina_wire_body_size(pkt) ? 0 : INA_STAT_DROP_SIZE;
}

/**
 * ina_wire_parse() - validate a packet and take its header apart
 * @data: the packet from its ina header on, contiguous
 * @len: bytes there are
 * @need_crc: refuse a packet without a crc
 * @pkt: where the fields go
 *
 * A crc is left to ina_wire_verify(); whether the elements have the size of the
 * job's to those who know the job.
 * Return: 0, or the INA_STAT_DROP_* counter that says why not.
 */
int ina_wire_parse(const void *data, unsigned int len, bool need_crc,
		   struct ina_pkt *pkt)
{
	const struct ina_hdr *hdr = data;
	u8 version;
	int err;

	if (len < sizeof(*hdr))
		return INA_STAT_DROP_SHORT;
	version = hdr->version;
	/* All of it: what is left out is cleared first, which takes longer. */
	*pkt = (struct ina_pkt){
		.type = hdr->type,
		.path = hdr->path,
		.flags = hdr->flags,
		.job = get_unaligned_be32(&hdr->job),
		.epoch = get_unaligned_be32(&hdr->epoch),
		.round = get_unaligned_be32(&hdr->round),
		.seq = get_unaligned_be32(&hdr->seq),
		.frag = get_unaligned_be32(&hdr->frag),
		.length = get_unaligned_be32(&hdr->length),
		.index = get_unaligned_be16(&hdr->index),
		.count = get_unaligned_be16(&hdr->count),
		.elem = 0,
		.workers = get_unaligned_be32(&hdr->workers),
		.token = get_unaligned_be32(&hdr->token),
		.body = data + sizeof(*hdr),
	};
	/* Whoever sent it may still be able to write there: no second look. */
	barrier();
	if (version != INA_WIRE_VERSION)
		return INA_STAT_DROP_VERSION;
	if (!pkt->type || pkt->type >= INA_TYPE_MAX)
		return INA_STAT_DROP_TYPE;
	if (pkt->flags & ~INA_F_ALL || pkt->path >= INA_PATHS_MAX)
		return INA_STAT_DROP_FLAGS;
	err = ina_wire_check_size(pkt, len - sizeof(*hdr));
	if (err)
		return err;
	if (need_crc && !(pkt->flags & INA_F_CRC))
		return INA_STAT_DROP_NOCSUM;
	return 0;
}

/* Fields of a header that not every type of control packet has. */
enum {
	INA_HAS_PATH	= BIT(0),
	INA_HAS_EPOCH	= BIT(1),
	INA_HAS_ROUND	= BIT(2),
	INA_HAS_SEQ	= BIT(3),
	INA_HAS_FRAG	= BIT(4),
	INA_HAS_LENGTH	= BIT(5),
	INA_HAS_COUNT	= BIT(6),
	INA_HAS_WORKERS	= BIT(7),
	INA_HAS_FAIL	= INA_HAS_EPOCH | INA_HAS_ROUND,
	INA_HAS_GROUP	= INA_HAS_PATH | INA_HAS_EPOCH | INA_HAS_SEQ | INA_HAS_FRAG |
			  INA_HAS_LENGTH | INA_HAS_COUNT,
};

static const u8 ina_wire_has[INA_TYPE_MAX] = {
	[INA_TYPE_JOIN]		= INA_HAS_EPOCH | INA_HAS_COUNT,
	[INA_TYPE_EPOCH]	= INA_HAS_EPOCH | INA_HAS_SEQ | INA_HAS_COUNT,
	[INA_TYPE_ACK]		= INA_HAS_EPOCH | INA_HAS_WORKERS,
	[INA_TYPE_FAIL]		= INA_HAS_FAIL,
	[INA_TYPE_LATE]		= INA_HAS_FAIL,
	[INA_TYPE_EXCLUDE]	= INA_HAS_FAIL,
	[INA_TYPE_DONE]		= INA_HAS_PATH | INA_HAS_EPOCH | INA_HAS_SEQ,
	[INA_TYPE_GROUP_OK]	= INA_HAS_GROUP,
	[INA_TYPE_GROUP_NACK]	= INA_HAS_GROUP,
	[INA_TYPE_PROBE]	= INA_HAS_PATH,
	[INA_TYPE_ECHO]		= INA_HAS_PATH | INA_HAS_LENGTH,
	[INA_TYPE_READY]	= INA_HAS_SEQ,
	[INA_TYPE_GRANT]	= INA_HAS_SEQ,
};

/* Has a control packet nothing in its header that its type has not? */
static bool ina_wire_is_plain(const struct ina_pkt *pkt)
{
	u8 has = (pkt->path ? INA_HAS_PATH : 0) | (pkt->epoch ? INA_HAS_EPOCH : 0) |
		 (pkt->round ? INA_HAS_ROUND : 0) | (pkt->seq ? INA_HAS_SEQ : 0) |
		 (pkt->frag ? INA_HAS_FRAG : 0) | (pkt->length ? INA_HAS_LENGTH : 0) |
		 (pkt->count ? INA_HAS_COUNT : 0) | (pkt->workers ? INA_HAS_WORKERS : 0);

	return !(has & ~ina_wire_has[pkt->type]) && !pkt->token &&
	       !(pkt->flags & ~INA_F_CRC);
}

/**
 * ina_wire_reserved() - is 0 what has no meaning, or none yet
 * @pkt: control, its body contiguous where its sender cannot change it
 *
 * Return: 0 or INA_STAT_DROP_FLAGS.
 */
int ina_wire_reserved(const struct ina_pkt *pkt)
{
	const struct ina_join_hdr *join = pkt->body;
	const struct ina_ready_hdr *ready = pkt->body;
	const struct ina_grant_hdr *grant = pkt->body;
	bool zero = ina_wire_is_plain(pkt);

	if (pkt->type == INA_TYPE_JOIN)
		zero &= !memchr_inv(join->pad, 0, sizeof(join->pad));
	else if (pkt->type == INA_TYPE_READY)
		zero &= !ready->pad;
	else if (pkt->type == INA_TYPE_GRANT)
		zero &= !grant->pad;
	return zero ? 0 : INA_STAT_DROP_FLAGS;
}

/**
 * ina_wire_verify() - is the crc of a packet right
 * @data: the packet, contiguous
 * @len: bytes there are
 * @pkt: what ina_wire_parse() made of it
 *
 * Not between ina_sum_begin() and ina_sum_end(): it may use vector registers.
 * Return: 0, also without a crc, or INA_STAT_DROP_CRC.
 */
int ina_wire_verify(const void *data, unsigned int len,
		    const struct ina_pkt *pkt)
{
	const struct ina_hdr *hdr = data;

	return !(pkt->flags & INA_F_CRC) || hdr->crc == ina_wire_crc(hdr, hdr + 1, len) ?
	       0 : INA_STAT_DROP_CRC;
}

/**
 * ina_wire_build() - write a header
 * @hdr: where to
 * @pkt: the fields; @body is not used
 */
void ina_wire_build(struct ina_hdr *hdr, const struct ina_pkt *pkt)
{
	*hdr = (struct ina_hdr){
		.version = INA_WIRE_VERSION,
		.type = pkt->type,
		.path = pkt->path,
		.flags = pkt->flags,
		.job = cpu_to_be32(pkt->job),
		.epoch = cpu_to_be32(pkt->epoch),
		.round = cpu_to_be32(pkt->round),
		.seq = cpu_to_be32(pkt->seq),
		.frag = cpu_to_be32(pkt->frag),
		.length = cpu_to_be32(pkt->length),
		.index = cpu_to_be16(pkt->index),
		.count = cpu_to_be16(pkt->count),
		.workers = cpu_to_be32(pkt->workers),
		.token = cpu_to_be32(pkt->token),
	};
}

/**
 * ina_wire_seal() - add the crc to a finished packet
 * @hdr: its header, the rest contiguous behind it
 * @len: bytes of the whole
 */
void ina_wire_seal(struct ina_hdr *hdr, unsigned int len)
{
	hdr->flags |= INA_F_CRC;
	hdr->crc = ina_wire_crc(hdr, hdr + 1, len);
}

/**
 * ina_wire_round() - the full round number behind 32 bits of it
 * @wire: low 32 bits
 * @base: a round less than 2^31 away
 *
 * Return: the number nearest to @base with these low bits; one that would
 * be negative wraps to far above any window.
 */
u64 ina_wire_round(u32 wire, u64 base)
{
	return base + (s32)(wire - (u32)base);
}

/**
 * ina_wire_frags() - fragments of a round
 * @length: elements of the round
 * @fragment: elements of a full fragment
 *
 * Return: how many.
 */
u32 ina_wire_frags(u32 length, u32 fragment)
{
	return DIV_ROUND_UP(length, fragment);
}

/**
 * ina_wire_count() - elements of one fragment
 * @length: elements of the round
 * @fragment: elements of a full fragment
 * @frag: which, below ina_wire_frags()
 *
 * Return: how many.
 */
u32 ina_wire_count(u32 length, u32 fragment, u32 frag)
{
	return min(fragment, length - frag * fragment);
}
