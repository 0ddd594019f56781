/* SPDX-License-Identifier: MIT */
/* wgtcp-bench-packets: small UDP packets as fast as the kernel takes them, in one flow or in many, and their
 * count at the other end. One flow leaves by a connected UDP socket, which costs the least; many are made
 * whole for a raw one, so that thousands cost no more than a few. Nothing leaves as a burst that the kernel
 * would have to take apart. IPv4. One thread. Called by tests/bench/run. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH 64
#define IP_LEN 20
#define UDP_LEN 8
#define PAYLOAD_MAX 1400
#define FLOWS_MAX 50000
#define FIRST_SOURCE_PORT 10000
#define RECEIVE_BUFFER_BYTES (8 << 20)

static const char usage[] =
	"usage: wgtcp-bench-packets send FROM TO PORT PAYLOAD_BYTES FLOWS SECONDS\n"
	"       wgtcp-bench-packets count ADDRESS PORT\n"
	"count prints \"ready\", and one JSON object when nothing has come for a second.\n";

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint32_t sum_words(uint32_t sum, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	return len & 1 ? sum + ((uint32_t)bytes[len - 1] << 8) : sum;
}

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* A whole packet of a flow. The kernel fills in the IP checksum. */
static void make_packet(uint8_t *packet, const struct in_addr *from, const struct in_addr *to,
	uint32_t source_port, uint32_t port, size_t payload)
{
	uint8_t *udp = packet + IP_LEN;
	uint32_t udp_len = (uint32_t)(UDP_LEN + payload), sum = IPPROTO_UDP + udp_len;

	memset(packet, 0, IP_LEN + udp_len);
	packet[0] = 0x45;
	put16(packet + 2, IP_LEN + udp_len);
	packet[8] = 64;
	packet[9] = IPPROTO_UDP;
	memcpy(packet + 12, from, 4);
	memcpy(packet + 16, to, 4);
	put16(udp, source_port);
	put16(udp + 2, port);
	put16(udp + 4, udp_len);
	sum = sum_words(sum_words(sum, packet + 12, 8), udp, udp_len);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	put16(udp + 6, sum == 0xffff ? sum : ~sum & 0xffff);
}

static int send_packets(char **words)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct in_addr from;
	unsigned long port = strtoul(words[2], NULL, 10), payload = strtoul(words[3], NULL, 10);
	unsigned long flows = strtoul(words[4], NULL, 10), seconds = strtoul(words[5], NULL, 10), refused = 0,
		      sent = 0;
	struct mmsghdr messages[BATCH];
	struct iovec iov[BATCH];
	static uint8_t packets[BATCH][IP_LEN + UDP_LEN + PAYLOAD_MAX];
	bool raw = flows > 1;
	int fd = raw ? socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW)
		     : socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		perror("wgtcp-bench-packets: socket");
		return 1;
	}
	if (inet_pton(AF_INET, words[0], &from) != 1 || inet_pton(AF_INET, words[1], &to.sin_addr) != 1 ||
		!port || port > 65535 || payload > PAYLOAD_MAX || !flows || flows > FLOWS_MAX || !seconds) {
		fputs(usage, stderr);
		return 2;
	}
	to.sin_port = raw ? 0 : htons((uint16_t)port);
	if (!raw && connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		perror("wgtcp-bench-packets: address");
		return 1;
	}
	for (size_t i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){ packets[i] + (raw ? 0 : IP_LEN + UDP_LEN),
			(raw ? IP_LEN + UDP_LEN : 0) + payload };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
		if (raw) {
			messages[i].msg_hdr.msg_name = &to;
			messages[i].msg_hdr.msg_namelen = sizeof(to);
		}
		make_packet(packets[i], &from, &to.sin_addr, FIRST_SOURCE_PORT, (uint32_t)port, payload);
	}
	for (uint64_t end = now_ns() + seconds * UINT64_C(1000000000), flow = 0; now_ns() < end;) {
		for (size_t i = 0; flows > 1 && i < BATCH; i++, flow = (flow + 1) % flows)
			make_packet(packets[i], &from, &to.sin_addr, FIRST_SOURCE_PORT + (uint32_t)flow,
				(uint32_t)port, payload);
		int n = sendmmsg(fd, messages, BATCH, 0);

		if (n > 0)
			sent += (unsigned long)n;
		else
			refused++;
	}
	printf("{\"sent\": %lu, \"refused\": %lu}\n", sent, refused);
	close(fd);
	return 0;
}

static int count_packets(char **words)
{
	struct sockaddr_in local = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(words[1], NULL, 10)) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), room = RECEIVE_BUFFER_BYTES;
	struct timeval patience = { .tv_sec = 20 };
	struct mmsghdr messages[BATCH] = { 0 };
	static uint8_t bytes[BATCH][PAYLOAD_MAX];
	struct iovec iov[BATCH];
	uint64_t first = 0, last = 0, count = 0, payload = 0;

	if (fd < 0 || inet_pton(AF_INET, words[0], &local.sin_addr) != 1 ||
		bind(fd, (struct sockaddr *)&local, sizeof(local)) < 0) {
		perror("wgtcp-bench-packets: address");
		return 1;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	patience.tv_sec = 1;
	for (size_t i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){ bytes[i], sizeof(bytes[i]) };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
	}
	puts("ready");
	fflush(stdout);
	for (int n; (n = recvmmsg(fd, messages, BATCH, MSG_WAITFORONE, NULL)) > 0 || errno == EINTR;) {
		if (n < 0)
			continue;
		last = now_ns();
		if (!first) {
			first = last;
			(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
			continue;
		}
		count += (uint64_t)n;
		for (int i = 0; i < n; i++)
			payload += messages[i].msg_len;
	}
	double seconds = (double)(last - first) / 1e9;

	printf("{\"packets\": %llu, \"payload_bytes\": %llu, \"seconds\": %.3f, \"kpps\": %.1f}\n",
		(unsigned long long)count, (unsigned long long)payload, seconds,
		seconds > 0 ? (double)count / seconds / 1000 : 0);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 8 && strcmp(argv[1], "send") == 0)
		return send_packets(argv + 2);
	if (argc == 4 && strcmp(argv[1], "count") == 0)
		return count_packets(argv + 2);
	fputs(usage, stderr);
	return 2;
}
