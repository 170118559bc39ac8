/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From what is configured to what is to be, in steps that are safe one by one: whatever has been
 * done when it stops, no epoch opens without a worker that stays, nobody is counted by two
 * parents, and no machine aggregates for more jobs than before or after. The same holds for the
 * steps back from there.
 */
#ifndef INA_PLAN_STEPS_H
#define INA_PLAN_STEPS_H

#include "cluster.h"

/**
 * enum ina_phase - why a step comes when it does
 * @INA_PHASE_CREATE: machines that are new to the job; nobody waits yet
 * @INA_PHASE_HOLD: a root that lets no more rounds begin and those that run end; its place stays
 * @INA_PHASE_EXPECT: parents that wait for a child still to come
 * @INA_PHASE_ABDICATE: a root that is none any more: from here on there is no epoch
 * @INA_PHASE_RELEASE: parents that let children go
 * @INA_PHASE_END: machines that have no part in the job any more
 * @INA_PHASE_MOVE: children that go to another parent
 */
enum ina_phase {
	INA_PHASE_CREATE,
	INA_PHASE_HOLD,
	INA_PHASE_EXPECT,
	INA_PHASE_ABDICATE,
	INA_PHASE_RELEASE,
	INA_PHASE_END,
	INA_PHASE_MOVE,
};

/**
 * struct ina_step - one change of one place
 * @phase: why now
 * @job: index of the job in the cluster
 * @host: index of the machine
 * @from: what is there
 * @to: what is there afterwards
 */
struct ina_step {
	enum ina_phase phase;
	int job;
	int host;
	struct ina_place from;
	struct ina_place to;
};

/**
 * struct ina_steps - what is to be done, in order
 * @steps: the steps
 * @n: how many
 * @room: for how many there is room
 */
struct ina_steps {
	struct ina_step *steps;
	int n;
	int room;
};

extern const char *const ina_phase_words[];

/*
 * Refuse what the kernel would refuse in the middle: nodes with attached workers keep role,
 * address, number of workers and settings. 0, or -EINVAL with the reason in @err.
 */
int ina_steps_check(const struct ina_cluster *now, const struct ina_cluster *goal,
		    struct ina_doc_error *err);

/* The steps from @now to @goal, which have the same machines and jobs. 0 or -ENOMEM. */
int ina_steps_plan(const struct ina_cluster *now, const struct ina_cluster *goal,
		   struct ina_steps *steps);
void ina_steps_clear(struct ina_steps *steps);

/* commands.c: the words of a step; @ms: how long rounds are waited for. As ina_place_commands(). */
int ina_step_commands(uint32_t job, const struct ina_step *step, unsigned int ms,
		      struct ina_commands *commands);

/* Append those of one job, which takes no machine of another, to @steps and take them in @now. */
int ina_steps_job(struct ina_steps *steps, struct ina_cluster *now,
		  const struct ina_cluster *goal, int job);

/**
 * struct ina_run_ops - how steps are done
 * @change: change a place, or only give it its paths if the rest is alike; 0 or a negative errno,
 *	and then it may have been changed or not
 * @look: what is there now; a negative errno if it cannot be told
 * @stop: asked once before each step whether to give up; may be NULL
 */
struct ina_run_ops {
	int (*change)(void *ctx, const struct ina_step *step, bool undo);
	int (*look)(void *ctx, int job, int host, struct ina_place *place);
	bool (*stop)(void *ctx);
};

/*
 * run.c: do the steps, of which the first begins @before. If one fails, or @ops->stop says so, all
 * is made as before and -ECANCELED returned; -ENOTRECOVERABLE if some of that failed as well.
 */
int ina_steps_run(const struct ina_cluster *before, const struct ina_steps *steps,
		  const struct ina_run_ops *ops, void *ctx);

#endif
