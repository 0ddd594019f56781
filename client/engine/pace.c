/* SPDX-License-Identifier: MIT */
/* What the streams' own figures (TCP_INFO) tell, ten times a second while something moves and never else: how
 * many streams the path needs, BBR and large buffers where it loses or is long, a pacing ceiling where BBR
 * fills somebody's queue, how much may wait unsent, and CoDel's figures. Called by the engine's loop.
 * Sources: RFC 8289; tcp(7); measured prototypes for the figures. */
#include "client/engine/state.h"

#include <string.h>

#define SAMPLE_MS 100
#define IDLE_MS (30 * 1000) /* further streams not needed for so long are closed */
#define LOSSY_MS (10 * 1000)

#define STREAMS_UNDER_LOSS 8
#define STREAMS_UNDER_BURSTS 16

/* No ceiling below this rate, bytes a second; it is lifted after so many steps without a queue; and there is
 * none where so much is lost without one, since then round trips are long for another reason. */
#define CEILING_MIN (128u << 10)
#define CEILING_RAISES 40
#define CEILING_LOSS_PPM 60000
#define RANDOM_LOSS_PPM 30000

/* A path is known after so many segments; it loses from so many millionths on, and for so long after that. */
#define KNOWN_SEGMENTS 4000
#define RANDOM_MIN_PPM 300
#define LOSES_MS (30 * 1000)

/* From this round trip on several streams are opened before anything is known. */
#define UNKNOWN_US 20000

#define LONG_US 3000 /* round trips from which on buffers matter */
#define STALL_MIN_MS 800

/* What may wait unsent is 12 ms of it. On a clean path no less than what one pause of this process may cost.
 */
#define UNSENT_PART 80
#define UNSENT_MIN_LOSSY (16u << 10)
#define UNSENT_MIN (128u << 10)
#define UNSENT_MAX (384u << 10)

#define QUEUE_BYTES_MIN (1u << 20)
#define QUEUE_BYTES_MAX (6u << 20)
#define QUEUE_PACKET_BYTES 1024 /* for each of so many bytes one packet, at the least */
#define CODEL_TARGET_MIN_US 5000
#define CODEL_TARGET_MAX_US 50000
#define CODEL_INTERVAL_MIN_US 100000
#define CODEL_INTERVAL_MAX_US 1000000

/* What all streams of a link have shown since the last look. */
struct look {
	uint32_t rtt_us; /* the shortest */
	uint64_t rate;   /* bytes a second */
	uint32_t timeouts;
	uint64_t sent, lost, received, disordered, calm_sent, calm_lost, out_bytes, in_bytes;
};

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
	return value < least ? least : value > most ? most : value;
}

static void tune(struct link *link, struct stream *stream, uint32_t what)
{
	struct seam_message message = { .kind = SEAM_TUNE };

	what &= ~stream->pace.tuned;
	if (!what)
		return;
	stream->pace.tuned |= what;
	message.value = tcp_tune(stream->tcp, what);
	if (message.value)
		seam_send_tcp(link->engine->ports.seam, &message, stream->tcp);
}

bool pace_lossy(const struct link *link)
{
	return mono_is_set(link->pace.lossy_until) &&
	       !mono_reached(link->engine->now, link->pace.lossy_until);
}

bool pace_loses(const struct link *link)
{
	return mono_is_set(link->pace.loses_until) &&
	       !mono_reached(link->engine->now, link->pace.loses_until);
}

static void set_unsent(struct stream *stream)
{
	struct stream_pace *pace = &stream->pace;
	uint32_t bytes = (uint32_t)clamp(pace->rate / UNSENT_PART,
		pace_lossy(stream->link) ? UNSENT_MIN_LOSSY : UNSENT_MIN, UNSENT_MAX);

	if (pace->unsent && bytes < pace->unsent + pace->unsent / 4 && bytes + bytes / 4 > pace->unsent)
		return;
	pace->unsent = bytes;
	tcp_set_unsent(stream->tcp, bytes);
}

/* BBR keeps more under way than the path holds; where that stands in a queue, everybody's packets wait there.
 */
static void set_ceiling(struct stream *stream, bool standing, bool innocent)
{
	struct stream_pace *pace = &stream->pace;

	pace->above = standing ? pace->above + 1 : 0;
	if (innocent) {
		if (pace->ceiling)
			tcp_set_pacing(stream->tcp, 0);
		pace->ceiling = 0;
	} else if (pace->above >= 3 && pace->rate >= CEILING_MIN) {
		pace->above = 0;
		pace->raised = 0;
		pace->ceiling = pace->rate - pace->rate / 12;
		tcp_set_pacing(stream->tcp, pace->ceiling);
	} else if (pace->ceiling && !standing) {
		pace->ceiling += pace->ceiling / 32;
		if (++pace->raised > CEILING_RAISES)
			pace->ceiling = 0;
		tcp_set_pacing(stream->tcp, pace->ceiling);
	}
}

static void look_at(struct stream *stream, struct look *look, uint64_t passed_ms, bool innocent)
{
	struct stream_pace *pace = &stream->pace;
	struct mono now = stream->engine->now;
	struct tcp_metrics metrics;
	uint64_t rate;

	if (tcp_metrics(stream->tcp, &metrics))
		return;
	uint32_t slack = metrics.min_rtt_us / 6 > 8000 ? metrics.min_rtt_us / 6 : 8000;
	bool standing = metrics.min_rtt_us && metrics.rtt_us > metrics.min_rtt_us + slack;
	uint64_t sent = metrics.sent_segments - pace->sent, lost = metrics.retransmits - pace->lost;

	look->sent += sent;
	look->lost += lost;
	if (!standing) {
		look->calm_sent += sent;
		look->calm_lost += lost;
	}
	look->received += metrics.received_segments - pace->received;
	look->disordered += metrics.disordered - pace->disordered;
	look->timeouts += metrics.timed_out;
	if (metrics.min_rtt_us && metrics.min_rtt_us < look->rtt_us)
		look->rtt_us = metrics.min_rtt_us;
	look->out_bytes += metrics.acked_bytes - pace->acked;
	look->in_bytes += metrics.received_bytes - pace->received_bytes;
	/* In segments, since a gap that is filled acknowledges a whole window of bytes at once. */
	rate = passed_ms ? (uint32_t)(metrics.delivered - pace->delivered) * (uint64_t)metrics.segment_bytes *
				   1000 / passed_ms
			 : 0;
	/* The kernel's own figure is no use: it is what we gave, as soon as the stream runs dry now and then.
	 */
	pace->rate = rate > pace->rate ? (rate + pace->rate) / 2 : pace->rate - (pace->rate - rate) / 8;
	look->rate += pace->rate;
	/* What this machine itself does not let out counts as unsent. */
	pace->waits = metrics.unacked || metrics.unsent;
	if (!pace->waits || metrics.delivered != pace->delivered)
		pace->moved = now;
	pace->sent = metrics.sent_segments;
	pace->lost = metrics.retransmits;
	pace->received = metrics.received_segments;
	pace->disordered = metrics.disordered;
	pace->acked = metrics.acked_bytes;
	pace->delivered = metrics.delivered;
	pace->received_bytes = metrics.received_bytes;
	pace->rtt_us = metrics.rtt_us;
	if (!stream->joined)
		return;
	set_unsent(stream);
	if (pace->tuned & TCP_TUNE_BBR)
		set_ceiling(stream, standing, innocent);
}

/* The last seconds count most: each sample takes an eighth off what was before. */
static void remember(struct pace *pace, const struct look *look)
{
	if (look->sent + look->received < 10)
		return;
	pace->sent += look->sent - pace->sent / 8;
	pace->lost += look->lost * 1024 - pace->lost / 8;
	pace->received += look->received - pace->received / 8;
	pace->disordered += look->disordered * 1024 - pace->disordered / 8;
	pace->out_bytes += look->out_bytes - pace->out_bytes / 8;
	pace->in_bytes += look->in_bytes - pace->in_bytes / 8;
	pace->calm_sent += look->calm_sent - pace->calm_sent / 8;
	pace->calm_lost += look->calm_lost * 1024 - pace->calm_lost / 8;
	pace->random_ppm =
		pace->calm_sent ? (uint32_t)(pace->calm_lost * 1000000 / 1024 / pace->calm_sent) : 0;
}

static void judge(struct link *link, const struct look *look, uint64_t passed_ms)
{
	struct pace *pace = &link->pace;
	struct mono now = link->engine->now;
	uint32_t wanted = 1;
	/* In millionths. */
	uint64_t loss = pace->sent ? pace->lost * 1000000 / 1024 / pace->sent : 0;
	uint64_t disorder = pace->received ? pace->disordered * 1000000 / 1024 / pace->received : 0;
	/* Segments lost in one round trip, in thousandths: with half of one a stream stands still every other
	 * time. */
	uint64_t stalls = passed_ms && look->rtt_us != UINT32_MAX
				  ? look->sent * (look->rtt_us / 1000 + 1) * loss / passed_ms / 1000
				  : 0;

	if (pace->lost >= 2 * 1024 || pace->disordered >= 8 * 1024)
		if (loss >= 500 || disorder >= 20000) {
			pace->lossy_until = mono_add_ms(now, LOSSY_MS);
			wanted = 2;
		}
	if (stalls >= 500 || (disorder >= 250000 && pace->disordered >= 16 * 1024))
		wanted = STREAMS_UNDER_LOSS;
	/* A long path of which nothing is known yet: a flow that begins on a stream of its own is not stopped
	 * by the first loss of another, and a stream that was opened for it later would be slower than the
	 * flow by then. */
	if (!pace->known && look->rtt_us != UINT32_MAX && look->rtt_us >= UNKNOWN_US)
		wanted = STREAMS_UNDER_LOSS;
	if (wanted > 2 && (look->timeouts >= 2 || pace->random_ppm > RANDOM_LOSS_PPM))
		wanted = STREAMS_UNDER_BURSTS;
	if (wanted > 1)
		pace->needed = now;
	if (wanted > link->parallel.wanted)
		link->parallel.wanted = wanted;
}

static void set_queue(struct link *link, const struct look *look)
{
	uint64_t rtt_us = look->rtt_us, path = look->rate * rtt_us / 1000000;
	size_t bytes = (size_t)clamp(2 * path, QUEUE_BYTES_MIN, QUEUE_BYTES_MAX);

	if (look->rtt_us == UINT32_MAX)
		return;
	queue_set_codel(link->queue, (uint32_t)clamp(rtt_us / 8, CODEL_TARGET_MIN_US, CODEL_TARGET_MAX_US),
		(uint32_t)clamp(2 * rtt_us, CODEL_INTERVAL_MIN_US, CODEL_INTERVAL_MAX_US));
	queue_set_limits(link->queue, bytes, bytes / QUEUE_PACKET_BYTES);
}

static void look_for_stalls(struct link *link)
{
	struct mono now = link->engine->now;

	for (struct stream *stream = link->engine->known.head; stream; stream = stream->next) {
		uint64_t limit_ms = clamp(4 * (uint64_t)stream->pace.rtt_us / 1000, STALL_MIN_MS, UINT32_MAX);

		if (stream->link == link && (stream->joined || stream->stalled))
			parallel_set_stalled(link, stream,
				stream->pace.waits && mono_since_ms(now, stream->pace.moved) >= limit_ms);
	}
}

static bool waits(const struct link *link)
{
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (link->parallel.lanes[i] && link->parallel.lanes[i]->pace.waits)
			return true;
	return queue_packets(link->queue) > 0;
}

static void sample(struct link *link)
{
	struct engine *engine = link->engine;
	struct pace *pace = &link->pace;
	struct look look = { .rtt_us = UINT32_MAX };
	uint64_t passed_ms = mono_is_set(pace->sampled) ? mono_since_ms(engine->now, pace->sampled) : 0;
	/* Round trips are long because of what the other side sends, or because what is lost comes late. */
	bool innocent = pace->out_bytes * 2 < pace->in_bytes || pace->random_ppm > CEILING_LOSS_PPM;
	uint32_t what = 0;

	for (struct stream *stream = engine->known.head; stream; stream = stream->next)
		if (stream->link == link)
			look_at(stream, &look, passed_ms, innocent);
	remember(pace, &look);
	if (look.rtt_us != UINT32_MAX)
		pace->rtt_us = look.rtt_us;
	pace->segments += look.sent + look.received;
	pace->known |= pace->segments >= KNOWN_SEGMENTS;
	if (pace->calm_lost >= 2 * 1024 && pace->random_ppm >= RANDOM_MIN_PPM)
		pace->loses_until = mono_add_ms(engine->now, LOSES_MS);
	judge(link, &look, passed_ms);
	pace->sampled = engine->now;
	set_queue(link, &look);
	if (pace_lossy(link))
		what |= TCP_TUNE_BBR | TCP_TUNE_BUFFERS;
	if (look.rtt_us != UINT32_MAX && look.rtt_us >= LONG_US)
		what |= TCP_TUNE_BUFFERS;
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (link->parallel.lanes[i])
			tune(link, link->parallel.lanes[i], what);
	look_for_stalls(link);
	queue_balance(link->queue, engine->now);
	parallel_fill(link);
	bursts_look(link);
}

void pace_note(struct link *link)
{
	struct pace *pace = &link->pace;

	if (pace->running) {
		pace->moved = true;
		return;
	}
	pace->running = true;
	pace->due = mono_add_ms(link->engine->now, SAMPLE_MS);
}

struct mono pace_deadline(const struct link *link)
{
	return mono_is_set(link->pace.due) ? link->pace.due : MONO_NEVER;
}

void pace_tick(struct link *link)
{
	struct pace *pace = &link->pace;
	struct mono now = link->engine->now, idle = mono_add_ms(pace->needed, IDLE_MS);

	if (pace->running)
		sample(link);
	/* With nothing new, once for each burst: an idle tunnel wakes nobody. But what stands still must be seen. */
	pace->running = pace->moved || (pace->running && link->parallel.count > 1 && waits(link));
	pace->moved = false;
	pace->due = pace->running ? mono_add_ms(now, SAMPLE_MS) : MONO_UNSET;
	if (link->parallel.count < 2)
		return;
	if (mono_reached(now, idle))
		parallel_shrink(link);
	else if (!pace->running)
		pace->due = idle;
}
