/* SPDX-License-Identifier: MIT */
/* NAME of a profile, which is also the name of its interface and file: [A-Za-z0-9_=+.-]{1,15}, not "." or
 * "..", nor "all", "default" or "lo", which the system has for itself. */
#ifndef WGTCP_CORE_CONFIG_NAME_H
#define WGTCP_CORE_CONFIG_NAME_H

#include "core/config/profile.h"

bool profile_name_valid(const char *name, size_t len);
/* NAME as a person gives it: "office" or "office.conf". */
bool profile_name_parse(const char *text, size_t len, char out[PROFILE_NAME_LEN]);
/* A valid NAME from whatever a file was called: the last part of the path without ".conf", accents dropped,
 * other characters as '-'. A name that is too long, or of which nothing is left, gets four hex digits of its
 * hash, so that two different long names stay different. The same file name always gives the same NAME. */
void profile_name_derive(const char *file_name, char out[PROFILE_NAME_LEN]);

#endif
