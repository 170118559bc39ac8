// SPDX-License-Identifier: GPL-2.0
/*
 * Steps done one after the other, and undone backwards if one fails: so the way back goes
 * through the same states as the way there, each of which is safe. Only what was changed
 * here is changed back.
 */
#include <errno.h>
#include <string.h>

#include "steps.h"

static int run_undo(const struct ina_step *step, const struct ina_run_ops *ops, void *ctx)
{
	struct ina_step back = { .phase = step->phase, .job = step->job, .host = step->host,
				 .from = step->to, .to = step->from };

	return ops->change(ctx, &back, true);
}

/* A step that failed may have had its effect, or a part of it: look, and undo what it did. */
static int run_undo_failed(const struct ina_step *step, const struct ina_run_ops *ops, void *ctx)
{
	struct ina_step back = { .phase = step->phase, .job = step->job, .host = step->host,
				 .to = step->from };
	int ret = ops->look(ctx, step->job, step->host, &back.from);

	if (!ret && !ina_place_equal(&back.from, &back.to))
		ret = ops->change(ctx, &back, true);
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
		if (ops->change(ctx, &steps->steps[i], false))
			return run_back(steps, i, true, ops, ctx);
	}
	return 0;
}
