/* SPDX-License-Identifier: MIT */
/* The part of a bring-up that chooses what carries the tunnel, and says why. Called by up.c. */
#include "client/daemon/tunnel_state.h"

#include "client/daemon/choose.h"
#include "core/port/kernel_tunnel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rpc_backend_choice backend_wish(const struct profile *profile)
{
	switch (profile->backend) {
	case PROFILE_BACKEND_AUTO:
		return RPC_BACKEND_CHOICE_AUTO;
	case PROFILE_BACKEND_KERNEL:
		return RPC_BACKEND_CHOICE_KERNEL;
	case PROFILE_BACKEND_USERSPACE:
		return RPC_BACKEND_CHOICE_USERSPACE;
	}
	return RPC_BACKEND_CHOICE_AUTO;
}

/* A kernel that can is not asked again, one that can not may have got its module meanwhile. */
void backend_ask_kernel(struct daemon *daemon, struct kernel_probe *out)
{
	struct kernel_tunnel *kernel;
	int error;

	if (daemon->kernel.support != KERNEL_NONE) {
		*out = daemon->kernel;
		return;
	}
	*out = (struct kernel_probe){ .support = KERNEL_NONE };
	/* The interface that it makes for that would outlive a daemon that is killed. */
	daemon->probing = true;
	manager_leftovers_changed(daemon->manager);
	error = kernel_tunnel_open(&kernel);
	if (!error) {
		error = kernel_tunnel_probe(kernel, out);
		kernel_tunnel_close(kernel);
	}
	daemon->probing = false;
	manager_leftovers_changed(daemon->manager);
	if (error)
		snprintf(out->why, sizeof(out->why), "the kernel does not say whether it has WireGuard: %s",
			strerror(-error));
	daemon->kernel = *out;
}

static void warn_of_choice(struct tunnel *tunnel, const struct choice *choice)
{
	if (choice->deaf)
		tunnel_warn(tunnel, "the kernel's WireGuard does not listen for TCP: wgtcp-relay in front of "
				    "it does, or take "
				    "`--backend userspace`");
	if (choice->few_ports)
		tunnel_warn(tunnel, "UdpPorts is not used with the kernel's WireGuard: only the port of "
				    "Endpoint is tried, or take "
				    "`--backend userspace`");
}

enum step_result tunnel_choose_backend(struct tunnel *tunnel)
{
	const struct profile *profile = &tunnel->loaded.profile;
	enum transport *transports = calloc(profile->peer_count + 1, sizeof(*transports));
	struct choose_facts facts;
	struct choice choice;
	size_t i;

	if (!transports) {
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER, "memory is short");
		return STEP_FAILED;
	}
	for (i = 0; i < profile->peer_count; i++)
		transports[i] = tunnel->peers[i].transport;
	facts = choose_look(profile, transports);
	free(transports);
	facts.wish = tunnel->wishes.has_backend ? tunnel->wishes.backend : backend_wish(profile);
	if (choose_needs_kernel(facts.wish))
		backend_ask_kernel(tunnel->daemon, &facts.kernel);
	choice = choose_backend(&facts);
	tunnel->backend = backend_of(choice.backend);
	if (!tunnel->backend) {
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER, "%s", choice.reason);
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	}
	snprintf(tunnel->view.backend_reason, sizeof(tunnel->view.backend_reason), "%s", choice.reason);
	warn_of_choice(tunnel, &choice);
	return STEP_DONE;
}
