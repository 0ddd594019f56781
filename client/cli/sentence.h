/* SPDX-License-Identifier: MIT */
/* What the protocol's words mean, for people. Pure. */
#ifndef WGTCP_CLIENT_CLI_SENTENCE_H
#define WGTCP_CLIENT_CLI_SENTENCE_H

#include "client/cli/text.h"
#include "client/rpc/types.h"

/* "UDP", "TCP", "" */
const char *sentence_carrier(enum carrier carrier);
/* "this network blocks UDP"; "" where there is nothing to say. carrier is the one in use. */
const char *sentence_reason(enum rpc_reason reason, enum carrier carrier);
/* "nothing comes back from the peer"; "" for none. */
const char *sentence_cause(enum rpc_cause cause);
/* "office is up over TCP: this network blocks UDP (verified: full)."; already: "office is already up ...". */
void sentence_of_tunnel(const struct rpc_tunnel *tunnel, bool already, struct text *out);
/* "up over TCP: this network blocks UDP" */
void sentence_of_state(const struct rpc_tunnel *tunnel, struct text *out);

/* "3 s", "2 min", "1 h 4 min", "3 d 2 h". */
void sentence_duration(uint64_t seconds, struct text *out);
/* "512 B", "1.23 MiB". */
void sentence_bytes(uint64_t bytes, struct text *out);
/* "0 bit/s", "1.2 Mbit/s". */
void sentence_rate(uint64_t bps, struct text *out);
/* "0.4 ms", "23 ms". */
void sentence_rtt(uint32_t us, struct text *out);

#endif
