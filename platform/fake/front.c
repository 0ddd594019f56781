/* SPDX-License-Identifier: MIT */
/* The seam, the TUN, the UAPI stream, and the front's part in the hands of a test. */
#include "platform/fake/internal.h"

#include "core/base/bytes.h"
#include "core/port/control.h"
#include "core/port/tun.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- seam ---- */

int seam_adopt(int handle, struct seam **out)
{
	(void)handle;
	(void)out;
	return -ENOSYS; /* a host has its seam: host_seam */
}

void seam_close(struct seam *seam)
{
	(void)seam;
}

int seam_send(struct seam *seam, const struct seam_message *message)
{
	struct up *up;

	if (dial_take(seam->host, message))
		return 0;
	up = calloc(1, sizeof(*up));
	assert(up);
	up->message = *message;
	*seam->up_end = up;
	seam->up_end = &up->next;
	return 0;
}

int seam_send_tcp(struct seam *seam, const struct seam_message *message, const struct tcp *tcp)
{
	(void)tcp;
	return seam_send(seam, message);
}

void seam_push_down(struct seam *seam, const struct seam_message *message, int handle)
{
	struct down *down = calloc(1, sizeof(*down));

	assert(down);
	down->message = *message;
	down->handle = handle;
	*seam->down_end = down;
	seam->down_end = &down->next;
}

int seam_receive(struct seam *seam, struct seam_message *out, int *handle)
{
	struct down *down = seam->down;

	if (!down)
		return -EAGAIN;
	seam->down = down->next;
	if (!seam->down)
		seam->down_end = &seam->down;
	*out = down->message;
	*handle = down->handle;
	free(down);
	return 0;
}

void host_down(struct host *host, const struct seam_message *message)
{
	seam_push_down(&host->seam, message, -1);
}

void host_down_handle(struct host *host, const struct seam_message *message, int handle)
{
	seam_push_down(&host->seam, message, handle);
}

bool host_up(struct host *host, struct seam_message *out)
{
	struct up *up = host->seam.up;

	if (!up)
		return false;
	*out = up->message;
	host->seam.up = up->next;
	if (!host->seam.up)
		host->seam.up_end = &host->seam.up;
	free(up);
	return true;
}

int host_make_udp(struct host *host, uint16_t port)
{
	host->udp = calloc(1, sizeof(*host->udp));
	assert(host->udp);
	host->udp->host = host;
	host->udp->port = port;
	return handle_make(OBJECT_UDP, host->udp);
}

int host_make_listener(struct host *host, uint16_t port)
{
	host->listener = calloc(1, sizeof(*host->listener));
	assert(host->listener);
	host->listener->host = host;
	host->listener->port = port;
	return handle_make(OBJECT_LISTENER, host->listener);
}

void host_start(struct host *host, uint16_t port, uint32_t mtu, bool listen)
{
	uint32_t family = host->address.family == IP_V4 ? 4 : 6;

	host->tun = calloc(1, sizeof(*host->tun));
	assert(host->tun);
	host->tun->host = host;
	seam_push_down(
		&host->seam, &(struct seam_message){ .kind = SEAM_TUN }, handle_make(OBJECT_TUN, host->tun));
	seam_push_down(&host->seam, &(struct seam_message){ .kind = SEAM_UDP, .value = family, .port = port },
		host_make_udp(host, port));
	if (listen)
		seam_push_down(&host->seam,
			&(struct seam_message){ .kind = SEAM_LISTENER, .value = family, .port = port },
			host_make_listener(host, port));
	host_down(host, &(struct seam_message){ .kind = SEAM_LINK, .value = mtu, .flag = true });
}

void host_set_dial(struct host *host, const uint8_t public_key[32], const struct endpoint *endpoint)
{
	size_t i;

	for (i = 0; i < host->target_count && memcmp(host->targets[i].public_key, public_key, 32); i++)
		;
	assert(i < FAKE_DIALS_MAX);
	memcpy(host->targets[i].public_key, public_key, 32);
	host->targets[i].endpoint = *endpoint;
	if (i == host->target_count)
		host->target_count++;
}

/* ---- UAPI ---- */

int control_adopt(int handle, struct control **out)
{
	*out = handle_take(handle, OBJECT_CONTROL);
	return *out ? 0 : -EBADF;
}

void control_close(struct control *control)
{
	chunks_clear(&control->to_engine);
	chunks_clear(&control->from_engine);
	if (control->host->control == control)
		control->host->control = NULL;
	free(control);
}

long control_receive(struct control *control, char *out, size_t size)
{
	struct chunk *chunk = control->to_engine.head;
	size_t part;

	if (!chunk)
		return -EAGAIN;
	part = chunk->len - chunk->at < size ? chunk->len - chunk->at : size;
	memcpy(out, chunk->bytes + chunk->at, part);
	chunk->at += part;
	if (chunk->at == chunk->len)
		free(chunks_pop(&control->to_engine));
	return (long)part;
}

long control_send(struct control *control, const char *bytes, size_t len)
{
	chunks_push(&control->from_engine, chunk_new(bytes, len));
	return (long)len;
}

void host_ask(struct host *host, const char *text)
{
	if (!host->control) {
		host->control = calloc(1, sizeof(*host->control));
		assert(host->control);
		host->control->host = host;
		seam_push_down(&host->seam, &(struct seam_message){ .kind = SEAM_CONTROL },
			handle_make(OBJECT_CONTROL, host->control));
	}
	chunks_push(&host->control->to_engine, chunk_new(text, strlen(text)));
}

char *host_answer(struct host *host)
{
	char *text;
	size_t len = 0;

	if (!host->control || !host->control->from_engine.count)
		return NULL;
	text = malloc(host->control->from_engine.len + 1);
	assert(text);
	for (struct chunk *chunk; (chunk = chunks_pop(&host->control->from_engine)); free(chunk)) {
		memcpy(text + len, chunk->bytes, chunk->len);
		len += chunk->len;
	}
	text[len] = 0;
	return text;
}

/* ---- TUN ---- */

int tun_adopt(int handle, struct tun **out)
{
	*out = handle_take(handle, OBJECT_TUN);
	return *out ? 0 : -EBADF;
}

void tun_close(struct tun *tun)
{
	chunks_clear(&tun->to_engine);
	chunks_clear(&tun->from_engine);
	if (tun->host->tun == tun)
		tun->host->tun = NULL;
	free(tun);
}

bool tun_has_bursts(const struct tun *tun)
{
	return tun->host->bursts;
}

void tun_read_whole(struct tun *tun, bool whole)
{
	tun->whole = whole && tun->host->bursts;
}

#define BURST_HEADER 40
#define SEQUENCE_AT 24

/* Lengths and sequence numbers only. */
static void cut(const uint8_t *burst, size_t len, uint16_t segment, struct packet_pool *pool, struct packet_list *list)
{
	for (size_t at = BURST_HEADER; at < len; at += segment) {
		size_t payload = len - at < segment ? len - at : segment;
		struct packet *packet = packet_take(pool);

		if (!packet)
			return;
		assert(BURST_HEADER + payload <= packet->room);
		memcpy(packet->data, burst, BURST_HEADER);
		memcpy(packet->data + BURST_HEADER, burst + at, payload);
		packet->len = (uint32_t)(BURST_HEADER + payload);
		put_be16(packet->data + 2, (uint16_t)packet->len);
		put_be32(packet->data + SEQUENCE_AT,
			get_be32(burst + SEQUENCE_AT) + (uint32_t)(at - BURST_HEADER));
		packet_list_push(list, packet);
	}
}

void tun_cut(struct tun *tun, struct packet *burst, struct packet_pool *pool, struct packet_list *list)
{
	(void)tun;
	cut(burst->data, burst->len, burst->segment, pool, list);
	packet_give(pool, burst);
}

/* What is too long for the packet is dropped. */
static void fill(struct packet *packet, const struct chunk *chunk, struct packet_pool *pool, struct packet_list *list)
{
	if (chunk->len > packet->room) {
		packet_give(pool, packet);
		return;
	}
	memcpy(packet->data, chunk->bytes, chunk->len);
	packet->len = (uint32_t)chunk->len;
	packet->segment = chunk->segment;
	packet_list_push(list, packet);
}

int tun_read(struct tun *tun, struct packet_pool *pool, size_t max, struct packet_list *list)
{
	for (size_t i = 0; i < max; i++) {
		struct chunk *chunk = tun->to_engine.head;
		struct packet *packet;

		if (!chunk)
			return 0;
		packet = chunk->segment ? tun->whole ? packet_take_burst(pool) : NULL : packet_take(pool);
		if (!packet && !chunk->segment)
			return 1;
		chunks_pop(&tun->to_engine);
		if (packet)
			fill(packet, chunk, pool, list);
		else
			cut(chunk->bytes, chunk->len, chunk->segment, pool, list);
		free(chunk);
	}
	return 1;
}

#define PROTOCOL_AT 9
#define PROTOCOL_ICMP 1
#define ICMP_AT 20
#define ECHO_REQUEST 8

/* Turns a request into its reply: addresses swapped, and the type's change carried into the checksum (RFC 1624). */
static void make_reply(struct chunk *chunk)
{
	uint8_t source[4], *icmp = chunk->bytes + ICMP_AT;
	uint32_t sum = (uint32_t)icmp[2] << 8 | icmp[3];

	memcpy(source, chunk->bytes + 12, 4);
	memcpy(chunk->bytes + 12, chunk->bytes + 16, 4);
	memcpy(chunk->bytes + 16, source, 4);
	icmp[0] = 0;
	sum += ECHO_REQUEST << 8;
	sum = (sum & 0xffff) + (sum >> 16);
	icmp[2] = (uint8_t)(sum >> 8);
	icmp[3] = (uint8_t)sum;
}

void tun_write(struct tun *tun, struct packet *const *packets, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct chunk *chunk = chunk_new(packets[i]->data, packets[i]->len);

		chunk->segment = packets[i]->segment;
		tun->host->counts.bursts += chunk->segment != 0;
		if (tun->host->answers_pings && chunk->len > ICMP_AT + 8 && chunk->bytes[0] == 0x45 &&
			chunk->bytes[PROTOCOL_AT] == PROTOCOL_ICMP && chunk->bytes[ICMP_AT] == ECHO_REQUEST) {
			make_reply(chunk);
			chunks_push(&tun->to_engine, chunk);
		} else {
			chunks_push(&tun->from_engine, chunk);
		}
	}
}

void host_answer_pings(struct host *host, bool answer)
{
	host->answers_pings = answer;
}

void host_send_inner(struct host *host, const uint8_t *packet, size_t len)
{
	if (host->tun)
		chunks_push(&host->tun->to_engine, chunk_new(packet, len));
}

void host_has_bursts(struct host *host, bool bursts)
{
	host->bursts = bursts;
}

void host_send_burst(struct host *host, const uint8_t *packet, size_t len, uint16_t segment)
{
	struct chunk *chunk = chunk_new(packet, len);

	chunk->segment = segment;
	chunks_push(&host->tun->to_engine, chunk);
}

size_t host_take_inner(struct host *host, uint8_t *out, size_t room)
{
	struct chunk *chunk = host->tun ? chunks_pop(&host->tun->from_engine) : NULL;
	size_t len;

	if (!chunk)
		return 0;
	len = chunk->len;
	memcpy(out, chunk->bytes, len < room ? len : room);
	free(chunk);
	return len;
}
