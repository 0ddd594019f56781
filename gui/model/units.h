/* SPDX-License-Identifier: MIT */
/* Figures as people read them, with the decimal sign of their language. Pure but for the language. */
#ifndef WGTCP_GUI_MODEL_UNITS_H
#define WGTCP_GUI_MODEL_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Room for any of these, in any language. */
#define UNITS_LEN 64

/* "512 B", "1.2 MiB" */
void units_bytes(uint64_t bytes, char *out, size_t size);
/* "0 bit/s", "1.2 Mbit/s" */
void units_rate(uint64_t bps, char *out, size_t size);
/* As units_rate, shorter, for the axis of a graph: "0", "500k", "20M". */
void units_rate_short(uint64_t bps, char *out, size_t size);
/* "0.4 ms", "23 ms", "1.2 s" */
void units_rtt(uint64_t us, char *out, size_t size);
/* "8 s", "2 min 5 s", "1 h 4 min", "3 d 2 h": two parts at most */
void units_duration(uint64_t seconds, char *out, size_t size);
/* "8 s ago"; "never" when then is 0; "just now" within two seconds, or when the clock went back. */
void units_ago(uint64_t then, uint64_t now, char *out, size_t size);

#endif
