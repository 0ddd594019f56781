/* SPDX-License-Identifier: MIT */
/* WireGuard inside the kernel: make and delete an interface, set it up, read it, and find out what this kernel can do.
 * The model is core/uapi's struct. 0 or -errno; one object belongs to one thread. Source: docs/wire.md section 3. */
#ifndef WGTCP_CORE_PORT_KERNEL_TUNNEL_H
#define WGTCP_CORE_PORT_KERNEL_TUNNEL_H

#include <stddef.h>

struct kernel_tunnel;
struct uapi_device;

/* What kernel_tunnel_probe makes and deletes again. */
#define KERNEL_PROBE_INTERFACE "wgtcp-probe"

enum kernel_support {
	KERNEL_NONE,
	KERNEL_STOCK, /* UDP only */
	KERNEL_WGTCP, /* one carrier for the whole interface, UDP or TCP */
};

enum kernel_lack {
	KERNEL_LACKS_NOTHING,
	KERNEL_LACKS_MODULE,     /* there is none on this machine */
	KERNEL_LACKS_LOADING,    /* there is one, and the kernel may not or would not load it */
	KERNEL_LACKS_PERMISSION, /* this process may not make interfaces */
	KERNEL_LACKS_AGE,        /* too old to have one */
};

struct kernel_probe {
	enum kernel_support support;
	enum kernel_lack lack; /* nothing, unless support is KERNEL_NONE */
	char why[160];         /* one sentence for a person: what was found, and the cure if something lacks */
};

/* Opens always, also where the kernel has no WireGuard: the calls below then give -EOPNOTSUPP. */
int kernel_tunnel_open(struct kernel_tunnel **out);
/* NULL is allowed. */
void kernel_tunnel_close(struct kernel_tunnel *kernel);

/* Asks an interface that it makes for that and deletes again (one left by a probe that was killed is
 * taken away first), since only what a GET returns tells a kernel that can do TCP from one that ignores the word.
 * A kernel that can do nothing is an answer, not an error. */
int kernel_tunnel_probe(struct kernel_tunnel *kernel, struct kernel_probe *out);

/* A new interface, down and without addresses. -EEXIST: the name is taken; -EOPNOTSUPP: no WireGuard; -EPERM. */
int kernel_tunnel_create(struct kernel_tunnel *kernel, const char *name);
/* Deletes it if it is a WireGuard interface; -ENODEV: there is none of that name. */
int kernel_tunnel_delete(struct kernel_tunnel *kernel, const char *name);

/* Sets what device has, in the order of its peers (a peer that is first removed and then added starts anew, with a
 * handshake at once). Large sets go in several messages: what went before one that failed stays, and is to be set again
 * with replace_peers or taken away with the interface; a set that fits in one message is all or nothing only as far as
 * the kernel makes it so. Left out, since the kernel has no such thing: the TCP listen port, extensions, and a peer's
 * transport, TCP endpoints and further ports.
 *
 * device's transport is not left out: AUTO is -EINVAL, and the interface is read first, so that TCP on a kernel without
 * it is -EOPNOTSUPP with nothing sent, and UDP there is what it does anyhow.
 * -EBUSY (WGTCP): the transport may change only while the interface is down, and in a message that replaces the peers;
 * the listen port of a TCP interface only while it is down. Nothing of that message was applied.
 * -ENODEV: no such WireGuard interface. -EOPNOTSUPP: also for removing a single allowed IP, which kernels of this age
 * can not: set the peer with replace_allowed_ips. */
int kernel_tunnel_set(struct kernel_tunnel *kernel, const char *name, const struct uapi_device *device);
/* Fills an empty out; the caller frees it with uapi_device_free. has_transport says that the kernel can do TCP; carrier is
 * NONE for a peer without a handshake. -EAGAIN: peers came and went during each of several readings. */
int kernel_tunnel_get(struct kernel_tunnel *kernel, const char *name, struct uapi_device *out);

#endif
