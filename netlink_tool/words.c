// SPDX-License-Identifier: GPL-2.0
/*
 * Words the user may say or reads: the enums of the family by name, exact look
 * up, and the error that lists what is known. The order of a list is the order
 * of the enum.
 */
#include <stdarg.h>
#include <string.h>

#include "inaconf.h"

static const char *const dtypes[] = {
	[INA_DTYPE_INT32] = "int32",
	[INA_DTYPE_FP32] = "fp32",
	[INA_DTYPE_BF16] = "bf16",
	[INA_DTYPE_FIXED] = "fixed",
};

/* What may be said in place of a number. */
static const char *const autos[] = {
	"auto",
};

static const char *const on_losses[] = {
	[INA_ON_LOSS_FAIL] = "fail",
	[INA_ON_LOSS_DEGRADE] = "degrade",
};

static const char *const encaps[] = {
	[INA_ENCAP_UDP] = "udp",
	[INA_ENCAP_IP] = "ip",
};

static const char *const states[] = {
	[INA_NODE_STATE_IDLE] = "idle",
	[INA_NODE_STATE_JOINING] = "joining",
	[INA_NODE_STATE_OPEN] = "open",
};

static const char *const reasons[] = {
	[INA_REASON_NONE] = "none",
	[INA_REASON_DEADLINE] = "deadline",
	[INA_REASON_COUNT] = "count",
	[INA_REASON_LENGTH] = "length",
	[INA_REASON_LEFT] = "left",
	[INA_REASON_CHILD_LOST] = "child-lost",
	[INA_REASON_PARENT_LOST] = "parent-lost",
	[INA_REASON_TREE] = "tree",
	[INA_REASON_HASH] = "hash",
	[INA_REASON_UNKNOWN_CHILD] = "unknown-child",
	[INA_REASON_MTU] = "mtu",
	[INA_REASON_ROOT_LOST] = "root-lost",
	[INA_REASON_EXCLUDED] = "excluded",
};

static const char *const reasons_long[] = {
	[INA_REASON_NONE] = "no reason given",
	[INA_REASON_DEADLINE] = "the round did not end within the deadline of the job",
	[INA_REASON_COUNT] = "the result does not count every worker exactly once",
	[INA_REASON_LENGTH] = "contributors disagree on the number of elements",
	[INA_REASON_LEFT] = "a worker left or its process ended",
	[INA_REASON_CHILD_LOST] = "a child restarted or joined again",
	[INA_REASON_PARENT_LOST] = "the parent closed the epoch or restarted",
	[INA_REASON_TREE] = "the node was removed or its tree replaced",
	[INA_REASON_HASH] = "the configuration of the job differs from the parent's",
	[INA_REASON_UNKNOWN_CHILD] = "the parent has no such child",
	[INA_REASON_MTU] = "a fragment does not fit the path",
	[INA_REASON_ROOT_LOST] = "the root was replaced",
	[INA_REASON_EXCLUDED] = "the others went on without this node",
};

static const char *const pacings[] = {
	[INA_PACING_SENDER] = "sender",
	[INA_PACING_FQ] = "fq",
	[INA_PACING_ETF] = "etf",
	[INA_PACING_INA] = "ina",
};

static const char *const path_states[] = {
	[INA_PATH_STATE_UP] = "up",
	[INA_PATH_STATE_LINK_DOWN] = "link-down",
	[INA_PATH_STATE_SILENT] = "silent",
};

static const char *const events[] = {
	[INA_EVENT_TYPE_JOB_ADDED] = "job-added",
	[INA_EVENT_TYPE_JOB_DELETED] = "job-deleted",
	[INA_EVENT_TYPE_TREE_SET] = "tree-set",
	[INA_EVENT_TYPE_DEV_ADDED] = "dev-added",
	[INA_EVENT_TYPE_DEV_DELETED] = "dev-deleted",
	[INA_EVENT_TYPE_CHILD_JOINED] = "child-joined",
	[INA_EVENT_TYPE_CHILD_LEFT] = "child-left",
	[INA_EVENT_TYPE_CHILD_REFUSED] = "child-refused",
	[INA_EVENT_TYPE_REFUSED] = "refused",
	[INA_EVENT_TYPE_WORKER_ATTACHED] = "worker-attached",
	[INA_EVENT_TYPE_WORKER_LEFT] = "worker-left",
	[INA_EVENT_TYPE_EPOCH_OPENED] = "epoch-opened",
	[INA_EVENT_TYPE_EPOCH_CLOSED] = "epoch-closed",
	[INA_EVENT_TYPE_ROUND_FAILED] = "round-failed",
	[INA_EVENT_TYPE_OVERFLOW] = "overflow",
	[INA_EVENT_TYPE_PEER_SILENT] = "peer-silent",
	[INA_EVENT_TYPE_PEER_BACK] = "peer-back",
	[INA_EVENT_TYPE_PARENT_CHANGED] = "parent-changed",
	[INA_EVENT_TYPE_DEGRADED] = "degraded",
	[INA_EVENT_TYPE_RANK_TWICE] = "rank-twice",
	[INA_EVENT_TYPE_LINK_DOWN] = "link-down",
	[INA_EVENT_TYPE_LINK_UP] = "link-up",
	[INA_EVENT_TYPE_PATH_DOWN] = "path-down",
	[INA_EVENT_TYPE_PATH_UP] = "path-up",
};

const struct words dtype_words = WORDS(dtypes);
const struct words auto_words = WORDS(autos);
const struct words encap_words = WORDS(encaps);
const struct words on_loss_words = WORDS(on_losses);
const struct words state_words = WORDS(states);
const struct words reason_words = WORDS(reasons);
const struct words reason_texts = WORDS(reasons_long);
const struct words pacing_words = WORDS(pacings);
const struct words path_state_words = WORDS(path_states);
const struct words event_words = WORDS(events);

const char *words_get(const struct words *words, uint64_t i)
{
	if (i >= words->count)
		return NULL;
	return *(const char *const *)((const char *)words->table + i * words->stride);
}

int words_find(const struct words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++) {
		if (!strcmp(words_get(words, i), word))
			return (int)i;
	}
	return -1;
}

int words_unknown(const struct words *words, const char *what, const char *word)
{
	fprintf(stderr, "Error: unknown %s \"%s\"; known:", what, word);
	for (size_t i = 0; i < words->count; i++)
		fprintf(stderr, "%s %s", i ? "," : "", words_get(words, i));
	fputc('\n', stderr);
	return INACONF_USAGE;
}

static void error_vprint(const char *format, va_list ap)
{
	fputs("Error: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
}

int error_print(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	error_vprint(format, ap);
	va_end(ap);
	return INACONF_FAILED;
}

int error_usage(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	error_vprint(format, ap);
	va_end(ap);
	return INACONF_USAGE;
}
