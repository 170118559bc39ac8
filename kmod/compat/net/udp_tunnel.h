/* SPDX-License-Identifier: GPL-2.0 */
/* Newer kernels name a tunnel by its struct sock, older ones by its socket. */
#ifndef _INA_COMPAT_NET_UDP_TUNNEL_H
#define _INA_COMPAT_NET_UDP_TUNNEL_H

#include_next <net/udp_tunnel.h>

#define INA_UDP_TUNNEL_BY_SOCK						\
	__builtin_types_compatible_p(typeof(udp_tunnel_sock_release),	\
				     void (struct sock *))

static inline void ina_udp_tunnel_setup(struct net *net, struct socket *sock,
					struct udp_tunnel_sock_cfg *config)
{
	setup_udp_tunnel_sock(net,
			      __builtin_choose_expr(INA_UDP_TUNNEL_BY_SOCK,
						    sock->sk, sock), config);
}

static inline void ina_udp_tunnel_release(struct socket *sock)
{
	udp_tunnel_sock_release(__builtin_choose_expr(INA_UDP_TUNNEL_BY_SOCK,
						      sock->sk, sock));
}

#endif /* _INA_COMPAT_NET_UDP_TUNNEL_H */
