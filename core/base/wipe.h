/* SPDX-License-Identifier: MIT */
/* Clears memory that held a secret, for the parts that must not include the crypto library. */
#ifndef WGTCP_CORE_BASE_WIPE_H
#define WGTCP_CORE_BASE_WIPE_H

#include <stddef.h>
#include <string.h>

static inline void memory_wipe(void *memory, size_t len)
{
	if (!len)
		return;
	memset(memory, 0, len);
	/* The compiler must believe that somebody reads the zeros, or it drops the memset. */
	__asm__ volatile("" : : "r"(memory) : "memory");
}

#endif
