/* SPDX-License-Identifier: MIT */
/* See editor_page.h. Rows and connection meet in the names and texts of map.h, so there is nothing that one
 * of them can hold and the other can not; commands (PostUp and the like) are kept and not shown, since they
 * are never run. */
#include "client/nm/editor_page.h"

#include "client/nm/connection.h"
#include "client/nm/editor_widgets.h"
#include "client/nm/map.h"

#include <string.h>

struct label {
	const char *key, *text, *example;
	bool main; /* not under "Advanced" */
};

static const struct label interface_labels[] = {
	{ "PrivateKey", "Private key", "44 characters, as wgtcp-cli genkey makes them", true },
	{ "Address", "Addresses", "10.0.0.2/24, fd00::2/64", true },
	{ "DNS", "DNS servers and domains", "10.0.0.1, corp.example", true },
	{ "Transport", "Carrier", NULL, true },
	{ "MTU", "MTU", "found out", false },
	{ "ListenPort", "UDP port here", "any", false },
	{ "TcpListenPort", "TCP port here", "none", false },
	{ "Backend", "WireGuard of", NULL, false },
	{ "KillSwitch", "Kill switch", NULL, false },
	{ "KillSwitchAllowLan", "Kill switch lets the local network pass", NULL, false },
	{ "Extensions", "Extensions of wgtcp", NULL, false },
	{ "PortalCheck", "Address to find captive portals", "http://vpn.example.com/generate_204", false },
	{ "FwMark", "Mark", "chosen", false },
	{ "Table", "Routing table", "auto", false },
	{ "Name", "Name in exported profiles", "the file's name", false },
};
static const struct label peer_labels[] = {
	{ "PublicKey", "Public key", "44 characters, from the server", true },
	{ "PresharedKey", "Preshared key", "none", true },
	{ "Endpoint", "Server", "vpn.example.com:51820", true },
	{ "TcpEndpoint", "Server for TCP", "the same", true },
	{ "AllowedIPs", "Networks behind it", "0.0.0.0/0, ::/0", true },
	{ "PersistentKeepalive", "Keepalive (s)", "off", false },
	{ "UdpPorts", "Further UDP ports", "53, 443", false },
	{ "ProbeAddress", "Address to probe", "10.0.0.1", false },
	{ "Transport", "Carrier", NULL, false },
	{ "Name", "Name", "none", false },
};

struct choice {
	const char *key, *ids[5], *texts[5];
};

/* "" leaves the key out. */
static const struct choice choices[] = {
	{ "Transport", { "", "auto", "udp", "tcp", NULL },
		{ "UDP, or TCP where it must be",
			"Chosen by itself, also if the other carrier is set for all", "UDP only", "TCP only",
			NULL } },
	{ "Backend", { "", "kernel", "userspace", NULL },
		{ "Whichever can", "The kernel", "wgtcp itself", NULL } },
	{ "KillSwitch", { "", "on", NULL }, { "Off", "On: nothing passes beside the tunnel", NULL } },
	{ "KillSwitchAllowLan", { "", "on", NULL }, { "No", "Yes", NULL } },
	{ "Extensions", { "", "off", NULL }, { "On", "Off", NULL } },
};

static const char *const flag_ids[] = { "0", "1", "2", NULL };
static const char *const flag_texts[] = { "For all users, readable by root only",
	"For this user, in the keyring", "Nowhere: ask each time", NULL };

struct row {
	const char *key;
	size_t peer;
	GtkWidget *widget;
	bool choice;
};

struct page {
	GtkWidget *widget, *peers, *problem, *flags;
	GArray *rows;       /* struct row */
	GPtrArray *kept;    /* names and values in turn, of what has no row */
	GPtrArray *parts;   /* a widget for each peer; NULL: it was taken away */
	GPtrArray *callers; /* references: widgets that call back, also of peers that were taken away */
	void (*changed)(void *user);
	void *user;
	bool building;
};

/* ---- what was typed ---- */

static const char *row_text(const struct row *row)
{
	const char *id;

	if (!row->choice)
		return widgets_entry_text(row->widget);
	id = gtk_combo_box_get_active_id(GTK_COMBO_BOX(row->widget));
	return id ? id : "";
}

/* Peers that were taken away leave no gap. */
static size_t rank(const struct page *page, size_t peer)
{
	size_t count = 0;

	for (guint i = 0; i < page->parts->len && i < peer; i++)
		count += page->parts->pdata[i] != NULL;
	return count;
}

bool page_read(struct page *page, struct profile *out, struct profile_error *error)
{
	GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct nm_entry));
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	struct nm_entry entry;
	bool ok;

	for (guint i = 0; i < page->rows->len; i++) {
		const struct row *row = &g_array_index(page->rows, struct row, i);
		bool peer = row->peer != PROFILE_EDIT_INTERFACE;
		char *name;

		if (peer && !page->parts->pdata[row->peer])
			continue;
		/* The public key is what makes a peer, also where it is still missing. */
		if (!row_text(row)[0] && strcmp(row->key, "PublicKey") != 0)
			continue;
		name = g_malloc(NM_MAP_KEY_LEN);
		nm_map_key(row->key, peer ? rank(page, row->peer) : row->peer, name);
		g_ptr_array_add(names, name);
		entry = (struct nm_entry){ name, row_text(row),
			profile_pair_kind(row->key, peer) == PROFILE_PAIR_SECRET };
		g_array_append_val(entries, entry);
	}
	for (guint i = 0; i + 1 < page->kept->len; i += 2) {
		entry = (struct nm_entry){ page->kept->pdata[i], page->kept->pdata[i + 1], false };
		g_array_append_val(entries, entry);
	}
	ok = nm_map_read((const struct nm_entry *)(void *)entries->data, entries->len, false, out, error);
	g_array_unref(entries);
	g_ptr_array_unref(names);
	return ok;
}

NMSettingSecretFlags page_flags(struct page *page)
{
	return (NMSettingSecretFlags)g_ascii_strtoull(
		gtk_combo_box_get_active_id(GTK_COMBO_BOX(page->flags)), NULL, 10);
}

/* Says what is wrong as the parser says it. */
static void check(struct page *page)
{
	struct profile profile;
	struct profile_error error = { 0 };

	if (page->building)
		return;
	if (page_read(page, &profile, &error))
		profile_free(&profile);
	gtk_label_set_text(GTK_LABEL(page->problem), error.sentence);
	gtk_widget_set_visible(page->problem, error.sentence[0] != 0);
	page->changed(page->user);
}

static void on_changed(GtkWidget *widget, gpointer user)
{
	(void)widget;
	check(user);
}

/* ---- building ---- */

static void listen_to(struct page *page, GtkWidget *widget, const char *signal, GCallback callback)
{
	g_signal_connect(widget, signal, callback, page);
	g_ptr_array_add(page->callers, g_object_ref(widget));
}

static const struct choice *choice_of(const char *key)
{
	for (size_t i = 0; i < G_N_ELEMENTS(choices); i++)
		if (!strcmp(choices[i].key, key))
			return &choices[i];
	return NULL;
}

static const char *value_of(GHashTable *values, const char *key, size_t peer)
{
	char name[NM_MAP_KEY_LEN];
	const char *value;

	nm_map_key(key, peer, name);
	value = values ? g_hash_table_lookup(values, name) : NULL;
	return value ? value : "";
}

static void attach(GtkWidget *grid, int at, const char *text, GtkWidget *widget)
{
	GtkWidget *label = gtk_label_new(text);

	widgets_label(label, widget);
	gtk_widget_set_hexpand(widget, TRUE);
	gtk_grid_attach(GTK_GRID(grid), label, 0, at, 1, 1);
	gtk_grid_attach(GTK_GRID(grid), widget, 1, at, 1, 1);
}

static void add_row(struct page *page, GtkWidget *grid, int at, const struct label *label, size_t peer,
	GHashTable *values)
{
	const struct choice *choice = choice_of(label->key);
	const char *value = value_of(values, label->key, peer);
	bool secret = profile_pair_kind(label->key, peer != PROFILE_EDIT_INTERFACE) == PROFILE_PAIR_SECRET;
	struct row row = { label->key, peer, NULL, choice != NULL };

	row.widget = choice ? widgets_choice(choice->ids, choice->texts, value)
			    : widgets_entry(value, label->example, secret);
	attach(grid, at, label->text, row.widget);
	listen_to(page, row.widget, "changed", G_CALLBACK(on_changed));
	g_array_append_val(page->rows, row);
}

/* Returns the advanced part, to be put where it belongs. */
static GtkWidget *add_rows(struct page *page, GtkWidget *column, const struct label *labels, size_t count,
	size_t peer, GHashTable *values)
{
	GtkWidget *main = widgets_grid(), *more = widgets_grid();

	for (size_t i = 0; i < count; i++)
		add_row(page, labels[i].main ? main : more, (int)i, &labels[i], peer, values);
	if (peer == PROFILE_EDIT_INTERFACE) {
		attach(main, (int)count, "Keys are stored", page->flags);
		listen_to(page, page->flags, "changed", G_CALLBACK(on_changed));
	}
	widgets_add(column, main);
	return widgets_expander("Advanced", more);
}

static void remove_peer(GtkWidget *button, gpointer user)
{
	struct page *page = user;
	size_t peer = GPOINTER_TO_SIZE(g_object_get_data(G_OBJECT(button), "peer"));
	GtkWidget *part = page->parts->pdata[peer];

	page->parts->pdata[peer] = NULL;
	widgets_remove(page->peers, part);
	check(page);
}

static void add_peer(struct page *page, GHashTable *values)
{
	size_t peer = page->parts->len;
	GtkWidget *column = widgets_column(6), *group, *button = widgets_button("_Remove this peer");
	char *title = g_strdup_printf("Peer %zu", peer + 1);

	group = widgets_group(title, column);
	g_free(title);
	g_ptr_array_add(page->parts, group);
	widgets_add(column, add_rows(page, column, peer_labels, G_N_ELEMENTS(peer_labels), peer, values));
	g_object_set_data(G_OBJECT(button), "peer", GSIZE_TO_POINTER(peer));
	listen_to(page, button, "clicked", G_CALLBACK(remove_peer));
	widgets_add(column, button);
	widgets_add(page->peers, group);
	widgets_show(group);
}

static void on_add_peer(GtkWidget *button, gpointer user)
{
	struct page *page = user;

	(void)button;
	if (rank(page, page->parts->len) < NM_MAP_PEERS_MAX && page->parts->len < NM_MAP_PEERS_MAX)
		add_peer(page, NULL);
	check(page);
}

/* ---- what is there ---- */

struct gathering {
	GHashTable *values;
	size_t peers;
};

static bool gather(const char *key, const char *value, bool secret, void *user)
{
	struct gathering *gathering = user;

	(void)secret;
	g_hash_table_insert(gathering->values, g_strdup(key), g_strdup(value));
	return true;
}

static bool has_row(const char *name)
{
	const char *dot = strchr(name, '.'), *rest = g_str_has_prefix(name, "peer-") && dot ? dot + 1 : name;
	const struct label *labels = rest == name ? interface_labels : peer_labels;
	size_t count = rest == name ? G_N_ELEMENTS(interface_labels) : G_N_ELEMENTS(peer_labels);
	char key[NM_MAP_KEY_LEN];

	for (size_t i = 0; i < count; i++) {
		nm_map_key(labels[i].key, PROFILE_EDIT_INTERFACE, key);
		if (!strcmp(key, rest))
			return true;
	}
	return false;
}

static void keep(struct page *page, GHashTable *values)
{
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, values);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		if (has_row(key))
			continue;
		g_ptr_array_add(page->kept, g_strdup(key));
		g_ptr_array_add(page->kept, g_strdup(value));
	}
}

static void wipe_value(gpointer text)
{
	explicit_bzero(text, strlen(text));
	g_free(text);
}

static void build(struct page *page, NMConnection *connection)
{
	struct gathering gathering = { g_hash_table_new_full(g_str_hash, g_str_equal, g_free, wipe_value),
		1 };
	NMSettingVpn *setting = nm_connection_get_setting_vpn(connection);
	const char *flags = setting ? nm_setting_vpn_get_data_item(setting, "private-key-flags") : NULL;
	GtkWidget *column = widgets_column(18), *interface = widgets_column(6), *more, *button;
	struct profile profile;
	struct profile_error error = { 0 };

	if (connection_read(connection, false, &profile, &error)) {
		nm_map_write(&profile, gather, &gathering);
		gathering.peers = profile.peer_count ? profile.peer_count : 1;
		profile_free(&profile);
	}
	keep(page, gathering.values);
	page->flags = widgets_choice(flag_ids, flag_texts, flags);
	more = add_rows(page, interface, interface_labels, G_N_ELEMENTS(interface_labels),
		PROFILE_EDIT_INTERFACE, gathering.values);
	widgets_add(interface, more);
	widgets_add(column, page->problem);
	widgets_add(column, widgets_group("This machine", interface));
	for (size_t i = 0; i < gathering.peers; i++)
		add_peer(page, gathering.values);
	widgets_add(column, page->peers);
	button = widgets_button("_Add a peer");
	listen_to(page, button, "clicked", G_CALLBACK(on_add_peer));
	widgets_add(column, button);
	page->widget = widgets_scrolled(column);
	g_hash_table_unref(gathering.values);
}

struct page *page_new(NMConnection *connection, void (*changed)(void *user), void *user)
{
	struct page *page = g_new0(struct page, 1);

	page->changed = changed;
	page->user = user;
	page->building = true;
	page->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
	page->kept = g_ptr_array_new_with_free_func(g_free);
	page->parts = g_ptr_array_new();
	page->callers = g_ptr_array_new_with_free_func(g_object_unref);
	page->peers = widgets_column(18);
	page->problem = gtk_label_new("");
	gtk_label_set_xalign(GTK_LABEL(page->problem), 0);
#if GTK_MAJOR_VERSION >= 4
	gtk_label_set_wrap(GTK_LABEL(page->problem), TRUE);
#else
	gtk_label_set_line_wrap(GTK_LABEL(page->problem), TRUE);
#endif
	gtk_label_set_max_width_chars(GTK_LABEL(page->problem), 60);
	widgets_error(page->problem, TRUE);
	build(page, connection);
	g_object_ref_sink(page->widget);
	widgets_show(page->widget);
	page->building = false;
	check(page);
	return page;
}

void page_free(struct page *page)
{
	if (!page)
		return;
	/* What is still shown must not call back. */
	for (guint i = 0; i < page->callers->len; i++)
		g_signal_handlers_disconnect_by_data(page->callers->pdata[i], page);
	g_ptr_array_unref(page->callers);
	g_array_unref(page->rows);
	g_ptr_array_unref(page->kept);
	g_ptr_array_unref(page->parts);
	g_object_unref(page->widget);
	g_free(page);
}

GtkWidget *page_widget(struct page *page)
{
	return page->widget;
}
