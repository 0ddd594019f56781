/* SPDX-License-Identifier: MIT */
/* What one step of the fallback machine asks for, put together so that it holds whatever the order of its
 * causes: actions are carried out in the order of their bits, initiations keep their distance, echo ids are
 * never used twice. */
#ifndef WGTCP_CORE_CARRIER_FALLBACK_OUTPUT_H
#define WGTCP_CORE_CARRIER_FALLBACK_OUTPUT_H

#include "core/carrier/fallback.h"

#define OUTPUT_PENDING_MAX 16

struct pending_echo {
	struct fallback_echo echo; /* id 0: free */
	struct mono sent;
};

struct output {
	struct fallback_action action;
	struct mono initiated; /* the newest initiation, on either carrier */
	uint64_t next_id;
	size_t next_pending; /* the oldest gives way */
	struct pending_echo pending[OUTPUT_PENDING_MAX];
};

void output_init(struct output *output, uint64_t seed);
/* A new step begins. */
void output_clear(struct output *output);
/* False within 20 ms of the last initiation: try again at *again. */
bool output_initiate(struct output *output, enum carrier carrier, struct mono now, struct mono *again);
/* False when this step closes a connection, which would be carried out last: dial in the next. */
bool output_dial(struct output *output);
/* Also takes back what this step meant to send over the connection. */
void output_close(struct output *output);
/* One keepalive: the newest word on where the path goes, so only the last one of a step counts. */
void output_nudge(struct output *output, enum carrier carrier);
/* The echo's id; 0 when this step has no room for it. */
uint64_t output_echo(struct output *output, enum carrier carrier, bool full, struct mono now);
/* Finds and forgets an echo under way; false for an unknown id. */
bool output_answered(struct output *output, uint64_t id, struct pending_echo *out);

#endif
