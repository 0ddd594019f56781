/* SPDX-License-Identifier: MIT */
/* The rules of the kill switch, as text. Called by kill_switch.c. Source: nft(8); RFC 2131, 8415 (DHCP),
 * 4861, 2710, 3810 (neighbour discovery and the multicast groups that it needs), 6762, UPnP (groups of local
 * networks). */
#include "platform/linux/kill_switch_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How machines of one link find each other: link-local groups (names, membership), and those of UPnP. */
#define GROUPS4 "{ 224.0.0.0/24, 239.255.255.250, 255.255.255.255 }"
#define GROUPS6 "{ ff02::/16, ff05::c }"

struct writer {
	FILE *file;
};

__attribute__((format(printf, 2, 3))) static void add(struct writer *writer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(writer->file, format, arguments);
	va_end(arguments);
}

static void add_open(struct writer *writer, uint32_t seconds)
{
	/* The kernel itself forgets the elements when their time is over. */
	add(writer, "set open { type nf_proto; flags timeout; ");
	if (seconds)
		add(writer, "elements = { ipv4 timeout %us, ipv6 timeout %us }; ", seconds, seconds);
	add(writer, "}\n");
}

/* What goes out through a tunnel, and what carries it. */
static void add_tunnels(struct writer *writer, const struct kill_switch *settings)
{
	for (size_t i = 0; i < settings->count; i++) {
		const struct kill_switch_tunnel *tunnel = &settings->tunnels[i];

		/* Its own packets inside itself would go round for ever. */
		if (tunnel->mark)
			add(writer, "oifname \"%s\" meta mark %u drop\n", tunnel->interface, tunnel->mark);
		add(writer, "oifname \"%s\" accept\n", tunnel->interface);
	}
	for (size_t i = 0; i < settings->count; i++)
		if (settings->tunnels[i].mark)
			add(writer, "meta mark %u accept\n", settings->tunnels[i].mark);
}

static void add_always(struct writer *writer)
{
	add(writer,
		"oifname \"lo\" accept\n"
		"meta nfproto ipv4 udp sport 68 udp dport 67 accept\n"
		"meta nfproto ipv6 udp sport 546 udp dport 547 accept\n"
		"ip6 hoplimit 255 icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, "
		"nd-neighbor-advert } accept\n"
		"ip6 hoplimit 1 icmpv6 type { mld-listener-report, mld-listener-done, mld2-listener-report } "
		"accept\n");
}

/* The kernel lets an interface be called nearly anything, and nft reads more than a name in some: the name
 * would end, or stand for several. */
static bool is_plain(const char *interface)
{
	return interface[0] && !strpbrk(interface, "\"*\\");
}

static void add_network(struct writer *writer, const struct kill_switch_network *network)
{
	const char *family = network->prefix.address.family == IP_V4 ? "ip" : "ip6";
	char text[PREFIX_TEXT_LEN];

	if (!is_plain(network->interface))
		return;
	ip_prefix_write(&network->prefix, text);
	add(writer, "oifname \"%s\" %s daddr %s accept\n", network->interface, family, text);
	add(writer, "oifname \"%s\" %s daddr %s accept\n", network->interface, family,
		network->prefix.address.family == IP_V4 ? GROUPS4 : GROUPS6);
}

/* A local network's resolver would carry the names out, so look-ups stay inside. */
static void add_lan(struct writer *writer, const struct kill_switch *settings)
{
	if (!settings->network_count)
		return;
	add(writer, "meta l4proto { tcp, udp } th dport { 53, 853 } reject with icmpx admin-prohibited\n");
	for (size_t i = 0; i < settings->network_count; i++)
		add_network(writer, &settings->networks[i]);
}

static void add_output(struct writer *writer, const struct kill_switch *settings)
{
	add(writer, "chain output { type filter hook output priority 10; policy drop;\n");
	add_tunnels(writer, settings);
	add_always(writer);
	add(writer, "meta nfproto @open accept\n");
	add_lan(writer, settings);
	/* Programs hear at once that it is no use. */
	add(writer, "counter reject with icmpx admin-prohibited\n}\n");
}

/* Containers and virtual machines, and whoever else has this machine for a router. */
static void add_forward(struct writer *writer, const struct kill_switch *settings)
{
	add(writer,
		"chain " KILL_SWITCH_LAST_CHAIN " { type filter hook forward priority 10; policy drop;\n");
	for (size_t i = 0; i < settings->count; i++)
		add(writer, "oifname \"%s\" accept\niifname \"%s\" accept\n", settings->tunnels[i].interface,
			settings->tunnels[i].interface);
	add(writer, "meta nfproto @open accept\n");
	add_lan(writer, settings);
	add(writer, "counter reject with icmpx admin-prohibited\n}\n");
}

char *kill_switch_text(const struct kill_switch *settings)
{
	struct writer writer;
	char *text = NULL;
	size_t len;
	bool failed;

	writer.file = open_memstream(&text, &len);
	if (!writer.file)
		return NULL;
	/* To delete what may not be there, it is added first. */
	add(&writer, "add table inet %s\ndelete table inet %s\ntable inet %s {\n", KILL_SWITCH_TABLE,
		KILL_SWITCH_TABLE, KILL_SWITCH_TABLE);
	add_open(&writer, settings->open_s);
	add_output(&writer, settings);
	add_forward(&writer, settings);
	add(&writer, "}\n");
	failed = ferror(writer.file) != 0;
	if (fclose(writer.file) || failed) {
		free(text);
		return NULL;
	}
	return text;
}
