/* SPDX-License-Identifier: MIT */
/* Used by the command line. Memory that is short shows as a missing object, which is then NULL at the end. */
#include "client/speedtest/json.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const carriers[] = {
	[CARRIER_NONE] = "none", [CARRIER_UDP] = "udp", [CARRIER_TCP] = "tcp"
};
static const char *const phases[] = { "idle", "down", "up", "both" };

static void put(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

static void put_text(struct json_object *object, const char *key, const char *value)
{
	put(object, key, json_object_new_string(value));
}

static void put_number(struct json_object *object, const char *key, uint64_t value)
{
	put(object, key, json_object_new_uint64(value));
}

/* Milliseconds with three digits; null for 0. */
static void put_ms(struct json_object *object, const char *key, uint32_t us)
{
	char text[24];

	snprintf(text, sizeof(text), "%u.%03u", us / 1000, us % 1000);
	put(object, key, us ? json_object_new_double_s(us / 1e3, text) : NULL);
}

static struct json_object *latency(const struct speedtest_latency *of)
{
	struct json_object *object = json_object_new_object();

	put_number(object, "echoes", of->count + of->lost);
	put_number(object, "lost", of->lost);
	put_ms(object, "min_ms", of->min_us);
	put_ms(object, "p50_ms", of->p50_us);
	put_ms(object, "p95_ms", of->p95_us);
	put_ms(object, "p99_ms", of->p99_us);
	put_ms(object, "max_ms", of->max_us);
	put_ms(object, "jitter_ms", of->jitter_us);
	return object;
}

static struct json_object *flow(const struct speedtest_flow *of)
{
	struct json_object *object;

	if (!of->present)
		return NULL;
	object = json_object_new_object();
	put_number(object, "bps", of->bps);
	put_number(object, "bytes", of->bytes);
	put(object, "retransmits", of->has_retransmits ? json_object_new_uint64(of->retransmits) : NULL);
	if (of->has_loss) {
		put_number(object, "packets", of->packets);
		put_number(object, "lost", of->lost);
		put_ms(object, "jitter_ms", of->jitter_us);
	}
	return object;
}

static struct json_object *part(const struct speedtest_part *of)
{
	struct json_object *object = json_object_new_object(), *cpu = json_object_new_object();

	put(object, "down", flow(&of->report.down));
	put(object, "up", flow(&of->report.up));
	put(object, "latency", latency(&of->loaded));
	put_number(cpu, "tunnel_permille", of->cpu_permille);
	put(cpu, "iperf_here_permille",
		of->report.has_cpu ? json_object_new_uint64(of->report.cpu_here_permille) : NULL);
	put(cpu, "iperf_there_permille",
		of->report.has_cpu ? json_object_new_uint64(of->report.cpu_there_permille) : NULL);
	put(object, "cpu", cpu);
	return object;
}

static struct json_object *round_of(const struct speedtest_round *of)
{
	struct json_object *object = json_object_new_object();

	put_text(object, "carrier", carriers[of->carrier]);
	put(object, "idle", latency(&of->idle));
	for (int phase = SPEEDTEST_PHASE_DOWN; phase <= SPEEDTEST_PHASE_BOTH; phase++)
		put(object, phases[phase], of->parts[phase].done ? part(&of->parts[phase]) : NULL);
	return object;
}

static struct json_object *summary(const struct speedtest_result *result, enum carrier carrier)
{
	const struct speedtest_summary *of = &result->summary[carrier];
	struct json_object *object;

	if (!of->measured)
		return NULL;
	object = json_object_new_object();
	put_number(object, "down_bps", of->down_bps);
	put_number(object, "up_bps", of->up_bps);
	put(object, "idle", latency(&of->idle));
	put(object, "loaded", latency(&of->loaded));
	put_number(object, "responsiveness_rpm", result->rpm[carrier]);
	return object;
}

char *speedtest_json(const struct speedtest_plan *plan, const struct speedtest_about *about,
	const struct speedtest_result *result)
{
	struct json_object *root = json_object_new_object(), *rounds = json_object_new_array();
	struct json_object *by_carrier = json_object_new_object();
	const char *text = NULL;
	char *copy = NULL;

	if (!root || !rounds || !by_carrier)
		goto out;
	put_number(root, "version", 1);
	put_text(root, "name", about->name);
	put_text(root, "address", plan->target.address);
	put_number(root, "port", plan->target.port);
	put_text(root, "backend", about->backend);
	put_number(root, "mtu", about->mtu);
	put_text(root, "inside", plan->udp ? "udp" : "tcp");
	put_number(root, "rate_bps", plan->udp ? plan->rate_bps : 0);
	put_number(root, "streams", plan->streams);
	put_number(root, "duration_s", plan->duration_s);
	for (size_t i = 0; i < result->round_count; i++)
		json_object_array_add(rounds, round_of(&result->rounds[i]));
	put(root, "rounds", json_object_get(rounds));
	put(root, "summary", summary(result, CARRIER_NONE));
	put(by_carrier, "udp", summary(result, CARRIER_UDP));
	put(by_carrier, "tcp", summary(result, CARRIER_TCP));
	put(root, "by_carrier", json_object_get(by_carrier));
	put_text(root, "better", carriers[result->better]);
	put(root, "sentence", result->sentence[0] ? json_object_new_string(result->sentence) : NULL);
	text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN);
	if (text) {
		copy = malloc(strlen(text) + 1);
		if (copy)
			strcpy(copy, text);
	}
out:
	json_object_put(by_carrier);
	json_object_put(rounds);
	json_object_put(root);
	return copy;
}
