/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the library share: the session, its mappings, its errors.
 * Nothing of this is exported.
 */
#ifndef INA_SESSION_H
#define INA_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/ina_dev.h>

#include "ina.h"

#define INA_DEV_PATH	"/dev/ina"
#define INA_TEXT_LEN	256

/**
 * struct ina_session - one attached worker
 * @fd: the device
 * @att: what the kernel said at the attach
 * @ctl: control page
 * @contrib: contribution arrays
 * @result: result arrays
 * @synced: @cursor is set: an epoch was seen open
 * @cursor: the round after the last one submitted: where this worker is
 * @released: first round not released; equals @cursor if all are
 * @taken: a buffer was handed out and not submitted
 * @taken_round: the round of that buffer
 * @spent: an all-reduce failed half way
 * @least: fewest workers in a sum of the last one
 * @most: most workers in one
 * @owing: and did not contribute all its parts, which others may wait for
 * @slow: the last round it slept for took longer than spinning pays
 * @text: text of the last failure
 */
struct ina_session {
	int fd;
	struct ina_attach att;
	const struct ina_ctl *ctl;
	uint8_t *contrib;
	const uint8_t *result;
	bool synced;
	uint64_t cursor;
	uint64_t released;
	bool taken;
	uint64_t taken_round;
	bool spent;
	uint32_t least;
	uint32_t most;
	bool owing;
	bool slow;
	char text[INA_TEXT_LEN];
};

/* session.c */
void ina_session_sync(struct ina_session *s);
bool ina_session_lost(const struct ina_session *s);
int64_t ina_session_now_ms(void);
int ina_session_left_ms(int64_t start_ms, int timeout_ms);

/* region.c */
int ina_region_map(struct ina_session *s);
void ina_region_unmap(struct ina_session *s);
uint8_t *ina_region_contrib(const struct ina_session *s, uint64_t round);
const uint8_t *ina_region_result(const struct ina_session *s, uint64_t round);
bool ina_region_is_contrib(const struct ina_session *s, const void *p);
const struct ina_ctl_round *ina_region_round(const struct ina_session *s, uint64_t round);

/* error.c */
int ina_error_set(struct ina_session *s, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int ina_error_round(struct ina_session *s, const struct ina_status *st);
int ina_error_closed(struct ina_session *s, int error);
void ina_error_culprit(const uint8_t *addr, char *text);
void ina_error_keep(const struct ina_session *s);

#endif /* INA_SESSION_H */
