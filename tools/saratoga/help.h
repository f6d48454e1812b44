/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/help.h
 * @brief The output of saratoga --help and --help-all.
 */
#ifndef TOOLS_SARATOGA_HELP_H
#define TOOLS_SARATOGA_HELP_H

/** @brief The text, in pieces within the limit of C99; the last is NULL. */
extern const char *const saratoga_help[];

/** @brief How the details begin that --help leaves out; NULL-terminated. */
extern const char *const saratoga_details[];

#endif /* TOOLS_SARATOGA_HELP_H */
