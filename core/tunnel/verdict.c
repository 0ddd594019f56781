/* SPDX-License-Identifier: MIT */
/* The names of the verdicts. Any thread. */
#include "core/tunnel/verdict.h"

const char *verdict_name(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_OK:
		return "ok";
	case VERDICT_NOT_IP:
		return "not_ip";
	case VERDICT_NO_ROUTE:
		return "no_route";
	case VERDICT_NO_SESSION:
		return "no_session";
	case VERDICT_TOO_LARGE:
		return "too_large";
	case VERDICT_TOO_SOON:
		return "too_soon";
	case VERDICT_NOT_WIREGUARD:
		return "not_wireguard";
	case VERDICT_BAD_MAC1:
		return "bad_mac1";
	case VERDICT_COOKIE_WANTED:
		return "cookie_wanted";
	case VERDICT_RATE_LIMITED:
		return "rate_limited";
	case VERDICT_NOT_FOR_US:
		return "not_for_us";
	case VERDICT_UNKNOWN_PEER:
		return "unknown_peer";
	case VERDICT_BAD_HANDSHAKE:
		return "bad_handshake";
	case VERDICT_STALE_TIMESTAMP:
		return "stale_timestamp";
	case VERDICT_FLOODING:
		return "flooding";
	case VERDICT_UNKNOWN_INDEX:
		return "unknown_index";
	case VERDICT_BAD_COOKIE:
		return "bad_cookie";
	case VERDICT_EXPIRED:
		return "expired";
	case VERDICT_FORGED:
		return "forged";
	case VERDICT_REPLAYED:
		return "replayed";
	case VERDICT_SOURCE_NOT_ALLOWED:
		return "source_not_allowed";
	case VERDICT_BAD_INNER:
		return "bad_inner";
	case VERDICT_NO_MEMORY:
		return "no_memory";
	case VERDICT_COUNT:
		break;
	}
	return "unknown";
}
