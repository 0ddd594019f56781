/* SPDX-License-Identifier: MIT */
/* nm-wgtcp-auth-dialog: asks for the secrets of a connection that nobody has stored. With --external-ui-mode
 * it only says what is to be asked, and the desktop (or nmcli) asks; without, it hands on what is stored, and
 * asks in a window of its own where there is a display (auth_prompt.h). Data and stored secrets come by
 * stdin. Source: nm-vpn-service-plugin.h (read_vpn_details), and what nmcli and GNOME Shell read. */
#include "client/nm/auth_prompt.h"
#include "client/nm/map.h"
#include "client/nm/names.h"

#include <NetworkManager.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

struct options {
	char *uuid, *name, *service;
	gboolean reprompt, interactive, external;
	char **hints;
};

/* ---- which ones ---- */

static bool is_needed(GHashTable *data, const char *secret)
{
	NMSettingSecretFlags flags = NM_SETTING_SECRET_FLAG_NONE;

	nm_vpn_service_plugin_get_secret_flags(data, secret, &flags);
	return !(flags & NM_SETTING_SECRET_FLAG_NOT_REQUIRED);
}

static int compare(const void *a, const void *b)
{
	return g_strcmp0(*(char *const *)a, *(char *const *)b);
}

/* The private key, and the preshared key of each peer that has one. */
static GPtrArray *list_secrets(GHashTable *data)
{
	GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, data);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		size_t peer, len = strlen(key);
		char *name;

		if (!g_str_has_suffix(key, "-flags"))
			continue;
		name = g_strndup(key, len - strlen("-flags"));
		if (nm_map_is_secret(name, &peer) && peer != PROFILE_EDIT_INTERFACE && is_needed(data, name))
			g_ptr_array_add(list, name);
		else
			g_free(name);
	}
	g_ptr_array_sort(list, compare);
	g_ptr_array_insert(list, 0, g_strdup("private-key"));
	return list;
}

static char *label_of(const char *secret)
{
	size_t peer;

	if (!nm_map_is_secret(secret, &peer) || peer == PROFILE_EDIT_INTERFACE)
		return g_strdup("Private key");
	return g_strdup_printf("Preshared key of peer %zu", peer + 1);
}

/* ---- telling ---- */

static void tell_external(const struct options *options, GPtrArray *secrets, GHashTable *stored)
{
	GKeyFile *file = g_key_file_new();
	char *title = g_strdup_printf("Connect %s", options->name), *text;

	g_key_file_set_integer(file, "VPN Plugin UI", "Version", 2);
	g_key_file_set_string(file, "VPN Plugin UI", "Title", title);
	g_key_file_set_string(file, "VPN Plugin UI", "Description",
		"The tunnel's keys are not stored here. They are 44 characters long and end in \"=\".");
	for (guint i = 0; i < secrets->len; i++) {
		const char *secret = secrets->pdata[i], *value = g_hash_table_lookup(stored, secret);
		char *label = label_of(secret);

		g_key_file_set_string(file, secret, "Value", value ? value : "");
		g_key_file_set_string(file, secret, "Label", label);
		g_key_file_set_boolean(file, secret, "IsSecret", TRUE);
		g_key_file_set_boolean(
			file, secret, "ShouldAsk", options->interactive && (!value || options->reprompt));
		g_free(label);
	}
	text = g_key_file_to_data(file, NULL, NULL);
	fputs(text, stdout);
	fflush(stdout);
	explicit_bzero(text, strlen(text));
	g_free(text);
	g_free(title);
	g_key_file_unref(file);
}

/* The older way: pairs of lines, an empty pair, and then whoever asked says QUIT. */
static void tell_lines(GPtrArray *secrets, GHashTable *values)
{
	char line[16];

	for (guint i = 0; i < secrets->len; i++) {
		const char *value = g_hash_table_lookup(values, secrets->pdata[i]);

		if (value)
			printf("%s\n%s\n", (const char *)secrets->pdata[i], value);
	}
	printf("\n\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		if (!strncmp(line, "QUIT", 4))
			break;
}

static int ask_here(const struct options *options, GPtrArray *secrets, GHashTable *stored)
{
	for (guint i = 0; i < secrets->len; i++) {
		const char *secret = secrets->pdata[i];
		char *label, *value;

		if (g_hash_table_contains(stored, secret) && !options->reprompt)
			continue;
		label = label_of(secret);
		value = options->interactive ? auth_prompt(options->name, label) : NULL;
		g_free(label);
		if (!value)
			return 1;
		g_hash_table_replace(stored, g_strdup(secret), value);
	}
	tell_lines(secrets, stored);
	return 0;
}

static bool read_options(int argc, char **argv, struct options *out)
{
	GOptionEntry entries[] = {
		{ "uuid", 'u', 0, G_OPTION_ARG_STRING, &out->uuid, "the connection's UUID", "UUID" },
		{ "name", 'n', 0, G_OPTION_ARG_STRING, &out->name, "its name", "NAME" },
		{ "service", 's', 0, G_OPTION_ARG_STRING, &out->service, "the VPN service", "SERVICE" },
		{ "reprompt", 'r', 0, G_OPTION_ARG_NONE, &out->reprompt, "ask although something is stored",
			NULL },
		{ "allow-interaction", 'i', 0, G_OPTION_ARG_NONE, &out->interactive, "a person may be asked",
			NULL },
		{ "external-ui-mode", 0, 0, G_OPTION_ARG_NONE, &out->external, "only say what to ask", NULL },
		{ "hint", 't', 0, G_OPTION_ARG_STRING_ARRAY, &out->hints, "what is missing", "SECRET" },
		{ 0 },
	};
	GOptionContext *context = g_option_context_new(NULL);
	GError *error = NULL;
	bool ok;

	g_option_context_add_main_entries(context, entries, NULL);
	ok = g_option_context_parse(context, &argc, &argv, &error) && out->uuid && out->name && out->service;
	if (!ok)
		fprintf(stderr, "nm-wgtcp-auth-dialog: %s: see --help\n",
			error ? error->message : "--uuid, --name and --service are needed");
	else if (strcmp(out->service, NM_WGTCP_SERVICE) != 0)
		fprintf(stderr, "nm-wgtcp-auth-dialog: it asks for %s only\n", NM_WGTCP_SERVICE);
	g_clear_error(&error);
	g_option_context_free(context);
	return ok && !strcmp(out->service, NM_WGTCP_SERVICE);
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	GHashTable *data = NULL, *stored = NULL;
	GPtrArray *secrets;
	int code = 0;

	setlocale(LC_ALL, "");
	if (!read_options(argc, argv, &options))
		return 2;
	if (!nm_vpn_service_plugin_read_vpn_details(0, &data, &stored)) {
		fprintf(stderr, "nm-wgtcp-auth-dialog: stdin does not hold a connection's data\n");
		return 1;
	}
	secrets = list_secrets(data);
	if (options.external)
		tell_external(&options, secrets, stored);
	else
		code = ask_here(&options, secrets, stored);
	g_ptr_array_unref(secrets);
	g_hash_table_unref(data);
	g_hash_table_unref(stored);
	g_strfreev(options.hints);
	g_free(options.uuid);
	g_free(options.name);
	g_free(options.service);
	return code;
}
