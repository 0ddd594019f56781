/* SPDX-License-Identifier: MIT */
/* An engine process: the platform's ports around engine_turn. */
#include "client/engine/engine.h"
#include "core/crypto/crypto.h"
#include "core/port/clock.h"
#include "core/port/loop.h"
#include "core/port/seam.h"

#include <errno.h>

int engine_run_inherited(int seam_handle)
{
	struct engine_ports ports = { 0 };
	struct engine *engine = NULL;
	int result;

	if (!crypto_init())
		return -ENOTSUP;
	result = seam_adopt(seam_handle, &ports.seam);
	if (result)
		return result;
	result = loop_open(&ports.loop);
	if (result)
		goto out;
	engine = engine_new(&ports);
	if (!engine) {
		result = -ENOMEM;
		goto out;
	}
	do
		result = engine_turn(engine);
	while (!result);
	if (result > 0)
		result = 0;
out:
	engine_free(engine);
	if (ports.loop)
		loop_close(ports.loop);
	seam_close(ports.seam);
	return result;
}
