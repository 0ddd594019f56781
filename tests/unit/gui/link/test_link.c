/* SPDX-License-Identifier: MIT */
/* The window's connection, in a main loop that is never idle. */
#include "gui/link/link.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <glib.h>

#include <cmocka.h>

static int told = 1;

static void on_connection(int err, void *user)
{
	(void)user;
	told = err;
}

static void on_event(struct rpc_event *event, void *user)
{
	(void)event;
	(void)user;
}

/* As GTK draws an animation: above idle sources, and again in every turn where drawing takes longer than a
 * frame. */
static gboolean draw(gpointer user)
{
	(void)user;
	return G_SOURCE_CONTINUE;
}

static void it_connects_while_an_animation_is_drawn(void **state)
{
	static const struct link_events events = { on_connection, on_event };
	guint drawing = g_idle_add_full(G_PRIORITY_HIGH_IDLE + 20, draw, NULL, NULL);
	struct link *link = link_new("/nonexistent/wgtcpd.sock", &events, NULL);

	(void)state;
	for (int turn = 0; told == 1 && turn < 1000; turn++)
		g_main_context_iteration(NULL, FALSE);
	assert_int_equal(told, -ENOENT);
	link_free(link);
	g_source_remove(drawing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_connects_while_an_animation_is_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
