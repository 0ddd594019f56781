/* SPDX-License-Identifier: MIT */
/* Look-ups by the probe process, at the servers of the network below the tunnels. Used by tunnel.c. Source:
 * RFC 8305 (3: do not wait for both families; 4: their order). */
#include "client/daemon/names.h"
#include "client/daemon/address_book.h"
#include "client/daemon/daemon.h"
#include "client/daemon/manager.h"
#include "client/daemon/prober.h"

#include <glib.h>
#include <string.h>

#define BACK_OFF_FIRST_MS 500
#define BACK_OFF_MOST_MS 5000
/* When nothing has come for so long, there is no hurry any more. */
#define PATIENT_AFTER_US (120 * G_USEC_PER_SEC)
#define BACK_OFF_PATIENT_MS 30000
#define FRESH_US (5 * G_USEC_PER_SEC)
/* A look-up that takes so long asks a resolver that may be out of reach since the network changed. */
#define SLOW_US G_USEC_PER_SEC
/* RFC 8305, 3: "Resolution Delay". */
#define IPV6_HEAD_START_MS 50
/* A resolver that is there has answered by then; else the address that was good before is tried meanwhile. */
#define BOOK_MS 250

struct answer {
	bool came, kept; /* kept: no answer of use, so what is known of this family stays */
	struct ip_address addresses[NAME_ADDRESSES_MAX];
	size_t count;
};

struct name {
	struct names *owner;
	char *host;
	bool numeric, tried;
	struct underlay_query *underlay; /* asked for before the look-up */
	uint32_t look_up;                /* 0: none under way */
	bool asked;
	struct answer v4, v6; /* of the look-up under way */
	struct ip_address addresses[NAME_ADDRESSES_MAX];
	size_t count;
	struct ip_address good;        /* where it has answered */
	guint head_start, book, retry; /* sources */
	guint back_off_ms;
	gint64 asked_us, answered_us, failing_since_us;
};

struct names {
	struct daemon *daemon;
	uint32_t mark;
	GPtrArray *list; /* struct name */
	void (*changed)(void *user);
	void *user;
	bool *freed; /* set while changed is being told */
};

static void ask(struct name *name);

static void stop_timer(guint *timer)
{
	if (*timer)
		g_source_remove(*timer);
	*timer = 0;
}

static void give_up(struct name *name)
{
	underlay_cancel(name->underlay);
	name->underlay = NULL;
	prober_cancel(name->owner->daemon->prober, name->look_up);
	name->look_up = 0;
	name->asked = false;
	stop_timer(&name->head_start);
}

static void name_free(gpointer data)
{
	struct name *name = data;

	give_up(name);
	stop_timer(&name->retry);
	stop_timer(&name->book);
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

/* False: names are gone. */
static bool tell(struct names *names)
{
	bool freed = false;

	names->freed = &freed;
	names->changed(names->user);
	if (freed)
		return false;
	names->freed = NULL;
	return true;
}

/* ---- answers ---- */

static bool has(const struct ip_address *list, size_t count, const struct ip_address *address)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (ip_address_equal(&list[i], address))
			return true;
	return false;
}

static void add(struct ip_address *list, size_t *count, const struct ip_address *address)
{
	if (*count < NAME_ADDRESSES_MAX && !has(list, *count, address))
		list[(*count)++] = *address;
}

/* The one that was good before, if it still is one; then in turn of each family, IPv6 first. */
static size_t put_in_order(const struct name *name, struct ip_address out[NAME_ADDRESSES_MAX])
{
	size_t count = 0, i;

	if (has(name->v4.addresses, name->v4.count, &name->good) ||
		has(name->v6.addresses, name->v6.count, &name->good))
		out[count++] = name->good;
	for (i = 0; i < NAME_ADDRESSES_MAX; i++) {
		if (i < name->v6.count)
			add(out, &count, &name->v6.addresses[i]);
		if (i < name->v4.count)
			add(out, &count, &name->v4.addresses[i]);
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

static void keep_family(const struct name *name, struct answer *answer, enum ip_family family)
{
	size_t i;

	answer->count = 0;
	for (i = 0; i < name->count; i++)
		if (name->addresses[i].family == family)
			answer->addresses[answer->count++] = name->addresses[i];
}

/* What has come so far holds from now on. False: names are gone. */
static bool publish(struct name *name)
{
	struct ip_address addresses[NAME_ADDRESSES_MAX];
	size_t count = put_in_order(name, addresses);
	bool first = !name->tried, differs = !same(name, addresses, count);

	stop_timer(&name->book);
	stop_timer(&name->head_start);
	memcpy(name->addresses, addresses, count * sizeof(*addresses));
	name->count = count;
	name->tried = true;
	name->back_off_ms = 0;
	name->failing_since_us = 0;
	name->answered_us = g_get_monotonic_time();
	return first || differs ? tell(name->owner) : true;
}

static gboolean head_start_over(gpointer user)
{
	struct name *name = user;

	name->head_start = 0;
	if (!name->v6.came)
		keep_family(name, &name->v6, IP_V6);
	publish(name);
	return G_SOURCE_REMOVE;
}

static gboolean retry_due(gpointer user)
{
	struct name *name = user;

	name->retry = 0;
	ask(name);
	return G_SOURCE_REMOVE;
}

/* Old addresses, if any, are better than none. */
static void failed(struct name *name)
{
	gint64 now = g_get_monotonic_time();
	bool first = !name->tried;

	if (!name->failing_since_us)
		name->failing_since_us = now;
	name->back_off_ms =
		name->back_off_ms ? MIN(2 * name->back_off_ms, BACK_OFF_MOST_MS) : BACK_OFF_FIRST_MS;
	if (now - name->failing_since_us > PATIENT_AFTER_US)
		name->back_off_ms = BACK_OFF_PATIENT_MS;
	stop_timer(&name->retry);
	name->retry = g_timeout_add(name->back_off_ms, retry_due, name);
	stop_timer(&name->book);
	name->tried = true;
	if (first)
		tell(name->owner);
}

static void take(struct name *name, const struct probe_message *message)
{
	bool v6 = message->family == IP_V6;
	struct answer *answer = v6 ? &name->v6 : &name->v4;
	size_t i;

	answer->came = true;
	switch ((enum probe_status)message->status) {
	case PROBE_FOUND:
		for (i = 0; i < message->count; i++)
			if (message->addresses[i].family == (enum ip_family)message->family)
				add(answer->addresses, &answer->count, &message->addresses[i]);
		return;
	case PROBE_NONE:
		return;
	case PROBE_NO_ANSWER:
	case PROBE_FAILED:
		answer->kept = true;
		keep_family(name, answer, v6 ? IP_V6 : IP_V4);
		return;
	}
	answer->kept = true;
}

static bool has_news(const struct answer *answer)
{
	return answer->came && !answer->kept && answer->count;
}

static void answered(const struct probe_message *message, void *user)
{
	struct name *name = user;

	if (message->family == IP_V4 || message->family == IP_V6)
		take(name, message);
	if (message->last) {
		name->look_up = 0;
		name->asked = false;
		if (has_news(&name->v4) || has_news(&name->v6))
			publish(name);
		else
			failed(name);
		return;
	}
	if (has_news(&name->v6)) {
		if (!name->v4.came)
			keep_family(name, &name->v4, IP_V4);
		publish(name);
	} else if (has_news(&name->v4) && name->v6.came) {
		publish(name);
	} else if (has_news(&name->v4) && !name->head_start) {
		name->head_start = g_timeout_add(IPV6_HEAD_START_MS, head_start_over, name);
	}
}

/* ---- questions ---- */

static void underlay_found(const struct underlay *underlay, void *user)
{
	struct name *name = user;
	struct names *names = name->owner;
	uint32_t mark = names->mark ? names->mark : manager_outside_mark(names->daemon->manager);

	name->underlay = NULL;
	name->look_up = prober_look_up(names->daemon->prober, name->host, underlay, mark, answered, name);
	if (name->look_up)
		return;
	/* A new probe is being started. */
	name->asked = false;
	stop_timer(&name->retry);
	name->retry = g_timeout_add(BACK_OFF_FIRST_MS, retry_due, name);
}

static void ask(struct name *name)
{
	if (name->numeric || name->asked)
		return;
	stop_timer(&name->retry);
	memset(&name->v4, 0, sizeof(name->v4));
	memset(&name->v6, 0, sizeof(name->v6));
	name->asked = true;
	name->asked_us = g_get_monotonic_time();
	name->underlay = underlay_find(name->owner->daemon, underlay_found, name);
}

/* ---- for everybody ---- */

struct names *names_new(struct daemon *daemon, uint32_t mark, void (*changed)(void *user), void *user)
{
	struct names *names = g_new0(struct names, 1);

	names->daemon = daemon;
	names->mark = mark;
	names->list = g_ptr_array_new_with_free_func(name_free);
	names->changed = changed;
	names->user = user;
	return names;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	if (names->freed)
		*names->freed = true;
	g_ptr_array_unref(names->list);
	g_free(names);
}

static gboolean book_due(gpointer user)
{
	struct name *name = user;

	name->book = 0;
	name->tried = true;
	tell(name->owner);
	return G_SOURCE_REMOVE;
}

static void look_into_book(struct name *name)
{
	const struct address_book_entry *entry =
		address_book_find(name->owner->daemon->address_book, name->host);

	if (!entry)
		return;
	memcpy(name->addresses, entry->addresses, entry->count * sizeof(entry->addresses[0]));
	name->count = entry->count;
	name->good = entry->addresses[0];
	name->book = g_timeout_add(BOOK_MS, book_due, name);
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
	look_into_book(name);
	ask(name);
}

void names_refresh(struct names *names, const char *host)
{
	struct name *name = find(names, host);

	if (name && (!name->answered_us || g_get_monotonic_time() - name->answered_us > FRESH_US))
		ask(name);
}

void names_network_changed(struct names *names)
{
	guint i;

	for (i = 0; i < names->list->len; i++) {
		struct name *name = g_ptr_array_index(names->list, i);

		if (name->asked && g_get_monotonic_time() - name->asked_us > SLOW_US)
			give_up(name);
		if (name->retry)
			name->answered_us = 0;
		name->back_off_ms = 0;
		names_refresh(names, name->host);
	}
}

bool names_good(struct names *names, const struct ip_address *address)
{
	bool moved = false;
	guint i;

	for (i = 0; i < names->list->len; i++) {
		struct name *name = g_ptr_array_index(names->list, i);
		size_t at = 0;

		if (name->numeric || ip_address_equal(&name->good, address))
			continue;
		while (at < name->count && !ip_address_equal(&name->addresses[at], address))
			at++;
		if (at == name->count)
			continue;
		memmove(&name->addresses[1], &name->addresses[0], at * sizeof(*address));
		name->addresses[0] = name->good = *address;
		moved |= at > 0;
		if (address_book_put(names->daemon->address_book, name->host, address))
			manager_address_book_changed(names->daemon->manager);
	}
	if (moved)
		tell(names);
	return moved;
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

bool names_answered(const struct names *names, const char *host)
{
	const struct name *name = find(names, host);

	return name && (name->numeric || name->answered_us);
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
