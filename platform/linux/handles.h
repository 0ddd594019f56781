/* SPDX-License-Identifier: MIT */
/* What the ports of this platform show each other: their descriptors, for waiting, and whether they still
 * hold something that a descriptor does not show. */
#ifndef WGTCP_PLATFORM_LINUX_HANDLES_H
#define WGTCP_PLATFORM_LINUX_HANDLES_H

#include <stdbool.h>

struct tun;
struct udp;
struct tcp;
struct tcp_listener;
struct seam;
struct control;
struct datagram;

int tun_descriptor(const struct tun *tun);
int udp_descriptor(const struct udp *udp);
int tcp_descriptor(const struct tcp *tcp);
int tcp_listener_descriptor(const struct tcp_listener *listener);
int seam_descriptor(const struct seam *seam);
int control_descriptor(const struct control *control);
int datagram_descriptor(const struct datagram *datagram);

/* A burst was read from the kernel that the caller has not yet taken all of: ready to read, whatever epoll
 * says. */
bool tun_holds_packets(const struct tun *tun);
bool udp_holds_datagrams(const struct udp *udp);

/* Non-blocking and not inherited by programs that are started. 0 or -errno. */
int descriptor_prepare(int fd);

#endif
