// SPDX-License-Identifier: GPL-2.0
/*
 * Failures as text: what happened, to which round, because of whom. A session
 * keeps its last text; a thread keeps that of its last ina_open().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "session.h"
#include "ina_shm.h"

#define INA_WHO_LEN	(INA_CULPRIT_LEN + 64)

static __thread char ina_open_text[INA_TEXT_LEN];

int ina_error_set(struct ina_session *s, int error, const char *fmt, ...)
{
	char *text = s ? s->text : ina_open_text;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, INA_TEXT_LEN, fmt, args);
	va_end(args);
	return error;
}

/* A session that could not be opened goes away; its text stays. */
void ina_error_keep(const struct ina_session *s)
{
	memcpy(ina_open_text, s->text, sizeof(ina_open_text));
}

const char *ina_error(const struct ina_session *s)
{
	return s ? s->text : ina_open_text;
}

const char *ina_strerror(int error)
{
	int code = error < 0 ? -error : error;

	switch (code) {
	case 0:
		return "success";
	case EINPROGRESS:
		return "not ended within the given time";
	case ETIMEDOUT:
		return "the deadline passed";
	case EOVERFLOW:
		return "the sum overflowed and was saturated";
	case ENOTCONN:
		return "no epoch is open: members are missing";
	case ESTALE:
		return "the membership changed";
	case EAGAIN:
		return "the window has no room";
	case EMSGSIZE:
		return "no elements, or more than the capacity of the job";
	case ENODEV:
		return "the node or its namespace was deleted";
	default:
		return strerror(code);
	}
}

const char *ina_reason_text(uint32_t reason)
{
	static const char *const texts[] = {
		[INA_REASON_NONE] = "no reason given",
		[INA_REASON_DEADLINE] = "the deadline passed",
		[INA_REASON_COUNT] = "not every worker was counted exactly once",
		[INA_REASON_LENGTH] = "workers disagree on the number of elements",
		[INA_REASON_LEFT] = "a worker left",
		[INA_REASON_CHILD_LOST] = "a child restarted or joined again",
		[INA_REASON_PARENT_LOST] = "the parent closed the epoch or restarted",
		[INA_REASON_TREE] = "the node was removed or its tree replaced",
		[INA_REASON_HASH] = "the configuration of the job differs from the parent's",
		[INA_REASON_UNKNOWN_CHILD] = "the parent has no such child",
		[INA_REASON_MTU] = "a fragment does not fit the path",
		[INA_REASON_ROOT_LOST] = "the root was replaced",
		[INA_REASON_EXCLUDED] = "the others went on without this node",
	};

	if (reason >= sizeof(texts) / sizeof(texts[0]) || !texts[reason])
		return "unknown reason";
	return texts[reason];
}

void ina_error_culprit(const uint8_t *addr, char *text)
{
	struct in6_addr in6;

	text[0] = '\0';
	memcpy(&in6, addr, sizeof(in6));
	if (IN6_IS_ADDR_V4MAPPED(&in6))
		inet_ntop(AF_INET, &in6.s6_addr[12], text, INA_CULPRIT_LEN);
	else if (!IN6_IS_ADDR_UNSPECIFIED(&in6))
		inet_ntop(AF_INET6, &in6, text, INA_CULPRIT_LEN);
}

/* Whom to blame: "10.0.0.13 worker 0, last fragment 41"; the worker may not be known. */
static const char *ina_error_who(const struct ina_status *st, char *text, size_t size)
{
	size_t len = (size_t)snprintf(text, size, "%s", st->culprit);

	if (st->worker >= 0)
		len += (size_t)snprintf(text + len, size - len, " worker %d", st->worker);
	if (st->last >= 0)
		snprintf(text + len, size - len, ", last fragment %d", st->last);
	else if (st->worker >= 0)
		snprintf(text + len, size - len, ", no fragment seen");
	return text;
}

static int ina_error_deadline(struct ina_session *s, const struct ina_status *st)
{
	const char *sep = st->culprit[0] ? ", waiting for " : "";
	uint64_t base = ina_shm_base(s->ctl);
	char who[INA_WHO_LEN];

	/* By now the window may have moved past this round. */
	return ina_error_set(s, st->error,
			     "round %llu: %u of %u fragments without a result in time%s%s, all workers have the rounds below %llu (%llu ms)",
			     (unsigned long long)st->round, st->detail[0], st->detail[1],
			     sep, ina_error_who(st, who, sizeof(who)),
			     (unsigned long long)(base < st->round ? base : st->round),
			     (unsigned long long)st->latency_ns / 1000000);
}

static int ina_error_length(struct ina_session *s, const struct ina_status *st)
{
	const char *who = st->culprit[0] ? st->culprit : "a worker";

	return ina_error_set(s, st->error,
			     "round %llu failed: %s contributed %u elements, others %u",
			     (unsigned long long)st->round, who, st->detail[0], st->detail[1]);
}

/* The root is gone, and had told what all have acknowledged. */
static int ina_error_root(struct ina_session *s, const struct ina_status *st)
{
	return ina_error_set(s, st->error,
			     "round %llu failed: %s%s%s, all workers have the rounds below %llu",
			     (unsigned long long)st->round, ina_reason_text(st->reason),
			     st->culprit[0] ? ": " : "", st->culprit,
			     (unsigned long long)st->detail[1] << 32 | st->detail[0]);
}

static int ina_error_blame(struct ina_session *s, const struct ina_status *st)
{
	unsigned long long round = st->round;
	char who[INA_WHO_LEN];

	if (st->reason == INA_REASON_ROOT_LOST ||
	    (st->reason == INA_REASON_TREE && (st->detail[0] || st->detail[1])))
		return ina_error_root(s, st);
	if (!st->culprit[0])
		return ina_error_set(s, st->error, "round %llu failed: %s", round,
				     ina_reason_text(st->reason));
	switch (st->reason) {
	case INA_REASON_LEFT:
		return ina_error_set(s, st->error, "round %llu failed: left by %s", round,
				     ina_error_who(st, who, sizeof(who)));
	case INA_REASON_CHILD_LOST:
		return ina_error_set(s, st->error,
				     "round %llu failed: %s restarted or joined again", round,
				     st->culprit);
	case INA_REASON_PARENT_LOST:
		return ina_error_set(s, st->error,
				     "round %llu failed: the parent %s closed the epoch or restarted",
				     round, st->culprit);
	default:
		return ina_error_set(s, st->error, "round %llu failed: %s (%s)", round,
				     ina_reason_text(st->reason), st->culprit);
	}
}

/* The text of a round that did not end well; returns its error. */
int ina_error_round(struct ina_session *s, const struct ina_status *st)
{
	unsigned long long round = st->round;

	if (st->error == -EOVERFLOW && st->reason == INA_REASON_NONE)
		return ina_error_set(s, st->error,
				     "round %llu: the sum overflowed and was saturated", round);
	switch (st->reason) {
	case INA_REASON_DEADLINE:
		return ina_error_deadline(s, st);
	case INA_REASON_COUNT:
		return ina_error_set(s, st->error, "round %llu failed: counted %u of %u workers",
				     round, st->detail[0], st->detail[1]);
	case INA_REASON_LENGTH:
		return ina_error_length(s, st);
	case INA_REASON_NONE:
		return ina_error_set(s, st->error, "round %llu failed: %s", round,
				     ina_strerror(st->error));
	default:
		return ina_error_blame(s, st);
	}
}

/* No epoch is open: why, and because of whom. Returns @error. */
int ina_error_closed(struct ina_session *s, int error)
{
	uint32_t reason = ina_shm_closed(s->ctl);
	struct ina_status st = {
		.worker = (int32_t)s->ctl->worker - 1, .last = (int32_t)s->ctl->last - 1,
	};
	char who[INA_WHO_LEN];

	ina_error_culprit(s->ctl->culprit, st.culprit);
	if (reason != INA_REASON_LEFT && reason != INA_REASON_EXCLUDED &&
	    reason != INA_REASON_DEADLINE)
		return ina_error_set(s, error, "job %u: %s", s->att.job, ina_strerror(ENOTCONN));
	return ina_error_set(s, error, "job %u: no epoch is open: %s (%s)", s->att.job,
			     ina_reason_text(reason), ina_error_who(&st, who, sizeof(who)));
}
