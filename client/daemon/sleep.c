/* SPDX-License-Identifier: MIT */
/* Used by surroundings.c. Source: org.freedesktop.login1(5), timerfd_create(2), clock_gettime(2). */
#include "client/daemon/sleep.h"
#include "client/daemon/bus.h"

#include <glib-unix.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Both ways tell of the same sleep within this. */
#define SAME_MS 3000
/* The clocks are read one after the other. */
#define SLEPT_MS 500

struct sleep_watch {
	struct bus *bus;
	void (*resumed)(void *user);
	void *user;
	int64_t asleep_ms; /* in all, since the machine started */
	int64_t told_ms;   /* CLOCK_BOOTTIME of the last time */
	int timer;
	guint source;
	guint subscription;
	GDBusConnection *connection; /* of the subscription */
};

static int64_t clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t asleep_ms(void)
{
	return clock_ms(CLOCK_BOOTTIME) - clock_ms(CLOCK_MONOTONIC);
}

static void tell(struct sleep_watch *watch)
{
	int64_t now = clock_ms(CLOCK_BOOTTIME);
	bool again = watch->told_ms && now - watch->told_ms < SAME_MS;

	watch->asleep_ms = asleep_ms();
	watch->told_ms = now;
	if (!again)
		watch->resumed(watch->user);
}

void sleep_watch_look(struct sleep_watch *watch)
{
	if (asleep_ms() - watch->asleep_ms > SLEPT_MS)
		tell(watch);
}

/* The kernel cancels it when the wall clock is set, which it does on each resume. It never ends by itself. */
static void arm(struct sleep_watch *watch)
{
	struct itimerspec never = { .it_value.tv_sec = (time_t)1 << 40 };

	timerfd_settime(watch->timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

static gboolean clock_was_set(gint fd, GIOCondition condition, gpointer user)
{
	struct sleep_watch *watch = user;
	uint64_t count;

	(void)condition;
	(void)!read(fd, &count, sizeof(count)); /* ECANCELED */
	arm(watch);
	sleep_watch_look(watch);
	return G_SOURCE_CONTINUE;
}

static void prepare_for_sleep(GDBusConnection *connection, const char *sender, const char *path,
	const char *interface, const char *signal, GVariant *parameters, gpointer user)
{
	gboolean begins = TRUE;

	(void)connection;
	(void)sender;
	(void)path;
	(void)interface;
	(void)signal;
	if (g_variant_is_of_type(parameters, G_VARIANT_TYPE("(b)")))
		g_variant_get(parameters, "(b)", &begins);
	if (!begins)
		tell(user);
}

static void unsubscribe(struct sleep_watch *watch)
{
	if (watch->connection)
		g_dbus_connection_signal_unsubscribe(watch->connection, watch->subscription);
	g_clear_object(&watch->connection);
}

static void connected(GDBusConnection *connection, void *user)
{
	struct sleep_watch *watch = user;

	unsubscribe(watch);
	watch->connection = g_object_ref(connection);
	watch->subscription = g_dbus_connection_signal_subscribe(connection, "org.freedesktop.login1",
		"org.freedesktop.login1.Manager", "PrepareForSleep", "/org/freedesktop/login1", NULL,
		G_DBUS_SIGNAL_FLAGS_NONE, prepare_for_sleep, watch, NULL);
}

struct sleep_watch *sleep_watch_new(struct bus *bus, void (*resumed)(void *user), void *user)
{
	struct sleep_watch *watch = g_new0(struct sleep_watch, 1);

	watch->bus = bus;
	watch->resumed = resumed;
	watch->user = user;
	watch->asleep_ms = asleep_ms();
	watch->timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch->timer >= 0) {
		arm(watch);
		watch->source = g_unix_fd_add(watch->timer, G_IO_IN, clock_was_set, watch);
	}
	bus_watch(bus, connected, watch);
	return watch;
}

void sleep_watch_free(struct sleep_watch *watch)
{
	if (!watch)
		return;
	bus_unwatch(watch->bus, watch);
	unsubscribe(watch);
	if (watch->source)
		g_source_remove(watch->source);
	if (watch->timer >= 0)
		close(watch->timer);
	g_free(watch);
}
