/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/options.h
 * @brief Messages about options.
 */
#ifndef LIBTLTCP_LIVE_OPTIONS_H
#define LIBTLTCP_LIVE_OPTIONS_H

#include "tltcp/live_options.h"

/** @brief Writes an error message. @param why  TLTCP_LIVE_WHY_MAX bytes, or
 * NULL
 * @param format  as printf() @return TLTCP_ERR_INVAL */
int tltcp__live_say(char *why, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#endif /* LIBTLTCP_LIVE_OPTIONS_H */
