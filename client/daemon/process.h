/* SPDX-License-Identifier: MIT */
/* A process named so that its number cannot be mistaken for a later one's: number, start time, boot. */
#ifndef WGTCP_CLIENT_DAEMON_PROCESS_H
#define WGTCP_CLIENT_DAEMON_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BOOT_ID_LEN 40

/* Clock ticks between boot and the start of the process; 0 when there is no such process. */
uint64_t process_start_time(pid_t pid);
/* Field 22 of the text of /proc/PID/stat; 0 when the text is not one. Its second field may hold blanks and
 * brackets. */
uint64_t process_stat_start_time(const char *text);
/* Milliseconds of processor time that it has used; 0 when there is no such process. */
uint64_t process_cpu_ms(pid_t pid);
/* The random name of this boot; "" when it is not known. */
void process_boot_id(char out[BOOT_ID_LEN]);
/* Ends a process that may not be our child: asks, waits up to wait_ms, then kills and waits as long again.
 * Does nothing if the number belongs to another process by now. True when it is gone. */
bool process_end(pid_t pid, uint64_t start_time, int wait_ms);

#endif
