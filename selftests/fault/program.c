// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF program of a port, instruction by instruction, so that no compiler for
 * BPF is needed. r6 is the skb, r7 the state, r8 the random number, r9 how many
 * packets matched before; the start of the packet is on the stack.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ina_wire.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/udp.h>
#include <stddef.h>

#include "fault.h"

#define FAULT_UDP	(ETH_HLEN + (int)sizeof(struct iphdr))
#define FAULT_INA	(FAULT_UDP + (int)sizeof(struct udphdr))
#define FAULT_ELEMENTS	(FAULT_INA + (int)sizeof(struct ina_hdr))
/* The start of the packet, at an address that aligns the fields of ina_hdr. */
#define FAULT_PACKET	(-FAULT_ELEMENTS)
#define FAULT_BYTE	(FAULT_PACKET - 2)
#define FAULT_HDR(field)	(FAULT_PACKET + FAULT_INA + (int)offsetof(struct ina_hdr, field))
#define FAULT_IP(field)		(FAULT_PACKET + ETH_HLEN + (int)offsetof(struct iphdr, field))
#define FAULT_STATE(field)	((int)offsetof(struct fault_state, field))
#define FAULT_SKB(field)	((int)offsetof(struct __sk_buff, field))
#define FAULT_MARK	0x1a4253	/* the copy of a packet, not to be looked at again */

enum fault_label {
	FAULT_TYPED,
	FAULT_SENT,
	FAULT_NUMBERED,
	FAULT_SAME_EPOCH,
	FAULT_OVERTAKEN,
	FAULT_UNORDERED,
	FAULT_RANDOM,
	FAULT_SINGLE,
	FAULT_HAS_ELEMENTS,
	FAULT_LOSE,
	FAULT_PASS,
	FAULT_LABELS,
};

/* The program so far; until the end, the offset of a jump is its label. */
struct fault_asm {
	struct bpf_insn *code;
	unsigned int length;
	int at[FAULT_LABELS];
};

static void fault_put(struct fault_asm *a, int op, int dst, int src, int off, int imm)
{
	a->code[a->length++] = (struct bpf_insn){
		.code = op, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm
	};
}

static void fault_here(struct fault_asm *a, enum fault_label label)
{
	a->at[label] = a->length;
}

static void fault_alu(struct fault_asm *a, int op, int dst, int imm)
{
	fault_put(a, BPF_ALU64 | op | BPF_K, dst, 0, 0, imm);
}

static void fault_alu_reg(struct fault_asm *a, int op, int dst, int src)
{
	fault_put(a, BPF_ALU64 | op | BPF_X, dst, src, 0, 0);
}

static void fault_jump(struct fault_asm *a, int op, int dst, int imm, enum fault_label to)
{
	fault_put(a, BPF_JMP | op | BPF_K, dst, 0, to, imm);
}

static void fault_jump_reg(struct fault_asm *a, int op, int dst, int src, enum fault_label to)
{
	fault_put(a, BPF_JMP | op | BPF_X, dst, src, to, 0);
}

static void fault_load(struct fault_asm *a, int size, int dst, int src, int off)
{
	fault_put(a, BPF_LDX | BPF_MEM | size, dst, src, off, 0);
}

static void fault_store(struct fault_asm *a, int size, int dst, int off, int src)
{
	fault_put(a, BPF_STX | BPF_MEM | size, dst, src, off, 0);
}

/* A field in network byte order. */
static void fault_load_be32(struct fault_asm *a, int dst, int off)
{
	fault_load(a, BPF_W, dst, BPF_REG_10, off);
	fault_put(a, BPF_ALU | BPF_END | BPF_TO_BE, dst, 0, 0, 32);
}

static void fault_load_imm64(struct fault_asm *a, int dst, int src, __u64 imm)
{
	fault_put(a, BPF_LD | BPF_IMM | BPF_DW, dst, src, 0, (int)imm);
	fault_put(a, 0, 0, 0, 0, (int)(imm >> 32));
}

static void fault_call(struct fault_asm *a, int helper)
{
	fault_put(a, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

/* Count one in a field of the state; @reg gets what it was before. */
static void fault_count(struct fault_asm *a, int reg, int field)
{
	fault_alu(a, BPF_MOV, reg, 1);
	fault_put(a, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, reg, field, BPF_ADD | BPF_FETCH);
}

static void fault_return(struct fault_asm *a, int action)
{
	fault_alu(a, BPF_MOV, BPF_REG_0, action);
	fault_put(a, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* A packet of ours, in IPv4 and UDP, that is no copy made here? */
static void fault_put_parse(struct fault_asm *a)
{
	fault_alu_reg(a, BPF_MOV, BPF_REG_6, BPF_REG_1);
	fault_load(a, BPF_W, BPF_REG_1, BPF_REG_6, FAULT_SKB(mark));
	fault_jump(a, BPF_JEQ, BPF_REG_1, FAULT_MARK, FAULT_PASS);
	fault_alu_reg(a, BPF_MOV, BPF_REG_1, BPF_REG_6);
	fault_alu(a, BPF_MOV, BPF_REG_2, 0);
	fault_alu_reg(a, BPF_MOV, BPF_REG_3, BPF_REG_10);
	fault_alu(a, BPF_ADD, BPF_REG_3, FAULT_PACKET);
	fault_alu(a, BPF_MOV, BPF_REG_4, FAULT_ELEMENTS);
	fault_call(a, BPF_FUNC_skb_load_bytes);
	fault_jump(a, BPF_JNE, BPF_REG_0, 0, FAULT_PASS);
	fault_load(a, BPF_H, BPF_REG_1, BPF_REG_10, FAULT_PACKET + 2 * ETH_ALEN);
	fault_jump(a, BPF_JNE, BPF_REG_1, htons(ETH_P_IP), FAULT_PASS);
	fault_load(a, BPF_B, BPF_REG_1, BPF_REG_10, FAULT_PACKET + ETH_HLEN);
	fault_jump(a, BPF_JNE, BPF_REG_1, 0x45, FAULT_PASS);
	fault_load(a, BPF_B, BPF_REG_1, BPF_REG_10, FAULT_IP(protocol));
	fault_jump(a, BPF_JNE, BPF_REG_1, IPPROTO_UDP, FAULT_PASS);
	fault_load(a, BPF_H, BPF_REG_1, BPF_REG_10,
		   FAULT_PACKET + FAULT_UDP + (int)offsetof(struct udphdr, dest));
	fault_jump(a, BPF_JNE, BPF_REG_1, htons(INA_UDP_PORT), FAULT_PASS);
}

/* Is the rule about it? */
static void fault_put_match(struct fault_asm *a)
{
	fault_load(a, BPF_DW, BPF_REG_2, BPF_REG_7, FAULT_STATE(type));
	fault_jump(a, BPF_JEQ, BPF_REG_2, 0, FAULT_TYPED);
	fault_load(a, BPF_B, BPF_REG_1, BPF_REG_10, FAULT_HDR(type));
	fault_jump_reg(a, BPF_JNE, BPF_REG_1, BPF_REG_2, FAULT_PASS);
	fault_here(a, FAULT_TYPED);
	fault_load(a, BPF_DW, BPF_REG_2, BPF_REG_7, FAULT_STATE(from));
	fault_jump(a, BPF_JEQ, BPF_REG_2, 0, FAULT_SENT);
	fault_load_be32(a, BPF_REG_1, FAULT_IP(saddr));
	fault_jump_reg(a, BPF_JNE, BPF_REG_1, BPF_REG_2, FAULT_PASS);
	fault_here(a, FAULT_SENT);
	fault_load_be32(a, BPF_REG_1, FAULT_HDR(seq));
	fault_load(a, BPF_DW, BPF_REG_2, BPF_REG_7, FAULT_STATE(mask));
	fault_alu_reg(a, BPF_AND, BPF_REG_1, BPF_REG_2);
	fault_load(a, BPF_DW, BPF_REG_2, BPF_REG_7, FAULT_STATE(value));
	fault_jump_reg(a, BPF_JNE, BPF_REG_1, BPF_REG_2, FAULT_PASS);
	fault_load(a, BPF_DW, BPF_REG_2, BPF_REG_7, FAULT_STATE(frag));
	fault_load_imm64(a, BPF_REG_1, 0, FAULT_ANY);
	fault_jump_reg(a, BPF_JEQ, BPF_REG_1, BPF_REG_2, FAULT_NUMBERED);
	fault_load_be32(a, BPF_REG_1, FAULT_HDR(frag));
	fault_jump_reg(a, BPF_JNE, BPF_REG_1, BPF_REG_2, FAULT_PASS);
	fault_here(a, FAULT_NUMBERED);
	fault_count(a, BPF_REG_9, FAULT_STATE(matched));
}

/* Has it been overtaken? Numbers start again with the epoch. */
static void fault_put_order(struct fault_asm *a)
{
	fault_load(a, BPF_DW, BPF_REG_1, BPF_REG_7, FAULT_STATE(order));
	fault_jump(a, BPF_JEQ, BPF_REG_1, 0, FAULT_UNORDERED);
	fault_load_be32(a, BPF_REG_1, FAULT_HDR(seq));
	fault_load_be32(a, BPF_REG_2, FAULT_HDR(epoch));
	fault_load(a, BPF_DW, BPF_REG_3, BPF_REG_7, FAULT_STATE(epoch));
	fault_jump_reg(a, BPF_JEQ, BPF_REG_2, BPF_REG_3, FAULT_SAME_EPOCH);
	fault_store(a, BPF_DW, BPF_REG_7, FAULT_STATE(epoch), BPF_REG_2);
	fault_store(a, BPF_DW, BPF_REG_7, FAULT_STATE(top), BPF_REG_1);
	fault_here(a, FAULT_SAME_EPOCH);
	fault_load(a, BPF_DW, BPF_REG_3, BPF_REG_7, FAULT_STATE(top));
	fault_jump_reg(a, BPF_JLT, BPF_REG_1, BPF_REG_3, FAULT_OVERTAKEN);
	fault_store(a, BPF_DW, BPF_REG_7, FAULT_STATE(top), BPF_REG_1);
	fault_jump(a, BPF_JA, 0, 0, FAULT_PASS);
	fault_here(a, FAULT_OVERTAKEN);
	fault_count(a, BPF_REG_1, FAULT_STATE(overtaken));
	fault_jump(a, BPF_JA, 0, 0, FAULT_PASS);
	fault_here(a, FAULT_UNORDERED);
}

/* Is it the one to lose? If one is to be lost, nothing happens to others. */
static void fault_put_nth(struct fault_asm *a)
{
	fault_load(a, BPF_DW, BPF_REG_1, BPF_REG_7, FAULT_STATE(nth));
	fault_jump(a, BPF_JEQ, BPF_REG_1, 0, FAULT_RANDOM);
	fault_alu(a, BPF_SUB, BPF_REG_1, 1);
	fault_jump_reg(a, BPF_JEQ, BPF_REG_1, BPF_REG_9, FAULT_LOSE);
	fault_jump(a, BPF_JA, 0, 0, FAULT_PASS);
	fault_here(a, FAULT_RANDOM);
}

/* r8 ^= r8 >> shift */
static void fault_put_fold(struct fault_asm *a, int shift)
{
	fault_alu_reg(a, BPF_MOV, BPF_REG_1, BPF_REG_8);
	fault_alu(a, BPF_RSH, BPF_REG_1, shift);
	fault_alu_reg(a, BPF_XOR, BPF_REG_8, BPF_REG_1);
}

static void fault_put_times(struct fault_asm *a, __u64 factor)
{
	fault_load_imm64(a, BPF_REG_1, 0, factor);
	fault_alu_reg(a, BPF_MUL, BPF_REG_8, BPF_REG_1);
}

/* A number for this packet (splitmix64), which needs no state but a count. */
static void fault_put_random(struct fault_asm *a)
{
	fault_alu_reg(a, BPF_MOV, BPF_REG_8, BPF_REG_9);
	fault_put_times(a, 0x9e3779b97f4a7c15);
	fault_load(a, BPF_DW, BPF_REG_1, BPF_REG_7, FAULT_STATE(seed));
	fault_alu_reg(a, BPF_ADD, BPF_REG_8, BPF_REG_1);
	fault_put_fold(a, 30);
	fault_put_times(a, 0xbf58476d1ce4e5b9);
	fault_put_fold(a, 27);
	fault_put_times(a, 0x94d049bb133111eb);
	fault_put_fold(a, 31);
}

/* Jump if the decision number @which goes as the field of the state says. */
static void fault_put_decide(struct fault_asm *a, int which, int field, int op,
			     enum fault_label to)
{
	fault_alu_reg(a, BPF_MOV, BPF_REG_1, BPF_REG_8);
	fault_alu(a, BPF_RSH, BPF_REG_1, which * FAULT_BITS);
	fault_alu(a, BPF_AND, BPF_REG_1, FAULT_ALWAYS - 1);
	fault_load(a, BPF_DW, BPF_REG_2, BPF_REG_7, field);
	fault_jump_reg(a, op, BPF_REG_1, BPF_REG_2, to);
}

static void fault_put_mark(struct fault_asm *a, int mark)
{
	fault_alu(a, BPF_MOV, BPF_REG_1, mark);
	fault_store(a, BPF_W, BPF_REG_6, FAULT_SKB(mark), BPF_REG_1);
}

/* A copy passes here a second time: it is marked while the copy is made. */
static void fault_put_duplicate(struct fault_asm *a)
{
	fault_put_decide(a, 1, FAULT_STATE(duplicate), BPF_JGE, FAULT_SINGLE);
	fault_count(a, BPF_REG_1, FAULT_STATE(duplicated));
	fault_put_mark(a, FAULT_MARK);
	fault_load(a, BPF_W, BPF_REG_2, BPF_REG_6, FAULT_SKB(ifindex));
	fault_alu_reg(a, BPF_MOV, BPF_REG_1, BPF_REG_6);
	fault_alu(a, BPF_MOV, BPF_REG_3, 0);
	fault_call(a, BPF_FUNC_clone_redirect);
	fault_put_mark(a, 0);
	fault_here(a, FAULT_SINGLE);
}

/* r2 = offset of the byte; r1 and r3 to r5 as for a copy to or from the stack. */
static void fault_put_byte(struct fault_asm *a, int helper)
{
	fault_alu_reg(a, BPF_MOV, BPF_REG_1, BPF_REG_6);
	fault_alu_reg(a, BPF_MOV, BPF_REG_2, BPF_REG_9);
	fault_alu_reg(a, BPF_MOV, BPF_REG_3, BPF_REG_10);
	fault_alu(a, BPF_ADD, BPF_REG_3, FAULT_BYTE);
	fault_alu(a, BPF_MOV, BPF_REG_4, 1);
	fault_alu(a, BPF_MOV, BPF_REG_5, 0);
	fault_call(a, helper);
	fault_jump(a, BPF_JNE, BPF_REG_0, 0, FAULT_PASS);
}

/*
 * Turn bits of one byte of the elements. The checksum stays as it is, and one
 * byte alone always shows in it.
 */
static void fault_put_corrupt(struct fault_asm *a)
{
	fault_put_decide(a, 2, FAULT_STATE(corrupt), BPF_JGE, FAULT_PASS);
	fault_load(a, BPF_B, BPF_REG_1, BPF_REG_10, FAULT_HDR(type));
	fault_jump(a, BPF_JEQ, BPF_REG_1, INA_TYPE_DATA, FAULT_HAS_ELEMENTS);
	fault_jump(a, BPF_JNE, BPF_REG_1, INA_TYPE_RESULT, FAULT_PASS);
	fault_here(a, FAULT_HAS_ELEMENTS);
	fault_load(a, BPF_H, BPF_REG_1, BPF_REG_10, FAULT_HDR(count));
	fault_put(a, BPF_ALU | BPF_END | BPF_TO_BE, BPF_REG_1, 0, 0, 16);
	fault_alu(a, BPF_LSH, BPF_REG_1, 2);
	fault_alu_reg(a, BPF_MOV, BPF_REG_9, BPF_REG_8);
	fault_alu(a, BPF_AND, BPF_REG_9, 0xffff);
	fault_alu_reg(a, BPF_MOD, BPF_REG_9, BPF_REG_1);
	fault_alu(a, BPF_ADD, BPF_REG_9, FAULT_ELEMENTS);
	fault_put_byte(a, BPF_FUNC_skb_load_bytes);
	fault_load(a, BPF_B, BPF_REG_1, BPF_REG_10, FAULT_BYTE);
	fault_alu(a, BPF_XOR, BPF_REG_1, 0x5a);
	fault_store(a, BPF_B, BPF_REG_10, FAULT_BYTE, BPF_REG_1);
	fault_put_byte(a, BPF_FUNC_skb_store_bytes);
	fault_count(a, BPF_REG_1, FAULT_STATE(corrupted));
}

/* Jumps go to instructions now. */
static void fault_link(struct fault_asm *a)
{
	unsigned int i;

	for (i = 0; i < a->length; i++) {
		struct bpf_insn *insn = &a->code[i];

		if (BPF_CLASS(insn->code) == BPF_JMP && BPF_OP(insn->code) != BPF_CALL &&
		    BPF_OP(insn->code) != BPF_EXIT)
			insn->off = a->at[insn->off] - (int)i - 1;
	}
}

unsigned int fault_program(struct bpf_insn *code, int map)
{
	struct fault_asm a = { .code = code };

	fault_put_parse(&a);
	fault_load_imm64(&a, BPF_REG_7, BPF_PSEUDO_MAP_VALUE, (__u32)map);
	fault_put_match(&a);
	fault_put_order(&a);
	fault_put_nth(&a);
	fault_put_random(&a);
	fault_put_decide(&a, 0, FAULT_STATE(loss), BPF_JLT, FAULT_LOSE);
	fault_put_duplicate(&a);
	fault_put_corrupt(&a);
	fault_here(&a, FAULT_PASS);
	fault_return(&a, TC_ACT_UNSPEC);
	fault_here(&a, FAULT_LOSE);
	fault_count(&a, BPF_REG_1, FAULT_STATE(lost));
	fault_return(&a, TC_ACT_SHOT);
	fault_link(&a);
	return a.length;
}
