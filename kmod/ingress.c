// SPDX-License-Identifier: GPL-2.0
/*
 * Entry 1: a netfilter ingress hook takes packets for our nodes before the IP
 * stack does. It runs before every check of the stack, so it takes only what
 * needs none of them: for this host, plain headers, whole, verified. All else
 * goes on and reaches us through a socket.
 * The hook runs in softirq, under RCU; devices come and go in process context, under RTNL.
 */
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_netdev.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "encap.h"
#include "event.h"
#include "ingress.h"
#include "job.h"
#include "net.h"
#include "netlink.h"
#include "node.h"
#include "probe.h"
#include "rx.h"
#include "stats.h"
#include "wire.h"

/* Plain, whole and for UDP? Return: bytes of the IP packet, 0 to leave it. */
static unsigned int ina_ingress_ip4(struct sk_buff *skb,
				    struct ina_rx_info *info)
{
	const struct iphdr *iph;
	unsigned int len;

	if (!pskb_may_pull(skb, sizeof(*iph) + sizeof(struct udphdr)))
		return 0;
	iph = ip_hdr(skb);
	len = ntohs(iph->tot_len);
	if (iph->version != 4 || iph->ihl != 5 || ip_is_fragment(iph) ||
	    iph->protocol != IPPROTO_UDP || len > skb->len ||
	    len < sizeof(*iph) + sizeof(struct udphdr) ||
	    ip_fast_csum((const u8 *)iph, 5))
		return 0;
	ipv6_addr_set_v4mapped(iph->saddr, &info->saddr);
	ipv6_addr_set_v4mapped(iph->daddr, &info->daddr);
	info->offset = sizeof(*iph);
	info->marked = INET_ECN_is_ce(iph->tos);
	return len;
}

static unsigned int ina_ingress_ip6(struct sk_buff *skb,
				    struct ina_rx_info *info)
{
	const struct ipv6hdr *ip6;
	unsigned int len;

	if (!pskb_may_pull(skb, sizeof(*ip6) + sizeof(struct udphdr)))
		return 0;
	ip6 = ipv6_hdr(skb);
	len = sizeof(*ip6) + ntohs(ip6->payload_len);
	if (ip6->version != 6 || ip6->nexthdr != IPPROTO_UDP ||
	    len > skb->len || len < sizeof(*ip6) + sizeof(struct udphdr))
		return 0;
	info->saddr = ip6->saddr;
	info->daddr = ip6->daddr;
	info->offset = sizeof(*ip6);
	info->marked = INET_ECN_is_ce(ipv6_get_dsfield(ip6));
	return len;
}

/* Is the packet for a node of ours? Context: under RCU. */
static bool ina_ingress_ours(struct ina_net *inet, const struct sk_buff *skb,
			     const struct ina_rx_info *info)
{
	unsigned int offset = info->offset + sizeof(struct udphdr) +
			      offsetof(struct ina_hdr, job);
	const struct ina_node *node;
	const struct ina_job *job;
	const __be32 *id;
	__be32 buffer;

	id = skb_header_pointer(skb, offset, sizeof(buffer), &buffer);
	if (!id)
		return false;
	job = ina_job_find(inet, be32_to_cpu(*id));
	node = job ? rcu_dereference(job->node) : NULL;
	return node && ina_node_is_here(node, &info->daddr);
}

/* UDP for us, with a right checksum? @len: bytes of the IP packet. */
static bool ina_ingress_udp(struct ina_net *inet, struct sk_buff *skb,
			    unsigned int len, struct ina_rx_info *info)
{
	const struct udphdr *uh = (void *)(skb->data + info->offset);
	u8 family = info->offset == sizeof(struct iphdr) ? AF_INET : AF_INET6;

	if (!ina_encap_has_port(inet, uh->dest) || !uh->check ||
	    !ina_ingress_ours(inet, skb, info))
		return false;
	/* A super-packet's UDP header speaks of the whole. */
	if (ntohs(uh->len) != len - info->offset)
		return false;
	if (pskb_trim_rcsum(skb, len))
		return false;
	return !nf_checksum(skb, NF_INET_PRE_ROUTING, info->offset,
			    IPPROTO_UDP, family);
}

/* Context: softirq, under RCU. */
static unsigned int ina_ingress_hook(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	struct ina_net *inet = ina_net(state->net);
	struct ina_rx_info info = {};
	unsigned int len = 0;

	if (skb->pkt_type != PACKET_HOST || skb_vlan_tag_present(skb) ||
	    skb_shared(skb))
		return NF_ACCEPT;
	if (skb->protocol == htons(ETH_P_IP))
		len = ina_ingress_ip4(skb, &info);
	else if (skb->protocol == htons(ETH_P_IPV6))
		len = ina_ingress_ip6(skb, &info);
	if (!len || !ina_ingress_udp(inet, skb, len, &info))
		return NF_ACCEPT;
	info.offset += sizeof(struct udphdr);
	ina_stats_inc(inet->stats, INA_STAT_RX_HOOK);
	ina_rx(inet, skb, &info);
	return NF_STOLEN;
}

/**
 * ina_ingress_find() - a device with our hook
 * @inet: the namespace
 * @ifindex: the device
 *
 * Context: process, RTNL is held.
 * Return: its entry, or NULL.
 */
struct ina_dev *ina_ingress_find(struct ina_net *inet, u32 ifindex)
{
	struct ina_dev *entry;

	ASSERT_RTNL();
	list_for_each_entry(entry, &inet->devs, list)
		if (entry->dev->ifindex == ifindex)
			return entry;
	return NULL;
}

/*
 * Bytes per second of a link, 0 if it does not say. Context: RTNL is held; in a
 * notifier the device's own lock may be, too.
 */
static u64 ina_ingress_speed(struct net_device *dev, bool notified)
{
	struct ethtool_link_ksettings settings;
	int err;

	err = notified ? netif_get_link_ksettings(dev, &settings) :
			 __ethtool_get_link_ksettings(dev, &settings);
	if (err || settings.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return ina_rate_speed(settings.base.speed);
}

/* What may be used of a device. */
static u64 ina_ingress_usable(const struct ina_dev *entry)
{
	return ina_rate_min(READ_ONCE(entry->rate), READ_ONCE(entry->speed));
}

/**
 * ina_ingress_rate() - what may be used of a device, each way
 * @inet: the namespace
 * @ifindex: the device
 *
 * Context: any, under RCU.
 * Return: bytes per second, 0 if that is unknown, or the device not added.
 */
u64 ina_ingress_rate(struct ina_net *inet, u32 ifindex)
{
	const struct ina_dev *entry;

	list_for_each_entry_rcu(entry, &inet->devs, list)
		if (entry->dev->ifindex == ifindex)
			return ina_ingress_usable(entry);
	return 0;
}

/* The rate of a device has changed: all nodes look at theirs. */
static void ina_ingress_changed(struct ina_net *inet)
{
	struct ina_node *node;
	struct ina_job *job;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&inet->jobs, id, job) {
		node = rcu_dereference(job->node);
		if (node)
			ina_node_tick_in(node, 0);
	}
	rcu_read_unlock();
}

/**
 * ina_ingress_set() - say what may be used of a device
 * @inet: the namespace
 * @ifindex: the device
 * @rate: bytes per second, 0: all of its link
 * @extack: says what is wrong
 *
 * Context: process, RTNL is held.
 * Return: 0 or a negative errno, and nothing has changed.
 */
int ina_ingress_set(struct ina_net *inet, u32 ifindex, u64 rate,
		    struct netlink_ext_ack *extack)
{
	struct ina_dev *entry = ina_ingress_find(inet, ifindex);

	if (!__dev_get_by_index(inet->net, ifindex)) {
		NL_SET_ERR_MSG(extack, "No such device: see 'ip link'");
		return -ENODEV;
	}
	if (!entry) {
		NL_SET_ERR_MSG(extack,
			       "The device is not added: see 'inaconf dev show'");
		return -ENOENT;
	}
	if ((entry->speed && rate > entry->speed) || rate > INA_RATE_MAX) {
		NL_SET_ERR_MSG(extack,
			       "The link is slower than that: give at most its speed, see 'inaconf dev show'");
		return -ERANGE;
	}
	WRITE_ONCE(entry->rate, rate);
	ina_ingress_changed(inet);
	return 0;
}

/**
 * ina_ingress_add() - hook a device
 * @inet: the namespace
 * @ifindex: the device
 * @extack: says what is wrong
 *
 * Context: process, RTNL is held.
 * Return: 0 or a negative errno.
 */
int ina_ingress_add(struct ina_net *inet, u32 ifindex,
		    struct netlink_ext_ack *extack)
{
	struct net_device *dev = __dev_get_by_index(inet->net, ifindex);
	struct ina_dev *entry;
	int err;

	if (!dev) {
		NL_SET_ERR_MSG(extack, "No such device: see 'ip link'");
		return -ENODEV;
	}
	if (ina_ingress_find(inet, ifindex)) {
		NL_SET_ERR_MSG(extack,
			       "The device is added already: see 'inaconf dev show'");
		return -EEXIST;
	}
	entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);
	if (!entry)
		return -ENOMEM;
	entry->dev = dev;
	entry->ops = (struct nf_hook_ops){
		.hook = ina_ingress_hook,
		.dev = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = 0,
	};
	err = nf_register_net_hook(inet->net, &entry->ops);
	if (err) {
		if (!ina_nl_nomem(err))
			NL_SET_ERR_MSG(extack,
				       "The device takes no ingress hook: remove other hooks, or use a kernel with NETFILTER_INGRESS");
		kfree(entry);
		return err;
	}
	entry->link = netif_running(dev) && netif_carrier_ok(dev);
	entry->speed = ina_ingress_speed(dev, false);
	list_add_tail_rcu(&entry->list, &inet->devs);
	ina_event_send(inet->net, &(struct ina_event){
			.type = INA_EVENT_TYPE_DEV_ADDED, .ifindex = ifindex },
		       "device %s added", dev->name);
	return 0;
}

/* Unhook a device. Context: process, RTNL is held. */
static void ina_ingress_remove(struct ina_net *inet, struct ina_dev *entry)
{
	nf_unregister_net_hook(inet->net, &entry->ops);
	list_del_rcu(&entry->list);
	ina_event_send(inet->net, &(struct ina_event){
			.type = INA_EVENT_TYPE_DEV_DELETED,
			.ifindex = entry->dev->ifindex },
		       "device %s removed", entry->dev->name);
	/*
	 * The hook's array is freed after readers, and our ops before them. Who
	 * asks for the rate is a reader, too.
	 */
	synchronize_net();
	kfree(entry);
}

/**
 * ina_ingress_del() - unhook a device
 * @inet: the namespace
 * @ifindex: the device
 * @extack: says what is wrong
 *
 * Context: process, RTNL is held.
 * Return: 0 or -ENOENT.
 */
int ina_ingress_del(struct ina_net *inet, u32 ifindex,
		    struct netlink_ext_ack *extack)
{
	struct ina_dev *entry = ina_ingress_find(inet, ifindex);

	if (!entry) {
		NL_SET_ERR_MSG(extack,
			       "The device is not added: see 'inaconf dev show'");
		return -ENOENT;
	}
	ina_ingress_remove(inet, entry);
	return 0;
}

/**
 * ina_ingress_flush() - unhook all devices of a namespace
 * @inet: the namespace
 *
 * Context: process, RTNL is held.
 */
void ina_ingress_flush(struct ina_net *inet)
{
	struct ina_dev *entry, *next;

	list_for_each_entry_safe(entry, next, &inet->devs, list)
		ina_ingress_remove(inet, entry);
}

/* A link may have another speed than before. */
static void ina_ingress_renew(struct ina_net *inet, struct ina_dev *entry)
{
	u64 speed = ina_ingress_speed(entry->dev, true);

	if (speed == entry->speed)
		return;
	WRITE_ONCE(entry->speed, speed);
	ina_ingress_changed(inet);
}

/* Tell the operator when the link of a device goes or comes. */
static void ina_ingress_link(struct ina_net *inet, struct ina_dev *entry)
{
	bool link = netif_running(entry->dev) && netif_carrier_ok(entry->dev);

	if (link == entry->link)
		return;
	entry->link = link;
	ina_event_send(inet->net, &(struct ina_event){
			.type = link ? INA_EVENT_TYPE_LINK_UP :
				       INA_EVENT_TYPE_LINK_DOWN,
			.ifindex = entry->dev->ifindex },
		       "device %s has %s link", entry->dev->name,
		       link ? "its" : "no");
}

/*
 * The link of a device changes, or it goes: unhook it.
 * Context: process, RTNL is held.
 */
static int ina_ingress_notify(struct notifier_block *block, unsigned long event,
			      void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct ina_net *inet = ina_net(dev_net(dev));
	struct ina_dev *entry;

	switch (event) {
	case NETDEV_UNREGISTER:
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		break;
	default:
		return NOTIFY_DONE;
	}
	ina_probe_link(dev, event != NETDEV_UNREGISTER && netif_running(dev) &&
		       netif_carrier_ok(dev));
	entry = ina_ingress_find(inet, dev->ifindex);
	if (!entry)
		return NOTIFY_DONE;
	if (event == NETDEV_UNREGISTER)
		ina_ingress_remove(inet, entry);
	else
		ina_ingress_link(inet, entry);
	if (event == NETDEV_CHANGE || event == NETDEV_UP)
		ina_ingress_renew(inet, entry);
	return NOTIFY_DONE;
}

static struct notifier_block ina_ingress_notifier = {
	.notifier_call = ina_ingress_notify,
};

/**
 * ina_ingress_init() - watch devices and their links going
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int ina_ingress_init(void)
{
	return register_netdevice_notifier(&ina_ingress_notifier);
}

/**
 * ina_ingress_exit() - watch no more
 *
 * Context: process.
 */
void ina_ingress_exit(void)
{
	unregister_netdevice_notifier(&ina_ingress_notifier);
}
