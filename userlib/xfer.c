// SPDX-License-Identifier: GPL-2.0
/*
 * One round at a time, asynchronously: take a buffer, submit it, wait, read the
 * result, release it. The kernel numbers the rounds; the session remembers
 * which of them it submitted and which it has released.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "session.h"
#include "ina_shm.h"

#define INA_SPIN_NS	20000
#define INA_POLL_MS	100	/* notice a closed epoch at the latest */

static uint64_t ina_xfer_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* An own round still has the array: it is under way, or waits for its release. */
static int ina_xfer_own(struct ina_session *s, uint64_t next)
{
	const struct ina_ctl_round *slot = ina_region_round(s, s->released);
	bool ended = !slot || ina_shm_round_ended(slot);

	return ina_error_set(s, ended ? -EBUSY : -EAGAIN, "no room for round %llu: round %llu %s",
			     (unsigned long long)next, (unsigned long long)s->released,
			     ended ? "is not released" : "has not ended");
}

/* 0 if the next round can be contributed to, and which round that is. */
static int ina_xfer_room(struct ina_session *s, uint64_t *round)
{
	uint32_t state = ina_shm_state(s->ctl);
	uint64_t next = ina_shm_next_round(s->ctl);
	uint32_t depth = s->att.depth;

	if (state == INA_CTL_GONE)
		return ina_error_set(s, -ENODEV, "job %u: %s", s->att.job, ina_strerror(ENODEV));
	if (state != INA_CTL_OPEN)
		return ina_error_closed(s, -ENOTCONN);
	ina_session_sync(s);
	/* Left out, and back at a round that was given up. */
	if (next < s->cursor && s->released == s->cursor)
		s->cursor = s->released = next;
	if (s->released < s->cursor && next >= s->released + depth)
		return ina_xfer_own(s, next);
	if (next >= ina_shm_base(s->ctl) + depth)
		return ina_error_set(s, -EAGAIN,
				     "no room for round %llu: round %llu has not ended everywhere",
				     (unsigned long long)next, (unsigned long long)(next - depth));
	*round = next;
	return 0;
}

void *ina_buffer(struct ina_session *s)
{
	int err = ina_xfer_room(s, &s->taken_round);

	s->taken = !err;
	if (err) {
		errno = -err;
		return NULL;
	}
	return ina_region_contrib(s, s->taken_round);
}

uint64_t ina_next_round(const struct ina_session *s)
{
	return s->taken ? s->taken_round : ina_shm_next_round(s->ctl);
}

static int ina_xfer_poll(struct ina_session *s, int timeout_ms)
{
	struct pollfd pfd = { .fd = s->fd, .events = POLLOUT };

	if (poll(&pfd, 1, timeout_ms) >= 0)
		return 0;
	return ina_error_set(s, -errno, "waiting for room: %s", ina_strerror(errno));
}

int ina_wait_room(struct ina_session *s, int timeout_ms)
{
	int64_t start = ina_session_now_ms();
	uint64_t round;
	int err;

	while ((err = ina_xfer_room(s, &round)) == -EAGAIN) {
		int left = ina_session_left_ms(start, timeout_ms);

		if (!left)
			return -EINPROGRESS;
		if (left < 0 || left > INA_POLL_MS)
			left = INA_POLL_MS;
		err = ina_xfer_poll(s, left);
		if (err)
			return err;
	}
	return err;
}

static int ina_xfer_refused(struct ina_session *s, uint64_t round, int error)
{
	unsigned long long r = round;

	if (error == -ENOTCONN)
		return ina_error_closed(s, error);
	if (error != -ESTALE)
		return ina_error_set(s, error, "cannot submit round %llu: %s", r,
				     ina_strerror(error));
	s->taken = false;
	return ina_error_set(s, error,
			     "round %llu is over: the membership changed, the next round is %llu",
			     r, (unsigned long long)ina_shm_next_round(s->ctl));
}

/* Rounds may have been skipped: what is unreleased starts no later than this. */
static void ina_xfer_submitted(struct ina_session *s, uint64_t round)
{
	if (s->released == s->cursor || s->released > round)
		s->released = round;
	s->cursor = round + 1;
	s->taken = false;
}

int ina_submit(struct ina_session *s, size_t count, uint64_t *round)
{
	struct ina_submit sub = { .round = s->taken_round };

	if (!s->taken)
		return ina_error_set(s, -EINVAL, "nothing to submit: no buffer was taken");
	if (!count || count > s->att.capacity)
		return ina_error_set(s, -EMSGSIZE,
				     "cannot submit %zu elements: 1 to %u fit a round", count,
				     s->att.capacity);
	sub.length = (uint32_t)count;
	if (ioctl(s->fd, INA_IOC_SUBMIT, &sub))
		return ina_xfer_refused(s, sub.round, -errno);
	ina_xfer_submitted(s, sub.round);
	if (round)
		*round = sub.round;
	return 0;
}

/* After the end of the round its record does not change until our next submit. */
static void ina_xfer_ended(const struct ina_ctl_round *slot, struct ina_status *st)
{
	st->error = slot->error;
	if (slot->state == INA_ROUND_FAILED) {
		st->error = slot->error ? slot->error : -EIO;
		st->reason = slot->reason;
		st->detail[0] = slot->detail[0];
		st->detail[1] = slot->detail[1];
		ina_error_culprit(slot->culprit, st->culprit);
		st->worker = (int32_t)slot->worker - 1;
		st->last = (int32_t)slot->last - 1;
	}
	st->workers = slot->workers;
	st->latency_ns = slot->end_ns - slot->submit_ns;
	st->inexact = slot->flags & INA_ROUND_INEXACT;
}

int ina_status(struct ina_session *s, uint64_t round, struct ina_status *st)
{
	const struct ina_ctl_round *slot = ina_region_round(s, round);

	if (!slot)
		return ina_error_set(s, -EINVAL, "round %llu is not in the window",
				     (unsigned long long)round);
	*st = (struct ina_status) {
		.round = round, .error = -EINPROGRESS, .worker = -1, .last = -1,
	};
	st->epoch = slot->epoch;
	st->length = slot->length;
	if (ina_shm_round_ended(slot))
		ina_xfer_ended(slot, st);
	return 0;
}

static bool ina_xfer_spin(const struct ina_ctl_round *slot)
{
	uint64_t end = ina_xfer_now_ns() + INA_SPIN_NS;

	do {
		if (ina_shm_round_ended(slot))
			return true;
		ina_shm_relax();
	} while (ina_xfer_now_ns() < end);
	return false;
}

static int ina_xfer_sleep(struct ina_session *s, uint64_t round, int timeout_ms)
{
	struct ina_wait wait = { .round = round, .timeout_ms = timeout_ms };

	if (!ioctl(s->fd, INA_IOC_WAIT, &wait))
		return 0;
	if (errno == ETIMEDOUT)
		return ina_error_set(s, -EINPROGRESS, "round %llu has not ended after %d ms",
				     (unsigned long long)round, timeout_ms);
	return ina_error_set(s, -errno, "waiting for round %llu: %s", (unsigned long long)round,
			     ina_strerror(errno));
}

/*
 * Sleep unless the round has ended; an error of the sleep does not hide its end. Where the last
 * one took longer than spinning does, that would only keep others from the processor.
 */
static int ina_xfer_wait(struct ina_session *s, const struct ina_ctl_round *slot, uint64_t round,
			 int timeout_ms)
{
	int err;

	if (ina_shm_round_ended(slot))
		return 0;
	if (!timeout_ms)
		return ina_error_set(s, -EINPROGRESS, "round %llu has not ended",
				     (unsigned long long)round);
	if (!s->slow && ina_xfer_spin(slot))
		return 0;
	err = ina_xfer_sleep(s, round, timeout_ms);
	if (!ina_shm_round_ended(slot))
		return err;
	s->slow = slot->end_ns - slot->submit_ns > INA_SPIN_NS;
	return 0;
}

int ina_wait(struct ina_session *s, uint64_t round, int timeout_ms)
{
	const struct ina_ctl_round *slot = ina_region_round(s, round);
	struct ina_status st = { .round = round };
	int err;

	if (!slot)
		return ina_error_set(s, -EINVAL, "round %llu is not in the window",
				     (unsigned long long)round);
	err = ina_xfer_wait(s, slot, round, timeout_ms);
	if (!err)
		err = ina_status(s, round, &st);
	if (err)
		return err;
	return st.error ? ina_error_round(s, &st) : 0;
}

const void *ina_result(struct ina_session *s, uint64_t round)
{
	int err = ina_wait(s, round, 0);

	if (!err || (err == -EOVERFLOW && ina_region_round(s, round)->state == INA_ROUND_DONE))
		return ina_region_result(s, round);
	errno = -err;
	return NULL;
}

const uint8_t *ina_ranks(struct ina_session *s, uint64_t round)
{
	return ina_result(s, round) ? s->ctl->ranks[round % s->att.depth] : NULL;
}

/* Releasing is cumulative, so every round up to this one must have ended. */
static int ina_xfer_all_ended(struct ina_session *s, uint64_t round)
{
	uint64_t r;

	for (r = s->released; r <= round; r++) {
		const struct ina_ctl_round *slot = ina_region_round(s, r);

		if (slot && !ina_shm_round_ended(slot))
			return ina_error_set(s, -EBUSY, "cannot release: round %llu has not ended",
					     (unsigned long long)r);
	}
	return 0;
}

int ina_release(struct ina_session *s, uint64_t round)
{
	__u64 arg = round;
	int err;

	if (!s->synced || round >= s->cursor)
		return ina_error_set(s, -EINVAL, "cannot release round %llu: not submitted",
				     (unsigned long long)round);
	if (round < s->released)
		return 0;
	err = ina_xfer_all_ended(s, round);
	if (err)
		return err;
	err = ioctl(s->fd, INA_IOC_RELEASE, &arg) ? -errno : 0;
	if (err && err != -ESTALE)
		return ina_error_set(s, err, "cannot release round %llu: %s",
				     (unsigned long long)round, ina_strerror(err));
	s->released = round + 1;
	if (err)
		ina_error_set(s, err, "round %llu failed: %s", (unsigned long long)round,
			      ina_reason_text(INA_REASON_EXCLUDED));
	return err;
}
