/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What nodes say to each other. Header fields are in network byte order, the
 * elements that follow a DATA or RESULT header are little-endian. A packet is
 * carried in UDP or directly in IP (protocol INA_IPPROTO).
 * Documentation/protocol.rst explains every field.
 */
#ifndef _UAPI_LINUX_INA_WIRE_H
#define _UAPI_LINUX_INA_WIRE_H

#include <linux/types.h>

#define INA_WIRE_VERSION	1
#define INA_IPPROTO		253	/* RFC 3692: for experimentation */
#define INA_UDP_PORT		4253	/* default, see INA_A_JOB_PORT */
#define INA_FRAGMENT_MAX	2048	/* elements in a packet */
#define INA_FRAGMENT_BYTES	8192	/* bytes of them */
#define INA_GROUP_MIN		8
#define INA_GROUP_MAX		2048	/* packets in a group */
#define INA_INDEX_NONE		0xffff	/* sender has no contributor index */
#define INA_RANKS_MAX		4096	/* ranks are below */
#define INA_PATHS_MAX		8	/* paths to a neighbour, numbers are below */

/**
 * enum ina_type - type of a packet
 * @INA_TYPE_JOIN: child to parent: my subtree as it is now
 * @INA_TYPE_WELCOME: parent to child: JOIN heard, accepted or refused
 * @INA_TYPE_EPOCH: parent to child: membership and window
 * @INA_TYPE_ACK: child to parent: epoch heard, rounds held by the subtree
 * @INA_TYPE_DATA: child to parent: sum of a fragment over the subtree
 * @INA_TYPE_RESULT: parent to child: sum of a fragment over all workers
 * @INA_TYPE_FAIL: either way: a round cannot complete
 * @INA_TYPE_DONE: either way: that is all I sent; what is missing?
 * @INA_TYPE_GROUP_OK: either way: a group of packets is complete
 * @INA_TYPE_GROUP_NACK: either way: packets of a group are missing
 * @INA_TYPE_LATE: child to parent: whom a round of my subtree waits for
 * @INA_TYPE_EXCLUDE: parent to child: go on without whom a round waits for
 * @INA_TYPE_PROBE: either way: does this path lead to you?
 * @INA_TYPE_ECHO: either way: it does
 * @INA_TYPE_READY: child to parent: what I can send, and whether I do
 * @INA_TYPE_GRANT: parent to child: what you may send
 * @INA_TYPE_MAX: number of types
 */
enum ina_type {
	INA_TYPE_JOIN = 1,
	INA_TYPE_WELCOME,
	INA_TYPE_EPOCH,
	INA_TYPE_ACK,
	INA_TYPE_DATA,
	INA_TYPE_RESULT,
	INA_TYPE_FAIL,
	INA_TYPE_DONE,
	INA_TYPE_GROUP_OK,
	INA_TYPE_GROUP_NACK,
	INA_TYPE_LATE,
	INA_TYPE_EXCLUDE,
	INA_TYPE_PROBE,
	INA_TYPE_ECHO,
	INA_TYPE_READY,
	INA_TYPE_GRANT,
	INA_TYPE_MAX,
};

#define INA_F_CRC		0x01	/* ina_hdr.crc is set */
#define INA_F_OVERFLOW		0x02	/* an element was saturated */
#define INA_F_INEXACT		0x04	/* an element lost bits below the unit */
#define INA_F_STICKY		(INA_F_OVERFLOW | INA_F_INEXACT)
#define INA_F_ALL		(INA_F_CRC | INA_F_STICKY)

/**
 * struct ina_hdr - start of every packet
 * @version: INA_WIRE_VERSION
 * @type: enum ina_type
 * @path: number of the sender's path; of whom it answers or asks: DONE, GROUP_OK,
 *	GROUP_NACK, ECHO
 * @flags: INA_F_*
 * @job: number of the job
 * @epoch: membership the packet belongs to; JOIN: the highest the subtree has
 *	seen
 * @round: low 32 bits of the round
 * @seq: DATA, RESULT: number of the packet on this hop; EPOCH: announcements
 *	sent before to this child; DONE: first number without an answer;
 *	GROUP_OK, GROUP_NACK: first number of the group; READY: counts what this
 *	child asks for; GRANT: counts what this child was granted
 * @frag: index of the fragment; GROUP_OK, GROUP_NACK: bit i: all packets of the
 *	group i + 1 before came
 * @length: elements in the whole round; GROUP_OK, GROUP_NACK, ECHO: packets that
 *	came with a mark of congestion since the last answer
 * @index: contributor index of the child on this hop
 * @count: elements in this packet; GROUP_OK, GROUP_NACK: packets it speaks of;
 *	JOIN, EPOCH: ranks that follow
 * @workers: workers whose contributions the elements hold; ACK: workers of the
 *	epoch, 0 if it is closed
 * @token: sum of those workers' tokens
 * @crc: crc32c over header (this field zero) and payload, if INA_F_CRC
 *
 * Fields a type has no use for are zero.
 */
struct ina_hdr {
	__u8	version;
	__u8	type;
	__u8	path;
	__u8	flags;
	__be32	job;
	__be32	epoch;
	__be32	round;
	__be32	seq;
	__be32	frag;
	__be32	length;
	__be16	index;
	__be16	count;
	__be32	workers;
	__be32	token;
	__be32	crc;
};

/**
 * struct ina_join_hdr - behind the header of a JOIN
 * @instance: random number of this incarnation of the child
 * @hash: configuration hash of the job
 * @floor: rounds below may have been used by the subtree
 * @generation: counts the changes of the child's subtree, and missed epochs
 * @workers: workers in the subtree, 0 if it is not complete
 * @token: sum of their tokens
 * @mtu: path MTU the child sees
 * @reason: enum ina_reason, the last change
 * @culprit: address of the node whose change it was, :: if there is none
 * @worker: number of the worker on that node, counted from 1, 0 if unknown
 * @last: last fragment seen of it, counted from 1, 0 if none
 * @height: levels below the child
 * @pad: 0
 *
 * Followed by the ranks of the subtree, see INA_RANKS_SIZE.
 */
struct ina_join_hdr {
	__be64	instance;
	__be64	hash;
	__be64	floor;
	__be32	generation;
	__be32	workers;
	__be32	token;
	__be16	mtu;
	__be16	reason;
	__u8	culprit[16];
	__be32	worker;
	__be32	last;
	__be16	height;
	__be16	pad[3];
};

/**
 * struct ina_welcome_hdr - behind the header of a WELCOME
 * @instance: from the JOIN
 * @generation: from the JOIN
 * @reason: enum ina_reason, 0 accepted, else why refused
 */
struct ina_welcome_hdr {
	__be64	instance;
	__be32	generation;
	__be32	reason;
};

/**
 * struct ina_epoch_hdr - behind the header of an EPOCH
 * @instance: of the child it is for, from its JOIN
 * @base: first round not acknowledged by all
 * @root: instance of the root; another one knows nothing of earlier rounds
 * @workers: workers in the epoch, 0 while it is closed
 * @token: sum of their tokens
 * @reason: enum ina_reason, why it is closed
 * @generation: of the child, from its JOIN
 * @final: bit i: round base + i is complete at the root and is not summed again
 * @failed: bit i: round base + i has failed
 * @left: bit i: it has because a worker left
 * @running: bit i: round base + i has waited for somebody for half its time
 * @culprit: address of the node because of which it is closed, :: if unknown
 * @worker: number of the worker on that node, counted from 1, 0 if unknown
 * @last: last fragment seen of it, counted from 1, 0 if none
 *
 * Followed by the ranks of the members, see INA_RANKS_SIZE.
 */
struct ina_epoch_hdr {
	__be64	instance;
	__be64	base;
	__be64	root;
	__be32	workers;
	__be32	token;
	__be32	reason;
	__be32	generation;
	__be32	final;
	__be32	failed;
	__be32	left;
	__be32	running;
	__u8	culprit[16];
	__be32	worker;
	__be32	last;
};

/**
 * struct ina_ack_hdr - behind the header of an ACK
 * @acked: the subtree holds (or gave up) every round below this one
 * @base: base the child knows; a parent with another one answers EPOCH
 */
struct ina_ack_hdr {
	__be64	acked;
	__be64	base;
};

/**
 * struct ina_done_hdr - behind the header of a DONE
 * @end: number behind the last packet it asks for; if within a group, the last of it
 */
struct ina_done_hdr {
	__be32	end;
};

/**
 * struct ina_probe_hdr - behind the header of a PROBE or an ECHO
 * @time: of the sender of the PROBE, for it alone
 * @number: of the PROBE on its path
 * @received: ECHO: packets of elements that came on the path, ever
 */
struct ina_probe_hdr {
	__be64	time;
	__be32	number;
	__be32	received;
};

/**
 * struct ina_fail_hdr - behind the header of a FAIL or a LATE
 * @reason: enum ina_reason
 * @detail: two numbers that belong to the reason
 * @culprit: address of the node to blame, :: if unknown
 * @worker: number of the worker on that node, counted from 1, 0 if unknown
 * @last: last fragment seen of it, counted from 1, 0 if none
 */
struct ina_fail_hdr {
	__be32	reason;
	__be32	detail[2];
	__u8	culprit[16];
	__be32	worker;
	__be32	last;
};

/**
 * struct ina_ready_hdr - behind the header of a READY
 * @send: bytes per second the child can send, 0 unlimited
 * @receive: bytes per second it can receive, 0 unlimited
 * @sending: 1 if it is sending, else 0
 * @pad: 0
 */
struct ina_ready_hdr {
	__be64	send;
	__be64	receive;
	__be32	sending;
	__be32	pad;
};

/**
 * struct ina_grant_hdr - behind the header of a GRANT
 * @rate: bytes per second the child may send, 0 unlimited
 * @ready: number of the last READY heard
 * @pad: 0
 */
struct ina_grant_hdr {
	__be64	rate;
	__be32	ready;
	__be32	pad;
};

/*
 * Behind the fields of JOIN and EPOCH: a bit for each of the first count ranks,
 * set if the worker with that rank is in: rank i is bit i % 8 of byte i / 8.
 */
#define INA_RANKS_SIZE(count)	(((count) + 7) / 8)

/*
 * Behind the header of a GROUP_NACK: a bit for each of the count packets of
 * the group, set if it is missing: number seq + i is bit i % 8 of byte i / 8.
 */
#define INA_NACK_SIZE(count)	(((count) + 7) / 8)

#endif /* _UAPI_LINUX_INA_WIRE_H */
