/* SPDX-License-Identifier: MIT */
/* Groups and keys may come in any order, so each value that is needed is looked up from the start: such files
 * are small. */
#include "client/cli/keyfile.h"

#include "core/base/wipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX 4096
#define PEER_GROUP "wireguard-peer."

struct span {
	const char *at;
	size_t len;
};

static bool next_line(const char **at, const char *end, struct span *line)
{
	const char *stop;

	if (*at >= end)
		return false;
	stop = memchr(*at, '\n', (size_t)(end - *at));
	line->at = *at;
	line->len = (size_t)((stop ? stop : end) - *at);
	*at = stop ? stop + 1 : end;
	while (line->len && (line->at[line->len - 1] == '\r' || line->at[line->len - 1] == ' '))
		line->len--;
	while (line->len && line->at[0] == ' ') {
		line->at++;
		line->len--;
	}
	return true;
}

static bool is_group(const struct span *line, struct span *name)
{
	if (line->len < 3 || line->at[0] != '[' || line->at[line->len - 1] != ']')
		return false;
	*name = (struct span){ line->at + 1, line->len - 2 };
	return true;
}

static bool equals(const struct span *span, const char *text)
{
	return span->len == strlen(text) && !memcmp(span->at, text, span->len);
}

/* Undoes the escapes of a key file: \s \n \t \r \\ and \; within lists. */
static bool unescape(const char *from, size_t len, char out[VALUE_MAX])
{
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		char character = from[i];

		if (character == '\\' && i + 1 < len) {
			char next = from[++i];

			character = next == 's'   ? ' '
				    : next == 'n' ? '\n'
				    : next == 't' ? '\t'
				    : next == 'r' ? '\r'
						  : next;
		}
		if (used == VALUE_MAX - 1)
			return false;
		out[used++] = character;
	}
	out[used] = '\0';
	return true;
}

/* False when it is not there, or longer than any such value. */
static bool find(const struct span *file, const char *group, const char *key, char out[VALUE_MAX])
{
	const char *at = file->at, *end = file->at + file->len;
	size_t key_len = strlen(key);
	bool inside = false;
	struct span line, name;

	while (next_line(&at, end, &line)) {
		if (is_group(&line, &name)) {
			inside = equals(&name, group);
			continue;
		}
		if (!inside || line.len <= key_len || memcmp(line.at, key, key_len) != 0)
			continue;
		while (key_len < line.len && line.at[key_len] == ' ')
			key_len++;
		if (line.at[key_len] != '=') {
			key_len = strlen(key);
			continue;
		}
		key_len++;
		while (key_len < line.len && line.at[key_len] == ' ')
			key_len++;
		return unescape(line.at + key_len, line.len - key_len, out);
	}
	return false;
}

/* ---- writing ---- */

/* written: what snprintf said of the room that there is. A line is there whole or not at all. */
static void take(struct keyfile_profile *out, int written)
{
	if (written > 0 && (size_t)written < out->room - out->len) {
		out->len += (size_t)written;
		return;
	}
	out->text[out->len] = '\0';
	out->cut = true;
}

static void add(struct keyfile_profile *out, const char *key, const char *value)
{
	if (value[0])
		take(out, snprintf(out->text + out->len, out->room - out->len, "%s = %s\n", key, value));
}

static void add_line(struct keyfile_profile *out, const char *line)
{
	take(out, snprintf(out->text + out->len, out->room - out->len, "%s\n", line));
}

/* "a;b;" as "a, b". */
static void to_commas(char *list)
{
	char copy[VALUE_MAX];
	size_t used = 0;

	for (size_t i = 0; list[i] && used + 3 < sizeof(copy); i++) {
		if (list[i] != ';') {
			copy[used++] = list[i];
		} else if (list[i + 1] && list[i + 1] != ';') {
			copy[used++] = ',';
			copy[used++] = ' ';
		}
	}
	copy[used] = '\0';
	memcpy(list, copy, used + 1);
}

static void note(struct keyfile_profile *out, const char *what)
{
	size_t used = strlen(out->left_out);

	snprintf(out->left_out + used, sizeof(out->left_out) - used, "%s%s", used ? ", " : "", what);
}

/* address1 = ADDRESS/LENGTH[,GATEWAY], address2, ...; before 1.0 "addresses". */
static void add_addresses(const struct span *file, const char *group, struct keyfile_profile *out)
{
	char key[24], value[VALUE_MAX];

	for (unsigned i = 1; i < 100; i++) {
		snprintf(key, sizeof(key), "address%u", i);
		if (!find(file, group, key, value)) {
			if (i > 1)
				break;
			continue;
		}
		value[strcspn(value, ",")] = '\0';
		add(out, "Address", value);
	}
	if (find(file, group, "route1", value))
		note(out, "its own routes");
}

static void add_dns(const struct span *file, const char *group, struct keyfile_profile *out)
{
	char value[VALUE_MAX];

	if (find(file, group, "dns", value)) {
		to_commas(value);
		add(out, "DNS", value);
	}
	if (find(file, group, "dns-search", value) && value[0] != '~') {
		to_commas(value);
		add(out, "DNS", value);
	}
}

static void add_interface(const struct span *file, struct keyfile_profile *out)
{
	static const struct {
		const char *from, *to;
	} keys[] = { { "private-key", "PrivateKey" }, { "listen-port", "ListenPort" }, { "fwmark", "FwMark" },
		{ "mtu", "MTU" } };
	char value[VALUE_MAX];

	add_line(out, "[Interface]");
	add(out, "# Name", out->id);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (find(file, "wireguard", keys[i].from, value) && strcmp(value, "0") != 0)
			add(out, keys[i].to, value);
	memory_wipe(value, sizeof(value));
	if (find(file, "wireguard", "peer-routes", value) &&
		(!strcmp(value, "false") || !strcmp(value, "no")))
		add(out, "Table", "off");
	add_addresses(file, "ipv4", out);
	add_addresses(file, "ipv6", out);
	add_dns(file, "ipv4", out);
	add_dns(file, "ipv6", out);
}

static void add_peer(const struct span *file, const char *group, struct keyfile_profile *out)
{
	char value[VALUE_MAX];

	add_line(out, "\n[Peer]");
	add(out, "PublicKey", group + strlen(PEER_GROUP));
	if (find(file, group, "preshared-key", value))
		add(out, "PresharedKey", value);
	else if (find(file, group, "preshared-key-flags", value) && strcmp(value, "0") != 0 &&
		 strcmp(value, "4") != 0)
		note(out, "a preshared key that NetworkManager keeps elsewhere");
	if (find(file, group, "allowed-ips", value)) {
		to_commas(value);
		add(out, "AllowedIPs", value);
	}
	if (find(file, group, "endpoint", value))
		add(out, "Endpoint", value);
	if (find(file, group, "persistent-keepalive", value))
		add(out, "PersistentKeepalive", value);
	memory_wipe(value, sizeof(value));
}

/* A group that comes again goes on, and find sees the first of them: one peer. */
static bool was_before(const struct span *file, const char *end, const struct span *group)
{
	const char *at = file->at;
	struct span line, name;

	while (next_line(&at, end, &line))
		if (is_group(&line, &name) && name.len == group->len && !memcmp(name.at, group->at, name.len))
			return true;
	return false;
}

static void add_peers(const struct span *file, struct keyfile_profile *out)
{
	const char *at = file->at, *end = file->at + file->len;
	struct span line, name;
	char group[128];

	while (next_line(&at, end, &line)) {
		if (!is_group(&line, &name) || name.len <= strlen(PEER_GROUP) || name.len >= sizeof(group) ||
			memcmp(name.at, PEER_GROUP, strlen(PEER_GROUP)) != 0 ||
			was_before(file, line.at, &name))
			continue;
		memcpy(group, name.at, name.len);
		group[name.len] = '\0';
		add_peer(file, group, out);
	}
}

/* A line break in a value would become a line of the profile. */
static bool is_clean(const struct span *file)
{
	const char *at = file->at, *end = file->at + file->len;
	char value[VALUE_MAX];
	struct span line;
	bool clean = true;

	while (clean && next_line(&at, end, &line)) {
		if (line.len && line.at[0] == '#')
			continue;
		if (!unescape(line.at, line.len, value)) {
			clean = false;
			break;
		}
		for (size_t i = 0; value[i]; i++)
			clean = clean && (unsigned char)value[i] >= 0x20 && value[i] != 0x7f;
		clean = clean && !memchr(line.at, '\0', line.len);
	}
	memory_wipe(value, sizeof(value));
	return clean;
}

enum keyfile_kind keyfile_read(const char *text, size_t len, struct keyfile_profile *out)
{
	struct span file = { text, len };
	char value[VALUE_MAX];
	bool has_key;

	*out = (struct keyfile_profile){ 0 };
	if (!find(&file, "connection", "type", value) || strcmp(value, "wireguard") != 0)
		return KEYFILE_OTHER;
	if (!is_clean(&file))
		return KEYFILE_BAD;
	if (find(&file, "connection", "id", value))
		snprintf(out->id, sizeof(out->id), "%.100s", value);
	has_key = find(&file, "wireguard", "private-key", value) && value[0];
	memory_wipe(value, sizeof(value));
	if (!has_key)
		return KEYFILE_NO_KEY;
	/* Each line becomes one that is hardly longer: at most its key's name, and a space behind each comma. */
	out->room = 3 * len + 1024;
	out->text = calloc(1, out->room);
	if (!out->text)
		return KEYFILE_BAD;
	add_interface(&file, out);
	add_peers(&file, out);
	return out->cut ? KEYFILE_BAD : KEYFILE_PROFILE;
}

void keyfile_free(struct keyfile_profile *profile)
{
	if (profile->text)
		memory_wipe(profile->text, profile->room);
	free(profile->text);
	*profile = (struct keyfile_profile){ 0 };
}
