/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/rights.h
 * @brief What tltcp-send and tltcp-recv give up.
 */
#ifndef TOOLS_TLTCP_RIGHTS_H
#define TOOLS_TLTCP_RIGHTS_H

#include "tools/common/privileges.h"
#include "tools/tltcp/peer_options.h"

/** @brief What a command line names. */
struct media_rights {
    const char *media; /**< file or URL of FFmpeg, or "-" */
    bool write;        /**< it is written */
    const char *host;  /**< of the peer, or listened on */
    const char *json;  /**< or NULL, as those below */
    const char *frames;
    const char *port_file;
    const char *metrics;
    const struct peer_options *peer;
};

/** @brief Gives up the means to start programs, and access to all files but
 * those named and those in the folder of the media, where playlists have their
 * parts. A URL may lead anywhere, so all files then stay readable, and writable
 * if the media are written. Call it before threads are started.
 * @param r  names
 * @return what was given up */
struct privileges_dropped media_rights_drop(const struct media_rights *r);

#endif /* TOOLS_TLTCP_RIGHTS_H */
