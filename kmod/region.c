// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of jobs. Every byte that grows with the size of a gradient comes
 * from here: checked against the limits first, charged to the memory cgroup of the
 * task that asks. Context of all functions but ina_region_page(): process.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/vmalloc.h>

#include "job.h"
#include "region.h"

static unsigned int ina_max_job_mb;
module_param_named(max_job_mb, ina_max_job_mb, uint, 0644);
MODULE_PARM_DESC(max_job_mb, "MiB one job may hold (0: half of the memory)");

static unsigned int ina_max_total_mb;
module_param_named(max_total_mb, ina_max_total_mb, uint, 0644);
MODULE_PARM_DESC(max_total_mb, "MiB all jobs may hold (0: half of the memory)");

#define INA_REGION_GFP	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN | \
			 __GFP_RETRY_MAYFAIL)

static atomic64_t ina_region_total;

static u64 ina_region_limit(unsigned int mb)
{
	return mb ? (u64)mb << 20 : (u64)totalram_pages() << (PAGE_SHIFT - 1);
}

/* Charge @size to @sum unless that goes above @limit. */
static bool ina_region_charge(atomic64_t *sum, u64 size, u64 limit)
{
	if (atomic64_add_return(size, sum) <= limit)
		return true;
	atomic64_sub(size, sum);
	return false;
}

/* In huge pages, if there are any and little is wasted: slots are far apart. */
static bool ina_region_is_huge(u64 size)
{
	return size >= 8 * PMD_SIZE;
}

/**
 * ina_region_size() - what memory of a size takes
 * @size: bytes
 *
 * Return: bytes, as they are charged.
 */
u64 ina_region_size(u64 size)
{
	return ina_region_is_huge(size) ? ALIGN(size, PMD_SIZE) :
					  PAGE_ALIGN(size);
}

/**
 * ina_region_check() - would this much memory be within the limits
 * @job: whose
 * @size: bytes
 *
 * Return: 0 or -ENOMEM. Nothing is reserved.
 */
int ina_region_check(struct ina_job *job, u64 size)
{
	u64 total = atomic64_read(&ina_region_total);

	if (size > ina_region_limit(ina_max_total_mb) ||
	    size + total > ina_region_limit(ina_max_total_mb) ||
	    size + atomic64_read(&job->memory) >
	    ina_region_limit(ina_max_job_mb))
		return -ENOMEM;
	return 0;
}

/**
 * ina_region_alloc() - allocate zeroed memory
 * @region: empty
 * @job: whose; a reference is taken
 * @size: bytes
 *
 * Return: 0, or -ENOMEM with nothing charged.
 */
int ina_region_alloc(struct ina_region *region, struct ina_job *job, u64 size)
{
	bool huge = ina_region_is_huge(size);

	size = ina_region_size(size);
	if (!ina_region_charge(&job->memory, size,
			       ina_region_limit(ina_max_job_mb)))
		return -ENOMEM;
	if (!ina_region_charge(&ina_region_total, size,
			       ina_region_limit(ina_max_total_mb)))
		goto uncharge_job;
	/* Beyond the limit of its cgroup the caller gets an error, no kill. */
	region->addr = huge ? vmalloc_huge(size, INA_REGION_GFP) :
			      __vmalloc(size, INA_REGION_GFP);
	if (!region->addr)
		goto uncharge_total;
	region->size = size;
	region->job = ina_job_get(job);
	return 0;

uncharge_total:
	atomic64_sub(size, &ina_region_total);
uncharge_job:
	atomic64_sub(size, &job->memory);
	return -ENOMEM;
}

/**
 * ina_region_free() - give memory back
 * @region: may be empty; is empty afterwards
 *
 * Pages a process still maps live until it unmaps them.
 */
void ina_region_free(struct ina_region *region)
{
	if (!region->addr)
		return;
	vfree(region->addr);
	atomic64_sub(region->size, &ina_region_total);
	atomic64_sub(region->size, &region->job->memory);
	ina_job_put(region->job);
	*region = (struct ina_region){};
}

/**
 * ina_region_page() - the page at an offset
 * @region: it
 * @offset: bytes
 *
 * Context: any in which the region cannot be freed.
 * Return: the page without a reference, NULL beyond the end.
 */
struct page *ina_region_page(const struct ina_region *region, u64 offset)
{
	if (!region->addr || offset >= region->size)
		return NULL;
	return vmalloc_to_page(region->addr + offset);
}
