/* SPDX-License-Identifier: MIT */
/* wgtcp-attack: what a hostile network does to an engine or a relay, for tests in namespaces of their own. */
#include "tests/netns/attack/attack.h"

#include "core/crypto/crypto.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
	"usage: wgtcp-attack MODE --to ADDRESS:PORT [--rate N] [--seconds S] [--count N] ...\n"
	"  junk         datagrams of no meaning\n"
	"  initiations  --key PUBLIC-KEY --first ADDRESS --sources N: valid mac1, forged sources\n"
	"  replay       --interface NAME --first ADDRESS --sources N: keeps what passes for --seconds, then "
	"sends\n"
	"               --count of it again\n"
	"  reset        --interface NAME --count N [--fin] [--pause S]: ends the TCP connections that pass\n"
	"One JSON object at the end.\n";

volatile bool attack_stopped;

static void stop(int number)
{
	(void)number;
	attack_stopped = true;
}

double attack_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool attack_goes_on(const struct attack *attack, double start, uint64_t done)
{
	double ahead = attack->rate ? (double)done / (double)attack->rate - (attack_now() - start) : 0;

	if (ahead > 0.0005) {
		const struct timespec rest = { (time_t)ahead, (long)((ahead - (double)(time_t)ahead) * 1e9) };

		nanosleep(&rest, NULL);
	}
	return !attack_stopped && (attack->seconds <= 0 || attack_now() < start + attack->seconds) &&
	       (!attack->count || done < attack->count);
}

uint64_t attack_random(void)
{
	static uint64_t state;

	while (!state)
		random_fill(&state, sizeof(state));
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 2685821657736338717ull >> 8;
}

static bool parse_to(const char *text, struct attack *attack)
{
	char address[32];
	unsigned port;

	if (sscanf(text, "%31[0-9.]:%u", address, &port) != 2 || port > 65535)
		return false;
	attack->port = (uint16_t)port;
	return inet_aton(address, &attack->address);
}

static bool parse(int argc, char **argv, struct attack *attack)
{
	static const struct option options[] = { { "to", 1, NULL, 't' }, { "rate", 1, NULL, 'r' },
		{ "seconds", 1, NULL, 's' }, { "count", 1, NULL, 'c' }, { "key", 1, NULL, 'k' },
		{ "first", 1, NULL, 'f' }, { "sources", 1, NULL, 'n' }, { "interface", 1, NULL, 'i' },
		{ "fin", 0, NULL, 'F' }, { "pause", 1, NULL, 'p' }, { 0 } };
	bool ok = true;

	*attack = (struct attack){ .sources = 1, .pause = 0.2 };
	for (int option; ok && (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (option) {
		case 't':
			ok = parse_to(optarg, attack);
			break;
		case 'r':
			attack->rate = strtoull(optarg, NULL, 10);
			break;
		case 's':
			attack->seconds = strtod(optarg, NULL);
			break;
		case 'c':
			attack->count = strtoull(optarg, NULL, 10);
			break;
		case 'k':
			ok = key_parse(optarg, strlen(optarg), attack->public_key);
			break;
		case 'f':
			ok = inet_aton(optarg, &attack->first);
			break;
		case 'n':
			attack->sources = (uint32_t)strtoul(optarg, NULL, 10);
			ok = attack->sources > 0;
			break;
		case 'i':
			attack->interface = optarg;
			break;
		case 'F':
			attack->fin = true;
			break;
		case 'p':
			attack->pause = strtod(optarg, NULL);
			break;
		default:
			ok = false;
		}
	}
	return ok && attack->port && optind == argc - 1;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct attack *attack);
		bool on_path;
	} modes[] = {
		{ "junk", attack_junk, false },
		{ "initiations", attack_initiations, false },
		{ "replay", attack_replay, true },
		{ "reset", attack_reset, true },
	};
	struct attack attack;

	if (!crypto_init() || !parse(argc, argv, &attack)) {
		fputs(usage, stderr);
		return 2;
	}
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		int err;

		if (strcmp(modes[i].name, argv[optind]) != 0)
			continue;
		if (modes[i].on_path && !attack.interface)
			break;
		err = modes[i].run(&attack);
		if (err)
			fprintf(stderr, "wgtcp-attack: %s: %s\n", argv[optind], strerror(-err));
		return err ? 1 : 0;
	}
	fputs(usage, stderr);
	return 2;
}
