/* SPDX-License-Identifier: MIT */
/* At which addresses servers have answered before, so that a first connect need not wait for a resolver that
 * is slow or not there yet. In the state folder, for root alone. Pure. */
#ifndef WGTCP_CLIENT_DAEMON_ADDRESS_BOOK_H
#define WGTCP_CLIENT_DAEMON_ADDRESS_BOOK_H

#include "core/base/address.h"
#include "core/config/profile.h"

#define ADDRESS_BOOK_FILE "addresses"
#define ADDRESS_BOOK_HOSTS 64
#define ADDRESS_BOOK_EACH 4
/* Larger is no file of ours. */
#define ADDRESS_BOOK_TEXT_MAX 65536

struct address_book_entry {
	char host[PROFILE_HOST_LEN];
	struct ip_address addresses[ADDRESS_BOOK_EACH]; /* the newest first */
	size_t count;
};

struct address_book {
	struct address_book_entry entries[ADDRESS_BOOK_HOSTS]; /* the newest first */
	size_t count;
};

/* Lines that make no sense are passed over. */
void address_book_parse(struct address_book *book, const char *text);
/* NULL when memory is short; freed by the caller. */
char *address_book_write(const struct address_book *book);
/* NULL: that host never answered. */
const struct address_book_entry *address_book_find(const struct address_book *book, const char *host);
/* It has answered at this address. True: the file should be written. */
bool address_book_put(struct address_book *book, const char *host, const struct ip_address *address);

#endif
