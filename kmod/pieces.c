// SPDX-License-Identifier: GPL-2.0
/*
 * The slow steps of a walk over an skb: from piece to piece, and packets that are not
 * in one. Context of all functions: any; the skb is the caller's.
 */
#include <linux/mm.h>

#include "pieces.h"
#include "wire.h"

/* Look at the piece the walk has come to, which begins at @start. */
static void ina_pieces_enter(struct ina_pieces *pieces)
{
	const skb_frag_t *frag;
	struct page *page;

	if (!pieces->frag) {
		pieces->bytes = pieces->part->data;
		pieces->end = pieces->start + skb_headlen(pieces->part);
		return;
	}
	frag = &skb_shinfo(pieces->part)->frags[pieces->frag - 1];
	page = skb_frag_page(frag);
	pieces->bytes = page && !PageHighMem(page) ? skb_frag_address(frag) :
						     NULL;
	pieces->end = pieces->start + skb_frag_size(frag);
}

/* Go on to the next piece: page fragments, then the list. Return: is there one. */
static bool ina_pieces_next(struct ina_pieces *pieces)
{
	const struct skb_shared_info *info;

	if (!pieces->part)
		return false;
	info = skb_shinfo(pieces->part);
	pieces->start = pieces->end;
	pieces->bytes = NULL;
	if (pieces->frag++ >= info->nr_frags) {
		pieces->frag = 0;
		if (pieces->part == pieces->skb)
			pieces->part = info->frag_list;
		else
			/* A list in a list is not walked. */
			pieces->part = info->frag_list ? NULL :
							 pieces->part->next;
	}
	if (pieces->part)
		ina_pieces_enter(pieces);
	return pieces->part;
}

/**
 * ina_pieces_begin() - begin a walk over an skb
 * @pieces: the walk
 * @skb: it
 */
void ina_pieces_begin(struct ina_pieces *pieces, struct sk_buff *skb)
{
	*pieces = (struct ina_pieces){ .skb = skb, .part = skb };
	ina_pieces_enter(pieces);
}

/*
 * A packet that ends one piece with its header and has its elements in the next, as a
 * result has that goes to several children. Type and flags are looked at again later: if
 * they have changed by then, the packet is another, or one with a crc, which is refused.
 * Return: its header, or NULL.
 */
static const void *ina_pieces_apart(struct ina_pieces *pieces,
				    unsigned int offset, unsigned int len)
{
	const struct ina_hdr *hdr;

	hdr = ina_pieces_here(pieces, offset, sizeof(*hdr));
	if (!hdr || len <= sizeof(*hdr) || offset + sizeof(*hdr) != pieces->end ||
	    !ina_wire_is_elements(hdr->type) || hdr->flags & INA_F_CRC ||
	    !ina_pieces_next(pieces))
		return NULL;
	pieces->body = ina_pieces_here(pieces, pieces->start,
				       len - sizeof(*hdr));
	return pieces->body ? hdr : NULL;
}

/**
 * ina_pieces_find() - the next packet, which may be in another piece
 * @pieces: the walk
 * @offset: where it begins, not before the last one
 * @len: its bytes
 * @buffer: room for them
 *
 * Return: as ina_pieces_look().
 */
const void *ina_pieces_find(struct ina_pieces *pieces, unsigned int offset,
			    unsigned int len, void *buffer)
{
	const void *bytes;

	while (offset >= pieces->end)
		if (!ina_pieces_next(pieces))
			break;
	bytes = ina_pieces_here(pieces, offset, len) ?:
		ina_pieces_apart(pieces, offset, len);
	if (bytes)
		return bytes;
	if (skb_copy_bits(pieces->skb, offset, buffer, len))
		return NULL;
	pieces->copied++;
	return buffer;
}
