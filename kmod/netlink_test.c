// SPDX-License-Identifier: GPL-2.0
/*
 * The policies of the netlink family against the spec, written down once more
 * here: what passes, what is refused, and who may ask; and how a refusal ends.
 */
#include <linux/skbuff.h>
#include <net/netlink.h>

#include "netlink.h"
#include "netlink_gen.h"
#include "test.h"

/* One attribute of a request: its size, its type. */
struct netlink_test_attr {
	u16 type;
	u16 size;
	u8 kind;	/* NLA_*, 0 for an unsigned number or bytes */
};

/* One request of the spec. */
struct netlink_test_op {
	u8 cmd;
	bool admin;
	bool dump;
	u16 maxattr;
	struct netlink_test_attr attrs[11];
};

static const struct netlink_test_op netlink_test_ops[] = {
	{ INA_CMD_JOB_ADD, true, false, INA_A_JOB_EXPONENT, {
		{ INA_A_JOB_ID, 4 },
		{ INA_A_JOB_DTYPE, 4 },
		{ INA_A_JOB_FRAGMENT, 4 },
		{ INA_A_JOB_CAPACITY, 4 },
		{ INA_A_JOB_DEPTH, 4 },
		{ INA_A_JOB_GROUP, 4 },
		{ INA_A_JOB_DEADLINE, 4 },
		{ INA_A_JOB_ENCAP, 4 },
		{ INA_A_JOB_PORT, 2 },
		{ INA_A_JOB_ON_LOSS, 4 },
		{ INA_A_JOB_EXPONENT, 4, NLA_S32 } } },
	{ INA_CMD_JOB_DEL, true, false, INA_A_JOB_ID, {
		{ INA_A_JOB_ID, 4 } } },
	{ INA_CMD_JOB_GET, false, true, INA_A_JOB_ID, {
		{ INA_A_JOB_ID, 4 } } },
	{ INA_CMD_TREE_SET, true, false, INA_A_TREE_WORKERS, {
		{ INA_A_TREE_JOB, 4 },
		{ INA_A_TREE_LOCAL, 16 },
		{ INA_A_TREE_PARENT, 16 },
		{ INA_A_TREE_CHILD, 16 },
		{ INA_A_TREE_WORKERS, 4 } } },
	{ INA_CMD_TREE_GET, false, true, INA_A_TREE_JOB, {
		{ INA_A_TREE_JOB, 4 } } },
	{ INA_CMD_TREE_HOLD, true, false, INA_A_TREE_HOLD, {
		{ INA_A_TREE_JOB, 4 },
		{ INA_A_TREE_HOLD, 4 } } },
	{ INA_CMD_DEV_ADD, true, false, INA_A_DEV_IFINDEX, {
		{ INA_A_DEV_IFINDEX, 4 } } },
	{ INA_CMD_DEV_DEL, true, false, INA_A_DEV_IFINDEX, {
		{ INA_A_DEV_IFINDEX, 4 } } },
	{ INA_CMD_DEV_GET, false, true, INA_A_DEV_IFINDEX, {
		{ INA_A_DEV_IFINDEX, 4 } } },
	{ INA_CMD_STATS_GET, false, false, INA_A_STATS_JOB, {
		{ INA_A_STATS_JOB, 4 } } },
	{ INA_CMD_DEV_SET, true, false, INA_A_DEV_AUTO, {
		{ INA_A_DEV_IFINDEX, 4 },
		{ INA_A_DEV_RATE, 8, NLA_U64 },
		{ INA_A_DEV_AUTO, 0, NLA_FLAG } } },
	{ INA_CMD_PATH_ADD, true, false, INA_A_PATH_WEIGHT, {
		{ INA_A_PATH_JOB, 4 },
		{ INA_A_PATH_PEER, 16 },
		{ INA_A_PATH_IFINDEX, 4 },
		{ INA_A_PATH_SRC, 16 },
		{ INA_A_PATH_DST, 16 },
		{ INA_A_PATH_SPORT, 2 },
		{ INA_A_PATH_WEIGHT, 4 } } },
	{ INA_CMD_PATH_DEL, true, false, INA_A_PATH_ID, {
		{ INA_A_PATH_JOB, 4 },
		{ INA_A_PATH_PEER, 16 },
		{ INA_A_PATH_ID, 4 } } },
	{ INA_CMD_PATH_SET, true, false, INA_A_PATH_LOSS_LIMIT, {
		{ INA_A_PATH_JOB, 4 },
		{ INA_A_PATH_PEER, 16 },
		{ INA_A_PATH_ID, 4 },
		{ INA_A_PATH_WEIGHT, 4 },
		{ INA_A_PATH_CHUNK, 4 },
		{ INA_A_PATH_TIMEOUT, 4 },
		{ INA_A_PATH_LOSS_LIMIT, 4 } } },
	{ INA_CMD_PATH_GET, false, true, INA_A_PATH_ID, {
		{ INA_A_PATH_JOB, 4 },
		{ INA_A_PATH_PEER, 16 },
		{ INA_A_PATH_ID, 4 } } },
};

static const struct genl_ops *netlink_test_find(struct kunit *test, u8 cmd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ina_nl_ops); i++)
		if (ina_nl_ops[i].cmd == cmd)
			return &ina_nl_ops[i];
	KUNIT_FAIL(test, "command %u has no operation", cmd);
	kunit_skip(test, "nothing to compare");
	return NULL;
}

/* Is a request with this one attribute taken? */
static int netlink_test_validate(struct kunit *test, const struct genl_ops *op,
				 u16 type, u16 size, u32 value)
{
	u8 payload[32] = {};
	struct sk_buff *skb;
	int err;

	memcpy(payload, &value, sizeof(value));
	skb = alloc_skb(128, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	err = nla_put(skb, type, size, payload);
	if (!err)
		err = __nla_validate((struct nlattr *)skb->data, skb->len,
				     op->maxattr, op->policy,
				     NL_VALIDATE_STRICT, NULL);
	kfree_skb(skb);
	return err;
}

/* Run @check on every attribute of every request. */
static void netlink_test_each(struct kunit *test,
			      void (*check)(struct kunit *test,
					    const struct genl_ops *op,
					    const struct netlink_test_attr *attr))
{
	const struct netlink_test_op *want;
	const struct genl_ops *op;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(netlink_test_ops); i++) {
		want = &netlink_test_ops[i];
		op = netlink_test_find(test, want->cmd);
		for (j = 0; j < ARRAY_SIZE(want->attrs); j++)
			if (want->attrs[j].type)
				check(test, op, &want->attrs[j]);
	}
}

static void ops__complete(struct kunit *test)
{
	const struct netlink_test_op *want;
	const struct genl_ops *op;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(ina_nl_ops),
			ARRAY_SIZE(netlink_test_ops));
	for (i = 0; i < ARRAY_SIZE(netlink_test_ops); i++) {
		want = &netlink_test_ops[i];
		op = netlink_test_find(test, want->cmd);
		KUNIT_EXPECT_EQ(test, op->maxattr, want->maxattr);
		KUNIT_EXPECT_NOT_NULL(test, op->doit);
		KUNIT_EXPECT_EQ(test, !!op->dumpit, want->dump);
	}
}

/* Who changes anything needs CAP_NET_ADMIN where the namespace belongs. */
static void ops__permission(struct kunit *test)
{
	const struct netlink_test_op *want;
	const struct genl_ops *op;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(netlink_test_ops); i++) {
		want = &netlink_test_ops[i];
		op = netlink_test_find(test, want->cmd);
		KUNIT_EXPECT_EQ(test, op->flags,
				want->admin ? GENL_UNS_ADMIN_PERM : 0);
	}
}

/* No request is excused from strict validation. */
static void ops__strict(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ina_nl_ops); i++)
		KUNIT_EXPECT_EQ(test, ina_nl_ops[i].validate, 0);
}

static void netlink_test_type(struct kunit *test, const struct genl_ops *op,
			      const struct netlink_test_attr *attr)
{
	const struct nla_policy *policy = &op->policy[attr->type];

	KUNIT_EXPECT_EQ_MSG(test, policy->type, attr->kind ?:
			    attr->size == 16 ? NLA_BINARY :
			    attr->size == 4 ? NLA_U32 : NLA_U16,
			    "command %u attribute %u", op->cmd, attr->type);
}

static void policy__types(struct kunit *test)
{
	netlink_test_each(test, netlink_test_type);
}

static void netlink_test_size(struct kunit *test, const struct genl_ops *op,
			      const struct netlink_test_attr *attr)
{
	u16 size;
	int err;

	for (size = 0; size <= 20; size++) {
		err = netlink_test_validate(test, op, attr->type, size, 0);
		if (size == attr->size)
			KUNIT_EXPECT_EQ(test, err, 0);
		else
			KUNIT_EXPECT_NE_MSG(test, err, 0,
					    "command %u attribute %u size %u",
					    op->cmd, attr->type, size);
	}
}

static void policy__sizes(struct kunit *test)
{
	netlink_test_each(test, netlink_test_size);
}

static void netlink_test_range(struct kunit *test, const struct genl_ops *op,
			       const struct netlink_test_attr *attr)
{
	static const u32 values[] = { 0, 4, S32_MAX, BIT(31), U32_MAX };
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		err = netlink_test_validate(test, op, attr->type, attr->size,
					    values[i]);
		KUNIT_EXPECT_EQ_MSG(test, err, 0,
				    "command %u attribute %u value %u",
				    op->cmd, attr->type, values[i]);
	}
}

/* No policy has a range: its text would not say what to do. */
static void policy__ranges(struct kunit *test)
{
	netlink_test_each(test, netlink_test_range);
}

/* Attributes of replies, and those nobody knows, are not for requests. */
static void policy__unknown(struct kunit *test)
{
	const struct genl_ops *op;
	unsigned int i;
	u16 type;

	for (i = 0; i < ARRAY_SIZE(ina_nl_ops); i++) {
		op = &ina_nl_ops[i];
		KUNIT_EXPECT_EQ(test, netlink_test_validate(test, op, 0, 4, 0),
				-EINVAL);
		for (type = op->maxattr + 1; type < 32; type++)
			KUNIT_EXPECT_EQ(test, -EINVAL,
					netlink_test_validate(test, op, type, 4,
							      0));
	}
}

/* Children come as often as there are, everything is parsed into its place. */
static void policy__tree_set(struct kunit *test)
{
	const struct genl_ops *op = netlink_test_find(test, INA_CMD_TREE_SET);
	struct in6_addr child[] = { ina_test_addr(1), ina_test_addr(2) };
	struct nlattr *attrs[INA_A_TREE_WORKERS + 1];
	struct in6_addr last = {};
	struct sk_buff *skb;
	u32 job = 0;
	int err;

	skb = alloc_skb(128, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	err = nla_put_u32(skb, INA_A_TREE_JOB, 7) ?:
	      nla_put_in6_addr(skb, INA_A_TREE_CHILD, &child[0]) ?:
	      nla_put_in6_addr(skb, INA_A_TREE_CHILD, &child[1]) ?:
	      __nla_parse(attrs, op->maxattr, (struct nlattr *)skb->data,
			  skb->len, op->policy, NL_VALIDATE_STRICT, NULL);
	if (!err) {
		job = nla_get_u32(attrs[INA_A_TREE_JOB]);
		last = nla_get_in6_addr(attrs[INA_A_TREE_CHILD]);
	}
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, job, 7);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&last, &child[1]));
}

/* How a request ends that has one attribute: @attr is blamed if @text is given. */
static struct netlink_ext_ack netlink_test_end(struct kunit *test, bool text,
					       int attr, int err)
{
	static struct nlattr id;
	struct nlattr *attrs[INA_A_JOB_MAX + 1] = { [INA_A_JOB_ID] = &id };
	struct netlink_ext_ack extack = {};
	struct genl_info info = { .attrs = attrs, .extack = &extack };

	if (text)
		NL_SET_ERR_MSG(&extack, "reason");
	KUNIT_EXPECT_EQ(test, ina_nl_end(&info, attr, err), err);
	if (extack.bad_attr) {
		KUNIT_EXPECT_PTR_EQ(test, extack.bad_attr,
				    (const struct nlattr *)&id);
	}
	return extack;
}

static void end__done(struct kunit *test)
{
	struct netlink_ext_ack extack =
		netlink_test_end(test, false, INA_A_JOB_ID, 0);

	KUNIT_EXPECT_NULL(test, extack._msg);
	KUNIT_EXPECT_NULL(test, extack.bad_attr);
}

/* Nobody gave a reason: there is no memory, and no attribute to blame. */
static void end__no_memory(struct kunit *test)
{
	static const int errs[] = { -ENOMEM, -ENOBUFS, -ENFILE };
	struct netlink_ext_ack extack;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errs); i++) {
		KUNIT_EXPECT_TRUE(test, ina_nl_nomem(errs[i]));
		extack = netlink_test_end(test, false, INA_A_JOB_ID, errs[i]);
		KUNIT_ASSERT_NOT_NULL(test, extack._msg);
		KUNIT_EXPECT_STREQ(test, extack._msg,
				   "Out of memory: free some or raise the limit of the memory cgroup, then try again");
		KUNIT_EXPECT_NULL(test, extack.bad_attr);
	}
	KUNIT_EXPECT_FALSE(test, ina_nl_nomem(0));
	KUNIT_EXPECT_FALSE(test, ina_nl_nomem(-EADDRINUSE));
}

/* Nobody gave a reason, and it is not memory: that is said. */
static void end__unknown(struct kunit *test)
{
	struct netlink_ext_ack extack =
		netlink_test_end(test, false, INA_A_JOB_ID, -EPERM);

	KUNIT_ASSERT_NOT_NULL(test, extack._msg);
	KUNIT_EXPECT_STREQ(test, extack._msg,
			   "The kernel refuses it, and says no more than the error number");
	KUNIT_EXPECT_NULL(test, extack.bad_attr);
}

static void end__blame(struct kunit *test)
{
	struct netlink_ext_ack extack;

	extack = netlink_test_end(test, true, INA_A_JOB_ID, -EEXIST);
	KUNIT_EXPECT_STREQ(test, extack._msg, "reason");
	KUNIT_EXPECT_NOT_NULL(test, extack.bad_attr);
	KUNIT_EXPECT_EQ(test, extack.miss_type, 0);
	extack = netlink_test_end(test, true, INA_A_JOB_CAPACITY, -ERANGE);
	KUNIT_EXPECT_NULL(test, extack.bad_attr);
	KUNIT_EXPECT_EQ(test, extack.miss_type, INA_A_JOB_CAPACITY);
	extack = netlink_test_end(test, true, 0, -ENOENT);
	KUNIT_EXPECT_STREQ(test, extack._msg, "reason");
	KUNIT_EXPECT_NULL(test, extack.bad_attr);
	KUNIT_EXPECT_EQ(test, extack.miss_type, 0);
}

static struct kunit_case netlink_test_cases[] = {
	KUNIT_CASE(end__done),
	KUNIT_CASE(end__no_memory),
	KUNIT_CASE(end__unknown),
	KUNIT_CASE(end__blame),
	KUNIT_CASE(ops__complete),
	KUNIT_CASE(ops__permission),
	KUNIT_CASE(ops__strict),
	KUNIT_CASE(policy__types),
	KUNIT_CASE(policy__sizes),
	KUNIT_CASE(policy__ranges),
	KUNIT_CASE(policy__unknown),
	KUNIT_CASE(policy__tree_set),
	{}
};

static struct kunit_suite netlink_test_suite = {
	.name = "ina_netlink",
	.test_cases = netlink_test_cases,
};

kunit_test_suite(netlink_test_suite);
