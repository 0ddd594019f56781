/* SPDX-License-Identifier: MIT */
/* The seam as a SOCK_SEQPACKET socketpair: the kernel keeps the bounds of messages and carries descriptors
 * beside them (unix(7), SCM_RIGHTS). Both ends are of one build, so the struct itself is the message; its
 * padding is zeroed, since the two ends do not trust each other with their memory. One thread on each end. */
#include "core/port/seam.h"
#include "core/port/rights.h"

#include "platform/linux/handles.h"
#include "platform/linux/seam_handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct seam {
	int fd;
};

int seam_adopt(int handle, struct seam **out)
{
	struct seam *seam = NULL;
	int err = descriptor_prepare(handle);

	if (err)
		goto fail;
	err = -ENOMEM;
	seam = calloc(1, sizeof(*seam));
	if (!seam)
		goto fail;
	seam->fd = handle;
	*out = seam;
	return 0;
fail:
	close(handle);
	return err;
}

void seam_close(struct seam *seam)
{
	if (!seam)
		return;
	close(seam->fd);
	free(seam);
}

static void address_copy(struct ip_address *out, const struct ip_address *in)
{
	out->family = in->family;
	memcpy(out->bytes, in->bytes, sizeof(out->bytes));
}

/* Field by field into zeroes. */
static void message_copy(struct seam_message *out, const struct seam_message *in)
{
	memset(out, 0, sizeof(*out));
	out->kind = in->kind;
	out->value = in->value;
	out->port = in->port;
	out->attempt = in->attempt;
	memcpy(out->public_key, in->public_key, sizeof(out->public_key));
	out->wall.s = in->wall.s;
	out->wall.ns = in->wall.ns;
	address_copy(&out->source, &in->source);
	address_copy(&out->target, &in->target);
	out->flag = in->flag;
}

int seam_send_handle(struct seam *seam, const struct seam_message *message, int handle)
{
	struct seam_message wire;
	long sent;

	message_copy(&wire, message);
	sent = rights_send(seam->fd, &wire, sizeof(wire), handle, false);
	switch (sent) {
	case -EAGAIN:
	case -ENOBUFS:
	case -ENOMEM:
	case -ETOOMANYREFS: /* too many descriptors under way: the other side has to read first */
		return -EAGAIN;
	case -EPIPE:
	case -ECONNRESET:
	case -ENOTCONN:
		return -EPIPE;
	default:
		return sent < 0 ? (int)sent : 0;
	}
}

int seam_send_tcp(struct seam *seam, const struct seam_message *message, const struct tcp *tcp)
{
	return seam_send_handle(seam, message, tcp_descriptor(tcp));
}

int seam_send(struct seam *seam, const struct seam_message *message)
{
	return seam_send_handle(seam, message, -1);
}

/* Nothing that the other end can put into the bytes may become a bad enum or bool on this side. */
static bool message_valid(const uint8_t bytes[sizeof(struct seam_message)])
{
	struct seam_message m;
	uint8_t flag = bytes[offsetof(struct seam_message, flag)];
	uint32_t families[2];

	memcpy(&families[0], bytes + offsetof(struct seam_message, source.family), sizeof(families[0]));
	memcpy(&families[1], bytes + offsetof(struct seam_message, target.family), sizeof(families[1]));
	memcpy(&m.kind, bytes + offsetof(struct seam_message, kind), sizeof(m.kind));
	for (size_t i = 0; i < 2; i++)
		if (families[i] != IP_NONE && families[i] != IP_V4 && families[i] != IP_V6)
			return false;
	return flag <= 1 && m.kind > SEAM_NONE && m.kind <= SEAM_STOP;
}

int seam_receive(struct seam *seam, struct seam_message *out, int *handle)
{
	for (;;) {
		uint8_t wire[sizeof(struct seam_message)];
		bool cut;
		int fd;
		long n = rights_receive(seam->fd, wire, sizeof(wire), &fd, false, &cut);

		if (n <= 0)
			return n == -EAGAIN ? -EAGAIN : -EPIPE;
		if (n != (long)sizeof(wire) || cut || !message_valid(wire)) {
			if (fd >= 0)
				close(fd);
			continue; /* not of this build, or not of good will: as if it had not been sent */
		}
		memcpy(out, wire, sizeof(*out));
		*handle = fd;
		return 0;
	}
}

int seam_descriptor(const struct seam *seam)
{
	return seam->fd;
}
