/* SPDX-License-Identifier: MIT */
/* Keeps WireGuard messages that pass towards the victim and sends them again and again: from where they came,
 * from the same address with another port, and from another address. */
#include "tests/netns/attack/attack.h"
#include "tests/netns/attack/onpath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT_MAX 4096
#define UDP_AT IP_HEADER_LEN
#define MESSAGE_AT (IP_HEADER_LEN + 8)

struct kept {
	uint8_t packet[ONPATH_PACKET_MAX];
	size_t len;
};

/* Whether it is a message to the victim; its type. */
static unsigned message_type(const struct attack *attack, const uint8_t *packet, size_t len)
{
	if (len < MESSAGE_AT + 32 || len > ONPATH_PACKET_MAX || packet[9] != IPPROTO_UDP ||
		memcmp(packet + 16, &attack->address, 4) != 0 || read16(packet + UDP_AT + 2) != attack->port)
		return 0;
	/* An offloaded burst is not one message. */
	if ((size_t)read16(packet + UDP_AT + 4) + IP_HEADER_LEN != len || len > 1500)
		return 0;
	return packet[MESSAGE_AT] <= 4 ? packet[MESSAGE_AT] : 0;
}

int attack_replay(const struct attack *attack)
{
	struct kept *kept = calloc(KEPT_MAX, sizeof(*kept));
	uint64_t types[5] = { 0 }, sent = 0;
	size_t count = 0;
	int in = onpath_open(attack->interface), out = raw_open();
	double start = attack_now();

	if (!kept || in < 0 || out < 0)
		return in < 0 ? in : out < 0 ? out : -ENOMEM;
	fprintf(stderr, "ready\n");
	/* What passes in the given time. */
	while (!attack_stopped && attack_now() < start + attack->seconds && count < KEPT_MAX) {
		size_t len = onpath_next(in, kept[count].packet, 100);
		unsigned type = message_type(attack, kept[count].packet, len);

		if (!type)
			continue;
		types[type]++;
		kept[count++].len = len;
	}
	close(in);
	fprintf(stderr, "kept %zu\n", count);
	struct attack pace = *attack;

	pace.seconds = 0;
	start = attack_now();
	while (count && attack_goes_on(&pace, start, sent)) {
		struct kept *one = &kept[attack_random() % count];
		uint8_t packet[ONPATH_PACKET_MAX];

		memcpy(packet, one->packet, one->len);
		write16(packet + 10, 0);
		write16(packet + UDP_AT + 6, 0);
		if (sent % 3 == 1)
			write16(packet + UDP_AT, (uint32_t)(1024 + attack_random() % 60000));
		if (sent % 3 == 2)
			write32(packet + 12,
				ntohl(attack->first.s_addr) + (uint32_t)(attack_random() % attack->sources));
		int err = raw_send(out, packet, one->len);

		if (err && err != -ENOBUFS && err != -EAGAIN)
			return err;
		sent += !err;
	}
	printf("{\"initiations\": %llu, \"responses\": %llu, \"data\": %llu, \"sent\": %llu, \"seconds\": "
	       "%.3f}\n",
		(unsigned long long)types[1], (unsigned long long)types[2], (unsigned long long)types[4],
		(unsigned long long)sent, attack_now() - start);
	free(kept);
	close(out);
	return 0;
}
