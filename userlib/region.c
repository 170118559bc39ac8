// SPDX-License-Identifier: GPL-2.0
/*
 * The three mappings of a session: control page, contributions, results. Only
 * this file knows where the array of a round lies.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "session.h"
#include "ina_shm.h"

/* A kernel of another ABI must not lead us outside the mappings. */
static int ina_region_check(struct ina_session *s)
{
	const struct ina_attach *a = &s->att;

	if (a->depth < 1 || a->depth > INA_DEPTH_MAX || !a->elem_size || !a->capacity)
		return ina_error_set(s, -EPROTO,
				     "attach: depth %u, capacity %u, element size %u make no sense",
				     a->depth, a->capacity, a->elem_size);
	if (a->ctl_size < sizeof(struct ina_ctl) || a->array_size / a->depth < a->stride ||
	    a->stride / a->elem_size < a->capacity)
		return ina_error_set(s, -EPROTO, "attach: arrays are smaller than the job");
	return 0;
}

static int ina_region_map_one(struct ina_session *s, uint64_t size, int prot, uint64_t offset,
			      const char *what, void **area)
{
	void *p = mmap(NULL, size, prot, MAP_SHARED, s->fd, (off_t)offset);

	if (p == MAP_FAILED)
		return ina_error_set(s, -errno, "cannot map %llu bytes of %s: %s",
				     (unsigned long long)size, what, ina_strerror(errno));
	*area = p;
	return 0;
}

static int ina_region_map_all(struct ina_session *s)
{
	uint64_t size = s->att.array_size;
	void *area = NULL;
	int err;

	err = ina_region_map_one(s, s->att.ctl_size, PROT_READ, INA_MMAP_CTL, "control page",
				 &area);
	if (err)
		return err;
	s->ctl = area;
	err = ina_region_map_one(s, size, PROT_READ | PROT_WRITE, INA_MMAP_CONTRIB,
				 "contributions", &area);
	if (err)
		return err;
	s->contrib = area;
	err = ina_region_map_one(s, size, PROT_READ, INA_MMAP_RESULT, "results", &area);
	if (err)
		return err;
	s->result = area;
	return 0;
}

/* Maps everything or, after an error, leaves it to ina_region_unmap(). */
int ina_region_map(struct ina_session *s)
{
	int err = ina_region_check(s);

	if (!err)
		err = ina_region_map_all(s);
	if (err || !s->ctl)
		return err;
	if (s->ctl->abi != INA_DEV_ABI)
		return ina_error_set(s, -EPROTO, "the kernel module speaks ABI %u, libina %u",
				     s->ctl->abi, INA_DEV_ABI);
	return 0;
}

void ina_region_unmap(struct ina_session *s)
{
	if (s->result)
		munmap((void *)(uintptr_t)s->result, s->att.array_size);
	if (s->contrib)
		munmap(s->contrib, s->att.array_size);
	if (s->ctl)
		munmap((void *)(uintptr_t)s->ctl, s->att.ctl_size);
}

static size_t ina_region_offset(const struct ina_session *s, uint64_t round)
{
	return (size_t)(round % s->att.depth * s->att.stride);
}

uint8_t *ina_region_contrib(const struct ina_session *s, uint64_t round)
{
	return s->contrib + ina_region_offset(s, round);
}

const uint8_t *ina_region_result(const struct ina_session *s, uint64_t round)
{
	return s->result + ina_region_offset(s, round);
}

bool ina_region_is_contrib(const struct ina_session *s, const void *p)
{
	uintptr_t start = (uintptr_t)s->contrib;

	return (uintptr_t)p >= start && (uintptr_t)p - start < s->att.array_size;
}

/* The window's record of a submitted round, NULL if it holds another one. */
const struct ina_ctl_round *ina_region_round(const struct ina_session *s, uint64_t round)
{
	const struct ina_ctl_round *slot = &s->ctl->rounds[round % s->att.depth];

	if (ina_shm_round_state(slot) == INA_ROUND_IDLE || slot->round != round)
		return NULL;
	return slot;
}
