/* SPDX-License-Identifier: MIT */
#include "tests/netns/emulator/settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	double factor;
};

static const struct unit delay_units[] = { { "us", 1 }, { "ms", 1e3 }, { "s", 1e6 }, { NULL, 0 } };
static const struct unit rate_units[] = { { "kbit", 1e3 }, { "mbit", 1e6 }, { "gbit", 1e9 }, { NULL, 0 } };
static const struct unit queue_units[] = { { "", 1 }, { "k", 1024 }, { "m", 1024 * 1024 }, { NULL, 0 } };
static const struct unit bdp_units[] = { { "bdp", 1e6 }, { NULL, 0 } };

/* A number with one of the units; 0 needs none. */
static bool parse_quantity(const char *text, const struct unit *units, double most, uint64_t *out)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || !isfinite(number) || number < 0)
		return false;
	if (number <= 0 && !*end) {
		*out = 0;
		return true;
	}
	for (; units->name; units++) {
		if (strcmp(end, units->name))
			continue;
		if (number * units->factor > most)
			return false;
		*out = (uint64_t)(number * units->factor + 0.5);
		return true;
	}
	return false;
}

/* "1.5%" or "0.015"; *end is left behind it. */
static bool parse_chance(const char *text, char **end, double *out)
{
	double number = strtod(text, end);

	if (*end == text || !isfinite(number))
		return false;
	if (**end == '%') {
		number /= 100;
		(*end)++;
	}
	if (number < 0 || number > 1)
		return false;
	*out = number;
	return true;
}

/* ENTER,LEAVE,LOSS and perhaps the loss of the good state, which is what loss= sets too. */
static bool parse_bursts(const char *text, struct direction_settings *settings)
{
	double chances[4];
	size_t count = 0;
	char *end;

	if (!strcmp(text, "off")) {
		settings->bad_enter = settings->bad_leave = settings->bad_loss = 0;
		return true;
	}
	do {
		if (count == 4 || !parse_chance(text, &end, &chances[count++]))
			return false;
		text = end + 1;
	} while (*end == ',');
	if (*end || count < 3)
		return false;
	settings->bad_enter = chances[0];
	settings->bad_leave = chances[1];
	settings->bad_loss = chances[2];
	if (count == 4)
		settings->loss = chances[3];
	return true;
}

static bool parse_reorder(const char *text, struct direction_settings *settings)
{
	uint64_t time_us;
	double chance;
	char *end;

	if (!strcmp(text, "off")) {
		settings->reorder = 0;
		settings->reorder_us = 0;
		return true;
	}
	if (!parse_chance(text, &end, &chance) || *end != ',' ||
		!parse_quantity(end + 1, delay_units, 60e6, &time_us))
		return false;
	settings->reorder = chance;
	settings->reorder_us = time_us;
	return true;
}

static bool parse_queue(const char *text, struct direction_settings *settings)
{
	uint64_t millionths;

	if (parse_quantity(text, queue_units, 1e9, &settings->queue_bytes)) {
		settings->queue_bdp = 0;
		return true;
	}
	if (!parse_quantity(text, bdp_units, 1e9, &millionths) || !millionths)
		return false;
	settings->queue_bdp = (double)millionths / 1e6;
	return true;
}

bool settings_parse(struct direction_settings *settings, const char *text, const char **problem)
{
	const char *value = strchr(text, '=');
	size_t len = value ? (size_t)(value - text) : 0;
	char *end;
	double loss;

	if (!value) {
		*problem = "expected key=value";
		return false;
	}
	value++;
	if (len == 5 && !strncmp(text, "delay", len)) {
		*problem = "delay wants a number with us, ms or s";
		return parse_quantity(value, delay_units, 60e6, &settings->delay_us);
	}
	if (len == 4 && !strncmp(text, "rate", len)) {
		*problem = "rate wants a number with kbit, mbit or gbit, or 0 for no limit";
		return parse_quantity(value, rate_units, 100e9, &settings->rate_bps);
	}
	if (len == 5 && !strncmp(text, "queue", len)) {
		*problem = "queue wants bytes, or a number with k, m or bdp";
		return parse_queue(value, settings);
	}
	if (len == 4 && !strncmp(text, "loss", len)) {
		*problem = "loss wants a percentage, or a number between 0 and 1";
		if (!parse_chance(value, &end, &loss) || *end)
			return false;
		settings->loss = loss;
		return true;
	}
	if (len == 2 && !strncmp(text, "ge", len)) {
		*problem = "ge wants ENTER,LEAVE,LOSS or ENTER,LEAVE,LOSS,LOSS-WHEN-GOOD as chances, or off";
		return parse_bursts(value, settings);
	}
	if (len == 7 && !strncmp(text, "reorder", len)) {
		*problem = "reorder wants CHANCE,TIME such as 1%,5ms, or off";
		return parse_reorder(value, settings);
	}
	*problem = "the keys are delay, rate, queue, loss, ge and reorder";
	return false;
}

void settings_write(const struct direction_settings *settings, char *out, size_t size)
{
	char bursts[96] = "off", queue[32], reorder[64] = "off";

	if (settings->bad_enter > 0)
		snprintf(bursts, sizeof(bursts), "%.9g,%.9g,%.9g", settings->bad_enter, settings->bad_leave,
			settings->bad_loss);
	if (settings->queue_bdp > 0)
		snprintf(queue, sizeof(queue), "%.9gbdp", settings->queue_bdp);
	else
		snprintf(queue, sizeof(queue), "%" PRIu64, settings->queue_bytes);
	if (settings->reorder > 0)
		snprintf(reorder, sizeof(reorder), "%.9g,%" PRIu64 "us", settings->reorder,
			settings->reorder_us);
	snprintf(out, size, "delay=%" PRIu64 "us rate=%.9gkbit queue=%s loss=%.9g ge=%s reorder=%s",
		settings->delay_us, (double)settings->rate_bps / 1000, queue, settings->loss, bursts,
		reorder);
}
