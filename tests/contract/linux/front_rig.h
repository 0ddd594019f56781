/* SPDX-License-Identifier: MIT */
/* A front with the test in the engine's place. */
#ifndef WGTCP_TESTS_CONTRACT_FRONT_RIG_H
#define WGTCP_TESTS_CONTRACT_FRONT_RIG_H

#include "core/port/front.h"

#define RIG_STREAMS_MAX 8

/* What the engine has been told last, as a real one would hold it. */
struct front_rig {
	struct front *front;
	struct seam *seam;
	int tun, udp[2], listener[2], connected; /* -1: none */
	uint16_t udp_port, tcp_port;
	uint32_t mtu, told[SEAM_STOP + 1]; /* how often each kind came */
	bool up, network;
	struct wall floor;
	struct seam_message last_dial; /* the last CONNECTED or DIAL_FAILED */
	int streams[RIG_STREAMS_MAX];
	size_t stream_count;
	uint32_t events[FRONT_ENGINE_GONE + 1];
	struct front_event last_event;
};

void front_rig_open(struct front_rig *rig, const struct front_settings *settings);
void front_rig_close(struct front_rig *rig);
void front_rig_seam(struct front_rig *rig, int handle); /* after front_restart */
void front_rig_close_seam(struct front_rig *rig);
/* Lets the front and the engine's seam work for this long, or until *counter reaches count (NULL: all the
 * time). */
bool front_rig_run(struct front_rig *rig, const uint32_t *counter, uint32_t count, int limit_ms);
/* Asks by UAPI; the engine answers each request with `answer`. What the engine saw is in seen, what the
 * client got in got. */
void front_rig_ask(
	struct front_rig *rig, const char *request, const char *answer, char seen[4096], char got[4096]);
/* A SET that the front is to let through. */
void front_rig_set(struct front_rig *rig, const char *lines);

#endif
