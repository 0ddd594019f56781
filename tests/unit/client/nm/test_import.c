/* SPDX-License-Identifier: MIT */
/* Export of what was imported is the same profile, for files of the shapes that people have; and files of
 * others. */
#include "client/nm/connection.h"
#include "client/nm/plugin.h"
#include "tests/unit/core/config/equal.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define SAMPLES "tests/unit/client/nm/samples"

static void read_profile(const char *path, struct profile *out)
{
	struct profile_error error = { 0 };
	char *text;
	gsize len;

	assert_true(g_file_get_contents(path, &text, &len, NULL));
	if (!profile_parse(path, text, len, out, &error, NULL))
		fail_msg("%s:%u: %s", path, error.line, error.sentence);
	g_free(text);
}

static void check_sample(const char *path, const char *exported)
{
	GError *error = NULL;
	NMConnection *connection = plugin_import(path, &error), *stored;
	struct profile before, after;
	GVariant *variant;
	GStatBuf info;

	if (!connection)
		fail_msg("%s: %s", path, error->message);
	if (!nm_connection_verify(connection, &error))
		fail_msg("%s: %s", path, error->message);
	assert_false(nm_setting_connection_get_autoconnect(nm_connection_get_setting_connection(connection)));
	/* As it comes back from NetworkManager. */
	variant = nm_connection_to_dbus(connection, NM_CONNECTION_SERIALIZE_ALL);
	stored = nm_simple_connection_new_from_dbus(variant, &error);
	assert_non_null(stored);
	g_variant_unref(variant);
	if (!plugin_export(exported, stored, &error))
		fail_msg("%s: %s", path, error->message);
	assert_int_equal(g_stat(exported, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	read_profile(path, &before);
	read_profile(exported, &after);
	if (!same_profiles(&before, &after))
		fail_msg("%s is another profile after its export, %s", path, exported);
	profile_free(&before);
	profile_free(&after);
	g_object_unref(connection);
	g_object_unref(stored);
	g_unlink(exported);
}

static void test_samples(void **state)
{
	GDir *folder = g_dir_open(SAMPLES, 0, NULL);
	char *exported = g_strdup_printf("%s/wgtcp-export-%d.conf", g_get_tmp_dir(), (int)getpid());
	const char *name;
	unsigned count = 0;

	(void)state;
	assert_non_null(folder);
	while ((name = g_dir_read_name(folder))) {
		char *path = g_build_filename(SAMPLES, name, NULL);

		check_sample(path, exported);
		g_free(path);
		count++;
	}
	g_dir_close(folder);
	g_free(exported);
	assert_true(count >= 40);
}

static void check_refused(const char *text, const char *words)
{
	GError *error = NULL;
	char *path = NULL;
	int fd = g_file_open_tmp("wgtcp-import-XXXXXX", &path, NULL);

	assert_true(fd >= 0);
	close(fd);
	assert_true(g_file_set_contents(path, text, -1, NULL));
	assert_null(plugin_import(path, &error));
	if (!strstr(error->message, words))
		fail_msg("%s", error->message);
	g_clear_error(&error);
	g_unlink(path);
	g_free(path);
}

static void test_files_of_others(void **state)
{
	GError *error = NULL;

	(void)state;
	check_refused("client\nremote vpn.example 1194\n<ca>\n", "no WireGuard profile");
	check_refused("", "no WireGuard profile");
	check_refused("[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\nGateway = x\n",
		":3: ");
	check_refused("[Interface]\n", "PrivateKey");
	assert_null(plugin_import("/", &error));
	g_clear_error(&error);
	assert_null(plugin_import("/nowhere/a.conf", &error));
	assert_non_null(strstr(error->message, "cannot be read"));
	g_clear_error(&error);
	/* It does not end, and is not read on. */
	assert_null(plugin_import("/dev/zero", &error));
	g_clear_error(&error);
}

static void test_missing_secrets(void **state)
{
	NMConnection *connection = plugin_import(SAMPLES "/preshared.conf", NULL);
	NMSettingVpn *setting;

	(void)state;
	assert_non_null(connection);
	setting = nm_connection_get_setting_vpn(connection);
	assert_null(connection_missing_secret(connection));
	nm_setting_vpn_remove_secret(setting, "peer-1.preshared-key");
	assert_string_equal(connection_missing_secret(connection), "peer-1.preshared-key");
	nm_setting_vpn_remove_secret(setting, "private-key");
	assert_string_equal(connection_missing_secret(connection), "private-key");
	g_object_unref(connection);
}

static void test_full_tunnel_leaves_no_gateway_route(void **state)
{
	NMConnection *connection = plugin_import(SAMPLES "/full.conf", NULL);
	NMSettingIPConfig *v4;

	(void)state;
	assert_non_null(connection);
	v4 = nm_connection_get_setting_ip4_config(connection);
	assert_int_equal(nm_setting_ip_config_get_auto_route_ext_gw(v4), NM_TERNARY_FALSE);
	assert_int_equal(nm_setting_ip_config_get_dns_priority(v4), -50);
	g_object_unref(connection);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_files_of_others),
		cmocka_unit_test(test_missing_secrets),
		cmocka_unit_test(test_full_tunnel_leaves_no_gateway_route),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
