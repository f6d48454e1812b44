/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/engine.h
 * @brief The engine: datagrams, finished work and time in; datagrams, events
 * and work out.
 *
 * No call blocks, does I/O, reads a clock or starts a thread. After any call,
 * do this in order: call saratoga_engine_next_event() until it returns 0,
 * saratoga_engine_next_work() until it returns 0, saratoga_engine_send() until
 * it writes nothing, then saratoga_engine_next_work() again, because sending
 * frees buffers for reads; then set a timer for saratoga_engine_timeout().
 *
 * Use an engine from one thread at a time. `now` must never run backwards.
 *
 * The application owns names, permissions and files.  A received file must not
 * appear under its final name before ::SARATOGA_WORK_COMMIT.
 *
 * docs/protocols/saratoga.md says which parts of the drafts are implemented.
 */
#ifndef SARATOGA_ENGINE_H
#define SARATOGA_ENGINE_H

#include <saratoga/config.h>
#include <saratoga/digest.h>
#include <saratoga/entry.h>
#include <saratoga/event.h>
#include <saratoga/stats.h>
#include <saratoga/transfer.h>
#include <saratoga/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup saratoga_engine
 * @{ */

/**
 * @brief Creates an engine.
 * @param[out] engine  the new engine; free with saratoga_engine_free()
 * @param config  copied; NULL: the defaults
 * @param seed    ::SARATOGA_SEED_LEN unpredictable bytes; equal seeds and equal
 *                inputs give equal datagrams
 * @param now     current time
 * @retval 0                      created
 * @retval SARATOGA_ERR_INVAL     see saratoga_config_check()
 * @retval SARATOGA_ERR_ALGORITHM see saratoga_config_check()
 * @retval SARATOGA_ERR_NOMEM     out of memory
 */
SARATOGA_API int saratoga_engine_new(saratoga_engine **engine,
                                     const saratoga_config *config,
                                     const uint8_t *seed, saratoga_time now);
/**
 * @brief Frees an engine and its transfers without notifying the peers.
 *
 * No work item may be in progress: their buffers are freed.
 * @param engine  the engine, or NULL
 */
SARATOGA_API void saratoga_engine_free(saratoga_engine *engine);

/**
 * @brief Processes one datagram from the network. Malformed and foreign
 * datagrams are counted and dropped.
 * @param engine  the engine
 * @param from   who sent it
 * @param dgram  the UDP payload
 * @param len    bytes at @p dgram
 * @param now    current time
 */
SARATOGA_API void saratoga_engine_recv(saratoga_engine *engine,
                                       const saratoga_pktinfo *from,
                                       const void *dgram, size_t len,
                                       saratoga_time now);
/**
 * @brief Writes the next datagrams to send.
 *
 * The datagrams of one call go to the same path with the same flags, lie back
 * to back and are @p segment bytes each; the last may be shorter, as
 * UDP_SEGMENT requires.
 * @param engine  the engine
 * @param[out] to       destination and flags
 * @param buf           room for datagrams
 * @param cap           bytes at @p buf, at least the MTU
 * @param[out] segment  size of each datagram except the last
 * @param now           current time
 * @return bytes written; 0: nothing to send now; see saratoga_engine_timeout()
 */
SARATOGA_API size_t saratoga_engine_send(saratoga_engine *engine,
                                         saratoga_pktinfo *to, void *buf,
                                         size_t cap, size_t *segment,
                                         saratoga_time now);
/**
 * @brief Returns when to call saratoga_engine_on_timeout().
 * @param engine  the engine
 * @return absolute time, which may be past, for example if work is waiting for
 * saratoga_engine_next_work(); ::SARATOGA_TIME_NEVER: no timer needed
 */
SARATOGA_API saratoga_time
saratoga_engine_timeout(const saratoga_engine *engine);
/**
 * @brief Runs due timers; early calls are harmless.
 * @param engine  the engine
 * @param now   current time
 */
SARATOGA_API void saratoga_engine_on_timeout(saratoga_engine *engine,
                                             saratoga_time now);
/**
 * @brief Takes the oldest event.
 * @param engine  the engine
 * @param[out] ev  the event
 * @retval 1 @p ev was filled in
 * @retval 0 there is none
 */
SARATOGA_API int saratoga_engine_next_event(saratoga_engine *engine,
                                            saratoga_event *ev);
/**
 * @brief Takes the next work item on a file.
 * @param engine  the engine
 * @param[out] work  the work item
 * @retval 1 @p work was filled in
 * @retval 0 there is none now
 */
SARATOGA_API int saratoga_engine_next_work(saratoga_engine *engine,
                                           saratoga_work *work);
/**
 * @brief Reports the result of a work item.
 * @param engine  the engine
 * @param id      saratoga_work::id
 * @param result  see ::saratoga_work_type; negative: a ::saratoga_error
 * @param now     current time
 * @retval 0                 accepted
 * @retval SARATOGA_ERR_GONE no such work
 */
SARATOGA_API int saratoga_engine_work_done(saratoga_engine *engine, uint64_t id,
                                           int64_t result, saratoga_time now);
/**
 * @brief Sends a BEACON now.
 * @param engine  the engine with an EID
 * @param to        destination: a group or a peer
 * @param now       current time
 * @retval 0                  will be sent
 * @retval SARATOGA_ERR_STATE the engine has no EID
 * @retval SARATOGA_ERR_LIMIT too many are queued
 */
SARATOGA_API int saratoga_engine_beacon(saratoga_engine *engine,
                                        const saratoga_pktinfo *to,
                                        saratoga_time now);
/**
 * @brief Sets the free space that BEACONs advertise.
 * @param engine  the engine
 * @param kib   units of 1024 bytes; UINT64_MAX: do not advertise
 */
SARATOGA_API void saratoga_engine_set_free_space(saratoga_engine *engine,
                                                 uint64_t kib);
/**
 * @brief Sets the willingness that BEACONs and REQUESTs advertise.
 * @param engine  the engine
 * @param send     willing to send
 * @param receive  willing to receive
 */
SARATOGA_API void saratoga_engine_set_willing(saratoga_engine *engine,
                                              bool send, bool receive);
/**
 * @brief Sets the rate of the uplink shared by all STATUS packets.
 * @param engine  the engine
 * @param bps   bit/s; 0: no limit
 */
SARATOGA_API void saratoga_engine_set_uplink(saratoga_engine *engine,
                                             uint64_t bps);
/**
 * @brief Number of REQUESTs not signed with auth_key.
 * @param engine  the engine
 * @return number since the engine was created
 */
SARATOGA_API uint64_t saratoga_engine_rejected(const saratoga_engine *engine);
/**
 * @brief Takes a snapshot of the statistics.
 * @param engine  the engine
 * @param[out] st initialised by saratoga_engine_stats_init()
 * @retval 0                  filled in
 * @retval SARATOGA_ERR_INVAL @p st was not initialised
 */
SARATOGA_API int saratoga_engine_get_stats(const saratoga_engine *engine,
                                           saratoga_engine_stats *st);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_ENGINE_H */
