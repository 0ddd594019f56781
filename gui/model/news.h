/* SPDX-License-Identifier: MIT */
/* Which changes of a tunnel are worth a notification, each told once. Pure. */
#ifndef WGTCP_GUI_MODEL_NEWS_H
#define WGTCP_GUI_MODEL_NEWS_H

#include "client/rpc/types.h"

enum news_kind {
	NEWS_NONE,
	NEWS_CONNECTED,
	NEWS_LOST,    /* it was connected, and is not by itself */
	NEWS_FAILED,  /* it could not connect */
	NEWS_CARRIER, /* it moved from one carrier to the other */
	NEWS_PORTAL,  /* the network wants a login */
};

/* What has been told so far. All zero: nothing is known of the tunnel yet, and the first state is no news. */
struct news {
	bool is_known, is_up, is_portal;
	enum rpc_state state;
	enum carrier carrier;
};

enum news_kind news_step(struct news *news, const struct rpc_tunnel *tunnel);

#define NEWS_TITLE_LEN 320
#define NEWS_BODY_LEN 640
/* name: as people call it. Not for NEWS_NONE. */
void news_words(enum news_kind kind, const char *name, const struct rpc_tunnel *tunnel, char title[NEWS_TITLE_LEN],
	char body[NEWS_BODY_LEN]);

#endif
