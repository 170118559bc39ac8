// SPDX-License-Identifier: GPL-2.0
/*
 * A session is an attached file descriptor with its mappings: open, wait for
 * the membership, describe, close.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "session.h"
#include "ina_shm.h"

#define INA_OPEN_AGAIN_US	1000

int64_t ina_session_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* What is left of a timeout: -1 if it is for ever, 0 if it passed. */
int ina_session_left_ms(int64_t start_ms, int timeout_ms)
{
	int64_t passed = ina_session_now_ms() - start_ms;

	if (timeout_ms < 0)
		return -1;
	return passed < timeout_ms ? timeout_ms - (int)passed : 0;
}

static int ina_session_open(struct ina_session *s)
{
	s->fd = open(INA_DEV_PATH, O_RDWR | O_CLOEXEC);
	if (s->fd >= 0)
		return 0;
	switch (errno) {
	case ENOENT:
		return ina_error_set(s, -errno,
				     INA_DEV_PATH " is missing: modprobe ina_agg");
	case EACCES:
	case EPERM:
		return ina_error_set(s, -errno,
				     INA_DEV_PATH " is for members of group ina only");
	default:
		return ina_error_set(s, -errno, INA_DEV_PATH ": %s", ina_strerror(errno));
	}
}

static int ina_session_attach(struct ina_session *s, uint32_t job, uint32_t rank)
{
	s->att.job = job;
	s->att.rank = rank;
	if (!ioctl(s->fd, INA_IOC_ATTACH, &s->att))
		return 0;
	switch (errno) {
	case ENOENT:
		return ina_error_set(s, -errno, "job %u: no such job in this network namespace",
				     job);
	case ENOTCONN:
		return ina_error_set(s, -errno,
				     "job %u: it has no tree here: inaconf tree set job %u", job,
				     job);
	case EBUSY:
		return ina_error_set(s, -errno, "job %u: all local workers are attached", job);
	case EEXIST:
		return ina_error_set(s, -errno, "job %u: another worker here has rank %u", job,
				     rank);
	case ERANGE:
		return ina_error_set(s, -errno, "job %u: rank %u is above %u", job, rank,
				     INA_RANK_MAX);
	default:
		return ina_error_set(s, -errno, "cannot attach to job %u: %s", job,
				     ina_strerror(errno));
	}
}

static int ina_session_start(struct ina_session *s, uint32_t job, uint32_t rank, int timeout_ms)
{
	int err = ina_session_open(s);

	if (!err)
		err = ina_session_attach(s, job, rank);
	if (!err)
		err = ina_region_map(s);
	if (err || !timeout_ms)
		return err;
	err = ina_wait_open(s, timeout_ms);
	return err == -EINPROGRESS ? -ETIMEDOUT : err;
}

int ina_open(struct ina_session **session, uint32_t job, int timeout_ms)
{
	return ina_open_rank(session, job, INA_RANK_NONE, timeout_ms);
}

int ina_open_rank(struct ina_session **session, uint32_t job, uint32_t rank, int timeout_ms)
{
	struct ina_session *s = calloc(1, sizeof(*s));
	int err;

	*session = NULL;
	if (!s)
		return ina_error_set(NULL, -ENOMEM, "no memory for a session");
	err = ina_session_start(s, job, rank, timeout_ms);
	if (err) {
		ina_error_keep(s);
		ina_close(s);
		return err;
	}
	*session = s;
	return 0;
}

void ina_close(struct ina_session *s)
{
	if (!s)
		return;
	ina_region_unmap(s);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

/* The first epoch seen open tells where this worker starts. */
void ina_session_sync(struct ina_session *s)
{
	if (s->synced)
		return;
	s->synced = true;
	s->cursor = ina_shm_next_round(s->ctl);
	s->released = s->cursor;
}

static int ina_session_missing(struct ina_session *s, int timeout_ms)
{
	uint32_t refused = ina_shm_refused(s->ctl);

	if (refused)
		return ina_error_set(s, -EINPROGRESS, "job %u: refused by the parent: %s",
				     s->att.job, ina_reason_text(refused));
	if (s->synced && ina_shm_closed(s->ctl))
		return ina_error_closed(s, -EINPROGRESS);
	return ina_error_set(s, -EINPROGRESS, "job %u: members are still missing after %d ms",
			     s->att.job, timeout_ms);
}

static int ina_session_sleep(struct ina_session *s, int timeout_ms)
{
	struct ina_wait wait = { .round = INA_WAIT_OPEN, .timeout_ms = timeout_ms };

	if (!ioctl(s->fd, INA_IOC_WAIT, &wait))
		return 0;
	if (errno == ETIMEDOUT)
		return -EINPROGRESS;
	return ina_error_set(s, -errno, "job %u: waiting for the members: %s", s->att.job,
			     ina_strerror(errno));
}

/*
 * The control page decides: the node can be open for the epoch before ours, or
 * have been open for too short a time to be of use.
 */
static int ina_session_wait(struct ina_session *s, int timeout_ms)
{
	int64_t start = ina_session_now_ms();

	for (;;) {
		int left = ina_session_left_ms(start, timeout_ms);
		int err = left ? ina_session_sleep(s, left) : -EINPROGRESS;

		if (err == -EINPROGRESS)
			return ina_session_missing(s, timeout_ms);
		if (err || ina_shm_state(s->ctl) == INA_CTL_OPEN)
			return err;
		if (usleep(INA_OPEN_AGAIN_US))
			return ina_error_set(s, -EINTR, "job %u: interrupted", s->att.job);
	}
}

int ina_wait_open(struct ina_session *s, int timeout_ms)
{
	uint32_t state = ina_shm_state(s->ctl);
	int err = 0;

	if (state == INA_CTL_GONE)
		return ina_error_set(s, -ENODEV, "job %u: %s", s->att.job, ina_strerror(ENODEV));
	if (state != INA_CTL_OPEN)
		err = ina_session_wait(s, timeout_ms);
	if (!err)
		ina_session_sync(s);
	return err;
}

bool ina_session_lost(const struct ina_session *s)
{
	uint32_t closed;

	/* The state first, then why. */
	if (!s->synced || ina_shm_state(s->ctl) != INA_CTL_WAITING)
		return false;
	closed = ina_shm_closed(s->ctl);
	return closed == INA_REASON_DEADLINE ||
	       (closed == INA_REASON_LEFT && s->att.on_loss == INA_ON_LOSS_FAIL);
}

int ina_info(const struct ina_session *s, struct ina_info *info)
{
	*info = (struct ina_info) {
		.job = s->att.job,
		.dtype = s->att.dtype,
		.exponent = s->att.exponent,
		.elem_size = s->att.elem_size,
		.capacity = s->att.capacity,
		.depth = s->att.depth,
		.fragment = s->att.fragment,
		.index = s->att.index,
		.open = ina_shm_state(s->ctl) == INA_CTL_OPEN,
		.closed = ina_shm_closed(s->ctl),
		.lost = ina_session_lost(s),
		.epoch = ina_shm_epoch(s->ctl),
		.workers = ina_shm_workers(s->ctl),
		.next_round = ina_shm_next_round(s->ctl),
		.least = s->least,
		.most = s->most,
	};
	return 0;
}

int ina_fd(const struct ina_session *s)
{
	return s->fd;
}
