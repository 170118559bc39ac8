// SPDX-License-Identifier: GPL-2.0
/*
 * inaconf plan apply: a plan becomes the configuration of its machines, step by step as
 * userlib/plan/steps.c orders them. A step that fails, or a signal, takes everything back.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "apply.h"

#define APPLY_HOLD_MS	5000		/* rounds that run are waited for */
#define APPLY_LOCK	"ina-plan"	/* an abstract socket's name: it goes with its process */

/**
 * struct apply - steps being done
 * @target: machines
 * @steps: all steps
 * @at: which of them is being done, from 1
 * @stop: a signal came
 */
struct apply {
	const struct target *target;
	const struct ina_steps *steps;
	int at;
	volatile const int *stop;
};

static void apply_progress(const struct apply *a, const struct ina_step *step, bool undo,
			   const char *command)
{
	const char *host = a->target->now->hosts[step->host].name;

	if (undo)
		fprintf(stderr, "undo %s: %s\n", host, command);
	else
		fprintf(stderr, "%d/%d %s %s: %s\n", a->at, a->steps->n,
			ina_phase_words[step->phase], host, command);
}

/* One command on one machine. What could not be undone is left to the operator. */
static int apply_command(const struct apply *a, const struct ina_step *step, bool undo,
			 const char *command)
{
	const struct ina_host *host = &a->target->now->hosts[step->host];
	struct answer answer;
	int ret;

	apply_progress(a, step, undo, command);
	ret = host_run(&a->target->reach, host, command, false, &answer);
	free(answer.text);
	if (ret && undo)
		error_print("host %s: cannot be undone: %s; run there: inaconf %s", host->name,
			    answer.why, command);
	else if (ret)
		error_print("host %s: %s: %s", host->name, command, answer.why);
	return ret;
}

/* How long rounds are waited for: the machine that does has to answer in time. */
static unsigned int apply_hold_ms(const struct target *target)
{
	double most = target->reach.timeout * 1000 / 2;

	return most < APPLY_HOLD_MS ? (unsigned int)most : APPLY_HOLD_MS;
}

static int apply_change(void *ctx, const struct ina_step *step, bool undo)
{
	struct apply *a = ctx;
	struct ina_commands commands;
	int ret = ina_step_commands(a->target->now->jobs[step->job], step,
				    apply_hold_ms(a->target), &commands);

	/* What cannot be undone is said, command by command. */
	for (int i = 0; i < commands.n && (!ret || undo); i++) {
		int one = apply_command(a, step, undo, commands.words[i]);

		ret = ret ? ret : one;
	}
	ina_commands_clear(&commands);
	return ret;
}

static int apply_look(void *ctx, int job, int host, struct ina_place *place)
{
	const struct apply *a = ctx;
	struct ina_doc_error err = { "" };
	int ret = survey_place(&a->target->reach, a->target->now, job, host, place, &err);

	if (ret)
		error_print("%s: whether it is as before is not known", err.text);
	return ret;
}

static bool apply_stop(void *ctx)
{
	struct apply *a = ctx;

	a->at++;
	return *a->stop;
}

static const struct ina_run_ops apply_ops = { apply_change, apply_look, apply_stop };

static int apply_result(struct print *out, const struct ina_steps *steps, int ret, int signal)
{
	if (ret == -ENOTRECOVERABLE)
		return error_print("not applied, and not all could be undone: see above");
	if (ret)
		return error_print("not applied: everything is as it was");
	if (signal)
		return error_print("all was done when signal %d came: applied", signal);
	print_object_open(out, NULL);
	print_uint(out, "steps", steps->n ? "applied: steps " : "nothing to do: steps ",
		   (uint64_t)steps->n);
	print_object_close(out);
	print_text(out, "\n");
	return INACONF_OK;
}

static int apply_dry(const struct target *target, struct print *out, const struct ina_steps *steps)
{
	struct ina_commands commands;

	print_array_open(out, NULL);
	for (int i = 0; i < steps->n; i++) {
		const struct ina_step *step = &steps->steps[i];

		if (ina_step_commands(target->now->jobs[step->job], step, apply_hold_ms(target),
				      &commands))
			return error_print("out of memory");
		for (int k = 0; k < commands.n; k++) {
			print_object_open(out, NULL);
			print_string(out, "phase", "", ina_phase_words[step->phase]);
			print_string(out, "host", " ", target->now->hosts[step->host].name);
			print_string(out, "command", ": ", commands.words[k]);
			print_object_close(out);
			print_text(out, "\n");
		}
		ina_commands_clear(&commands);
	}
	print_array_close(out);
	return INACONF_OK;
}

int apply_run(const struct target *target, struct print *out, volatile const int *stop)
{
	struct ina_steps steps;
	struct apply a = { target, &steps, 0, stop };
	int ret;

	if (ina_steps_plan(target->now, target->goal, &steps))
		return error_print("out of memory");
	if (target->dry) {
		ret = apply_dry(target, out, &steps);
	} else {
		ret = ina_steps_run(target->now, &steps, &apply_ops, &a);
		ret = apply_result(out, &steps, ret, *stop);
	}
	ina_steps_clear(&steps);
	return ret;
}

/* A socket nobody else has, or a negative errno. */
static int apply_try_lock(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "\0" APPLY_LOCK };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&addr,
		  offsetof(struct sockaddr_un, sun_path) + sizeof(APPLY_LOCK)))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

int apply_lock(volatile const int *stop)
{
	const struct timespec moment = { .tv_nsec = 100000000 };
	int fd = apply_try_lock();

	if (fd == -EADDRINUSE)
		fprintf(stderr, "waiting: another plan is being applied from this machine\n");
	while (fd == -EADDRINUSE && !*stop) {
		nanosleep(&moment, NULL);
		fd = apply_try_lock();
	}
	if (fd < 0)
		error_print("nothing was done: %s", *stop ? "a signal came" : strerror(-fd));
	return fd;
}

static volatile int apply_signal;

static void apply_caught(int number)
{
	apply_signal = number;
}

volatile const int *apply_catch(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction catch = { .sa_handler = apply_caught };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &catch, NULL);
	/* Nobody reads what we say: no reason to leave anything half done. */
	sigaction(SIGPIPE, &ignore, NULL);
	return &apply_signal;
}

int plan_apply(struct inaconf *ctx, int argc, char **argv)
{
	struct target target = { 0 };
	const struct keyword words[] = {
		{ "prune", KEYWORD_FLAG, &target.prune, 0, 0 },
		{ "--dry-run", KEYWORD_FLAG, &target.dry, 0, 0 },
	};
	int ret = target_parse(ctx, &target, words, ARRAY_SIZE(words), argc, argv);
	volatile const int *stop = apply_catch();
	int lock = ret || target.dry ? -1 : apply_lock(stop);

	if (!ret)
		ret = lock < 0 && !target.dry ? INACONF_FAILED :
						target_survey(&target, target.plan);
	if (!ret)
		ret = apply_run(&target, &ctx->out, stop);
	if (lock >= 0)
		close(lock);
	target_clear(&target);
	return ret;
}
