/* SPDX-License-Identifier: MIT */
/* What second.c, second_lend.c, second_view.c and second_word.c know of a FallbackProfile, and lend each
 * other. For these alone. */
#ifndef WGTCP_CLIENT_DAEMON_SECOND_STATE_H
#define WGTCP_CLIENT_DAEMON_SECOND_STATE_H

#include "client/daemon/second.h"
#include "core/carrier/profile_pair.h"

struct second {
	struct tunnel *first;
	struct tunnel *tunnel; /* NULL: it is down */
	char name[PROFILE_NAME_LEN];
	enum transport transport; /* as its profile says */
	struct profile_pair pair;
	uint64_t rx_bytes; /* of the first one, when it was asked to connect anew */
	bool started;      /* the first one calls its peers */
	bool failed;       /* it was tried, and why did not work: */
	char why[RPC_SENTENCE_LEN];
	guint soon;     /* source: something has changed */
	guint due;      /* source: the machine's deadline */
	bool switching; /* by a person's word */
	bool to_second;
	guint switch_over;             /* source */
	struct rpc_tunnel shown, lent; /* borrow */
};

/* ---- second_lend.c ---- */
/* Brings the second tunnel up beside the first; second->failed and why when that cannot be. */
void second_begin(struct second *second);
/* It is itself again: a profile like any other. */
void second_give_back(struct second *second);

/* ---- second_word.c ---- */
/* Answers whoever has asked for the switch; error: NULL when it is done. */
void second_switch_over(struct second *second, const struct rpc_error *error);

#endif
