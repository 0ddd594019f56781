/* SPDX-License-Identifier: MIT */
/* One direction of an emulated link: a bottleneck with a queue bounded in bytes, then loss on the wire, then a fixed
 * delay. Pure: it is told `now` in nanoseconds, so that its test needs no clock. Order is always kept. */
#ifndef WGTCP_TESTS_NETNS_EMULATOR_DIRECTION_H
#define WGTCP_TESTS_NETNS_EMULATOR_DIRECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A packet is one frame of the emulated wire: never an offloaded burst. */
#define DIRECTION_PACKET_MAX 2048

struct direction_settings {
	uint64_t delay_us;
	uint64_t rate_bps;    /* bits a second, IP header included; 0: no bottleneck */
	uint64_t queue_bytes; /* waiting before the bottleneck; what does not fit is dropped */
	double loss;          /* of each packet, 0..1, in the good state */
	double bad_enter;     /* Gilbert-Elliott: chance for each packet to enter the bad state; 0: never bad */
	double bad_leave;     /* chance for each packet to leave it */
	double bad_loss;      /* of each packet while bad */
};

struct direction_stats {
	uint64_t packets, bytes; /* offered */
	uint64_t delivered, delivered_bytes;
	uint64_t lost;    /* on the wire, by chance */
	uint64_t dropped; /* queue full */
	uint64_t largest; /* bytes of the largest packet offered: shows that bursts were taken apart */
};

struct direction;

/* Holds at most `slots` packets between in and out. NULL when memory is short. The same seed and the same packets give
 * the same losses. */
struct direction *direction_new(const struct direction_settings *settings, uint64_t seed, size_t slots);
void direction_free(struct direction *direction);
/* Applies to packets that come in from now on; those under way keep their times. */
void direction_set(struct direction *direction, const struct direction_settings *settings);
void direction_get(const struct direction *direction, struct direction_settings *settings);
void direction_stats(const struct direction *direction, struct direction_stats *stats);

/* DIRECTION_PACKET_MAX bytes into which the next packet may be read before direction_push. Never NULL. */
uint8_t *direction_room(struct direction *direction);
/* The packet of len bytes in direction_room() arrives. */
void direction_push(struct direction *direction, size_t len, uint64_t now_ns);
/* The oldest packet whose time has come, valid until direction_pop; NULL: none. */
const uint8_t *direction_due(struct direction *direction, uint64_t now_ns, size_t *len);
void direction_pop(struct direction *direction);
/* When direction_due will next have one; UINT64_MAX: not before another packet comes in. */
uint64_t direction_deadline(const struct direction *direction);

#endif
