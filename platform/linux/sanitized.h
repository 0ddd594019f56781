/* SPDX-License-Identifier: MIT */
/* A sanitizer's own run-time reads /proc, traces the process that it runs in and maps memory without end:
 * what it runs in keeps its user and is not shut in. Such builds are for tests only. */
#ifndef WGTCP_PLATFORM_LINUX_SANITIZED_H
#define WGTCP_PLATFORM_LINUX_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
