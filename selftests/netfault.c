// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on a port, the same ones again for the same seed: a BPF program for tc
 * loses, duplicates or corrupts packets of a job, at random or one of them only,
 * and counts. It is pinned under a name, its state under the name with -state behind:
 *   netfault load /bpf/p-w1
 *   tc filter add dev p-w1 egress bpf direct-action object-pinned /bpf/p-w1
 *   netfault set /bpf/p-w1 type RESULT frag 0 nth 1
 *   netfault count lost /bpf/p-w1
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/ina_wire.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault/fault.h"

static const char fault_help[] =
	"usage: netfault load PIN\n"
	"       netfault set PIN... [WORD NUMBER]...\n"
	"       netfault show PIN...\n"
	"       netfault count matched|lost|duplicated|corrupted|overtaken PIN...\n"
	"PIN is a path in a BPF file system, with a slash. set starts all counters anew.\n"
	"  seed N                    of the decisions; the next PIN has N + 1\n"
	"  loss, duplicate, corrupt  packets of a million\n"
	"  type NAME                 only packets of this type, as JOIN or GROUP_OK\n"
	"  from ADDRESS              only packets from this IPv4 address\n"
	"  end GROUP                 only the last number of a group of this size\n"
	"  frag N                    only this fragment\n"
	"  nth N                     lose the Nth of them and no other\n"
	"  order 1                   count those overtaken, do nothing else\n";

static const char * const fault_types[INA_TYPE_MAX] = {
	[INA_TYPE_JOIN] = "JOIN", [INA_TYPE_WELCOME] = "WELCOME", [INA_TYPE_EPOCH] = "EPOCH",
	[INA_TYPE_ACK] = "ACK", [INA_TYPE_DATA] = "DATA", [INA_TYPE_RESULT] = "RESULT",
	[INA_TYPE_FAIL] = "FAIL", [INA_TYPE_DONE] = "DONE", [INA_TYPE_GROUP_OK] = "GROUP_OK",
	[INA_TYPE_GROUP_NACK] = "GROUP_NACK", [INA_TYPE_LATE] = "LATE",
	[INA_TYPE_EXCLUDE] = "EXCLUDE", [INA_TYPE_READY] = "READY", [INA_TYPE_GRANT] = "GRANT",
};

static const struct fault_counter {
	const char *name;
	size_t at;
} fault_counters[] = {
	{ "matched", offsetof(struct fault_state, matched) },
	{ "lost", offsetof(struct fault_state, lost) },
	{ "duplicated", offsetof(struct fault_state, duplicated) },
	{ "corrupted", offsetof(struct fault_state, corrupted) },
	{ "overtaken", offsetof(struct fault_state, overtaken) },
};

#define FAULT_COUNTERS	(sizeof(fault_counters) / sizeof(fault_counters[0]))

static _Noreturn void fault_usage(const char *what)
{
	fprintf(stderr, "netfault: %s\n%s", what, fault_help);
	exit(2);
}

static _Noreturn void fault_die(const char *what)
{
	fprintf(stderr, "netfault: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int fault_bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static void fault_pin(int fd, const char *pin, const char *suffix)
{
	char path[256];
	union bpf_attr attr = { .bpf_fd = fd };

	snprintf(path, sizeof(path), "%s%s", pin, suffix);
	attr.pathname = (uintptr_t)path;
	if (fault_bpf(BPF_OBJ_PIN, &attr))
		fault_die(path);
}

static int fault_state_open(const char *pin)
{
	char path[256];
	union bpf_attr attr = { .pathname = (uintptr_t)path };
	int map;

	snprintf(path, sizeof(path), "%s-state", pin);
	map = fault_bpf(BPF_OBJ_GET, &attr);
	if (map < 0)
		fault_die(path);
	return map;
}

static void fault_state_get(const char *pin, struct fault_state *state)
{
	__u32 key = 0;
	union bpf_attr attr = {
		.map_fd = fault_state_open(pin),
		.key = (uintptr_t)&key,
		.value = (uintptr_t)state,
	};

	if (fault_bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		fault_die(pin);
	close(attr.map_fd);
}

static void fault_state_set(int map, const struct fault_state *state)
{
	__u32 key = 0;
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)state,
	};

	if (fault_bpf(BPF_MAP_UPDATE_ELEM, &attr))
		fault_die("state");
}

static int fault_load(const char *pin)
{
	static char log[1 << 16];
	struct bpf_insn code[FAULT_CODE_MAX];
	struct fault_state state = { .frag = FAULT_ANY };
	union bpf_attr map = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(__u32),
		.value_size = sizeof(state),
		.max_entries = 1,
	};
	union bpf_attr program = {
		.prog_type = BPF_PROG_TYPE_SCHED_CLS,
		.insns = (uintptr_t)code,
		.license = (uintptr_t)"GPL",
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int state_fd, program_fd;

	state_fd = fault_bpf(BPF_MAP_CREATE, &map);
	if (state_fd < 0)
		fault_die("map");
	fault_state_set(state_fd, &state);
	program.insn_cnt = fault_program(code, state_fd);
	program_fd = fault_bpf(BPF_PROG_LOAD, &program);
	if (program_fd < 0) {
		fprintf(stderr, "%s\n", log);
		fault_die("program");
	}
	fault_pin(program_fd, pin, "");
	fault_pin(state_fd, pin, "-state");
	return 0;
}

static unsigned int fault_type(const char *name)
{
	unsigned int i;

	for (i = 1; i < INA_TYPE_MAX; i++)
		if (fault_types[i] && !strcmp(fault_types[i], name))
			return i;
	fprintf(stderr, "netfault: unknown type %s; known:", name);
	for (i = 1; i < INA_TYPE_MAX; i++)
		if (fault_types[i])
			fprintf(stderr, " %s", fault_types[i]);
	fprintf(stderr, "\n");
	exit(2);
}

static __u64 fault_addr(const char *text)
{
	struct in_addr addr;

	if (inet_pton(AF_INET, text, &addr) != 1)
		fault_usage(text);
	return ntohl(addr.s_addr);
}

static void fault_word(struct fault_state *state, const char *word, const char *text)
{
	char *end;
	__u64 number = strtoull(text, &end, 0);

	if (!strcmp(word, "type"))
		state->type = fault_type(text);
	else if (!strcmp(word, "from"))
		state->from = fault_addr(text);
	else if (*end || end == text)
		fault_usage(text);
	else if (!strcmp(word, "seed"))
		state->seed = number;
	else if (!strcmp(word, "loss"))
		state->loss = number * FAULT_ALWAYS / 1000000;
	else if (!strcmp(word, "duplicate"))
		state->duplicate = number * FAULT_ALWAYS / 1000000;
	else if (!strcmp(word, "corrupt"))
		state->corrupt = number * FAULT_ALWAYS / 1000000;
	else if (!strcmp(word, "end"))
		state->mask = state->value = number - 1;
	else if (!strcmp(word, "frag"))
		state->frag = number;
	else if (!strcmp(word, "nth"))
		state->nth = number;
	else if (!strcmp(word, "order"))
		state->order = number;
	else
		fault_usage(word);
}

static int fault_is_pin(const char *word)
{
	return word && strchr(word, '/');
}

static int fault_set(char **words)
{
	struct fault_state state = { .frag = FAULT_ANY };
	char **pins = words;

	while (fault_is_pin(*words))
		words++;
	for (; *words; words += 2) {
		if (!words[1])
			fault_usage(*words);
		fault_word(&state, words[0], words[1]);
	}
	for (; fault_is_pin(*pins); pins++) {
		int map = fault_state_open(*pins);

		fault_state_set(map, &state);
		close(map);
		state.seed++;
	}
	return 0;
}

static __u64 fault_value(const struct fault_state *state, const struct fault_counter *counter)
{
	__u64 value;

	memcpy(&value, (const char *)state + counter->at, sizeof(value));
	return value;
}

static int fault_show(char **pins)
{
	struct fault_state state;
	size_t i;

	for (; *pins; pins++) {
		fault_state_get(*pins, &state);
		printf("%s", strrchr(*pins, '/') + 1);
		for (i = 0; i < FAULT_COUNTERS; i++)
			printf(" %s %llu", fault_counters[i].name,
			       fault_value(&state, &fault_counters[i]));
		printf("\n");
	}
	return 0;
}

static int fault_count(const char *name, char **pins)
{
	struct fault_state state;
	__u64 sum = 0;
	size_t i = 0;

	while (i < FAULT_COUNTERS && strcmp(fault_counters[i].name, name))
		i++;
	if (i == FAULT_COUNTERS)
		fault_usage(name);
	for (; *pins; pins++) {
		fault_state_get(*pins, &state);
		sum += fault_value(&state, &fault_counters[i]);
	}
	printf("%llu\n", sum);
	return 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";

	if (!strcmp(verb, "load") && fault_is_pin(argv[2]) && argc == 3)
		return fault_load(argv[2]);
	if (!strcmp(verb, "set") && fault_is_pin(argv[2]))
		return fault_set(argv + 2);
	if (!strcmp(verb, "show") && fault_is_pin(argv[2]))
		return fault_show(argv + 2);
	if (!strcmp(verb, "count") && fault_is_pin(argv[3]))
		return fault_count(argv[2], argv + 3);
	fault_usage("what?");
}
