// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/ina.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/ina.h>

/* INA_CMD_JOB_ADD - do */
const struct nla_policy ina_job_add_nl_policy[INA_A_JOB_EXPONENT + 1] = {
	[INA_A_JOB_ID] = { .type = NLA_U32, },
	[INA_A_JOB_DTYPE] = { .type = NLA_U32, },
	[INA_A_JOB_FRAGMENT] = { .type = NLA_U32, },
	[INA_A_JOB_CAPACITY] = { .type = NLA_U32, },
	[INA_A_JOB_DEPTH] = { .type = NLA_U32, },
	[INA_A_JOB_GROUP] = { .type = NLA_U32, },
	[INA_A_JOB_DEADLINE] = { .type = NLA_U32, },
	[INA_A_JOB_ENCAP] = { .type = NLA_U32, },
	[INA_A_JOB_PORT] = { .type = NLA_U16, },
	[INA_A_JOB_ON_LOSS] = { .type = NLA_U32, },
	[INA_A_JOB_EXPONENT] = { .type = NLA_S32, },
};

/* INA_CMD_JOB_DEL - do */
const struct nla_policy ina_job_del_nl_policy[INA_A_JOB_ID + 1] = {
	[INA_A_JOB_ID] = { .type = NLA_U32, },
};

/* INA_CMD_JOB_GET - do */
const struct nla_policy ina_job_get_nl_policy[INA_A_JOB_ID + 1] = {
	[INA_A_JOB_ID] = { .type = NLA_U32, },
};

/* INA_CMD_TREE_SET - do */
const struct nla_policy ina_tree_set_nl_policy[INA_A_TREE_WORKERS + 1] = {
	[INA_A_TREE_JOB] = { .type = NLA_U32, },
	[INA_A_TREE_LOCAL] = NLA_POLICY_EXACT_LEN(16),
	[INA_A_TREE_PARENT] = NLA_POLICY_EXACT_LEN(16),
	[INA_A_TREE_CHILD] = NLA_POLICY_EXACT_LEN(16),
	[INA_A_TREE_WORKERS] = { .type = NLA_U32, },
};

/* INA_CMD_TREE_GET - do */
const struct nla_policy ina_tree_get_nl_policy[INA_A_TREE_JOB + 1] = {
	[INA_A_TREE_JOB] = { .type = NLA_U32, },
};

/* INA_CMD_DEV_ADD - do */
const struct nla_policy ina_dev_add_nl_policy[INA_A_DEV_IFINDEX + 1] = {
	[INA_A_DEV_IFINDEX] = { .type = NLA_U32, },
};

/* INA_CMD_DEV_DEL - do */
const struct nla_policy ina_dev_del_nl_policy[INA_A_DEV_IFINDEX + 1] = {
	[INA_A_DEV_IFINDEX] = { .type = NLA_U32, },
};

/* INA_CMD_DEV_GET - do */
const struct nla_policy ina_dev_get_nl_policy[INA_A_DEV_IFINDEX + 1] = {
	[INA_A_DEV_IFINDEX] = { .type = NLA_U32, },
};

/* INA_CMD_STATS_GET - do */
const struct nla_policy ina_stats_get_nl_policy[INA_A_STATS_JOB + 1] = {
	[INA_A_STATS_JOB] = { .type = NLA_U32, },
};

/* INA_CMD_DEV_SET - do */
const struct nla_policy ina_dev_set_nl_policy[INA_A_DEV_AUTO + 1] = {
	[INA_A_DEV_IFINDEX] = { .type = NLA_U32, },
	[INA_A_DEV_RATE] = { .type = NLA_U64, },
	[INA_A_DEV_AUTO] = { .type = NLA_FLAG, },
};

/* INA_CMD_PATH_ADD - do */
const struct nla_policy ina_path_add_nl_policy[INA_A_PATH_WEIGHT + 1] = {
	[INA_A_PATH_JOB] = { .type = NLA_U32, },
	[INA_A_PATH_PEER] = NLA_POLICY_EXACT_LEN(16),
	[INA_A_PATH_IFINDEX] = { .type = NLA_U32, },
	[INA_A_PATH_SRC] = NLA_POLICY_EXACT_LEN(16),
	[INA_A_PATH_DST] = NLA_POLICY_EXACT_LEN(16),
	[INA_A_PATH_SPORT] = { .type = NLA_U16, },
	[INA_A_PATH_WEIGHT] = { .type = NLA_U32, },
};

/* INA_CMD_PATH_DEL - do */
const struct nla_policy ina_path_del_nl_policy[INA_A_PATH_ID + 1] = {
	[INA_A_PATH_JOB] = { .type = NLA_U32, },
	[INA_A_PATH_PEER] = NLA_POLICY_EXACT_LEN(16),
	[INA_A_PATH_ID] = { .type = NLA_U32, },
};

/* INA_CMD_PATH_SET - do */
const struct nla_policy ina_path_set_nl_policy[INA_A_PATH_LOSS_LIMIT + 1] = {
	[INA_A_PATH_JOB] = { .type = NLA_U32, },
	[INA_A_PATH_PEER] = NLA_POLICY_EXACT_LEN(16),
	[INA_A_PATH_ID] = { .type = NLA_U32, },
	[INA_A_PATH_WEIGHT] = { .type = NLA_U32, },
	[INA_A_PATH_CHUNK] = { .type = NLA_U32, },
	[INA_A_PATH_TIMEOUT] = { .type = NLA_U32, },
	[INA_A_PATH_LOSS_LIMIT] = { .type = NLA_U32, },
};

/* INA_CMD_PATH_GET - do */
const struct nla_policy ina_path_get_nl_policy[INA_A_PATH_ID + 1] = {
	[INA_A_PATH_JOB] = { .type = NLA_U32, },
	[INA_A_PATH_PEER] = NLA_POLICY_EXACT_LEN(16),
	[INA_A_PATH_ID] = { .type = NLA_U32, },
};

/* INA_CMD_TREE_HOLD - do */
const struct nla_policy ina_tree_hold_nl_policy[INA_A_TREE_HOLD + 1] = {
	[INA_A_TREE_JOB] = { .type = NLA_U32, },
	[INA_A_TREE_HOLD] = { .type = NLA_U32, },
};

/* Ops table for ina */
const struct genl_ops ina_nl_ops[15] = {
	{
		.cmd		= INA_CMD_JOB_ADD,
		.doit		= ina_nl_job_add_doit,
		.policy		= ina_job_add_nl_policy,
		.maxattr	= INA_A_JOB_EXPONENT,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= INA_CMD_JOB_DEL,
		.doit		= ina_nl_job_del_doit,
		.policy		= ina_job_del_nl_policy,
		.maxattr	= INA_A_JOB_ID,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= INA_CMD_JOB_GET,
		.doit		= ina_nl_job_get_doit,
		.dumpit		= ina_nl_job_get_dumpit,
		.policy		= ina_job_get_nl_policy,
		.maxattr	= INA_A_JOB_ID,
	},
	{
		.cmd		= INA_CMD_TREE_SET,
		.doit		= ina_nl_tree_set_doit,
		.policy		= ina_tree_set_nl_policy,
		.maxattr	= INA_A_TREE_WORKERS,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= INA_CMD_TREE_GET,
		.doit		= ina_nl_tree_get_doit,
		.dumpit		= ina_nl_tree_get_dumpit,
		.policy		= ina_tree_get_nl_policy,
		.maxattr	= INA_A_TREE_JOB,
	},
	{
		.cmd		= INA_CMD_DEV_ADD,
		.doit		= ina_nl_dev_add_doit,
		.policy		= ina_dev_add_nl_policy,
		.maxattr	= INA_A_DEV_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= INA_CMD_DEV_DEL,
		.doit		= ina_nl_dev_del_doit,
		.policy		= ina_dev_del_nl_policy,
		.maxattr	= INA_A_DEV_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= INA_CMD_DEV_GET,
		.doit		= ina_nl_dev_get_doit,
		.dumpit		= ina_nl_dev_get_dumpit,
		.policy		= ina_dev_get_nl_policy,
		.maxattr	= INA_A_DEV_IFINDEX,
	},
	{
		.cmd		= INA_CMD_STATS_GET,
		.doit		= ina_nl_stats_get_doit,
		.policy		= ina_stats_get_nl_policy,
		.maxattr	= INA_A_STATS_JOB,
	},
	{
		.cmd		= INA_CMD_DEV_SET,
		.doit		= ina_nl_dev_set_doit,
		.policy		= ina_dev_set_nl_policy,
		.maxattr	= INA_A_DEV_AUTO,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= INA_CMD_PATH_ADD,
		.doit		= ina_nl_path_add_doit,
		.policy		= ina_path_add_nl_policy,
		.maxattr	= INA_A_PATH_WEIGHT,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= INA_CMD_PATH_DEL,
		.doit		= ina_nl_path_del_doit,
		.policy		= ina_path_del_nl_policy,
		.maxattr	= INA_A_PATH_ID,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= INA_CMD_PATH_SET,
		.doit		= ina_nl_path_set_doit,
		.policy		= ina_path_set_nl_policy,
		.maxattr	= INA_A_PATH_LOSS_LIMIT,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= INA_CMD_PATH_GET,
		.doit		= ina_nl_path_get_doit,
		.dumpit		= ina_nl_path_get_dumpit,
		.policy		= ina_path_get_nl_policy,
		.maxattr	= INA_A_PATH_ID,
	},
	{
		.cmd		= INA_CMD_TREE_HOLD,
		.doit		= ina_nl_tree_hold_doit,
		.policy		= ina_tree_hold_nl_policy,
		.maxattr	= INA_A_TREE_HOLD,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
};

