/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A super-packet that is being filled.
 */
#ifndef _INA_BATCH_H
#define _INA_BATCH_H

#include "node.h"
#include "wire.h"

struct sk_buff;

/*
 * From here on a second page fragment takes less than a copy, and so few fit a
 * super-packet that two for each do not make them fewer.
 */
#define INA_BATCH_SHARE	8192

/**
 * struct ina_batch - a super-packet that is being filled
 * @node: who sends it
 * @peer: to whom
 * @path: by which path
 * @route: and where that goes
 * @index: in its packets
 * @way: INA_SLOT_UP or INA_SLOT_DOWN
 * @skb: it, NULL before the first packet
 * @linear: it takes one packet, and no pages
 * @size: bytes of each packet, but the last may be shorter
 * @segs: packets
 * @most: that it may have
 * @epoch: of all of them
 * @tag: round of the last
 * @wide: it was of wide elements
 * @first: first slot of that round
 * @frags: its fragments, 0 if there is none
 * @sums: elements of its first fragment
 * @pkt: header of the last packet
 * @whole: no other fits
 */
struct ina_batch {
	struct ina_node *node;
	struct ina_peer *peer;
	struct ina_path *path;
	struct ina_route *route;
	u16 index;
	u8 way;
	struct sk_buff *skb;
	bool linear;
	unsigned int size;
	unsigned int segs;
	unsigned int most;
	u32 epoch;
	struct ina_tag tag;
	bool wide;
	u32 first;
	u32 frags;
	struct ina_sums sums;
	struct ina_pkt pkt;
	bool whole;
};

int ina_batch_append(struct ina_batch *b, u32 id);
int ina_batch_send(struct ina_batch *b);
void ina_batch_forget(struct ina_tx *tx);

#endif /* _INA_BATCH_H */
