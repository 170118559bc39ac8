// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: on random fabrics with random machines taken, the dynamic programme finds the
 * least score that any set of free machines has, by trying all of them.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "ktap.h"
#include "place.h"

#define CASES	3000
#define HOSTS	12

static int draw(int n)
{
	return (int)ktap_below((uint32_t)n);
}

/* Hosts in random racks in random pods; some without a rack, some racks without a pod. */
static struct ina_topo *fabric(int hosts)
{
	struct ina_topo *topo = ina_topo_create();
	int racks = 1 + draw(5), pods = 1 + draw(3), pod_of[5] = { 0 }, i;

	for (i = 0; i < racks; i++)
		pod_of[i] = draw(6) ? draw(pods) : INA_TOPO_NONE;
	for (i = 0; i < hosts; i++) {
		char name[16];
		struct ina_topo_node node = { .name = name, .kind = INA_TOPO_HOST };

		snprintf(name, sizeof(name), "h%d", i);
		node.rack = draw(8) ? draw(racks) : INA_TOPO_NONE;
		node.pod = node.rack >= 0 ? pod_of[node.rack] : draw(pods + 1) - 1;
		if (ina_topo_add_node(topo, &node) < 0)
			abort();
	}
	return topo;
}

/*
 * Fragments of the machines in @set by definition: one for a part all of which is in it,
 * none for one without any, else the sum over what it consists of.
 */
static int fragments_of(const struct ina_topo *topo, unsigned int set, int rack, int pod)
{
	unsigned int all = 0;
	int i, sum = 0;

	for (i = 0; i < topo->n_nodes; i++)
		if ((rack < 0 || topo->nodes[i].rack == rack) &&
		    (pod < 0 || topo->nodes[i].pod == pod))
			all |= 1u << i;
	if ((set & all) == all)
		return all != 0;
	if (!(set & all))
		return 0;
	if (rack >= 0)
		return __builtin_popcount(set & all);
	for (i = 0; i < topo->n_racks; i++) {
		int k, of = INA_TOPO_NONE;

		for (k = 0; k < topo->n_nodes; k++)
			if (topo->nodes[k].rack == i)
				of = topo->nodes[k].pod;
		if (of == pod)
			sum += fragments_of(topo, set, i, INA_TOPO_NONE);
	}
	for (i = 0; i < topo->n_nodes; i++)
		if (topo->nodes[i].rack < 0 && topo->nodes[i].pod == pod)
			sum += (int)(set >> i & 1);
	return sum;
}

static int fragments(const struct ina_topo *topo, unsigned int set)
{
	unsigned int all = (1u << topo->n_nodes) - 1;
	int sum = 0, pod;

	if (set == all)
		return 1;
	for (pod = 0; pod < topo->n_pods; pod++)
		sum += fragments_of(topo, set, INA_TOPO_NONE, pod);
	/* What is in no pod hangs on the top. */
	for (int i = 0; i < topo->n_racks; i++) {
		bool here = false;

		for (int k = 0; k < topo->n_nodes; k++)
			here = here || (topo->nodes[k].rack == i && topo->nodes[k].pod < 0);
		if (here)
			sum += fragments_of(topo, set, i, INA_TOPO_NONE);
	}
	for (int i = 0; i < topo->n_nodes; i++)
		if (topo->nodes[i].rack < 0 && topo->nodes[i].pod < 0)
			sum += (int)(set >> i & 1);
	return sum;
}

static double score_of(const struct ina_topo *topo, unsigned int set, unsigned int free,
		       double alpha)
{
	return fragments(topo, set) + alpha * fragments(topo, free & ~set);
}

static double least(const struct ina_topo *topo, unsigned int free, int n, double alpha)
{
	double best = INFINITY;

	for (unsigned int set = free; set; set = (set - 1) & free)
		if (__builtin_popcount(set) == n)
			best = fmin(best, score_of(topo, set, free, alpha));
	return best;
}

static unsigned int set_of(const int *hosts, int n)
{
	unsigned int set = 0;

	for (int i = 0; i < n; i++)
		set |= 1u << hosts[i];
	return set;
}

/* A few jobs come and go; then one more is compared with all its possibilities. */
static bool try_case(bool *sane)
{
	static const double alphas[] = { 0, 0x1p-30, 0.25, 0.5, 0.5, 0.5, 1, 2 };
	double alpha = alphas[draw(8)], score = -1, best;
	int hosts[HOSTS], jobs[HOSTS][HOSTS], size[HOSTS], n_jobs = 0, n, err, i;
	struct ina_topo *topo = fabric(1 + draw(HOSTS));
	unsigned int free = (1u << topo->n_nodes) - 1;
	struct ina_place *place = ina_place_create(topo, alpha, draw(2));
	bool ok;

	for (i = draw(6); i > 0; i--) {
		n = 1 + draw(4);
		err = draw(2) ? ina_place_best(place, n, jobs[n_jobs], NULL) :
			ina_place_first(place, n, jobs[n_jobs]);
		if (err)
			continue;
		size[n_jobs++] = n;
		if (draw(3) == 0) {
			int gone = draw(n_jobs);

			ina_place_give(place, jobs[gone], size[gone]);
			memcpy(jobs[gone], jobs[--n_jobs], sizeof(jobs[gone]));
			size[gone] = size[n_jobs];
		}
	}
	for (i = 0; i < n_jobs; i++)
		free &= ~set_of(jobs[i], size[i]);
	*sane = *sane && ina_place_free(place) == __builtin_popcount(free);
	n = 1 + draw(topo->n_nodes);
	err = ina_place_best(place, n, hosts, &score);
	best = least(topo, free, n, alpha);
	if (n > __builtin_popcount(free)) {
		ok = err == -ENOSPC && ina_place_free(place) == __builtin_popcount(free);
	} else {
		unsigned int set = set_of(hosts, n);

		*sane = *sane && !err && (set & free) == set && __builtin_popcount(set) == n &&
			ina_place_free(place) == __builtin_popcount(free) - n &&
			score == score_of(topo, set, free, alpha);
		for (i = 1; i < n; i++)
			*sane = *sane && hosts[i - 1] < hosts[i];
		ok = !err && score == best;
		if (!ok)
			printf("# alpha %g: %d of %x: %x has %g, best is %g\n", alpha, n, free,
			       set, score, best);
	}
	ina_place_destroy(place);
	ina_topo_destroy(topo);
	return ok;
}

static void test_optimum(void)
{
	bool best = true, sane = true;
	int i;

	for (i = 0; i < CASES && best && sane; i++)
		best = try_case(&sane);
	ktap_ok(best, "%d random fabrics: the least score of all sets of machines", i);
	ktap_ok(sane, "machines are free, each once, and the score is that of the definition");
}

/* On whole fabrics: everything is one fragment, and what is given back is free. */
static void test_whole(void)
{
	struct ina_topo *topo = ina_topo_fat_tree(8, 1e9, 0);
	struct ina_place *place = ina_place_create(topo, 0.5, false);
	int hosts[128];
	double score = 0;
	bool ok = true;

	for (int round = 0; round < 200 && ok; round++) {
		int n = 1 + draw(128);

		ok = !ina_place_best(place, n, hosts, &score);
		ina_place_give(place, hosts, n);
	}
	ktap_ok(ok && !ina_place_best(place, 128, hosts, &score) && score == 1,
		"all machines given back are one fragment");
	ktap_ok(ina_place_best(place, 1, hosts, &score) == -ENOSPC &&
		ina_place_first(place, 1, hosts) == -ENOSPC, "none is left then");
	ina_place_destroy(place);
	ina_topo_destroy(topo);
}

/*
 * Of equal scores: two racks of four have two machines left each. Where every switch counts,
 * a job of two keeps away from the rack in which another job of two is; where only joining
 * ones do and both racks have one, it takes a machine of each. A single machine goes where
 * others are.
 */
static void test_neighbours(bool every)
{
	struct ina_topo *topo = ina_topo_leaf_spine(2, 1, 4, 1e9, 1e9, 0);
	struct ina_place *place = ina_place_create(topo, 0.5, every);
	static const int two[] = { 0, 1 }, other[] = { 4, 5 };
	int hosts[2] = { 0, 0 };

	ktap_ok(!ina_place_take(place, two, 2) &&
		(every ? !ina_place_take(place, other, 1) && !ina_place_take(place, other + 1, 1) :
		 !ina_place_take(place, other, 2)) &&
		!ina_place_best(place, 2, hosts, NULL) && hosts[1] == (every ? 7 : 6) &&
		hosts[0] == (every ? 6 : 2),
		"of equal scores, the one that takes fewer switches of others");
	ina_place_give(place, hosts, 2);
	ktap_ok(!ina_place_best(place, 1, hosts, NULL) && hosts[0] == 2,
		"a single machine goes beside them");
	ina_place_destroy(place);
	ina_topo_destroy(topo);
}

/* Jobs of one machine leave only @left of a fabric: whether a job of two gets @want. */
static bool compact(struct ina_topo *topo, const int *left, int n_left, const int *want)
{
	struct ina_place *place = ina_place_create(topo, 0.5, true);
	int total = ina_place_hosts(place), hosts[2] = { -1, -1 };
	bool ok = true;

	for (int h = 0; h < total; h++) {
		int i = 0;

		while (i < n_left && left[i] != h)
			i++;
		ok = ok && (i < n_left || !ina_place_take(place, &h, 1));
	}
	ok = ok && !ina_place_best(place, 2, hosts, NULL);
	ina_place_destroy(place);
	ina_topo_destroy(topo);
	return ok && hosts[0] == want[0] && hosts[1] == want[1];
}

/* Where every switch counts, of equal scores: racks of two in pods of two; racks of four. */
static void test_compact(void)
{
	static const int pods[] = { 1, 5, 7 }, pod[] = { 5, 7 };
	static const int racks[] = { 1, 2, 3, 5, 6 }, rack[] = { 5, 6 };
	static const int three[] = { 1, 5, 6 };

	ktap_ok(compact(ina_topo_fat_tree(4, 1e9, 0), pods, 3, pod), "one pod rather than two");
	ktap_ok(compact(ina_topo_leaf_spine(2, 1, 4, 1e9, 1e9, 0), three, 3, rack),
		"one rack rather than two");
	ktap_ok(compact(ina_topo_leaf_spine(2, 1, 4, 1e9, 1e9, 0), racks, 5, rack),
		"the rack that keeps no rest");
}

static void test_refusals(void)
{
	struct ina_topo *topo = ina_topo_leaf_spine(2, 1, 2, 1e9, 1e9, 0);
	struct ina_place *place = ina_place_create(topo, 0.5, false);
	static const int twice[] = { 0, 1, 0 }, no_host[] = { 0, 4 }, outside[] = { 99 };
	int hosts[4];

	ktap_ok(ina_place_best(place, 0, hosts, NULL) == -EINVAL &&
		ina_place_first(place, -1, hosts) == -EINVAL, "no machines are refused");
	ktap_ok(ina_place_take(place, twice, 3) == -EINVAL &&
		ina_place_take(place, no_host, 2) == -EINVAL &&
		ina_place_take(place, outside, 1) == -EINVAL && ina_place_free(place) == 4,
		"a machine twice, a switch and no node are refused and nothing is taken");
	ina_place_destroy(place);
	topo->nodes[1].pod = 7;
	errno = 0;
	place = ina_place_create(topo, 0.5, false);
	ktap_ok(!place && errno == EINVAL, "a rack in two pods is refused");
	topo->nodes[1].pod = 0;
	ktap_ok(!ina_place_create(topo, -1, false) && !ina_place_create(topo, NAN, false),
		"a weight below 0 is refused");
	ina_topo_destroy(topo);
}

int main(void)
{
	ktap_start();
	test_optimum();
	test_whole();
	test_neighbours(false);
	test_neighbours(true);
	test_compact();
	test_refusals();
	return ktap_end();
}
