/* SPDX-License-Identifier: MIT */
/* What a contract test needs of a platform beside its ports: a network of its own with two ends. Each
 * platform has one rig; the tests beside this file use nothing else of it. All calls fail the test when they
 * can not do their work. */
#ifndef WGTCP_TESTS_CONTRACT_RIG_H
#define WGTCP_TESTS_CONTRACT_RIG_H

#include "core/base/address.h"
#include "core/port/clock.h"
#include "core/port/loop.h"

void rig_open(void);
void rig_close(void);
struct loop *rig_loop(void);
struct clock *rig_clock(void);

/* A UDP socket bound to an address that the other one can reach; the handle is for udp_adopt. */
int rig_udp(enum ip_family family, struct endpoint *bound);
/* Both ends of a fresh connection, for tcp_adopt. */
void rig_tcp(enum ip_family family, int handles[2]);
int rig_listener(enum ip_family family, struct endpoint *bound); /* for tcp_listener_adopt */
int rig_connect(const struct endpoint *remote); /* for tcp_adopt; connecting is under way or done */
/* Both ends of a seam, for seam_adopt; and of a control stream, for control_adopt. */
void rig_seam(int handles[2]);
void rig_control(int handles[2]);
/* Sends a message with a descriptor that control_adopt takes at the other end of it. */
struct seam;
struct seam_message;
int rig_seam_send(struct seam *seam, const struct seam_message *message, int handle);

/* A device that is up with MTU 1420. Packets from applications on it go to 10.77.0.2 or fd77::2
 * from 10.77.0.1 or fd77::1. */
int rig_tun(void);
void rig_tun_inject(const uint8_t *packet, size_t len); /* an application sends this */
size_t rig_tun_collect(uint8_t *packet, size_t room);   /* what the device handed to the system; 0: nothing */

/* Waits until one port that the loop watches is ready, for 2 seconds at most; what is ready, or 0. */
uint32_t rig_wait(void **token);

#endif
