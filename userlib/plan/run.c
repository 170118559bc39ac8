// SPDX-License-Identifier: GPL-2.0
/*
 * Steps done one after the other. If one fails, the way back is planned as the way there, from
 * what is to what was: so there, too, who has a child lets it go before another one gets it. Only
 * what was changed here is changed back.
 */
#include <errno.h>
#include <stdint.h>

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

/* Change a place. Which paths it has then is looked at first where only the kernel knows. */
static int run_change(const struct ina_step *step, bool undo, const struct ina_run_ops *ops,
		      void *ctx)
{
	struct ina_step rest = { .phase = step->phase, .job = step->job, .host = step->host,
				 .to = step->to };
	bool look = step->to.n_paths && run_may_replace(step);
	struct ina_step bare = *step;
	int ret;

	if (look)
		bare.to.n_paths = 0;
	ret = ops->change(ctx, &bare, undo);
	if (ret || !look)
		return ret;
	ret = ops->look(ctx, step->job, step->host, &rest.from);
	if (!ret)
		ret = ops->change(ctx, &rest, undo);
	ina_place_clear(&rest.from);
	return ret;
}

/* A step that failed may have had its effect, or a part of it: what is there, into @now. */
static int run_look(struct ina_cluster *now, const struct ina_step *step,
		    const struct ina_run_ops *ops, void *ctx)
{
	struct ina_place *place = ina_cluster_place(now, step->job, step->host);
	struct ina_place is = { 0 };
	int ret = ops->look(ctx, step->job, step->host, &is);

	if (ret) {
		ina_place_clear(&is);
		return ret;
	}
	ina_place_clear(place);
	*place = is;
	return 0;
}

/*
 * Back from @now to what was before the first @n steps, job by job, the last first. What fails is
 * passed.
 */
static int run_back(struct ina_cluster *now, const struct ina_steps *steps, int n,
		    const struct ina_run_ops *ops, void *ctx)
{
	int ret = 0;

	while (n) {
		struct ina_cluster *goal = ina_cluster_copy(now);
		int job = steps->steps[n - 1].job, one = goal ? 0 : -ENOMEM;
		struct ina_steps back = { 0 };

		for (; n && steps->steps[n - 1].job == job; n--) {
			const struct ina_step *step = &steps->steps[n - 1];

			if (!one)
				one = ina_place_copy(ina_cluster_place(goal, job, step->host),
						     &step->from);
		}
		if (!one)
			one = ina_steps_job(&back, now, goal, job);
		for (int i = 0; i < back.n; i++) {
			/* What has begun meanwhile is summed again. */
			if (back.steps[i].phase != INA_PHASE_HOLD &&
			    run_change(&back.steps[i], true, ops, ctx))
				one = -EIO;
		}
		ina_steps_clear(&back);
		ina_cluster_destroy(goal);
		ret = ret ? ret : one;
	}
	return ret;
}

int ina_steps_run(const struct ina_cluster *before, const struct ina_steps *steps,
		  const struct ina_run_ops *ops, void *ctx)
{
	struct ina_cluster *now = ina_cluster_copy(before);
	int ret = now ? 0 : -ENOMEM, lost = 0, i = 0;

	for (; !ret && i < steps->n; i++) {
		const struct ina_step *step = &steps->steps[i];

		if (ops->stop && ops->stop(ctx))
			break;
		ret = run_change(step, false, ops, ctx);
		if (ret)
			lost = run_look(now, step, ops, ctx);
		else
			ret = lost = ina_place_copy(ina_cluster_place(now, step->job, step->host),
						    &step->to);
	}
	if (ret || i < steps->n)
		ret = run_back(now, steps, i, ops, ctx) || lost ? -ENOTRECOVERABLE : -ECANCELED;
	ina_cluster_destroy(now);
	return ret;
}
