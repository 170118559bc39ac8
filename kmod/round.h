/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds: the window, contributions, results and completion.
 */
#ifndef _INA_ROUND_H
#define _INA_ROUND_H

#include "node.h"

/*
 * ina_round.progress: who the entry belongs to and how far it is, in one
 * word, so that a straggling CPU can never count a fragment of one round for
 * another that took over the entry:
 *   63..56 era   55..32 round   31 overflow   30 failed   29 inexact
 *   28..0 results held
 */
#define INA_PROGRESS_OVERFLOW	BIT_ULL(31)
#define INA_PROGRESS_FAILED	BIT_ULL(30)
#define INA_PROGRESS_INEXACT	BIT_ULL(29)
#define INA_PROGRESS_HELD	GENMASK_ULL(28, 0)

static inline u64 ina_round_key(const struct ina_tag *tag)
{
	return (u64)(tag->era & 0xff) << 56 | (tag->round & 0xffffff) << 32;
}

static inline struct ina_round *ina_round_entry(struct ina_node *node,
						u64 round)
{
	return &node->rounds[ina_node_at(node, round)];
}

/**
 * struct ina_row - slots of a round that became complete one after the other
 * @tag: the round
 * @length: its elements
 * @id: the first of them
 * @count: how many; nobody was told yet
 * @way: INA_SLOT_UP or INA_SLOT_DOWN, where they go
 * @flags: INA_F_STICKY, those that any of them has
 */
struct ina_row {
	struct ina_tag tag;
	u32 length;
	u32 id;
	u32 count;
	u8 way;
	u16 flags;
};

int ina_round_contribute(struct ina_node *node, const struct ina_sum_ctx *ctx,
			 struct ina_row *row, struct ina_part *part, u32 frag,
			 const void *src, const struct in6_addr *from);
int ina_round_result(struct ina_node *node, struct ina_row *row,
		     const struct ina_part *part, u32 frag, const void *src);
void ina_round_settle(struct ina_node *node, struct ina_row *row);
void ina_round_start(const struct ina_node *node, struct ina_round *entry);
struct ina_round *ina_round_claim(struct ina_node *node,
				  const struct ina_tag *tag, u32 length);
void ina_round_stay(struct ina_node *node, u32 ms);
void ina_round_go(struct ina_node *node);
void ina_round_advance(struct ina_node *node);
struct ina_tag ina_round_tag(const struct ina_node *node, u32 era, u64 round);
bool ina_round_look(const struct ina_node *node, u32 at, struct ina_tag *tag);
bool ina_round_is_kept(const struct ina_node *node, const struct ina_tag *tag);
bool ina_round_is_live(const struct ina_node *node,
		       const struct ina_round *entry);
bool ina_round_length(struct ina_node *node, const struct ina_tag *tag,
		      u32 *length);
u32 ina_round_held(const struct ina_round *round);
u16 ina_round_flags(const struct ina_round *round);

#endif /* _INA_ROUND_H */
