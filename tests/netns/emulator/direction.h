/* SPDX-License-Identifier: MIT */
/* One direction of an emulated link: a bottleneck with a queue bounded in bytes, then loss on the wire, then
 * a delay that is fixed, or longer for some. Every decision is made for one frame, never for a burst; frames
 * of one burst that are due together leave together. Pure: it is told `now` in nanoseconds, so that its test
 * needs no clock. */
#ifndef WGTCP_TESTS_NETNS_EMULATOR_DIRECTION_H
#define WGTCP_TESTS_NETNS_EMULATOR_DIRECTION_H

#include "tests/netns/emulator/burst.h"

struct direction_settings {
	uint64_t delay_us;
	uint64_t rate_bps;    /* bits a second, IP header included; 0: no bottleneck */
	uint64_t queue_bytes; /* waiting before the bottleneck; what does not fit is dropped */
	double queue_bdp; /* not 0: instead of queue_bytes, so many products of rate and twice the delay */
	double loss;      /* of each frame, 0..1, in the good state */
	double bad_enter; /* Gilbert-Elliott: chance for each frame to enter the bad state; 0: never bad */
	double bad_leave; /* chance for each frame to leave it */
	double bad_loss;  /* of each frame while bad */
	double reorder;   /* chance for each frame to be held back for reorder_us more */
	uint64_t reorder_us;
};

struct direction_stats {
	uint64_t packets, bytes; /* frames offered */
	uint64_t delivered, delivered_bytes;
	uint64_t lost;    /* on the wire, by chance */
	uint64_t dropped; /* queue full */
	uint64_t largest; /* bytes of the largest frame offered: shows that bursts were taken apart */
	uint64_t late;    /* held back */
	uint64_t bursts;  /* packets that stood for several frames */
};

/* Frames that are due and belong together, for burst_form. */
struct direction_row {
	const struct burst *burst;
	uint8_t *bytes;
	size_t first, end;
};

struct direction;

/* Holds at most `frames` frames between in and out. NULL when memory is short. The same seed and the same
 * frames give the same losses, however they come in bursts. */
struct direction *direction_new(const struct direction_settings *settings, uint64_t seed, size_t frames);
void direction_free(struct direction *direction);
/* Applies to packets that come in from now on; those under way keep their times. */
void direction_set(struct direction *direction, const struct direction_settings *settings);
void direction_get(const struct direction *direction, struct direction_settings *settings);
void direction_stats(const struct direction *direction, struct direction_stats *stats);

/* BURST_BYTES_MAX bytes into which the next packet may be read before direction_push. */
uint8_t *direction_room(struct direction *direction);
/* The packet in direction_room(), as measured, arrives. */
void direction_push(struct direction *direction, const struct burst *burst, uint64_t now_ns);
/* The oldest frames whose time has come, valid until direction_pop; false: none. */
bool direction_due(struct direction *direction, uint64_t now_ns, struct direction_row *row);
/* Takes out what direction_due gave. */
void direction_pop(struct direction *direction, const struct direction_row *row);
/* When direction_due will next have some; UINT64_MAX: not before another packet comes in. */
uint64_t direction_deadline(const struct direction *direction);

#endif
