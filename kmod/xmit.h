/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One packet on its way: route, headers, and what is sent at once and alone.
 */
#ifndef _INA_XMIT_H
#define _INA_XMIT_H

#include "node.h"
#include "wire.h"

struct sk_buff;

static inline bool ina_xmit_is_udp(const struct ina_node *node)
{
	return node->job->config.encap == INA_ENCAP_UDP;
}

/* Bytes of a full fragment with its header, wide or narrow. */
static inline unsigned int ina_xmit_packet(const struct ina_node *node, bool wide)
{
	return sizeof(struct ina_hdr) +
	       node->job->config.fragment * ina_node_elem(node, wide);
}

unsigned int ina_xmit_size(const struct ina_node *node, bool wide);
unsigned int ina_xmit_headers(const struct ina_node *node);
u32 ina_xmit_dev(struct ina_node *node, struct ina_route *route);
void ina_xmit_devs(struct ina_node *node, struct ina_peer *peer, u32 *ifindex);
void ina_xmit_depart(struct ina_node *node, struct sk_buff *skb, u64 ns);
struct sk_buff *ina_xmit_alloc(struct ina_node *node, unsigned int len);
void ina_xmit_own(struct ina_node *node, struct sk_buff *skb, unsigned int segs);
unsigned int ina_xmit_segs(struct ina_node *node, struct ina_route *route);
int ina_xmit_send(struct ina_node *node, struct ina_route *route,
		  struct sk_buff *skb);
int ina_xmit_control_by(struct ina_node *node, struct ina_route *route,
			const struct ina_pkt *pkt, const void *body, u64 depart);
int ina_xmit_control(struct ina_node *node, struct ina_peer *peer,
		     const struct ina_pkt *pkt, const void *body);
void ina_xmit_stranger(struct ina_node *node, const struct in6_addr *to,
		       const struct ina_join_hdr *join);
int ina_xmit_source(struct net *net, const struct in6_addr *to, u32 ifindex,
		    struct in6_addr *source, unsigned int *mtu);

#endif /* _INA_XMIT_H */
