/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the commands that work with plans on machines share: their words (target.c), how a
 * machine is reached (host.c) and what it says of itself (survey.c).
 */
#ifndef INACONF_APPLY_H
#define INACONF_APPLY_H

#include "cluster.h"
#include "inaconf.h"
#include "steps.h"

/**
 * struct reach - how machines are reached that are no network namespace of this one
 * @hook: words of the command, NULL-ended; NULL if there is none
 * @timeout: seconds a machine has for one request
 */
struct reach {
	char **hook;
	double timeout;
};

/**
 * struct answer - what a machine said
 * @text: its output, NULL until it was asked
 * @size: bytes of it
 * @why: why it failed
 */
struct answer {
	char *text;
	size_t size;
	char why[256];
};

/*
 * host.c: run inaconf with @words, which blanks separate, on a machine; the caller frees
 * @answer->text. 0, or a negative errno with the reason in @answer->why.
 */
int host_run(const struct reach *reach, const struct ina_host *host, const char *words, bool json,
	     struct answer *answer);

/* Call @fn for 0 to @n - 1, many at a time as most of it is waiting, and wait for all of them. */
void host_each(int n, void (*fn)(void *ctx, int i), void *ctx);

/*
 * survey.c: what is configured on all machines of @cluster, to which their jobs are added if
 * @all; and one job on one machine. 0, or a negative errno with the reason in @err.
 */
int survey_all(const struct reach *reach, struct ina_cluster *cluster, bool all,
	       struct ina_doc_error *err);
int survey_place(const struct reach *reach, const struct ina_cluster *cluster, int job, int host,
		 struct ina_place *place, struct ina_doc_error *err);

/**
 * struct target - what a plan is compared with or applied to
 * @path: file of the plan
 * @from: file of the plan that is applied now, NULL if not given
 * @reach: how machines are reached
 * @prune: jobs that are not in the plan end
 * @dry: only say what would be done
 * @plan: the plan
 * @former: the one of @from
 * @now: what is configured
 * @goal: what is to be configured
 */
struct target {
	const char *path;
	const char *from;
	struct reach reach;
	bool prune;
	bool dry;
	struct ina_plan *plan;
	struct ina_plan *former;
	struct ina_cluster *now;
	struct ina_cluster *goal;
};

#define TARGET_TIMEOUT	30	/* seconds */

/* target.c: the words of a command, @more of its own among them; reads the plans. */
int target_parse(struct inaconf *ctx, struct target *target, const struct keyword *more,
		 size_t n_more, int argc, char **argv);

/* Read @plan again; if that fails, the reason was printed and it is as it was. */
int target_reread(struct inaconf *ctx, struct target *target);

/* Ask all machines, and set @now and @goal for @plan, which may be another than that read. */
int target_survey(struct target *target, const struct ina_plan *plan);
void target_clear(struct target *target);

/*
 * apply.c: wait until no other plan is being applied from this machine, unless told to @stop. A file
 * descriptor to close when this one is, or negative: the reason was printed.
 */
int apply_lock(volatile const int *stop);

/* From @now to @goal, or only say how; @stop: no further, but back. */
int apply_run(const struct target *target, struct print *out, volatile const int *stop);

/* From here on signals only set what is returned; a reader that is gone is no reason to end. */
volatile const int *apply_catch(void);

#endif
