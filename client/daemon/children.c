/* SPDX-License-Identifier: MIT */
/* Programs that the spawner runs for us, and what they say. Used by backends and main.c. */
#include "client/daemon/children.h"
#include "client/daemon/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_MS 2000

struct child {
	struct children *owner;
	uint32_t id;
	enum child_kind kind;
	pid_t pid;
	uint64_t start_time;
	char tunnel[16];
	void (*exited)(int error, void *user);
	void *user;
	bool forgotten, killed;
	bool wanted; /* its end, at once */
	guint grace; /* source that kills it */
	int log;
	guint log_source;
	char line[JOURNAL_TEXT_LEN];
	size_t line_len;
};

struct children {
	int handle;
	guint source;
	uint32_t last_id;
	GPtrArray *list; /* struct child */
	struct journal *journal;
	void (*lost)(void *user);
	void *lost_user;
	void (*changed)(void *user);
	void *changed_user;
};

static void say_line(struct child *child)
{
	child->line[child->line_len] = 0;
	if (child->line_len)
		journal_say(child->owner->journal, JOURNAL_INFO, child->tunnel, "%s", child->line);
	child->line_len = 0;
}

static bool take_log(struct child *child)
{
	char bytes[1024];
	ssize_t len, i;

	if (child->log < 0)
		return false;
	len = read(child->log, bytes, sizeof(bytes));
	if (len < 0)
		return errno == EAGAIN || errno == EINTR;
	for (i = 0; i < len; i++)
		if (bytes[i] == '\n')
			say_line(child);
		else if (child->line_len < sizeof(child->line) - 1)
			child->line[child->line_len++] = bytes[i];
	return len > 0;
}

static gboolean log_ready(gint fd, GIOCondition condition, gpointer user)
{
	struct child *child = user;

	(void)fd;
	(void)condition;
	if (take_log(child))
		return G_SOURCE_CONTINUE;
	child->log_source = 0;
	return G_SOURCE_REMOVE;
}

static void child_free(gpointer data)
{
	struct child *child = data;

	if (child->grace)
		g_source_remove(child->grace);
	if (child->log_source)
		g_source_remove(child->log_source);
	if (child->log >= 0)
		close(child->log);
	g_free(child);
}

static struct child *find(const struct children *children, uint32_t id)
{
	guint i;

	for (i = 0; i < children->list->len; i++) {
		struct child *child = g_ptr_array_index(children->list, i);

		if (child->id == id)
			return child;
	}
	return NULL;
}

static void child_gone(struct children *children, struct child *child, int error)
{
	void (*exited)(int, void *) = child->forgotten ? NULL : child->exited;
	void *user = child->user;
	int i;

	/* What it said last; bounded, since the pipe may have been passed on. */
	for (i = 0; i < 16 && take_log(child); i++)
		;
	say_line(child);
	g_ptr_array_remove(children->list, child);
	if (exited)
		exited(error, user);
	if (children->changed)
		children->changed(children->changed_user);
}

static const char *const names[] = {
	[CHILD_ENGINE] = "engine",
	[CHILD_RELAY] = "relay",
	[CHILD_RESOLVCONF] = "resolvconf program",
	[CHILD_PROBE] = "probe process",
	[CHILD_IPERF] = "speed test server",
};

/* One whose seam was closed ends with 0; everything else is worth a word. */
static void say_exit(struct children *children, const struct child *child, int status)
{
	const char *name = names[child->kind];

	if (child->kind == CHILD_IPERF && child->wanted)
		return;
	if (child->kind == CHILD_RESOLVCONF && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	if (child->killed)
		journal_say(children->journal, JOURNAL_WARNING, child->tunnel,
			"the %s did not end by itself and was killed", name);
	else if (WIFSIGNALED(status))
		journal_say(children->journal, JOURNAL_WARNING, child->tunnel,
			"the %s was ended by signal %d", name, WTERMSIG(status));
	else if (!child->forgotten || WEXITSTATUS(status) != 0)
		journal_say(children->journal, JOURNAL_WARNING, child->tunnel,
			"the %s ended with code %d", name, WEXITSTATUS(status));
}

static gboolean spawner_ready(gint fd, GIOCondition condition, gpointer user)
{
	struct children *children = user;
	struct spawner_message message;
	struct child *child;
	int error;

	(void)condition;
	while ((error = spawner_receive(fd, &message)) == 0) {
		child = find(children, message.id);
		if (!child)
			continue;
		switch ((enum spawner_kind)message.kind) {
		case SPAWNER_STARTED:
			child->pid = message.pid;
			child->start_time = message.start_time;
			if (children->changed)
				children->changed(children->changed_user);
			break;
		case SPAWNER_FAILED:
			journal_say(children->journal, JOURNAL_ERROR, child->tunnel,
				"the %s cannot be started: %s", names[child->kind],
				g_strerror(message.status));
			child_gone(children, child, message.status ? message.status : EIO);
			break;
		case SPAWNER_EXITED:
			say_exit(children, child, message.status);
			child_gone(children, child,
				child->kind == CHILD_RESOLVCONF && message.status != 0 ? EIO : 0);
			break;
		case SPAWNER_START_ENGINE:
		case SPAWNER_START_PROBE:
		case SPAWNER_START_RELAY:
		case SPAWNER_START_IPERF:
		case SPAWNER_RESOLVCONF_SET:
		case SPAWNER_RESOLVCONF_CLEAR:
		case SPAWNER_KILL:
			break;
		}
	}
	if (error == -EAGAIN)
		return G_SOURCE_CONTINUE;
	children->source = 0;
	if (children->lost)
		children->lost(children->lost_user);
	return G_SOURCE_REMOVE;
}

struct children *children_new(int handle, struct journal *journal, void (*lost)(void *user), void *user)
{
	struct children *children = g_new0(struct children, 1);

	children->handle = handle;
	children->journal = journal;
	children->lost = lost;
	children->lost_user = user;
	children->list = g_ptr_array_new_with_free_func(child_free);
	children->source = g_unix_fd_add(handle, G_IO_IN | G_IO_HUP | G_IO_ERR, spawner_ready, children);
	return children;
}

void children_free(struct children *children)
{
	if (!children)
		return;
	if (children->source)
		g_source_remove(children->source);
	g_ptr_array_unref(children->list);
	close(children->handle);
	g_free(children);
}

/* Its id, or 0. log: what it writes there is told; -1: none. */
static uint32_t begin(struct children *children, enum child_kind kind, const struct spawner_message *what,
	const int handles[2], int log, const char *tunnel, void (*exited)(int error, void *user), void *user)
{
	struct spawner_message message = *what;
	struct child *child;

	if (++children->last_id == 0)
		children->last_id = 1;
	message.id = children->last_id;
	if (spawner_send(children->handle, &message, handles) != 0)
		return 0;
	child = g_new0(struct child, 1);
	child->owner = children;
	child->kind = kind;
	child->id = children->last_id;
	child->exited = exited;
	child->user = user;
	child->log = log;
	g_strlcpy(child->tunnel, tunnel, sizeof(child->tunnel));
	if (log >= 0)
		child->log_source = g_unix_fd_add(log, G_IO_IN | G_IO_HUP | G_IO_ERR, log_ready, child);
	g_ptr_array_add(children->list, child);
	return child->id;
}

/* With a log. given stays the caller's. */
static uint32_t begin_logged(struct children *children, enum child_kind kind, const struct spawner_message *what,
	int given, const char *tunnel, void (*exited)(int error, void *user), void *user)
{
	int pipe[2], handles[2];
	uint32_t id;

	if (pipe2(pipe, O_CLOEXEC) != 0)
		return 0;
	handles[0] = given;
	handles[1] = pipe[1];
	/* The daemon would wait in a read for ever. */
	id = fcntl(pipe[0], F_SETFL, O_NONBLOCK) != 0
		? 0
		: begin(children, kind, what, handles, pipe[0], tunnel, exited, user);
	close(pipe[1]);
	if (!id)
		close(pipe[0]);
	return id;
}

uint32_t children_start(struct children *children, enum child_kind kind, int seam, const char *tunnel,
	void (*exited)(int error, void *user), void *user)
{
	struct spawner_message message = { .kind = kind == CHILD_RELAY ? SPAWNER_START_RELAY
								       : SPAWNER_START_ENGINE };

	return begin_logged(children, kind, &message, seam, tunnel, exited, user);
}

/* Something to read from its beginning. */
static int text_handle(const char *text)
{
	size_t len = strlen(text);
	int fd = memfd_create("resolvconf", MFD_CLOEXEC);

	if (fd >= 0 && (write(fd, text, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) != 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

uint32_t children_start_resolvconf(struct children *children, const char *tunnel, bool set, const char *text,
	void (*exited)(int error, void *user), void *user)
{
	struct spawner_message message = { .kind = set ? SPAWNER_RESOLVCONF_SET : SPAWNER_RESOLVCONF_CLEAR };
	int given = text_handle(text);
	uint32_t id;

	if (given < 0)
		return 0;
	g_strlcpy(message.name, tunnel, sizeof(message.name));
	id = begin_logged(children, CHILD_RESOLVCONF, &message, given, tunnel, exited, user);
	close(given);
	return id;
}

uint32_t children_start_probe(
	struct children *children, const int handles[2], void (*exited)(int error, void *user), void *user)
{
	return begin(children, CHILD_PROBE, &(struct spawner_message){ .kind = SPAWNER_START_PROBE }, handles, -1, "",
		exited, user);
}

uint32_t children_start_iperf(struct children *children, const char *tunnel, const char *interface,
	const struct ip_address *address, void (*exited)(int error, void *user), void *user)
{
	struct spawner_message message = { .kind = SPAWNER_START_IPERF };
	char text[ENDPOINT_TEXT_LEN];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), handles[2] = { null, null };
	uint32_t id;

	if (null < 0)
		return 0;
	g_strlcpy(message.name, interface, sizeof(message.name));
	g_strlcpy(message.address, ip_address_write(address, text), sizeof(message.address));
	id = begin(children, CHILD_IPERF, &message, handles, -1, tunnel, exited, user);
	close(null);
	return id;
}

void children_kill(struct children *children, uint32_t id)
{
	struct child *child = id ? find(children, id) : NULL;

	if (!child)
		return;
	child->wanted = true;
	spawner_send(children->handle, &(struct spawner_message){ .kind = SPAWNER_KILL, .id = id }, NULL);
}

static gboolean grace_over(gpointer user)
{
	struct child *child = user;

	child->grace = 0;
	child->killed = true;
	spawner_send(child->owner->handle, &(struct spawner_message){ .kind = SPAWNER_KILL, .id = child->id },
		NULL);
	return G_SOURCE_REMOVE;
}

void children_forget(struct children *children, uint32_t id)
{
	struct child *child = id ? find(children, id) : NULL;

	if (!child || child->forgotten)
		return;
	child->forgotten = true;
	child->exited = NULL;
	if (child->kind == CHILD_RESOLVCONF)
		return;
	child->grace = g_timeout_add(GRACE_MS, grace_over, child);
}

bool children_has(const struct children *children, const char *tunnel)
{
	guint i;

	for (i = 0; i < children->list->len; i++)
		if (!strcmp(((struct child *)g_ptr_array_index(children->list, i))->tunnel, tunnel))
			return true;
	return false;
}

void children_watch(struct children *children, void (*changed)(void *user), void *user)
{
	children->changed = changed;
	children->changed_user = user;
}

bool children_next(const struct children *children, size_t *cursor, pid_t *pid, uint64_t *start_time)
{
	while (*cursor < children->list->len) {
		const struct child *child = g_ptr_array_index(children->list, (*cursor)++);

		if (child->kind == CHILD_PROBE)
			continue;
		*pid = child->pid;
		*start_time = child->start_time;
		return true;
	}
	return false;
}

bool children_next_of(const struct children *children, const char *tunnel, size_t *cursor, pid_t *pid)
{
	while (*cursor < children->list->len) {
		const struct child *child = g_ptr_array_index(children->list, (*cursor)++);

		if (strcmp(child->tunnel, tunnel) != 0 || child->pid <= 0 ||
			(child->kind != CHILD_ENGINE && child->kind != CHILD_RELAY))
			continue;
		*pid = child->pid;
		return true;
	}
	return false;
}
