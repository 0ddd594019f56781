/* SPDX-License-Identifier: MIT */
/* What a window or a tray shows: RPC messages in, tunnels in the order of their names out. Pure; one thread.
 * A struct model_tunnel stays where it is until it is gone, so that a view may keep a pointer to it. */
#ifndef WGTCP_GUI_MODEL_STATUS_MODEL_H
#define WGTCP_GUI_MODEL_STATUS_MODEL_H

#include "client/rpc/conn.h"
#include "gui/model/history.h"
#include "gui/model/news.h"

struct model_tunnel {
	char name[RPC_NAME_LEN];
	char shown[RPC_NAME_LEN]; /* what people call it */
	/* Of its profile, from tunnel.list; zero until that has come. */
	char file[RPC_PATH_LEN];
	bool is_listed, is_in_list, is_read_only, auto_connect;
	enum transport profile_transport;
	char profile_error[RPC_SENTENCE_LEN];
	/* As the daemon said last. Zero: down. */
	struct rpc_tunnel status;
	bool has_step;
	enum rpc_step step; /* of the tunnel.up that is under way */
	/* What this program asked for and has not been answered. */
	bool is_asking, wants_on;
	/* The last thing that went wrong with it here, a sentence; "" when none did. Gone with the next try.
	 */
	char trouble[RPC_SENTENCE_LEN];
	struct history history;
	struct news news;
};

/* The kill switch of this computer. */
struct model_lockdown {
	enum rpc_kill_switch state;
	uint64_t open_until;            /* Unix time, s; 0: not for a time */
	char holders[RPC_SENTENCE_LEN]; /* what people call the tunnels that hold it, with commas */
	bool passes;                    /* one of these carries packets now */
};

struct status_model {
	struct model_tunnel **tunnels; /* owned; by shown name */
	size_t count;
	bool has_info, has_list;
	struct rpc_info info;
	struct model_lockdown lockdown;
};

/* What an event changed. */
enum {
	MODEL_CHANGED_SET = 1,       /* tunnels came, went or are called otherwise */
	MODEL_CHANGED_STATE = 2,     /* of one tunnel, or of all if `tunnel` is NULL */
	MODEL_CHANGED_STATS = 4,     /* of one tunnel */
	MODEL_CHANGED_INFO = 8,      /* of the daemon */
	MODEL_WANTS_LIST = 16,       /* a tunnel that no list had: ask for tunnel.list again */
	MODEL_WANTS_LOCKDOWN = 32,   /* the kill switch may stand otherwise: ask for tunnel.status */
	MODEL_CHANGED_LOCKDOWN = 64, /* the kill switch */
};

struct model_change {
	unsigned what;
	struct model_tunnel *tunnel; /* the one, or NULL */
	enum news_kind news;         /* about that tunnel */
};

void status_model_free(struct status_model *model);
/* The daemon is gone: nothing is known any more, except what has been told of each tunnel, so that nothing is
 * told twice when it comes back. */
void status_model_lost(struct status_model *model);

/* NULL: there is none. */
struct model_tunnel *status_model_find(const struct status_model *model, const char *name);
/* By its place in the list, or NULL. */
struct model_tunnel *status_model_at(const struct status_model *model, size_t index);
/* How many carry packets now. */
size_t status_model_up_count(const struct status_model *model);

/* Notices, and results of daemon.info, tunnel.list, tunnel.status, up and switch. Others change nothing.
 * Takes the memory of what it keeps out of the event, which the caller frees in any case. False: memory was
 * short. */
bool status_model_take(struct status_model *model, struct rpc_event *event, struct model_change *change);

#endif
