/* SPDX-License-Identifier: MIT */
/* The step of a bring-up that makes a tunnel answer speed tests. Called by up.c. It makes no bring-up fail.
 */
#include "client/daemon/tunnel_state.h"

#include "client/daemon/speed.h"
#include "client/daemon/speed_server.h"

#include <stdio.h>

enum step_result tunnel_set_speed_server(void *context)
{
	struct tunnel *tunnel = context;
	const struct profile *profile = &tunnel->loaded.profile;
	struct ip_address *addresses;
	char text[160];
	size_t missing = 0, i;

	/* One whose addresses another program sets does not have them yet. */
	if (!profile->speed_test_server || !profile->address_count || tunnel_is_managed(tunnel))
		return STEP_DONE;
	addresses = g_new0(struct ip_address, profile->address_count);
	for (i = 0; i < profile->address_count; i++)
		addresses[i] = profile->addresses[i].address;
	tunnel->speed_server = speed_server_new(tunnel->daemon, tunnel->name, tunnel->view.interface,
		tunnel_interface_index(tunnel), addresses, profile->address_count, &missing);
	g_free(addresses);
	if (!missing)
		return STEP_DONE;
	snprintf(text, sizeof(text),
		"SpeedTestServer: another program has port %d of %s of this tunnel's addresses, so speed "
		"tests are not answered "
		"there: end it, and bring the tunnel up again",
		SPEED_PORT, missing == profile->address_count ? "all" : "some");
	tunnel_warn(tunnel, text);
	return STEP_DONE;
}

void tunnel_unset_speed_server(void *context)
{
	struct tunnel *tunnel = context;

	speed_server_free(tunnel->speed_server);
	tunnel->speed_server = NULL;
}
