/* SPDX-License-Identifier: MIT */
/* Any text redacted: no key of 44 characters that stood alone is in what comes out. */
#include "gui/model/redact.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_key_byte(unsigned char c)
{
	return isalnum(c) || c == '+';
}

/* A blank, 43 characters of a key without '/', '=', and a blank. */
static bool has_key(const char *text)
{
	for (const char *at = strchr(text, ' '); at; at = strchr(at + 1, ' ')) {
		size_t len = 0;

		while (is_key_byte((unsigned char)at[1 + len]))
			len++;
		if (len == 43 && at[44] == '=' && at[45] == ' ')
			return true;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct redactor redactor = { 0 };
	struct redact_text out = { 0 };

	redact_tunnel(&redactor, "office");
	redact_tunnel(&redactor, "a b");
	redact(&redactor, (const char *)data, size, &out);
	if (out.text)
		assert(!has_key(out.text));
	redact_text_free(&out);
	return 0;
}
