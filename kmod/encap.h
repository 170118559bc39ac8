/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Entries 2 and 3 of the receive path: UDP sockets and IP protocol 253.
 */
#ifndef _INA_ENCAP_H
#define _INA_ENCAP_H

#include <linux/types.h>

struct ina_job;
struct ina_net;
struct netlink_ext_ack;

int ina_encap_init(void);
void ina_encap_exit(void);
int ina_encap_get(struct ina_job *job, struct netlink_ext_ack *extack);
void ina_encap_put(struct ina_job *job);
bool ina_encap_has_port(const struct ina_net *inet, __be16 port);

#endif /* _INA_ENCAP_H */
