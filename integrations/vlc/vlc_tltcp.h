/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file integrations/vlc/vlc_tltcp.h
 * @brief What the modules for reading and for writing share.
 */
#ifndef VLC_TLTCP_H
#define VLC_TLTCP_H

#include <tltcp/live.h>
#include <vlc_common.h>

/** Heading of messages. */
#define VLC_TLTCP_NAME "TLTCP"

/**
 * @brief Opens a sender or a receiver; tells the user why it cannot.
 * @param object     of VLC, for messages
 * @param direction  ::tltcp_live_direction
 * @param url        zero-terminated
 * @param[out] latency_ms  of the URL
 * @return end with tltcp_live_close(); NULL: it could not be opened
 */
tltcp_live *vlc_tltcp_open(vlc_object_t *object, int direction, const char *url,
                           unsigned *latency_ms);

/** What has become of the connection. */
enum vlc_tltcp_state {
    VLC_TLTCP_SAME = 0,  /**< nothing new */
    VLC_TLTCP_READY = 1, /**< it stands, or the listener does */
    VLC_TLTCP_OVER = 2   /**< there will be none any more */
};

/**
 * @brief Puts what happened into the log; final failures into a dialog, too.
 * @param object      of VLC
 * @param live        whose events
 * @param timeout_ms  how long to wait for the first
 * @return ::vlc_tltcp_state
 */
int vlc_tltcp_report(vlc_object_t *object, tltcp_live *live, int timeout_ms);

/** @brief Opens the access. @param object  stream_t @return VLC's code */
int vlc_tltcp_open_access(vlc_object_t *object);
/** @brief Closes it. @param object  stream_t */
void vlc_tltcp_close_access(vlc_object_t *object);
/** @brief Opens the output. @param object  sout_access_out_t
 * @return VLC's code */
int vlc_tltcp_open_output(vlc_object_t *object);
/** @brief Closes it. @param object  sout_access_out_t */
void vlc_tltcp_close_output(vlc_object_t *object);

#endif /* VLC_TLTCP_H */
