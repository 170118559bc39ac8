/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set of ranks, as it travels: rank i is bit i % 8 of byte i / 8.
 */
#ifndef _INA_RANKS_H
#define _INA_RANKS_H

#include <linux/string.h>
#include <linux/types.h>
#include <uapi/linux/ina_wire.h>

/**
 * struct ina_ranks - a set of ranks
 * @count: all of them are below
 * @bits: one for each
 */
struct ina_ranks {
	u16 count;
	u8 bits[INA_RANKS_SIZE(INA_RANKS_MAX)];
};

/* All bits behind the count are 0, whatever the source has there. */
static inline void ina_ranks_set(struct ina_ranks *ranks, const u8 *bits,
				 u16 count)
{
	memset(ranks->bits, 0, INA_RANKS_SIZE(ranks->count));
	memcpy(ranks->bits, bits, INA_RANKS_SIZE(count));
	if (count % 8)
		ranks->bits[count / 8] &= BIT(count % 8) - 1;
	ranks->count = count;
}

static inline void ina_ranks_copy(struct ina_ranks *to,
				  const struct ina_ranks *from)
{
	ina_ranks_set(to, from->bits, from->count);
}

static inline void ina_ranks_clear(struct ina_ranks *ranks)
{
	memset(ranks->bits, 0, INA_RANKS_SIZE(ranks->count));
	ranks->count = 0;
}

/* Return: false if the rank is there already. */
static inline bool ina_ranks_add(struct ina_ranks *ranks, u32 rank)
{
	u8 bit = BIT(rank % 8);

	if (ranks->bits[rank / 8] & bit)
		return false;
	ranks->bits[rank / 8] |= bit;
	ranks->count = max_t(u16, ranks->count, rank + 1);
	return true;
}

/* Return: false if both have a rank. */
static inline bool ina_ranks_merge(struct ina_ranks *ranks,
				   const struct ina_ranks *more)
{
	bool apart = true;
	u16 i;

	for (i = 0; i < INA_RANKS_SIZE(more->count); i++) {
		apart &= !(ranks->bits[i] & more->bits[i]);
		ranks->bits[i] |= more->bits[i];
	}
	ranks->count = max(ranks->count, more->count);
	return apart;
}

#endif /* _INA_RANKS_H */
