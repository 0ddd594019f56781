/* SPDX-License-Identifier: MIT */
/* The model kept up to date by the link, and what a person can ask for with one click. What the window and
 * the tray have in common. */
#ifndef WGTCP_GUI_LINK_FEED_H
#define WGTCP_GUI_LINK_FEED_H

#include "gui/link/link.h"
#include "gui/model/service.h"
#include "gui/model/status_model.h"

struct feed_events {
	/* The service came or went; feed->service says how it stands. */
	void (*service)(void *user);
	/* The model changed. */
	void (*changed)(const struct model_change *change, void *user);
	/* Something that was asked for did not work: a sentence. tunnel: the one it was about, or NULL. */
	void (*trouble)(struct model_tunnel *tunnel, const char *sentence, void *user);
	/* NULL: not wanted. */
	void (*log)(const struct rpc_log *entry, void *user);
	/* Progress of a diagnosis, and what a speed test is told. NULL: not wanted. */
	void (*notice)(const struct rpc_notice *notice, void *user);
};

struct feed {
	struct link *link;
	struct status_model model;
	enum service_state service;
	struct feed_events events;
	void *user;
};

struct feed *feed_new(const char *socket_path, const struct feed_events *events, void *user);
void feed_free(struct feed *feed);

/* The service is there and lets this person change things. */
bool feed_may_change(const struct feed *feed);
/* Asks for the profiles again, after one was added, changed or taken away. */
void feed_list(struct feed *feed);
/* Asks how the kill switch stands. */
void feed_lockdown(struct feed *feed);
/* Opens the kill switch: for so many seconds, or (0) until a tunnel that holds it connects again. */
void feed_unlock(struct feed *feed, uint32_t for_s);
/* Connects or disconnects. transport: for this run; NULL: as the profile says. */
void feed_turn(struct feed *feed, struct model_tunnel *tunnel, bool on, const enum transport *transport);
/* Moves a living tunnel. */
void feed_switch(struct feed *feed, struct model_tunnel *tunnel, enum transport transport);
/* The sentence of an error or of a connection that was lost (event NULL). */
const char *feed_error_text(const struct rpc_event *event);

#endif
