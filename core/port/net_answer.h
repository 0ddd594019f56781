/* SPDX-License-Identifier: MIT */
/* Answers to a tunnel's own packets. They come in where all other traffic does not go out any more, and a
 * system that checks where a sender would be reached (reverse path filter) throws them away, unless they
 * carry the mark of what they answer. 0 or -errno. */
#ifndef WGTCP_CORE_PORT_NET_ANSWER_H
#define WGTCP_CORE_PORT_NET_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

struct net_answer {
	const char *interface; /* the tunnel's own */
	uint32_t mark;         /* of its packets outside */
	bool no_socket;        /* something else than marked sockets sends them: the kernel's WireGuard */
};

/* Gives answers the mark, over UDP and TCP, IPv4 and IPv6, and lets no marked packet into the tunnel that
 * carries it. -EOPNOTSUPP, -EPERM: the system cannot. Outlives the process. */
int net_answer_add(const struct net_answer *answer);
/* Removing what is not there is done. */
int net_answer_remove(uint32_t mark);

/* Whether what net_answer_add has set is there. */
bool net_answer_is_there(uint32_t mark);

/* Hears when somebody else takes any of it away; its descriptor becomes readable. */
struct net_answer_watch;
int net_answer_watch_open(struct net_answer_watch **out);
/* NULL is allowed. */
void net_answer_watch_close(struct net_answer_watch *watch);
int net_answer_watch_handle(const struct net_answer_watch *watch);
/* Takes what waits: whether something may have gone. Adding anew counts too. */
bool net_answer_watch_take(struct net_answer_watch *watch);

/* Whether the check looks at marks now. */
int net_answer_marks_are_checked(bool *on);
/* Lets the check look at marks, or not. *was: what it was before. */
int net_answer_check_marks(bool on, bool *was);
/* Whether some interface checks strictly. */
bool net_answer_strict(void);

#endif
