/* SPDX-License-Identifier: MIT */
/* The connections of the server part: who has a place, who is read, how long each may stay, and who goes when
 * all places are taken. Fixed memory, no port is touched here. Internal to client/relay. Source:
 * docs/architecture.md, What bounds what. */
#ifndef WGTCP_CLIENT_RELAY_PLACES_H
#define WGTCP_CLIENT_RELAY_PLACES_H

#include "client/relay/channel.h"
#include "core/tunnel/sources.h"
#include "core/noise/cookie.h"

struct datagram;

/* Connections that have not shown who they are. */
#define PLACES_UNKNOWN_MAX 1024
#define PLACES_SOURCE_MAX 16    /* of one source that are read; the others are held until one of these goes */
#define PLACES_SILENT_MS 6000   /* without a byte: a WGTCP kernel may stay silent for 5.4 s */
#define PLACES_PRESSED_MS 3000  /* the same while more than half of the places are taken */
#define PLACES_UNKNOWN_MS 10000 /* without a whole first message, in all */
/* A message went to the server and nothing has come back: its session may be idle, and lives no longer than
 * this. */
#define PLACES_SPOKEN_MS 180000
/* The server has answered on them. */
#define PLACES_KNOWN_MAX 4096
#define PLACES_KNOWN_MS 3600000 /* without a further sign of the server */

#define PLACES_DEAD_ROOM 256

enum standing {
	STANDING_FREE,
	STANDING_HELD,   /* over its source's share: not read */
	STANDING_SILENT, /* has not said a whole message */
	STANDING_MUTED,  /* said something wrong: not read, and not closed, since a WGTCP peer would redial
			    without a pause */
	STANDING_SPOKEN, /* what it said could be authentic and went to the server */
	STANDING_KNOWN,  /* the server has answered it, which it does only to what is authentic */
	STANDING_DEAD,   /* closed in this turn: the loop may still name it */
};

enum token_kind { TOKEN_LISTENER, TOKEN_CONNECTION, TOKEN_FLOW };

/* First member of everything that the loop can report. */
struct token {
	enum token_kind kind;
};

struct connection {
	struct token token;
	struct flow {
		struct token token;
		struct connection *connection;
		struct datagram *socket; /* towards the server; NULL until it is needed */
	} flow;
	enum standing standing;
	struct channel channel;
	struct source *source;
	bool welcome;        /* its source has been authentic before */
	uint32_t unanswered; /* data messages that went to the server without an answer to any */
	struct mono born, last_in, last_answer;

	/* the last handshake message that it sent, for the answer to a cookie reply */
	struct cookie_maker cookies;
	uint8_t handshake[sizeof(struct initiation)];
	size_t handshake_len;
	bool resent; /* once for each message */

	struct connection *next, *previous;
};

struct places {
	struct connection *all, *free_list;
	size_t room, used; /* of all; those from used on have never been touched */
	struct places_list {
		struct connection *head, *tail; /* oldest first */
		size_t count;
	} unknown, known, dead;
	size_t unknown_max, known_max;
	struct sources *sources;
};

/* At most these; false when memory is short. */
bool places_init(struct places *places, size_t unknown_max, size_t known_max);
/* All must have been given back. */
void places_wipe(struct places *places);

/* None is left until the turn ends, since so many have been closed in it. */
bool places_are_used_up(const struct places *places);
/* A place for a newcomer: STANDING_SILENT, or STANDING_HELD. NULL: used up, or a victim has to go before. */
struct connection *places_take(struct places *places, const struct ip_address *address, struct mono now);
/* Who has to go before a newcomer may be taken; NULL: nobody. The oldest of the source that has the most, and
 * one of a source that was authentic before only if there is no other. */
struct connection *places_victim_unknown(const struct places *places);
/* Who has to go before one more becomes known; NULL: nobody. The one whose server has been silent for
 * longest. */
struct connection *places_victim_known(const struct places *places);
/* Another standing; not FREE or DEAD. */
void places_move(struct places *places, struct connection *connection, enum standing standing);
/* DEAD: closed, and of no source any more. */
void places_bury(struct places *places, struct connection *connection);
/* The turn is over: the dead are free. */
void places_free_dead(struct places *places);
/* One that was held and may now be read; its standing is SILENT. NULL: none. */
struct connection *places_unhold(struct places *places, struct source *source);
/* When it has to go. */
struct mono places_end(const struct places *places, const struct connection *connection);

#endif
