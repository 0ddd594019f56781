/* SPDX-License-Identifier: MIT */
/* A profile as fields: read, checked, changed. */
#include "gui/model/form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define EXPORTED \
	"[Interface]\n# Name = Head office\nPrivateKey = (hidden)\nAddress = 10.0.0.2/24\nAddress = fd00::2/64\n" \
	"Transport = tcp\n\n" \
	"[Peer]\n# Name = Berlin\nPublicKey = sZc4eAXlHLLgcjnLOYvtcmyvl9BUM0YxK5mHBqQGCzs=\nPresharedKey = (hidden)\n" \
	"Endpoint = vpn.example.com:51820\nAllowedIPs = 10.0.0.0/24, fd00::/64\n\n" \
	"[Peer]\nPublicKey = HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=\nAllowedIPs = 10.9.0.0/16\n"

static int set_up(void **state)
{
	static struct form form;
	struct profile_error error;

	form = (struct form){ 0 };
	*state = &form;
	return form_open(&form, "office.conf", EXPORTED, &error) ? 0 : -1;
}

static int tear_down(void **state)
{
	form_close(*state);
	return 0;
}

static void test_values_by_section(void **state)
{
	static const struct {
		size_t peer;
		const char *key, *value;
	} rows[] = {
		{ FORM_INTERFACE, "Name", "Head office" },
		{ FORM_INTERFACE, "PrivateKey", PROFILE_HIDDEN },
		{ FORM_INTERFACE, "Address", "10.0.0.2/24, fd00::2/64" },
		{ FORM_INTERFACE, "Transport", "tcp" },
		{ FORM_INTERFACE, "Endpoint", "" },
		{ 0, "Name", "Berlin" },
		{ 0, "PresharedKey", PROFILE_HIDDEN },
		{ 0, "Endpoint", "vpn.example.com:51820" },
		{ 0, "Transport", "" },
		{ 1, "AllowedIPs", "10.9.0.0/16" },
		{ 1, "PresharedKey", "" },
		{ 2, "AllowedIPs", "" }, /* there is none */
	};
	char value[FORM_VALUE_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(form_value(*state, rows[i].peer, rows[i].key, value));
		assert_string_equal(value, rows[i].value);
	}
}

static void test_what_peers_are_called(void **state)
{
	struct form *form = *state;
	char title[100];

	assert_int_equal(form->peer_count, 2);
	form_peer_title(form, 0, title, sizeof(title));
	assert_string_equal(title, "Berlin");
	form_peer_title(form, 1, title, sizeof(title));
	assert_string_equal(title, "HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=");
}

static void test_each_field_can_be_set_and_taken_away(void **state)
{
	static const struct {
		size_t peer;
		const char *key, *value;
	} rows[] = {
		{ FORM_INTERFACE, "Name", "Büro" },
		{ FORM_INTERFACE, "Address", "10.7.0.2/16" },
		{ FORM_INTERFACE, "DNS", "10.7.0.1, corp.example" },
		{ FORM_INTERFACE, "Transport", "udp" },
		{ FORM_INTERFACE, "Backend", "userspace" },
		{ FORM_INTERFACE, "AutoConnect", "on" },
		{ FORM_INTERFACE, "KillSwitch", "on" },
		{ FORM_INTERFACE, "MTU", "1380" },
		{ FORM_INTERFACE, "ListenPort", "51821" },
		{ FORM_INTERFACE, "TcpListenPort", "443" },
		{ 1, "Endpoint", "[2001:db8::1]:51820" },
		{ 1, "TcpEndpoint", "vpn.example.com:443" },
		{ 1, "AllowedIPs", "0.0.0.0/0" },
		{ 1, "Transport", "auto" },
		{ 1, "UdpPorts", "53, 123" },
		{ 1, "PersistentKeepalive", "25" },
		{ 1, "ProbeAddress", "10.9.0.1" },
	};
	struct profile_error error;
	char value[FORM_VALUE_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(form_set(*state, rows[i].peer, rows[i].key, rows[i].value, &error));
		assert_true(form_value(*state, rows[i].peer, rows[i].key, value));
		assert_string_equal(value, rows[i].value);
	}
	assert_true(form_set(*state, FORM_INTERFACE, "MTU", "", &error));
	assert_true(form_value(*state, FORM_INTERFACE, "MTU", value));
	assert_string_equal(value, "");
}

/* Each field that the editor shows is one that the parser knows in that section. */
static void test_no_field_is_made_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < form_field_count; i++) {
		assert_true(profile_key_sections(form_fields[i].key) & form_fields[i].section);
		assert_int_equal(form_fields[i].kind == FORM_CHOICE, form_fields[i].values != NULL);
		for (size_t j = 0; form_fields[i].values && form_fields[i].values[j]; j++)
			assert_non_null(form_fields[i].labels[j]);
	}
}

static void test_a_wrong_value_is_explained_and_changes_nothing(void **state)
{
	static const struct {
		size_t peer;
		const char *key, *value, *about;
	} rows[] = {
		{ FORM_INTERFACE, "Address", "10.0.0.999/24", "Address" },
		{ FORM_INTERFACE, "MTU", "big", "MTU" },
		{ FORM_INTERFACE, "PrivateKey", "tooshort", "PrivateKey" },
		{ 0, "Endpoint", "http://host:8000:51820", "Endpoint" },
		{ 0, "AllowedIPs", "10.0.0.0/33", "AllowedIPs" },
		{ 0, "PersistentKeepalive", "70000", "PersistentKeepalive" },
	};
	struct profile_error error;
	char before[FORM_VALUE_MAX], after[FORM_VALUE_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(form_value(*state, rows[i].peer, rows[i].key, before));
		assert_false(form_set(*state, rows[i].peer, rows[i].key, rows[i].value, &error));
		assert_non_null(strstr(error.sentence, rows[i].about));
		assert_true(form_value(*state, rows[i].peer, rows[i].key, after));
		assert_string_equal(before, after);
	}
}

static void test_a_key_that_is_typed_is_there_and_hidden_keeps_it(void **state)
{
	const char *key = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
	struct profile_error error;
	char value[FORM_VALUE_MAX];

	assert_true(form_set(*state, FORM_INTERFACE, "PrivateKey", key, &error));
	assert_true(form_set(*state, FORM_INTERFACE, "PrivateKey", PROFILE_HIDDEN, &error));
	assert_true(form_value(*state, FORM_INTERFACE, "PrivateKey", value));
	assert_string_equal(value, key);
}

static void test_no_profile_is_refused(void **state)
{
	struct profile_error error;
	struct form form = { 0 };

	(void)state;
	assert_false(form_open(&form, "x.conf", "nonsense\n", &error));
	assert_true(error.sentence[0]);
	assert_null(form.text);
	form_close(&form);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values_by_section, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_peers_are_called, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_each_field_can_be_set_and_taken_away, set_up, tear_down),
		cmocka_unit_test(test_no_field_is_made_up),
		cmocka_unit_test_setup_teardown(test_a_wrong_value_is_explained_and_changes_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_key_that_is_typed_is_there_and_hidden_keeps_it, set_up, tear_down),
		cmocka_unit_test(test_no_profile_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
