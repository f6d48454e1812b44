/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/help.h
 * @brief What saratoga --help prints.
 */
#ifndef TOOLS_SARATOGA_HELP_H
#define TOOLS_SARATOGA_HELP_H

/** @brief The text, in pieces as long as C99 allows; the last is NULL. */
extern const char *const saratoga_help[];

#endif /* TOOLS_SARATOGA_HELP_H */
