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

static bool parse_bursts(const char *text, struct direction_settings *settings)
{
	double chances[3];
	char *end;

	if (!strcmp(text, "off")) {
		settings->bad_enter = settings->bad_leave = settings->bad_loss = 0;
		return true;
	}
	for (size_t i = 0; i < 3; i++) {
		if (!parse_chance(text, &end, &chances[i]))
			return false;
		if (*end != (i < 2 ? ',' : '\0'))
			return false;
		text = end + 1;
	}
	settings->bad_enter = chances[0];
	settings->bad_leave = chances[1];
	settings->bad_loss = chances[2];
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
		*problem = "queue wants bytes, or a number with k or m";
		return parse_quantity(value, queue_units, 1e9, &settings->queue_bytes);
	}
	if (len == 4 && !strncmp(text, "loss", len)) {
		*problem = "loss wants a percentage, or a number between 0 and 1";
		if (!parse_chance(value, &end, &loss) || *end)
			return false;
		settings->loss = loss;
		return true;
	}
	if (len == 2 && !strncmp(text, "ge", len)) {
		*problem = "ge wants ENTER,LEAVE,LOSS as chances, or off";
		return parse_bursts(value, settings);
	}
	*problem = "the keys are delay, rate, queue, loss and ge";
	return false;
}

void settings_write(const struct direction_settings *settings, char *out, size_t size)
{
	char bursts[96] = "off";

	if (settings->bad_enter > 0)
		snprintf(bursts, sizeof(bursts), "%.9g,%.9g,%.9g", settings->bad_enter, settings->bad_leave,
			settings->bad_loss);
	snprintf(out, size, "delay=%" PRIu64 "us rate=%.9gkbit queue=%" PRIu64 " loss=%.9g ge=%s", settings->delay_us,
		(double)settings->rate_bps / 1000, settings->queue_bytes, settings->loss, bursts);
}
