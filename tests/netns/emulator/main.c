/* SPDX-License-Identifier: MIT */
/* wgtcp-emulator: a wire between two network namespaces, with delay, rate, queue and loss.
 *
 * Each end is a TUN device that hands over whole bursts; what becomes of them is decided for each MTU-sized
 * frame in them (direction.h), and what is left goes on in bursts again. No link-layer addresses, so that
 * nothing but IP can be lost. One thread, one epoll, one timer. */
#include "tests/netns/emulator/device.h"
#include "tests/netns/emulator/direction.h"
#include "tests/netns/emulator/settings.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define FRAMES 131072 /* under way in a direction: 390 ms at 4 Gb/s; memory is taken as it is used */
#define CLIENTS 8
#define BATCH 64

struct end {
	int fd;
	bool blocked; /* its device's queue is full: wait for EPOLLOUT before more is written */
};

struct emulator {
	struct end ends[2];
	struct direction *ways[2]; /* ways[i]: from ends[i] to the other */
	int epoll, timer, signals, control;
	int clients[CLIENTS];
	const char *control_path;
};

static const char usage[] =
	"usage: wgtcp-emulator --a NETNS:NAME --b NETNS:NAME [--control PATH] [--seed N] [--set "
	"[a:|b:]KEY=VALUE]...\n"
	"\n"
	"Makes TUN device NAME in each network namespace (a path such as /proc/PID/ns/net) and joins the "
	"two.\n"
	"  --set KEY=VALUE   both directions; a:KEY=VALUE for packets that come from a, b: likewise\n"
	"      delay=20ms  rate=100mbit  queue=256k or 1.5bdp (of rate and twice the delay)  loss=1%\n"
	"      ge=ENTER,LEAVE,LOSS[,LOSS-WHEN-GOOD] (Gilbert-Elliott: p, r, 1-h, 1-k)  ge=off\n"
	"      reorder=CHANCE,TIME (a frame waits so much longer)  reorder=off\n"
	"Every decision is made for one frame of the wire, never for an offloaded burst.\n"
	"  --control PATH    a SOCK_SEQPACKET socket that takes the same KEY=VALUE words, or \"stats\"\n"
	"Prints \"ready\" when both devices stand. Ends on SIGINT or SIGTERM.\n";

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static int watch(struct emulator *emulator, int fd, uint32_t what)
{
	struct epoll_event event = { .events = what, .data.fd = fd };

	if (epoll_ctl(emulator->epoll, EPOLL_CTL_MOD, fd, &event) == 0)
		return 0;
	return epoll_ctl(emulator->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Takes in what end i has sent. */
static void read_end(struct emulator *emulator, int i)
{
	struct direction *way = emulator->ways[i];

	for (int n = 0; n < BATCH; n++) {
		struct burst burst;

		/* -EIO: the device is down. Nothing to take then either. */
		if (device_read(emulator->ends[i].fd, direction_room(way), &burst))
			return;
		if (burst.count)
			direction_push(way, &burst, now_ns());
	}
}

/* Hands out what is due to end 1 - i. */
static void write_due(struct emulator *emulator, int i)
{
	struct end *to = &emulator->ends[1 - i];
	struct direction_row due;
	struct burst_row row;

	while (direction_due(emulator->ways[i], now_ns(), &due)) {
		burst_form(due.burst, due.bytes, due.first, due.end, &row);
		if (device_write(to->fd, &row) == -EAGAIN) {
			to->blocked = true;
			watch(emulator, to->fd, EPOLLIN | EPOLLOUT);
			return;
		}
		direction_pop(emulator->ways[i], &due);
	}
	if (to->blocked) {
		to->blocked = false;
		watch(emulator, to->fd, EPOLLIN);
	}
}

static void arm_timer(struct emulator *emulator)
{
	struct itimerspec when = { 0 };
	uint64_t next = UINT64_MAX;

	for (int i = 0; i < 2; i++) {
		uint64_t deadline = direction_deadline(emulator->ways[i]);

		if (!emulator->ends[1 - i].blocked && deadline < next)
			next = deadline;
	}
	if (next != UINT64_MAX) {
		when.it_value.tv_sec = (time_t)(next / UINT64_C(1000000000));
		when.it_value.tv_nsec = (long)(next % UINT64_C(1000000000));
	}
	timerfd_settime(emulator->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* One "[a:|b:]key=value". */
static bool set_word(struct emulator *emulator, const char *word, const char **problem)
{
	int first = 0, last = 1;

	if (word[0] == 'a' && word[1] == ':')
		last = 0;
	else if (word[0] == 'b' && word[1] == ':')
		first = 1;
	if (first == last)
		word += 2;
	for (int i = first; i <= last; i++) {
		struct direction_settings settings;

		direction_get(emulator->ways[i], &settings);
		if (!settings_parse(&settings, word, problem))
			return false;
		direction_set(emulator->ways[i], &settings);
	}
	return true;
}

static void write_stats(struct emulator *emulator, char *out, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < 2 && used < size; i++) {
		struct direction_stats stats;
		struct direction_settings settings;
		char text[256];

		direction_stats(emulator->ways[i], &stats);
		direction_get(emulator->ways[i], &settings);
		settings_write(&settings, text, sizeof(text));
		used += (size_t)snprintf(out + used, size - used,
			"%c packets=%" PRIu64 " bytes=%" PRIu64 " delivered=%" PRIu64
			" delivered_bytes=%" PRIu64 " lost=%" PRIu64 " dropped=%" PRIu64 " largest=%" PRIu64
			" late=%" PRIu64 " bursts=%" PRIu64 " %s\n",
			"ab"[i], stats.packets, stats.bytes, stats.delivered, stats.delivered_bytes,
			stats.lost, stats.dropped, stats.largest, stats.late, stats.bursts, text);
	}
}

static void accept_client(struct emulator *emulator)
{
	int fd = accept4(emulator->control, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (size_t i = 0; i < CLIENTS; i++) {
		if (emulator->clients[i] >= 0)
			continue;
		emulator->clients[i] = fd;
		watch(emulator, fd, EPOLLIN);
		return;
	}
	close(fd);
}

/* One message holds words; the answer is "ok", "error: ..." or the statistics. */
static void serve_client(struct emulator *emulator, int *client)
{
	char request[1024], answer[2048] = "ok\n";
	const char *problem = NULL;
	ssize_t len = recv(*client, request, sizeof(request) - 1, 0);
	char *save;

	if (len < 0 && errno == EAGAIN)
		return;
	if (len <= 0) {
		close(*client);
		*client = -1;
		return;
	}
	request[len] = '\0';
	for (char *word = strtok_r(request, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		if (!strcmp(word, "stats")) {
			write_stats(emulator, answer, sizeof(answer));
		} else if (!set_word(emulator, word, &problem)) {
			snprintf(answer, sizeof(answer), "error: %s: %s\n", word, problem);
			break;
		}
	}
	if (send(*client, answer, strlen(answer), MSG_NOSIGNAL) < 0) {
		close(*client);
		*client = -1;
	}
}

static int open_control(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, CLIENTS) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	return fd;
}

static int run(struct emulator *emulator)
{
	struct epoll_event events[16];

	for (;;) {
		int count;

		arm_timer(emulator);
		count = epoll_wait(emulator->epoll, events, 16, -1);
		if (count < 0 && errno != EINTR)
			return -errno;
		for (int e = 0; e < count; e++) {
			int fd = events[e].data.fd;
			uint64_t expirations;

			if (fd == emulator->signals)
				return 0;
			if (fd == emulator->timer && read(fd, &expirations, sizeof(expirations)) < 0 &&
				errno != EAGAIN)
				return -errno;
			if (fd == emulator->control)
				accept_client(emulator);
			for (int i = 0; i < 2; i++)
				if (fd == emulator->ends[i].fd && events[e].events & (EPOLLIN | EPOLLERR))
					read_end(emulator, i);
			for (size_t i = 0; i < CLIENTS; i++)
				if (fd == emulator->clients[i])
					serve_client(emulator, &emulator->clients[i]);
		}
		for (int i = 0; i < 2; i++)
			write_due(emulator, i);
	}
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int fail(const char *what, int error)
{
	fprintf(stderr, "wgtcp-emulator: %s: %s\n", what, strerror(-error));
	return 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "a", required_argument, NULL, 'a' },
		{ "b", required_argument, NULL, 'b' }, { "control", required_argument, NULL, 'c' },
		{ "seed", required_argument, NULL, 's' }, { "set", required_argument, NULL, 'S' },
		{ "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 } };
	static const struct direction_settings clean = { .queue_bytes = 256 * 1024 };
	struct emulator emulator = { .timer = -1, .control = -1 };
	const char *where[2] = { NULL, NULL }, *problem;
	const char *words[64];
	size_t word_count = 0;
	uint64_t seed = 1;
	int option, error;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'a' || option == 'b') {
			where[option - 'a'] = optarg;
		} else if (option == 'c') {
			emulator.control_path = optarg;
		} else if (option == 's') {
			seed = strtoull(optarg, NULL, 10);
		} else if (option == 'S' && word_count < sizeof(words) / sizeof(words[0])) {
			words[word_count++] = optarg;
		} else {
			fputs(usage, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (!where[0] || !where[1] || optind != argc) {
		fputs(usage, stderr);
		return 2;
	}
	for (int i = 0; i < 2; i++) {
		emulator.ways[i] = direction_new(&clean, seed * 2 + (uint64_t)i, FRAMES);
		if (!emulator.ways[i])
			return fail("ring", -ENOMEM);
	}
	for (size_t i = 0; i < word_count; i++) {
		if (set_word(&emulator, words[i], &problem))
			continue;
		fprintf(stderr, "wgtcp-emulator: %s: %s\n", words[i], problem);
		return 2;
	}
	for (size_t i = 0; i < CLIENTS; i++)
		emulator.clients[i] = -1;
	/* Before the namespaces change, since a relative path stays valid but the owner of it might not. */
	if (emulator.control_path) {
		emulator.control = open_control(emulator.control_path);
		if (emulator.control < 0)
			return fail(emulator.control_path, emulator.control);
	}
	prctl(PR_SET_TIMERSLACK, 1);
	emulator.epoll = epoll_create1(EPOLL_CLOEXEC);
	emulator.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	emulator.signals = open_signals();
	if (emulator.epoll < 0 || emulator.timer < 0 || emulator.signals < 0)
		return fail("set-up", -errno);
	for (int i = 0; i < 2; i++) {
		emulator.ends[i].fd = device_open(where[i]);
		if (emulator.ends[i].fd < 0)
			return fail(where[i], emulator.ends[i].fd);
		error = watch(&emulator, emulator.ends[i].fd, EPOLLIN);
		if (error)
			return fail("epoll", error);
	}
	if (watch(&emulator, emulator.timer, EPOLLIN) || watch(&emulator, emulator.signals, EPOLLIN) ||
		(emulator.control >= 0 && watch(&emulator, emulator.control, EPOLLIN)))
		return fail("epoll", -errno);
	puts("ready");
	fflush(stdout);
	error = run(&emulator);
	if (emulator.control_path)
		unlink(emulator.control_path);
	for (int i = 0; i < 2; i++) {
		close(emulator.ends[i].fd);
		direction_free(emulator.ways[i]);
	}
	return error ? fail("loop", error) : 0;
}
