/* SPDX-License-Identifier: MIT */
/* cmocka.h with the headers that it wants before it. */
#ifndef WGTCP_TESTS_CONTRACT_CMOCKA_ALL_H
#define WGTCP_TESTS_CONTRACT_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
