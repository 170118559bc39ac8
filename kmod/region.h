/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of a job: arrays of elements and what belongs to them, bounded per
 * job and in total, mappable into a process.
 */
#ifndef _INA_REGION_H
#define _INA_REGION_H

#include <linux/mm_types.h>
#include <linux/types.h>

struct ina_job;

/**
 * struct ina_region - zeroed, page-aligned memory
 * @addr: kernel address, NULL if there is none
 * @size: bytes, a multiple of the page size
 * @job: whose budget it is charged to; holds a reference
 */
struct ina_region {
	void *addr;
	size_t size;
	struct ina_job *job;
};

int ina_region_alloc(struct ina_region *region, struct ina_job *job, u64 size);
void ina_region_free(struct ina_region *region);
u64 ina_region_size(u64 size);
int ina_region_check(struct ina_job *job, u64 size);
struct page *ina_region_page(const struct ina_region *region, u64 offset);

#endif /* _INA_REGION_H */
