/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/avio.h
 * @brief An FFmpeg AVIOContext over a connection; separate library,
 * libtltcp-avio.
 *
 * A program that writes an MPEG transport stream by libavformat sets
 * AVFormatContext::pb to tltcp_avio_writer(); a program that reads one sets it
 * to tltcp_avio_reader().  The writer splits the stream into pictures, audio
 * frames and tables (docs/protocols/media-framing.md), and makes each a section
 * with its own deadline.  Sections that cannot arrive in time are not sent, and
 * pictures that others need come first.  `tltcp-live-transmit`, `tltcpsrc` and
 * `tltcpsink` use the same format.
 *
 * Other data may be written as well; every write of libavformat is then one
 * section, due after the latency.
 *
 * Set everything else in tltcp_config when making the connection: congestion
 * control, secret, forward error correction, drop policy.
 *
 * Use a context from one thread at a time. Contexts cannot seek.
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
/** Export macro of libtltcp-avio. */
#define TLTCP_AVIO_API __declspec(dllexport)
#elif defined(_WIN32)
#define TLTCP_AVIO_API __declspec(dllimport)
#else
/** Export macro of libtltcp-avio. */
#define TLTCP_AVIO_API __attribute__((visibility("default")))
#endif

/** A type of libavformat; see its avio.h. */
struct AVIOContext;

/**
 * @brief Creates a context that writes to a connection.
 *
 * A background thread sends the data, so a write waits only when several
 * megabytes are queued. Write no faster than real time: deadlines count from
 * the time of writing. A write fails with AVERROR(EPIPE) once the connection is
 * over. With `AVFMT_FLAG_FLUSH_PACKETS` in AVFormatContext::flags, libavformat
 * buffers nothing.
 * @param s           connected, with tltcp_config::report_fates, so that
 *                    dependents of a lost picture are not sent; the call takes
 *                    ownership, even on failure; tltcp_get_stats() may still be
 *                    called
 * @param latency_ms  time for which a picture stays useful after its display
 *                    time, ms, 1 to 3600000
 * @return the context, to be closed with tltcp_avio_close(); NULL: @p s is
 * NULL, @p latency_ms is out of range, or out of memory
 */
TLTCP_AVIO_API struct AVIOContext *tltcp_avio_writer(tltcp_socket *s,
                                                     uint32_t latency_ms);

/**
 * @brief Creates a context that reads the transport stream sent by a peer.
 *
 * Incomplete sections are skipped. A read waits for data; it returns
 * AVERROR_EOF at the end of the stream, AVERROR(EIO) if the connection failed
 * and AVERROR_INVALIDDATA if the peer sends elementary streams.
 * @param s connected; the call takes ownership, even on failure
 * @return the context, to be closed with tltcp_avio_close(); NULL: @p s is
 * NULL, or out of memory
 */
TLTCP_AVIO_API struct AVIOContext *tltcp_avio_reader(tltcp_socket *s);

/**
 * @brief Closes the connection and frees the context.
 *
 * A writer first sends the queued data that is still useful.  Call it after
 * av_write_trailer() or avformat_close_input().
 * @param[in,out] context  context from a function above, set to NULL; NULL and
 * a pointer to NULL are allowed
 * @param linger_ms        time to wait for queued data, ms; < 0: up to the
 *                         latency and the idle timeout
 * @retval 0                 done
 * @retval TLTCP_ERR_TIMEOUT the time did not suffice; the rest is lost
 * @retval TLTCP_ERR_CLOSED  the connection had already ended
 */
TLTCP_AVIO_API int tltcp_avio_close(struct AVIOContext **context,
                                    int linger_ms);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_AVIO_H */
