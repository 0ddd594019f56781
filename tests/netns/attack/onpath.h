/* SPDX-License-Identifier: MIT */
/* Seeing what passes an interface, and sending IPv4 packets with any source. */
#ifndef WGTCP_TESTS_NETNS_ATTACK_ONPATH_H
#define WGTCP_TESTS_NETNS_ATTACK_ONPATH_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#define ONPATH_PACKET_MAX 2048
#define IP_HEADER_LEN 20

/* A socket that sees IPv4 both ways, or -errno. */
int onpath_open(const char *interface);
/* The next IPv4 packet, from its header on; 0: none within ms. */
size_t onpath_next(int fd, uint8_t out[ONPATH_PACKET_MAX], int ms);

/* A socket that takes whole IPv4 packets, or -errno. */
int raw_open(void);
/* Fills a header of IP_HEADER_LEN bytes; len is of all. */
void raw_header(uint8_t *out, uint8_t protocol, uint32_t source_be, uint32_t target_be, size_t len);
void raw_udp(uint8_t *out, uint16_t source_port, uint16_t target_port, size_t len);
/* The checksum of a TCP segment that follows the header, put in its place. */
void raw_tcp_checksum(uint8_t *packet, size_t len);
int raw_send(int fd, const uint8_t *packet, size_t len);

uint16_t read16(const uint8_t *at);
uint32_t read32(const uint8_t *at);
void write16(uint8_t *at, uint32_t value);
void write32(uint8_t *at, uint32_t value);

#endif
