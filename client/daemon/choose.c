/* SPDX-License-Identifier: MIT */
/* The choice of a backend. Used by up.c. */
#include "client/daemon/choose.h"

#include <stdio.h>

static bool is_called(const struct profile_peer *peer)
{
	return peer->endpoint.host[0] || peer->tcp_endpoint_count;
}

struct choose_facts choose_look(const struct profile *profile, const enum transport *transports)
{
	struct choose_facts facts = { .transport = TRANSPORT_UDP };
	bool others = false, tcp = false;
	size_t i;

	for (i = 0; i < profile->peer_count; i++) {
		if (transports[i] != TRANSPORT_UDP)
			tcp = true;
		if (!is_called(&profile->peers[i])) {
			others = true;
			continue;
		}
		if (profile->peers[i].udp_port_count && transports[i] != TRANSPORT_TCP)
			facts.more_ports = true;
		if (!facts.called)
			facts.transport = transports[i];
		else if (facts.transport != transports[i])
			facts.transport = TRANSPORT_AUTO;
		facts.called = true;
	}
	/* A client may have a fixed port; that alone is no wish to be called by TCP. */
	facts.listens_tcp = tcp && ((profile->has_tcp_listen_port && profile->tcp_listen_port) ||
					   (others && profile->has_listen_port && profile->listen_port &&
						   !profile->has_tcp_listen_port));
	if (!facts.called && others && tcp)
		facts.transport = profile->transport;
	return facts;
}

bool choose_needs_kernel(enum rpc_backend_choice wish)
{
	return wish != RPC_BACKEND_CHOICE_USERSPACE;
}

#define SAY(choice, ...) snprintf((choice)->reason, sizeof((choice)->reason), __VA_ARGS__)

/* The kernel has WireGuard, and it is to be used. */
static struct choice kernel_of(const struct choose_facts *facts)
{
	struct choice choice = { .backend = RPC_BACKEND_KERNEL };

	if (facts->kernel.support == KERNEL_WGTCP && facts->transport == TRANSPORT_TCP) {
		choice.backend = RPC_BACKEND_KERNEL_WGTCP;
		SAY(&choice, "this kernel's WireGuard speaks TCP itself, and only TCP is wanted");
		return choice;
	}
	choice.deaf = facts->listens_tcp;
	choice.few_ports = facts->more_ports;
	if (facts->transport == TRANSPORT_UDP)
		SAY(&choice, "this kernel has WireGuard");
	else if (facts->transport == TRANSPORT_TCP)
		SAY(&choice,
			"this kernel has WireGuard, and wgtcp-relay beside it carries its packets over TCP");
	else if (facts->kernel.support == KERNEL_WGTCP)
		SAY(&choice, "this kernel has WireGuard; its own TCP needs the whole interface anew for each "
			     "switch, so that "
			     "wgtcp-relay beside it takes over where UDP is blocked");
	else
		SAY(&choice,
			"this kernel has WireGuard; wgtcp-relay beside it takes over where UDP is blocked");
	return choice;
}

static struct choice automatic(const struct choose_facts *facts)
{
	struct choice choice = { .backend = RPC_BACKEND_USERSPACE };

	if (facts->kernel.support == KERNEL_NONE) {
		SAY(&choice, "%s", facts->kernel.why);
		return choice;
	}
	if (facts->listens_tcp &&
		!(facts->kernel.support == KERNEL_WGTCP && facts->transport == TRANSPORT_TCP)) {
		SAY(&choice, "peers may call by TCP, which this kernel's WireGuard cannot take beside UDP");
		return choice;
	}
	if (facts->more_ports) {
		SAY(&choice, "UdpPorts names further ports to try, which the kernel's WireGuard cannot");
		return choice;
	}
	return kernel_of(facts);
}

struct choice choose_backend(const struct choose_facts *facts)
{
	struct choice choice = { .backend = RPC_BACKEND_NONE };

	switch (facts->wish) {
	case RPC_BACKEND_CHOICE_AUTO:
		return automatic(facts);
	case RPC_BACKEND_CHOICE_USERSPACE:
		choice.backend = RPC_BACKEND_USERSPACE;
		SAY(&choice, "chosen by Backend or --backend");
		return choice;
	case RPC_BACKEND_CHOICE_KERNEL:
		break;
	}
	if (facts->kernel.support != KERNEL_NONE)
		return kernel_of(facts);
	SAY(&choice,
		"the kernel backend cannot be used here: %s; or take `--backend userspace`, or Backend = "
		"auto in the profile",
		facts->kernel.why);
	return choice;
}
