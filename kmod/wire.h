/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets as the rest of the module sees them: parsed, in host byte order.
 */
#ifndef _INA_WIRE_H
#define _INA_WIRE_H

#include <linux/in6.h>
#include <linux/types.h>
#include <uapi/linux/ina.h>
#include <uapi/linux/ina_wire.h>

/**
 * struct ina_pkt - a validated packet
 * @type: enum ina_type
 * @path: number of the path it came on, or is about
 * @flags: INA_F_*
 * @job: number of the job
 * @epoch: membership
 * @round: low 32 bits of the round
 * @seq: number on the hop
 * @frag: index of the fragment
 * @length: elements in the round
 * @index: contributor index
 * @count: elements in the packet
 * @elem: bytes of each
 * @workers: workers in the elements
 * @token: sum of their tokens
 * @body: what follows the header: elements or the type's own header
 */
struct ina_pkt {
	u8 type;
	u8 path;
	u8 flags;
	u32 job;
	u32 epoch;
	u32 round;
	u32 seq;
	u32 frag;
	u32 length;
	u16 index;
	u16 count;
	u8 elem;
	u32 workers;
	u32 token;
	const void *body;
};

/**
 * ina_wire_is_elements() - does it carry elements
 * @type: enum ina_type
 *
 * Return: true if so.
 */
static inline bool ina_wire_is_elements(u8 type)
{
	return type == INA_TYPE_DATA || type == INA_TYPE_RESULT;
}

/**
 * ina_wire_is_hop() - is it about what is sent on a path
 * @type: enum ina_type
 *
 * Return: true if so.
 */
static inline bool ina_wire_is_hop(u8 type)
{
	return type == INA_TYPE_DONE || type == INA_TYPE_GROUP_OK ||
	       type == INA_TYPE_GROUP_NACK;
}

int ina_wire_parse(const void *data, unsigned int len, bool need_crc,
		   struct ina_pkt *pkt);
int ina_wire_reserved(const struct ina_pkt *pkt);
int ina_wire_verify(const void *data, unsigned int len,
		    const struct ina_pkt *pkt);
void ina_wire_build(struct ina_hdr *hdr, const struct ina_pkt *pkt);
void ina_wire_seal(struct ina_hdr *hdr, unsigned int len);
unsigned int ina_wire_body_size(const struct ina_pkt *pkt);
u64 ina_wire_round(u32 wire, u64 base);
u32 ina_wire_frags(u32 length, u32 fragment);
u32 ina_wire_count(u32 length, u32 fragment, u32 frag);

#endif /* _INA_WIRE_H */
