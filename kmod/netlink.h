/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family.
 */
#ifndef _INA_NETLINK_H
#define _INA_NETLINK_H

#include <linux/errno.h>
#include <linux/types.h>

struct genl_info;
struct in6_addr;
struct ina_job;
struct ina_net;
struct netlink_callback;
struct nlattr;
struct sk_buff;

/* Writes one job or node into a dump. */
typedef int (*ina_nl_fill_t)(struct sk_buff *skb, u32 portid, u32 seq,
			     int flags, struct ina_net *inet,
			     struct ina_job *job);

/* Does an errno tell of lack of memory? Sockets and routes have words of their own. */
static inline bool ina_nl_nomem(int err)
{
	return err == -ENOMEM || err == -ENOBUFS || err == -ENFILE;
}

u32 ina_nl_u32(struct genl_info *info, int attr, u32 fallback);
struct ina_job *ina_nl_job(struct ina_net *inet, struct genl_info *info,
			   int attr);
int ina_nl_host(struct genl_info *info, const struct nlattr *attr,
		struct in6_addr *addr);
int ina_nl_end(struct genl_info *info, int attr, int err);
int ina_nl_reply(struct genl_info *info, struct sk_buff *skb, int err);
int ina_nl_dump(struct sk_buff *skb, struct netlink_callback *cb,
		ina_nl_fill_t fill);
int ina_nl_tree_get_start(struct netlink_callback *cb);
int ina_netlink_init(void);
void ina_netlink_exit(void);

#endif /* _INA_NETLINK_H */
