/* SPDX-License-Identifier: MIT */
/* An engine process: the platform's ports around engine_turn. */
#include "client/engine/engine.h"
#include "core/crypto/crypto.h"
#include "core/port/clock.h"
#include "core/port/loop.h"
#include "core/port/process.h"
#include "core/port/sandbox.h"
#include "core/port/seam.h"

#include <errno.h>
#include <stdio.h>

/* A kernel that lacks a piece still has a tunnel, and who runs it is told. */
static int shut_in(void)
{
	char lacks[SANDBOX_LACKS_LEN];
	int err = sandbox_enter(SANDBOX_ENGINE, lacks);

	if (!err && lacks[0])
		fprintf(stderr, "wgtcp-engine: runs without %s.\n", lacks);
	return err;
}

/* Connections of strangers, of peers, and some spare. */
#define ENGINE_HANDLES 8192

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
	ports.handles = process_allow_handles(ENGINE_HANDLES);
	result = loop_open(&ports.loop);
	if (result)
		goto out;
	engine = engine_new(&ports);
	if (!engine) {
		result = -ENOMEM;
		goto out;
	}
	/* Nothing has come from anybody yet. */
	result = shut_in();
	if (result)
		goto out;
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
