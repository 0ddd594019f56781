/* SPDX-License-Identifier: MIT */
/* One UAPI stream, as the engine sees it: a stream socket whose other end is the front. The engine's thread.
 */
#include "core/port/control.h"

#include "platform/linux/handles.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct control {
	int fd;
};

int control_adopt(int handle, struct control **out)
{
	struct control *control = NULL;
	int err = descriptor_prepare(handle);

	if (err)
		goto fail;
	err = -ENOMEM;
	control = calloc(1, sizeof(*control));
	if (!control)
		goto fail;
	control->fd = handle;
	*out = control;
	return 0;
fail:
	close(handle);
	return err;
}

void control_close(struct control *control)
{
	if (!control)
		return;
	close(control->fd);
	free(control);
}

long control_receive(struct control *control, char *out, size_t size)
{
	for (;;) {
		ssize_t n = recv(control->fd, out, size, 0);

		if (n >= 0)
			return n;
		if (errno != EINTR)
			return -errno;
	}
}

long control_send(struct control *control, const char *bytes, size_t len)
{
	for (;;) {
		ssize_t n = send(control->fd, bytes, len, MSG_NOSIGNAL);

		if (n >= 0)
			return n;
		if (errno != EINTR)
			return -errno;
	}
}

int control_descriptor(const struct control *control)
{
	return control->fd;
}
