/* SPDX-License-Identifier: MIT */
/* Asks for one secret in a window of its own. editor_prompt.c with GTK 4, auth_no_prompt.c where it was not
 * there. */
#ifndef WGTCP_CLIENT_NM_AUTH_PROMPT_H
#define WGTCP_CLIENT_NM_AUTH_PROMPT_H

/* g_free; NULL: the person did not want to, or there is no display. */
char *auth_prompt(const char *connection, const char *label);

#endif
