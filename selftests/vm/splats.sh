# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What in a kernel log fails a test, whatever the test itself says. Sourced.
# shellcheck disable=SC2034 # used by the scripts that source this file

INA_SPLATS='WARNING:|\bBUG[: ]|KASAN|KCSAN|UBSAN|Oops|Unable to handle kernel|general protection|possible .*(deadlock|recursive|circular)'
INA_SPLATS+='|inconsistent lock state|non-static key|locking correctness validator|suspicious RCU|scheduling while atomic|sleeping function called'
INA_SPLATS+='|unreferenced object|refcount_t|ODEBUG|hung_task|blocked for more than|soft lockup|rcu.*(stall|starved)'
INA_SPLATS+='|unregister_netdevice: waiting|leaked|Kernel panic|Call [Tt]race|Bad page|page allocation failure|list_(add|del) corruption'
