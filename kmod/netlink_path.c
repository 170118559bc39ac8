// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that concern paths. Context: process.
 */
#include <net/genetlink.h>

#include "netlink_gen.h"

static int ina_nl_path_none(struct genl_info *info)
{
	NL_SET_ERR_MSG(info->extack, "Paths are not supported");
	return -EOPNOTSUPP;
}

int ina_nl_path_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return ina_nl_path_none(info);
}

int ina_nl_path_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return ina_nl_path_none(info);
}

int ina_nl_path_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return ina_nl_path_none(info);
}

int ina_nl_path_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return ina_nl_path_none(info);
}

int ina_nl_path_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return skb->len;
}
