/* SPDX-License-Identifier: MIT */
#include "gui/model/units.h"

#include "gui/model/translate.h"

#include <stdio.h>

#define JUST_NOW_S 2

/* Three digits at most: "1.2", "12.3", "123". */
static void write_scaled(double value, const char *unit, char *out, size_t size)
{
	snprintf(out, size, value < 99.95 ? "%.1f %s" : "%.0f %s", value, unit);
}

void units_bytes(uint64_t bytes, char *out, size_t size)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(out, size, "%u B", (unsigned)bytes);
		return;
	}
	for (; value >= 1023.5 && unit < 5; unit++)
		value /= 1024;
	write_scaled(value, units[unit], out, size);
}

void units_rate(uint64_t bps, char *out, size_t size)
{
	static const char *const units[] = { "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s" };
	double value = (double)bps / 1000;
	size_t unit = 0;

	if (bps < 1000) {
		snprintf(out, size, "%u bit/s", (unsigned)bps);
		return;
	}
	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1000;
	write_scaled(value, units[unit], out, size);
}

void units_rate_short(uint64_t bps, char *out, size_t size)
{
	static const char units[] = { 'k', 'M', 'G', 'T' };
	double value = (double)bps / 1000;
	size_t unit = 0;

	if (bps < 1000) {
		snprintf(out, size, "%u", (unsigned)bps);
		return;
	}
	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1000;
	/* Ticks of an axis are 1, 2 or 5 times a power of ten, or a half or a quarter of that. */
	snprintf(out, size, "%.3g%c", value, units[unit]);
}

void units_rtt(uint64_t us, char *out, size_t size)
{
	if (us < 9950)
		snprintf(out, size, "%.1f ms", (double)us / 1000);
	else if (us < 999500)
		snprintf(out, size, "%.0f ms", (double)us / 1000);
	else
		snprintf(out, size, "%.1f s", (double)us / 1e6);
}

void units_duration(uint64_t seconds, char *out, size_t size)
{
	uint64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

	if (minutes == 0)
		snprintf(out, size, _("%u s"), (unsigned)seconds);
	else if (hours == 0)
		snprintf(out, size, _("%u min %u s"), (unsigned)minutes, (unsigned)(seconds % 60));
	else if (days == 0)
		snprintf(out, size, _("%u h %u min"), (unsigned)hours, (unsigned)(minutes % 60));
	else
		snprintf(out, size, _("%u d %u h"), (unsigned)days, (unsigned)(hours % 24));
}

void units_ago(uint64_t then, uint64_t now, char *out, size_t size)
{
	char duration[UNITS_LEN];

	if (!then) {
		snprintf(out, size, "%s", _("never"));
		return;
	}
	if (now < then + JUST_NOW_S) {
		snprintf(out, size, "%s", _("just now"));
		return;
	}
	units_duration(now - then, duration, sizeof(duration));
	snprintf(out, size, _("%s ago"), duration);
}
