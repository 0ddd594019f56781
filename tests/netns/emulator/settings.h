/* SPDX-License-Identifier: MIT */
/* Settings of a direction as text: "delay=20ms rate=100mbit queue=256k loss=1% ge=0.5%,20%,50%". Used by the command
 * line and by the control socket. */
#ifndef WGTCP_TESTS_NETNS_EMULATOR_SETTINGS_H
#define WGTCP_TESTS_NETNS_EMULATOR_SETTINGS_H

#include "tests/netns/emulator/direction.h"

/* Applies one "key=value" to settings. On failure settings are as they were and *problem says what is wrong.
 * delay: us, ms, s. rate: kbit, mbit, gbit, or 0 for none. queue: bytes, k, m. loss: percent or 0..1.
 * ge: chance to enter the bad state, to leave it, loss while bad; or off. */
bool settings_parse(struct direction_settings *settings, const char *text, const char **problem);
/* The same text back, all keys. */
void settings_write(const struct direction_settings *settings, char *out, size_t size);

#endif
