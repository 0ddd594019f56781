/* SPDX-License-Identifier: MIT */
/* The front, with the test in the engine's place. */
#include "core/port/front.h"

#include "core/port/tcp.h"

#include "platform/linux/seam_handle.h"
#include "platform/linux/sockets.h"
#include "tests/contract/cmocka_all.h"
#include "tests/contract/linux/front_rig.h"
#include "tests/contract/linux/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define KEY "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"

static char directory[] = "/tmp/wgtcp-front-XXXXXX";
static char socket_path[64];
static struct net_config *net;
static struct front_settings settings = { .interface = "wgfront" };

static struct seam_message dial_message(uint32_t kind, uint64_t attempt)
{
	struct seam_message message = { .kind = kind, .attempt = attempt };

	for (size_t i = 0; i < 32; i++)
		message.public_key[i] = (uint8_t)(i + 1);
	return message;
}

static bool link_exists(void)
{
	struct net_link link;

	return net_link_find(net, "wgfront", &link) == 0;
}

static void all_is_handed_over_at_the_start(void **state)
{
	struct seam_message ready = { .kind = SEAM_READY };
	struct front_settings with_floor = settings;
	struct front_rig rig;
	struct net_link link;
	struct stat st;

	(void)state;
	with_floor.timestamp_floor = (struct wall){ 1700000000, 5 };
	front_rig_open(&rig, &with_floor);
	front_rig_run(&rig, NULL, 0, 20);
	assert_true(rig.tun >= 0 && rig.udp[0] >= 0 && rig.udp[1] >= 0);
	assert_int_not_equal(rig.udp_port, 0);
	/* Nothing listens unless a port was asked for. */
	assert_int_equal(rig.listener[0], -1);
	assert_int_equal(rig.listener[1], -1);
	assert_int_equal(rig.mtu, 1420);
	assert_false(rig.up);
	assert_true(rig.floor.s == 1700000000 && rig.floor.ns == 5);
	assert_int_equal(rig.told[SEAM_NETWORK], 0);
	assert_int_equal(net_link_find(net, "wgfront", &link), 0);
	assert_true(link.tun);
	assert_int_equal(link.index, front_interface_index(rig.front));
	assert_int_equal(lstat(socket_path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);

	assert_int_equal(rig.events[FRONT_READY], 0);
	assert_int_equal(seam_send(rig.seam, &ready), 0);
	assert_true(front_rig_run(&rig, &rig.events[FRONT_READY], 1, 1000));
	front_rig_close(&rig);
	assert_false(link_exists());
	assert_int_equal(lstat(socket_path, &st), -1);
}

static void what_can_not_be_opened_leaves_nothing_behind(void **state)
{
	struct front_settings wrong = settings, silent = settings;
	struct front_rig rig;
	struct front *front = NULL;
	struct net_link lo;
	struct stat st;
	int handle;

	(void)state;
	static const char *const names[] = { "", "a/b", "a name", "wg%d", "sixteen-letters-", "." };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		wrong.interface = names[i];
		assert_true(front_open(&wrong, &front, &handle) < 0);
	}
	/* A device that is not a tunnel keeps its name. */
	wrong.interface = "lo";
	wrong.take_over = true;
	assert_int_equal(front_open(&wrong, &front, &handle), -EBUSY);
	assert_int_equal(net_link_find(net, "lo", &lo), 0);
	assert_true(lo.up);

	front_rig_open(&rig, &settings);
	assert_int_equal(front_open(&settings, &front, &handle), -EADDRINUSE);
	silent.uapi_directory = NULL;
	assert_int_equal(front_open(&silent, &front, &handle), -EBUSY);
	silent.take_over = true;
	assert_int_equal(front_open(&silent, &front, &handle), -EBUSY);
	/* And the first one is as it was. */
	assert_int_equal(lstat(socket_path, &st), 0);
	assert_true(link_exists());
	front_rig_close(&rig);
	/* Nothing is left of the refused ones: no socket file, no device. */
	assert_int_equal(rmdir(directory), 0);
	assert_false(link_exists());
	assert_null(front);
}

static void a_dead_engines_socket_is_replaced(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int dead = socket(AF_UNIX, SOCK_STREAM, 0), handle;
	struct front_rig rig;
	struct front *front;
	struct stat st;

	(void)state;
	assert_true(mkdir(directory, 0755) == 0 || errno == EEXIST);
	strncpy(address.sun_path, socket_path, sizeof(address.sun_path) - 1);
	assert_int_equal(bind(dead, (struct sockaddr *)&address, sizeof(address)), 0);
	close(dead);
	front_rig_open(&rig, &settings);
	front_rig_close(&rig);
	assert_int_equal(lstat(socket_path, &st), -1);

	/* A file that is no socket belongs to somebody else. */
	FILE *file = fopen(socket_path, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(front_open(&settings, &front, &handle), -EADDRINUSE);
	assert_int_equal(lstat(socket_path, &st), 0);
	assert_int_equal(unlink(socket_path), 0);
	assert_false(link_exists());
}

static void ports_follow_the_request(void **state)
{
	struct front_rig rig;

	(void)state;
	front_rig_open(&rig, &settings);
	front_rig_set(&rig, "listen_port=40001\n");
	assert_int_equal(rig.udp_port, 40001);
	assert_int_equal(rig.tcp_port, 40001);
	assert_true(rig.listener[0] >= 0 && rig.listener[1] >= 0);
	uint32_t told_udp = rig.told[SEAM_UDP], told_tcp = rig.told[SEAM_LISTENER];
	/* The same again, and things that are no port, change nothing. */
	front_rig_set(&rig, "listen_port=40001\npublic_key=" KEY "\nallowed_ip=10.0.0.0/8\n");
	assert_int_equal(rig.told[SEAM_UDP], told_udp);
	assert_int_equal(rig.told[SEAM_LISTENER], told_tcp);
	front_rig_set(&rig, "tcp_listen_port=40443\n");
	assert_int_equal(rig.udp_port, 40001);
	assert_int_equal(rig.tcp_port, 40443);
	assert_int_equal(rig.told[SEAM_UDP], told_udp);
	/* "Any port": another one, and nothing listens that was not asked for. */
	front_rig_set(&rig, "listen_port=0\ntcp_listen_port=0\n");
	assert_int_not_equal(rig.udp_port, 40001);
	assert_int_equal(rig.listener[0], -1);
	assert_int_equal(rig.listener[1], -1);
	front_rig_close(&rig);
}

static void a_port_that_is_taken_is_refused_with_all_as_it_was(void **state)
{
	static const char *const requests[] = { "set=1\nlisten_port=40010\n\n",
		"set=1\ntcp_listen_port=40010\n\n", "set=1\nlisten_port=40003\ntcp_listen_port=40010\n\n" };
	char seen[4096], got[4096];
	struct socket_pair udp, tcp;
	struct front_rig rig;

	(void)state;
	assert_int_equal(sockets_open_udp(40010, 0, &udp), 0);
	assert_int_equal(sockets_open_listeners(40010, 0, &tcp), 0);
	front_rig_open(&rig, &settings);
	front_rig_set(&rig, "listen_port=40002\n");
	uint32_t told_udp = rig.told[SEAM_UDP], told_tcp = rig.told[SEAM_LISTENER];
	for (size_t i = 0; i < 3; i++) {
		front_rig_ask(&rig, requests[i], "errno=0\n\n", seen, got);
		assert_string_equal(got, "errno=-98\n\n");
		assert_string_equal(seen, "");
		assert_int_equal(rig.told[SEAM_UDP], told_udp);
		assert_int_equal(rig.told[SEAM_LISTENER], told_tcp);
		assert_int_equal(rig.udp_port, 40002);
	}
	/* Once it is free the same request goes through. */
	sockets_close(&udp);
	sockets_close(&tcp);
	front_rig_set(&rig, "listen_port=40010\n");
	assert_int_equal(rig.udp_port, 40010);
	front_rig_close(&rig);
}

static void only_the_transports_sockets_are_open(void **state)
{
	struct front_rig rig;

	(void)state;
	front_rig_open(&rig, &settings);
	front_rig_set(&rig, "listen_port=40020\ntransport=tcp\n");
	assert_int_equal(rig.udp[0], -1);
	assert_int_equal(rig.udp[1], -1);
	assert_true(rig.listener[0] >= 0 && rig.listener[1] >= 0);
	front_rig_set(&rig, "transport=udp\n");
	assert_true(rig.udp[0] >= 0 && rig.udp[1] >= 0);
	assert_int_equal(rig.listener[0], -1);
	assert_int_equal(rig.listener[1], -1);
	/* One peer that wants the other carrier brings its sockets back, and takes them away with it. */
	front_rig_set(&rig, "public_key=" KEY "\ntransport=tcp\n");
	assert_true(rig.listener[0] >= 0);
	front_rig_set(&rig, "public_key=" KEY "\nremove=true\n");
	assert_int_equal(rig.listener[0], -1);
	front_rig_set(&rig, "transport=auto\n");
	assert_true(rig.udp[0] >= 0 && rig.listener[0] >= 0);
	assert_int_equal(rig.udp_port, 40020);
	front_rig_close(&rig);
}

static uint32_t mark_of(int fd)
{
	uint32_t mark = 0;
	socklen_t len = sizeof(mark);

	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_MARK, &mark, &len), 0);
	return mark;
}

static void the_mark_is_on_every_socket(void **state)
{
	struct seam_message dial = dial_message(SEAM_DIAL, 1);
	struct front_rig rig;

	(void)state;
	front_rig_open(&rig, &settings);
	front_rig_set(
		&rig, "listen_port=40030\nfwmark=51820\npublic_key=" KEY "\nendpoint=127.0.0.1:40030\n");
	assert_int_equal(mark_of(rig.udp[0]), 51820);
	assert_int_equal(mark_of(rig.udp[1]), 51820);
	assert_int_equal(mark_of(rig.listener[0]), 51820);
	/* Sockets in use are marked anew, not replaced. */
	uint32_t told_udp = rig.told[SEAM_UDP];
	front_rig_set(&rig, "fwmark=7\n");
	assert_int_equal(rig.told[SEAM_UDP], told_udp);
	assert_int_equal(mark_of(rig.udp[0]), 7);
	assert_int_equal(mark_of(rig.listener[1]), 7);
	assert_int_equal(seam_send(rig.seam, &dial), 0);
	assert_true(front_rig_run(&rig, &rig.told[SEAM_CONNECTED], 1, 2000));
	assert_int_equal(mark_of(rig.connected), 7);
	front_rig_set(&rig, "fwmark=0\n");
	assert_int_equal(mark_of(rig.udp[0]), 0);
	front_rig_close(&rig);
}

static void peers_are_dialled_by_name_of_their_key(void **state)
{
	static const struct {
		const char *set;
		uint32_t error; /* 0: connects to port */
		uint16_t port;
	} cases[] = {
		{ "public_key=" KEY "\nendpoint=127.0.0.1:40040\n", 0, 40040 },
		{ "public_key=" KEY "\nendpoint=[::1]:40040\n", 0, 40040 },
		{ "public_key=" KEY "\nendpoint=127.0.0.1:40041\n", ECONNREFUSED, 0 },
		{ "public_key=" KEY "\ntcp_endpoint=127.0.0.1:40040\n", 0, 40040 },
		{ "public_key=" KEY "\ntcp_endpoint=127.0.0.1:40041\ntcp_endpoint=127.0.0.1:40040\n", 0,
			40040 },
		{ "public_key=" KEY "\ntcp_endpoint=127.0.0.1:40041\ntcp_endpoint=127.0.0.1:40042\n",
			ECONNREFUSED, 0 },
		{ "public_key=" KEY "\ntcp_endpoint=\n", ECONNREFUSED, 0 }, /* back to the endpoint */
		{ "public_key=" KEY "\nendpoint=127.0.0.1:40040\ntransport=udp\n", EDESTADDRREQ, 0 },
		{ "public_key=" KEY "\ntransport=tcp\n", 0, 40040 },
		{ "transport=udp\npublic_key=" KEY "\ntransport=auto\n", 0, 40040 },
		{ "public_key=" KEY "\nremove=true\n", EDESTADDRREQ, 0 },
	};
	struct socket_pair listener;
	struct front_rig rig;
	uint64_t attempt = 100;

	(void)state;
	assert_int_equal(sockets_open_listeners(40040, 0, &listener), 0);
	front_rig_open(&rig, &settings);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seam_message dial = dial_message(SEAM_DIAL, ++attempt);
		uint32_t kind = cases[i].error ? SEAM_DIAL_FAILED : SEAM_CONNECTED;

		front_rig_set(&rig, cases[i].set);
		assert_int_equal(seam_send(rig.seam, &dial), 0);
		assert_true(front_rig_run(&rig, &rig.told[kind], rig.told[kind] + 1, 2000));
		assert_true(rig.last_dial.attempt == attempt);
		assert_memory_equal(rig.last_dial.public_key, dial.public_key, 32);
		if (cases[i].error)
			assert_int_equal(rig.last_dial.value, cases[i].error);
	}
	sockets_close(&listener);
	front_rig_close(&rig);
}

static void the_link_is_followed(void **state)
{
	struct front_rig rig;
	uint32_t index;

	(void)state;
	front_rig_open(&rig, &settings);
	front_rig_run(&rig, NULL, 0, 20);
	index = front_interface_index(rig.front);
	assert_int_equal(net_link_set(net, index, 1300, true), 0);
	assert_true(front_rig_run(&rig, &rig.told[SEAM_LINK], 2, 1000));
	front_rig_run(&rig, NULL, 0, 20);
	assert_int_equal(rig.mtu, 1300);
	assert_true(rig.up);
	/* Our own addresses are no change of network. */
	struct ip_prefix inner = prefix_of("10.90.0.1/24"), outer = prefix_of("10.91.0.1/24");
	assert_int_equal(net_address_add(net, index, &inner), 0);
	front_rig_run(&rig, NULL, 0, 400);
	assert_int_equal(rig.told[SEAM_NETWORK], 0);
	/* Others' are, and many at once are told once. */
	int other = namespace_tun("wgother", NULL, NULL);
	struct net_link link;
	assert_int_equal(net_link_find(net, "wgother", &link), 0);
	assert_int_equal(net_address_add(net, link.index, &outer), 0);
	assert_true(front_rig_run(&rig, &rig.told[SEAM_NETWORK], 1, 1000));
	front_rig_run(&rig, NULL, 0, 300);
	assert_int_equal(rig.told[SEAM_NETWORK], 1);
	assert_true(rig.network);
	assert_int_equal(rig.events[FRONT_NETWORK], 1);
	/* Whether any endpoint can be reached comes along. */
	front_rig_set(&rig, "public_key=" KEY "\nendpoint=10.91.0.2:51820\n");
	front_rig_run(&rig, NULL, 0, 20);
	assert_int_equal(rig.told[SEAM_NETWORK], 1);
	close(other);
	assert_true(front_rig_run(&rig, &rig.told[SEAM_NETWORK], 2, 1000));
	assert_false(rig.network);
	assert_int_equal(rig.events[FRONT_LINK_GONE], 0);

	assert_int_equal(net_link_delete(net, index), 0);
	assert_true(front_rig_run(&rig, &rig.events[FRONT_LINK_GONE], 1, 1000));
	front_rig_run(&rig, NULL, 0, 50);
	assert_int_equal(rig.events[FRONT_LINK_GONE], 1);
	front_rig_close(&rig);
}

static void the_engines_words_become_events(void **state)
{
	static const struct {
		uint32_t said;
		enum front_event_kind event;
	} cases[] = { { SEAM_CHANGED, FRONT_PEER_CHANGED }, { SEAM_MARK, FRONT_MARK },
		{ SEAM_REMEMBER, FRONT_REMEMBER }, { SEAM_RESOLVE, FRONT_RESOLVE } };
	struct front_rig rig;

	(void)state;
	front_rig_open(&rig, &settings);
	for (size_t i = 0; i < 4; i++) {
		struct seam_message message = dial_message(cases[i].said, 0);

		message.value = 3;
		message.wall = (struct wall){ 1800000000, 7 };
		assert_int_equal(seam_send(rig.seam, &message), 0);
		assert_true(front_rig_run(&rig, &rig.events[cases[i].event], 1, 1000));
		assert_memory_equal(rig.last_event.public_key, message.public_key, 32);
		assert_int_equal(rig.last_event.value, 3);
		assert_true(rig.last_event.wall.s == 1800000000 && rig.last_event.wall.ns == 7);
	}
	/* What only goes down is not taken from below. */
	for (uint32_t kind = SEAM_TUN; kind <= SEAM_STOP; kind++) {
		struct seam_message message = dial_message(kind, 0);
		assert_int_equal(seam_send(rig.seam, &message), 0);
	}
	front_rig_run(&rig, NULL, 0, 20);
	assert_true(link_exists());
	assert_int_equal(rig.events[FRONT_ENGINE_GONE], 0);
	/* And what the daemon says goes through. */
	struct seam_message probe = dial_message(SEAM_PROBE, 0);
	assert_int_equal(front_send(rig.front, &probe), 0);
	assert_true(front_rig_run(&rig, &rig.told[SEAM_PROBE], 1, 1000));
	front_rig_close(&rig);
}

static int send_buffer(int fd)
{
	int value = 0;
	socklen_t len = sizeof(value);

	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, &len), 0);
	return value;
}

/* What the engine may not set itself; and whatever else it hands up does no harm. */
static void a_connection_is_tuned_for_the_engine(void **state)
{
	struct seam_message tune = { .kind = SEAM_TUNE, .value = TCP_TUNE_BBR | TCP_TUNE_BUFFERS };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    other = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct front_rig rig;

	(void)state;
	front_rig_open(&rig, &settings);
	assert_in_range(send_buffer(fd), 1, 16 << 20);
	assert_int_equal(seam_send_handle(rig.seam, &tune, fd), 0);
	assert_int_equal(seam_send_handle(rig.seam, &tune, other), 0);
	assert_int_equal(seam_send(rig.seam, &tune), 0);
	front_rig_run(&rig, NULL, 0, 50);
	assert_in_range(send_buffer(fd), 32 << 20, 64 << 20);
	assert_int_equal(rig.events[FRONT_ENGINE_GONE], 0);
	front_rig_close(&rig);
	close(fd);
	close(other);
}

static void a_new_engine_gets_all_again(void **state)
{
	struct seam_message mark = { .kind = SEAM_MARK, .wall = { 1900000000, 1 } };
	struct front_rig rig;
	int handle;

	(void)state;
	front_rig_open(&rig, &settings);
	front_rig_set(&rig, "listen_port=40050\nfwmark=9\n");
	assert_int_equal(seam_send(rig.seam, &mark), 0);
	front_rig_run(&rig, NULL, 0, 20);
	uint32_t index = front_interface_index(rig.front);
	front_rig_close_seam(&rig);
	assert_true(front_rig_run(&rig, &rig.events[FRONT_ENGINE_GONE], 1, 1000));
	front_rig_run(&rig, NULL, 0, 20);
	assert_int_equal(rig.events[FRONT_ENGINE_GONE], 1);
	assert_int_equal(front_send(rig.front, &mark), -EPIPE);
	assert_int_equal(front_control(rig.front), -EPIPE);
	assert_true(link_exists());

	assert_int_equal(front_restart(rig.front, &handle), 0);
	front_rig_seam(&rig, handle);
	front_rig_run(&rig, NULL, 0, 20);
	assert_int_equal(front_interface_index(rig.front), index);
	assert_true(rig.tun >= 0 && rig.udp[0] >= 0 && rig.udp[1] >= 0);
	assert_int_equal(mark_of(rig.udp[0]), 9);
	/* It starts above the timestamps of the one before. */
	assert_true(rig.floor.s == 1900000000);
	front_rig_set(&rig, "listen_port=40050\n");
	assert_int_equal(rig.udp_port, 40050);
	front_rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_handed_over_at_the_start),
		cmocka_unit_test(what_can_not_be_opened_leaves_nothing_behind),
		cmocka_unit_test(a_dead_engines_socket_is_replaced),
		cmocka_unit_test(ports_follow_the_request),
		cmocka_unit_test(a_port_that_is_taken_is_refused_with_all_as_it_was),
		cmocka_unit_test(only_the_transports_sockets_are_open),
		cmocka_unit_test(the_mark_is_on_every_socket),
		cmocka_unit_test(peers_are_dialled_by_name_of_their_key),
		cmocka_unit_test(the_link_is_followed),
		cmocka_unit_test(the_engines_words_become_events),
		cmocka_unit_test(a_connection_is_tuned_for_the_engine),
		cmocka_unit_test(a_new_engine_gets_all_again),
	};

	close(namespace_new());
	assert_non_null(mkdtemp(directory));
	settings.uapi_directory = directory;
	snprintf(socket_path, sizeof(socket_path), "%s/wgfront.sock", directory);
	assert_int_equal(net_config_open(&net), 0);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	net_config_close(net);
	rmdir(directory);
	return failed;
}
