/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which machines a job gets. Machines sit in racks and racks in pods; whoever is taken
 * leaves fragments behind, and few fragments mean few trees that cross.
 */
#ifndef INA_PLAN_PLACE_H
#define INA_PLAN_PLACE_H

#include "topo.h"

struct ina_place;

/*
 * Of all machines of @topo but aggregators of switches, none taken. @alpha weighs the
 * fragments left free against those the job gets; @every as for ina_forest_create(), it
 * decides between equals. A machine without a rack is a rack of its own, a rack without a pod
 * a pod of its own. NULL with errno set: EINVAL if a rack is in two pods or @alpha is no
 * weight. @topo must outlive it.
 */
struct ina_place *ina_place_create(const struct ina_topo *topo, double alpha, bool every);
void ina_place_destroy(struct ina_place *place);

/* Machines, and of them those not taken. */
int ina_place_hosts(const struct ina_place *place);
int ina_place_free(const struct ina_place *place);

/*
 * Take @n machines and write their indices, ascending, to @hosts: the first free ones, or
 * those of the least score A + alpha * B, where A counts the fragments of the job and B
 * those left free. 0, -ENOSPC if fewer are free, -EINVAL or -ENOMEM; nothing is taken then.
 * @score may be NULL.
 */
int ina_place_first(struct ina_place *place, int n, int *hosts);
int ina_place_best(struct ina_place *place, int n, int *hosts, double *score);

/* A + alpha * B if these machines, which are free, were taken for one job. */
double ina_place_score(struct ina_place *place, const int *hosts, int n);

/* Take these machines for one job: 0, or -EINVAL if one is no machine, comes twice or is taken. */
int ina_place_take(struct ina_place *place, const int *hosts, int n);

/* Give back the machines of one job, all together. */
void ina_place_give(struct ina_place *place, const int *hosts, int n);

#endif
