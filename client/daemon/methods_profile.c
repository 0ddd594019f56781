/* SPDX-License-Identifier: MIT */
/* tunnel.list, .import, .export, .delete, .set. Called by methods.c. */
#include "client/daemon/methods.h"

#include "client/daemon/backend.h"
#include "client/daemon/daemon.h"
#include "client/daemon/journal.h"
#include "client/daemon/manager.h"
#include "client/daemon/polkit.h"
#include "client/daemon/profiles.h"
#include "core/config/edit.h"
#include "core/config/key_text.h"
#include "core/config/keys.h"
#include "core/config/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- list ---- */

static struct rpc_entry entry_of(struct daemon *daemon, const struct profile_file *file)
{
	struct rpc_entry entry = { .read_only = file->read_only,
		.state = manager_state(daemon->manager, file->name) };
	struct rpc_error error = { 0 };
	struct loaded loaded;

	snprintf(entry.name, sizeof(entry.name), "%s", file->name);
	snprintf(entry.display_name, sizeof(entry.display_name), "%s", file->name);
	snprintf(entry.file, sizeof(entry.file), "%s/%s.conf",
		file->read_only ? PROFILES_WG_QUICK : daemon->config_folder, file->name);
	if (!profiles_load(daemon->profiles, file->name, &loaded, &error)) {
		snprintf(entry.error, sizeof(entry.error), "%s", error.message);
		rpc_error_free(&error);
		return entry;
	}
	if (loaded.profile.name[0])
		snprintf(entry.display_name, sizeof(entry.display_name), "%s", loaded.profile.name);
	entry.transport = loaded.profile.transport;
	entry.backend = backend_wish(&loaded.profile);
	entry.auto_connect = loaded.profile.auto_connect;
	loaded_free(&loaded);
	return entry;
}

void method_list(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_LIST };
	struct profile_file *files;
	size_t count = profiles_list(daemon->profiles, &files), i;

	result.list.tunnel_from = request->tunnel_from < count ? request->tunnel_from : (uint32_t)count;
	result.list.tunnels_total = (uint32_t)count;
	result.list.tunnels = calloc(count + 1, sizeof(*result.list.tunnels));
	if (result.list.tunnels) {
		for (i = result.list.tunnel_from; i < count; i++)
			result.list.tunnels[result.list.tunnel_count++] = entry_of(daemon, &files[i]);
	}
	client_reply(client, &request->id, &result);
	rpc_result_free(&result);
	free(files);
}

/* ---- import ---- */

static bool import_name(const struct rpc_request *request, const struct profile *profile,
	char name[PROFILE_NAME_LEN], struct rpc_error *error)
{
	if (request->name[0]) {
		if (profile_name_parse(request->name, strlen(request->name), name))
			return true;
		rpc_error_set(error, RPC_CODE_INVALID_PARAMS,
			"'%.64s' cannot be the name of a tunnel: take 1 to 15 of the characters A-Z a-z 0-9 "
			"_ = + . - (not 'all', 'default' or 'lo', which the system has for itself)",
			request->name);
		return false;
	}
	if (request->file[0]) {
		profile_name_derive(request->file, name);
		return true;
	}
	if (profile->name[0]) {
		profile_name_derive(profile->name, name);
		return true;
	}
	rpc_error_set(error, RPC_CODE_INVALID_PARAMS, "the profile has no name: give it one with --name");
	return false;
}

static void add_warnings(struct rpc_notes *notes, const struct profile_warnings *warnings)
{
	char more[64];
	size_t i;

	for (i = 0; i < warnings->count; i++)
		notes_add(notes, warnings->items[i].line, warnings->items[i].sentence);
	if (warnings->left_off) {
		snprintf(more, sizeof(more), "%zu more like these", warnings->left_off);
		notes_add(notes, 0, more);
	}
}

static bool may_replace(struct daemon *daemon, const struct rpc_request *request, const char *name,
	bool *exists, struct rpc_error *error)
{
	const struct tunnel *tunnel = manager_find(daemon->manager, name);
	struct profile_file file;

	*exists = profiles_find(daemon->profiles, name, &file);
	if (*exists && !request->replace) {
		rpc_error_set(error, RPC_CODE_EXISTS,
			file.read_only ? "wg-quick has a tunnel called %s (" PROFILES_WG_QUICK
					 "), which is used as it is: "
					 "import under another name with --name"
				       : "there is a tunnel called %s already: import under another name "
					 "with --name, or take its place with "
					 "--replace",
			name);
		return false;
	}
	if (tunnel && tunnel_phase(tunnel) != TUNNEL_DOWN) {
		rpc_error_set(error, RPC_CODE_BUSY, "%s is up: `wgtcp-cli down %s` first", name, name);
		return false;
	}
	return true;
}

void method_import(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	const char *file = request->file[0] ? request->file : "profile",
		   *text = request->text ? request->text : "";
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_IMPORT };
	struct profile_warnings warnings;
	struct profile_error wrong = { 0 };
	struct rpc_error error = { 0 };
	struct profile profile = { 0 };
	char name[PROFILE_NAME_LEN];

	if (!profile_parse(file, text, strlen(text), &profile, &wrong, &warnings)) {
		profile_error_tell(&error, file, &wrong);
		goto out;
	}
	if (!import_name(request, &profile, name, &error) ||
		!may_replace(daemon, request, name, &result.done.changed, &error) ||
		!profiles_store(daemon->profiles, name, text, strlen(text), result.done.file, &error))
		goto out;
	snprintf(result.done.name, sizeof(result.done.name), "%s", name);
	snprintf(result.done.display_name, sizeof(result.done.display_name), "%s",
		profile.name[0] ? profile.name : name);
	add_warnings(&result.done.warnings, &warnings);
	journal_say(daemon->journal, JOURNAL_INFO, name, "profile imported");
	client_reply(client, &request->id, &result);
out:
	if (error.code)
		client_reply_error(client, &request->id, &error);
	rpc_result_free(&result);
	profile_free(&profile);
}

/* ---- export ---- */

static void give(struct client *client, const struct rpc_request *request, struct rpc_result *result, char *text,
	size_t len)
{
	struct rpc_error error = { 0 };
	int err;

	if (!request->beside) {
		result->exported.text = text;
		client_reply(client, &request->id, result);
		return;
	}
	result->exported.beside = (uint32_t)len;
	err = client_reply_beside(client, &request->id, result, text, len);
	if (!err)
		return;
	rpc_error_set(&error, err == -EBUSY ? RPC_CODE_BUSY : RPC_CODE_INTERNAL,
		"the profile cannot be handed over: %s; try again", strerror(-err));
	client_reply_error(client, &request->id, &error);
}

static void export(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_EXPORT };
	struct rpc_error error = { 0 };
	struct loaded loaded = { 0 };
	char name[PROFILE_NAME_LEN], *text = NULL;
	size_t len = 0;

	if (!profiles_name(daemon->profiles, request->name, name, &error) ||
		!profiles_load(daemon->profiles, name, &loaded, &error)) {
		client_reply_error(client, &request->id, &error);
		return;
	}
	snprintf(result.exported.name, sizeof(result.exported.name), "%s", name);
	if (!request->hide_keys) {
		if (!client_is_root(client))
			journal_say(daemon->journal, JOURNAL_WARNING, name,
				"user %u, a member of the group, was given the keys of %s",
				client_user(client), name);
		give(client, request, &result, loaded.text, loaded.len);
		goto out;
	}
	result.exported.hidden = true;
	text = profile_write(&loaded.profile, true, &len);
	if (text) {
		give(client, request, &result, text, len);
	} else {
		rpc_error_set(&error, RPC_CODE_INTERNAL, "memory is short");
		client_reply_error(client, &request->id, &error);
	}
out:
	profile_text_free(text, len);
	loaded_free(&loaded);
}

static void export_answered(
	struct daemon *daemon, struct client *client, const struct rpc_request *request, bool allowed)
{
	struct rpc_error error = { 0 };

	if (allowed) {
		export(daemon, client, request);
		return;
	}
	rpc_error_set(&error, RPC_CODE_NOT_PERMITTED,
		"private keys are for root, or for who gives an administrator's password: use sudo, or leave "
		"the keys out with --hide-keys");
	error.cause = RPC_CAUSE_PERMISSION;
	client_reply_error(client, &request->id, &error);
}

void method_export(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	if (request->hide_keys || client_is_root(client))
		export(daemon, client, request);
	else if (!client_ask(client, POLKIT_EXPORT_KEYS, request, export_answered))
		export_answered(daemon, client, request, false);
}

/* ---- delete ---- */

void method_delete(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_DELETE };
	struct rpc_error error = { 0 };
	const struct tunnel *tunnel;
	char name[PROFILE_NAME_LEN];
	struct profile_file left;

	if (!profiles_name(daemon->profiles, request->name, name, &error)) {
		client_reply_error(client, &request->id, &error);
		return;
	}
	tunnel = manager_find(daemon->manager, name);
	if (tunnel && tunnel_phase(tunnel) != TUNNEL_DOWN) {
		rpc_error_set(&error, RPC_CODE_BUSY, "%s is up: `wgtcp-cli down %s` first", name, name);
		client_reply_error(client, &request->id, &error);
		return;
	}
	if (!profiles_delete(daemon->profiles, name, &error)) {
		client_reply_error(client, &request->id, &error);
		return;
	}
	snprintf(result.done.name, sizeof(result.done.name), "%s", name);
	result.done.changed = true;
	if (profiles_find(daemon->profiles, name, &left))
		notes_add(&result.done.warnings, 0,
			"wg-quick has a tunnel of that name too, in " PROFILES_WG_QUICK
			", which is now the one in use");
	journal_say(daemon->journal, JOURNAL_INFO, name, "profile deleted");
	client_reply(client, &request->id, &result);
	rpc_result_free(&result);
	manager_forget(daemon->manager, name);
}

/* ---- set ---- */

static bool find_peer(
	const struct loaded *loaded, const char *name, const char *key, size_t *peer, struct rpc_error *error)
{
	char text[PROFILE_KEY_TEXT_LEN + 1];
	size_t i;

	*peer = PROFILE_EDIT_INTERFACE;
	if (!key[0])
		return true;
	for (i = 0; i < loaded->profile.peer_count; i++) {
		profile_key_write(loaded->profile.peers[i].public_key, text);
		if (!strcmp(text, key)) {
			*peer = i;
			return true;
		}
	}
	rpc_error_set(error, RPC_CODE_INVALID_PARAMS,
		"the profile has no peer with that PublicKey: `wgtcp-cli export %s --hide-keys` shows those "
		"that it "
		"has",
		name);
	return false;
}

/* Where the key belongs, when nobody said: in the one peer, if it can only be there. */
static bool choose_section(
	const struct loaded *loaded, const char *key, size_t *peer, struct rpc_error *error)
{
	unsigned sections = profile_key_sections(key);
	const char *nearest;

	if (sections == 0) {
		nearest = profile_key_nearest(key, strlen(key), PROFILE_IN_INTERFACE | PROFILE_IN_PEER);
		rpc_error_set(error, RPC_CODE_CONFIG,
			"a profile has no key '%.64s'%s%s: wgtcp-profile(5) lists the keys", key,
			nearest ? ", did you mean " : "", nearest ? nearest : "");
		return false;
	}
	if (*peer != PROFILE_EDIT_INTERFACE || (sections & PROFILE_IN_INTERFACE))
		return true;
	if (loaded->profile.peer_count == 1) {
		*peer = 0;
		return true;
	}
	rpc_error_set(error, RPC_CODE_CONFIG,
		"%.64s belongs to a peer, and the profile has %zu: say which with --peer", key,
		loaded->profile.peer_count);
	return false;
}

/* Applies all settings to the text, one after another; *text is replaced only when all went well. */
static bool edit_all(const struct rpc_request *request, const struct loaded *loaded, char **text, size_t *len,
	struct rpc_error *error)
{
	struct profile_error wrong = { 0 };
	char *now = NULL, *next;
	size_t now_len = 0, next_len, peer, i;

	for (i = 0; i < request->setting_count; i++) {
		const struct rpc_setting *setting = &request->settings[i];
		const char *value = setting->value && setting->value[0] ? setting->value : NULL;

		if (!find_peer(loaded, request->name, request->peer, &peer, error) ||
			!choose_section(loaded, setting->key, &peer, error))
			goto failed;
		if (!profile_edit(loaded->path, now ? now : loaded->text, now ? now_len : loaded->len, peer,
			    setting->key, value, &next, &next_len, &wrong)) {
			profile_error_tell(error, loaded->path, &wrong);
			goto failed;
		}
		profile_text_free(now, now_len);
		now = next;
		now_len = next_len;
	}
	*text = now;
	*len = now_len;
	return true;
failed:
	profile_text_free(now, now_len);
	return false;
}

/* A living tunnel keeps what it was brought up with. */
static bool in_force(struct daemon *daemon, const char *name)
{
	const struct tunnel *tunnel = manager_find(daemon->manager, name);

	return !tunnel || tunnel_phase(tunnel) == TUNNEL_DOWN;
}

void method_set(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_SET };
	struct rpc_error error = { 0 };
	struct loaded loaded = { 0 };
	struct profile_warnings warnings;
	struct profile profile = { 0 };
	struct profile_error wrong = { 0 };
	char name[PROFILE_NAME_LEN], *text = NULL;
	size_t len = 0;

	if (!profiles_name(daemon->profiles, request->name, name, &error) ||
		!profiles_load(daemon->profiles, name, &loaded, &error))
		goto out;
	if (request->setting_count == 0) {
		rpc_error_set(&error, RPC_CODE_INVALID_PARAMS, "nothing to set: give KEY=VALUE");
		goto out;
	}
	if (!edit_all(request, &loaded, &text, &len, &error) ||
		!profiles_store(daemon->profiles, name, text, len, result.done.file, &error))
		goto out;
	if (profile_parse(result.done.file, text, len, &profile, &wrong, &warnings))
		add_warnings(&result.done.warnings, &warnings);
	snprintf(result.done.name, sizeof(result.done.name), "%s", name);
	snprintf(result.done.display_name, sizeof(result.done.display_name), "%s",
		profile.name[0] ? profile.name : name);
	result.done.changed = in_force(daemon, name);
	if (loaded.read_only)
		notes_add(&result.done.warnings, 0,
			"the profile belongs to wg-quick and is not written to: a changed copy of it is used "
			"from now on");
	journal_say(daemon->journal, JOURNAL_INFO, name, "profile changed");
	client_reply(client, &request->id, &result);
out:
	if (error.code)
		client_reply_error(client, &request->id, &error);
	rpc_result_free(&result);
	profile_free(&profile);
	profile_text_free(text, len);
	loaded_free(&loaded);
}
