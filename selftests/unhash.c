// SPDX-License-Identifier: GPL-2.0
/*
 * A cable between namespaces forgets nothing: the hash that a sender has given a packet is still
 * with it at the next router, which then does not look at the ports. This pins a BPF program for
 * tc that makes it forget.
 *   unhash /bpf/unhash
 *   tc filter add dev DEVICE ingress bpf direct-action object-pinned /bpf/unhash
 */
#include <err.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_set_hash_invalid },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = TC_ACT_OK },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SCHED_CLS,
		.insns = (uintptr_t)code,
		.insn_cnt = sizeof(code) / sizeof(code[0]),
		.license = (uintptr_t)"GPL",
	};
	int fd;

	if (argc != 2)
		errx(2, "usage: unhash PIN");
	fd = syscall(__NR_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		err(1, "load");
	attr = (union bpf_attr) { .pathname = (uintptr_t)argv[1], .bpf_fd = fd };
	if (syscall(__NR_bpf, BPF_OBJ_PIN, &attr, sizeof(attr)))
		err(1, "%s", argv[1]);
	return 0;
}
