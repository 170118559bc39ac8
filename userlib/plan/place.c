// SPDX-License-Identifier: GPL-2.0
/*
 * Placement by dynamic programming over racks, pods and the fabric. The best score of j
 * machines in a rack is a formula, in a pod a row kept until the pod changes, and in the
 * fabric one row that every pod updates in place; only the choices are kept to walk back.
 *
 * Many placements have the same score. Among them a job goes where its tree would take the
 * fewest racks' switches that others take, and a job of one machine, which has no tree, where the
 * most are taken. If a single machine takes the switch, few racks and pods are wanted as well, and
 * few racks that keep a rest.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"

#define INA_PLACE_TIE	0x1p-24	/* of a neighbour, in the least difference of scores */
#define INA_PLACE_POD	2	/* of a pod, in neighbours */

/**
 * struct ina_place_rack - machines that share a switch
 * @pod: where it is
 * @hosts: indices of its machines, ascending
 * @size: how many
 * @free: of them, not taken
 * @jobs: jobs whose trees take the switch of this rack
 * @mark: serial of the last list of machines that came by
 * @part: machines of that list that are here
 */
struct ina_place_rack {
	int pod;
	int *hosts;
	int size;
	int free;
	int jobs;
	int mark;
	int part;
};

/**
 * struct ina_place_pod - racks that share a layer of switches
 * @racks: indices of its racks
 * @n_racks: how many
 * @size: machines
 * @free: of them, not taken
 * @row: best score of 0 to @free machines of a job of several in this pod
 * @single: the same of 0 and 1 machine of a job of one
 * @rack: where that one is best
 * @stale: these are to be computed anew
 */
struct ina_place_pod {
	int *racks;
	int n_racks;
	int size;
	int free;
	double *row;
	double single[2];
	int rack;
	bool stale;
};

/**
 * struct ina_place - the machines and who is taken
 * @n_nodes: nodes of the topology
 * @rack_of: rack of each node, INA_TOPO_NONE for switches and aggregators
 * @taken: of each node
 * @racks: the topology's, then the racks of single machines
 * @n_racks: how many
 * @pods: the topology's, then the pods of single racks
 * @n_pods: how many
 * @size: machines
 * @free: of them, not taken
 * @alpha: weight of a fragment left free
 * @tie: weight of a neighbour
 * @joins: machines of a job in a rack from which on its tree takes the rack's switch
 * @row: best score in the pods so far, of 0 to @size machines
 * @choice: machines in a part by part and machines so far
 * @room: entries of @choice
 * @mark: serial of the last list of machines
 */
struct ina_place {
	int n_nodes;
	int *rack_of;
	bool *taken;
	struct ina_place_rack *racks;
	int n_racks;
	struct ina_place_pod *pods;
	int n_pods;
	int size;
	int free;
	double alpha;
	double tie;
	int joins;
	double *row;
	int *choice;
	size_t room;
	int mark;
};

/* Numbers of racks and pods, the ones made up for lonely machines and racks included. */
static int ina_place_number(struct ina_place *place, const struct ina_topo *topo)
{
	int i;

	place->n_racks = topo->n_racks;
	place->n_pods = topo->n_pods;
	for (i = 0; i < topo->n_nodes; i++)
		if (topo->nodes[i].aggregator)
			place->taken[ina_topo_find(topo, topo->nodes[i].aggregator)] = true;
	for (i = 0; i < topo->n_nodes; i++) {
		const struct ina_topo_node *node = &topo->nodes[i];

		place->rack_of[i] = INA_TOPO_NONE;
		if (node->kind == INA_TOPO_HOST && !place->taken[i])
			place->rack_of[i] = node->rack >= 0 ? node->rack : place->n_racks++;
	}
	place->racks = calloc((size_t)place->n_racks + 1, sizeof(*place->racks));
	if (!place->racks)
		return -ENOMEM;
	for (i = 0; i < place->n_racks; i++)
		place->racks[i].pod = INA_TOPO_NONE;
	for (i = 0; i < topo->n_nodes; i++) {
		int rack = place->rack_of[i], *pod_of;

		if (rack < 0)
			continue;
		pod_of = &place->racks[rack].pod;
		if (place->racks[rack].size++ && *pod_of != topo->nodes[i].pod)
			return -EINVAL;
		*pod_of = topo->nodes[i].pod;
	}
	for (i = 0; i < place->n_racks; i++)
		if (place->racks[i].pod < 0)
			place->racks[i].pod = place->n_pods++;
	return 0;
}

/* Who is in which rack, and which rack in which pod. */
static int ina_place_fill(struct ina_place *place)
{
	int i;

	for (i = 0; i < place->n_racks; i++) {
		struct ina_place_rack *rack = &place->racks[i];

		place->pods[rack->pod].n_racks++;
		place->pods[rack->pod].size += rack->size;
		rack->hosts = calloc((size_t)rack->size + 1, sizeof(int));
		if (!rack->hosts)
			return -ENOMEM;
	}
	for (i = 0; i < place->n_nodes; i++) {
		struct ina_place_rack *rack;

		if (place->rack_of[i] < 0)
			continue;
		rack = &place->racks[place->rack_of[i]];
		rack->hosts[rack->free++] = i;
	}
	for (i = 0; i < place->n_pods; i++) {
		struct ina_place_pod *pod = &place->pods[i];

		place->size += pod->size;
		pod->free = pod->size;
		pod->stale = true;
		pod->racks = calloc((size_t)pod->n_racks + 1, sizeof(int));
		pod->row = calloc((size_t)pod->size + 1, sizeof(double));
		if (!pod->racks || !pod->row)
			return -ENOMEM;
		pod->n_racks = 0;
	}
	for (i = 0; i < place->n_racks; i++) {
		struct ina_place_pod *pod = &place->pods[place->racks[i].pod];

		pod->racks[pod->n_racks++] = i;
	}
	place->free = place->size;
	return 0;
}

static int ina_place_build(struct ina_place *place, const struct ina_topo *topo)
{
	int err;

	place->n_nodes = topo->n_nodes;
	place->rack_of = calloc((size_t)topo->n_nodes + 1, sizeof(int));
	place->taken = calloc((size_t)topo->n_nodes + 1, sizeof(bool));
	if (!place->rack_of || !place->taken)
		return -ENOMEM;
	err = ina_place_number(place, topo);
	if (err)
		return err;
	place->pods = calloc((size_t)place->n_pods + 1, sizeof(*place->pods));
	if (!place->pods)
		return -ENOMEM;
	err = ina_place_fill(place);
	if (err)
		return err;
	place->row = calloc((size_t)place->size + 1, sizeof(double));
	return place->row ? 0 : -ENOMEM;
}

struct ina_place *ina_place_create(const struct ina_topo *topo, double alpha, bool every)
{
	struct ina_place *place;
	int err;

	if (!isfinite(alpha) || alpha < 0) {
		errno = EINVAL;
		return NULL;
	}
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	place->alpha = alpha;
	place->tie = INA_PLACE_TIE * (alpha > 0 && alpha < 1 ? alpha : 1);
	place->joins = every ? 1 : 2;
	err = ina_place_build(place, topo);
	if (err) {
		ina_place_destroy(place);
		errno = -err;
		return NULL;
	}
	return place;
}

void ina_place_destroy(struct ina_place *place)
{
	int i;

	if (!place)
		return;
	for (i = 0; place->racks && i < place->n_racks; i++)
		free(place->racks[i].hosts);
	for (i = 0; place->pods && i < place->n_pods; i++) {
		free(place->pods[i].racks);
		free(place->pods[i].row);
	}
	free(place->racks);
	free(place->pods);
	free(place->rack_of);
	free(place->taken);
	free(place->row);
	free(place->choice);
	free(place);
}

int ina_place_hosts(const struct ina_place *place)
{
	return place->size;
}

int ina_place_free(const struct ina_place *place)
{
	return place->free;
}

static void ina_place_mark(struct ina_place *place, int host, bool taken)
{
	struct ina_place_rack *rack = &place->racks[place->rack_of[host]];
	struct ina_place_pod *pod = &place->pods[rack->pod];
	int by = taken ? -1 : 1;

	place->taken[host] = taken;
	rack->free += by;
	pod->free += by;
	place->free += by;
	pod->stale = true;
}

/* How many of these machines are in which rack. */
static void ina_place_split(struct ina_place *place, const int *hosts, int n)
{
	int i;

	place->mark++;
	for (i = 0; i < n; i++) {
		struct ina_place_rack *rack = &place->racks[place->rack_of[hosts[i]]];

		if (rack->mark != place->mark)
			rack->part = 0;
		rack->mark = place->mark;
		rack->part++;
	}
}

/* The tree of a job of several machines takes the switches of its racks, or no longer does. */
static void ina_place_settle(struct ina_place *place, const int *hosts, int n, int by)
{
	int i;

	if (n < 2)
		return;
	ina_place_split(place, hosts, n);
	for (i = 0; i < n; i++) {
		struct ina_place_rack *rack = &place->racks[place->rack_of[hosts[i]]];

		rack->jobs += rack->part >= place->joins ? by : 0;
		rack->part = 0;
	}
}

int ina_place_take(struct ina_place *place, const int *hosts, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (hosts[i] < 0 || hosts[i] >= place->n_nodes ||
		    place->rack_of[hosts[i]] < 0 || place->taken[hosts[i]])
			break;
		ina_place_mark(place, hosts[i], true);
	}
	if (i == n) {
		ina_place_settle(place, hosts, n, 1);
		return 0;
	}
	while (i-- > 0)
		ina_place_mark(place, hosts[i], false);
	return -EINVAL;
}

void ina_place_give(struct ina_place *place, const int *hosts, int n)
{
	int i;

	ina_place_settle(place, hosts, n, -1);
	for (i = 0; i < n; i++)
		ina_place_mark(place, hosts[i], false);
}

static int ina_place_check(const struct ina_place *place, int n)
{
	if (n < 1)
		return -EINVAL;
	return n > place->free ? -ENOSPC : 0;
}

int ina_place_first(struct ina_place *place, int n, int *hosts)
{
	int err = ina_place_check(place, n), i, done = 0;

	for (i = 0; !err && done < n; i++)
		if (place->rack_of[i] >= 0 && !place->taken[i])
			hosts[done++] = i;
	return err ? err : ina_place_take(place, hosts, n);
}

/* Score of @j of the @free machines of a rack of @size. */
static double ina_place_rack_score(const struct ina_place *place, int size, int free, int j)
{
	if (j == 0)
		return place->alpha * (free == size ? size > 0 : free);
	if (j == size)
		return 1;
	return j + place->alpha * (free - j);
}

/*
 * Extend @row, the best scores of 0 to @have machines in the parts so far, by a part with
 * scores @part of 0 to @more machines; entries above @limit are not needed. @choice, if any,
 * gets the machines in this part by machines in all. In place: a sum only looks back.
 */
static int ina_place_extend(double *row, int have, const double *part, int more, int limit,
			    int *choice)
{
	int top = have + more < limit ? have + more : limit, j, x;

	for (j = top; j >= 0; j--) {
		int low = j > have ? j - have : 0, high = j < more ? j : more, best = low;
		double least = row[j - low] + part[low];

		for (x = low + 1; x <= high; x++) {
			double score = row[j - x] + part[x];

			if (score < least) {
				least = score;
				best = x;
			}
		}
		row[j] = least;
		if (choice)
			choice[j] = best;
	}
	return top;
}

/*
 * Of @j machines in a rack, in neighbours: who takes its switch already, and if a single machine
 * takes it, the switch itself and a rest that stays.
 */
static int ina_place_tie(const struct ina_place *place, const struct ina_place_rack *rack, int j)
{
	int tie = j >= place->joins ? rack->jobs : 0;

	return place->joins > 1 ? tie : tie + (j > 0) + (j < rack->free);
}

/* Row of a pod up to @limit machines; @choice, if any, is n_racks rows of @limit + 1. */
static int ina_place_pod_row(const struct ina_place *place, const struct ina_place_pod *pod,
			     int limit, double *row, double *part, int *choice)
{
	int have = 0, i, j;

	row[0] = 0;
	for (i = 0; i < pod->n_racks; i++) {
		const struct ina_place_rack *rack = &place->racks[pod->racks[i]];

		for (j = 0; j <= rack->free; j++)
			part[j] = ina_place_rack_score(place, rack->size, rack->free, j) +
				  place->tie * ina_place_tie(place, rack, j);
		have = ina_place_extend(row, have, part, rack->free, limit,
					choice ? choice + (size_t)i * (limit + 1) : NULL);
	}
	return have;
}

/* The best rack for a single machine. */
static void ina_place_pod_single(const struct ina_place *place, struct ina_place_pod *pod)
{
	double none = 0, least = INFINITY;
	int i;

	for (i = 0; i < pod->n_racks; i++) {
		const struct ina_place_rack *rack = &place->racks[pod->racks[i]];
		double without = ina_place_rack_score(place, rack->size, rack->free, 0), more;

		none += without;
		if (!rack->free)
			continue;
		more = ina_place_rack_score(place, rack->size, rack->free, 1) - without -
		       place->tie * rack->jobs;
		if (more < least) {
			least = more;
			pod->rack = pod->racks[i];
		}
	}
	pod->single[0] = none;
	pod->single[1] = none + least;
}

static int ina_place_refresh(struct ina_place *place, struct ina_place_pod *pod)
{
	double *part;
	int j;

	if (!pod->stale)
		return 0;
	part = calloc((size_t)pod->size + 1, sizeof(*part));
	if (!part)
		return -ENOMEM;
	ina_place_pod_row(place, pod, pod->free, pod->row, part, NULL);
	free(part);
	ina_place_pod_single(place, pod);
	if (pod->size && pod->free == pod->size) {
		pod->row[0] = pod->single[0] = place->alpha;
		pod->row[pod->size] = 1;
		if (pod->size == 1)
			pod->single[1] = 1;
	}
	for (j = 1; place->joins == 1 && j <= pod->free; j++)
		pod->row[j] += place->tie * INA_PLACE_POD;
	pod->stale = false;
	return 0;
}

/* The first @x free machines of a rack. */
static int ina_place_pick(const struct ina_place *place, const struct ina_place_rack *rack, int x,
			  int *hosts)
{
	int done = 0, i;

	for (i = 0; done < x; i++)
		if (!place->taken[rack->hosts[i]])
			hosts[done++] = rack->hosts[i];
	return done;
}

/* The best @x machines of a pod: its row again, now with the choices. Number or -ENOMEM. */
static int ina_place_pod_pick(const struct ina_place *place, const struct ina_place_pod *pod,
			      int x, int *hosts)
{
	size_t width = (size_t)x + 1;
	int *choice = calloc((size_t)pod->n_racks * width, sizeof(*choice));
	double *row = calloc(width, sizeof(*row));
	double *part = calloc((size_t)pod->size + 1, sizeof(*part));
	int done = -ENOMEM, left = x;

	if (choice && row && part) {
		ina_place_pod_row(place, pod, x, row, part, choice);
		done = 0;
		for (int i = pod->n_racks - 1; i >= 0; i--) {
			int take = choice[(size_t)i * width + (size_t)left];

			done += ina_place_pick(place, &place->racks[pod->racks[i]], take,
					       hosts + done);
			left -= take;
		}
	}
	free(part);
	free(row);
	free(choice);
	return done;
}

static int ina_place_room(struct ina_place *place, size_t entries)
{
	int *choice;

	if (entries <= place->room)
		return 0;
	choice = reallocarray(place->choice, entries, sizeof(*choice));
	if (!choice)
		return -ENOMEM;
	place->choice = choice;
	place->room = entries;
	return 0;
}

/* Walk back from the last pod to the first. */
static int ina_place_walk(struct ina_place *place, int n, int *hosts)
{
	int done = 0, i, got;

	for (i = place->n_pods - 1; i >= 0; i--) {
		int take = place->choice[(size_t)i * (n + 1) + (size_t)(n - done)];

		if (!take)
			continue;
		got = n == 1 ?
			ina_place_pick(place, &place->racks[place->pods[i].rack], 1, hosts) :
			ina_place_pod_pick(place, &place->pods[i], take, hosts + done);
		if (got < 0)
			return got;
		done += got;
	}
	return 0;
}

static int ina_place_compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

double ina_place_score(struct ina_place *place, const int *hosts, int n)
{
	double score = 0;
	int i, k;

	if (n == place->size)
		return 1;
	ina_place_split(place, hosts, n);
	for (i = 0; i < place->n_pods; i++) {
		const struct ina_place_pod *pod = &place->pods[i];
		double sum = 0;
		int part = 0;

		for (k = 0; k < pod->n_racks; k++) {
			const struct ina_place_rack *rack = &place->racks[pod->racks[k]];
			int here = rack->mark == place->mark ? rack->part : 0;

			sum += ina_place_rack_score(place, rack->size, rack->free, here);
			part += here;
		}
		if (pod->size && pod->free == pod->size && (!part || part == pod->size))
			sum = part ? 1 : place->alpha;
		score += sum;
	}
	return score;
}

int ina_place_best(struct ina_place *place, int n, int *hosts, double *score)
{
	int err = ina_place_check(place, n), have = 0, i;

	if (!err)
		err = ina_place_room(place, (size_t)place->n_pods * ((size_t)n + 1));
	place->row[0] = 0;
	for (i = 0; !err && i < place->n_pods; i++) {
		struct ina_place_pod *pod = &place->pods[i];

		err = ina_place_refresh(place, pod);
		if (!err)
			have = ina_place_extend(place->row, have, n > 1 ? pod->row : pod->single,
						n > 1 ? pod->free : pod->free > 0, n,
						place->choice + (size_t)i * (n + 1));
	}
	if (!err)
		err = ina_place_walk(place, n, hosts);
	if (err)
		return err;
	if (score)
		*score = ina_place_score(place, hosts, n);
	qsort(hosts, (size_t)n, sizeof(*hosts), ina_place_compare);
	return ina_place_take(place, hosts, n);
}
