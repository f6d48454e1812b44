/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file media/linkstate.h
 * @brief From the statistics of a connection to what the frame queue asks.
 */
#ifndef MEDIA_LINKSTATE_H
#define MEDIA_LINKSTATE_H

#include <tltcp/stats.h>

#include "media/item.h"

/**
 * @brief What the connection does now.
 * @param st  statistics of a connection
 * @return bytes it has yet to send, its rate, its extra delay
 */
media_link media__link_state(const tltcp_stats *st);

#endif /* MEDIA_LINKSTATE_H */
