// SPDX-License-Identifier: GPL-2.0
/* Paths are asked: which and when, and what their answers tell. */
#include <linux/timer.h>

#include "path.h"
#include "probe.h"
#include "test.h"
#include "wire.h"

#define PROBE_TEST_EPOCH	3
#define PROBE_TEST_LONG		(HZ * 100)
#define PROBE_TEST_TIMEOUT_MS	100000
#define PROBE_TEST_CHILDREN	33	/* one more than are asked at once */

/* Two paths to the parent: the first and @other. */
struct probe_test {
	struct ina_net *inet;
	struct ina_node *node;
	struct ina_peer *peer;
	struct ina_path *first;
	struct ina_path *other;
};

/* The clock, once. */
static void probe_test_tick(struct probe_test *t)
{
	WRITE_ONCE(t->node->dead, false);
	local_bh_disable();
	ina_probe_tick(&t->node->probe);
	/* Its timer may be due already. */
	WRITE_ONCE(t->node->dead, true);
	local_bh_enable();
	timer_delete_sync(&t->node->probe);
}

/* A path that just answered, was just asked, and takes all. */
static void probe_test_content(struct ina_path *path)
{
	path->heard = jiffies;
	path->grouped = jiffies;
	path->probed_at = jiffies;
	path->unheard = 0;
}

/* The answer to PROBE @number of a path after @rtt, when @received packets had come. */
static int probe_test_late(struct probe_test *t, struct ina_path *path,
			   u32 number, u32 received, u64 rtt)
{
	struct ina_probe_hdr hdr = {
		.time = cpu_to_be64(ktime_get_ns() - rtt),
		.number = cpu_to_be32(number),
		.received = cpu_to_be32(received),
	};
	struct ina_pkt pkt = {
		.type = INA_TYPE_ECHO, .path = path - t->peer->path,
		.job = t->node->job->config.id, .body = &hdr,
	};
	int err;

	rcu_read_lock();
	err = ina_probe_rx(t->node, t->peer, &pkt);
	rcu_read_unlock();
	return err;
}

static int probe_test_echo(struct probe_test *t, struct ina_path *path,
			   u32 number, u32 received)
{
	return probe_test_late(t, path, number, received, NSEC_PER_MSEC);
}

/* With one path that takes all there is nothing to ask. */
static void tick__one(struct kunit *test)
{
	struct probe_test *t = test->priv;
	unsigned long start;
	u32 probed;

	mutex_lock(&t->inet->lock);
	ina_path_del(t->node, t->peer, t->other);
	mutex_unlock(&t->inet->lock);
	t->first->heard = jiffies - PROBE_TEST_LONG;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->first->probed, 0);
	t->first->pace.rate = 1000000;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->first->probed, 0);
	t->first->packets = 1;
	t->first->probed_at = jiffies - HZ;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->first->probed, 1);

	/* Few packets tell little. */
	t->first->packets += 255;
	t->first->probed_at = jiffies;
	start = jiffies;
	probe_test_tick(t);
	probed = t->first->probed;
	KUNIT_EXPECT_TRUE(test, probed == 1 ||
			  time_after_eq(jiffies, start + msecs_to_jiffies(250)));
	t->first->packets = t->first->marks[probed % INA_PATH_MARKS].packets + 256;
	t->first->probed_at = jiffies;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->first->probed, probed + 1);

	/* Was the cut enough? */
	t->first->loss.cuts = 1;
	t->first->packets += 64;
	t->first->probed_at = jiffies;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->first->probed, probed + 2);
}

/* Of two, those are asked that say nothing, or take less than is granted, or are down. */
static void tick__due(struct kunit *test)
{
	struct probe_test *t = test->priv;

	/* However long the test takes. */
	t->node->timeout = PROBE_TEST_TIMEOUT_MS;
	t->first->probed_at = jiffies + PROBE_TEST_LONG;
	probe_test_content(t->other);
	t->first->heard = jiffies;
	t->first->unheard = 0;
	t->other->probed_at = t->first->probed_at;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->first->probed, 0);
	KUNIT_EXPECT_EQ(test, t->other->probed, 0);
	t->other->probed_at = jiffies;

	t->other->pace.rate = 1000000;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->first->probed, 0);
	KUNIT_EXPECT_EQ(test, t->other->probed, 1);
	KUNIT_EXPECT_EQ(test, t->other->unheard, 1);
	t->other->pace.rate = 0;

	/* No answer to that one yet. */
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->other->probed, 2);

	/* Nothing tells that it lives. */
	probe_test_content(t->other);
	t->other->heard = jiffies - msecs_to_jiffies(PROBE_TEST_TIMEOUT_MS) / 3 - 1;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->other->probed, 3);

	probe_test_content(t->other);
	t->other->probed_at = jiffies - msecs_to_jiffies(100);
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->other->probed, 4);

	ina_path_down(t->node, t->peer, t->other, INA_PATH_STATE_LINK_DOWN);
	probe_test_content(t->other);
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->other->probed, 5);
	KUNIT_EXPECT_EQ(test, t->first->probed, 0);
}

/* While something is sent, six looks within the timeout: a timer ends a jiffy late. */
static void tick__often(struct kunit *test)
{
	struct probe_test *t = test->priv;
	unsigned long period = msecs_to_jiffies(300) / 6, start = jiffies;
	unsigned long expires;

	t->node->timeout = 300;
	probe_test_content(t->first);
	probe_test_content(t->other);
	t->first->hop.next++;
	probe_test_tick(t);
	expires = t->node->probe.expires;
	KUNIT_EXPECT_TRUE(test, time_after_eq(expires, start + period - 1));
	KUNIT_EXPECT_TRUE(test, time_before(expires, jiffies + period));
}

/* Of many children some are asked at a time; the next look is as soon as with one. */
static void tick__groups(struct kunit *test)
{
	struct ina_job_config config = ina_test_config();
	struct probe_test *t = test->priv;
	unsigned long period = msecs_to_jiffies(300) / 6, start = jiffies;
	struct ina_path *last;

	config.id++;
	t->node = ina_test_node_of(test, t->inet, &config, true, PROBE_TEST_CHILDREN);
	t->node->timeout = 300;
	last = &t->node->children[PROBE_TEST_CHILDREN - 1].peer.path[0];
	last->pace.rate = 1000000;
	last->packets = 1;
	last->probed_at = jiffies - HZ;
	last->hop.next++;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->node->probe_at, PROBE_TEST_CHILDREN - 1);
	KUNIT_EXPECT_EQ(test, last->probed, 0);
	KUNIT_EXPECT_TRUE(test, time_before_eq(t->node->probe.expires, jiffies));

	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->node->probe_at, 0);
	KUNIT_EXPECT_EQ(test, last->probed, 1);
	KUNIT_EXPECT_TRUE(test, time_after_eq(t->node->probe.expires, start + period - 2));
	KUNIT_EXPECT_TRUE(test, time_before(t->node->probe.expires, jiffies + period - 1));
}

/* Where answers take long, or do not come, few are asked for: a slow peer is not drowned. */
static void tick__enough(struct kunit *test)
{
	struct probe_test *t = test->priv;
	struct ina_path *path = t->other;
	int i;

	path->pace.rate = 1000000;
	for (i = 0; i < 8; i++)
		probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, path->probed, 8);
	path->probed_at = jiffies + PROBE_TEST_LONG;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, path->probed, 8);
	for (i = 0; i < 43; i++) {
		path->probed_at = jiffies - msecs_to_jiffies(800);
		probe_test_tick(t);
	}
	KUNIT_EXPECT_EQ(test, path->probed, 51);

	/* An answer makes room for as many as were asked before its question. */
	KUNIT_EXPECT_EQ(test, probe_test_echo(t, path, 44, 0), 0);
	KUNIT_EXPECT_EQ(test, probe_test_echo(t, path, 20, 0), 0);
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, path->probed, 52);
	path->probed_at = jiffies + PROBE_TEST_LONG;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, path->probed, 52);

	/* An epoch opens, in which somebody may answer. */
	ina_path_reset(t->peer, PROBE_TEST_EPOCH + 1);
	path->probed_at = jiffies;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, path->probed, 53);
}

static void wait__longer(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ina_probe_wait(0, 0), 0);
	KUNIT_EXPECT_EQ(test, ina_probe_wait(7, 0), 0);
	KUNIT_EXPECT_EQ(test, ina_probe_wait(8, 0), 100);
	KUNIT_EXPECT_EQ(test, ina_probe_wait(9, 0), 200);
	KUNIT_EXPECT_EQ(test, ina_probe_wait(10, 0), 400);
	KUNIT_EXPECT_EQ(test, ina_probe_wait(11, 0), 800);
	KUNIT_EXPECT_EQ(test, ina_probe_wait(U32_MAX, 0), 800);

	KUNIT_EXPECT_EQ(test, ina_probe_wait(0, 100ULL * NSEC_PER_MSEC), 0);
	KUNIT_EXPECT_EQ(test, ina_probe_wait(0, 150ULL * NSEC_PER_MSEC), 300);
	KUNIT_EXPECT_EQ(test, ina_probe_wait(8, 150ULL * NSEC_PER_MSEC), 300);
	KUNIT_EXPECT_EQ(test, ina_probe_wait(10, 150ULL * NSEC_PER_MSEC), 400);
	KUNIT_EXPECT_EQ(test, ina_probe_wait(0, 9ULL * NSEC_PER_SEC), 1000);
}

/* A path is left when three have no answer for long, and another has. */
static void tick__silent(struct kunit *test)
{
	struct probe_test *t = test->priv;

	t->other->heard = jiffies - PROBE_TEST_LONG;
	t->first->heard = t->other->heard;
	t->other->unheard = 3;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->other->state, INA_PATH_STATE_UP);

	t->first->heard = jiffies;
	t->other->unheard = 2;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->other->state, INA_PATH_STATE_UP);
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->other->state, INA_PATH_STATE_SILENT);
	KUNIT_EXPECT_EQ(test, t->first->state, INA_PATH_STATE_UP);

	probe_test_echo(t, t->other, t->other->probed, 0);
	KUNIT_EXPECT_EQ(test, t->other->state, INA_PATH_STATE_UP);
	KUNIT_EXPECT_EQ(test, t->other->unheard, 0);
	KUNIT_EXPECT_GE(test, t->other->rtt, 1000000);
}

/* At the sixth look within the timeout, if another path was heard of a third of it later. */
static void tick__silent_in_time(struct kunit *test)
{
	struct probe_test *t = test->priv;
	unsigned long third;

	/* However long the test takes. */
	t->node->timeout = PROBE_TEST_TIMEOUT_MS;
	third = msecs_to_jiffies(PROBE_TEST_TIMEOUT_MS) / 6 * 2;
	t->other->rtt = 1000;
	t->other->unheard = 3;
	t->other->heard = jiffies - PROBE_TEST_LONG;
	t->first->heard = t->other->heard + third;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->other->state, INA_PATH_STATE_UP);
	t->first->heard++;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->other->state, INA_PATH_STATE_SILENT);
}

/* However long answers took once: not longer than four seconds. */
static void tick__silent_slow(struct kunit *test)
{
	struct probe_test *t = test->priv;

	t->other->rtt = 10ULL * NSEC_PER_SEC;
	t->other->unheard = 3;
	t->other->heard = jiffies - PROBE_TEST_LONG;
	t->first->heard = t->other->heard + 4 * HZ;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->other->state, INA_PATH_STATE_UP);
	t->first->heard++;
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, t->other->state, INA_PATH_STATE_SILENT);
}

/* What was sent between two that were answered has come, or is lost. */
static void echo__lost(struct kunit *test)
{
	struct probe_test *t = test->priv;
	struct ina_path *path = t->other;

	path->pace.rate = 1000000;
	probe_test_tick(t);
	probe_test_echo(t, path, 1, 100);
	KUNIT_EXPECT_EQ(test, path->loss.packets, 0);
	path->packets += 10;
	path->hop.next += 10;
	probe_test_tick(t);
	/* Now sent: of them that PROBE knows nothing. */
	path->packets += 5;
	probe_test_echo(t, path, 2, 107);
	KUNIT_EXPECT_EQ(test, path->loss.packets, 10);
	KUNIT_EXPECT_EQ(test, path->loss.lost, 3);
	/* The same again, and one before it, tell nothing more. */
	probe_test_echo(t, path, 2, 110);
	probe_test_echo(t, path, 1, 110);
	KUNIT_EXPECT_EQ(test, path->loss.packets, 10);
	KUNIT_EXPECT_EQ(test, path->told, 107);
}

/* Either groups or ECHOs tell: groups of a path at the full rate, if there are any. */
static void echo__or_groups(struct kunit *test)
{
	struct probe_test *t = test->priv;
	struct ina_path *path = t->other;
	unsigned long fed = path->fed;

	probe_test_tick(t);
	probe_test_echo(t, path, 1, 0);
	path->packets += 10;
	path->heard -= PROBE_TEST_LONG;
	probe_test_tick(t);
	path->grouped = jiffies + PROBE_TEST_LONG;
	probe_test_echo(t, path, 2, 7);
	KUNIT_EXPECT_EQ(test, path->loss.packets, 0);
	KUNIT_EXPECT_EQ(test, path->fed, fed);

	path->packets += 10;
	path->grouped = jiffies - INA_PATH_FED - 1;
	path->heard -= PROBE_TEST_LONG;
	probe_test_tick(t);
	probe_test_echo(t, path, 3, 14);
	KUNIT_EXPECT_EQ(test, path->loss.packets, 10);
	KUNIT_EXPECT_EQ(test, path->loss.lost, 3);
	KUNIT_EXPECT_NE(test, path->fed, fed);

	path->pace.rate = 1000000;
	path->grouped = jiffies + PROBE_TEST_LONG;
	path->packets += 10;
	/* Too few to be judged, however long the test takes. */
	path->loss.packets = 0;
	path->loss.lost = 0;
	probe_test_tick(t);
	probe_test_echo(t, path, 4, 21);
	KUNIT_EXPECT_EQ(test, path->loss.packets, 10);
	KUNIT_EXPECT_EQ(test, path->loss.lost, 3);
}

/* It overtook packets: these are not lost, and are not taken for those sent after it. */
static void echo__overtaken(struct kunit *test)
{
	struct probe_test *t = test->priv;
	struct ina_path *path = t->other;

	path->pace.rate = 1000000;
	probe_test_tick(t);
	probe_test_echo(t, path, 1, 0);
	path->packets += 4;
	probe_test_tick(t);
	probe_test_echo(t, path, 2, 6);
	KUNIT_EXPECT_EQ(test, path->loss.packets, 4);
	KUNIT_EXPECT_EQ(test, path->loss.lost, 0);
	KUNIT_EXPECT_EQ(test, path->told, 4);
}

/* Who never was asked, or long ago, is not believed. */
static void echo__forged(struct kunit *test)
{
	struct probe_test *t = test->priv;

	t->first->probed = 1000;
	KUNIT_EXPECT_EQ(test, probe_test_echo(t, t->first, t->first->probed + 1, 0),
			INA_STAT_DROP_OVER);
	KUNIT_EXPECT_EQ(test, probe_test_echo(t, t->first,
					      t->first->probed - U8_MAX - 1, 0),
			INA_STAT_DROP_OVER);
	KUNIT_EXPECT_EQ(test, probe_test_late(t, t->first, 1000, 0, 11ULL * NSEC_PER_SEC),
			INA_STAT_DROP_OVER);
	KUNIT_EXPECT_EQ(test, t->first->rtt, 0);
	KUNIT_EXPECT_EQ(test, t->first->echoed, 0);
}

/* Where all is slow, it is late, but an answer. */
static void echo__late(struct kunit *test)
{
	struct probe_test *t = test->priv;

	t->first->probed = 1000;
	t->first->unheard = 5;
	KUNIT_EXPECT_EQ(test, probe_test_late(t, t->first, 1000, 0, 3ULL * NSEC_PER_SEC), 0);
	KUNIT_EXPECT_EQ(test, t->first->unheard, 0);
	KUNIT_EXPECT_GE(test, t->first->rtt, 3ULL * NSEC_PER_SEC);
}

/* A host that was busy once makes its path no slow one for long. */
static void echo__quick(struct kunit *test)
{
	struct probe_test *t = test->priv;

	t->first->probed = 1000;
	t->first->rtt = 10ULL * NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, probe_test_late(t, t->first, 1000, 0, 1000), 0);
	KUNIT_EXPECT_LT(test, t->first->rtt, 7ULL * NSEC_PER_SEC);
	t->first->rtt = NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, probe_test_late(t, t->first, 1000, 0, 2ULL * NSEC_PER_SEC), 0);
	KUNIT_EXPECT_GE(test, t->first->rtt, 9ULL * NSEC_PER_SEC / 8);
	KUNIT_EXPECT_LT(test, t->first->rtt, 3ULL * NSEC_PER_SEC / 2);
}

/* Nor is an answer to what was asked on another path that had this number before. */
static void echo__before(struct kunit *test)
{
	struct ina_route route = {
		.dst = ina_test_addr(INA_TEST_PARENT), .ifindex = 1,
	};
	struct probe_test *t = test->priv;
	u32 number;

	probe_test_tick(t);
	number = t->other->probed;
	mutex_lock(&t->inet->lock);
	ina_path_del(t->node, t->peer, t->other);
	KUNIT_EXPECT_EQ(test, ina_path_add(t->node, t->peer, &route, 0), 1);
	mutex_unlock(&t->inet->lock);
	KUNIT_EXPECT_EQ(test, probe_test_echo(t, t->other, number, 0), INA_STAT_DROP_OVER);
	KUNIT_EXPECT_EQ(test, t->other->state, INA_PATH_STATE_SILENT);
	probe_test_tick(t);
	KUNIT_EXPECT_EQ(test, probe_test_echo(t, t->other, t->other->probed, 0), 0);
	KUNIT_EXPECT_EQ(test, t->other->state, INA_PATH_STATE_UP);
}

static int probe_test_init(struct kunit *test)
{
	struct probe_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct ina_route route = {
		.dst = ina_test_addr(INA_TEST_PARENT), .ifindex = 1,
	};
	int number;

	if (!t)
		return -ENOMEM;
	test->priv = t;
	t->inet = ina_test_inet_create(test);
	t->node = ina_test_node_create(test, t->inet, false, 1);
	t->peer = &t->node->parent;
	KUNIT_ASSERT_EQ(test, ina_node_alloc(t->node), 0);
	ina_path_reset(t->peer, PROBE_TEST_EPOCH);
	mutex_lock(&t->inet->lock);
	number = ina_path_add(t->node, t->peer, &route, 0);
	mutex_unlock(&t->inet->lock);
	KUNIT_ASSERT_EQ(test, number, 1);
	t->first = &t->peer->path[0];
	t->other = &t->peer->path[1];
	t->other->hop.epoch = PROBE_TEST_EPOCH;
	t->first->probed = 0;
	t->first->settled = 0;
	t->other->probed = 0;
	t->other->settled = 0;
	ina_path_up(t->node, t->peer, t->other);
	return 0;
}

static void probe_test_exit(struct kunit *test)
{
	struct probe_test *t = test->priv;

	if (t)
		ina_test_inet_destroy(t->inet);
}

/* A path is not asked more often than its timeout needs, however long that is. */
static void tick__patient(struct kunit *test)
{
	struct probe_test *t = test->priv;

	WRITE_ONCE(t->node->timeout, PROBE_TEST_TIMEOUT_MS);
	t->first->unheard = 1;
	probe_test_tick(t);
	KUNIT_EXPECT_TRUE(test, time_after(t->node->probe.expires, jiffies + 10 * HZ));
	WRITE_ONCE(t->node->timeout, INA_PATH_TIMEOUT_MS);
	probe_test_tick(t);
	KUNIT_EXPECT_TRUE(test, time_before(t->node->probe.expires, jiffies + HZ));
}

static struct kunit_case probe_test_cases[] = {
	KUNIT_CASE(tick__one),
	KUNIT_CASE(tick__due),
	KUNIT_CASE(tick__often),
	KUNIT_CASE(tick__groups),
	KUNIT_CASE(tick__enough),
	KUNIT_CASE(wait__longer),
	KUNIT_CASE(tick__patient),
	KUNIT_CASE(tick__silent),
	KUNIT_CASE(tick__silent_in_time),
	KUNIT_CASE(tick__silent_slow),
	KUNIT_CASE(echo__lost),
	KUNIT_CASE(echo__or_groups),
	KUNIT_CASE(echo__overtaken),
	KUNIT_CASE(echo__forged),
	KUNIT_CASE(echo__late),
	KUNIT_CASE(echo__quick),
	KUNIT_CASE(echo__before),
	{}
};

static struct kunit_suite probe_test_suite = {
	.name = "ina_probe",
	.init = probe_test_init,
	.exit = probe_test_exit,
	.test_cases = probe_test_cases,
};

kunit_test_suite(probe_test_suite);
