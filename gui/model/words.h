/* SPDX-License-Identifier: MIT */
/* What a tunnel does and why, in words. Pure but for the language. */
#ifndef WGTCP_GUI_MODEL_WORDS_H
#define WGTCP_GUI_MODEL_WORDS_H

#include "client/rpc/types.h"

#define WORDS_LEN 512

/* The icon that stands for a state: four shapes, so that nobody needs to see colours. */
enum words_shape { WORDS_SHAPE_OFF, WORDS_SHAPE_BUSY, WORDS_SHAPE_ON, WORDS_SHAPE_ATTENTION };
enum words_shape words_shape(enum rpc_state state);

/* Packets pass, or are meant to: what a switch shows as on. */
bool words_is_on(enum rpc_state state);
/* Packets pass now. */
bool words_passes(enum rpc_state state);

/* "UDP", "TCP", "" */
const char *words_carrier(enum carrier carrier);
/* "Automatic", "UDP only", "TCP only" */
const char *words_transport(enum transport transport);
/* "in the kernel", "in userspace (wgtcp-engine)"; "" for none */
const char *words_backend(enum rpc_backend backend);
/* "small and full-size packets passed both ways" */
const char *words_verified(enum rpc_verified verified);
/* Why this carrier: a part of a sentence; "" where there is nothing to say. */
const char *words_reason(enum rpc_reason reason, enum carrier carrier);
/* What is wrong, as a part of a sentence; "" for none. */
const char *words_cause(enum rpc_cause cause);
/* What to do about it, a sentence; "" where nothing general helps. */
const char *words_cure(enum rpc_cause cause);
/* "Trying UDP..." */
const char *words_step(enum rpc_step step);

/* Makes the first letter of a daemon's sentence a capital, unless it begins with a name: of a tunnel, or of a program. */
void words_capitalize(char *sentence, const char *tunnel_name);

/* "Connected over TCP"; step: what a connecting tunnel does just now, or NULL. */
void words_state(const struct rpc_tunnel *tunnel, const enum rpc_step *step, char *out, size_t size);
/* "Connected over TCP: this network blocks UDP" */
void words_sentence(const struct rpc_tunnel *tunnel, const enum rpc_step *step, char *out, size_t size);

#endif
