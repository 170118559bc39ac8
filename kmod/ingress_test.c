// SPDX-License-Identifier: GPL-2.0
/*
 * The ingress hook: what no request from outside can bring about on a kernel
 * for tests, a device with as many hooks as there can be.
 */
#include "ingress.h"
#include "test.h"

#define INGRESS_TEST_HOOKS	2048	/* more than netfilter takes */

static unsigned int ingress_test_hook(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	return NF_ACCEPT;
}

static void add__full(struct kunit *test)
{
	struct net_device *dev = init_net.loopback_dev;
	struct ina_net *inet = ina_test_inet_create(test);
	struct netlink_ext_ack extack = {};
	struct nf_hook_ops *ops;
	unsigned int n;
	int full = 0, err = 0;

	ops = kunit_kcalloc(test, INGRESS_TEST_HOOKS, sizeof(*ops), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ops);
	for (n = 0; n < INGRESS_TEST_HOOKS; n++) {
		ops[n] = (struct nf_hook_ops){
			.hook = ingress_test_hook, .dev = dev,
			.pf = NFPROTO_NETDEV, .hooknum = NF_NETDEV_INGRESS,
		};
		full = nf_register_net_hook(&init_net, &ops[n]);
		if (full)
			break;
	}
	if (full) {
		rtnl_lock();
		err = ina_ingress_add(inet, dev->ifindex, &extack);
		rtnl_unlock();
	}
	while (n--)
		nf_unregister_net_hook(&init_net, &ops[n]);
	KUNIT_EXPECT_EQ(test, full, -E2BIG);
	KUNIT_EXPECT_EQ(test, err, -E2BIG);
	KUNIT_EXPECT_TRUE(test, list_empty(&inet->devs));
	KUNIT_ASSERT_NOT_NULL(test, extack._msg);
	KUNIT_EXPECT_STREQ(test, extack._msg,
			   "The device takes no ingress hook: remove other hooks, or use a kernel with NETFILTER_INGRESS");
}

static struct kunit_case ingress_test_cases[] = {
	KUNIT_CASE(add__full),
	{}
};

static struct kunit_suite ingress_test_suite = {
	.name = "ina_ingress",
	.test_cases = ingress_test_cases,
};

kunit_test_suite(ingress_test_suite);
