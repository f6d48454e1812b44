/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/options.h
 * @brief What the files that read options share.
 */
#ifndef TLTCP_LIVE_OPTIONS_H
#define TLTCP_LIVE_OPTIONS_H

#include "tltcp/live.h"

/** @brief Writes a complaint. @param why  TLTCP_LIVE_WHY_MAX bytes, or NULL
 * @param format  as printf() @return TLTCP_ERR_INVAL */
int tltcp__live_say(char *why, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/** @brief Sets the other end, or what to listen on. @param o  options
 * @param host  "": none @param service  port @param why  or NULL
 * @return 0 or TLTCP_ERR_INVAL */
int tltcp__live_options_endpoint(tltcp_live_options *o, const char *host,
                                 const char *service, char *why);

#endif /* TLTCP_LIVE_OPTIONS_H */
