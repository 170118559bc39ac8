/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/ina.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_INA_GEN_H
#define _LINUX_INA_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/ina.h>

extern const struct nla_policy ina_job_add_nl_policy[INA_A_JOB_EXPONENT + 1];

extern const struct nla_policy ina_job_del_nl_policy[INA_A_JOB_ID + 1];

extern const struct nla_policy ina_job_get_nl_policy[INA_A_JOB_ID + 1];

extern const struct nla_policy ina_tree_set_nl_policy[INA_A_TREE_WORKERS + 1];

extern const struct nla_policy ina_tree_get_nl_policy[INA_A_TREE_JOB + 1];

extern const struct nla_policy ina_dev_add_nl_policy[INA_A_DEV_IFINDEX + 1];

extern const struct nla_policy ina_dev_del_nl_policy[INA_A_DEV_IFINDEX + 1];

extern const struct nla_policy ina_dev_get_nl_policy[INA_A_DEV_IFINDEX + 1];

extern const struct nla_policy ina_stats_get_nl_policy[INA_A_STATS_JOB + 1];

extern const struct nla_policy ina_dev_set_nl_policy[INA_A_DEV_AUTO + 1];

extern const struct nla_policy ina_path_add_nl_policy[INA_A_PATH_WEIGHT + 1];

extern const struct nla_policy ina_path_del_nl_policy[INA_A_PATH_ID + 1];

extern const struct nla_policy ina_path_set_nl_policy[INA_A_PATH_LOSS_LIMIT + 1];

extern const struct nla_policy ina_path_get_nl_policy[INA_A_PATH_ID + 1];

extern const struct nla_policy ina_tree_hold_nl_policy[INA_A_TREE_HOLD + 1];

/* Ops table for ina */
extern const struct genl_ops ina_nl_ops[15];

int ina_nl_job_add_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_job_del_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_job_get_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_job_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int ina_nl_tree_set_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_tree_get_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_tree_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int ina_nl_dev_add_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_dev_del_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int ina_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_dev_set_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_path_add_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_path_del_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_path_set_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_path_get_doit(struct sk_buff *skb, struct genl_info *info);
int ina_nl_path_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int ina_nl_tree_hold_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	INA_NLGRP_EVENTS,
};

#endif /* _LINUX_INA_GEN_H */
