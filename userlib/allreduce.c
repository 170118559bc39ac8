// SPDX-License-Identifier: GPL-2.0
/*
 * The blocking call: an array of any length, cut into rounds, pipelined through
 * the window. All workers cut alike, so part i of a call meets
 * part i of the others, even after a failure: the rest is still contributed. A worker that
 * leaves ends a call early, and then on every worker; who ends one early alone has to
 * open again, if others wait for the rest.
 */
#include <errno.h>
#include <string.h>

#include "session.h"
#include "ina_shm.h"

/**
 * struct ina_call - one ina_allreduce() under way
 * @s: the session
 * @in: contribution
 * @out: sum
 * @total: elements in all
 * @count: elements to contribute: @total, or less if the rest is given up
 * @sent: elements submitted
 * @done: elements whose round has ended
 * @summed: elements whose sum is in @out
 * @oldest: round of the first part not done
 * @start_ms: when the call began
 * @timeout_ms: how long it may take, -1 for ever
 * @alone: others may still contribute what is given up here
 * @overflow: a part was saturated
 * @error: of the first part that failed
 * @text: of that failure
 */
struct ina_call {
	struct ina_session *s;
	const uint8_t *in;
	uint8_t *out;
	size_t total;
	size_t count;
	size_t sent;
	size_t done;
	size_t summed;
	uint64_t oldest;
	int64_t start_ms;
	int timeout_ms;
	bool alone;
	bool overflow;
	int error;
	char text[INA_TEXT_LEN];
};

static int ina_call_left_ms(const struct ina_call *c)
{
	return ina_session_left_ms(c->start_ms, c->timeout_ms);
}

static size_t ina_call_part(const struct ina_call *c, size_t from)
{
	size_t rest = c->count - from;

	return rest < c->s->att.capacity ? rest : c->s->att.capacity;
}

static int ina_call_skipped(const struct ina_call *c)
{
	struct ina_session *s = c->s;

	s->spent = true;
	return ina_error_set(s, -ESTALE,
			     "round %llu was over before this worker contributed: the membership changed, the next round is %llu",
			     (unsigned long long)s->cursor, (unsigned long long)ina_next_round(s));
}

/* Submit the next part, without waiting. */
static int ina_call_send_part(struct ina_call *c)
{
	size_t part = ina_call_part(c, c->sent), size = c->s->att.elem_size;
	const uint8_t *from = c->in + c->sent * size;
	uint8_t *buffer = ina_buffer(c->s);
	uint64_t round;
	int err;

	if (!buffer)
		return -errno;
	if (c->s->taken_round != c->s->cursor)
		return ina_call_skipped(c);
	if (buffer != from)
		memcpy(buffer, from, part * size);
	err = ina_submit(c->s, part, &round);
	if (err)
		return err == -ESTALE ? ina_call_skipped(c) : err;
	if (!c->sent)
		c->oldest = round;
	c->sent += part;
	return 0;
}

/*
 * With nothing in flight, wait for what is in the way of the next part. Who has been
 * a member learns at once of a worker that is gone.
 */
static int ina_call_wait(struct ina_call *c, int why)
{
	int err;

	if (why == -ENOTCONN && ina_session_lost(c->s)) {
		c->s->spent = true;
		return ina_error_closed(c->s, -ECONNRESET);
	}
	if (why == -ENOTCONN)
		err = ina_wait_open(c->s, ina_call_left_ms(c));
	else
		err = ina_wait_room(c->s, ina_call_left_ms(c));
	return err == -ENOTCONN || err == -EINTR ? 0 : err;
}

/*
 * Fill the window. Neither a full window nor a closed epoch nor a signal ends a
 * call by itself; a closed epoch does once a part has failed.
 */
static int ina_call_send(struct ina_call *c)
{
	int err = 0;

	while (!err && c->sent < c->count)
		err = ina_call_send_part(c);
	if (c->error && (err == -ENOTCONN || err == -ESTALE)) {
		c->alone = err == -ENOTCONN && !ina_session_lost(c->s);
		c->count = c->sent;
		return 0;
	}
	if (err == -EINTR)
		return 0;
	if (err != -EAGAIN && err != -EBUSY && err != -ENOTCONN)
		return err;
	return c->sent > c->done ? 0 : ina_call_wait(c, err);
}

/* Copy the sum of an ended part; it counts if it is still whole after that. */
static int ina_call_copy(struct ina_call *c, size_t part, int err)
{
	size_t size = c->s->att.elem_size;
	const void *result = NULL;
	int rel;

	if (!err || err == -EOVERFLOW)
		result = ina_result(c->s, c->oldest);
	if (!result)
		return err ? err : -errno;
	memcpy(c->out + c->done * size, result, part * size);
	rel = ina_release(c->s, c->oldest);
	if (rel)
		return rel;
	c->overflow |= err == -EOVERFLOW;
	c->summed += part;
	return 0;
}

/* How many workers are in the sum of a part. */
static void ina_call_count(struct ina_call *c, uint32_t workers)
{
	struct ina_session *s = c->s;

	if (!s->least || workers < s->least)
		s->least = workers;
	if (workers > s->most)
		s->most = workers;
}

static void ina_call_note(struct ina_call *c, int err)
{
	if (c->error)
		return;
	c->error = err;
	memcpy(c->text, c->s->text, sizeof(c->text));
}

/* Wait for the oldest part. Its failure is noted, not returned. */
static int ina_call_collect(struct ina_call *c)
{
	size_t part = ina_call_part(c, c->done);
	int err = ina_wait(c->s, c->oldest, ina_call_left_ms(c));
	struct ina_status st;

	if (err == -EINTR)
		return 0;
	if (ina_status(c->s, c->oldest, &st) || st.error == -EINPROGRESS)
		return err;
	err = ina_call_copy(c, part, err);
	if (err) {
		ina_call_note(c, err);
		ina_release(c->s, c->oldest);
	} else {
		ina_call_count(c, st.workers);
	}
	/* Who left may be back already, at another call. */
	if (st.reason == INA_REASON_LEFT) {
		c->alone = false;
		c->count = c->sent;
	}
	c->done += part;
	c->oldest++;
	return 0;
}

static int ina_call_run(struct ina_call *c)
{
	int err = 0;

	while (!err && c->done < c->count) {
		err = ina_call_send(c);
		if (!err && c->sent > c->done)
			err = ina_call_collect(c);
	}
	if (err)
		ina_call_note(c, err);
	c->alone |= err == -EINPROGRESS;
	c->s->owing = c->alone && c->sent && c->sent < c->total;
	return c->error;
}

static int ina_call_failed(struct ina_call *c)
{
	struct ina_session *s = c->s;

	s->spent |= c->sent > 0;
	if (c->total <= s->att.capacity)
		return ina_error_set(s, c->error, "%s", c->text);
	return ina_error_set(s, c->error, "%zu of %zu elements summed: %.200s", c->summed,
			     c->total, c->text);
}

static int ina_call_check(const struct ina_call *c)
{
	struct ina_session *s = c->s;

	if (s->spent)
		return ina_error_set(s, -ESTALE,
				     "an earlier all-reduce failed: ina_resume() as soon as the workers agree");
	if (!c->in || !c->out)
		return ina_error_set(s, -EINVAL, "no array given");
	if (c->count > SIZE_MAX / s->att.elem_size)
		return ina_error_set(s, -EINVAL, "%zu elements do not fit the memory", c->count);
	if (s->released < s->cursor)
		return ina_error_set(s, -EBUSY, "round %llu is not released",
				     (unsigned long long)s->released);
	if (!ina_region_is_contrib(s, c->in))
		return 0;
	if (!s->taken || c->in != ina_region_contrib(s, s->taken_round))
		return ina_error_set(s, -EINVAL, "not the array last returned by ina_buffer()");
	if (c->count > s->att.capacity)
		return ina_error_set(s, -EMSGSIZE, "%zu elements in an array of %u", c->count,
				     s->att.capacity);
	return 0;
}

int ina_allreduce(struct ina_session *s, const void *in, void *out, size_t count, int timeout_ms)
{
	struct ina_call c = {
		.s = s,
		.in = in,
		.out = out,
		.total = count,
		.count = count,
		.start_ms = ina_session_now_ms(),
		.timeout_ms = timeout_ms,
	};
	int err = 0;

	s->least = 0;
	s->most = 0;
	if (count)
		err = ina_call_check(&c);
	if (err || !count)
		return err;
	if (ina_call_run(&c))
		return ina_call_failed(&c);
	if (c.overflow)
		return ina_error_set(s, -EOVERFLOW, "the sum overflowed and was saturated");
	return 0;
}

/* Wait for what a call that timed out left in flight, and give it back unread. */
static int ina_resume_drain(const struct ina_call *c)
{
	struct ina_session *s = c->s;
	struct ina_status st;

	while (s->released < s->cursor) {
		uint64_t round = s->released;
		int err = ina_wait(s, round, ina_call_left_ms(c));

		if (err == -EINTR)
			continue;
		if (err && !ina_status(s, round, &st) && st.error == -EINPROGRESS)
			return err;
		ina_release(s, round);
		/* Also if the kernel knows nothing of it any more. */
		s->released = round + 1;
	}
	return 0;
}

static int ina_resume_open(const struct ina_call *c)
{
	int err;

	do {
		err = ina_wait_open(c->s, ina_call_left_ms(c));
	} while (err == -EINTR);
	return err;
}

int ina_resume(struct ina_session *s, int timeout_ms)
{
	struct ina_call c = { .s = s, .start_ms = ina_session_now_ms(), .timeout_ms = timeout_ms };
	int err;

	if (!s->spent)
		return 0;
	err = ina_resume_drain(&c);
	if (!err)
		err = ina_resume_open(&c);
	if (err)
		return err;
	if (s->owing && ina_shm_next_round(s->ctl) <= s->cursor)
		return ina_error_set(s, -ESTALE,
				     "others may wait for parts of the failed call: close and open again");
	s->synced = false;
	ina_session_sync(s);
	s->taken = false;
	s->spent = false;
	return 0;
}
