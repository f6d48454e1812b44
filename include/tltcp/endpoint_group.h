/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/endpoint_group.h
 * @brief The listening side of the engine for drivers with several threads.
 */
#ifndef TLTCP_ENDPOINT_GROUP_H
#define TLTCP_ENDPOINT_GROUP_H

#include <tltcp/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_engine_listen
 * @{ */

/** @brief Endpoints that serve one address together. */
typedef struct tltcp_endpoint_group {
    unsigned count;     /**< number of endpoints, 1 to ::TLTCP_THREADS_MAX */
    void *const *users; /**< for each one, tltcp_config::user of its trace
                             events; NULL: the config's */
    void (*lock)(void *arg);   /**< locks what they share; NULL: all are used on
                                    one thread */
    void (*unlock)(void *arg); /**< unlocks it */
    void *arg;                 /**< passed to both */
} tltcp_endpoint_group;

/**
 * @brief Creates the listening side of a port for several threads.
 *
 * Each endpoint, with its connections, may be used on a thread of its own.
 * They share limits, tokens and keys, and call lock() around each access to
 * those; until unlock() they call nothing but the allocator and on_trace.
 * Datagrams of a connection must reach the endpoint that has it, which the
 * connection id names: where the first byte of a datagram is 0x50 or 0x51, the
 * ninth byte modulo tltcp_endpoint_group::count is the endpoint's index. All
 * other datagrams of one path must reach one endpoint, whichever it is.
 * @param[out] out  the endpoints by index; free each with
 *                  tltcp_endpoint_free()
 * @param group    how many, and their lock; the functions are used until the
 *                 last endpoint is freed
 * @param config   as for tltcp_endpoint_new(); an allocator must bear calls
 *                 from several threads at once
 * @param seed     ::TLTCP_SEED_LEN unpredictable bytes
 * @param now      current time
 * @retval 0 created; otherwise as tltcp_endpoint_new()
 */
TLTCP_API int tltcp_endpoint_new_group(tltcp_endpoint **out,
                                       const tltcp_endpoint_group *group,
                                       const tltcp_config *config,
                                       const uint8_t *seed, tltcp_time now);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_ENDPOINT_GROUP_H */
