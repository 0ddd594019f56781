/* SPDX-License-Identifier: MIT */
/* Look-ups by GResolver, which asks the system's resolver in threads of its own. Used by tunnel.c. */
#include "client/daemon/names.h"

#include <gio/gio.h>
#include <string.h>

#define BACK_OFF_FIRST_MS 500
#define BACK_OFF_MOST_MS 30000
#define FRESH_US (5 * G_USEC_PER_SEC)

struct name {
	struct names *owner;
	char *host;
	bool numeric, asked, tried;
	struct ip_address addresses[NAME_ADDRESSES_MAX];
	size_t count;
	guint retry;
	guint back_off_ms;
	gint64 answered_us;
};

struct names {
	GPtrArray *list; /* struct name */
	GCancellable *cancel;
	void (*changed)(void *user);
	void *user;
};

static void ask(struct name *name);

static void name_free(gpointer data)
{
	struct name *name = data;

	if (name->retry)
		g_source_remove(name->retry);
	g_free(name->host);
	g_free(name);
}

static struct name *find(const struct names *names, const char *host)
{
	guint i;

	for (i = 0; i < names->list->len; i++) {
		struct name *name = g_ptr_array_index(names->list, i);

		if (!strcmp(name->host, host))
			return name;
	}
	return NULL;
}

static gboolean retry_due(gpointer user)
{
	struct name *name = user;

	name->retry = 0;
	ask(name);
	return G_SOURCE_REMOVE;
}

static size_t take_addresses(GList *list, struct ip_address *out)
{
	size_t count = 0;

	for (; list && count < NAME_ADDRESSES_MAX; list = list->next) {
		GInetAddress *address = list->data;
		struct ip_address *to = &out[count];

		*to = (struct ip_address){ .family = IP_NONE };
		switch (g_inet_address_get_family(address)) {
		case G_SOCKET_FAMILY_IPV4:
			to->family = IP_V4;
			break;
		case G_SOCKET_FAMILY_IPV6:
			to->family = IP_V6;
			break;
		default:
			continue;
		}
		memcpy(to->bytes, g_inet_address_to_bytes(address), ip_address_len(to));
		count++;
	}
	return count;
}

static bool same(const struct name *name, const struct ip_address *addresses, size_t count)
{
	size_t i;

	if (name->count != count)
		return false;
	for (i = 0; i < count; i++)
		if (!ip_address_equal(&name->addresses[i], &addresses[i]))
			return false;
	return true;
}

static void answered(GObject *resolver, GAsyncResult *result, gpointer user)
{
	struct ip_address addresses[NAME_ADDRESSES_MAX];
	struct name *name = user;
	GError *error = NULL;
	GList *list;
	size_t count;
	bool first, differs;

	list = g_resolver_lookup_by_name_finish(G_RESOLVER(resolver), result, &error);
	if (!list && g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
		g_error_free(error);
		return; /* name and its owner are gone */
	}
	g_clear_error(&error);
	count = take_addresses(list, addresses);
	g_resolver_free_addresses(list);
	name->asked = false;
	first = !name->tried;
	name->tried = true;
	if (count == 0) {
		/* Old addresses, if any, are better than none. */
		name->back_off_ms =
			name->back_off_ms ? MIN(2 * name->back_off_ms, BACK_OFF_MOST_MS) : BACK_OFF_FIRST_MS;
		name->retry = g_timeout_add(name->back_off_ms, retry_due, name);
		if (first)
			name->owner->changed(name->owner->user);
		return;
	}
	name->back_off_ms = 0;
	name->answered_us = g_get_monotonic_time();
	differs = !same(name, addresses, count);
	memcpy(name->addresses, addresses, count * sizeof(*addresses));
	name->count = count;
	if (first || differs)
		name->owner->changed(name->owner->user);
}

static void ask(struct name *name)
{
	GResolver *resolver;

	if (name->numeric || name->asked)
		return;
	if (name->retry) {
		g_source_remove(name->retry);
		name->retry = 0;
	}
	name->asked = true;
	resolver = g_resolver_get_default();
	g_resolver_lookup_by_name_async(resolver, name->host, name->owner->cancel, answered, name);
	g_object_unref(resolver);
}

struct names *names_new(void (*changed)(void *user), void *user)
{
	struct names *names = g_new0(struct names, 1);

	names->list = g_ptr_array_new_with_free_func(name_free);
	names->cancel = g_cancellable_new();
	names->changed = changed;
	names->user = user;
	return names;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	/* Answers still under way find the cancellation and touch nothing. */
	g_cancellable_cancel(names->cancel);
	g_object_unref(names->cancel);
	g_ptr_array_unref(names->list);
	g_free(names);
}

void names_add(struct names *names, const char *host)
{
	struct name *name;

	if (find(names, host))
		return;
	name = g_new0(struct name, 1);
	name->owner = names;
	name->host = g_strdup(host);
	g_ptr_array_add(names->list, name);
	if (ip_address_parse(host, strlen(host), &name->addresses[0])) {
		name->numeric = name->tried = true;
		name->count = 1;
		return;
	}
	ask(name);
}

void names_refresh(struct names *names, const char *host)
{
	struct name *name = find(names, host);

	if (name && (!name->answered_us || g_get_monotonic_time() - name->answered_us > FRESH_US))
		ask(name);
}

void names_retry(struct names *names)
{
	guint i;

	for (i = 0; i < names->list->len; i++) {
		struct name *name = g_ptr_array_index(names->list, i);

		if (name->retry) {
			name->back_off_ms = 0;
			ask(name);
		}
	}
}

size_t names_get(const struct names *names, const char *host, struct ip_address *out, size_t max)
{
	const struct name *name = find(names, host);
	size_t count = name ? MIN(name->count, max) : 0;

	if (count)
		memcpy(out, name->addresses, count * sizeof(*out));
	return count;
}

bool names_settled(const struct names *names)
{
	guint i;

	for (i = 0; i < names->list->len; i++)
		if (!((struct name *)g_ptr_array_index(names->list, i))->tried)
			return false;
	return true;
}

const char *names_missing(const struct names *names)
{
	guint i;

	for (i = 0; i < names->list->len; i++) {
		const struct name *name = g_ptr_array_index(names->list, i);

		if (name->count == 0)
			return name->host;
	}
	return NULL;
}
