// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink socket: one request, all of its replies, and the kernel's reason
 * if it refuses. Replies are collected before any is printed, so that a dump
 * which has to be repeated leaves no trace in the output.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "inaconf.h"

#define NL_BUFFER_SIZE	65536	/* the kernel sizes dumps by what we can receive */
#define NL_DUMP_TRIES	10
#define NL_EVENT_BUFFER	(1 << 20)

/**
 * struct nl_answer - how a request ended
 * @error: positive errno, 0 if it was accepted
 * @text: reason or warning in words, may be NULL
 * @offset: where in the request the bad attribute is, 0 unknown
 * @missing: attribute that should be there, 0 none
 * @interrupted: objects changed while they were dumped
 */
struct nl_answer {
	int error;
	const char *text;
	uint32_t offset;
	uint32_t missing;
	bool interrupted;
};

int nl_init(struct nl *nl)
{
	nl->request = malloc(NL_REQUEST_SIZE);
	nl->buffer = malloc(NL_BUFFER_SIZE);
	nl->size = NL_BUFFER_SIZE;
	if (!nl->request || !nl->buffer)
		return error_print("out of memory");
	return INACONF_OK;
}

void nl_exit(struct nl *nl)
{
	if (nl->socket)
		mnl_socket_close(nl->socket);
	free(nl->request);
	free(nl->buffer);
	free(nl->replies);
}

static struct nlmsghdr *nl_start(void *buffer, uint8_t command, uint8_t version)
{
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(request, sizeof(*genl));

	genl->cmd = command;
	genl->version = version;
	return request;
}

struct nlmsghdr *nl_request(struct nl *nl, uint8_t command)
{
	return nl_start(nl->request, command, INA_FAMILY_VERSION);
}

static int nl_reserve(struct nl *nl, size_t size)
{
	char *buffer;

	if (size <= nl->size)
		return 0;
	buffer = realloc(nl->buffer, size);
	if (!buffer)
		return -ENOMEM;
	nl->buffer = buffer;
	nl->size = size;
	return 0;
}

ssize_t nl_receive(struct nl *nl)
{
	int fd = mnl_socket_get_fd(nl->socket);
	ssize_t len;
	int ret;

	do {
		len = recv(fd, nl->buffer, nl->size, MSG_PEEK | MSG_TRUNC);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	ret = nl_reserve(nl, (size_t)len);
	if (ret)
		return ret;
	len = mnl_socket_recvfrom(nl->socket, nl->buffer, nl->size);
	return len < 0 ? -errno : len;
}

static int nl_keep(struct nl *nl, const struct nlmsghdr *reply)
{
	size_t len = NLMSG_ALIGN(reply->nlmsg_len);
	char *replies = realloc(nl->replies, nl->length + len);

	if (!replies)
		return -ENOMEM;
	memset(replies + nl->length, 0, len);
	memcpy(replies + nl->length, reply, reply->nlmsg_len);
	nl->replies = replies;
	nl->length += len;
	return 0;
}

static void nl_read_tlvs(const struct nlmsghdr *nlh, size_t skip, struct nl_answer *answer)
{
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	mnl_attr_for_each(attr, nlh, skip) {
		switch (mnl_attr_get_type(attr)) {
		case NLMSGERR_ATTR_MSG:
			answer->text = *attr_string(attr) ? attr_string(attr) : NULL;
			break;
		case NLMSGERR_ATTR_OFFS:
			answer->offset = (uint32_t)attr_uint(attr);
			break;
		case NLMSGERR_ATTR_MISS_TYPE:
			answer->missing = (uint32_t)attr_uint(attr);
			break;
		default:
			break;
		}
	}
}

static void nl_read_error(const struct nlmsghdr *nlh, struct nl_answer *answer)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*err);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*err)) {
		answer->error = EBADMSG;
		return;
	}
	answer->error = abs(err->error);
	/* Without NLM_F_CAPPED the whole request stands before the reason. */
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += err->msg.nlmsg_len - sizeof(err->msg);
	nl_read_tlvs(nlh, skip, answer);
}

/* The end of a dump carries the error that cut it short, if any. */
static void nl_read_done(const struct nlmsghdr *nlh, struct nl_answer *answer)
{
	const int *error = mnl_nlmsg_get_payload(nlh);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*error))
		return;
	answer->error = *error < 0 ? -*error : 0;
	nl_read_tlvs(nlh, sizeof(*error), answer);
}

/* Take one message; returns 1 if it was the last, else 0 or a negative errno. */
static int nl_take(struct nl *nl, const struct nlmsghdr *nlh, struct nl_answer *answer)
{
	unsigned int portid = mnl_socket_get_portid(nl->socket);

	if (nlh->nlmsg_seq != nl->seq || (nlh->nlmsg_pid && nlh->nlmsg_pid != portid))
		return 0;
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		answer->interrupted = true;
	switch (nlh->nlmsg_type) {
	case NLMSG_ERROR:
		nl_read_error(nlh, answer);
		return 1;
	case NLMSG_DONE:
		nl_read_done(nlh, answer);
		return 1;
	default:
		return nlh->nlmsg_type < NLMSG_MIN_TYPE ? 0 : nl_keep(nl, nlh);
	}
}

static int nl_collect(struct nl *nl, struct nl_answer *answer)
{
	const struct nlmsghdr *nlh;
	int left, ret = 0;

	nl->length = 0;
	while (!ret) {
		left = (int)nl_receive(nl);
		if (left < 0)
			return left;
		for (nlh = (void *)nl->buffer; !ret && mnl_nlmsg_ok(nlh, left);
		     nlh = mnl_nlmsg_next(nlh, &left))
			ret = nl_take(nl, nlh, answer);
	}
	return ret < 0 ? ret : 0;
}

/* Returns 0 if the kernel answered, whatever the answer; else a negative errno. */
static int nl_exchange(struct nl *nl, struct nlmsghdr *request, struct nl_answer *answer)
{
	int ret, tries = 0;

	do {
		memset(answer, 0, sizeof(*answer));
		request->nlmsg_seq = ++nl->seq;
		if (mnl_socket_sendto(nl->socket, request, request->nlmsg_len) < 0)
			return -errno;
		ret = nl_collect(nl, answer);
	} while (!ret && answer->interrupted && ++tries < NL_DUMP_TRIES);
	if (!ret && answer->interrupted && !answer->error)
		answer->error = EINTR;
	return ret;
}

static void nl_learn_groups(struct nl *nl, const struct nlattr *groups)
{
	const struct nlattr *group;
	struct attrs attrs;

	mnl_attr_for_each_nested(group, groups) {
		attrs_parse_nested(&attrs, group);
		if (!strcmp(attr_string(attrs.attr[CTRL_ATTR_MCAST_GRP_NAME]), INA_MCGRP_EVENTS))
			nl->group = (uint32_t)attr_uint(attrs.attr[CTRL_ATTR_MCAST_GRP_ID]);
	}
}

static void nl_learn_family(struct nl *nl, const struct nlmsghdr *reply)
{
	struct attrs attrs;

	attrs_parse(&attrs, reply);
	nl->family = (uint16_t)attr_uint(attrs.attr[CTRL_ATTR_FAMILY_ID]);
	if (attrs.attr[CTRL_ATTR_MCAST_GROUPS])
		nl_learn_groups(nl, attrs.attr[CTRL_ATTR_MCAST_GROUPS]);
}

static int nl_find_family(struct nl *nl)
{
	char buffer[256] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *request = nl_start(buffer, CTRL_CMD_GETFAMILY, 1);
	struct nl_answer answer;
	int ret;

	request->nlmsg_type = GENL_ID_CTRL;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, INA_FAMILY_NAME);
	ret = nl_exchange(nl, request, &answer);
	if (ret)
		return error_print("cannot talk to the kernel: %s", strerror(-ret));
	if (answer.error == ENOENT)
		return error_print("module ina_agg is not loaded: run modprobe ina_agg");
	if (answer.error || !nl->length)
		return error_print("cannot find family %s: %s", INA_FAMILY_NAME,
				   strerror(answer.error));
	nl_learn_family(nl, (const void *)nl->replies);
	return INACONF_OK;
}

static int nl_set_options(struct nl *nl)
{
	static const int options[] = { NETLINK_EXT_ACK, NETLINK_CAP_ACK };
	int on = 1;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (mnl_socket_setsockopt(nl->socket, options[i], &on, sizeof(on)) < 0)
			return error_print("cannot set a netlink option: %s", strerror(errno));
	}
	return INACONF_OK;
}

static int nl_open(struct nl *nl)
{
	int ret;

	if (nl->socket)
		return INACONF_OK;
	nl->socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->socket)
		return error_print("cannot open a netlink socket: %s", strerror(errno));
	if (mnl_socket_bind(nl->socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return error_print("cannot bind a netlink socket: %s", strerror(errno));
	ret = nl_set_options(nl);
	return ret ? ret : nl_find_family(nl);
}

static const char *nl_param_name(const struct words *params, uint32_t attr)
{
	const struct param *param = params->table;

	for (size_t i = 0; i < params->count; i++) {
		if (attr && param[i].attr == attr)
			return param[i].keyword;
	}
	return NULL;
}

static const struct nlattr *nl_find_attr(const struct nlmsghdr *request, uint32_t offset)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, request, GENL_HDRLEN) {
		if ((const char *)attr - (const char *)request == (ptrdiff_t)offset)
			return attr;
	}
	return NULL;
}

/* Name the attribute at @offset of the request; its value too, if an address. */
static void nl_blame(const struct nlmsghdr *request, const struct words *params, uint32_t offset)
{
	const struct nlattr *attr = nl_find_attr(request, offset);
	const char *name = attr ? nl_param_name(params, mnl_attr_get_type(attr)) : NULL;
	char text[ADDR_SIZE];
	bool is_addr;

	if (!name)
		return;
	is_addr = mnl_attr_get_payload_len(attr) == sizeof(struct in6_addr);
	fprintf(stderr, " (%s%s%s)", name, is_addr ? " " : "",
		is_addr ? attr_addr(attr, text) : "");
}

static const char *nl_error_text(const struct nl_answer *answer)
{
	if (answer->text)
		return answer->text;
	switch (answer->error) {
	case EPERM:
		return "not permitted: this needs CAP_NET_ADMIN in the network namespace";
	case EINTR:
		return "the objects keep changing while they are shown: try again";
	case EOPNOTSUPP:
		return "the loaded module ina_agg does not know this request: its version differs";
	default:
		return strerror(answer->error);
	}
}

static int nl_report(const struct nl_answer *answer, const struct nlmsghdr *request,
		     const struct words *params)
{
	const char *missing = nl_param_name(params, answer->missing);

	if (!answer->error && !answer->text)
		return INACONF_OK;
	fprintf(stderr, "%s: %s", answer->error ? "Error" : "Warning", nl_error_text(answer));
	nl_blame(request, params, answer->offset);
	if (missing)
		fprintf(stderr, " (%s is missing)", missing);
	fputc('\n', stderr);
	return answer->error ? INACONF_FAILED : INACONF_OK;
}

int nl_query(struct nl *nl, struct nlmsghdr *request, const struct words *params)
{
	struct nl_answer answer;
	int ret;

	ret = nl_open(nl);
	if (ret)
		return ret;
	request->nlmsg_type = nl->family;
	request->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	ret = nl_exchange(nl, request, &answer);
	if (ret)
		return error_print("cannot talk to the kernel: %s", strerror(-ret));
	return nl_report(&answer, request, params);
}

void nl_each(const struct nl *nl, struct print *p, nl_reply_fn fn, const void *arg)
{
	const struct nlmsghdr *reply = (const void *)nl->replies;
	int left = (int)nl->length;

	for (; reply && mnl_nlmsg_ok(reply, left); reply = mnl_nlmsg_next(reply, &left))
		fn(p, reply, arg);
}

int nl_show(struct inaconf *ctx, struct nlmsghdr *request, const struct words *params,
	    nl_reply_fn fn, const void *arg)
{
	int ret = nl_query(&ctx->nl, request, params);

	if (ret)
		return ret;
	print_array_open(&ctx->out, NULL);
	nl_each(&ctx->nl, &ctx->out, fn, arg);
	print_array_close(&ctx->out);
	return INACONF_OK;
}

int nl_subscribe(struct nl *nl)
{
	int size = NL_EVENT_BUFFER, ret, fd;

	ret = nl_open(nl);
	if (ret)
		return ret;
	fd = mnl_socket_get_fd(nl->socket);
	/* Only root may exceed the system's limit; within it is good, too. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) < 0)
		return error_print("cannot size the receive buffer: %s", strerror(errno));
	if (mnl_socket_setsockopt(nl->socket, NETLINK_ADD_MEMBERSHIP, &nl->group,
				  sizeof(nl->group)) < 0)
		return error_print("cannot join the group %s: %s", INA_MCGRP_EVENTS,
				   strerror(errno));
	return INACONF_OK;
}
