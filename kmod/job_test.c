// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs: what cannot be one is refused with a reason, the hash tells any two
 * configurations apart and never changes, and the table holds each once.
 */
#include <linux/mm.h>

#include "encap.h"
#include "region.h"
#include "test.h"

#define JOB_TEST_PORT	42530

static const struct ina_job_config job_test_config = {
	.id = 7, .dtype = INA_DTYPE_INT32, .fragment = 256,
	.capacity = 1000000, .depth = 2, .group = 1024,
	.deadline_ms = 10000, .encap = INA_ENCAP_UDP, .port = JOB_TEST_PORT,
};

/* The attribute that the last refusal blames. */
static int job_test_attr;

/* What one number of the configuration may not be. */
struct job_test_refusal {
	size_t field;
	int attr;
	u32 value;
	int err;
	const char *text;
};

#define JOB_TEST_REFUSAL(name, NAME, number, error, words)		\
	{ .field = offsetof(struct ina_job_config, name),		\
	  .attr = INA_A_JOB_##NAME,					\
	  .value = number, .err = error, .text = words }

static const struct job_test_refusal job_test_refusals[] = {
	JOB_TEST_REFUSAL(id, ID, 0, -EINVAL, "Job 0 is reserved"),
	JOB_TEST_REFUSAL(capacity, CAPACITY, 0, -ERANGE,
			 "Capacity is out of range"),
	JOB_TEST_REFUSAL(capacity, CAPACITY, 1U << 31, -ERANGE,
			 "Capacity is out of range"),
	JOB_TEST_REFUSAL(capacity, CAPACITY, U32_MAX, -ERANGE,
			 "Capacity is out of range"),
	JOB_TEST_REFUSAL(fragment, FRAGMENT, INA_FRAGMENT_MAX + 1, -ERANGE,
			 "Fragment is out of range"),
	JOB_TEST_REFUSAL(fragment, FRAGMENT, U32_MAX, -ERANGE,
			 "Fragment is out of range"),
	JOB_TEST_REFUSAL(depth, DEPTH, 0, -ERANGE, "Depth is out of range"),
	JOB_TEST_REFUSAL(depth, DEPTH, INA_DEPTH_MAX + 1, -ERANGE,
			 "Depth is out of range"),
	JOB_TEST_REFUSAL(group, GROUP, 0, -ERANGE, "Group is out of range"),
	JOB_TEST_REFUSAL(group, GROUP, INA_GROUP_MIN / 2, -ERANGE,
			 "Group is out of range"),
	JOB_TEST_REFUSAL(group, GROUP, 1000, -ERANGE, "Group is out of range"),
	JOB_TEST_REFUSAL(group, GROUP, INA_GROUP_MAX * 2, -ERANGE,
			 "Group is out of range"),
	JOB_TEST_REFUSAL(deadline_ms, DEADLINE, 0, -ERANGE,
			 "Deadline is out of range"),
	JOB_TEST_REFUSAL(deadline_ms, DEADLINE, 86400001, -ERANGE,
			 "Deadline is out of range"),
	JOB_TEST_REFUSAL(dtype, DTYPE, INA_DTYPE_FIXED + 1, -ERANGE,
			 "No such dtype"),
	JOB_TEST_REFUSAL(dtype, DTYPE, 256 + INA_DTYPE_FIXED, -ERANGE,
			 "No such dtype"),
	JOB_TEST_REFUSAL(dtype, DTYPE, U32_MAX, -ERANGE, "No such dtype"),
	JOB_TEST_REFUSAL(encap, ENCAP, INA_ENCAP_IP + 1, -ERANGE,
			 "No such encap"),
	JOB_TEST_REFUSAL(encap, ENCAP, U32_MAX, -ERANGE, "No such encap"),
	JOB_TEST_REFUSAL(on_loss, ON_LOSS, INA_ON_LOSS_DEGRADE + 1, -ERANGE,
			 "No such on-loss"),
	JOB_TEST_REFUSAL(on_loss, ON_LOSS, U32_MAX, -ERANGE,
			 "No such on-loss"),
	JOB_TEST_REFUSAL(exponent, EXPONENT, 1, -EINVAL,
			 "Only fixed has an exponent"),
};

static int job_test_check(const struct ina_job_config *config,
			  struct netlink_ext_ack *extack)
{
	return ina_job_check(config, &job_test_attr, extack);
}

static void check__refused(struct kunit *test)
{
	const struct job_test_refusal *refusal;
	struct netlink_ext_ack extack;
	struct ina_job_config config;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(job_test_refusals); i++) {
		refusal = &job_test_refusals[i];
		extack = (struct netlink_ext_ack){};
		config = job_test_config;
		*(u32 *)((void *)&config + refusal->field) = refusal->value;
		KUNIT_EXPECT_EQ_MSG(test, job_test_check(&config, &extack),
				    refusal->err, "%s", refusal->text);
		KUNIT_ASSERT_NOT_NULL(test, extack._msg);
		KUNIT_EXPECT_NOT_NULL(test, strstr(extack._msg, refusal->text));
		KUNIT_EXPECT_EQ(test, job_test_attr, refusal->attr);
	}
}

static void check__port(struct kunit *test)
{
	struct ina_job_config config = job_test_config;
	struct netlink_ext_ack extack = {};

	config.port = 0;
	KUNIT_EXPECT_EQ(test, job_test_check(&config, &extack), -ERANGE);
	KUNIT_ASSERT_NOT_NULL(test, extack._msg);
	KUNIT_EXPECT_NOT_NULL(test, strstr(extack._msg, "Port 0 is reserved"));
	KUNIT_EXPECT_EQ(test, job_test_attr, INA_A_JOB_PORT);
}

static void check__fragments(struct kunit *test)
{
	struct ina_job_config config = job_test_config;
	struct netlink_ext_ack extack = {};

	config.fragment = 1;
	config.capacity = INA_JOB_FRAGMENTS_MAX;
	KUNIT_EXPECT_EQ(test, job_test_check(&config, &extack), 0);
	config.capacity++;
	KUNIT_EXPECT_EQ(test, job_test_check(&config, &extack), -ERANGE);
	KUNIT_ASSERT_NOT_NULL(test, extack._msg);
	KUNIT_EXPECT_NOT_NULL(test, strstr(extack._msg, "use larger ones"));
	KUNIT_EXPECT_EQ(test, job_test_attr, INA_A_JOB_FRAGMENT);
}

/* Partial sums of fixed are twice as long, and its exponent has bounds. */
static void check__fixed(struct kunit *test)
{
	struct ina_job_config config = job_test_config;
	struct netlink_ext_ack extack = {};

	config.dtype = INA_DTYPE_FIXED;
	config.fragment = INA_FRAGMENT_MAX / 2;
	for (config.exponent = -149; config.exponent <= 64; config.exponent++)
		KUNIT_EXPECT_EQ(test, job_test_check(&config, &extack), 0);
	KUNIT_EXPECT_NULL(test, extack._msg);
	KUNIT_EXPECT_EQ(test, job_test_check(&config, &extack), -ERANGE);
	KUNIT_EXPECT_NOT_NULL(test, strstr(extack._msg, "use -149 to 64"));
	KUNIT_EXPECT_EQ(test, job_test_attr, INA_A_JOB_EXPONENT);
	config.exponent = -150;
	KUNIT_EXPECT_EQ(test, job_test_check(&config, &extack), -ERANGE);
	config.exponent = 0;
	config.fragment++;
	KUNIT_EXPECT_EQ(test, job_test_check(&config, &extack), -ERANGE);
	KUNIT_EXPECT_NOT_NULL(test, strstr(extack._msg, "use 1 to 1024"));
	KUNIT_EXPECT_EQ(test, job_test_attr, INA_A_JOB_FRAGMENT);
}

static void check__limits(struct kunit *test)
{
	struct netlink_ext_ack extack = {};
	struct ina_job_config least = {
		.id = 1, .fragment = 1, .capacity = 1, .depth = 1,
		.group = INA_GROUP_MIN, .deadline_ms = 1, .port = 1,
	};
	struct ina_job_config most = {
		.id = U32_MAX, .fragment = INA_FRAGMENT_MAX,
		.capacity = S32_MAX, .depth = INA_DEPTH_MAX,
		.group = INA_GROUP_MAX,
		.deadline_ms = 86400000, .port = U16_MAX,
		.encap = INA_ENCAP_IP, .on_loss = INA_ON_LOSS_DEGRADE,
	};

	KUNIT_EXPECT_EQ(test, job_test_check(&job_test_config, &extack), 0);
	KUNIT_EXPECT_EQ(test, job_test_check(&least, &extack), 0);
	KUNIT_EXPECT_EQ(test, job_test_check(&most, &extack), 0);
	most.fragment = 0;	/* not decided */
	KUNIT_EXPECT_EQ(test, job_test_check(&most, &extack), 0);
	KUNIT_EXPECT_NULL(test, extack._msg);
}

/* Nodes of other versions and machines compute the same number. */
static void hash__known(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ina_job_hash(&job_test_config),
			0xa709bd931bdc70f8ULL);
}

/* Every bit of every number that is hashed makes a difference. */
static void hash__sensitive(struct kunit *test)
{
	static const size_t fields[] = {
		offsetof(struct ina_job_config, id),
		offsetof(struct ina_job_config, dtype),
		offsetof(struct ina_job_config, exponent),
		offsetof(struct ina_job_config, fragment),
		offsetof(struct ina_job_config, capacity),
		offsetof(struct ina_job_config, depth),
		offsetof(struct ina_job_config, group),
		offsetof(struct ina_job_config, deadline_ms),
		offsetof(struct ina_job_config, encap),
		offsetof(struct ina_job_config, on_loss),
	};
	u64 hash = ina_job_hash(&job_test_config);
	struct ina_job_config config;
	unsigned int i, bit;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		for (bit = 0; bit < 32; bit++) {
			config = job_test_config;
			*(u32 *)((void *)&config + fields[i]) ^= BIT(bit);
			KUNIT_EXPECT_NE(test, ina_job_hash(&config), hash);
		}
	}
}

/* Numbers that trade places make a difference, too. */
static void hash__order(struct kunit *test)
{
	struct ina_job_config config = job_test_config;

	swap(config.depth, config.fragment);
	KUNIT_EXPECT_NE(test, ina_job_hash(&config),
			ina_job_hash(&job_test_config));
}

static struct ina_job *job_test_create(struct ina_net *inet, u32 id,
				       struct netlink_ext_ack *extack)
{
	struct ina_job_config config = job_test_config;
	struct ina_job *job;

	config.id = id;
	mutex_lock(&inet->lock);
	job = ina_job_create(inet, &config, &job_test_attr, extack);
	mutex_unlock(&inet->lock);
	return job;
}

static void job_test_destroy(struct ina_job *job)
{
	struct ina_net *inet = job->inet;

	mutex_lock(&inet->lock);
	ina_job_destroy(job);
	mutex_unlock(&inet->lock);
}

static bool job_test_has_port(const struct ina_net *inet)
{
	bool has;

	rcu_read_lock();
	has = ina_encap_has_port(inet, htons(JOB_TEST_PORT));
	rcu_read_unlock();
	return has;
}

static void create__found(struct kunit *test)
{
	struct ina_net *inet = test->priv;
	struct ina_job *job, *other;

	KUNIT_EXPECT_NULL(test, ina_job_find(inet, 7));
	job = job_test_create(inet, 7, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, job);
	other = job_test_create(inet, U32_MAX, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
	KUNIT_EXPECT_PTR_EQ(test, ina_job_find(inet, 7), job);
	KUNIT_EXPECT_PTR_EQ(test, ina_job_find(inet, U32_MAX), other);
	KUNIT_EXPECT_NULL(test, ina_job_find(inet, 8));
	KUNIT_EXPECT_EQ(test, job->hash, ina_job_hash(&job_test_config));
	KUNIT_EXPECT_PTR_EQ(test, job->inet, inet);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(job->node));
}

static void create__duplicate(struct kunit *test)
{
	struct netlink_ext_ack extack = {};
	struct ina_net *inet = test->priv;
	struct ina_job *job = job_test_create(inet, 7, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, job);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(job_test_create(inet, 7,
							      &extack)),
			-EEXIST);
	KUNIT_ASSERT_NOT_NULL(test, extack._msg);
	KUNIT_EXPECT_NOT_NULL(test, strstr(extack._msg, "Job exists"));
	KUNIT_EXPECT_EQ(test, job_test_attr, INA_A_JOB_ID);
	KUNIT_EXPECT_PTR_EQ(test, ina_job_find(inet, 7), job);
	/* The one refused has not taken the port with it. */
	KUNIT_EXPECT_TRUE(test, job_test_has_port(inet));
}

static void create__port_in_use(struct kunit *test)
{
	struct ina_net *inet = test->priv;
	struct ina_net *rival = ina_test_inet_create(test);
	struct netlink_ext_ack extack = {};
	struct ina_job *job;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, job_test_create(inet, 7, NULL));
	job = job_test_create(rival, 7, &extack);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(job), -EADDRINUSE);
	KUNIT_EXPECT_NULL(test, ina_job_find(rival, 7));
	ina_test_inet_destroy(rival);
	KUNIT_ASSERT_NOT_NULL(test, extack._msg);
	KUNIT_EXPECT_NOT_NULL(test, strstr(extack._msg,
					   "Cannot open the UDP port"));
	KUNIT_EXPECT_EQ(test, job_test_attr, INA_A_JOB_PORT);
}

static void destroy__forgotten(struct kunit *test)
{
	struct ina_net *inet = test->priv;
	struct ina_job *job = job_test_create(inet, 7, NULL);
	struct ina_job *other = job_test_create(inet, 8, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, job);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
	job_test_destroy(job);
	KUNIT_EXPECT_NULL(test, ina_job_find(inet, 7));
	/* The port is open as long as one job uses it. */
	KUNIT_EXPECT_TRUE(test, job_test_has_port(inet));
	job_test_destroy(other);
	KUNIT_EXPECT_FALSE(test, job_test_has_port(inet));
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, job_test_create(inet, 7, NULL));
}

/* Who holds a reference can use a job that is deleted. */
static void put__last(struct kunit *test)
{
	struct ina_net *inet = test->priv;
	struct ina_job *job = job_test_create(inet, 7, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, job);
	ina_job_get(job);
	job_test_destroy(job);
	KUNIT_EXPECT_EQ(test, refcount_read(&job->refs), 1);
	KUNIT_EXPECT_EQ(test, job->config.id, 7);
	ina_job_put(job);
}

/* What was checked against the limits is what is charged, also in huge pages, if there is room. */
static void region__size(struct kunit *test)
{
	static const struct {
		u64 size;
		u64 charged;
	} cases[] = {
		{ 1, PAGE_SIZE },
		{ PAGE_SIZE + 1, 2 * PAGE_SIZE },
		{ 8 * PMD_SIZE - 1, 8 * PMD_SIZE },
		{ 8 * PMD_SIZE + 1, 9 * PMD_SIZE },
	};
	struct ina_job *job = job_test_create(test->priv, 7, NULL);
	struct ina_region region = {};
	unsigned int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, job);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ(test, ina_region_size(cases[i].size), cases[i].charged);
		/* With large pages a huge one is half a gigabyte. */
		if (cases[i].charged >> PAGE_SHIFT > totalram_pages() / 8) {
			kunit_info(test, "not allocated: %llu bytes",
				   cases[i].charged);
			continue;
		}
		KUNIT_ASSERT_EQ(test, ina_region_alloc(&region, job, cases[i].size), 0);
		KUNIT_EXPECT_EQ(test, atomic64_read(&job->memory), cases[i].charged);
		KUNIT_EXPECT_NOT_NULL(test, ina_region_page(&region, cases[i].charged - 1));
		KUNIT_EXPECT_NULL(test, ina_region_page(&region, cases[i].charged));
		ina_region_free(&region);
		KUNIT_EXPECT_EQ(test, atomic64_read(&job->memory), 0);
	}
}

static int job_test_init(struct kunit *test)
{
	test->priv = ina_test_inet_create(test);
	return 0;
}

static void job_test_exit(struct kunit *test)
{
	if (test->priv)
		ina_test_inet_destroy(test->priv);
}

static struct kunit_case job_test_cases[] = {
	KUNIT_CASE(check__refused),
	KUNIT_CASE(check__port),
	KUNIT_CASE(check__fragments),
	KUNIT_CASE(check__fixed),
	KUNIT_CASE(check__limits),
	KUNIT_CASE(hash__known),
	KUNIT_CASE(hash__sensitive),
	KUNIT_CASE(hash__order),
	KUNIT_CASE(put__last),
	KUNIT_CASE(create__found),
	KUNIT_CASE(create__duplicate),
	KUNIT_CASE(create__port_in_use),
	KUNIT_CASE(destroy__forgotten),
	KUNIT_CASE(region__size),
	{}
};

static struct kunit_suite job_test_suite = {
	.name = "ina_job",
	.init = job_test_init,
	.exit = job_test_exit,
	.test_cases = job_test_cases,
};

kunit_test_suite(job_test_suite);
