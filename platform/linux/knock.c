/* SPDX-License-Identifier: MIT */
/* A listening socket whose filter drops every segment, so that the kernel does not refuse the caller; beside
 * it a packet socket that sees the caller's SYN. The owner's thread. Source: packet(7), socket(7)
 * SO_ATTACH_FILTER, tcp_v4_rcv(). */
#include "core/port/knock.h"

#include "platform/linux/privileged.h"
#include "platform/linux/sockaddr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROTOCOL_TCP 6
#define FLAG_SYN 0x02
#define FLAG_ACK 0x10

struct knock {
	int place, ear;
};

static int attach(int fd, struct sock_filter *code, size_t count)
{
	const struct sock_fprog program = { (unsigned short)count, code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ? -errno : 0;
}

/* SYN without ACK to that address and port; offsets count from the IP header. */
static int listen_for_v4(int fd, const struct ip_address *address, uint16_t port)
{
	uint32_t word;

	memcpy(&word, address->bytes, sizeof(word));
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROTOCOL_TCP, 0, 10),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 6),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 8, 0), /* a later fragment */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(word), 0, 6),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 3),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FLAG_SYN | FLAG_ACK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FLAG_SYN, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, 1),
	};

	return attach(fd, code, sizeof(code) / sizeof(code[0]));
}

static int listen_for_v6(int fd, const struct ip_address *address, uint16_t port)
{
	uint32_t words[4];

	memcpy(words, address->bytes, sizeof(words));
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROTOCOL_TCP, 0, 13),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 24),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(words[0]), 0, 11),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 28),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(words[1]), 0, 9),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 32),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(words[2]), 0, 7),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 36),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(words[3]), 0, 5),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 42),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 3),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 53),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FLAG_SYN | FLAG_ACK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FLAG_SYN, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, 1),
	};

	return attach(fd, code, sizeof(code) / sizeof(code[0]));
}

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

static int open_ear(struct knock *knock, uint32_t interface, const struct ip_address *address, uint16_t port)
{
	const struct sockaddr_ll at = { .sll_family = AF_PACKET,
		.sll_protocol = htons(address->family == IP_V4 ? ETH_P_IP : ETH_P_IPV6),
		.sll_ifindex = (int)interface };
	int err;

	/* It hears nothing until it is bound, so nothing gets in before the filter is there. */
	knock->ear = privileged_packet();
	if (knock->ear < 0)
		return -errno;
	err = address->family == IP_V4 ? listen_for_v4(knock->ear, address, port)
				       : listen_for_v6(knock->ear, address, port);
	if (!err && bind(knock->ear, (const struct sockaddr *)&at, sizeof(at)))
		err = -errno;
	return err;
}

static int take_place(
	struct knock *knock, uint32_t interface, const struct ip_address *address, uint16_t port)
{
	const struct endpoint endpoint = { .address = *address, .port = port };
	struct sock_filter nothing[] = { BPF_STMT(BPF_RET | BPF_K, 0) };
	union sockaddr_any at;
	socklen_t len = sockaddr_from_endpoint(&at, &endpoint);
	int err;

	knock->place = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (knock->place < 0)
		return -errno;
	err = set(knock->place, SOL_SOCKET, SO_REUSEADDR, 1);
	if (!err)
		err = set(knock->place, SOL_SOCKET, SO_BINDTOIFINDEX, (int)interface);
	if (!err)
		err = attach(knock->place, nothing, 1);
	if (!err && (bind(knock->place, &at.any, len) || listen(knock->place, 1)))
		err = -errno;
	return err;
}

int knock_open(uint32_t interface, const struct ip_address *address, uint16_t port, struct knock **out)
{
	struct knock *knock = malloc(sizeof(*knock));
	int err;

	if (!knock)
		return -ENOMEM;
	*knock = (struct knock){ -1, -1 };
	err = open_ear(knock, interface, address, port);
	if (!err)
		err = take_place(knock, interface, address, port);
	if (err) {
		knock_close(knock);
		return err;
	}
	*out = knock;
	return 0;
}

void knock_close(struct knock *knock)
{
	if (!knock)
		return;
	if (knock->place >= 0)
		close(knock->place);
	if (knock->ear >= 0)
		close(knock->ear);
	free(knock);
}

int knock_handle(const struct knock *knock)
{
	return knock->ear;
}

bool knock_take(struct knock *knock)
{
	bool called = false;
	char byte;

	/* An error (the interface went down) is taken out by reading it. */
	while (recv(knock->ear, &byte, sizeof(byte), MSG_TRUNC) >= 0)
		called = true;
	return called;
}
