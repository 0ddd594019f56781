/* SPDX-License-Identifier: MIT */
/* wgtcp-bench-relay: datagrams over one TCP connection, each behind its length in two bytes: what people put
 * in front of a WireGuard that only knows UDP. Knows nothing of WireGuard and treats no datagram otherwise
 * than another. Reads and writes in batches, so that it is a fair one. IPv4. One thread. Called by
 * tests/bench/run. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 64
#define DATAGRAM_MAX 2048
#define STREAM_BYTES (256 << 10)

static const char usage[] = "usage: wgtcp-bench-relay connect LOCAL_UDP_PORT SERVER_ADDRESS SERVER_TCP_PORT\n"
			    "       wgtcp-bench-relay listen LOCAL_TCP_PORT ADDRESS UDP_PORT\n"
			    "connect takes datagrams on 127.0.0.1; listen serves one connection and sends "
			    "them on. Prints \"ready\".\n";

struct relay {
	int udp, tcp;
	struct sockaddr_in peer; /* of the datagrams; on the connecting side whoever sent the last */
	uint8_t in[STREAM_BYTES];
	size_t in_len;
	uint8_t out[BATCH * (DATAGRAM_MAX + 2)];
	uint8_t datagrams[BATCH][DATAGRAM_MAX];
	struct sockaddr_in from[BATCH];
};

static bool parse_address(struct sockaddr_in *address, const char *host, const char *port)
{
	*address = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(port, NULL, 10)) };
	return address->sin_port && inet_pton(AF_INET, host, &address->sin_addr) == 1;
}

static bool write_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

static bool from_udp(struct relay *relay)
{
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec iov[BATCH];
	size_t len = 0;
	int count;

	for (size_t i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){ relay->datagrams[i], DATAGRAM_MAX };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i],
			.msg_iovlen = 1,
			.msg_name = &relay->from[i],
			.msg_namelen = sizeof(relay->from[i]) };
	}
	count = recvmmsg(relay->udp, messages, BATCH, MSG_DONTWAIT, NULL);
	/* A refusal by the other program, which may not be up yet, is no reason to end. */
	if (count < 0)
		return true;
	for (int i = 0; i < count; i++) {
		size_t n = messages[i].msg_len;

		relay->out[len] = (uint8_t)(n >> 8);
		relay->out[len + 1] = (uint8_t)n;
		memcpy(relay->out + len + 2, relay->datagrams[i], n);
		len += n + 2;
		relay->peer = relay->from[i];
	}
	return write_all(relay->tcp, relay->out, len);
}

static bool from_tcp(struct relay *relay)
{
	ssize_t n = recv(relay->tcp, relay->in + relay->in_len, STREAM_BYTES - relay->in_len, MSG_DONTWAIT);
	size_t at = 0;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!n)
		return false;
	relay->in_len += (size_t)n;
	for (;;) {
		struct mmsghdr messages[BATCH] = { 0 };
		struct iovec iov[BATCH];
		unsigned count = 0;

		while (count < BATCH && relay->in_len - at >= 2) {
			size_t len = (size_t)relay->in[at] << 8 | relay->in[at + 1];

			if (relay->in_len - at - 2 < len)
				break;
			iov[count] = (struct iovec){ relay->in + at + 2, len };
			messages[count].msg_hdr = (struct msghdr){ .msg_iov = &iov[count],
				.msg_iovlen = 1,
				.msg_name = &relay->peer,
				.msg_namelen = sizeof(relay->peer) };
			at += len + 2;
			count++;
		}
		if (!count)
			break;
		(void)sendmmsg(relay->udp, messages, count, 0);
	}
	memmove(relay->in, relay->in + at, relay->in_len - at);
	relay->in_len -= at;
	return true;
}

static int tcp_socket(const struct sockaddr_in *address, bool listens)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, connection;

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!listens)
		return connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? -1 : fd;
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 || listen(fd, 1) < 0)
		return -1;
	puts("ready");
	fflush(stdout);
	connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	close(fd);
	return connection;
}

int main(int argc, char **argv)
{
	static struct relay relay;
	bool listens = argc == 5 && !strcmp(argv[1], "listen");
	struct sockaddr_in tcp, udp;
	int one = 1, room = 4 << 20;

	if (argc != 5 || (!listens && strcmp(argv[1], "connect") != 0) ||
		!parse_address(listens ? &relay.peer : &tcp, argv[3], argv[4]) ||
		!parse_address(listens ? &tcp : &udp, listens ? "0.0.0.0" : "127.0.0.1", argv[2])) {
		fputs(usage, stderr);
		return 2;
	}
	relay.udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (relay.udp < 0 || (!listens && bind(relay.udp, (struct sockaddr *)&udp, sizeof(udp)) < 0)) {
		perror("wgtcp-bench-relay: UDP");
		return 1;
	}
	(void)setsockopt(relay.udp, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	relay.tcp = tcp_socket(&tcp, listens);
	if (relay.tcp < 0) {
		perror("wgtcp-bench-relay: TCP");
		return 1;
	}
	(void)setsockopt(relay.tcp, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!listens) {
		puts("ready");
		fflush(stdout);
	}
	for (bool more = true; more;) {
		struct pollfd ready[] = { { relay.udp, POLLIN, 0 }, { relay.tcp, POLLIN, 0 } };

		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			break;
		if (ready[0].revents)
			more = from_udp(&relay);
		if (more && ready[1].revents)
			more = from_tcp(&relay);
	}
	close(relay.udp);
	close(relay.tcp);
	return 0;
}
