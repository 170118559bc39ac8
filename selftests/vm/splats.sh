# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What in a kernel log fails a test, whatever the test itself says. Sourced.
# shellcheck disable=SC2034 # used by the scripts that source this file

INA_SPLATS='WARNING:|\bBUG:|KASAN|KCSAN|UBSAN|Oops|general protection|possible .*(deadlock|recursive|circular)'
INA_SPLATS+='|inconsistent lock state|suspicious RCU|scheduling while atomic|sleeping function called'
INA_SPLATS+='|unreferenced object|refcount_t|ODEBUG|hung_task|blocked for more than|soft lockup|rcu.*(stall|starved)'
INA_SPLATS+='|unregister_netdevice: waiting|leaked|Kernel panic|Call Trace|Bad page|list_(add|del) corruption'
