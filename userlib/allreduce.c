// SPDX-License-Identifier: GPL-2.0
/*
 * The blocking call: an array of any length, cut into rounds, pipelined through
 * the window. All workers cut alike, so part i of a call meets part i of the
 * others; a session that cannot vouch for that any more refuses to go on.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "session.h"

/**
 * struct ina_call - one ina_allreduce() under way
 * @s: the session
 * @in: contribution
 * @out: sum
 * @count: elements in all
 * @sent: elements submitted
 * @done: elements whose sum is in @out
 * @oldest: round of the first part not done
 * @start_ms: when the call began
 * @timeout_ms: how long it may take, -1 for ever
 * @overflow: a part was saturated
 */
struct ina_call {
	struct ina_session *s;
	const uint8_t *in;
	uint8_t *out;
	size_t count;
	size_t sent;
	size_t done;
	uint64_t oldest;
	int64_t start_ms;
	int timeout_ms;
	bool overflow;
};

static int64_t ina_call_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int ina_call_left_ms(const struct ina_call *c)
{
	int64_t left;

	if (c->timeout_ms < 0)
		return -1;
	left = c->start_ms + c->timeout_ms - ina_call_now_ms();
	return left > 0 ? (int)left : 0;
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
 * Fill the window. With nothing in flight, wait for what is in the way: no room,
 * or an epoch that closed. Neither that nor a signal ends a call by itself.
 */
static int ina_call_send(struct ina_call *c)
{
	int err = 0;

	while (!err && c->sent < c->count)
		err = ina_call_send_part(c);
	if (err != -EAGAIN && err != -ENOTCONN)
		return err;
	if (c->sent > c->done)
		return 0;
	if (err == -EAGAIN)
		err = ina_wait_room(c->s, ina_call_left_ms(c));
	else
		err = ina_wait_open(c->s, ina_call_left_ms(c));
	return err == -ENOTCONN || err == -EINTR ? 0 : err;
}

/* Wait for the oldest part and copy its sum. */
static int ina_call_collect(struct ina_call *c)
{
	size_t part = ina_call_part(c, c->done), size = c->s->att.elem_size;
	int err = ina_wait(c->s, c->oldest, ina_call_left_ms(c));
	const void *result;

	if (err == -EINTR)
		return 0;
	if (err && err != -EOVERFLOW)
		return err;
	result = ina_result(c->s, c->oldest);
	if (!result)
		return err ? err : -errno;
	memcpy(c->out + c->done * size, result, part * size);
	c->overflow |= err == -EOVERFLOW;
	c->done += part;
	return ina_release(c->s, c->oldest++);
}

static int ina_call_run(struct ina_call *c)
{
	int err = 0;

	while (!err && c->done < c->count) {
		err = ina_call_send(c);
		if (!err && c->sent > c->done)
			err = ina_call_collect(c);
	}
	return err;
}

static int ina_call_failed(struct ina_call *c, int err)
{
	struct ina_session *s = c->s;
	char text[INA_TEXT_LEN];

	if (c->sent)
		s->spent = true;
	if (c->count <= s->att.capacity)
		return err;
	memcpy(text, s->text, sizeof(text));
	return ina_error_set(s, err, "after %zu of %zu elements: %.200s", c->done, c->count, text);
}

static int ina_call_check(const struct ina_call *c)
{
	struct ina_session *s = c->s;

	if (s->spent)
		return ina_error_set(s, -ESTALE,
				     "an earlier all-reduce failed: close the session and open it again");
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
		.count = count,
		.start_ms = ina_call_now_ms(),
		.timeout_ms = timeout_ms,
	};
	int err = 0;

	if (count)
		err = ina_call_check(&c);
	if (err || !count)
		return err;
	err = ina_call_run(&c);
	if (err)
		return ina_call_failed(&c, err);
	if (c.overflow)
		return ina_error_set(s, -EOVERFLOW, "the sum overflowed and was saturated");
	return 0;
}
