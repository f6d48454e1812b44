/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/avio.h
 * @brief An AVIOContext of FFmpeg over a connection, in a library of its own,
 * libtltcp-avio.
 *
 * A program that writes an MPEG transport stream by libavformat gives
 * tltcp_avio_writer() as AVFormatContext::pb; one that reads one gives
 * tltcp_avio_reader().  What is written is taken apart into pictures, frames of
 * sound and tables again (docs/protocols/media-framing.md), each a section with
 * a deadline of its own: what cannot be there in time is not sent, and pictures
 * that others need come first.  `tltcp-live-transmit`, `tltcpsrc` and
 * `tltcpsink` speak the same.
 *
 * Bytes that are no transport stream may be written as well; every write of
 * libavformat is then one section, due after the latency.
 *
 * Everything else is chosen where the connection is made, by tltcp_config: the
 * congestion control, the secret, forward error correction, what is given up.
 *
 * One thread at a time may use a context.  The contexts do not seek.
 */
#ifndef TLTCP_AVIO_H
#define TLTCP_AVIO_H

#include <tltcp/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_avio
 * @{ */

#if defined(_WIN32) && defined(TLTCP_AVIO_BUILDING)
/** Put on every function of libtltcp-avio. */
#define TLTCP_AVIO_API __declspec(dllexport)
#elif defined(_WIN32)
#define TLTCP_AVIO_API __declspec(dllimport)
#else
/** Put on every function of libtltcp-avio. */
#define TLTCP_AVIO_API __attribute__((visibility("default")))
#endif

/** Of libavformat; see its avio.h. */
struct AVIOContext;

/**
 * @brief Makes a context that writes into a connection.
 *
 * A thread of its own sends what is written, so a write waits only when some
 * megabytes are queued.  Write no faster than in real time: deadlines count
 * from when data is written.  A write fails with AVERROR(EPIPE) once the
 * connection is over.  With `AVFMT_FLAG_FLUSH_PACKETS` in
 * AVFormatContext::flags libavformat holds nothing back.
 * @param s           connected, with tltcp_config::report_fates, so that what
 *                    needs a lost picture is not sent either; taken over,
 *                    also on failure; tltcp_get_stats() may still be called
 * @param latency_ms  how long after its display time a picture is still of use,
 *                    1 to 3600000
 * @return close with tltcp_avio_close(); NULL: @p s is NULL, @p latency_ms is
 * out of its range, or out of memory
 */
TLTCP_AVIO_API struct AVIOContext *tltcp_avio_writer(tltcp_socket *s,
                                                     uint32_t latency_ms);

/**
 * @brief Makes a context that reads what a peer sends as a transport stream.
 *
 * Sections that did not arrive whole are left out.  A read waits for data; it
 * gives AVERROR_EOF at the end of the stream, AVERROR(EIO) when the connection
 * failed and AVERROR_INVALIDDATA when the peer sends single streams.
 * @param s  connected; taken over, also on failure
 * @return close with tltcp_avio_close(); NULL: @p s is NULL, or out of memory
 */
TLTCP_AVIO_API struct AVIOContext *tltcp_avio_reader(tltcp_socket *s);

/**
 * @brief Closes the connection and frees the context.
 *
 * A writer first sends what is queued, as long as it is of use.  Call it after
 * av_write_trailer() or avformat_close_input().
 * @param[in,out] context  from the functions above, set to NULL; NULL and a
 *                         pointer to NULL are allowed
 * @param linger_ms        milliseconds to wait for what is queued; < 0: up to
 * the latency and the idle timeout
 * @retval 0                 done
 * @retval TLTCP_ERR_TIMEOUT the time was not enough; the rest is lost
 * @retval TLTCP_ERR_CLOSED  the connection had ended before
 */
TLTCP_AVIO_API int tltcp_avio_close(struct AVIOContext **context,
                                    int linger_ms);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_AVIO_H */
