/* SPDX-License-Identifier: MIT */
/* The inside of the double's WireGuard interfaces. Private to the double. */
#ifndef WGTCP_TESTS_CONTRACT_DOUBLE_WIREGUARD_H
#define WGTCP_TESTS_CONTRACT_DOUBLE_WIREGUARD_H

#include "tests/contract/linux/kernel_double.h"

#include "core/uapi/uapi.h"

#include <libmnl/libmnl.h>

#define DOUBLE_DEVICES 8

struct double_device {
	char name[16];
	uint32_t index; /* 0: none here */
	bool up, wireguard, tcp;
	struct uapi_device state;
};

struct double_world {
	enum double_kind kind;
	struct double_counts *counts;
	struct double_device devices[DOUBLE_DEVICES];
	uint32_t last_index;
	int to; /* where the answer to the present request goes, and its sequence */
	uint32_t sequence;
};

struct double_device *double_find(struct double_world *world, const char *name);
void double_wipe(struct double_device *device);
/* Sends one message of the answer. */
void double_answer(const struct double_world *world, struct nlmsghdr *header);
/* 0 or -errno for the acknowledgement. */
int double_set(struct double_world *world, const struct nlmsghdr *header);
/* Sends all parts and the end; -errno before the first. */
int double_get(struct double_world *world, const struct nlmsghdr *header);

#endif
