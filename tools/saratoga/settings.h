/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/settings.h
 * @brief NAME=VALUE for what few need to set: timers and sizes of transfers.
 */
#ifndef TOOLS_SARATOGA_SETTINGS_H
#define TOOLS_SARATOGA_SETTINGS_H

#include <saratoga/config.h>

/**
 * @brief Sets one.
 * @param o     options
 * @param text  NAME=VALUE, several separated by commas
 * @return NULL, or what it must be
 */
const char *saratoga_set(saratoga_options *o, const char *text);
/** @brief Seconds, or a time with its unit. @param text  to read
 * @param[out] ns  it @return NULL, or what it must be */
const char *saratoga_seconds(const char *text, uint64_t *ns);
/** @brief Likewise, but not 0. @param text  to read
 * @param[out] ns  it @return NULL, or what it must be */
const char *saratoga_some_seconds(const char *text, uint64_t *ns);
/** @brief A rate. @param text  to read
 * @param[out] bps  it @return NULL, or what it must be */
const char *saratoga_rate(const char *text, uint64_t *bps);
/** @brief A rate that stands in the first line of a file. @param path  of it
 * @param[out] bps  it @return NULL, or what it must be */
const char *saratoga_rate_in(const char *path, uint64_t *bps);

#endif /* TOOLS_SARATOGA_SETTINGS_H */
