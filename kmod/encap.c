// SPDX-License-Identifier: GPL-2.0
/*
 * Entries 2 and 3: what the ingress hook leaves to the IP stack arrives at a
 * UDP socket, one per port and family of a namespace, or at the handler of
 * IP protocol 253.
 * Packets come in softirq, under RCU; ports come and go in process context.
 */
#include <linux/ip.h>
#include <linux/netlink.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/protocol.h>
#include <net/udp_tunnel.h>

#include "encap.h"
#include "job.h"
#include "net.h"
#include "netlink.h"
#include "rx.h"
#include "stats.h"
#include "wire.h"

/**
 * struct ina_port - a UDP port in use
 * @list: in ina_net.ports
 * @port: its number
 * @users: jobs that use it
 * @sock: IPv4 and IPv6
 * @rcu: frees after readers
 */
struct ina_port {
	struct list_head list;
	__be16 port;
	unsigned int users;
	struct socket *sock[2];
	struct rcu_head rcu;
};

/* Who sent it to whom, and what it met on its way; skb's network header is set. */
static void ina_encap_addresses(const struct sk_buff *skb,
				struct ina_rx_info *info)
{
	if (skb->protocol == htons(ETH_P_IP)) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &info->saddr);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &info->daddr);
		info->marked = INET_ECN_is_ce(ip_hdr(skb)->tos);
	} else {
		info->saddr = ipv6_hdr(skb)->saddr;
		info->daddr = ipv6_hdr(skb)->daddr;
		info->marked = INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb)));
	}
}

/*
 * Entry 2. Context: softirq, under RCU. The checksum has been verified, if
 * the sender computed one. Return: 0, the skb is consumed.
 */
static int ina_encap_udp_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct ina_net *inet = ina_net(sock_net(sk));
	struct ina_rx_info info = {
		.offset = sizeof(struct udphdr),
		.need_crc = !udp_hdr(skb)->check,
	};

	ina_encap_addresses(skb, &info);
	ina_stats_inc(inet->stats, INA_STAT_RX_UDP);
	ina_rx(inet, skb, &info);
	return 0;
}

/* Entry 3. Context: softirq, under RCU. Return: 0, the skb is consumed. */
static int ina_encap_ip_rcv(struct sk_buff *skb)
{
	struct ina_net *inet = ina_net(dev_net(skb->dev));
	struct ina_rx_info info = { .need_crc = true };

	ina_encap_addresses(skb, &info);
	ina_stats_inc(inet->stats, INA_STAT_RX_IP);
	ina_rx(inet, skb, &info);
	return 0;
}

static const struct net_protocol ina_encap_protocol4 = {
	.handler = ina_encap_ip_rcv,
};

static const struct inet6_protocol ina_encap_protocol6 = {
	.handler = ina_encap_ip_rcv,
	.flags = INET6_PROTO_FINAL,
};

/**
 * ina_encap_init() - register the IP protocol
 *
 * Context: process.
 * Return: 0, or a negative errno if another module has it.
 */
int ina_encap_init(void)
{
	int err;

	err = inet_add_protocol(&ina_encap_protocol4, INA_IPPROTO);
	if (err)
		return err;
	err = inet6_add_protocol(&ina_encap_protocol6, INA_IPPROTO);
	if (err)
		inet_del_protocol(&ina_encap_protocol4, INA_IPPROTO);
	return err;
}

/**
 * ina_encap_exit() - unregister the IP protocol; waits for receivers
 *
 * Context: process.
 */
void ina_encap_exit(void)
{
	inet6_del_protocol(&ina_encap_protocol6, INA_IPPROTO);
	inet_del_protocol(&ina_encap_protocol4, INA_IPPROTO);
}

static struct ina_port *ina_encap_find(const struct ina_net *inet, __be16 port)
{
	struct ina_port *p;

	list_for_each_entry_rcu(p, &inet->ports, list,
				lockdep_is_held(&inet->lock))
		if (p->port == port)
			return p;
	return NULL;
}

/**
 * ina_encap_has_port() - is a UDP port ours
 * @inet: the namespace
 * @port: the port
 *
 * Context: any, under RCU.
 * Return: whether a job of the namespace uses it.
 */
bool ina_encap_has_port(const struct ina_net *inet, __be16 port)
{
	return ina_encap_find(inet, port);
}

static int ina_encap_open(struct net *net, struct ina_port *port, int family,
			  struct socket **sock)
{
	struct udp_port_cfg config = {
		.family = family,
		.local_udp_port = port->port,
		.use_udp6_rx_checksums = true,
		.ipv6_v6only = true,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = port,
		.encap_type = 1,
		.encap_rcv = ina_encap_udp_rcv,
	};
	int err, on = 1;

	err = ina_net_errno(udp_sock_create(net, &config, sock));
	if (err)
		return err;
	ina_udp_tunnel_setup(net, *sock, &tunnel);
	/* Devices may join our packets, for the ingress hook as well. */
	err = (*sock)->ops->setsockopt(*sock, SOL_UDP, UDP_GRO,
				       KERNEL_SOCKPTR(&on), sizeof(on));
	if (err) {
		ina_udp_tunnel_release(*sock);
		*sock = NULL;
	}
	return err;
}

static struct ina_port *ina_encap_create(struct ina_net *inet, __be16 number)
{
	struct ina_port *port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	int err;

	if (!port)
		return ERR_PTR(-ENOMEM);
	port->port = number;
	err = ina_encap_open(inet->net, port, AF_INET, &port->sock[0]);
	if (err)
		goto free;
	/* IPv6 may be switched off. */
	err = ina_encap_open(inet->net, port, AF_INET6, &port->sock[1]);
	if (err && err != -EAFNOSUPPORT)
		goto release;
	list_add_rcu(&port->list, &inet->ports);
	return port;
release:
	ina_udp_tunnel_release(port->sock[0]);
free:
	kfree(port);
	return ERR_PTR(err);
}

/**
 * ina_encap_get() - open the port of a job, or use it too
 * @job: the job
 * @extack: says what is wrong
 *
 * Context: process, inet->lock is held.
 * Return: 0 or a negative errno.
 */
int ina_encap_get(struct ina_job *job, struct netlink_ext_ack *extack)
{
	struct ina_net *inet = job->inet;
	struct ina_port *port;

	if (job->config.encap != INA_ENCAP_UDP)
		return 0;
	port = ina_encap_find(inet, htons(job->config.port));
	if (!port)
		port = ina_encap_create(inet, htons(job->config.port));
	if (IS_ERR(port)) {
		if (!ina_nl_nomem(PTR_ERR(port)))
			NL_SET_ERR_MSG(extack,
				       "Cannot open the UDP port: is it in use? Choose another one");
		return PTR_ERR(port);
	}
	port->users++;
	return 0;
}

/**
 * ina_encap_put() - a job does not use its port any more
 * @job: the job
 *
 * Context: process, inet->lock is held.
 */
void ina_encap_put(struct ina_job *job)
{
	struct ina_port *port;

	if (job->config.encap != INA_ENCAP_UDP)
		return;
	port = ina_encap_find(job->inet, htons(job->config.port));
	if (--port->users)
		return;
	list_del_rcu(&port->list);
	if (port->sock[1])
		ina_udp_tunnel_release(port->sock[1]);
	ina_udp_tunnel_release(port->sock[0]);
	kfree_rcu(port, rcu);
}
