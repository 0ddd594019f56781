/* SPDX-License-Identifier: MIT */
/* The state of the kill switch, and that it is the same in the system, in the file and here. */
#include "client/daemon/lockdown.h"

#include "client/daemon/file.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct lockdown {
	int state_folder;
	struct journal *journal;
	struct lockdown_file file;
	int unsaved; /* 0, or why the file does not say what is on */
	struct kill_switch_tunnel tunnels[KILL_SWITCH_TUNNELS_MAX]; /* that are there */
	size_t tunnel_count;
	struct kill_switch_network networks[KILL_SWITCH_NETWORKS_MAX]; /* as of the last change */
	size_t network_count;
	guint closing;                   /* source: the time for which it was opened is over */
	struct kill_switch_watch *watch; /* NULL: it cannot be watched */
	guint watching;                  /* source */
	void (*changed)(void *user);
	void *user;
};

static uint32_t open_left(const struct lockdown_file *file)
{
	uint64_t now = (uint64_t)time(NULL);

	if (file->open_until <= now)
		return 0;
	/* A clock that was set back does not open it for long. */
	return file->open_until - now > LOCKDOWN_OPEN_MAX_S ? LOCKDOWN_OPEN_MAX_S
							    : (uint32_t)(file->open_until - now);
}

/* The system's side. */
static int apply(const struct lockdown_file *file, const struct kill_switch_tunnel *tunnels, size_t count,
	char why[KILL_SWITCH_WHY_LEN])
{
	struct kill_switch_network networks[KILL_SWITCH_NETWORKS_MAX];
	size_t network_count = kill_switch_networks(networks, KILL_SWITCH_NETWORKS_MAX);
	struct kill_switch settings = {
		.tunnels = tunnels, .count = count, .networks = networks, .open_s = open_left(file)
	};
	bool lan = true;
	size_t i;

	if (file->count == 0)
		return kill_switch_remove(why);
	/* Several that hold: the strictest counts. */
	for (i = 0; i < file->count; i++)
		lan = lan && file->holds[i].lan;
	if (lan)
		settings.network_count = network_count;
	return kill_switch_set(&settings, why);
}

static int save(int state_folder, const struct lockdown_file *file)
{
	char *text;
	int error;

	if (file->count == 0)
		return unlinkat(state_folder, LOCKDOWN_FILE, 0) == 0 || errno == ENOENT ? 0 : -errno;
	text = lockdown_write(file);
	if (!text)
		return -ENOMEM;
	error = file_write(state_folder, LOCKDOWN_FILE, text, strlen(text), 0600);
	free(text);
	return error;
}

/* False: there is a file, and it cannot be read. */
static bool load(int state_folder, struct lockdown_file *out)
{
	struct stat info;
	char *text;
	size_t len;
	int error = file_read(state_folder, LOCKDOWN_FILE, LOCKDOWN_TEXT_MAX, &text, &len, &info);

	*out = (struct lockdown_file){ 0 };
	if (error)
		return error == -ENOENT;
	lockdown_parse(text, out);
	file_free(text, len);
	return true;
}

static void save_or_say(struct lockdown *lockdown)
{
	int error = save(lockdown->state_folder, &lockdown->file);

	lockdown->unsaved = error;
	if (error)
		journal_say(lockdown->journal, JOURNAL_ERROR, NULL,
			"%s in the state folder cannot be written: %s: after a restart the kill switch may "
			"not be "
			"what it is now",
			LOCKDOWN_FILE, strerror(-error));
}

static bool lets_networks_pass(const struct lockdown *lockdown)
{
	size_t i;

	for (i = 0; i < lockdown->file.count; i++)
		if (!lockdown->file.holds[i].lan)
			return false;
	return lockdown->file.count > 0;
}

static void apply_or_say(struct lockdown *lockdown)
{
	char why[KILL_SWITCH_WHY_LEN] = "";

	if (apply(&lockdown->file, lockdown->tunnels, lockdown->tunnel_count, why))
		journal_say(lockdown->journal, JOURNAL_ERROR, NULL,
			"the kill switch stays as it was, since it cannot be changed: %s", why);
}

/* ---- opened for a time ---- */

static gboolean close_again(gpointer user)
{
	struct lockdown *lockdown = user;

	/* The system has closed it already; this is for the rest. */
	lockdown->closing = 0;
	lockdown->file.open_until = 0;
	apply_or_say(lockdown);
	save_or_say(lockdown);
	journal_say(lockdown->journal, JOURNAL_INFO, NULL,
		"the kill switch is closed again, since its time is over");
	lockdown->changed(lockdown->user);
	return G_SOURCE_REMOVE;
}

static void schedule_closing(struct lockdown *lockdown)
{
	uint32_t left = open_left(&lockdown->file);

	if (lockdown->closing)
		g_source_remove(lockdown->closing);
	lockdown->closing = left ? g_timeout_add_seconds(left, close_again, lockdown) : 0;
}

int lockdown_open(struct lockdown *lockdown, uint32_t seconds, char why[KILL_SWITCH_WHY_LEN])
{
	uint64_t before = lockdown->file.open_until;
	int error;

	lockdown->file.open_until = (uint64_t)time(NULL) + seconds;
	error = apply(&lockdown->file, lockdown->tunnels, lockdown->tunnel_count, why);
	if (error) {
		lockdown->file.open_until = before;
		return error;
	}
	save_or_say(lockdown);
	schedule_closing(lockdown);
	journal_say(lockdown->journal, JOURNAL_WARNING, NULL,
		"the kill switch is open for %u s, as asked for: traffic may go past the tunnel", seconds);
	lockdown->changed(lockdown->user);
	return 0;
}

/* ---- the local network ---- */

void lockdown_network_changed(struct lockdown *lockdown)
{
	struct kill_switch_network now[KILL_SWITCH_NETWORKS_MAX] = { 0 };
	size_t count;

	if (!lets_networks_pass(lockdown))
		return;
	count = kill_switch_networks(now, KILL_SWITCH_NETWORKS_MAX);
	if (count == lockdown->network_count && !memcmp(now, lockdown->networks, sizeof(now)))
		return;
	lockdown->network_count = count;
	memcpy(lockdown->networks, now, sizeof(now));
	apply_or_say(lockdown);
}

/* ---- holds ---- */

int lockdown_hold(struct lockdown *lockdown, const char *name, bool lan, char why[KILL_SWITCH_WHY_LEN])
{
	struct lockdown_file before = lockdown->file;
	bool was_on = before.count > 0;
	int error;

	if (!lockdown_file_add(&lockdown->file, name, lan)) {
		snprintf(why, KILL_SWITCH_WHY_LEN, "%d tunnels hold it already", LOCKDOWN_MAX);
		return -ENOSPC;
	}
	error = apply(&lockdown->file, lockdown->tunnels, lockdown->tunnel_count, why);
	if (error) {
		lockdown->file = before;
		return error;
	}
	if (memcmp(&before, &lockdown->file, sizeof(before)) != 0)
		save_or_say(lockdown);
	if (!was_on)
		journal_say(lockdown->journal, JOURNAL_INFO, name,
			"the kill switch is on: nothing leaves this machine past the tunnel");
	return 0;
}

bool lockdown_release(struct lockdown *lockdown, const char *name)
{
	if (!lockdown_file_remove(&lockdown->file, name))
		return false;
	if (lockdown->file.count == 0) {
		lockdown->file.open_until = 0;
		schedule_closing(lockdown);
	}
	apply_or_say(lockdown);
	save_or_say(lockdown);
	if (lockdown->file.count == 0)
		journal_say(lockdown->journal, JOURNAL_INFO, name, "the kill switch is off");
	return true;
}

int lockdown_unlock(struct lockdown *lockdown, char why[KILL_SWITCH_WHY_LEN])
{
	bool was_on = lockdown->file.count > 0;
	int error = kill_switch_remove(why);

	if (error)
		return error;
	lockdown->file = (struct lockdown_file){ 0 };
	save_or_say(lockdown);
	schedule_closing(lockdown);
	if (was_on) {
		journal_say(lockdown->journal, JOURNAL_WARNING, NULL, "the kill switch is off, as asked for");
		lockdown->changed(lockdown->user);
	}
	return 0;
}

static struct kill_switch_tunnel *find(struct lockdown *lockdown, const char *name)
{
	size_t i;

	for (i = 0; i < lockdown->tunnel_count; i++)
		if (!strcmp(lockdown->tunnels[i].interface, name))
			return &lockdown->tunnels[i];
	return NULL;
}

void lockdown_let_pass(struct lockdown *lockdown, const char *name, uint32_t mark)
{
	struct kill_switch_tunnel *tunnel = find(lockdown, name);

	if (tunnel && tunnel->mark == mark)
		return;
	if (!tunnel && lockdown->tunnel_count == KILL_SWITCH_TUNNELS_MAX) {
		/* While it is off there is nobody whom it could stop. */
		if (lockdown->file.count)
			journal_say(lockdown->journal, JOURNAL_ERROR, name,
				"the kill switch stops this tunnel too: it can let no more than %d pass",
				KILL_SWITCH_TUNNELS_MAX);
		return;
	}
	if (!tunnel)
		tunnel = &lockdown->tunnels[lockdown->tunnel_count++];
	g_strlcpy(tunnel->interface, name, sizeof(tunnel->interface));
	tunnel->mark = mark;
	if (lockdown->file.count)
		apply_or_say(lockdown);
}

void lockdown_forget(struct lockdown *lockdown, const char *name)
{
	struct kill_switch_tunnel *tunnel = find(lockdown, name);

	if (!tunnel)
		return;
	*tunnel = lockdown->tunnels[--lockdown->tunnel_count];
	if (lockdown->file.count)
		apply_or_say(lockdown);
}

/* ---- what there is to know ---- */

enum rpc_kill_switch lockdown_state(const struct lockdown *lockdown)
{
	if (lockdown->file.count == 0)
		return RPC_KILL_SWITCH_OFF;
	return open_left(&lockdown->file) ? RPC_KILL_SWITCH_OPEN : RPC_KILL_SWITCH_ON;
}

int lockdown_unsaved(const struct lockdown *lockdown)
{
	return lockdown->unsaved;
}

bool lockdown_holds(const struct lockdown *lockdown, const char *name)
{
	size_t i;

	for (i = 0; i < lockdown->file.count; i++)
		if (!strcmp(lockdown->file.holds[i].name, name))
			return true;
	return false;
}

const struct lockdown_file *lockdown_file(const struct lockdown *lockdown)
{
	return &lockdown->file;
}

/* ---- its own life ---- */

static gboolean somebody_changed_it(gint fd, GIOCondition condition, gpointer user)
{
	struct lockdown *lockdown = user;

	(void)fd;
	(void)condition;
	if (!kill_switch_watch_take(lockdown->watch) || lockdown->file.count == 0 || kill_switch_is_there())
		return G_SOURCE_CONTINUE;
	journal_say(lockdown->journal, JOURNAL_WARNING, NULL,
		"another program took the kill switch away with its own rules: it is put back; `wgtcp-cli "
		"unlock` ends it");
	apply_or_say(lockdown);
	return G_SOURCE_CONTINUE;
}

static void watch(struct lockdown *lockdown)
{
	int error = kill_switch_watch_open(&lockdown->watch);

	if (error) {
		lockdown->watch = NULL;
		return; /* no packet filter: nothing to watch */
	}
	lockdown->watching = g_unix_fd_add(
		kill_switch_watch_handle(lockdown->watch), G_IO_IN, somebody_changed_it, lockdown);
}

struct lockdown *lockdown_new(
	int state_folder, struct journal *journal, void (*changed)(void *user), void *user)
{
	struct lockdown *lockdown = g_new0(struct lockdown, 1);
	char why[KILL_SWITCH_WHY_LEN] = "";
	bool known = load(state_folder, &lockdown->file);
	int error = 0;

	lockdown->state_folder = state_folder;
	lockdown->journal = journal;
	lockdown->changed = changed;
	lockdown->user = user;
	if (!open_left(&lockdown->file))
		lockdown->file.open_until = 0;
	if (known)
		error = apply(&lockdown->file, NULL, 0, why);
	else
		journal_say(journal, JOURNAL_ERROR, NULL,
			"%s in the state folder cannot be read, so a kill switch that is on stays on: "
			"`wgtcp-cli unlock` "
			"ends it",
			LOCKDOWN_FILE);
	if (lockdown->file.count && error)
		journal_say(journal, JOURNAL_ERROR, NULL, "the kill switch of %s cannot be put in place: %s",
			lockdown->file.holds[0].name, why);
	else if (lockdown->file.count)
		journal_say(journal, JOURNAL_WARNING, lockdown->file.holds[0].name,
			"the kill switch is on, since this tunnel was not taken down by anybody: `wgtcp-cli "
			"unlock` ends it");
	schedule_closing(lockdown);
	watch(lockdown);
	return lockdown;
}

void lockdown_free(struct lockdown *lockdown)
{
	if (!lockdown)
		return;
	if (lockdown->closing)
		g_source_remove(lockdown->closing);
	if (lockdown->watching)
		g_source_remove(lockdown->watching);
	kill_switch_watch_close(lockdown->watch);
	g_free(lockdown);
}

/* ---- without a daemon ---- */

static int apply_and_save(int state_folder, const struct lockdown_file *file, char why[KILL_SWITCH_WHY_LEN])
{
	int error = apply(file, NULL, 0, why);

	if (error)
		return error;
	error = save(state_folder, file);
	if (error)
		snprintf(why, KILL_SWITCH_WHY_LEN, "%s cannot be written: %s", LOCKDOWN_FILE,
			strerror(-error));
	return error;
}

int lockdown_restore(
	int state_folder, const struct lockdown_hold *more, size_t count, char why[KILL_SWITCH_WHY_LEN])
{
	struct lockdown_file file;
	size_t i;

	load(state_folder, &file);
	for (i = 0; i < count; i++)
		lockdown_file_add(&file, more[i].name, more[i].lan);
	if (file.count == 0)
		return 0;
	return apply_and_save(state_folder, &file, why);
}

int lockdown_lift(int state_folder, uint32_t open_s, char why[KILL_SWITCH_WHY_LEN])
{
	struct lockdown_file file = { 0 };

	if (open_s && load(state_folder, &file) && file.count)
		file.open_until = (uint64_t)time(NULL) + open_s;
	else
		file = (struct lockdown_file){ 0 };
	return apply_and_save(state_folder, &file, why);
}
