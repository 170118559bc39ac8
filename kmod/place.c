// SPDX-License-Identifier: GPL-2.0
/*
 * Can a node have a place in the tree: are the neighbours reached, and does a
 * fragment fit the paths to them. Context: process, inet->lock held.
 */
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "job.h"
#include "net.h"
#include "netlink.h"
#include "place.h"
#include "wire.h"
#include "xmit.h"

/**
 * ina_place_is_local() - is this an address of the namespace
 * @net: the namespace
 * @addr: the address
 *
 * Context: process.
 * Return: true if so.
 */
bool ina_place_is_local(struct net *net, const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return inet_addr_type(net, addr->s6_addr32[3]) == RTN_LOCAL;
	return ipv6_chk_addr(net, addr, NULL, 0);
}

/* Lower @mtu to that of the path to @peer, if there is one; @narrow is whose it is. */
static int ina_place_narrow(struct net *net, const struct ina_tree *tree,
			    const struct ina_tree_addr *peer, unsigned int *mtu,
			    const struct nlattr **narrow)
{
	struct in6_addr source = tree->local.addr;
	unsigned int path;
	int err;

	err = ina_xmit_source(net, &peer->addr, 0, &source, &path);
	if (!err && path < *mtu) {
		*mtu = path;
		*narrow = peer->attr;
	}
	return ina_nl_nomem(err) ? err : 0;
}

/*
 * Elements whose partial sums fit the paths to all neighbours: a power of two, so that paths and
 * headers that differ a little give the same everywhere. Return: 0 if nothing fits, or a negative
 * errno.
 */
static int ina_place_fragment(struct net *net, const struct ina_tree *tree,
			      unsigned int elem, const struct nlattr **narrow)
{
	const unsigned int headers = sizeof(struct ipv6hdr) +
				     sizeof(struct udphdr) +
				     sizeof(struct ina_hdr);
	unsigned int mtu = U16_MAX;
	int err = 0;
	u16 i;

	if (!ipv6_addr_any(&tree->parent.addr))
		err = ina_place_narrow(net, tree, &tree->parent, &mtu, narrow);
	for (i = 0; i < tree->nchildren && !err; i++)
		err = ina_place_narrow(net, tree, &tree->children[i], &mtu,
				       narrow);
	if (err || mtu < headers + elem)
		return err;
	return min_t(u32, INA_FRAGMENT_BYTES / elem,
		     rounddown_pow_of_two((mtu - headers) / elem));
}

/**
 * ina_place_settle() - how many elements the packets of a job have
 * @job: the job, of which the first tree decides that; inet->lock is held
 * @tree: it
 * @extack: says what is wrong
 *
 * Return: 0 or a negative errno.
 */
int ina_place_settle(struct ina_job *job, const struct ina_tree *tree,
		     struct netlink_ext_ack *extack)
{
	const struct nlattr *narrow = NULL;
	int fragment, err, attr;

	fragment = ina_place_fragment(job->inet->net, tree,
				      ina_sum_wide(job->config.dtype), &narrow);
	if (fragment < 0)
		return fragment;
	ina_job_settle(job, fragment);
	err = ina_job_check(&job->config, &attr, extack);
	if (!fragment) {
		NL_SET_ERR_MSG(extack,
			       "The path MTU has no room for an element: raise it");
		err = -EMSGSIZE;
	}
	if (err)
		NL_SET_BAD_ATTR(extack, narrow);
	return err;
}

/* Own address, and does a fragment fit the path to @peer, wide or narrow? */
static int ina_place_check_path(struct ina_node *node,
				const struct ina_tree_addr *peer, bool wide,
				unsigned int *mtu,
				struct netlink_ext_ack *extack)
{
	int err;

	if (ipv6_addr_v4mapped(&peer->addr) !=
	    ipv6_addr_v4mapped(&node->local) && !ipv6_addr_any(&node->local)) {
		NL_SET_ERR_MSG_ATTR(extack, peer->attr,
				    "IPv4 and IPv6 are mixed: use addresses of one family");
		return -EAFNOSUPPORT;
	}
	err = ina_xmit_source(node->net, &peer->addr, 0, &node->local, mtu);
	if (ina_nl_nomem(err))
		return err;
	if (err) {
		NL_SET_ERR_MSG_ATTR(extack, peer->attr,
				    "No route to a peer: check addresses and routes");
		return -EHOSTUNREACH;
	}
	if (ipv6_addr_equal(&node->local, &peer->addr)) {
		NL_SET_ERR_MSG_ATTR(extack, peer->attr,
				    "A node cannot be its own parent or child: give another address");
		return -EINVAL;
	}
	if (*mtu < ina_xmit_size(node, wide)) {
		NL_SET_ERR_MSG_ATTR(extack, peer->attr,
				    "A fragment does not fit the path MTU: add the job with a smaller fragment");
		return -EMSGSIZE;
	}
	return 0;
}

/**
 * ina_place_check() - can a node have these neighbours
 * @node: the node; its own address is found if it has none
 * @tree: the neighbours
 * @mtu: where the MTU of the path to the parent goes
 * @extack: says what is wrong
 *
 * Return: 0 or a negative errno.
 */
int ina_place_check(struct ina_node *node, const struct ina_tree *tree,
		    u16 *mtu, struct netlink_ext_ack *extack)
{
	unsigned int path = 0, ignored;
	int err = 0;
	u16 i;

	if (!ipv6_addr_any(&node->local) &&
	    !ina_place_is_local(node->net, &node->local)) {
		NL_SET_ERR_MSG_ATTR(extack, tree->local.attr,
				    "The local address is not configured here: add it to a device first");
		return -EADDRNOTAVAIL;
	}
	/* What a single worker gives stays as it is. */
	if (!node->root)
		err = ina_place_check_path(node, &tree->parent,
					   tree->nchildren + tree->nworkers > 1,
					   &path, extack);
	for (i = 0; i < tree->nchildren && !err; i++)
		err = ina_place_check_path(node, &tree->children[i], false,
					   &ignored, extack);
	*mtu = min_t(unsigned int, path, U16_MAX);
	return err;
}
