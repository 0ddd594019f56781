/* SPDX-License-Identifier: MIT */
/* See record.h; and the method `history`. */
#include "client/daemon/record.h"

#include "client/daemon/daemon.h"
#include "client/daemon/file.h"
#include "client/daemon/journal.h"
#include "client/daemon/manager.h"
#include "client/daemon/methods.h"
#include "client/daemon/profiles.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a daemon that is killed loses at most; the disk of a laptop sleeps meanwhile. */
#define WRITE_S 600

struct record {
	struct daemon *daemon;
	struct history *history;
	guint write; /* source: there is something new */
};

static void write_now(struct record *record)
{
	struct daemon *daemon = record->daemon;
	size_t len;
	char *text = history_write(record->history, &len);
	int error = text ? file_write(daemon->state_handle, HISTORY_FILE, text, len, 0600) : -ENOMEM;

	free(text);
	if (error)
		journal_say(daemon->journal, JOURNAL_WARNING, NULL, "%s/%s cannot be written: %s",
			daemon->state_folder, HISTORY_FILE, g_strerror(-error));
}

static gboolean write_due(gpointer user)
{
	struct record *record = user;

	record->write = 0;
	write_now(record);
	return G_SOURCE_REMOVE;
}

static void is_new(struct record *record)
{
	if (!record->write)
		record->write = g_timeout_add_seconds(WRITE_S, write_due, record);
}

struct record *record_new(struct daemon *daemon)
{
	struct record *record = g_new0(struct record, 1);
	char *text = NULL;
	struct stat info;
	size_t len;

	record->daemon = daemon;
	record->history = history_new();
	if (!record->history)
		daemon_out_of_memory();
	if (file_read(daemon->state_handle, HISTORY_FILE, HISTORY_BYTES_MAX, &text, &len, &info) != 0)
		return record;
	if (!history_read(record->history, text, len))
		journal_say(daemon->journal, JOURNAL_WARNING, NULL,
			"%s/%s is damaged: what could be read of it is kept, the rest begins anew",
			daemon->state_folder, HISTORY_FILE);
	file_free(text, len);
	return record;
}

void record_free(struct record *record)
{
	if (!record)
		return;
	if (record->write) {
		g_source_remove(record->write);
		write_now(record);
	}
	history_free(record->history);
	g_free(record);
}

void record_add(struct record *record, const char *name, const struct history_reading *reading)
{
	if (history_add(record->history, name, reading))
		is_new(record);
}

void record_forget(struct record *record, const char *name)
{
	history_forget(record->history, name);
	is_new(record);
}

void method_history(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_result result = { .method = RPC_METHOD_HISTORY };
	struct rpc_error error = { 0 };
	char name[PROFILE_NAME_LEN];

	if (!profiles_name(daemon->profiles, request->name, name, &error)) {
		client_reply_error(client, &request->id, &error);
		return;
	}
	snprintf(result.history.name, sizeof(result.history.name), "%s", name);
	result.history.resolution = request->resolution;
	result.history.points = g_new0(struct rpc_point, HISTORY_POINTS_MAX);
	result.history.point_count = history_points(daemon->record->history, name, request->resolution,
		request->before, result.history.points, HISTORY_POINTS_MAX);
	client_reply(client, &request->id, &result);
	g_free(result.history.points);
}
