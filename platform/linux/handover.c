/* SPDX-License-Identifier: MIT */
/* core/port/handover.h by memfd_create. Sealed in its size, so that nobody who reads it can be cut
 * short; not against writing, since who takes it out wipes it. Source: memfd_create(2), fcntl(2). */
#include "core/port/handover.h"
#include "core/base/wipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

static int write_all(int handle, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = pwrite(handle, text + at, len - at, (off_t)at);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			at += (size_t)n;
	}
	return 0;
}

int handover_make(const char *text, size_t len)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int handle, error;

	if (len == 0 || len > HANDOVER_MAX || memchr(text, 0, len))
		return -EINVAL;
	handle = memfd_create("wgtcp", flags | MFD_NOEXEC_SEAL);
	if (handle < 0 && errno == EINVAL) /* before Linux 6.3 */
		handle = memfd_create("wgtcp", flags);
	if (handle < 0)
		return -errno;
	error = write_all(handle, text, len);
	if (!error && fcntl(handle, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		error = -errno;
	if (error) {
		close(handle);
		return error;
	}
	return handle;
}

static int read_all(int handle, char *out, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = pread(handle, out + at, len - at, (off_t)at);

		if (n == 0 || (n < 0 && errno != EINTR))
			return -EPROTO;
		if (n > 0)
			at += (size_t)n;
	}
	return memchr(out, 0, len) ? -EPROTO : 0;
}

static void wipe(int handle, size_t len)
{
	static const char zeros[4096];

	for (size_t at = 0; at < len; at += sizeof(zeros))
		(void)!pwrite(handle, zeros, len - at < sizeof(zeros) ? len - at : sizeof(zeros), (off_t)at);
}

int handover_take(int handle, size_t len, char **text)
{
	struct stat info;
	/* What can be sealed is no pipe and no device: reading it does not wait. */
	bool ours = len > 0 && len <= HANDOVER_MAX && fcntl(handle, F_GET_SEALS) >= 0 &&
		    fstat(handle, &info) == 0 && info.st_size == (off_t)len;
	char *room = ours ? calloc(1, len + 1) : NULL;
	int error = ours ? -ENOMEM : -EPROTO;

	if (room)
		error = read_all(handle, room, len);
	if (ours)
		wipe(handle, len);
	handover_close(handle);
	if (error) {
		if (room)
			memory_wipe(room, len);
		free(room);
		return error;
	}
	*text = room;
	return 0;
}

void handover_close(int handle)
{
	if (handle >= 0)
		close(handle);
}
