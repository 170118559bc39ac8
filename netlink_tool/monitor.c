// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf monitor: one line per event as it happens, until SIGINT or SIGTERM.
 * Signals arrive as a file, so that none is missed between two waits.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "inaconf.h"

static const char monitor_help[] =
	"Usage: inaconf monitor [job ID]\n"
	"\n"
	"job ID     only events of this job\n";

static const struct param monitor_table[] = {
	{ "job", PARAM_U32, INA_A_EVENT_JOB, 0, NULL },
};

static const struct words monitor_params = WORDS(monitor_table);

static const struct field event_fields[] = {
	{ INA_A_EVENT_TYPE, FIELD_WORD, "event", " ", &event_words },
	{ INA_A_EVENT_JOB, FIELD_UINT, "job", " job ", NULL },
	{ INA_A_EVENT_ADDR, FIELD_ADDR, "addr", " addr ", NULL },
	{ INA_A_EVENT_WORKER, FIELD_UINT, "worker", " worker ", NULL },
	{ INA_A_EVENT_LAST_FRAGMENT, FIELD_UINT, "last_fragment", " last-fragment ", NULL },
	{ INA_A_EVENT_ROUND, FIELD_UINT, "round", " round ", NULL },
	{ INA_A_EVENT_REASON, FIELD_WORD, "reason", " reason ", &reason_words },
	{ INA_A_EVENT_EPOCH, FIELD_UINT, "epoch", " epoch ", NULL },
	{ INA_A_EVENT_WORKERS, FIELD_UINT, "workers", " workers ", NULL },
	{ INA_A_EVENT_IFINDEX, FIELD_UINT, "ifindex", " ifindex ", NULL },
	{ INA_A_EVENT_TEXT, FIELD_STRING, "text", ": ", NULL },
};

/* Local time to the microsecond, with the zone, as ISO 8601 wants it. */
static void event_print_time(struct print *p)
{
	char second[32] = "", zone[16] = "", text[64];
	struct timeval now;
	struct tm tm;

	if (gettimeofday(&now, NULL) < 0 || !localtime_r(&now.tv_sec, &tm))
		return;
	strftime(second, sizeof(second), "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	snprintf(text, sizeof(text), "%s.%06ld%s", second, (long)now.tv_usec, zone);
	print_string(p, "time", "", text);
}

static void event_print(struct print *p, const struct nlmsghdr *event, const uint32_t *job)
{
	struct attrs attrs;

	attrs_parse(&attrs, event);
	if (job && (!attrs.attr[INA_A_EVENT_JOB] ||
		    attr_uint(attrs.attr[INA_A_EVENT_JOB]) != *job))
		return;
	print_object_open(p, NULL);
	event_print_time(p);
	fields_print(p, event_fields, ARRAY_SIZE(event_fields), &attrs);
	print_object_close(p);
	print_text(p, "\n");
}

static bool event_is_ours(const struct nl *nl, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);

	return nlh->nlmsg_type == nl->family &&
	       mnl_nlmsg_get_payload_len(nlh) >= sizeof(*genl) && genl->cmd == INA_CMD_EVENT;
}

static int monitor_receive(struct inaconf *ctx, const uint32_t *job)
{
	const struct nlmsghdr *nlh;
	ssize_t len = nl_receive(&ctx->nl);
	int left = (int)len;

	if (len == -ENOBUFS) {
		fputs("Warning: events were lost, the reader is too slow\n", stderr);
		return INACONF_OK;
	}
	if (len < 0)
		return error_print("cannot receive events: %s", strerror((int)-len));
	for (nlh = (void *)ctx->nl.buffer; mnl_nlmsg_ok(nlh, left);
	     nlh = mnl_nlmsg_next(nlh, &left)) {
		if (event_is_ours(&ctx->nl, nlh))
			event_print(&ctx->out, nlh, job);
	}
	return print_flush(&ctx->out);
}

static int monitor_signals(void)
{
	sigset_t set;
	int fd = -1;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!sigprocmask(SIG_BLOCK, &set, NULL))
		fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		error_print("cannot wait for signals: %s", strerror(errno));
	return fd;
}

static int monitor_loop(struct inaconf *ctx, int signals, const uint32_t *job)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = mnl_socket_get_fd(ctx->nl.socket), .events = POLLIN },
	};
	int ret = INACONF_OK;

	while (!ret) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
			if (errno == EINTR)
				continue;
			return error_print("cannot wait for events: %s", strerror(errno));
		}
		if (fds[0].revents)
			break;
		ret = monitor_receive(ctx, job);
	}
	return ret;
}

static int monitor_start(struct inaconf *ctx, int argc, char **argv)
{
	struct nlmsghdr *words = nl_request(&ctx->nl, INA_CMD_EVENT);
	struct attrs attrs;
	int ret, signals;
	uint32_t job;

	ret = args_parse(&monitor_params, argc, argv, words, NULL);
	if (ret)
		return ret;
	attrs_parse(&attrs, words);
	job = (uint32_t)attr_uint(attrs.attr[INA_A_EVENT_JOB]);
	ret = nl_subscribe(&ctx->nl);
	if (ret)
		return ret;
	signals = monitor_signals();
	if (signals < 0)
		return INACONF_FAILED;
	ctx->out.pretty = false;
	ret = monitor_loop(ctx, signals, attrs.attr[INA_A_EVENT_JOB] ? &job : NULL);
	close(signals);
	return ret;
}

static const struct command monitor_commands[] = {
	{ "help", NULL },
};

static const struct object monitor_object = {
	.commands = WORDS(monitor_commands),
	.fallback = monitor_start,
	.any = true,
	.help = monitor_help,
};

int monitor_run(struct inaconf *ctx, int argc, char **argv)
{
	return object_run(&monitor_object, ctx, argc, argv);
}
