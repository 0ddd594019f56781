/* SPDX-License-Identifier: MIT */
/* A socket that has ever been BBR's is paced for the rest of its life, and the pacing timers cost a fast
 * clean path a quarter of its rate. How far the other end is shows with the handshake only, so a socket
 * begins with Reno, which every process may take, and gets its BBR back before the first byte unless it is
 * near: nothing is lost, since neither has learned anything yet. Near, loss brings BBR later
 * (client/engine/pace.c). Reno on a connection means that BBR was the default; where Reno itself is, BBR is
 * mostly not allowed, and then it stays. Source: tcp(7). */
#include "platform/linux/congestion.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* Of a round trip in us: within a building less, by radio or over the Internet more. */
#define NEAR_US 2000
#define NAME_LEN 16 /* TCP_CA_NAME_MAX */

static void replace(int fd, const char *from, const char *to)
{
	char name[NAME_LEN + 1] = "";
	socklen_t len = NAME_LEN;

	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len) == 0 && strcmp(name, from) == 0)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, to, (socklen_t)strlen(to));
}

void congestion_begin(int fd)
{
	replace(fd, "bbr", "reno");
}

void congestion_connected(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	/* Without a sample, after a lost SYN, it counts as far. */
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
		(!info.tcpi_rtt || info.tcpi_rtt >= NEAR_US))
		replace(fd, "reno", "bbr");
}
