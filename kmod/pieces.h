/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of an skb where they are: in its linear bytes, its page fragments and its
 * list of skbs. Knows that a header may be apart from its elements, and no more.
 */
#ifndef _INA_PIECES_H
#define _INA_PIECES_H

#include <linux/skbuff.h>
#include <linux/types.h>

/**
 * struct ina_pieces - how far a walk over an skb has come
 * @skb: it
 * @part: @skb, or the one of its list the walk has come to; NULL: copy the rest
 * @frag: of @part: 0 its linear bytes, i + 1 its page fragment i
 * @start: offset of that piece from the data of @skb
 * @end: offset of what is behind it
 * @bytes: the piece, NULL if it is not mapped
 * @body: elements of the last packet, if they are not behind its header
 * @copied: packets that had to be copied
 */
struct ina_pieces {
	struct sk_buff *skb;
	struct sk_buff *part;
	unsigned int frag;
	unsigned int start;
	unsigned int end;
	const void *bytes;
	const void *body;
	unsigned int copied;
};

void ina_pieces_begin(struct ina_pieces *pieces, struct sk_buff *skb);
const void *ina_pieces_find(struct ina_pieces *pieces, unsigned int offset,
			    unsigned int len, void *buffer);

/**
 * ina_pieces_here() - bytes of the piece the walk has come to
 * @pieces: the walk
 * @offset: from the data of the skb, not before that piece
 * @len: how many
 *
 * Return: they, or NULL if they are not all there.
 */
static inline const void *ina_pieces_here(const struct ina_pieces *pieces,
					  unsigned int offset, unsigned int len)
{
	return pieces->bytes && offset + len <= pieces->end ?
	       pieces->bytes + (offset - pieces->start) : NULL;
}

/**
 * ina_pieces_look() - the next packet
 * @pieces: the walk
 * @offset: where it begins, not before the last one
 * @len: its bytes
 * @buffer: room for them
 *
 * Context: any; the skb is the caller's.
 * Return: where it is, if it is in one piece, or its header, if the elements are
 * in another, or @buffer with a copy; NULL if the skb ends before.
 */
static inline const void *ina_pieces_look(struct ina_pieces *pieces,
					  unsigned int offset,
					  unsigned int len, void *buffer)
{
	const void *bytes = ina_pieces_here(pieces, offset, len);

	pieces->body = NULL;
	return bytes ?: ina_pieces_find(pieces, offset, len, buffer);
}

#endif /* _INA_PIECES_H */
