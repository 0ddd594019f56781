/* SPDX-License-Identifier: MIT */
/* The words for a fallback machine's values, as `status --json` has them. Source: client/rpc/protocol.md. */
#include "core/carrier/fallback.h"

const char *fallback_state_name(enum fallback_state state)
{
	switch (state) {
	case FALLBACK_STATE_DOWN:
		return "down";
	case FALLBACK_STATE_CONNECTING:
		return "connecting";
	case FALLBACK_STATE_VERIFYING:
		return "verifying";
	case FALLBACK_STATE_UP:
		return "up";
	case FALLBACK_STATE_DEGRADED:
		return "degraded";
	case FALLBACK_STATE_RECONNECTING:
		return "reconnecting";
	case FALLBACK_STATE_FAILED:
		return "failed";
	}
	return "unknown";
}

const char *fallback_cause_name(enum fallback_cause cause)
{
	switch (cause) {
	case FALLBACK_CAUSE_NONE:
		return "none";
	case FALLBACK_CAUSE_NO_NETWORK:
		return "no-network";
	case FALLBACK_CAUSE_PEER_UNREACHABLE:
		return "peer-unreachable";
	case FALLBACK_CAUSE_HANDSHAKE_REFUSED:
		return "handshake-refused";
	}
	return "unknown";
}

const char *fallback_reason_name(enum fallback_reason reason)
{
	switch (reason) {
	case FALLBACK_REASON_NONE:
		return "none";
	case FALLBACK_REASON_CHOSEN:
		return "chosen";
	case FALLBACK_REASON_UDP_SILENT:
		return "udp-silent";
	case FALLBACK_REASON_UDP_REJECTED:
		return "udp-rejected";
	case FALLBACK_REASON_UDP_NO_DATA:
		return "udp-no-data";
	case FALLBACK_REASON_UDP_NO_LARGE:
		return "udp-no-large";
	case FALLBACK_REASON_UDP_FLAPPING:
		return "udp-flapping";
	case FALLBACK_REASON_REMEMBERED:
		return "remembered";
	case FALLBACK_REASON_UDP_WORKS:
		return "udp-works";
	}
	return "unknown";
}

const char *fallback_verified_name(enum fallback_verified verified)
{
	switch (verified) {
	case FALLBACK_VERIFIED_NONE:
		return "none";
	case FALLBACK_VERIFIED_HANDSHAKE:
		return "handshake";
	case FALLBACK_VERIFIED_SMALL:
		return "small";
	case FALLBACK_VERIFIED_FULL:
		return "full";
	}
	return "unknown";
}

const char *fallback_udp_name(enum fallback_udp udp)
{
	switch (udp) {
	case FALLBACK_UDP_UNKNOWN:
		return "unknown";
	case FALLBACK_UDP_OK:
		return "ok";
	case FALLBACK_UDP_BLOCKED:
		return "blocked";
	case FALLBACK_UDP_UNUSED:
		return "unused";
	}
	return "unknown";
}
