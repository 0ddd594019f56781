/* SPDX-License-Identifier: MIT */
/* What the modes of wgtcp-attack share. */
#ifndef WGTCP_TESTS_NETNS_ATTACK_ATTACK_H
#define WGTCP_TESTS_NETNS_ATTACK_ATTACK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attack {
	struct in_addr address; /* the victim */
	uint16_t port;
	uint64_t rate;    /* a second; 0: as fast as it goes */
	double seconds;   /* 0: no limit */
	uint64_t count;   /* 0: no limit */
	uint32_t sources; /* forged, from `first` on */
	struct in_addr first;
	uint8_t public_key[32];
	const char *interface; /* on the path, towards the victim */
	bool fin;              /* reset: FIN instead of RST */
	double pause;          /* reset: seconds between two */
};

/* Set by SIGTERM and SIGINT. */
extern volatile bool attack_stopped;

double attack_now(void); /* seconds, monotonic */
/* Sleeps so that `done` things since `start` are not more than the rate. False: the attack is over. */
bool attack_goes_on(const struct attack *attack, double start, uint64_t done);
uint64_t attack_random(void);

int attack_junk(const struct attack *attack);
int attack_initiations(const struct attack *attack);
int attack_replay(const struct attack *attack);
int attack_reset(const struct attack *attack);

#endif
