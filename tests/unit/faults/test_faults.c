/* SPDX-License-Identifier: MIT */
/* Memory, then the system, fails at each place in turn: profiles, UAPI, the protocol, files of the daemon,
 * the engine's start. */
#include "client/daemon/file.h"
#include "client/daemon/leftovers.h"
#include "client/daemon/memory.h"
#include "client/daemon/profiles.h"
#include "client/daemon/timestamp.h"
#include "client/rpc/message.h"
#include "client/rpc/server.h"
#include "core/config/edit.h"
#include "core/config/parse.h"
#include "core/config/write.h"
#include "core/uapi/uapi.h"
#include "tests/unit/client/daemon/folder.h"
#include "tests/unit/faults/fault.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char profile_text[] =
	"# Name = Office\n[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\n"
	"Address = 10.0.0.2/24, fd00::2/64\nDNS = 10.0.0.1, corp.example\nPostUp = true\nTrustedNetworks = "
	"Home, 192.168.1.1\n"
	"[Peer]\nPublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=\n"
	"PresharedKey = /UwcSPg38hW/D9Y3tcS1FOV0K1wuURMbS0sesJEP5ak=\nEndpoint = "
	"vpn.example:51820\nTcpEndpoint = vpn.example:443\n"
	"AllowedIPs = 0.0.0.0/0, ::/0\nUdpPorts = 53, 123\n"
	"[Peer]\nPublicKey = TrMvSoP4jYQlY6RIzBgbssQqY3vxI2Pi+y71lOWWXX0=\nAllowedIPs = 10.1.0.0/16, "
	"10.2.0.0/16\n";

static const char set_text[] =
	"set=1\nprivate_key=003ed5d73b55806c30de3f8a7bdab38af13539220533055e635690b8b87ad641\nlisten_port="
	"51820\n"
	"replace_peers=true\npublic_key=b85996fecc9c7f1fc6d2572a76eda11d59bcd20be8e543b15ce4bd85a8e75a33\n"
	"preshared_key=188515093e952f5f22e865cef3012e72f8b5f0b598ac0309d5dacce3b70fcf52\nendpoint=192.0.2.1:"
	"51820\n"
	"replace_allowed_ips=true\nallowed_ip=10.0.0.0/8\nallowed_ip=fd00::/8\n\n";

static void memory_only(fault_story *story)
{
	assert_true(fault_each(FAULT_MEMORY, story, NULL) > 0);
}

/* ---- core/config ---- */

static bool reads_profile(void *user)
{
	struct profile_warnings warnings;
	struct profile_error wrong = { 0 };
	struct profile profile = { 0 };
	size_t len;
	char *text;
	bool worked = false;

	(void)user;
	if (!profile_parse("office", profile_text, sizeof(profile_text) - 1, &profile, &wrong, &warnings)) {
		/* Whatever it is, it is said. */
		assert_true(wrong.sentence[0] != 0);
		return false;
	}
	text = profile_write(&profile, true, &len);
	if (text) {
		worked = true;
		profile_text_free(text, len);
	}
	profile_free(&profile);
	return worked;
}

static bool edits_profile(void *user)
{
	struct profile_error wrong = { 0 };
	size_t len;
	char *text;

	(void)user;
	if (!profile_edit("office", profile_text, sizeof(profile_text) - 1, 1, "AllowedIPs",
		    "10.3.0.0/16, 10.4.0.0/16", &text, &len, &wrong)) {
		assert_true(wrong.sentence[0] != 0);
		return false;
	}
	profile_text_free(text, len);
	return true;
}

static void config(void **state)
{
	(void)state;
	memory_only(reads_profile);
	memory_only(edits_profile);
}

/* ---- core/uapi ---- */

static bool takes_set(void *user)
{
	struct uapi_device device = { 0 };
	struct uapi_text text = { 0 };
	bool worked;
	int err;

	(void)user;
	err = uapi_parse_set(set_text, sizeof(set_text) - 1, &device);
	if (err) {
		assert_true(err == ENOMEM || err == -ENOMEM);
		return false;
	}
	worked = uapi_write_set(&text, &device) && uapi_write_get(&text, &device) &&
		 uapi_write_errno(&text, 0);
	uapi_text_free(&text);
	uapi_device_free(&device);
	return worked;
}

static void uapi(void **state)
{
	(void)state;
	memory_only(takes_set);
}

/* ---- client/rpc ---- */

static bool serves(void *user)
{
	static const char line[] =
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tunnel.set\",\"params\":{\"name\":\"office\","
		"\"settings\":[{\"key\":\"MTU\",\"value\":\"1300\"},{\"key\":\"DNS\",\"value\":\"10.0.0.1\"}]"
		"}}\n";
	struct rpc_server *server = rpc_server_new();
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_SET };
	struct rpc_request request;
	struct rpc_error error = { 0 };
	bool worked = false;
	size_t len = 0;

	(void)user;
	if (!server)
		return false;
	if (rpc_server_feed(server, line, sizeof(line) - 1) == 0 && rpc_server_next(server, &request)) {
		worked = request.setting_count == 2;
		snprintf(result.done.name, sizeof(result.done.name), "office");
		notes_add(&result.done.warnings, 3, "a warning");
		rpc_server_reply(server, &request.id, &result);
		rpc_error_set(&error, RPC_CODE_BUSY, "%s is up", "office");
		notes_add(&error.notes, 1, "a note");
		rpc_server_reply_error(server, &request.id, &error);
		rpc_error_free(&error);
		rpc_request_free(&request);
	}
	/* Either there is an answer, or the connection is to be closed. */
	worked = worked && rpc_server_output(server, &len) && len > 0 && !rpc_server_failed(server);
	rpc_result_free(&result);
	rpc_server_free(server);
	return worked;
}

static bool reads_answer(void *user)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_UP };
	struct message message;
	struct message_in in = { 0 };

	(void)user;
	snprintf(request.name, sizeof(request.name), "office");
	if (!message_write_request(&request, &message))
		return false;
	message_free(&message);
	static const char answer[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":21,\"message\":"
				     "\"busy\",\"data\":{\"notes\":"
				     "[{\"line\":1,\"text\":\"a note\"}]}}}";
	struct rpc_error error = { 0 };
	bool worked;

	message_read(answer, sizeof(answer) - 1, &in);
	worked = message_error(&in, &error);
	if (worked)
		rpc_error_free(&error);
	message_in_free(&in);
	return worked;
}

static void rpc(void **state)
{
	(void)state;
	memory_only(serves);
	memory_only(reads_answer);
}

/* ---- client/daemon: files ---- */

/* Stores over an old profile: afterwards the old or the new one is there, whole, and nothing beside it. */
static bool stores_profile(void *user)
{
	static const char old[] = "[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\n";
	struct folder *folder = user;
	struct profiles *profiles;
	struct rpc_error error = { 0 };
	char path[RPC_PATH_LEN], found[sizeof(profile_text)] = "";
	bool worked = false;
	ssize_t len;
	int fd;

	fault_pause();
	folder_put(folder, "office.conf", old, 0600);
	fault_resume();
	profiles = profiles_new(folder->path, NULL);
	if (!profiles)
		return false;
	worked = profiles_store(profiles, "office", profile_text, sizeof(profile_text) - 1, path, &error);
	if (!worked)
		assert_true(error.message[0] != 0);
	rpc_error_free(&error);
	profiles_free(profiles);
	fault_pause();
	fd = openat(folder->at, "office.conf", O_RDONLY);
	assert_true(fd >= 0);
	len = read(fd, found, sizeof(found) - 1);
	close(fd);
	assert_true(len >= 0);
	assert_string_equal(found, worked ? profile_text : old);
	assert_int_equal(folder_count(folder), 1);
	fault_resume();
	return worked;
}

static bool loads_profile(void *user)
{
	struct folder *folder = user;
	struct profiles *profiles = profiles_new(folder->path, NULL);
	struct rpc_error error = { 0 };
	struct profile_file *files = NULL;
	struct loaded loaded;
	bool worked;

	if (!profiles)
		return false;
	profiles_list(profiles, &files);
	free(files);
	worked = profiles_load(profiles, "office", &loaded, &error);
	if (worked)
		loaded_free(&loaded);
	else
		assert_true(error.message[0] != 0);
	rpc_error_free(&error);
	profiles_free(profiles);
	return worked;
}

/* What a daemon keeps: unreadable is as if it were not there, and never half of it. */
static bool keeps_state(void *user)
{
	struct leftover list[2] = { { .kind = LEFTOVER_ENGINE, .pid = 99, .start_time = 1 },
		{ .kind = LEFTOVER_RULES, .mark = 5 } };
	const struct wall now = { .s = 5, .ns = 6 };
	struct folder *folder = user;
	struct wall kept;
	bool worked = timestamp_save(folder->at, &now) == 0;

	kept = timestamp_load(folder->at);
	assert_true(kept.s == 0 || kept.s == now.s);
	return leftovers_save(folder->at, list, 2) == 0 && worked && kept.s == now.s;
}

static void files(void **state)
{
	static const enum fault_kind kinds[] = { FAULT_MEMORY, FAULT_SYSTEM };
	struct folder folder = folder_new(), kept = folder_new();

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_true(fault_each(kinds[i], stores_profile, &folder) > 0);
		folder_put(&folder, "office.conf", profile_text, 0600);
		assert_true(fault_each(kinds[i], loads_profile, &folder) > 0);
		assert_true(fault_each(kinds[i], keeps_state, &kept) > 0);
	}
	folder_remove(&folder);
	folder_remove(&kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(config),
		cmocka_unit_test(uapi),
		cmocka_unit_test(rpc),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
