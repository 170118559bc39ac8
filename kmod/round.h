/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds: the window, contributions, results, completion and failure.
 */
#ifndef _INA_ROUND_H
#define _INA_ROUND_H

#include "node.h"

int ina_round_contribute(struct ina_node *node, struct ina_part *part,
			 u32 frag, u32 length, const void *src,
			 const struct in6_addr *from);
int ina_round_result(struct ina_node *node, const struct ina_part *part,
		     u32 frag, u32 length, const void *src);
struct ina_round *ina_round_claim(struct ina_node *node,
				  const struct ina_tag *tag, u32 length);
void ina_round_fail(struct ina_node *node, const struct ina_tag *tag,
		    const struct ina_blame *blame);
void ina_round_fail_from(struct ina_node *node, const struct ina_tag *tag,
			 const struct ina_blame *blame);
void ina_round_fail_locked(struct ina_node *node, const struct ina_tag *tag,
			   const struct ina_blame *blame);
void ina_round_fail_all(struct ina_node *node, const struct ina_blame *blame);
void ina_round_fail_incomplete(struct ina_node *node,
			       const struct ina_blame *blame);
void ina_round_repeat(struct ina_node *node);
u64 ina_round_lowest(const struct ina_node *node);
void ina_round_advance(struct ina_node *node);
struct ina_tag ina_round_tag(const struct ina_node *node, u32 era, u64 round);
bool ina_round_is_kept(const struct ina_node *node, const struct ina_tag *tag);
bool ina_round_is_live(const struct ina_node *node,
		       const struct ina_round *entry);
void ina_round_report(struct ina_node *node, const struct ina_tag *tag,
		      const struct ina_blame *blame);
void ina_round_forget(struct ina_node *node);
void ina_round_epoch(struct ina_node *node, const struct ina_over *over,
		     bool seamless);
struct ina_over ina_round_over(struct ina_node *node, bool kept);
void ina_round_redistribute(struct ina_node *node, u16 index);
bool ina_round_untold(const struct ina_node *node,
		      const struct ina_round *entry);
bool ina_round_length(struct ina_node *node, const struct ina_tag *tag,
		      u32 *length);
u32 ina_round_held(const struct ina_round *round);
bool ina_round_overflow(const struct ina_round *round);

#endif /* _INA_ROUND_H */
