// SPDX-License-Identifier: GPL-2.0
/*
 * Steps done one after the other, and undone backwards if one fails: so the way back goes
 * through the same states as the way there, each of which is safe. Only what was changed
 * here is changed back.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "steps.h"

/*
 * A node whose slots have too few bits for its contributors is replaced, and its paths are gone.
 * How many they have is the kernel's affair: more if there were more contributors before.
 */
static bool run_may_replace(const struct ina_step *step)
{
	uint32_t from = (uint32_t)step->from.n_children + step->from.workers;
	uint32_t to = (uint32_t)step->to.n_children + step->to.workers;

	return step->from.tree && step->to.tree && (to + 63) / 64 > (from + 63) / 64;
}

/* Change a place. Whether it has its paths then is looked at where only the kernel knows. */
static int run_change(const struct ina_step *step, bool undo, const struct ina_run_ops *ops,
		      void *ctx)
{
	struct ina_step rest = { .phase = step->phase, .job = step->job, .host = step->host,
				 .to = step->to };
	int ret = ops->change(ctx, step, undo);

	if (ret || !step->to.n_paths || !run_may_replace(step))
		return ret;
	ret = ops->look(ctx, step->job, step->host, &rest.from);
	if (!ret)
		ret = ops->change(ctx, &rest, undo);
	ina_place_clear(&rest.from);
	return ret;
}

static int run_undo(const struct ina_step *step, const struct ina_run_ops *ops, void *ctx)
{
	struct ina_step back = { .phase = step->phase, .job = step->job, .host = step->host,
				 .from = step->to, .to = step->from };

	return run_change(&back, true, ops, ctx);
}

/* A step that failed may have had its effect, or a part of it: look, and undo what it did. */
static int run_undo_failed(const struct ina_step *step, const struct ina_run_ops *ops, void *ctx)
{
	struct ina_step back = { .phase = step->phase, .job = step->job, .host = step->host,
				 .to = step->from };
	int ret = ops->look(ctx, step->job, step->host, &back.from);

	if (!ret && !ina_place_equal(&back.from, &back.to))
		ret = run_change(&back, true, ops, ctx);
	ina_place_clear(&back.from);
	return ret;
}

static int run_back(const struct ina_steps *steps, int done, bool failed,
		    const struct ina_run_ops *ops, void *ctx)
{
	int ret = -ECANCELED;

	if (failed && run_undo_failed(&steps->steps[done], ops, ctx))
		ret = -ENOTRECOVERABLE;
	while (done--) {
		if (run_undo(&steps->steps[done], ops, ctx))
			ret = -ENOTRECOVERABLE;
	}
	return ret;
}

int ina_steps_run(const struct ina_steps *steps, const struct ina_run_ops *ops, void *ctx)
{
	for (int i = 0; i < steps->n; i++) {
		if (ops->stop && ops->stop(ctx))
			return run_back(steps, i, false, ops, ctx);
		if (run_change(&steps->steps[i], false, ops, ctx))
			return run_back(steps, i, true, ops, ctx);
	}
	return 0;
}
