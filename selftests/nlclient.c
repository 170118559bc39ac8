// SPDX-License-Identifier: GPL-2.0
/*
 * A second implementation of the netlink family, on libnl-genl, for the netlink
 * test. It checks nothing itself: whatever is asked for is sent, also what no
 * sane program would send, and the answer is printed for a shell to compare.
 *
 *   nlclient CMD [dump] [NAME=VALUE]... [raw:NUMBER=U32]... [rawbin:NUMBER=HEX]... [fail-nth=N]
 *   nlclient batch                  (requests from standard input, one a line)
 *   nlclient listen COUNT TIMEOUT_MS
 *
 * CMD is an operation of the specification (job-add, ...) or unknown-cmd, NAME
 * an attribute of it. Enums are numbers, addresses text. The answer is "ok" and
 * the attributes as NAME=VALUE lines ("---" before each object of a dump), or
 * "error ERRNO TEXT" and attr=NUMBER or missing=NUMBER. With fail-nth the Nth
 * allocation of the kernel for the request fails; fault=1 then says that there was
 * an Nth, fault=0 that there was none. Exit status: 0 ok, 1 refused, 2 wrong usage.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/ina.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "failnth.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MSG_SIZE	65536
#define UNKNOWN_CMD	200

enum kind {
	KIND_U16,
	KIND_U32,
	KIND_U64,
	KIND_FLAG,
	KIND_STRING,
	KIND_ADDR,
	KIND_COUNTER,
	KIND_MEMBER,
};

struct attr {
	const char *name;
	int number;
	enum kind kind;
};

struct set {
	const struct attr *attrs;
	size_t count;
};

struct cmd {
	const char *name;
	uint8_t number;
	const struct set *set;
};

static const struct attr job_attrs[] = {
	{ "id", INA_A_JOB_ID, KIND_U32 },
	{ "dtype", INA_A_JOB_DTYPE, KIND_U32 },
	{ "fragment", INA_A_JOB_FRAGMENT, KIND_U32 },
	{ "capacity", INA_A_JOB_CAPACITY, KIND_U32 },
	{ "depth", INA_A_JOB_DEPTH, KIND_U32 },
	{ "group", INA_A_JOB_GROUP, KIND_U32 },
	{ "deadline", INA_A_JOB_DEADLINE, KIND_U32 },
	{ "on-loss", INA_A_JOB_ON_LOSS, KIND_U32 },
	{ "exponent", INA_A_JOB_EXPONENT, KIND_U32 },
	{ "encap", INA_A_JOB_ENCAP, KIND_U32 },
	{ "port", INA_A_JOB_PORT, KIND_U16 },
	{ "hash", INA_A_JOB_HASH, KIND_U64 },
	{ "memory", INA_A_JOB_MEMORY, KIND_U64 },
	{ "attached", INA_A_JOB_ATTACHED, KIND_U32 },
};

static const struct attr member_attrs[] = {
	{ "addr", INA_A_MEMBER_ADDR, KIND_ADDR },
	{ "index", INA_A_MEMBER_INDEX, KIND_U32 },
	{ "joined", INA_A_MEMBER_JOINED, KIND_FLAG },
	{ "workers", INA_A_MEMBER_WORKERS, KIND_U32 },
	{ "acked", INA_A_MEMBER_ACKED, KIND_U64 },
};

static const struct attr tree_attrs[] = {
	{ "job", INA_A_TREE_JOB, KIND_U32 },
	{ "local", INA_A_TREE_LOCAL, KIND_ADDR },
	{ "parent", INA_A_TREE_PARENT, KIND_ADDR },
	{ "child", INA_A_TREE_CHILD, KIND_ADDR },
	{ "workers", INA_A_TREE_WORKERS, KIND_U32 },
	{ "state", INA_A_TREE_STATE, KIND_U32 },
	{ "epoch", INA_A_TREE_EPOCH, KIND_U32 },
	{ "base", INA_A_TREE_BASE, KIND_U64 },
	{ "members", INA_A_TREE_MEMBERS, KIND_U32 },
	{ "attached", INA_A_TREE_ATTACHED, KIND_U32 },
	{ "reason", INA_A_TREE_REASON, KIND_U32 },
	{ "member", INA_A_TREE_MEMBER, KIND_MEMBER },
	{ "hold", INA_A_TREE_HOLD, KIND_U32 },
	{ "left", INA_A_TREE_LEFT, KIND_U32 },
};

static const struct attr dev_attrs[] = {
	{ "ifindex", INA_A_DEV_IFINDEX, KIND_U32 },
	{ "name", INA_A_DEV_NAME, KIND_STRING },
	{ "pacing", INA_A_DEV_PACING, KIND_U32 },
	{ "rate", INA_A_DEV_RATE, KIND_U64 },
	{ "speed", INA_A_DEV_SPEED, KIND_U64 },
	{ "auto", INA_A_DEV_AUTO, KIND_FLAG },
};

static const struct attr path_attrs[] = {
	{ "job", INA_A_PATH_JOB, KIND_U32 },
	{ "peer", INA_A_PATH_PEER, KIND_ADDR },
	{ "id", INA_A_PATH_ID, KIND_U32 },
	{ "ifindex", INA_A_PATH_IFINDEX, KIND_U32 },
	{ "src", INA_A_PATH_SRC, KIND_ADDR },
	{ "dst", INA_A_PATH_DST, KIND_ADDR },
	{ "sport", INA_A_PATH_SPORT, KIND_U16 },
	{ "weight", INA_A_PATH_WEIGHT, KIND_U32 },
	{ "state", INA_A_PATH_STATE, KIND_U32 },
	{ "chunk", INA_A_PATH_CHUNK, KIND_U32 },
	{ "timeout", INA_A_PATH_TIMEOUT, KIND_U32 },
	{ "loss-limit", INA_A_PATH_LOSS_LIMIT, KIND_U32 },
};

static const struct attr stats_attrs[] = {
	{ "job", INA_A_STATS_JOB, KIND_U32 },
	{ "counter", INA_A_STATS_COUNTER, KIND_COUNTER },
};

static const struct attr event_attrs[] = {
	{ "type", INA_A_EVENT_TYPE, KIND_U32 },
	{ "job", INA_A_EVENT_JOB, KIND_U32 },
	{ "addr", INA_A_EVENT_ADDR, KIND_ADDR },
	{ "round", INA_A_EVENT_ROUND, KIND_U64 },
	{ "reason", INA_A_EVENT_REASON, KIND_U32 },
	{ "epoch", INA_A_EVENT_EPOCH, KIND_U32 },
	{ "workers", INA_A_EVENT_WORKERS, KIND_U32 },
	{ "ifindex", INA_A_EVENT_IFINDEX, KIND_U32 },
	{ "worker", INA_A_EVENT_WORKER, KIND_U32 },
	{ "last-fragment", INA_A_EVENT_LAST_FRAGMENT, KIND_U32 },
	{ "text", INA_A_EVENT_TEXT, KIND_STRING },
};

static const struct set job_set = { job_attrs, ARRAY_SIZE(job_attrs) };
static const struct set member_set = { member_attrs, ARRAY_SIZE(member_attrs) };
static const struct set tree_set = { tree_attrs, ARRAY_SIZE(tree_attrs) };
static const struct set dev_set = { dev_attrs, ARRAY_SIZE(dev_attrs) };
static const struct set path_set = { path_attrs, ARRAY_SIZE(path_attrs) };
static const struct set stats_set = { stats_attrs, ARRAY_SIZE(stats_attrs) };
static const struct set event_set = { event_attrs, ARRAY_SIZE(event_attrs) };

static const struct cmd cmds[] = {
	{ "job-add", INA_CMD_JOB_ADD, &job_set },
	{ "job-del", INA_CMD_JOB_DEL, &job_set },
	{ "job-get", INA_CMD_JOB_GET, &job_set },
	{ "tree-set", INA_CMD_TREE_SET, &tree_set },
	{ "tree-get", INA_CMD_TREE_GET, &tree_set },
	{ "tree-hold", INA_CMD_TREE_HOLD, &tree_set },
	{ "dev-add", INA_CMD_DEV_ADD, &dev_set },
	{ "dev-del", INA_CMD_DEV_DEL, &dev_set },
	{ "dev-get", INA_CMD_DEV_GET, &dev_set },
	{ "dev-set", INA_CMD_DEV_SET, &dev_set },
	{ "path-add", INA_CMD_PATH_ADD, &path_set },
	{ "path-del", INA_CMD_PATH_DEL, &path_set },
	{ "path-set", INA_CMD_PATH_SET, &path_set },
	{ "path-get", INA_CMD_PATH_GET, &path_set },
	{ "stats-get", INA_CMD_STATS_GET, &stats_set },
	{ "unknown-cmd", UNKNOWN_CMD, &job_set },
};

/**
 * struct client - a request and its answer
 * @sk: socket
 * @family: number of the family
 * @msg: the request
 * @set: attributes of the operation
 * @dump: all objects are asked for
 * @fail_nth: which allocation is to fail, 0 none
 * @fault: it did
 * @out: where attributes are written until the answer is complete
 * @done: the answer is complete
 * @error: positive errno, 0 accepted
 * @text: reason in words
 * @attr: number of the bad attribute, -1 none named
 * @missing: number of the missing attribute, -1 none named
 * @events: events printed
 */
struct client {
	struct nl_sock *sk;
	int family;
	struct nl_msg *msg;
	const struct set *set;
	bool dump;
	unsigned int fail_nth;
	bool fault;
	FILE *out;
	bool done;
	int error;
	char text[256];
	int attr;
	int missing;
	unsigned long events;
};

static __attribute__((noreturn)) void usage(const char *what, const char *word)
{
	fprintf(stderr, "nlclient: %s \"%s\"\n", what, word);
	exit(2);
}

static __attribute__((noreturn)) void fail(const char *name, const char *what, const char *why)
{
	printf("error %s %s%s%s\n", name, what, why ? ": " : "", why ? why : "");
	exit(EXIT_FAILURE);
}

static uint64_t number_parse(const char *text)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end)
		usage("not a number", text);
	return value;
}

static void addr_parse(const char *text, struct in6_addr *addr)
{
	char mapped[INET6_ADDRSTRLEN + 8];

	snprintf(mapped, sizeof(mapped), "%s%s", strchr(text, ':') ? "" : "::ffff:", text);
	if (inet_pton(AF_INET6, mapped, addr) != 1)
		usage("not an address", text);
}

static void put(struct client *c, int number, const void *data, size_t length)
{
	if (nla_put(c->msg, number, (int)length, data) < 0)
		usage("request is full at", "attribute");
}

static void put_attr(struct client *c, const struct attr *attr, const char *value)
{
	struct in6_addr addr;
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (attr->kind) {
	case KIND_U16:
		u16 = (uint16_t)number_parse(value);
		put(c, attr->number, &u16, sizeof(u16));
		break;
	case KIND_U32:
		u32 = (uint32_t)number_parse(value);
		put(c, attr->number, &u32, sizeof(u32));
		break;
	case KIND_U64:
		u64 = number_parse(value);
		put(c, attr->number, &u64, sizeof(u64));
		break;
	case KIND_STRING:
		put(c, attr->number, value, strlen(value) + 1);
		break;
	case KIND_ADDR:
		addr_parse(value, &addr);
		put(c, attr->number, &addr, sizeof(addr));
		break;
	case KIND_FLAG:
		put(c, attr->number, NULL, 0);
		break;
	case KIND_COUNTER:
	case KIND_MEMBER:
		usage("only the kernel sends", attr->name);
	}
}

static void put_hex(struct client *c, int number, const char *hex)
{
	size_t length = strlen(hex) / 2;
	unsigned char *bytes;

	if (strlen(hex) % 2 || strspn(hex, "0123456789abcdefABCDEF") != strlen(hex))
		usage("not bytes in hex", hex);
	bytes = calloc(1, length + 1);
	if (!bytes)
		fail("ENOMEM", "out of memory", NULL);
	for (size_t i = 0; i < length; i++) {
		char digits[3] = { hex[2 * i], hex[2 * i + 1], 0 };

		bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
	}
	put(c, number, bytes, length);
	free(bytes);
}

/* raw:NUMBER=U32 and rawbin:NUMBER=HEX */
static void put_raw(struct client *c, const char *name, const char *value)
{
	int number = (int)number_parse(strchr(name, ':') + 1);
	uint32_t u32;

	if (!strncmp(name, "rawbin:", strlen("rawbin:"))) {
		put_hex(c, number, value);
		return;
	}
	u32 = (uint32_t)number_parse(value);
	put(c, number, &u32, sizeof(u32));
}

static void put_pair(struct client *c, const char *name, const char *value)
{
	if (!strncmp(name, "raw:", strlen("raw:")) || !strncmp(name, "rawbin:", strlen("rawbin:"))) {
		put_raw(c, name, value);
		return;
	}
	for (size_t i = 0; i < c->set->count; i++) {
		if (!strcmp(c->set->attrs[i].name, name)) {
			put_attr(c, &c->set->attrs[i], value);
			return;
		}
	}
	usage("no such attribute", name);
}

static void put_words(struct client *c, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		char *equal = strchr(argv[i], '=');

		if (!strcmp(argv[i], "dump")) {
			c->dump = true;
			continue;
		}
		if (!equal)
			usage("neither dump nor NAME=VALUE", argv[i]);
		*equal = 0;
		if (!strcmp(argv[i], "fail-nth"))
			c->fail_nth = (unsigned int)number_parse(equal + 1);
		else
			put_pair(c, argv[i], equal + 1);
	}
}

static const struct attr *set_find(const struct set *set, int number)
{
	for (size_t i = 0; i < set->count; i++) {
		if (set->attrs[i].number == number)
			return &set->attrs[i];
	}
	return NULL;
}

static void print_addr(FILE *out, struct nlattr *nla)
{
	const struct in6_addr *addr = nla_data(nla);
	char text[INET6_ADDRSTRLEN] = "";

	if (nla_len(nla) != sizeof(*addr)) {
		fprintf(out, "bad-length-%d", nla_len(nla));
		return;
	}
	if (IN6_IS_ADDR_V4MAPPED(addr))
		inet_ntop(AF_INET, &addr->s6_addr[12], text, sizeof(text));
	else
		inet_ntop(AF_INET6, addr, text, sizeof(text));
	fputs(text, out);
}

static void print_number(FILE *out, struct nlattr *nla, size_t width)
{
	uint64_t value = 0;

	if (nla_len(nla) != (int)width)
		fprintf(out, "bad-length-%d", nla_len(nla));
	else if (width == sizeof(uint16_t))
		value = nla_get_u16(nla);
	else if (width == sizeof(uint32_t))
		value = nla_get_u32(nla);
	else
		value = nla_get_u64(nla);
	if (nla_len(nla) == (int)width)
		fprintf(out, "%" PRIu64, value);
}

static void print_value(FILE *out, enum kind kind, struct nlattr *nla)
{
	switch (kind) {
	case KIND_U16:
		print_number(out, nla, sizeof(uint16_t));
		break;
	case KIND_U32:
		print_number(out, nla, sizeof(uint32_t));
		break;
	case KIND_U64:
		print_number(out, nla, sizeof(uint64_t));
		break;
	case KIND_ADDR:
		print_addr(out, nla);
		break;
	case KIND_STRING:
		fprintf(out, "%.*s", nla_len(nla), nla_get_string(nla));
		break;
	default:
		fputs("1", out);
		break;
	}
}

static void print_counter(FILE *out, struct nlattr *nest)
{
	struct nlattr *name = nla_find(nla_data(nest), nla_len(nest), INA_A_COUNTER_NAME);
	struct nlattr *value = nla_find(nla_data(nest), nla_len(nest), INA_A_COUNTER_VALUE);

	if (!name || !value) {
		fputs("counter=incomplete\n", out);
		return;
	}
	fprintf(out, "counter.%.*s=", nla_len(name), nla_get_string(name));
	print_value(out, KIND_U64, value);
	fputc('\n', out);
}

static void print_member(FILE *out, struct nlattr *nest, int index)
{
	struct nlattr *nla;
	int left;

	nla_for_each_nested(nla, nest, left) {
		const struct attr *attr = set_find(&member_set, nla_type(nla));

		if (!attr)
			continue;
		fprintf(out, "member.%d.%s=", index, attr->name);
		print_value(out, attr->kind, nla);
		fputc('\n', out);
	}
}

static int on_object(struct nl_msg *msg, void *arg)
{
	struct client *c = arg;
	struct genlmsghdr *genl = nlmsg_data(nlmsg_hdr(msg));
	struct nlattr *nla;
	int left, members = 0;

	if (c->dump)
		fputs("---\n", c->out);
	nla_for_each_attr(nla, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), left) {
		const struct attr *attr = set_find(c->set, nla_type(nla));

		if (!attr)
			continue;
		if (attr->kind == KIND_COUNTER) {
			print_counter(c->out, nla);
		} else if (attr->kind == KIND_MEMBER) {
			print_member(c->out, nla, members++);
		} else {
			fprintf(c->out, "%s=", attr->name);
			print_value(c->out, attr->kind, nla);
			fputc('\n', c->out);
		}
	}
	return NL_OK;
}

/* Number of the attribute at @offset of the request, -1 if there is none. */
static int attr_at(const struct client *c, uint32_t offset)
{
	struct nlmsghdr *nlh = nlmsg_hdr(c->msg);
	const struct nlattr *nla = (const void *)((const char *)nlh + offset);

	if (offset < NLMSG_HDRLEN + GENL_HDRLEN || offset + sizeof(*nla) > nlh->nlmsg_len)
		return -1;
	return nla_type(nla);
}

static void take_tlvs(struct client *c, struct nlattr *head, int length)
{
	struct nlattr *nla;
	int left;

	nla_for_each_attr(nla, head, length, left) {
		if (nla_type(nla) == NLMSGERR_ATTR_MSG)
			snprintf(c->text, sizeof(c->text), "%.*s", nla_len(nla),
				 nla_get_string(nla));
		else if (nla_type(nla) == NLMSGERR_ATTR_OFFS)
			c->attr = attr_at(c, nla_get_u32(nla));
		else if (nla_type(nla) == NLMSGERR_ATTR_MISS_TYPE)
			c->missing = (int)nla_get_u32(nla);
	}
}

/* The socket asks for acknowledgements without the request. */
static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct client *c = arg;
	struct nlmsghdr *nlh = (void *)((char *)err - NLMSG_HDRLEN);

	(void)from;
	c->error = -err->error;
	c->done = true;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		take_tlvs(c, (void *)(err + 1), nlmsg_datalen(nlh) - (int)sizeof(*err));
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct client *c = arg;

	(void)msg;
	c->done = true;
	return NL_STOP;
}

static int on_finish(struct nl_msg *msg, void *arg)
{
	struct client *c = arg;
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	const int *error = nlmsg_data(nlh);

	c->done = true;
	if (nlmsg_datalen(nlh) >= (int)sizeof(*error) && *error < 0) {
		c->error = -*error;
		if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
			take_tlvs(c, (void *)(error + 1), nlmsg_datalen(nlh) - (int)sizeof(*error));
	}
	return NL_STOP;
}

static int on_interrupted(struct nl_msg *msg, void *arg)
{
	struct client *c = arg;

	(void)msg;
	c->error = EINTR;
	snprintf(c->text, sizeof(c->text), "the dump was interrupted");
	return NL_OK;
}

/* An answer to this request: libnl itself expects one to every request before. */
static int on_sequence(struct nl_msg *msg, void *arg)
{
	const struct client *c = arg;

	return nlmsg_hdr(msg)->nlmsg_seq == nlmsg_hdr(c->msg)->nlmsg_seq ? NL_OK :
									   -NLE_SEQ_MISMATCH;
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct client *c = arg;
	struct genlmsghdr *genl = nlmsg_data(nlmsg_hdr(msg));

	if (nlmsg_hdr(msg)->nlmsg_type != c->family || genl->cmd != INA_CMD_EVENT)
		return NL_SKIP;
	fputs("event", stdout);
	for (size_t i = 0; i < c->set->count; i++) {
		struct nlattr *nla = nla_find(genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0),
					      c->set->attrs[i].number);

		if (!nla)
			continue;
		printf(" %s=", c->set->attrs[i].name);
		print_value(stdout, c->set->attrs[i].kind, nla);
	}
	putchar('\n');
	fflush(stdout);
	c->events++;
	return NL_OK;
}

static void client_open(struct client *c)
{
	int on = 1, ret;

	c->sk = nl_socket_alloc();
	if (!c->sk)
		fail("ENOMEM", "out of memory", NULL);
	ret = genl_connect(c->sk);
	if (ret < 0)
		fail("NLE", "genl_connect", nl_geterror(ret));
	nl_socket_enable_msg_peek(c->sk);
	/* A node with 1024 children is one answer; libnl's own 32 KiB overrun. */
	ret = nl_socket_set_buffer_size(c->sk, 1 << 20, 1 << 20);
	if (ret < 0)
		fail("NLE", "nl_socket_set_buffer_size", nl_geterror(ret));
	if (setsockopt(nl_socket_get_fd(c->sk), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on)) ||
	    setsockopt(nl_socket_get_fd(c->sk), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on)))
		fail(strerrorname_np(errno), "setsockopt", NULL);
	c->family = genl_ctrl_resolve(c->sk, INA_FAMILY_NAME);
	if (c->family < 0)
		fail("ENOENT", "family ina not found", NULL);
}

static void client_build(struct client *c, const struct cmd *cmd, int argc, char **argv)
{
	c->set = cmd->set;
	c->msg = nlmsg_alloc_size(MSG_SIZE);
	if (!c->msg || !genlmsg_put(c->msg, NL_AUTO_PORT, NL_AUTO_SEQ, c->family, 0, 0,
				    cmd->number, INA_FAMILY_VERSION))
		fail("ENOMEM", "out of memory", NULL);
	put_words(c, argc, argv);
	if (c->dump)
		nlmsg_hdr(c->msg)->nlmsg_flags |= NLM_F_DUMP;
}

/* The kernel does all of the request before this returns. */
static int client_send(struct client *c)
{
	int ret;

	if (c->fail_nth)
		fail_nth_begin(c->fail_nth);
	ret = nl_send_auto(c->sk, c->msg);
	if (c->fail_nth)
		c->fault = fail_nth_end();
	return ret;
}

static void client_exchange(struct client *c)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int sent, ret;

	if (!cb)
		fail("ENOMEM", "out of memory", NULL);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_sequence, c);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_object, c);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, c);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, c);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, c);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, c);
	sent = ret = client_send(c);
	while (ret >= 0 && !c->done)
		ret = nl_recvmsgs(c->sk, cb);
	nl_cb_put(cb);
	/* A refusal also ends nl_recvmsgs() with an error of its own. */
	if (ret >= 0 || c->done)
		return;
	if (!c->fault || ret != -NLE_NOMEM)
		fail("NLE", "netlink", nl_geterror(ret));
	c->error = ENOBUFS;
	snprintf(c->text, sizeof(c->text), sent < 0 ? "not sent" : "no answer");
}

static int client_answer(const struct client *c, const char *body)
{
	const char *name = strerrorname_np(c->error);

	if (!c->error) {
		printf("ok\n%s", body);
		return EXIT_SUCCESS;
	}
	printf("error %s%s%s\n", name ? name : "?", *c->text ? " " : "", c->text);
	if (c->attr >= 0)
		printf("attr=%d\n", c->attr);
	if (c->missing >= 0)
		printf("missing=%d\n", c->missing);
	return EXIT_FAILURE;
}

static int client_request(struct client *c, const struct cmd *cmd, int argc, char **argv)
{
	char *body = NULL;
	size_t length;
	int ret;

	client_build(c, cmd, argc, argv);
	c->out = open_memstream(&body, &length);
	if (!c->out)
		fail("ENOMEM", "out of memory", NULL);
	client_exchange(c);
	fclose(c->out);
	ret = client_answer(c, body);
	if (c->fail_nth)
		printf("fault=%d\n", c->fault);
	fflush(stdout);
	free(body);
	nlmsg_free(c->msg);
	return ret;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void client_subscribe(struct client *c)
{
	int group = genl_ctrl_resolve_grp(c->sk, INA_FAMILY_NAME, INA_MCGRP_EVENTS);
	int ret = group < 0 ? group : nl_socket_add_membership(c->sk, group);

	if (ret < 0)
		fail("NLE", "joining the group events", nl_geterror(ret));
	nl_socket_disable_seq_check(c->sk);
	nl_socket_modify_cb(c->sk, NL_CB_VALID, NL_CB_CUSTOM, on_event, c);
	nl_socket_set_nonblocking(c->sk);
	puts("listening");
	fflush(stdout);
}

static int client_listen(struct client *c, unsigned long count, int64_t timeout)
{
	struct pollfd fd = { .fd = nl_socket_get_fd(c->sk), .events = POLLIN };
	int64_t end = now_ms() + timeout;

	c->set = &event_set;
	client_subscribe(c);
	while (c->events < count) {
		int64_t left = end - now_ms();

		if (left <= 0 || poll(&fd, 1, (int)left) < 0)
			break;
		if (fd.revents && nl_recvmsgs_default(c->sk) < 0)
			break;
	}
	if (c->events >= count)
		return EXIT_SUCCESS;
	printf("error ETIMEDOUT %lu of %lu events\n", c->events, count);
	return EXIT_FAILURE;
}

static const struct cmd *cmd_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++) {
		if (!strcmp(cmds[i].name, name))
			return &cmds[i];
	}
	usage("no such command", name);
}

/* The requests of standard input, through one socket. */
static int client_batch(const struct client *c)
{
	int ret = EXIT_SUCCESS;
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		struct client one = { .sk = c->sk, .family = c->family, .attr = -1, .missing = -1 };
		char *words[64];
		int count = 0;

		for (char *w = strtok(line, " \n"); w && count < 64; w = strtok(NULL, " \n"))
			words[count++] = w;
		if (count && client_request(&one, cmd_find(words[0]), count - 1, words + 1))
			ret = EXIT_FAILURE;
	}
	free(line);
	return ret;
}

int main(int argc, char **argv)
{
	struct client c = { .attr = -1, .missing = -1 };
	const struct cmd *cmd = NULL;
	bool listen, batch;
	int ret;

	if (argc < 2)
		usage("usage: CMD [dump] [NAME=VALUE]... or batch or", "listen COUNT TIMEOUT_MS");
	batch = !strcmp(argv[1], "batch");
	listen = !strcmp(argv[1], "listen");
	if (listen && argc != 4)
		usage("usage:", "listen COUNT TIMEOUT_MS");
	if (!listen && !batch)
		cmd = cmd_find(argv[1]);
	client_open(&c);
	if (listen)
		ret = client_listen(&c, number_parse(argv[2]), (int64_t)number_parse(argv[3]));
	else if (batch)
		ret = client_batch(&c);
	else
		ret = client_request(&c, cmd, argc - 2, argv + 2);
	nl_socket_free(c.sk);
	return ret;
}
