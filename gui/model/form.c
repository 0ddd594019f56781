/* SPDX-License-Identifier: MIT */
#include "gui/model/form.h"

#include "core/base/text.h"
#include "core/config/write.h"
#include "gui/model/translate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stands for every hidden key, so that the parser has one. It is nobody's: the text "private key is hidden in this
 * editor". */
#define STAND_IN "cHJpdmF0ZWtleWlzaGlkZGVuaW50aGlzZWRpdG9yMDA="

static const char *const transports[] = { "auto", "udp", "tcp", NULL };
static const char *const transport_labels[] = { N_("Automatic"), N_("UDP only"), N_("TCP only"), NULL };
static const char *const peer_transports[] = { "", "auto", "udp", "tcp", NULL };
static const char *const peer_transport_labels[] = { N_("As the tunnel"), N_("Automatic"), N_("UDP only"),
	N_("TCP only"), NULL };
static const char *const backends[] = { "auto", "kernel", "userspace", NULL };
static const char *const backend_labels[] = { N_("Automatic"), N_("Kernel"), N_("Userspace"), NULL };

#define INTERFACE PROFILE_IN_INTERFACE
#define PEER PROFILE_IN_PEER

const struct form_field form_fields[] = {
	{ "Name", N_("Name"), FORM_TEXT, INTERFACE, NULL, NULL },
	{ "PrivateKey", N_("Private key"), FORM_SECRET, INTERFACE, NULL, NULL },
	{ "Address", N_("Addresses inside the tunnel"), FORM_TEXT, INTERFACE, NULL, NULL },
	{ "DNS", N_("DNS servers and search domains"), FORM_TEXT, INTERFACE, NULL, NULL },
	{ "Transport", N_("Carrier"), FORM_CHOICE, INTERFACE, transports, transport_labels },
	{ "Backend", N_("Backend"), FORM_CHOICE, INTERFACE, backends, backend_labels },
	{ "AutoConnect", N_("Connect by itself"), FORM_SWITCH, INTERFACE, NULL, NULL },
	{ "KillSwitch", N_("Block everything else while connected"), FORM_SWITCH, INTERFACE, NULL, NULL },
	{ "MTU", N_("MTU"), FORM_TEXT, INTERFACE, NULL, NULL },
	{ "ListenPort", N_("UDP port"), FORM_TEXT, INTERFACE, NULL, NULL },
	{ "TcpListenPort", N_("TCP port to listen on"), FORM_TEXT, INTERFACE, NULL, NULL },
	{ "Endpoint", N_("Server and port"), FORM_TEXT, PEER, NULL, NULL },
	{ "TcpEndpoint", N_("Server and port for TCP"), FORM_TEXT, PEER, NULL, NULL },
	{ "AllowedIPs", N_("Networks behind it (AllowedIPs)"), FORM_TEXT, PEER, NULL, NULL },
	{ "PresharedKey", N_("Preshared key"), FORM_SECRET, PEER, NULL, NULL },
	{ "Transport", N_("Carrier"), FORM_CHOICE, PEER, peer_transports, peer_transport_labels },
	{ "UdpPorts", N_("Further UDP ports to try"), FORM_TEXT, PEER, NULL, NULL },
	{ "PersistentKeepalive", N_("Keepalive, in seconds"), FORM_TEXT, PEER, NULL, NULL },
	{ "ProbeAddress", N_("Address to ask inside"), FORM_TEXT, PEER, NULL, NULL },
};
const size_t form_field_count = sizeof(form_fields) / sizeof(form_fields[0]);

static bool is_secret(const char *key)
{
	return !strcmp(key, "PrivateKey") || !strcmp(key, "PresharedKey");
}

/* exported with every hidden key replaced; NULL when memory is short. */
static char *with_stand_ins(const char *exported, size_t *len)
{
	size_t hidden_len = strlen(PROFILE_HIDDEN), stand_in_len = strlen(STAND_IN), count = 0;
	const char *at;
	char *text, *to;

	for (at = exported; (at = strstr(at, PROFILE_HIDDEN)); at += hidden_len)
		count++;
	text = malloc(strlen(exported) + count * stand_in_len + 1);
	if (!text)
		return NULL;
	for (to = text; (at = strstr(exported, PROFILE_HIDDEN)); exported = at + hidden_len) {
		memcpy(to, exported, (size_t)(at - exported));
		to += at - exported;
		memcpy(to, STAND_IN, stand_in_len);
		to += stand_in_len;
	}
	memcpy(to, exported, strlen(exported) + 1);
	*len = (size_t)(to - text) + strlen(exported);
	return text;
}

static void say_no_memory(struct profile_error *error)
{
	*error = (struct profile_error){ 0 };
	snprintf(error->sentence, sizeof(error->sentence), "%s", _("there is not enough memory"));
}

bool form_open(struct form *form, const char *file_name, const char *exported, struct profile_error *error)
{
	struct profile profile = { 0 };
	size_t len = 0;
	char *text = with_stand_ins(exported, &len);

	if (!text) {
		say_no_memory(error);
		return false;
	}
	if (!profile_parse(file_name, text, len, &profile, error, NULL)) {
		free(text);
		return false;
	}
	*form = (struct form){ .text = text, .len = len, .peer_count = profile.peer_count };
	profile_free(&profile);
	return true;
}

void form_close(struct form *form)
{
	/* A key that the person typed is in it until it is saved. */
	profile_text_free(form->text, form->len);
	*form = (struct form){ 0 };
}

/* ---- reading ---- */

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && text_is_blank(*at))
		at++;
	return at;
}

static const char *trim_end(const char *start, const char *end)
{
	while (end > start && text_is_blank(end[-1]))
		end--;
	return end;
}

/* The value of "KEY = VALUE" on a line, or of "# Name = VALUE"; false: the line is another. Comments behind values do
 * not come: the text was written by profile_write and edited by profile_edit. */
static bool line_value(const char *at, const char *end, const char *key, const char **value, const char **value_end)
{
	const char *equals;
	bool is_name = !strcmp(key, "Name");

	at = skip_blanks(at, end);
	if (is_name) {
		if (at == end || *at != '#')
			return false;
		at = skip_blanks(at + 1, end);
	}
	equals = memchr(at, '=', (size_t)(end - at));
	if (!equals || !text_equal_nocase(at, (size_t)(trim_end(at, equals) - at), key))
		return false;
	*value = skip_blanks(equals + 1, end);
	*value_end = trim_end(*value, end);
	return true;
}

bool form_value(const struct form *form, size_t peer, const char *key, char out[FORM_VALUE_MAX])
{
	const char *at = form->text, *all = form->text + form->len, *value, *value_end;
	size_t section = FORM_INTERFACE, peers = 0, len = 0;

	out[0] = '\0';
	while (at < all) {
		const char *newline = memchr(at, '\n', (size_t)(all - at)), *end = newline ? newline : all;
		const char *start = skip_blanks(at, end);
		size_t line_len = (size_t)(trim_end(start, end) - start);

		if (text_equal_nocase(start, line_len, "[Peer]")) {
			section = peers++;
		} else if (text_equal_nocase(start, line_len, "[Interface]")) {
			section = FORM_INTERFACE;
		} else if (section == peer && line_value(start, end, key, &value, &value_end)) {
			size_t value_len = (size_t)(value_end - value), separator = len ? 2 : 0;

			if (len + separator + value_len + 1 > FORM_VALUE_MAX)
				return false;
			memcpy(out + len, ", ", separator);
			memcpy(out + len + separator, value, value_len);
			len += separator + value_len;
			out[len] = '\0';
		}
		at = newline ? newline + 1 : all;
	}
	if (is_secret(key) && !strcmp(out, STAND_IN))
		snprintf(out, FORM_VALUE_MAX, "%s", PROFILE_HIDDEN);
	return true;
}

void form_peer_title(const struct form *form, size_t peer, char *out, size_t size)
{
	char value[FORM_VALUE_MAX];

	if ((form_value(form, peer, "Name", value) && value[0]) || form_value(form, peer, "PublicKey", value))
		snprintf(out, size, "%s", value);
	else
		snprintf(out, size, "%zu", peer + 1);
}

bool form_set(struct form *form, size_t peer, const char *key, const char *value, struct profile_error *error)
{
	size_t len = 0;
	char *text;

	if (!profile_edit("", form->text, form->len, peer, key, value[0] ? value : NULL, &text, &len, error))
		return false;
	profile_text_free(form->text, form->len);
	form->text = text;
	form->len = len;
	return true;
}
