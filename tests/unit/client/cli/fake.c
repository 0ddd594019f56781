/* SPDX-License-Identifier: MIT */
#include "tests/unit/client/cli/fake.h"

#include "client/cli/cli.h"
#include "core/port/console.h"
#include "core/port/daemon_start.h"
#include "core/port/ipc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake fake;

struct ipc {
	struct rpc_server *server;
	int waits;
};

void fake_reset(void)
{
	fake = (struct fake){ .now = 1796080000 };
}

int fake_run(const char *const words[])
{
	char *argv[40] = { (char *)(uintptr_t) "wgtcp-cli" };
	int argc = 1;

	while (*words)
		argv[argc++] = (char *)(uintptr_t)*words++;
	return cli_main(argc, argv);
}

/* ---- ipc ---- */

const char *ipc_default_path(void)
{
	return "/fake/wgtcpd.sock";
}

int ipc_connect(const char *path, struct ipc **out)
{
	struct ipc *ipc;

	snprintf(fake.socket_path, sizeof(fake.socket_path), "%s", path);
	if (fake.connect_error)
		return fake.connect_error;
	ipc = calloc(1, sizeof(*ipc));
	ipc->server = rpc_server_new();
	*out = ipc;
	return 0;
}

void ipc_close(struct ipc *ipc)
{
	if (!ipc)
		return;
	rpc_server_free(ipc->server);
	free(ipc);
}

int ipc_send(struct ipc *ipc, const char *bytes, size_t len, uint32_t *left_ms)
{
	struct rpc_request request;

	(void)left_ms;
	if (rpc_server_feed(ipc->server, bytes, len))
		abort();
	while (rpc_server_next(ipc->server, &request)) {
		fake.requests[fake.request_count++ % 8] = request;
		if (request.text)
			snprintf(fake.last_text, sizeof(fake.last_text), "%s", request.text);
		if (request.setting_count)
			snprintf(fake.last_text, sizeof(fake.last_text), "%s=%s", request.settings[0].key,
				request.settings[0].value);
		if (fake.answer && !fake.silent)
			fake.answer(ipc->server, &request);
		rpc_request_free(&request);
	}
	return 0;
}

long ipc_receive(struct ipc *ipc, char *out, size_t size, uint32_t *left_ms)
{
	const char *bytes;
	size_t len;

	if (fake.interrupt_after && ++ipc->waits == fake.interrupt_after)
		return -EINTR;
	bytes = rpc_server_output(ipc->server, &len);
	if (!len && *left_ms == IPC_FOREVER)
		return 0;
	if (!len) {
		*left_ms = 0;
		return -ETIMEDOUT;
	}
	len = len < size ? len : size;
	memcpy(out, bytes, len);
	rpc_server_sent(ipc->server, len);
	return (long)len;
}

int ipc_take_text(struct ipc *ipc, size_t len, char **text)
{
	(void)ipc;
	if (!fake.beside || strlen(fake.beside) != len)
		return -EPROTO;
	*text = strdup(fake.beside);
	return *text ? 0 : -ENOMEM;
}

/* ---- daemon_start ---- */

int daemon_start(const char *socket_path, uint32_t wait_ms, char *log_path, size_t size)
{
	(void)socket_path;
	(void)wait_ms;
	snprintf(log_path, size, "/fake/wgtcpd.log");
	fake.starts++;
	if (!fake.start_error)
		fake.connect_error = 0;
	return fake.start_error;
}

int daemon_unlock(uint32_t for_s, char *said, size_t size)
{
	snprintf(said, size, "%s", fake.unlock_error ? "the kill switch cannot be changed: only root may" : "");
	fake.unlocks++;
	fake.unlocked_for_s = for_s;
	return fake.unlock_error;
}

const char *daemon_start_advice(void)
{
	return "`start it`";
}

/* ---- console ---- */

void console_write(enum console_stream stream, const char *bytes, size_t len)
{
	char *to = stream == CONSOLE_OUT ? fake.out : fake.err;
	size_t *at = stream == CONSOLE_OUT ? &fake.out_len : &fake.err_len;

	if (*at + len >= sizeof(fake.out))
		abort();
	memcpy(to + *at, bytes, len);
	*at += len;
	to[*at] = '\0';
}

bool console_is_full(void)
{
	return false;
}

bool console_failed(void)
{
	return false;
}

bool console_is_terminal(enum console_stream stream)
{
	(void)stream;
	return fake.terminal;
}

uint32_t console_width(enum console_stream stream)
{
	(void)stream;
	return fake.width;
}

uint32_t console_height(enum console_stream stream)
{
	(void)stream;
	return fake.terminal ? fake.height : 0;
}

bool console_is_utf8(void)
{
	return fake.utf8;
}

bool console_wants_colour(enum console_stream stream)
{
	(void)stream;
	return fake.colour;
}

bool console_is_admin(void)
{
	return fake.admin;
}

int console_read_file(const char *path, size_t max, char **text, size_t *len)
{
	if (fake.file_error)
		return fake.file_error;
	if (!fake.file_path || strcmp(path, fake.file_path) != 0)
		return -ENOENT;
	*len = fake.file_len ? fake.file_len : strlen(fake.file_text);
	if (*len > max)
		return -EFBIG;
	*text = calloc(1, *len + 1);
	memcpy(*text, fake.file_text, *len);
	return 0;
}

int console_list_folder(const char *folder, const char *suffix, char ***names, size_t *count)
{
	const char *file = fake.file_path ? strrchr(fake.file_path, '/') : NULL;
	size_t len = strlen(folder);

	if (fake.list_error)
		return fake.list_error;
	*names = calloc(1, sizeof(**names));
	*count = 0;
	if (!file || strncmp(fake.file_path, folder, len) != 0 || !strstr(file, suffix))
		return 0;
	(*names)[(*count)++] = strdup(file + 1);
	return 0;
}

int console_write_secret(const char *path, const char *bytes, size_t len)
{
	if (fake.file_path && !strcmp(path, fake.file_path))
		return -EEXIST;
	snprintf(fake.written_path, sizeof(fake.written_path), "%s", path);
	snprintf(fake.written, sizeof(fake.written), "%.*s", (int)len, bytes);
	return fake.write_error;
}

bool console_file_exists(const char *path)
{
	return fake.file_path && !strcmp(path, fake.file_path);
}

void console_catch_interrupt(void)
{
	fake.caught = true;
}

bool console_interrupted(void)
{
	return false;
}

void console_release_interrupt(void)
{
	fake.caught = false;
}

uint64_t console_now(void)
{
	return fake.now;
}

void console_local_time(uint64_t unix_s, char *out, size_t size)
{
	snprintf(out, size, "<%u>", (unsigned)unix_s);
}
