/* SPDX-License-Identifier: MIT */
/* A history as text: a first line that names the format, then for each tunnel "t NAME" and its points, oldest
 * first, as "m" or "h" and ten numbers. */
#include "client/daemon/history_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "wgtcp-history 1\n"
/* The longest line that write_line makes. */
#define LINE_MAX_BYTES 224
#define NUMBERS 10

static const char letters[] = { [RPC_RESOLUTION_MINUTE] = 'm', [RPC_RESOLUTION_HOUR] = 'h' };

static size_t write_point(char *out, size_t size, char letter, const struct history_point *point)
{
	int len = snprintf(out, size,
		"%c %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32
		" %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
		letter, point->time, point->rx_bytes, point->tx_bytes, point->rx_max_bps, point->tx_max_bps,
		point->rtt_sum_us, point->rtt_count, point->rtt_max_us, point->echoes, point->lost);

	return len > 0 && (size_t)len < size ? (size_t)len : 0;
}

/* 0: it does not fit. */
static size_t write_all(const struct history *history, char *out, size_t size)
{
	size_t len = 0, i, j, r;

	memcpy(out, HEAD, sizeof(HEAD) - 1);
	len = sizeof(HEAD) - 1;
	for (i = 0; i < history->count; i++) {
		const struct history_tunnel *tunnel = &history->tunnels[i];

		if (size - len < LINE_MAX_BYTES)
			return 0;
		len += (size_t)snprintf(out + len, size - len, "t %s\n", tunnel->name);
		for (r = 0; r < 2; r++)
			for (j = 0; j < tunnel->lines[r].count; j++) {
				if (size - len < LINE_MAX_BYTES)
					return 0;
				len += write_point(
					out + len, size - len, letters[r], &tunnel->lines[r].points[j]);
			}
	}
	return len;
}

/* The oldest quarter of all minutes; without any, of all hours: minutes cover less and are soon too old
 * anyway. */
static void drop_some(struct history *history)
{
	size_t i, r, dropped = 0;

	for (r = 0; r < 2 && !dropped; r++)
		for (i = 0; i < history->count; i++) {
			struct history_line *line = &history->tunnels[i].lines[r];
			size_t count = (line->count + 3) / 4;

			history_drop_oldest(line, count);
			dropped += count;
		}
}

char *history_write(struct history *history, size_t *len)
{
	char *text = malloc(HISTORY_BYTES_MAX);

	if (!text)
		return NULL;
	while (!(*len = write_all(history, text, HISTORY_BYTES_MAX)))
		drop_some(history);
	return text;
}

/* ---- reading ---- */

static bool read_numbers(const char *text, uint64_t out[NUMBERS])
{
	size_t i;

	for (i = 0; i < NUMBERS; i++) {
		char *end;

		if (text[0] != ' ' || text[1] < '0' || text[1] > '9')
			return false;
		errno = 0;
		out[i] = strtoull(text + 1, &end, 10);
		if (errno)
			return false;
		text = end;
	}
	return !text[0];
}

static bool read_point(struct history_tunnel *tunnel, enum rpc_resolution resolution, const char *text)
{
	struct history_line *line = &tunnel->lines[resolution];
	struct history_point *point;
	uint64_t n[NUMBERS];

	if (!read_numbers(text, n) || n[6] > UINT32_MAX || n[7] > UINT32_MAX || n[8] > UINT32_MAX ||
		n[9] > n[8])
		return false;
	if (line->count && line->points[line->count - 1].time >= n[0])
		return false;
	point = history_point(line, n[0]);
	if (!point)
		return false;
	*point = (struct history_point){ n[0], n[1], n[2], n[3], n[4], n[5], (uint32_t)n[6], (uint32_t)n[7],
		(uint32_t)n[8], (uint32_t)n[9] };
	return true;
}

static bool is_name(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=+.-";
	size_t len = strlen(text);

	return len && len < HISTORY_NAME_LEN && strspn(text, allowed) == len;
}

bool history_read(struct history *history, const char *text, size_t len)
{
	struct history_tunnel *tunnel = NULL;
	const char *end = text + len, *next;
	char line[LINE_MAX_BYTES];

	if (len < sizeof(HEAD) - 1 || memcmp(text, HEAD, sizeof(HEAD) - 1) != 0)
		return false;
	for (text += sizeof(HEAD) - 1; text < end; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		if (!next || (size_t)(next - text) >= sizeof(line) || memchr(text, 0, (size_t)(next - text)))
			return false;
		memcpy(line, text, (size_t)(next - text));
		line[next - text] = 0;
		if (line[0] == 't' && line[1] == ' ' && is_name(line + 2))
			tunnel = history_tunnel(history, line + 2);
		else if (line[0] == letters[RPC_RESOLUTION_MINUTE] && tunnel) {
			if (!read_point(tunnel, RPC_RESOLUTION_MINUTE, line + 1))
				return false;
		} else if (line[0] != letters[RPC_RESOLUTION_HOUR] || !tunnel ||
			   !read_point(tunnel, RPC_RESOLUTION_HOUR, line + 1))
			return false;
	}
	return true;
}
