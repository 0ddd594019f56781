/* SPDX-License-Identifier: MIT */
/* Called by main.c. */
#include "client/daemon/once.h"

#include "client/daemon/lockdown.h"
#include "client/daemon/profiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tunnels that will come by themselves; a profile that cannot be read will not. */
static size_t find_holds(const struct options *options, struct lockdown_hold out[LOCKDOWN_MAX])
{
	/* As main.c has it: a folder of one's own stands alone. */
	const char *second = strcmp(options->config_folder, DEFAULT_CONFIG_FOLDER) ? NULL : PROFILES_WG_QUICK;
	struct profiles *profiles = profiles_new(options->config_folder, second);
	struct profile_file *files = NULL;
	size_t count = profiles ? profiles_list(profiles, &files) : 0, found = 0, i;

	for (i = 0; i < count && found < LOCKDOWN_MAX; i++) {
		struct rpc_error error = { 0 };
		struct loaded loaded;

		if (!profiles_load(profiles, files[i].name, &loaded, &error)) {
			rpc_error_free(&error);
			continue;
		}
		if (loaded.profile.auto_connect && loaded.profile.kill_switch) {
			snprintf(out[found].name, sizeof(out[found].name), "%s", files[i].name);
			out[found++].lan = loaded.profile.kill_switch_lan;
		}
		loaded_free(&loaded);
	}
	free(files);
	profiles_free(profiles);
	return found;
}

int once_restore(const struct options *options, int state_folder)
{
	struct lockdown_hold *holds = calloc(LOCKDOWN_MAX, sizeof(*holds));
	char why[KILL_SWITCH_WHY_LEN] = "memory is short";
	int error = -1;

	if (holds)
		error = lockdown_restore(state_folder, holds, find_holds(options, holds), why);
	free(holds);
	if (error)
		fprintf(stderr, "wgtcpd: the kill switch cannot be put in place: %s\n", why);
	return error ? 1 : 0;
}

int once_unlock(const struct options *options, int state_folder)
{
	char why[KILL_SWITCH_WHY_LEN] = "";

	if (!lockdown_lift(state_folder, options->for_s, why))
		return 0;
	fprintf(stderr, "the kill switch cannot be changed: %s%s\n", why,
		geteuid() ? ": run this as root" : "");
	return 1;
}
