/* SPDX-License-Identifier: MIT */
/* A process in the kernel's place: it answers the bytes of generic netlink's family wireguard and of rtnetlink's links, as
 * docs/wire.md section 3 and linux/wireguard.h have it. It knows nothing of the code under test. */
#ifndef WGTCP_TESTS_CONTRACT_KERNEL_DOUBLE_H
#define WGTCP_TESTS_CONTRACT_KERNEL_DOUBLE_H

#include <sys/types.h>

enum double_kind {
	DOUBLE_STOCK,     /* 6.1: refuses unknown attributes */
	DOUBLE_OLD,       /* 5.1 and before: ignores them */
	DOUBLE_WGTCP,
	DOUBLE_NO_MODULE,
	DOUBLE_NOT_ROOT,  /* may ask, not make */
};

/* In memory that both processes see. */
struct double_counts {
	unsigned sets, set_peers;  /* SET messages; those with peers */
	unsigned parts;            /* of dumps */
	unsigned interrupt_dumps;  /* so many dumps from now on say that they were interrupted: the test sets it */
};

struct kernel_double {
	pid_t pid;
	int generic, route;             /* for kernel_tunnel_adopt */
	int other_generic, other_route; /* for questions of the test's own */
	struct double_counts *counts;
};

/* Both fail the test when they can not do their work. */
void kernel_double_start(struct kernel_double *out, enum double_kind kind);
/* After the owners of the four descriptors have closed them. */
void kernel_double_stop(struct kernel_double *kernel);

#endif
