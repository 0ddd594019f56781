/* SPDX-License-Identifier: MIT */
/* A network namespace of the test's own, and a few things to do in it. All fail the test when they fail. */
#ifndef WGTCP_TESTS_CONTRACT_NAMESPACE_H
#define WGTCP_TESTS_CONTRACT_NAMESPACE_H

#include "core/port/net_config.h"

/* Enters a fresh namespace with loopback up; its descriptor, for namespace_enter. */
int namespace_new(void);
void namespace_enter(int fd);
/* A TUN device in the present namespace, up, with these addresses ("10.0.0.1/24"; NULL: none); its
 * descriptor. */
int namespace_tun(const char *name, const char *v4, const char *v6);
struct ip_prefix prefix_of(const char *text);
struct endpoint endpoint_of(const char *text);
/* Waits until fd is readable; false after wait_ms. */
bool readable(int fd, int wait_ms);
/* One field of this interface in the present namespace's statistics: "rx_packets". */
uint64_t statistic(const char *interface, bool rx_packets);

#endif
