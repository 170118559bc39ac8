/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control page is written by the kernel while we read it. Every ordered
 * access is here: a state is loaded with acquire, and what the kernel wrote
 * before it released that state may then be read plainly.
 */
#ifndef INA_SHM_H
#define INA_SHM_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/ina_dev.h>

static inline uint32_t ina_shm_state(const struct ina_ctl *ctl)
{
	return __atomic_load_n(&ctl->state, __ATOMIC_ACQUIRE);
}

static inline uint32_t ina_shm_epoch(const struct ina_ctl *ctl)
{
	return __atomic_load_n(&ctl->epoch, __ATOMIC_RELAXED);
}

static inline uint32_t ina_shm_workers(const struct ina_ctl *ctl)
{
	return __atomic_load_n(&ctl->workers, __ATOMIC_RELAXED);
}

static inline uint32_t ina_shm_refused(const struct ina_ctl *ctl)
{
	return __atomic_load_n(&ctl->refused, __ATOMIC_RELAXED);
}

static inline uint32_t ina_shm_closed(const struct ina_ctl *ctl)
{
	return __atomic_load_n(&ctl->closed, __ATOMIC_RELAXED);
}

static inline uint64_t ina_shm_next_round(const struct ina_ctl *ctl)
{
	return __atomic_load_n(&ctl->next_round, __ATOMIC_ACQUIRE);
}

/* The base only grows, so an old one errs on the side of "no room". */
static inline uint64_t ina_shm_base(const struct ina_ctl *ctl)
{
	return __atomic_load_n(&ctl->base, __ATOMIC_ACQUIRE);
}

static inline uint32_t ina_shm_round_state(const struct ina_ctl_round *slot)
{
	return __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
}

static inline bool ina_shm_round_ended(const struct ina_ctl_round *slot)
{
	uint32_t state = ina_shm_round_state(slot);

	return state == INA_ROUND_DONE || state == INA_ROUND_FAILED;
}

/* Between two looks while spinning. */
static inline void ina_shm_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}

#endif /* INA_SHM_H */
