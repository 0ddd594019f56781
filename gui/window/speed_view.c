/* SPDX-License-Identifier: MIT */
/* Opened by actions.c, told by app.c; main thread. client/speedtest measures and reckons; this asks the
 * daemon, moves the tunnel when the test wants it, and shows. However it ends, iperf3 is gone and the daemon
 * is told, which puts the carrier back. */
#include "gui/window/speed_view.h"

#include "client/speedtest/test.h"
#include "gui/model/translate.h"
#include "gui/model/units.h"
#include "gui/window/gauge.h"
#include "gui/window/main_window.h"
#include "gui/window/speed_result.h"
#include "gui/window/ui.h"

/* Notices come ten times a second. */
#define SILENCE_S 10
#define DURATION_S 5

enum stage { STAGE_ASKED, STAGE_PREPARING, STAGE_RUNNING, STAGE_OVER };

struct speed_view {
	struct app *app;
	char name[RPC_NAME_LEN];
	GtkWidget *window, *stack, *compare, *duration, *stop;
	GtkWidget *phase, *progress, *down, *up, *rtt;
	GtkWidget *failed, *result;
	enum stage stage;
	struct speedtest_plan plan;
	struct speedtest *test;
	bool moving;
	gint64 heard_us; /* when the last notice came */
	guint watch;     /* source */
};

/* ---- the end ---- */

/* Nothing is left of the test, in this process or in the service. */
static void end(struct speed_view *view)
{
	struct rpc_request request = { .method = RPC_METHOD_SPEEDTEST_END };
	bool told = view->stage == STAGE_PREPARING || view->stage == STAGE_RUNNING;

	if (view->watch)
		g_source_remove(view->watch);
	view->watch = 0;
	speedtest_free(view->test);
	view->test = NULL;
	view->moving = false;
	view->stage = STAGE_OVER;
	if (!view->app->feed)
		return;
	link_forget(view->app->feed->link, view);
	if (told)
		link_ask(view->app->feed->link, &request, NULL, NULL);
}

static void show_page(struct speed_view *view, const char *name)
{
	gtk_stack_set_visible_child_name(GTK_STACK(view->stack), name);
	gtk_widget_set_visible(view->stop, view->stage == STAGE_PREPARING || view->stage == STAGE_RUNNING);
}

static void fail(struct speed_view *view, const char *why)
{
	char *text = g_strdup_printf("%s%s", why, g_str_has_suffix(why, ".") ? "" : ".");

	end(view);
	words_capitalize(text, view->name);
	adw_status_page_set_description(ADW_STATUS_PAGE(view->failed), text);
	show_page(view, "failed");
	g_free(text);
}

static GtkWidget *again_new(struct speed_view *view);

static void show_result(struct speed_view *view)
{
	const struct speedtest_result *result = speedtest_result(view->test);
	char text[RPC_SENTENCE_LEN];

	if (result->trouble) {
		speedtest_explain(result->trouble, result->text, &view->plan.target, text, sizeof(text));
		fail(view, text);
		return;
	}
	if (view->result)
		gtk_stack_remove(GTK_STACK(view->stack), view->result);
	view->result = speed_result_new(result, &view->plan.target, again_new(view));
	gtk_stack_add_named(GTK_STACK(view->stack), view->result, "result");
	end(view);
	show_page(view, "result");
}

/* ---- while it runs ---- */

static void show_live(struct speed_view *view)
{
	const char *const phases[] = { _("Round trip at rest"), _("Download"), _("Upload"),
		_("Both at once") };
	unsigned phase_count = view->plan.both_carriers ? SPEEDTEST_PHASES - 1 : SPEEDTEST_PHASES;
	struct speedtest_live live;
	char text[UNITS_LEN];
	double done;
	char *line;

	speedtest_live(view->test, &live);
	done = live.total_ms ? MIN(1.0, (double)live.elapsed_ms / live.total_ms) : 0;
	done = ((double)(live.round * phase_count + live.phase) + done) /
	       (double)(MAX(1u, live.round_count) * phase_count);
	/* Translators: what is measured, and over which carrier: "Download over UDP" */
	line = view->moving || live.carrier == CARRIER_NONE
		       ? g_strdup(view->moving ? _("Moving to the other carrier…") : phases[live.phase])
		       : g_strdup_printf(_("%s over %s"), phases[live.phase], words_carrier(live.carrier));
	ui_set_text(GTK_LABEL(view->phase), line);
	g_free(line);
	gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(view->progress), MIN(1.0, done));
	units_rate(live.down_bps, text, sizeof(text));
	gauge_show(view->down, (double)live.down_bps, text);
	units_rate(live.up_bps, text, sizeof(text));
	gauge_show(view->up, (double)live.up_bps, text);
	units_rtt(live.rtt_us, text, sizeof(text));
	gauge_show(view->rtt, live.rtt_us, live.rtt_us ? text : "–");
}

static void on_moved(struct rpc_event *event, void *user)
{
	struct speed_view *view = user;

	view->moving = false;
	if (!event)
		return;
	if (event->kind == RPC_EVENT_ERROR)
		fail(view, feed_error_text(event));
	else
		speedtest_moved(view->test, true);
}

static void move(struct speed_view *view)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_SWITCH,
		.has_transport = true,
		.transport = speedtest_wanted(view->test) == CARRIER_TCP ? TRANSPORT_TCP : TRANSPORT_UDP };

	if (view->moving)
		return;
	g_strlcpy(request.name, view->name, sizeof(request.name));
	view->moving = link_ask(view->app->feed->link, &request, on_moved, view) == 0;
	if (!view->moving)
		fail(view, _("The service is not there."));
}

static void take(struct speed_view *view, const struct rpc_notice *notice)
{
	uint64_t now_ms = notice->speedtest.time_ms;
	enum rpc_state state = notice->speedtest.state;

	if (state == RPC_STATE_DOWN || state == RPC_STATE_FAILED) {
		speedtest_lose(view->test);
	} else {
		speedtest_take_counters(view->test, now_ms, notice->speedtest.rx_bytes,
			notice->speedtest.tx_bytes, notice->speedtest.cpu_ms, notice->speedtest.carrier);
		speedtest_take_state(view->test, now_ms, words_passes(state));
	}
	for (size_t i = 0; i < notice->speedtest.echo_count; i++)
		speedtest_take_echo(
			view->test, notice->speedtest.echoes[i].sent_ms, notice->speedtest.echoes[i].rtt_us);
}

void speed_view_notice(struct speed_view *view, const struct rpc_notice *notice)
{
	if (notice->kind != RPC_NOTICE_SPEEDTEST || view->stage != STAGE_RUNNING ||
		strcmp(notice->speedtest.name, view->name) != 0)
		return;
	view->heard_us = g_get_monotonic_time();
	/* The first one starts the clock. */
	if (!view->test)
		view->test = speedtest_new(&view->plan, notice->speedtest.time_ms);
	if (!view->test)
		g_error("not enough memory for the speed test");
	take(view, notice);
	switch (speedtest_step(view->test, notice->speedtest.time_ms)) {
	case SPEEDTEST_RUNS:
		break;
	case SPEEDTEST_MOVE:
		move(view);
		break;
	case SPEEDTEST_DONE:
	case SPEEDTEST_FAILED:
		show_result(view);
		return;
	}
	if (view->test)
		show_live(view);
}

bool speed_view_measures(const struct speed_view *view, const char *name)
{
	return (view->stage == STAGE_PREPARING || view->stage == STAGE_RUNNING) && !strcmp(view->name, name);
}

void speed_view_service(struct speed_view *view)
{
	if (view->app->feed->service != SERVICE_READY && view->stage != STAGE_ASKED &&
		view->stage != STAGE_OVER)
		fail(view, service_words(view->app->feed->service).title);
}

static gboolean on_watch(gpointer user)
{
	struct speed_view *view = user;

	if (g_get_monotonic_time() - view->heard_us < SILENCE_S * G_USEC_PER_SEC)
		return G_SOURCE_CONTINUE;
	/* fail takes the source away. */
	fail(view, _("The service says nothing any more. See whether wgtcpd still runs, and try again."));
	return G_SOURCE_REMOVE;
}

/* ---- the start ---- */

static void on_prepared(struct rpc_event *event, void *user)
{
	struct speed_view *view = user;
	const struct rpc_prepared *prepared;

	if (!event)
		return;
	if (event->kind == RPC_EVENT_ERROR) {
		view->stage = STAGE_OVER;
		fail(view, event->error.code == RPC_CODE_NOT_UP
				   ? _("The tunnel is not connected. Connect it, then measure again.")
				   : feed_error_text(event));
		return;
	}
	prepared = &event->result.prepared;
	g_strlcpy(view->plan.target.interface, prepared->interface, sizeof(view->plan.target.interface));
	g_strlcpy(view->plan.target.source, prepared->source, sizeof(view->plan.target.source));
	g_strlcpy(view->plan.target.address, prepared->address, sizeof(view->plan.target.address));
	view->plan.target.port = prepared->port;
	view->plan.carrier = prepared->carrier;
	view->stage = STAGE_RUNNING;
	view->heard_us = g_get_monotonic_time();
}

static void on_start(GtkButton *button, gpointer user)
{
	struct rpc_request request = { .method = RPC_METHOD_SPEEDTEST_PREPARE };
	struct speed_view *view = user;

	(void)button;
	if (view->stage == STAGE_PREPARING || view->stage == STAGE_RUNNING)
		return;
	view->plan = (struct speedtest_plan){ .streams = 1,
		.duration_s = (uint32_t)gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(view->duration)),
		.both_carriers = gtk_switch_get_active(GTK_SWITCH(view->compare)) };
	g_strlcpy(request.name, view->name, sizeof(request.name));
	if (link_ask(view->app->feed->link, &request, on_prepared, view)) {
		fail(view, _("The service is not there."));
		return;
	}
	view->stage = STAGE_PREPARING;
	view->heard_us = g_get_monotonic_time();
	view->watch = g_timeout_add_seconds(1, on_watch, view);
	ui_set_text(GTK_LABEL(view->phase), _("Preparing…"));
	gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(view->progress), 0);
	gauge_show(view->down, 0, "–");
	gauge_show(view->up, 0, "–");
	gauge_show(view->rtt, 0, "–");
	show_page(view, "run");
}

static void on_stop(GtkButton *button, gpointer user)
{
	struct speed_view *view = user;

	(void)button;
	end(view);
	show_page(view, "start");
	ui_toast(view->stack, _("Stopped"));
}

static void on_again(GtkButton *button, gpointer user)
{
	(void)button;
	show_page(user, "start");
}

/* ---- the pages ---- */

static GtkWidget *again_new(struct speed_view *view)
{
	GtkWidget *button = ui_button(_("_Measure again"), NULL);

	gtk_widget_add_css_class(button, "pill");
	gtk_widget_set_halign(button, GTK_ALIGN_CENTER);
	g_signal_connect(button, "clicked", G_CALLBACK(on_again), view);
	return button;
}

static GtkWidget *duration_new(struct speed_view *view)
{
	GtkWidget *row = adw_action_row_new();

	view->duration = gtk_spin_button_new_with_range(1, 60, 1);
	gtk_spin_button_set_value(GTK_SPIN_BUTTON(view->duration), DURATION_S);
	gtk_widget_set_valign(view->duration, GTK_ALIGN_CENTER);
	ui_describe(view->duration, _("Seconds in each direction"), "");
	adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), _("Seconds in each direction"));
	adw_action_row_set_title_lines(ADW_ACTION_ROW(row), 0);
	adw_action_row_add_suffix(ADW_ACTION_ROW(row), view->duration);
	return row;
}

static GtkWidget *compare_new(struct speed_view *view)
{
	GtkWidget *row = adw_action_row_new();

	view->compare = gtk_switch_new();
	gtk_widget_set_valign(view->compare, GTK_ALIGN_CENTER);
	adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), _("Compare UDP and TCP"));
	adw_action_row_set_subtitle(
		ADW_ACTION_ROW(row), _("Each twice, in turns; afterwards all is as it was."));
	adw_action_row_set_title_lines(ADW_ACTION_ROW(row), 0);
	adw_action_row_set_subtitle_lines(ADW_ACTION_ROW(row), 0);
	adw_action_row_add_suffix(ADW_ACTION_ROW(row), view->compare);
	adw_action_row_set_activatable_widget(ADW_ACTION_ROW(row), view->compare);
	return row;
}

static GtkWidget *start_new(struct speed_view *view)
{
	GtkWidget *page = adw_status_page_new(), *clamp = adw_clamp_new(),
		  *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
	GtkWidget *group = adw_preferences_group_new(), *start = ui_button(_("_Start"), NULL);

	adw_preferences_group_add(ADW_PREFERENCES_GROUP(group), compare_new(view));
	adw_preferences_group_add(ADW_PREFERENCES_GROUP(group), duration_new(view));
	gtk_widget_add_css_class(start, "pill");
	gtk_widget_add_css_class(start, "suggested-action");
	gtk_widget_set_halign(start, GTK_ALIGN_CENTER);
	g_signal_connect(start, "clicked", G_CALLBACK(on_start), view);
	gtk_box_append(GTK_BOX(box), group);
	gtk_box_append(GTK_BOX(box), start);
	adw_clamp_set_maximum_size(ADW_CLAMP(clamp), 440);
	adw_clamp_set_child(ADW_CLAMP(clamp), box);
	adw_status_page_set_title(ADW_STATUS_PAGE(page), _("How fast is this tunnel?"));
	adw_status_page_set_description(
		ADW_STATUS_PAGE(page), _("Measures with iperf3 against the server, inside the tunnel: round "
					 "trip, download, upload and both at once. "
					 "It takes all that the line has while it runs."));
	adw_status_page_set_child(ADW_STATUS_PAGE(page), clamp);
	return page;
}

static GtkWidget *run_new(struct speed_view *view)
{
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 24), *flow = gtk_flow_box_new();
	GtkWidget *clamp = adw_clamp_new();

	view->phase = ui_label("", "title-3");
	view->progress = gtk_progress_bar_new();
	view->down = gauge_new(_("Download"), 1e5, 1e10);
	view->up = gauge_new(_("Upload"), 1e5, 1e10);
	view->rtt = gauge_new(_("Round trip"), 100, 2e6);
	gtk_label_set_xalign(GTK_LABEL(view->phase), 0.5F);
	gtk_label_set_justify(GTK_LABEL(view->phase), GTK_JUSTIFY_CENTER);
	ui_describe(view->progress, _("How much of the test is done"), "");
	gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(flow), GTK_SELECTION_NONE);
	gtk_flow_box_set_min_children_per_line(GTK_FLOW_BOX(flow), 1);
	gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(flow), 3);
	gtk_flow_box_set_homogeneous(GTK_FLOW_BOX(flow), TRUE);
	gtk_flow_box_append(GTK_FLOW_BOX(flow), view->down);
	gtk_flow_box_append(GTK_FLOW_BOX(flow), view->up);
	gtk_flow_box_append(GTK_FLOW_BOX(flow), view->rtt);
	for (int i = 0; i < 3; i++)
		gtk_widget_set_focusable(
			GTK_WIDGET(gtk_flow_box_get_child_at_index(GTK_FLOW_BOX(flow), i)), FALSE);
	gtk_widget_add_css_class(box, "page");
	gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
	gtk_box_append(GTK_BOX(box), view->phase);
	gtk_box_append(GTK_BOX(box), flow);
	gtk_box_append(GTK_BOX(box), view->progress);
	adw_clamp_set_child(ADW_CLAMP(clamp), box);
	return clamp;
}

static GtkWidget *failed_new(struct speed_view *view)
{
	view->failed = adw_status_page_new();
	adw_status_page_set_icon_name(ADW_STATUS_PAGE(view->failed), "wgtcp-attention-symbolic");
	adw_status_page_set_title(ADW_STATUS_PAGE(view->failed), _("There is no result"));
	adw_status_page_set_child(ADW_STATUS_PAGE(view->failed), again_new(view));
	return view->failed;
}

static void speed_view_free(gpointer user)
{
	struct speed_view *view = user;

	end(view);
	if (view->app->speed == view)
		view->app->speed = NULL;
	g_free(view);
}

void speed_view_open(struct app *app, const struct model_tunnel *tunnel)
{
	struct speed_view *view;
	GtkWidget *header;
	char *title;

	if (app->speed && !strcmp(app->speed->name, tunnel->name)) {
		gtk_window_present(GTK_WINDOW(app->speed->window));
		return;
	}
	/* One test at a time is all that the service does. */
	if (app->speed)
		gtk_window_destroy(GTK_WINDOW(app->speed->window));
	view = g_new0(struct speed_view, 1);
	view->app = app;
	g_strlcpy(view->name, tunnel->name, sizeof(view->name));
	view->stack = gtk_stack_new();
	gtk_stack_add_named(GTK_STACK(view->stack), start_new(view), "start");
	gtk_stack_add_named(GTK_STACK(view->stack), run_new(view), "run");
	gtk_stack_add_named(GTK_STACK(view->stack), failed_new(view), "failed");
	title = g_strdup_printf(_("Speed test of %s"), tunnel->shown);
	view->window = ui_window(main_window_widget(app->window), title, 560, 620, &header, view->stack);
	g_object_set_data_full(G_OBJECT(view->window), "speed-view", view, speed_view_free);
	view->stop = ui_button(_("_Stop"), NULL);
	gtk_widget_add_css_class(view->stop, "destructive-action");
	g_signal_connect(view->stop, "clicked", G_CALLBACK(on_stop), view);
	adw_header_bar_pack_start(ADW_HEADER_BAR(header), view->stop);
	app->speed = view;
	show_page(view, "start");
	gtk_window_present(GTK_WINDOW(view->window));
	g_free(title);
}
