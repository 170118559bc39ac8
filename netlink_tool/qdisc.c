// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf qdisc: the queueing discipline "ina" of devices, over rtnetlink. tc(8) installs
 * and removes it as well, but knows neither its options nor its own statistics.
 */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/gen_stats.h>
#include <linux/ina_qdisc.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "inaconf.h"

#define QDISC_KIND	"ina"
#define QDISC_DEV	(INA_QDISC_MAX + 1)	/* behind the options: the device */

static const char qdisc_help[] =
	"Usage: inaconf qdisc add [dev] IFNAME [limit PACKETS] [horizon MILLISECONDS]\n"
	"       inaconf qdisc change [dev] IFNAME [limit PACKETS] [horizon MILLISECONDS]\n"
	"       inaconf qdisc del [dev] IFNAME\n"
	"       inaconf qdisc show [[dev] IFNAME]\n";

static const struct param qdisc_set_table[] = {
	{ "dev", PARAM_DEV, QDISC_DEV, PARAM_REQUIRED | PARAM_BARE, NULL },
	{ "limit", PARAM_SIZE, INA_QDISC_LIMIT, 0, NULL },
	{ "horizon", PARAM_U32, INA_QDISC_HORIZON, 0, NULL },
};

static const struct param qdisc_show_table[] = {
	{ "dev", PARAM_DEV, QDISC_DEV, PARAM_BARE, NULL },
};

static const struct words qdisc_set_params = WORDS(qdisc_set_table);
static const struct words qdisc_del_params = { qdisc_set_table, 1, sizeof(qdisc_set_table[0]) };
static const struct words qdisc_show_params = WORDS(qdisc_show_table);

/**
 * struct qdisc - one of the kernel's
 * @tcm: its device and place
 * @kind: its name
 * @options: how it is set
 * @attrs: what it tells of itself, by TCA_STATS_*
 */
struct qdisc {
	const struct tcmsg *tcm;
	const char *kind;
	const struct nlattr *options;
	struct attrs attrs;
};

/* What is meant for the family ina goes to rtnetlink instead. */
static int qdisc_open(struct nl *nl)
{
	int on = 1;

	if (nl->socket)
		return INACONF_OK;
	nl->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!nl->socket || mnl_socket_bind(nl->socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_setsockopt(nl->socket, NETLINK_EXT_ACK, &on, sizeof(on)) < 0 ||
	    mnl_socket_setsockopt(nl->socket, NETLINK_CAP_ACK, &on, sizeof(on)) < 0)
		return error_print("cannot open a netlink socket: %s", strerror(errno));
	return INACONF_OK;
}

/* Send a request in which the type and the flags are set. */
static int qdisc_query(struct nl *nl, struct nlmsghdr *request)
{
	static const struct words none = { qdisc_set_table, 0, sizeof(qdisc_set_table[0]) };
	int ret = qdisc_open(nl);

	nl->family = request->nlmsg_type;
	return ret ? ret : nl_query(nl, request, &none);
}

/* Start a request about a queueing discipline. */
static struct nlmsghdr *qdisc_request(void *buffer, uint16_t type, uint16_t flags,
				      const struct tcmsg *tcm)
{
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);

	request->nlmsg_type = type;
	request->nlmsg_flags = flags;
	memcpy(mnl_nlmsg_put_extra_header(request, sizeof(*tcm)), tcm, sizeof(*tcm));
	return request;
}

/* Words to attributes by number; they stay in nl->request. */
static int qdisc_args(struct nl *nl, const struct words *params, int argc, char **argv,
		      struct attrs *given)
{
	struct nlmsghdr *request = nl_request(nl, 0);
	int ret = args_parse(params, argc, argv, request, NULL);

	attrs_parse(given, request);
	return ret;
}

/* Create it at @tcm, or change what is there. */
static int qdisc_put(struct nl *nl, uint16_t flags, const struct tcmsg *tcm,
		     const struct attrs *given)
{
	char buffer[256] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *request = qdisc_request(buffer, RTM_NEWQDISC, flags, tcm);
	struct nlattr *nest;

	mnl_attr_put_strz(request, TCA_KIND, QDISC_KIND);
	nest = mnl_attr_nest_start(request, TCA_OPTIONS);
	for (uint16_t i = 1; i <= INA_QDISC_MAX; i++) {
		if (given->attr[i])
			mnl_attr_put_u32(request, i, (uint32_t)attr_uint(given->attr[i]));
	}
	mnl_attr_nest_end(request, nest);
	return qdisc_query(nl, request);
}

static struct tcmsg qdisc_root(const struct attrs *given)
{
	return (struct tcmsg){
		.tcm_ifindex = (int)attr_uint(given->attr[QDISC_DEV]),
		.tcm_parent = TC_H_ROOT,
	};
}

static int qdisc_add(struct inaconf *ctx, int argc, char **argv)
{
	struct attrs given;
	struct tcmsg tcm;
	int ret;

	ret = qdisc_args(&ctx->nl, &qdisc_set_params, argc, argv, &given);
	if (ret)
		return ret;
	tcm = qdisc_root(&given);
	return qdisc_put(&ctx->nl, NLM_F_CREATE | NLM_F_EXCL, &tcm, &given);
}

static int qdisc_del(struct inaconf *ctx, int argc, char **argv)
{
	char buffer[256] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *request;
	struct attrs given;
	struct tcmsg tcm;
	int ret;

	ret = qdisc_args(&ctx->nl, &qdisc_del_params, argc, argv, &given);
	if (ret)
		return ret;
	tcm = qdisc_root(&given);
	request = qdisc_request(buffer, RTM_DELQDISC, 0, &tcm);
	mnl_attr_put_strz(request, TCA_KIND, QDISC_KIND);
	return qdisc_query(&ctx->nl, request);
}

/* Ask for all there are; the kernel does not choose by device. */
static int qdisc_dump(struct nl *nl)
{
	char buffer[256] __attribute__((aligned(NLMSG_ALIGNTO)));
	const struct tcmsg tcm = { .tcm_family = AF_UNSPEC };

	return qdisc_query(nl, qdisc_request(buffer, RTM_GETQDISC, NLM_F_DUMP, &tcm));
}

/* Is it of this kind, and of the device @ifindex, unless that is 0? */
static bool qdisc_parse(const struct nlmsghdr *reply, const char *kind, int ifindex,
			struct qdisc *qdisc)
{
	const struct nlattr *attr;

	if (mnl_nlmsg_get_payload_len(reply) < sizeof(*qdisc->tcm))
		return false;
	memset(qdisc, 0, sizeof(*qdisc));
	qdisc->tcm = mnl_nlmsg_get_payload(reply);
	qdisc->kind = "";
	mnl_attr_for_each(attr, reply, sizeof(*qdisc->tcm)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			qdisc->kind = attr_string(attr);
		else if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			qdisc->options = attr;
		else if (mnl_attr_get_type(attr) == TCA_STATS2)
			attrs_parse_nested(&qdisc->attrs, attr);
	}
	return !strcmp(qdisc->kind, kind) &&
	       (!ifindex || qdisc->tcm->tcm_ifindex == ifindex);
}

/**
 * struct qdisc_places - where those of a device are
 * @ifindex: the device
 * @tcm: they
 * @count: how many
 */
struct qdisc_places {
	int ifindex;
	struct tcmsg *tcm;
	size_t count;
};

static void qdisc_place(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	struct qdisc_places *places = (void *)arg;
	struct qdisc qdisc;
	struct tcmsg *tcm;

	(void)p;
	if (!qdisc_parse(reply, QDISC_KIND, places->ifindex, &qdisc))
		return;
	tcm = realloc(places->tcm, (places->count + 1) * sizeof(*tcm));
	if (!tcm)
		return;
	places->tcm = tcm;
	tcm[places->count++] = (struct tcmsg){
		.tcm_ifindex = places->ifindex,
		.tcm_parent = qdisc.tcm->tcm_parent,
		.tcm_handle = qdisc.tcm->tcm_handle,
	};
}

/* All of the device: that of a device with many queues has one for each. */
static int qdisc_change(struct inaconf *ctx, int argc, char **argv)
{
	struct qdisc_places places = { 0 };
	struct attrs given;
	int ret;

	ret = qdisc_args(&ctx->nl, &qdisc_set_params, argc, argv, &given);
	if (ret)
		return ret;
	places.ifindex = (int)attr_uint(given.attr[QDISC_DEV]);
	ret = qdisc_dump(&ctx->nl);
	if (!ret)
		nl_each(&ctx->nl, &ctx->out, qdisc_place, &places);
	if (!ret && !places.count)
		ret = error_print("the device has no queueing discipline ina: use 'inaconf qdisc add'");
	for (size_t i = 0; !ret && i < places.count; i++)
		ret = qdisc_put(&ctx->nl, 0, &places.tcm[i], &given);
	free(places.tcm);
	return ret;
}

static void qdisc_print_place(struct print *p, const struct tcmsg *tcm)
{
	char text[IF_NAMESIZE > 16 ? IF_NAMESIZE : 16] = "-";

	print_string(p, "dev", "dev ", if_indextoname((unsigned int)tcm->tcm_ifindex, text) ?: "-");
	snprintf(text, sizeof(text), "%x:", tcm->tcm_handle >> 16);
	print_string(p, "handle", " handle ", text);
	snprintf(text, sizeof(text), "%x:%x", tcm->tcm_parent >> 16, tcm->tcm_parent & 0xffff);
	print_string(p, "parent", " parent ", tcm->tcm_parent == TC_H_ROOT ? "root" : text);
}

/* Copy what is there of a structure that may be longer or shorter. */
static void qdisc_copy(void *to, size_t size, const struct nlattr *from)
{
	size_t len = from ? mnl_attr_get_payload_len(from) : 0;

	memset(to, 0, size);
	if (len)
		memcpy(to, mnl_attr_get_payload(from), len < size ? len : size);
}

static void qdisc_print_counts(struct print *p, const struct attrs *attrs)
{
	struct gnet_stats_basic basic;
	struct gnet_stats_queue queue;

	qdisc_copy(&basic, sizeof(basic), attrs->attr[TCA_STATS_BASIC]);
	qdisc_copy(&queue, sizeof(queue), attrs->attr[TCA_STATS_QUEUE]);
	print_uint(p, "packets", "\n  sent ",
		   attrs->attr[TCA_STATS_PKT64] ? attr_uint(attrs->attr[TCA_STATS_PKT64]) :
						  basic.packets);
	print_uint(p, "bytes", " packets ", basic.bytes);
	print_uint(p, "drops", " bytes dropped ", queue.drops);
	print_uint(p, "qlen", " waiting ", queue.qlen);
	print_uint(p, "backlog", " packets ", queue.backlog);
	print_text(p, " bytes");
}

static void qdisc_print(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	struct ina_qdisc_stats stats;
	const int *ifindex = arg;
	struct qdisc qdisc;

	if (!qdisc_parse(reply, QDISC_KIND, *ifindex, &qdisc))
		return;
	qdisc_copy(&stats, sizeof(stats), qdisc.attrs.attr[TCA_STATS_APP]);
	print_object_open(p, NULL);
	qdisc_print_place(p, qdisc.tcm);
	print_uint(p, "limit", " limit ", stats.limit);
	print_uint(p, "horizon", " horizon ", stats.horizon);
	qdisc_print_counts(p, &qdisc.attrs);
	print_uint(p, "paced", "\n  paced ", stats.paced);
	print_uint(p, "unpaced", " unpaced ", stats.unpaced);
	print_uint(p, "capped", " capped ", stats.capped);
	print_uint(p, "late", " late ", stats.late);
	print_uint(p, "late_max_ns", " latest by ", stats.late_max);
	print_uint(p, "paths", " ns paths ", stats.paths);
	print_object_close(p);
	print_text(p, "\n");
}

static int qdisc_show(struct inaconf *ctx, int argc, char **argv)
{
	struct attrs given;
	int ret, ifindex;

	ret = qdisc_args(&ctx->nl, &qdisc_show_params, argc, argv, &given);
	if (ret)
		return ret;
	ifindex = (int)attr_uint(given.attr[QDISC_DEV]);
	ret = qdisc_dump(&ctx->nl);
	if (ret)
		return ret;
	print_array_open(&ctx->out, NULL);
	nl_each(&ctx->nl, &ctx->out, qdisc_print, &ifindex);
	print_array_close(&ctx->out);
	return INACONF_OK;
}

static void qdisc_take_etf(struct print *p, const struct nlmsghdr *reply, const void *arg)
{
	struct qdisc_etf *etf = (void *)arg;
	struct tc_etf_qopt one;
	struct qdisc qdisc;
	struct attrs attrs;

	(void)p;
	if (!qdisc_parse(reply, "etf", etf->ifindex, &qdisc) || !qdisc.options)
		return;
	attrs_parse_nested(&attrs, qdisc.options);
	qdisc_copy(&one, sizeof(one), attrs.attr[TCA_ETF_PARMS]);
	if (!etf->found || one.delta > etf->delta)
		etf->delta = one.delta;
	etf->deadline_mode |= TC_ETF_DEADLINE_MODE_ON & one.flags;
	etf->offload |= TC_ETF_OFFLOAD_ON & one.flags;
	etf->clock = !etf->found || one.clockid != CLOCK_TAI ? one.clockid : etf->clock;
	etf->found = true;
}

int qdisc_etf(struct qdisc_etf *etf)
{
	struct nl nl = { 0 };
	int ret = nl_init(&nl);

	if (!ret)
		ret = qdisc_dump(&nl);
	if (!ret)
		nl_each(&nl, NULL, qdisc_take_etf, etf);
	nl_exit(&nl);
	return ret;
}

static const struct command qdisc_commands[] = {
	{ "add", qdisc_add },
	{ "change", qdisc_change },
	{ "del", qdisc_del },
	{ "show", qdisc_show },
	{ "help", NULL },
};

static const struct object qdisc_object = {
	.commands = WORDS(qdisc_commands),
	.fallback = qdisc_show,
	.help = qdisc_help,
};

int qdisc_run(struct inaconf *ctx, int argc, char **argv)
{
	return object_run(&qdisc_object, ctx, argc, argv);
}
