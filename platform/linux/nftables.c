/* SPDX-License-Identifier: MIT */
/* One transaction of nftables. Any thread. Source: libnftables(3). */
#include "platform/linux/nftables.h"

#include <errno.h>
#include <linux/netlink.h>
#include <nftables/libnftables.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The library tells its errors as text only; the part that counts is the kernel's own. */
static int error_of(const char *text)
{
	static const struct {
		const char *text;
		int error;
	} known[] = {
		{ "Operation not permitted", -EPERM },
		{ "Permission denied", -EPERM },
		{ "not supported", -EOPNOTSUPP },
		{ "No such file or directory", -EOPNOTSUPP }, /* an expression without its module */
		{ "Could not process rule: Invalid argument", -EOPNOTSUPP },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strstr(text, known[i].text))
			return known[i].error;
	return -EIO;
}

/* "Error: ..." without what points at the place below it. */
static void first_line(const char *text, char *out, size_t size)
{
	const char *from = strstr(text, "Error: ");

	from = from ? from + strlen("Error: ") : text;
	snprintf(out, size, "%.*s", (int)strcspn(from, "\n"), from);
}

/* Where the kernel has no nftables, the library ends the process. */
static int check_kernel(char *why, size_t size)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (why)
		snprintf(why, size, "the kernel has no nftables: %s", strerror(errno));
	return -EOPNOTSUPP;
}

int nftables_run(const char *commands, char *why, size_t size)
{
	struct nft_ctx *nft;
	const char *said;
	int err = check_kernel(why, size);

	if (err)
		return err;
	nft = nft_ctx_new(NFT_CTX_DEFAULT);
	if (!nft)
		return -ENOMEM;
	if (nft_ctx_buffer_error(nft) || nft_ctx_buffer_output(nft)) {
		err = -ENOMEM;
		goto out;
	}
	if (nft_run_cmd_from_buffer(nft, commands)) {
		said = nft_ctx_get_error_buffer(nft);
		err = error_of(said ? said : "");
		if (why)
			first_line(said ? said : "", why, size);
	}
out:
	nft_ctx_free(nft);
	return err;
}
