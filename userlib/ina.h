/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libina: take part in the all-reduces of a job, through /dev/ina.
 *
 * A session is one worker of one job. Every worker of the job contributes an
 * array to each round and gets back the sum over all workers. Rounds are
 * numbered by the kernel; all workers see the same numbers.
 *
 * Functions return 0 or a negative errno; ina_error() has the story. A session
 * is not locked: use one in a thread, or lock around it. Different sessions
 * are independent. A session does not survive fork() in the child.
 */
#ifndef INA_H
#define INA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/ina.h>
#include <linux/ina_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct ina_session;

/**
 * struct ina_info - what a job is and how it stands
 * @job: number of the job
 * @dtype: enum ina_dtype, the type of the elements
 * @exponent: of fixed: sums are multiples of 2^exponent; else 0
 * @elem_size: bytes of an element
 * @capacity: most elements in a round
 * @depth: most rounds in flight
 * @fragment: elements in a packet
 * @index: number of this worker on its node
 * @open: an epoch is open: rounds can be submitted
 * @closed: enum ina_reason, why none is; 0 before the first
 * @epoch: number of the membership
 * @workers: workers in the epoch
 * @next_round: round the next contribution goes into
 * @lost: no epoch is open, because of a worker that left or does not answer,
 *	without which the job does not go on
 * @least: fewest workers in a sum of the last ina_allreduce(), whose parts are rounds;
 *	0 if it has none
 * @most: most workers in one. If both are the same, divide by it for the mean
 */
struct ina_info {
	uint32_t job;
	uint32_t dtype;
	int32_t exponent;
	uint32_t elem_size;
	uint32_t capacity;
	uint32_t depth;
	uint32_t fragment;
	uint32_t index;
	bool open;
	uint32_t closed;
	uint32_t epoch;
	uint32_t workers;
	uint64_t next_round;
	bool lost;
	uint32_t least;
	uint32_t most;
};

#define INA_CULPRIT_LEN	46	/* an IPv6 address as text */

/**
 * struct ina_status - how a round ended
 * @round: its number
 * @error: 0; -EINPROGRESS: not ended; -EOVERFLOW: the result is valid but
 *	holds saturated elements; anything else: the round failed
 * @reason: enum ina_reason, why it failed
 * @detail: numbers that belong to @reason, see struct ina_ctl_round
 * @culprit: address of the node to blame, or an empty string
 * @worker: number of the worker to blame on that node, -1 if it is not known
 * @last: last fragment seen of it, -1 if none
 * @workers: workers in the result: divide by this for the mean
 * @epoch: epoch of the round
 * @length: elements
 * @latency_ns: nanoseconds from the submit to the end, 0 if not ended
 * @inexact: contributions to a job of fixed had bits below its unit, which were
 *	rounded away; no error
 */
struct ina_status {
	uint64_t round;
	int error;
	uint32_t reason;
	uint32_t detail[2];
	char culprit[INA_CULPRIT_LEN];
	int32_t worker;
	int32_t last;
	uint32_t workers;
	uint32_t epoch;
	uint32_t length;
	uint64_t latency_ns;
	bool inexact;
};

/**
 * ina_open() - become a worker of a job
 * @session: out: the session, NULL on failure
 * @job: number of the job in this network namespace
 * @timeout_ms: how long to wait until all members are there and an epoch is
 *	open; -1 for ever, 0 to return as soon as this worker is attached
 *
 * With 0, continue with ina_wait_open(), or poll ina_fd().
 *
 * Return: 0, -ETIMEDOUT if members are missing after @timeout_ms, -EINTR, or
 * why the device could not be opened, attached or mapped. ina_error(NULL) has
 * the text.
 */
int ina_open(struct ina_session **session, uint32_t job, int timeout_ms);

/**
 * ina_open_rank() - become a worker of a job, with a number in the job
 * @session: out: the session, NULL on failure
 * @job: number of the job in this network namespace
 * @rank: 0 to INA_RANK_MAX, another one for each worker; ina_ranks() tells which
 *	are in a result
 * @timeout_ms: as for ina_open()
 *
 * No epoch opens while two workers have the same rank.
 *
 * Return: as ina_open().
 */
int ina_open_rank(struct ina_session **session, uint32_t job, uint32_t rank, int timeout_ms);

/**
 * ina_close() - leave the job
 * @session: the session, or NULL
 *
 * Rounds that this worker submitted and that have not ended fail on every
 * worker, or end without it if the job degrades. Buffers and results are unmapped.
 */
void ina_close(struct ina_session *session);

/**
 * ina_wait_open() - wait until an epoch is open
 * @session: the session
 * @timeout_ms: -1 for ever, 0 to look only
 *
 * While none is open this gives back the results of all rounds before the first
 * that has not ended: read them before.
 *
 * Return: 0, -EINPROGRESS if @timeout_ms passed, -EINTR, or -ENODEV if the
 * node was deleted.
 */
int ina_wait_open(struct ina_session *session, int timeout_ms);

/**
 * ina_info() - describe the job and its state
 * @session: the session
 * @info: out
 *
 * Return: 0.
 */
int ina_info(const struct ina_session *session, struct ina_info *info);

/**
 * ina_fd() - file descriptor for poll() and epoll
 * @session: the session
 *
 * POLLIN: a round has ended; POLLOUT: the window has room; POLLHUP: the node
 * was deleted. Do not read, write or close it.
 *
 * Return: the descriptor.
 */
int ina_fd(const struct ina_session *session);

/**
 * ina_buffer() - array for the contribution to the next round
 * @session: the session
 *
 * The array holds ina_info.capacity elements, with whatever an earlier round
 * left in it. It is the caller's until ina_submit(), then the kernel's until
 * the round has ended. A second call before the submit returns the same array,
 * or another one if the next round changed: see ina_next_round().
 *
 * Return: the array, or NULL with errno EAGAIN (the window has no room:
 * ina_wait_room()), EBUSY (an own result must be released first), ENOTCONN (no
 * epoch is open: ina_wait_open()) or ENODEV (the node was deleted).
 */
void *ina_buffer(struct ina_session *session);

/**
 * ina_next_round() - the round of the buffer
 * @session: the session
 *
 * Return: number of the round that the array last returned by ina_buffer() is
 * for; without such an array, the round the next one would be for.
 */
uint64_t ina_next_round(const struct ina_session *session);

/**
 * ina_wait_room() - wait until ina_buffer() has an array
 * @session: the session
 * @timeout_ms: -1 for ever, 0 to look only
 *
 * Return: 0, -EINPROGRESS if @timeout_ms passed, -EINTR, or -EBUSY, -ENOTCONN,
 * -ENODEV as for ina_buffer().
 */
int ina_wait_room(struct ina_session *session, int timeout_ms);

/**
 * ina_submit() - contribute the buffer to its round
 * @session: the session
 * @count: elements, the same on every worker, at most ina_info.capacity
 * @round: out: number of the round; may be NULL
 *
 * After -EAGAIN and -ENOTCONN the contribution is still in the buffer and may
 * be submitted again. After -ESTALE (the membership changed and the round the
 * buffer was for is over) take a buffer again and decide what belongs there.
 *
 * Return: 0, -EMSGSIZE if @count is 0 or above the capacity, -EINVAL if no
 * buffer was taken, -EAGAIN, -ENOTCONN, -ESTALE, -EINTR or -ENODEV.
 */
int ina_submit(struct ina_session *session, size_t count, uint64_t *round);

/**
 * ina_wait() - wait until a round has ended
 * @session: the session
 * @round: a submitted round
 * @timeout_ms: -1 for ever, 0 to look only
 *
 * Spins for some microseconds before it sleeps, unless the last round it slept for took longer than
 * these from its submit.
 *
 * Return: 0: ina_result() has the sum. -EOVERFLOW: it has, with elements
 * saturated at the bounds of the type. -EINPROGRESS: not ended after
 * @timeout_ms; nothing is lost, wait again. -EINTR: a signal; wait again.
 * -EINVAL: no such round. -ENODEV: the node was deleted. Anything else: the
 * round has failed; among these, -ETIMEDOUT: the deadline of the job passed.
 */
int ina_wait(struct ina_session *session, uint64_t round, int timeout_ms);

/**
 * ina_result() - the sum of a round
 * @session: the session
 * @round: a round for which ina_wait() returned 0 or -EOVERFLOW
 *
 * Return: the array, readable until the round is released, or NULL with errno
 * EINPROGRESS (not ended), EINVAL (no such round) or that of the failure.
 */
const void *ina_result(struct ina_session *session, uint64_t round);

/**
 * ina_release() - give back the result of a round, and of all before it
 * @session: the session
 * @round: a round that has ended; a failed round is released like any other
 *
 * At most ina_info.depth rounds are unreleased at a time.
 *
 * Return: 0, -EBUSY if it or one before it has not ended, -EINVAL if it was not
 * submitted, -ESTALE if the others went on without this worker while it read: what
 * it has read does not count.
 */
int ina_release(struct ina_session *session, uint64_t round);

/**
 * ina_status() - how a round stands or ended
 * @session: the session
 * @round: a submitted round
 * @status: out
 *
 * Valid until the array of the round is submitted again, depth rounds later.
 *
 * Return: 0, or -EINVAL if there is no such round.
 */
int ina_status(struct ina_session *session, uint64_t round, struct ina_status *status);

/**
 * ina_ranks() - which workers are in the result of a round
 * @session: the session
 * @round: a round for which ina_wait() returned 0 or -EOVERFLOW
 *
 * ina_status.workers is their number. Of a job that degrades, a round may end
 * without workers that died or came too late.
 *
 * Return: INA_RANK_MAX + 1 bits, rank k is bit k % 8 of byte k / 8, valid until the
 * array of the round is submitted again; NULL with errno as for ina_result().
 */
const uint8_t *ina_ranks(struct ina_session *session, uint64_t round);

/**
 * ina_allreduce() - sum an array over all workers
 * @session: the session
 * @in: contribution; ina_buffer()'s array is not copied
 * @out: where the sum goes; may be @in, must not overlap it otherwise
 * @count: elements, the same on every worker, 0 is a no-op
 * @timeout_ms: for the whole call; -1 for ever
 *
 * More elements than the capacity travel as several rounds, as many in flight
 * as the window allows (not from ina_buffer()'s array). Signals do not end it.
 * Rounds submitted by hand must be released before.
 *
 * On failure, the rounds that did complete are sums in @out, the rest of it holds
 * no sum; the text tells how much. A failed round does not end the call unless
 * a worker left: other workers may complete the rest, so it is still
 * contributed. From then on other workers may be at another call than this one,
 * and the session refuses further calls with -ESTALE until ina_resume(). Nothing
 * of that holds if nothing was contributed: then the session is as before the
 * call. So is it after -EOVERFLOW: @out is complete.
 *
 * Rounds that were given up since the last call are such a failure, -ESTALE, as
 * others may have lost a call by it. So is a worker that left since, -ECONNRESET,
 * unless the job degrades.
 *
 * Return: 0; -EOVERFLOW: complete, with elements saturated; -EINPROGRESS: not
 * complete after @timeout_ms; -ESTALE: the round was given up before this worker
 * contributed, or an earlier call failed; -EBUSY: a round is not released;
 * -EINVAL, -EMSGSIZE: the array; or as ina_wait() for a failed round.
 */
int ina_allreduce(struct ina_session *session, const void *in, void *out, size_t count,
		  int timeout_ms);

/**
 * ina_from_float() - make elements of floats
 * @dtype: enum ina_dtype, the type of the elements
 * @dst: where they go, such as ina_buffer()'s array
 * @src: floats; must not overlap @dst, but may be @dst with fp32 and fixed
 * @count: elements
 * @scale: each float is multiplied by this first
 *
 * fp32 and fixed: floats; nothing is copied if they are there already, so a
 * tensor can live in ina_buffer()'s array. bf16: rounded to the nearest, ties to
 * even. int32: the same, saturated; not a number is 0.
 *
 * Return: 0, or -EINVAL if there is no such type.
 */
int ina_from_float(uint32_t dtype, void *dst, const float *src, size_t count, float scale);

/**
 * ina_to_float() - make floats of elements
 * @dtype: enum ina_dtype, the type of the elements
 * @dst: where the floats go
 * @src: elements, such as ina_result()'s array; as for ina_from_float()
 * @count: elements
 * @scale: each float is multiplied by this last; 1 / workers for the mean
 *
 * Return: 0, or -EINVAL if there is no such type.
 */
int ina_to_float(uint32_t dtype, float *dst, const void *src, size_t count, float scale);

/**
 * ina_resume() - go on after a failed ina_allreduce()
 * @session: the session
 * @timeout_ms: -1 for ever
 *
 * Call it on every worker that had a failure, when all workers have agreed (by
 * other means) which call comes next: some may have completed what failed here.
 * Waits for what is still in flight and for an open epoch. Without a failure it
 * does nothing.
 *
 * Return: 0; -EINPROGRESS if @timeout_ms passed; -ESTALE if a call ended
 * before it contributed everything and others may wait for it: then only
 * ina_close() and ina_open() help; -ENODEV.
 */
int ina_resume(struct ina_session *session, int timeout_ms);

/**
 * ina_error() - text of the last failure
 * @session: the session, or NULL for the last ina_open() of this thread
 *
 * Return: one line without a newline, valid until the next call on @session.
 */
const char *ina_error(const struct ina_session *session);

/**
 * ina_strerror() - text of a return value
 * @error: a negative errno (or a positive one), or 0
 *
 * Return: a short text; ina_error() says more.
 */
const char *ina_strerror(int error);

/**
 * ina_reason_text() - text of a reason
 * @reason: enum ina_reason
 *
 * Return: why a round failed, in words.
 */
const char *ina_reason_text(uint32_t reason);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* INA_H */
