/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What netfault and its BPF program share: the value of a map with one element.
 */
#ifndef FAULT_H
#define FAULT_H

#include <linux/bpf.h>
#include <linux/types.h>

#define FAULT_BITS	21		/* of a random number, for one decision */
#define FAULT_ALWAYS	(1u << FAULT_BITS)
#define FAULT_ANY	0xffffffffull	/* no fragment has this index */

/**
 * struct fault_state - what a port does to packets, and what it has done
 * @seed: of all decisions; that on the nth packet depends on it and n alone
 * @loss: of FAULT_ALWAYS packets, how many are lost
 * @duplicate: how many come twice
 * @corrupt: how many have a byte of an element changed; DATA and RESULT only
 * @type: the rule is about packets of this type, 0 for all
 * @from: and from this IPv4 address, 0 for all
 * @mask: and whose number on the hop, and with this,
 * @value: gives this
 * @frag: and whose fragment has this index, or FAULT_ANY
 * @nth: lose this one of them, from 1, and do nothing else; 0: see above
 * @order: count those that were overtaken, and do nothing else
 * @matched: packets the rule is about
 * @lost: lost
 * @duplicated: sent twice
 * @corrupted: changed
 * @overtaken: came behind one with a higher number
 * @epoch: of the last packet, for @order
 * @top: highest number in it
 */
struct fault_state {
	__u64 seed;
	__u64 loss;
	__u64 duplicate;
	__u64 corrupt;
	__u64 type;
	__u64 from;
	__u64 mask;
	__u64 value;
	__u64 frag;
	__u64 nth;
	__u64 order;
	__u64 matched;
	__u64 lost;
	__u64 duplicated;
	__u64 corrupted;
	__u64 overtaken;
	__u64 epoch;
	__u64 top;
};

#define FAULT_CODE_MAX	160

/* program.c: returns the number of instructions in @code. */
unsigned int fault_program(struct bpf_insn *code, int map);

#endif
