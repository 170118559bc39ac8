// SPDX-License-Identifier: GPL-2.0
/*
 * One packet of a kind, nothing else: a sound ACK of a child the node does not
 * have (which the job counts once, as drop_source, and answers), with one thing
 * wrong.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
		hdr->flags |= htons(0x8000);
	else if (!strcmp(kind, "size"))
		return RAW_CRAFT_SIZE + 1;
	else if (!strcmp(kind, "result"))
		return raw_craft_result(raw, packet);
	else if (!strcmp(kind, "job"))
		hdr->job = ~hdr->job;
	else if (!strcmp(kind, "nocsum"))
		hdr->flags = 0;
	else if (strcmp(kind, "crc"))
		return 0;
	if (!strcmp(kind, "job") && (hdr->flags & htons(INA_F_CRC)))
		raw_seal(packet, RAW_CRAFT_SIZE);
	if (!strcmp(kind, "crc")) {
		raw_seal(packet, RAW_CRAFT_SIZE);
		hdr->crc ^= htonl(1);
	}
	return RAW_CRAFT_SIZE;
}

static uint32_t raw_craft_add(uint32_t sum, const void *data, size_t len)
{
	const uint8_t *byte = data;

	for (; len > 1; len -= 2, byte += 2)
		sum += byte[0] << 8 | byte[1];
	return len ? sum + (byte[0] << 8) : sum;
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
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	uh.check = htons(~sum & 0xffff);
	memcpy(udp, &uh, sizeof(uh));
	return sizeof(uh) + len;
}

/* An IPv4 packet from the first address, whole or a fragment. */
static void raw_craft_ip(const struct raw *raw, const uint8_t *data, size_t len, uint16_t offset)
{
	uint8_t packet[RAW_PACKET_MAX];
	struct iphdr iph = {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.id = htons(getpid()), .frag_off = htons(offset),
		.tot_len = htons(sizeof(iph) + len),
		.saddr = raw->o.first.in.sin_addr.s_addr,
		.daddr = raw->o.parent.in.sin_addr.s_addr,
	};
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);

	memcpy(packet, &iph, sizeof(iph));
	memcpy(packet + sizeof(iph), data, len);
	if (sendto(fd, packet, sizeof(iph) + len, 0, &raw->o.parent.sa,
		   sizeof(raw->o.parent.in)) < 0)
		raw_die("error raw send: %s", strerror(errno));
	close(fd);
}

/* What is wrong outside. Return: false if there is no such kind. */
static bool raw_craft_outside(const struct raw *raw, const char *kind, const uint8_t *packet)
{
	uint8_t udp[RAW_PACKET_MAX];
	size_t behind = strcmp(kind, "udplen") ? 0 : 4;
	size_t len = raw_craft_udp(raw, packet, RAW_CRAFT_SIZE, behind, udp);

	if (!strcmp(kind, "whole") || behind) {
		raw_craft_ip(raw, udp, len, 0);
	} else if (!strcmp(kind, "udpsum")) {
		udp[6] ^= 1;
		raw_craft_ip(raw, udp, len, 0);
	} else if (!strcmp(kind, "fragments")) {
		raw_craft_ip(raw, udp, 40, IP_MF);
		raw_craft_ip(raw, udp + 40, len - 40, 40 / 8);
	} else {
		return false;
	}
	return true;
}

static void raw_craft_options(int fd)
{
	const uint8_t options[] = { IPOPT_NOP, IPOPT_NOP, IPOPT_NOP, IPOPT_EOL };

	if (setsockopt(fd, SOL_IP, IP_OPTIONS, options, sizeof(options)))
		raw_die("error IP_OPTIONS: %s", strerror(errno));
}

static void raw_craft_inside(const struct raw *raw, const char *kind, uint8_t *packet)
{
	int fd = raw_socket(raw, &raw->o.first, 0);
	size_t len;

	if (!strcmp(kind, "options")) {
		raw_craft_options(fd);
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
