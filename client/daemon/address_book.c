/* SPDX-License-Identifier: MIT */
/* Used by names.c; read and written by main.c and manager.c. One line a host: its name, then the addresses.
 */
#include "client/daemon/address_book.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_LEN (PROFILE_HOST_LEN + ADDRESS_BOOK_EACH * ENDPOINT_TEXT_LEN)

static bool parse_line(char *line, struct address_book_entry *out)
{
	struct address_book_entry entry = { 0 };
	char *rest = NULL, *word = strtok_r(line, " ", &rest);

	if (!word || strlen(word) >= sizeof(entry.host))
		return false;
	strcpy(entry.host, word);
	while ((word = strtok_r(NULL, " ", &rest)) && entry.count < ADDRESS_BOOK_EACH)
		if (ip_address_parse(word, strlen(word), &entry.addresses[entry.count]))
			entry.count++;
	*out = entry;
	return entry.count != 0;
}

void address_book_parse(struct address_book *book, const char *text)
{
	char line[LINE_LEN];

	memset(book, 0, sizeof(*book));
	while (*text && book->count < ADDRESS_BOOK_HOSTS) {
		size_t len = strcspn(text, "\n");

		if (len < sizeof(line)) {
			memcpy(line, text, len);
			line[len] = 0;
			if (parse_line(line, &book->entries[book->count]))
				book->count++;
		}
		text += len + (text[len] == '\n');
	}
}

char *address_book_write(const struct address_book *book)
{
	char address[ENDPOINT_TEXT_LEN], *text = calloc(book->count + 1, LINE_LEN), *at = text;
	size_t i, j;

	for (i = 0; text && i < book->count; i++) {
		at += sprintf(at, "%s", book->entries[i].host);
		for (j = 0; j < book->entries[i].count; j++)
			at += sprintf(at, " %s", ip_address_write(&book->entries[i].addresses[j], address));
		at += sprintf(at, "\n");
	}
	return text;
}

const struct address_book_entry *address_book_find(const struct address_book *book, const char *host)
{
	size_t i;

	for (i = 0; i < book->count; i++)
		if (!strcmp(book->entries[i].host, host))
			return &book->entries[i];
	return NULL;
}

static void put_first(struct address_book_entry *entry, const struct ip_address *address)
{
	struct ip_address first = *address; /* it may lie in what is moved */
	size_t at;

	for (at = 0; at < entry->count && !ip_address_equal(&entry->addresses[at], &first); at++)
		;
	if (at == entry->count && entry->count < ADDRESS_BOOK_EACH)
		entry->count++;
	if (at == ADDRESS_BOOK_EACH)
		at--;
	memmove(&entry->addresses[1], &entry->addresses[0], at * sizeof(first));
	entry->addresses[0] = first;
}

bool address_book_put(struct address_book *book, const char *host, const struct ip_address *address)
{
	const struct address_book_entry *found = address_book_find(book, host);
	struct address_book_entry entry = { 0 };
	size_t at = found ? (size_t)(found - book->entries) : book->count;

	if ((found && ip_address_equal(&found->addresses[0], address)) ||
		strlen(host) >= sizeof(entry.host) || strpbrk(host, " \n"))
		return false;
	if (found)
		entry = *found;
	strcpy(entry.host, host);
	put_first(&entry, address);
	if (!found && book->count < ADDRESS_BOOK_HOSTS)
		book->count++;
	if (at == ADDRESS_BOOK_HOSTS)
		at--;
	memmove(&book->entries[1], &book->entries[0], at * sizeof(entry));
	book->entries[0] = entry;
	return true;
}
