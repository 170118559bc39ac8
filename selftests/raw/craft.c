// SPDX-License-Identifier: GPL-2.0
/*
 * One packet of a kind, nothing else: a sound ACK of a child the node does not
 * have (which the job counts once, as drop_source, and answers), with one thing
 * wrong.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/if_ether.h>

#include "raw.h"

#define RAW_CRAFT_SIZE	(sizeof(struct ina_hdr) + sizeof(struct ina_ack_hdr))

/* Sealed where the entry wants it. */
static void raw_craft_base(const struct raw *raw, uint8_t *packet)
{
	struct ina_hdr hdr = raw_header(raw, INA_TYPE_ACK);

	hdr.index = htons(INA_INDEX_NONE);
	memset(packet, 0, RAW_PACKET_MAX);
	memcpy(packet, &hdr, sizeof(hdr));
	if (raw->o.ip || (raw->o.lies & RAW_ZERO_CHECKSUM))
		raw_seal(packet, RAW_CRAFT_SIZE);
}

/* A result out of nowhere, of one element. Return: its bytes. */
static size_t raw_craft_result(const struct raw *raw, uint8_t *packet)
{
	struct ina_hdr *hdr = (struct ina_hdr *)packet;

	hdr->type = INA_TYPE_RESULT;
	hdr->length = htonl(1);
	hdr->count = htons(1);
	if (raw->o.ip)
		raw_seal(packet, sizeof(*hdr) + 4);
	return sizeof(*hdr) + 4;
}

/* A READY with something where nothing is. Return: its bytes. */
static size_t raw_craft_reserved(const struct raw *raw, uint8_t *packet)
{
	struct ina_hdr *hdr = (struct ina_hdr *)packet;
	struct ina_ready_hdr *ready = (struct ina_ready_hdr *)(hdr + 1);

	hdr->type = INA_TYPE_READY;
	ready->pad = htonl(1);
	if (raw->o.ip)
		raw_seal(packet, sizeof(*hdr) + sizeof(*ready));
	return sizeof(*hdr) + sizeof(*ready);
}

/* What is wrong inside. Return: bytes, 0 if there is no such kind. */
static size_t raw_craft_spoil(const struct raw *raw, const char *kind, uint8_t *packet)
{
	struct ina_hdr *hdr = (struct ina_hdr *)packet;

	if (!strcmp(kind, "sound"))
		return RAW_CRAFT_SIZE;
	if (!strcmp(kind, "short"))
		return sizeof(*hdr) - 1;
	if (!strcmp(kind, "empty"))
		return 1;
	if (!strcmp(kind, "version"))
		hdr->version++;
	else if (!strcmp(kind, "type"))
		hdr->type = INA_TYPE_MAX;
	else if (!strcmp(kind, "type0"))
		hdr->type = 0;
	else if (!strcmp(kind, "flags"))
		hdr->flags |= 0x80;
	else if (!strcmp(kind, "size"))
		return RAW_CRAFT_SIZE + 1;
	else if (!strcmp(kind, "result"))
		return raw_craft_result(raw, packet);
	else if (!strcmp(kind, "reserved"))
		return raw_craft_reserved(raw, packet);
	else if (!strcmp(kind, "job"))
		hdr->job = ~hdr->job;
	else if (!strcmp(kind, "nocsum"))
		hdr->flags = 0;
	else if (strcmp(kind, "crc"))
		return 0;
	if (!strcmp(kind, "job") && (hdr->flags & INA_F_CRC))
		raw_seal(packet, RAW_CRAFT_SIZE);
	if (!strcmp(kind, "crc")) {
		raw_seal(packet, RAW_CRAFT_SIZE);
		hdr->crc ^= htonl(1);
	}
	return RAW_CRAFT_SIZE;
}

/* One's complement sum, not folded. */
static uint32_t raw_craft_add(uint32_t sum, const void *data, size_t len)
{
	const uint8_t *byte = data;

	for (; len > 1; len -= 2, byte += 2)
		sum += byte[0] << 8 | byte[1];
	return len ? sum + (byte[0] << 8) : sum;
}

static uint16_t raw_craft_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum & 0xffff);
}

/*
 * A UDP header in front of the packet, which leaves @behind bytes of it to
 * nobody. Return: bytes of both.
 */
static size_t raw_craft_udp(const struct raw *raw, const uint8_t *packet, size_t len,
			    size_t behind, uint8_t *udp)
{
	struct udphdr uh = {
		.source = htons(raw->o.port), .dest = htons(raw->o.port),
		.len = htons(sizeof(uh) + len - behind),
	};
	uint32_t sum = IPPROTO_UDP + sizeof(uh) + len - behind;

	memcpy(udp + sizeof(uh), packet, len);
	sum = raw_craft_add(sum, &raw->o.first.in.sin_addr, 4);
	sum = raw_craft_add(sum, &raw->o.parent.in.sin_addr, 4);
	sum = raw_craft_add(sum, &uh, sizeof(uh));
	sum = raw_craft_add(sum, packet, len - behind);
	uh.check = raw_craft_fold(sum);
	memcpy(udp, &uh, sizeof(uh));
	return sizeof(uh) + len;
}

/* An IPv4 packet from the first address, whole or a fragment. Return: its bytes. */
static size_t raw_craft_ip(const struct raw *raw, const uint8_t *data, size_t len,
			   uint16_t offset, uint8_t *packet)
{
	struct iphdr iph = {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.id = htons(getpid()), .frag_off = htons(offset),
		.tot_len = htons(sizeof(iph) + len),
		.saddr = raw->o.first.in.sin_addr.s_addr,
		.daddr = raw->o.parent.in.sin_addr.s_addr,
	};

	iph.check = raw_craft_fold(raw_craft_add(0, &iph, sizeof(iph)));
	memcpy(packet, &iph, sizeof(iph));
	memcpy(packet + sizeof(iph), data, len);
	return sizeof(iph) + len;
}

static void raw_craft_send(const struct raw *raw, const uint8_t *data, size_t len,
			   uint16_t offset)
{
	uint8_t packet[RAW_PACKET_MAX];
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);

	len = raw_craft_ip(raw, data, len, offset, packet);
	if (sendto(fd, packet, len, 0, &raw->o.parent.sa, sizeof(raw->o.parent.in)) < 0)
		raw_die("error raw send: %s", strerror(errno));
	close(fd);
}

/*
 * A frame to the device that lib.sh gave the parent, or to one that differs in the first
 * byte of its address by @other, with @padding bytes behind the packet.
 */
static void raw_craft_frame(const struct raw *raw, const uint8_t *data, size_t len,
			    uint8_t other, size_t padding)
{
	uint8_t packet[RAW_PACKET_MAX] = { 0 };
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = (int)if_nametoindex("eth0"), .sll_halen = ETH_ALEN,
		.sll_addr = { 2 ^ other },
	};
	int fd = socket(AF_PACKET, SOCK_DGRAM, 0);

	memcpy(to.sll_addr + 2, &raw->o.parent.in.sin_addr, 4);
	len = raw_craft_ip(raw, data, len, 0, packet);
	if (sendto(fd, packet, len + padding, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		raw_die("error frame: %s", strerror(errno));
	close(fd);
}

/* What is wrong outside. Return: false if there is no such kind. */
static bool raw_craft_outside(const struct raw *raw, const char *kind, const uint8_t *packet)
{
	uint8_t udp[RAW_PACKET_MAX];
	size_t behind = strcmp(kind, "udplen") ? 0 : 4;
	size_t len = raw_craft_udp(raw, packet, RAW_CRAFT_SIZE, behind, udp);

	if (!strcmp(kind, "whole") || behind) {
		raw_craft_send(raw, udp, len, 0);
	} else if (!strcmp(kind, "udpsum")) {
		udp[6] ^= 1;
		raw_craft_send(raw, udp, len, 0);
	} else if (!strcmp(kind, "fragments")) {
		raw_craft_send(raw, udp, 40, IP_MF);
		raw_craft_send(raw, udp + 40, len - 40, 40 / 8);
	} else if (!strcmp(kind, "padded")) {
		raw_craft_frame(raw, udp, len, 0, 6);
	} else if (!strcmp(kind, "otherhost")) {
		raw_craft_frame(raw, udp, len, 4, 0);
	} else {
		return false;
	}
	return true;
}

/* IP options, or an extension header for the destination: both have no effect. */
static void raw_craft_options(const struct raw *raw, int fd)
{
	const uint8_t options[] = { IPOPT_NOP, IPOPT_NOP, IPOPT_NOP, IPOPT_EOL };
	const uint8_t header[] = { 0, 0, IP6OPT_PADN, 4, 0, 0, 0, 0 };
	int err;

	if (raw->o.parent.sa.sa_family == AF_INET)
		err = setsockopt(fd, SOL_IP, IP_OPTIONS, options, sizeof(options));
	else
		err = setsockopt(fd, SOL_IPV6, IPV6_DSTOPTS, header, sizeof(header));
	if (err)
		raw_die("error options: %s", strerror(errno));
}

static void raw_craft_inside(const struct raw *raw, const char *kind, uint8_t *packet)
{
	int fd = raw_socket(raw, &raw->o.first, 0);
	size_t len;

	if (!strcmp(kind, "options")) {
		raw_craft_options(raw, fd);
		kind = "sound";
	}
	len = raw_craft_spoil(raw, kind, packet);
	if (!len)
		raw_die("error no kind %s", kind);
	raw_send_as_is(fd, packet, len);
	close(fd);
}

/* One of each kind the command line names. */
int raw_craft(struct raw *raw)
{
	uint8_t packet[RAW_PACKET_MAX];
	char **kind;

	for (kind = raw->o.kinds; *kind; kind++) {
		raw_craft_base(raw, packet);
		if (!raw_craft_outside(raw, *kind, packet))
			raw_craft_inside(raw, *kind, packet);
	}
	printf("ok craft\n");
	return 0;
}
