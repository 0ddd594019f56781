/* SPDX-License-Identifier: MIT */
/* What the engine holds. Internal to client/engine. */
#ifndef WGTCP_CLIENT_ENGINE_STATE_H
#define WGTCP_CLIENT_ENGINE_STATE_H

#include "client/engine/engine.h"
#include "core/base/packet.h"
#include "core/carrier/fallback.h"
#include "core/carrier/queue.h"
#include "core/carrier/record.h"
#include "core/carrier/record_queue.h"
#include "core/port/clock.h"
#include "core/port/control.h"
#include "core/port/loop.h"
#include "core/port/seam.h"
#include "core/port/tcp.h"
#include "core/port/tun.h"
#include "core/port/udp.h"
#include "core/tunnel/limit.h"
#include "core/tunnel/sources.h"
#include "core/tunnel/tunnel.h"
#include "core/uapi/uapi.h"

/* Packets that one step moves at most: as much as stays in the cache. */
#define ENGINE_BATCH 128

/* Packets that go to the TUN in one step: several bursts, since what is left of one at the end of a step is a write of
 * its own. */
#define TO_TUN_MAX (2 * ENGINE_BATCH)

/* Connections that have not shown who they are (docs/architecture.md, What bounds what). */
#define UNKNOWN_STREAMS_MAX 1024
#define UNKNOWN_SOURCE_MAX 16      /* of one source that are read; the others are held */
#define UNKNOWN_STREAM_MS 10000    /* in all */
#define UNKNOWN_SILENT_MS 6000     /* for the first record: a WGTCP kernel may stay silent for 5.4 s */
#define UNKNOWN_PRESSED_MS 3000    /* the same while more than half of the places are taken */
#define UNKNOWN_RECORDS_MAX 64     /* that may be authentic and are not */
#define RETIRE_MS 2000             /* an older connection is read for this long after a newer one took its place */

/* A follower that has an endpoint itself, and hears nothing from the leader for this long, leads. */
#define LEADER_SILENT_MS 10000

/* Inner packets wait no longer than this for a session. */
#define WAIT_FOR_SESSION_MS 5000
/* A peer whose connection has taken nothing for STUCK_MS does not read: of what waits for it only the youngest is kept,
 * STUCK_WAIT_MS of it and so many packets at most, some 256 KiB. */
#define STUCK_MS 2000
#define STUCK_WAIT_MS 500
#define STUCK_PACKETS 128

enum token_kind { TOKEN_DEAD, TOKEN_TUN, TOKEN_UDP, TOKEN_LISTENER, TOKEN_SEAM, TOKEN_CONTROL, TOKEN_STREAM };

/* First member of everything the loop can report. */
struct token {
	enum token_kind kind;
};

struct udp_socket {
	struct token token;
	struct udp *udp;
	bool wants_write; /* a send met a full socket */
};

struct listener_socket {
	struct token token;
	struct tcp_listener *listener;
	bool paused; /* at the limit: what comes stays in the backlog */
};

struct control_stream {
	struct token token;
	struct control *control;
	char *in; /* owned; wiped, it holds keys */
	size_t in_len, in_room;
	struct uapi_text out;
	size_t out_sent;
	struct control_stream *next;
};

/* The streams of one path at most. */
#define STREAMS_MAX QUEUE_LANES_MAX

struct link;

/* A stream's own figures, as they were when last looked at. */
struct stream_pace {
	uint64_t sent, lost, received, disordered, acked, received_bytes, delivered;
	uint64_t rate;     /* bytes a second that were acknowledged lately */
	uint64_t ceiling;  /* bytes a second; 0: none */
	struct mono moved; /* something was acknowledged, or nothing waited for it */
	uint32_t unsent;   /* bytes; 0: as the port has it */
	uint32_t tuned;    /* enum tcp_tune */
	uint32_t above, raised;
	uint32_t rtt_us;
	bool waits; /* for an acknowledgement */
};

struct stream {
	struct token token;
	struct engine *engine;
	struct tcp *tcp;
	struct link *link;     /* NULL while unknown */
	bool dialled;          /* by us; else accepted */
	bool authentic;        /* something authentic has come in on it */
	bool ended;            /* by the peer, or so it seems */
	bool muted;            /* said something wrong: held, not read, until its time is over */
	struct source *source; /* of a stranger that has connected to us; NULL otherwise */
	bool held;             /* over its source's share: not read yet */
	bool welcome;          /* its source has been authentic before */
	uint32_t wasted;       /* records of a stranger that could have been authentic */
	bool watching_write;
	bool further;          /* dialled to join a path, not to make one */
	bool joined;           /* a lane of its link's queue */
	bool stalled;          /* was one, and stands still */
	bool spoken;           /* something has been sent on it */
	bool asked;            /* a hello has gone out on it, and so offers bursts (bursts.c) */
	bool bursts;           /* one has come in that does */
	uint32_t lane;
	struct stream_pace pace;
	bool stamping;         /* the last stamp sent was not 0 */
	struct mono stamped;
	uint64_t stamp;        /* the last one that came in; 0: none */
	struct packet_list held_packets; /* inner ones, each to be let out at its queued */
	struct packet_list copies; /* of small packets that go out on another lane, too */
	struct record_stream in;
	struct record_queue out; /* sealed */
	struct mono full_since;  /* its socket has taken nothing since; unset: it takes */
	struct mono born, last_in;
	struct mono retire;    /* when to close it; unset: it stays */
	struct stream *next, *previous; /* the engine's list of unknown, or of known streams */
};

/* Echoes under way, for round-trip times and to know our own ICMP replies. */
struct echo_sent {
	uint64_t id;
	struct mono sent;
	bool full;
};
#define ECHOES_KEPT 16

/* Which way full-size packets pass by UDP, while they do not pass both ways; large.c. */
struct large {
	uint64_t base;      /* large.c */
	uint8_t unanswered; /* full-size echoes since the last that was answered */
	bool asked, there, back;
};

/* parallel.c */
struct parallel {
	struct stream *lanes[STREAMS_MAX]; /* by the queue's lane */
	uint32_t count;
	uint32_t spare;               /* while there is no stream: the queue's lane that is open */
	uint32_t wanted;
	uint64_t dials[STREAMS_MAX];  /* attempts under way; 0: none */
	struct stream *joining[STREAMS_MAX]; /* what came of them, while it lives */
	struct mono retry;
	uint32_t failures;
};

/* pace.c */
struct pace {
	struct mono due, sampled, needed, lossy_until;
	bool running, moved;
	uint64_t sent, lost, received, disordered; /* segments; lost and disordered in 1024ths */
	uint64_t calm_sent, calm_lost;             /* of streams whose packets did not stand in a queue */
	uint32_t random_ppm;                       /* loss among these */
	uint64_t out_bytes, in_bytes;
	uint32_t rtt_us;           /* the shortest that any stream has seen; 0: unknown */
	uint64_t segments;         /* seen since the link is there, both ways; saturates */
	bool known;                /* enough to tell a clean path */
	struct mono loses_until;
};

/* One peer as the engine sees it: its queue, its ways, and which of them is used. */
struct link {
	struct engine *engine;
	struct peer *peer;
	struct link *next;
	struct queue *queue;
	struct packet_list unsent; /* sealed for UDP while its socket was full */
	struct mono waiting_since; /* first packet that met no session */

	/* configured */
	struct endpoint endpoint;  /* unset: none */
	size_t tcp_endpoint_count; /* kept only to be told again; the front connects */
	struct endpoint tcp_endpoints[UAPI_ENDPOINTS_MAX];
	size_t udp_port_count;
	uint16_t udp_ports[UAPI_PORTS_MAX];
	bool has_transport;
	enum transport transport; /* the peer's own, else the interface's */

	/* UDP */
	struct udp_path udp; /* where to send now; remote unset: unknown */
	/* TCP */
	struct stream *stream; /* where TCP sends now, handshakes and echoes at the least; NULL: none */
	struct parallel parallel;
	struct pace pace;
	struct hold *hold; /* owned; NULL until a stamp came in */
	uint64_t attempt;      /* of the dial under way; 0: none */

	/* who chooses the path (docs/wire.md 2) */
	bool leads;
	bool peer_leads;           /* its hello said so and its key is the smaller one */
	struct mono unanswered;    /* while the peer leads: since when we send and nothing comes */
	bool stream_stands;        /* the machine asked to dial, and an accepted connection already stands */
	struct fallback *fallback; /* exists while we lead */
	enum carrier carrier;      /* follower: where the newest authentic packet came from */
	enum fallback_memory memory;

	/* extension */
	bool hello_due;            /* our one hello of this session is yet to go */
	bool hello_shown;          /* the peer has shown its own at some time */
	uint32_t capabilities;
	uint32_t peer_streams, peer_inner_max;
	struct mono too_big; /* when a sender was last told that its packet is */
	struct ip_address probe_source, probe_target;
	bool probe_named;
	struct echo_sent echoes[ECHOES_KEPT];
	size_t echo_next;
	struct large large;
	uint32_t rtt_us;

	/* noticed in this turn, told to the fallback machine at its end */
	bool touched;
	bool got_udp, got_tcp, sent_udp, sent_tcp, udp_failed, tcp_closed;
	bool data_tcp; /* inner packets came in by TCP */
	bool blocked; /* waits for room in its carrier */
	bool whole;   /* takes bursts whole (bursts.c) */
	struct link *next_touched;
};

struct engine {
	struct engine_ports ports;
	struct mono now;
	struct wall wall;
	bool stopping;

	struct token tun_token, seam_token;
	struct tun *tun;
	struct udp_socket udp[2];           /* IPv4, IPv6 */
	struct listener_socket listeners[2];
	struct control_stream *controls;

	struct tunnel *tunnel;
	struct packet_pool *pool;
	uint32_t mtu;
	bool link_up;
	bool network; /* there is a route to the outside */

	/* interface settings */
	uint16_t listen_port, tcp_listen_port;
	uint32_t fwmark;
	enum transport transport;
	bool extensions;

	struct link *links;
	struct link *touched;
	struct stream_list {
		struct stream *head, *tail; /* oldest first */
		size_t count;
	} unknown, known;
	/* those who connect (admission.c) */
	size_t unknown_max, held_count;
	struct sources *sources;
	struct limit *arrivals;
	struct mono admission_at; /* nobody's time is over before */
	struct stream *dead_streams; /* freed at the end of the turn: the loop may still name them */
	struct control_stream *dead_controls;

	uint64_t attempts;      /* numbers dials */
	uint16_t icmp_id;       /* of our echoes */
	struct wall mark_told;  /* TAI64N mark the front knows */
	uint64_t ecn_dropped;

	/* a turn's scratch */
	struct packet *to_tun[TO_TUN_MAX];
	size_t to_tun_count;
	size_t held_packets; /* of all streams (hold.c) */
	size_t whole_links;
	uint8_t *stream_bytes; /* STREAM_READ_LEN */
};

#define STREAM_READ_LEN (128u << 10)

/* ---- outbound.c ---- */
void outbound_read_tun(struct engine *engine);
/* Sends what waits in the link's queue, as far as session and carrier allow. */
void outbound_flush(struct link *link);
/* Sends one sealed message past the queue; takes the packet. */
void outbound_message(struct link *link, enum carrier carrier, struct packet *packet);
void outbound_udp_writable(struct engine *engine, struct udp_socket *socket);
void outbound_drop_queue(struct link *link);

/* ---- inbound.c ---- */
/* error: the loop has seen that one waits. */
void inbound_udp(struct engine *engine, struct udp_socket *socket, bool error);
/* One message that came in as a record; false: the stream was closed or muted by it. */
bool inbound_record(struct stream *stream, uint8_t *message, size_t len);
void inbound_write_tun(struct engine *engine);
/* One more inner packet for it; takes it. */
void inbound_to_tun(struct engine *engine, struct packet *plain);

/* ---- link.c ---- */
struct link *link_new(struct engine *engine, struct peer *peer);
void link_free(struct link *link);
/* After a change of endpoints, transport or leadership. */
void link_settings_changed(struct link *link);
enum transport link_transport(const struct link *link);
/* Where data goes now. */
enum carrier link_carrier(const struct link *link);
void link_event(struct link *link, const struct fallback_event *event);
void link_simple_event(struct link *link, enum fallback_event_kind kind, enum carrier carrier);
void link_touch(struct link *link);
/* Tells the machines what this turn has shown, and flushes. */
void links_settle(struct engine *engine);
/* There is something to do, so its machine may not be down. */
void link_wake(struct link *link);
void link_want_session(struct link *link);
/* WireGuard's own timers ask for an initiation: it goes where the machine, or the path, has it. */
void link_renew_session(struct link *link);
/* The leader is silent, or can not reach us: whoever has an endpoint may try. */
void link_take_lead(struct link *link);
void link_initiate(struct link *link, enum carrier carrier);
void link_keepalive(struct link *link, enum carrier carrier);
void link_session_made(struct link *link, enum carrier carrier);
void link_received(struct link *link, enum carrier carrier, const struct received *received,
	const struct udp_path *path, struct stream *stream);
/* The stream the link used is gone. */
void link_stream_gone(struct link *link, struct stream *stream);

/* ---- stream.c ---- */
struct stream *stream_new(struct engine *engine, struct tcp *tcp, bool dialled);
void stream_close(struct engine *engine, struct stream *stream);
void stream_bind(struct engine *engine, struct stream *stream, struct link *link);
/* The link sends on this stream from now on; older ones are read for a while and then closed. */
void stream_promote(struct engine *engine, struct stream *stream);
void stream_mute(struct engine *engine, struct stream *stream);
void stream_ready(struct engine *engine, struct stream *stream, uint32_t what);
/* What the loop reports of it, after a change of muted or held. */
void stream_watch(struct engine *engine, struct stream *stream);
/* Adds a sealed message and sends what the socket takes. Takes the packet. */
void stream_send(struct engine *engine, struct stream *stream, struct packet *packet);
/* False while something is left over from before. */
bool stream_has_room(const struct stream *stream);
void stream_write(struct engine *engine, struct stream *stream);
void stream_queue(struct stream *stream, struct packet *packet);
void streams_tick(struct engine *engine);
struct mono streams_deadline(const struct engine *engine);
void streams_free_dead(struct engine *engine);

/* ---- admission.c ---- */
bool admission_init(struct engine *engine); /* false when memory is short */
void admission_wipe(struct engine *engine);
void admission_accept(struct engine *engine, struct listener_socket *socket);
/* It is closed, or has shown that it is a peer's. */
void admission_leave(struct engine *engine, struct stream *stream, bool authentic);
void admission_tick(struct engine *engine);
struct mono admission_deadline(const struct engine *engine);

/* ---- bursts.c ---- */
/* Room for them in a new pool; without it they are cut, and those of a peer dropped. */
void bursts_add_room(struct packet_pool *pool);
/* The capability to show in a hello that goes out on this stream (NULL: elsewhere). */
uint32_t bursts_offer(const struct engine *engine, struct stream *stream);
/* A hello came in on it. */
void bursts_take_hello(struct stream *stream, uint32_t capabilities);
/* Ten times a second while something moves: says hello on streams that have not had one, and decides. */
void bursts_look(struct link *link);
/* No longer whole, until the next look. */
void bursts_stop(struct link *link);
/* Puts the packets of a burst where it was: at the front of the queue. Takes it. */
void bursts_cut(struct link *link, struct packet *burst);
/* Whether this may come in on this stream. */
bool bursts_may_come(const struct stream *stream);

/* ---- parallel.c ---- */
/* How many streams both sides take; 1 where the peer has not shown the capability. */
uint32_t parallel_agreed(const struct link *link);
/* The stream is a lane from now on; false: there is no room. */
bool parallel_join(struct link *link, struct stream *stream);
void parallel_leave(struct link *link, struct stream *stream);
/* The first authentic record has come in on a stream; true: it has joined, and moves no path. */
bool parallel_first_record(struct link *link, struct stream *stream, const struct received *received);
/* Dials what is wanted and not there. */
void parallel_fill(struct link *link);
void parallel_cancel(struct link *link);
/* False: not one of ours. Takes tcp when true. */
bool parallel_connected(struct link *link, uint64_t attempt, struct tcp *tcp);
bool parallel_dial_failed(struct link *link, uint64_t attempt);
/* The stream is closed. */
void parallel_gone(struct link *link, struct stream *stream);
/* Down to one. */
void parallel_shrink(struct link *link);
void parallel_set_stalled(struct link *link, struct stream *stream, bool stalled);

/* ---- pace.c ---- */
/* Inner packets have moved by TCP in this turn, or will soon. */
void pace_note(struct link *link);
/* When to call pace_tick; MONO_NEVER: nothing moves. */
struct mono pace_deadline(const struct link *link);
void pace_tick(struct link *link);
/* Loss was seen a short time ago. */
bool pace_lossy(const struct link *link);
/* And it was not the loss of a full queue. */
bool pace_loses(const struct link *link);

/* ---- hold.c ---- */
/* Tells the other side when what follows on this stream was sealed, where that is of use. */
void hold_seal_stamp(struct link *link, struct stream *stream);
void hold_take_stamp(struct link *link, struct stream *stream, uint64_t clock_ns);
/* An inner packet that came in on the stream; true: it is taken, and comes out later. */
bool hold_take(struct stream *stream, struct packet *plain);
/* Lets out what is due; all of a stream. */
void hold_release(struct engine *engine);
void hold_flush(struct engine *engine, struct stream *stream);
struct mono hold_deadline(const struct engine *engine);

/* ---- echo.c ---- */
void echo_send(struct link *link, const struct fallback_echo *echo);
void echo_send_hello(struct link *link, enum carrier carrier);
/* One more, on this very stream. */
void echo_say_hello(struct link *link, struct stream *stream);
void echo_extension(struct link *link, enum carrier carrier, struct stream *stream, const struct extension *extension);
/* Whether an inner packet is the answer to one of our ICMP echoes (it is then reported and not for the TUN). */
bool echo_is_reply(struct link *link, enum carrier carrier, const struct packet *plain);
/* ---- large.c ---- */
/* A full-size echo is being sent; extension: the peer has shown ours. */
void large_asked(struct link *link, const struct fallback_echo *echo, bool extension);
/* Whether the echo of this id was one of large_asked's own. */
bool large_answered(struct link *link, enum carrier carrier, uint64_t id);
/* One that was large both ways was answered. */
void large_passed(struct link *link, enum carrier carrier);
/* Whether an inner packet is the error to large_asked's datagram, and not for the TUN. */
bool large_is_error(struct link *link, enum carrier carrier, const struct packet *plain);
/* "there" or "back": the only way on which full-size packets pass; "": unknown, or both. */
const char *large_name(const struct link *link);

/* ---- echo.c ---- */
/* Tells the machine whether echoes can be sent. */
void echo_tell_target(struct link *link);

/* ---- configure.c ---- */
void control_add(struct engine *engine, int handle);
void control_ready(struct engine *engine, struct control_stream *control, uint32_t what);
void control_drop(struct engine *engine, struct control_stream *control);
void controls_free_dead(struct engine *engine);

/* ---- front_messages.c ---- */
void seam_ready(struct engine *engine);
void seam_tell(struct engine *engine, enum seam_kind kind, const struct link *link, uint32_t value);
void seam_dial(struct link *link);
void seam_cancel_dial(struct link *link);

#endif
