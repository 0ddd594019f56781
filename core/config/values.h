/* SPDX-License-Identifier: MIT */
/* The kinds of value that keys have. Each reads the whole of len bytes, or fails with a sentence that names
 * the key of the reading, the cause and the cure. Outputs are written only on success. Private to
 * core/config. */
#ifndef WGTCP_CORE_CONFIG_VALUES_H
#define WGTCP_CORE_CONFIG_VALUES_H

#include "core/config/keys.h"

/* Fails at a place in the line. */
__attribute__((format(printf, 3, 4))) bool profile_value_fail(
	struct profile_reading *reading, const char *at, const char *format, ...);
bool profile_value_no_memory(struct profile_reading *reading, const char *at);

bool profile_value_number(struct profile_reading *reading, const char *value, size_t len, uint32_t min,
	uint32_t max, uint32_t *out);
/* "off" is 0. */
bool profile_value_number_or_off(
	struct profile_reading *reading, const char *value, size_t len, uint32_t max, uint32_t *out);
bool profile_value_switch(struct profile_reading *reading, const char *value, size_t len, bool *out);
/* One of count names, by its index. */
bool profile_value_word(struct profile_reading *reading, const char *value, size_t len,
	const char *const *names, size_t count, size_t *out);
bool profile_value_key(
	struct profile_reading *reading, const char *value, size_t len, uint8_t out[PROFILE_KEY_LEN]);
bool profile_value_prefix(
	struct profile_reading *reading, const char *value, size_t len, struct ip_prefix *out);
bool profile_value_host(
	struct profile_reading *reading, const char *value, size_t len, struct profile_host *out);
/* Letters, digits, '-', '_' and '.' in labels of 1 to 63. */
bool profile_domain_valid(const char *text, size_t len);

/* Calls one for each element: commas part them, and blanks unless keep_blanks. */
bool profile_value_list(struct profile_reading *reading, const char *value, size_t len, bool keep_blanks,
	bool (*one)(struct profile_reading *reading, const char *value, size_t len));

#endif
