/* SPDX-License-Identifier: MIT */
/* Inside a guest: sends a packet each millisecond as an ordinary user's programs would (TCP, UDP, name
 * look-ups, ICMP; IPv4 and IPv6), from before there is a network until SIGTERM, then prints how many were
 * tried. What gets out is counted on the other side of the wire. One thread.
 *
 *     vm_probes V4-ADDRESS V6-ADDRESS
 */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534

struct kind {
	int type, protocol;
	uint16_t port;
	const char *data; /* NULL: a connection attempt */
	size_t len;
};

static const struct kind kinds[] = {
	{ SOCK_STREAM, 0, 80, NULL, 0 },
	{ SOCK_DGRAM, 0, 9, "probe", 5 },
	{ SOCK_DGRAM, 0, 53, "\x42\x42\1\0\0\1\0\0\0\0\0\0\5probe\7invalid\0\0\1\0\1", 31 },
	{ SOCK_DGRAM, -1, 0, "\10\0\0\0\0\0\0\1probe", 13 },
};

static volatile sig_atomic_t stop;

static void stopped(int number)
{
	(void)number;
	stop = 1;
}

static socklen_t fill(int family, const char *text, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

	memset(out, 0, sizeof(*out));
	out->ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		inet_pton(AF_INET, text, &v4->sin_addr);
		v4->sin_port = htons(port);
		return sizeof(*v4);
	}
	inet_pton(AF_INET6, text, &v6->sin6_addr);
	v6->sin6_port = htons(port);
	return sizeof(*v6);
}

/* A new socket each time: one that was refused once would stay so. */
static void probe(const struct kind *kind, int family, const char *target)
{
	struct sockaddr_storage to;
	socklen_t len = fill(family, target, kind->port, &to);
	int icmp = family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	int fd = socket(family, kind->type | SOCK_NONBLOCK, kind->protocol < 0 ? icmp : kind->protocol);
	char data[64];

	if (fd < 0)
		return;
	if (!kind->data) {
		(void)!connect(fd, (struct sockaddr *)&to, len);
	} else {
		memcpy(data, kind->data, kind->len);
		if (kind->protocol < 0 && family == AF_INET6)
			data[0] = (char)128; /* echo request */
		(void)!sendto(fd, data, kind->len, 0, (struct sockaddr *)&to, len);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	unsigned long tried = 0;

	if (argc != 3 || setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)) {
		fprintf(stderr, "vm_probes: two addresses, as root\n");
		return 2;
	}
	signal(SIGTERM, stopped);
	while (!stop) {
		size_t count = sizeof(kinds) / sizeof(kinds[0]);
		bool v6 = tried / count % 2;

		probe(&kinds[tried % count], v6 ? AF_INET6 : AF_INET, argv[v6 ? 2 : 1]);
		tried++;
		nanosleep(&pause, NULL);
	}
	printf("tried %lu\n", tried);
	return 0;
}
