/* SPDX-License-Identifier: MIT */
/* Points of a history. Used by record.c. */
#include "client/daemon/history_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A machine that has not heard of the right time yet is behind for minutes. */
#define BEHIND_S 86400u

static const uint64_t seconds[] = { [RPC_RESOLUTION_MINUTE] = 60, [RPC_RESOLUTION_HOUR] = 3600 };

struct history *history_new(void)
{
	return calloc(1, sizeof(struct history));
}

static void tunnel_free(struct history_tunnel *tunnel)
{
	free(tunnel->lines[0].points);
	free(tunnel->lines[1].points);
	*tunnel = (struct history_tunnel){ 0 };
}

void history_free(struct history *history)
{
	size_t i;

	if (!history)
		return;
	for (i = 0; i < history->count; i++)
		tunnel_free(&history->tunnels[i]);
	free(history);
}

static struct history_tunnel *find(const struct history *history, const char *name)
{
	size_t i;

	for (i = 0; i < history->count; i++)
		if (!strcmp(history->tunnels[i].name, name))
			return (struct history_tunnel *)&history->tunnels[i];
	return NULL;
}

static uint64_t newest(const struct history_tunnel *tunnel)
{
	const struct history_line *hours = &tunnel->lines[RPC_RESOLUTION_HOUR];

	return hours->count ? hours->points[hours->count - 1].time : 0;
}

struct history_tunnel *history_tunnel(struct history *history, const char *name)
{
	struct history_tunnel *tunnel = find(history, name);
	size_t i;

	if (tunnel)
		return tunnel;
	if (history->count < HISTORY_TUNNELS_MAX) {
		tunnel = &history->tunnels[history->count++];
	} else {
		tunnel = &history->tunnels[0];
		for (i = 1; i < history->count; i++)
			if (newest(&history->tunnels[i]) < newest(tunnel))
				tunnel = &history->tunnels[i];
		tunnel_free(tunnel);
	}
	snprintf(tunnel->name, sizeof(tunnel->name), "%s", name);
	return tunnel;
}

void history_forget(struct history *history, const char *name)
{
	struct history_tunnel *tunnel = find(history, name);

	if (!tunnel)
		return;
	tunnel_free(tunnel);
	*tunnel = history->tunnels[--history->count];
	history->tunnels[history->count] = (struct history_tunnel){ 0 };
}

void history_drop_oldest(struct history_line *line, size_t count)
{
	if (count > line->count)
		count = line->count;
	if (!count)
		return;
	line->count -= count;
	memmove(line->points, line->points + count, line->count * sizeof(*line->points));
}

struct history_point *history_point(struct history_line *line, uint64_t time)
{
	struct history_point *points;
	size_t room;

	if (line->count == HISTORY_POINTS_MAX)
		history_drop_oldest(line, 1);
	if (line->count == line->room) {
		room = line->room ? 2 * line->room : 16;
		points = realloc(line->points, room * sizeof(*points));
		if (!points)
			return NULL;
		line->points = points;
		line->room = room;
	}
	line->points[line->count] = (struct history_point){ .time = time };
	return &line->points[line->count++];
}

static void add(struct history_point *point, const struct history_reading *reading)
{
	point->rx_bytes += reading->rx_bytes;
	point->tx_bytes += reading->tx_bytes;
	if (reading->rx_bps > point->rx_max_bps)
		point->rx_max_bps = reading->rx_bps;
	if (reading->tx_bps > point->tx_max_bps)
		point->tx_max_bps = reading->tx_bps;
	if (reading->rtt_us) {
		point->rtt_sum_us += reading->rtt_us;
		point->rtt_count++;
	}
	if (reading->rtt_us > point->rtt_max_us)
		point->rtt_max_us = reading->rtt_us;
}

/* Else nothing new would come into the history of a clock that was years ahead once, until then. */
static void leave_future(struct history_line *line, uint64_t time)
{
	if (!line->count || time >= line->points[line->count - 1].time) {
		line->behind = 0;
		return;
	}
	if (!line->behind || time < line->behind)
		line->behind = time;
	if (time - line->behind < BEHIND_S)
		return;
	while (line->count && line->points[line->count - 1].time > time)
		line->count--;
	line->behind = 0;
}

/* The newest point, new if its time has come. NULL when memory is short. */
static struct history_point *current(struct history_line *line, uint64_t time, bool *is_new)
{
	struct history_point *last;

	leave_future(line, time);
	last = line->count ? &line->points[line->count - 1] : NULL;
	*is_new = !last || time > last->time;
	return *is_new ? history_point(line, time) : last;
}

bool history_add(struct history *history, const char *name, const struct history_reading *reading)
{
	struct history_tunnel *tunnel;
	struct history_point *minute, *hour;
	uint32_t echoes = 0, lost = 0;
	bool new_minute, new_hour;

	if (!reading->rx_bytes && !reading->tx_bytes && !reading->echoes)
		return false;
	tunnel = history_tunnel(history, name);
	minute = current(&tunnel->lines[RPC_RESOLUTION_MINUTE],
		reading->time - reading->time % seconds[RPC_RESOLUTION_MINUTE], &new_minute);
	hour = current(&tunnel->lines[RPC_RESOLUTION_HOUR],
		reading->time - reading->time % seconds[RPC_RESOLUTION_HOUR], &new_hour);
	if (!minute || !hour)
		return false;
	add(minute, reading);
	add(hour, reading);
	/* A reading's echoes are those of the minute before it, so a minute has what its last reading says;
	 * an hour has what its minutes have. */
	if (!new_minute) {
		echoes = minute->echoes;
		lost = minute->lost;
	}
	minute->echoes = reading->echoes;
	minute->lost = reading->lost;
	hour->echoes += reading->echoes > echoes ? reading->echoes - echoes : 0;
	hour->lost += reading->lost > lost ? reading->lost - lost : 0;
	if (hour->lost > hour->echoes)
		hour->lost = hour->echoes;
	return true;
}

size_t history_points(const struct history *history, const char *name, enum rpc_resolution resolution,
	uint64_t before, struct rpc_point *out, size_t max)
{
	const struct history_tunnel *tunnel = find(history, name);
	const struct history_line *line = tunnel ? &tunnel->lines[resolution] : NULL;
	size_t end = line ? line->count : 0, first, i;

	while (before && end && line->points[end - 1].time >= before)
		end--;
	first = end > max ? end - max : 0;
	for (i = first; i < end; i++) {
		const struct history_point *point = &line->points[i];

		out[i - first] = (struct rpc_point){
			.time = point->time,
			.rx_bytes = point->rx_bytes,
			.tx_bytes = point->tx_bytes,
			.rx_max_bps = point->rx_max_bps,
			.tx_max_bps = point->tx_max_bps,
			.rtt_us = point->rtt_count ? (uint32_t)(point->rtt_sum_us / point->rtt_count) : 0,
			.rtt_max_us = point->rtt_max_us,
			.echoes = point->echoes,
			.lost = point->lost,
		};
	}
	return end - first;
}
