/* SPDX-License-Identifier: MIT */
/* Fitting the sockets to the configuration, all or nothing. The front's thread. */
#include "platform/linux/front_sockets.h"

/* What is to become of one pair. */
enum fate { KEEP, CLOSE, OPEN };

static enum fate udp_fate(const struct front_sockets *sockets, const struct front_config *config, bool wanted)
{
	if (!wanted)
		return sockets_open(&sockets->udp) ? CLOSE : KEEP;
	if (!sockets_open(&sockets->udp))
		return OPEN;
	if (config->listen_port)
		return config->listen_port == sockets->udp.port ? KEEP : OPEN;
	/* "Any port" after a certain one means another one; again "any port" means no change. */
	return sockets->udp_asked ? OPEN : KEEP;
}

static enum fate listener_fate(const struct front_sockets *sockets, uint16_t port)
{
	if (!port)
		return sockets_open(&sockets->listeners) ? CLOSE : KEEP;
	return sockets_open(&sockets->listeners) && sockets->listeners.port == port ? KEEP : OPEN;
}

static void replace(struct socket_pair *pair, struct socket_pair *next)
{
	sockets_close(pair);
	*pair = *next;
	*next = SOCKET_PAIR_NONE;
}

int front_sockets_fit(struct front_sockets *sockets, const struct front_config *config,
	const struct uapi_device *request, uint32_t *changed)
{
	struct socket_pair udp = SOCKET_PAIR_NONE, listeners = SOCKET_PAIR_NONE;
	bool tcp_wanted = front_config_uses(config, request, TRANSPORT_TCP);
	enum fate udp_next = udp_fate(sockets, config, front_config_uses(config, request, TRANSPORT_UDP));
	enum fate listener_next = listener_fate(sockets, tcp_wanted ? front_config_tcp_port(config) : 0);
	int err = 0;

	if (udp_next == OPEN)
		err = sockets_open_udp(config->listen_port, config->fwmark, &udp);
	if (!err && listener_next == OPEN)
		err = sockets_open_listeners(front_config_tcp_port(config), config->fwmark, &listeners);
	/* The engine holds the same sockets, so a mark set here holds there. */
	if (!err && config->fwmark != sockets->mark)
		err = sockets_mark(&sockets->udp, config->fwmark);
	if (!err && config->fwmark != sockets->mark)
		err = sockets_mark(&sockets->listeners, config->fwmark);
	if (err) {
		sockets_close(&udp);
		sockets_close(&listeners);
		return err;
	}
	sockets->mark = config->fwmark;
	sockets->udp_asked = config->listen_port;
	*changed = 0;
	if (udp_next != KEEP) {
		replace(&sockets->udp, &udp);
		*changed |= FRONT_UDP_CHANGED;
	}
	if (listener_next != KEEP) {
		replace(&sockets->listeners, &listeners);
		*changed |= FRONT_LISTENERS_CHANGED;
	}
	return 0;
}

void front_sockets_close(struct front_sockets *sockets)
{
	sockets_close(&sockets->udp);
	sockets_close(&sockets->listeners);
}
