/* SPDX-License-Identifier: MIT */
#include "gui/model/news.h"

#include "gui/model/translate.h"
#include "gui/model/words.h"

#include <stdio.h>

static enum news_kind kind_of(const struct news *before, const struct rpc_tunnel *tunnel)
{
	if (tunnel->cause == RPC_CAUSE_CAPTIVE_PORTAL && !before->is_portal)
		return NEWS_PORTAL;
	switch (tunnel->state) {
	case RPC_STATE_UP:
	case RPC_STATE_DEGRADED:
		if (!before->is_up)
			return NEWS_CONNECTED;
		if (tunnel->carrier != CARRIER_NONE && before->carrier != CARRIER_NONE &&
			tunnel->carrier != before->carrier)
			return NEWS_CARRIER;
		return NEWS_NONE;
	case RPC_STATE_RECONNECTING:
		return before->is_up ? NEWS_LOST : NEWS_NONE;
	case RPC_STATE_FAILED:
		if (before->is_up)
			return NEWS_LOST;
		/* A loss that ends in failure was told as a loss; a portal as a portal. */
		return before->state == RPC_STATE_FAILED || before->state == RPC_STATE_RECONNECTING ||
				tunnel->cause == RPC_CAUSE_CAPTIVE_PORTAL
			? NEWS_NONE
			: NEWS_FAILED;
	case RPC_STATE_DOWN:
	case RPC_STATE_CONNECTING:
	case RPC_STATE_VERIFYING:
		break;
	}
	return NEWS_NONE;
}

enum news_kind news_step(struct news *news, const struct rpc_tunnel *tunnel)
{
	enum news_kind kind = news->is_known ? kind_of(news, tunnel) : NEWS_NONE;

	switch (tunnel->state) {
	case RPC_STATE_UP:
	case RPC_STATE_DEGRADED:
		news->is_up = true;
		if (tunnel->carrier != CARRIER_NONE)
			news->carrier = tunnel->carrier;
		break;
	case RPC_STATE_VERIFYING: /* on the way from one carrier to the other it is neither up nor lost */
		break;
	case RPC_STATE_DOWN:
	case RPC_STATE_CONNECTING:
	case RPC_STATE_RECONNECTING:
	case RPC_STATE_FAILED:
		news->is_up = false;
		news->carrier = CARRIER_NONE;
		break;
	}
	news->is_known = true;
	news->is_portal = tunnel->cause == RPC_CAUSE_CAPTIVE_PORTAL;
	news->state = tunnel->state;
	return kind;
}

void news_words(enum news_kind kind, const char *name, const struct rpc_tunnel *tunnel, char title[NEWS_TITLE_LEN],
	char body[NEWS_BODY_LEN])
{
	char sentence[WORDS_LEN];

	words_sentence(tunnel, NULL, sentence, sizeof(sentence));
	snprintf(body, NEWS_BODY_LEN, "%s", sentence);
	switch (kind) {
	case NEWS_NONE:
		title[0] = '\0';
		break;
	case NEWS_CONNECTED:
		snprintf(title, NEWS_TITLE_LEN, _("%s is connected"), name);
		break;
	case NEWS_LOST:
		snprintf(title, NEWS_TITLE_LEN, _("%s has lost its connection"), name);
		break;
	case NEWS_FAILED:
		snprintf(title, NEWS_TITLE_LEN, _("%s could not connect"), name);
		break;
	case NEWS_CARRIER:
		snprintf(title, NEWS_TITLE_LEN, _("%s moved to %s"), name, words_carrier(tunnel->carrier));
		break;
	case NEWS_PORTAL:
		snprintf(title, NEWS_TITLE_LEN, "%s", _("This network wants you to log in"));
		snprintf(body, NEWS_BODY_LEN, "%s", words_cure(RPC_CAUSE_CAPTIVE_PORTAL));
		break;
	}
}
