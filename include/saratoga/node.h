/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/node.h
 * @brief A Saratoga node with sockets and files on libuv. It runs many
 * transfers at once, in both roles.
 *
 * libuv's thread pool reads and writes files, which are never held in memory as
 * a whole. A received file gets its final name only when it is complete and
 * verified. Until then, a partial file lies beside it with a map of the
 * received ranges, so that a later transfer can resume it, even after a crash.
 *
 * Make all calls from one thread, that of the loop.
 */
#ifndef SARATOGA_NODE_H
#define SARATOGA_NODE_H

#include <saratoga/config.h>
#include <saratoga/entry.h>
#include <saratoga/event.h>
#include <saratoga/stats.h>
#include <saratoga/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup saratoga_node
 * @{ */

struct uv_loop_s;

/** A Saratoga node. */
typedef struct saratoga_node saratoga_node;

/** Size of the buffer for the text of an event or an error, bytes. */
#define SARATOGA_NODE_TEXT 512
/** Size of the buffer for an address as text with its port, bytes. */
#define SARATOGA_NODE_ADDRESS 80

/** @brief Options of a node; start from saratoga_node_config_init(). */
typedef struct saratoga_node_config {
    size_t struct_size;            /**< set by saratoga_node_config_init() */
    const saratoga_config *engine; /**< of its engine; copied; NULL: defaults */
    struct uv_loop_s *loop; /**< the caller's, or NULL: one of its own, run by
                                 saratoga_node_run() */
    const char *host;       /**< local address; NULL: any, IPv6 and IPv4 */
    const char *service;    /**< local port; NULL: a free one */
    const char *root;       /**< folder served to peers; NULL: every request is
                                 refused */
    bool may_read;          /**< peers may get and list; default true */
    bool may_write;         /**< peers may put; default false */
    bool may_delete;        /**< peers may delete and take; default false */
    bool overwrite;         /**< puts may replace files; default false */
    bool plain_udp;     /**< use portable I/O even where faster calls exist */
    bool join;          /**< receive beacons and requests sent to the groups;
                             default false */
    bool streams;       /**< serve named pipes below root as streams, to one
                             peer at a time; default false */
    bool trust_cache;   /**< do not read back a file from disk before confirming
                             a take or give, after which the source is deleted;
                             default false */
    uint32_t max_peers; /**< hosts served at once; 0: no limit; default 256 */
    uint32_t reserved2; /**< 0 */
    uint64_t quota;     /**< total bytes accepted by puts; 0: no limit */
    const char *beacon_host;    /**< where beacons go; NULL: the IPv4 group */
    const char *beacon_service; /**< NULL: 7542 */
    const char *passphrase;     /**< 8 to 512 bytes, shared with the peers: the
                                     node sends and accepts only sealed packets;
                                     not with groups, UDP-Lite or one-way
                                     transfers; see docs/guide/
                                     security-keys.md.  NULL: no encryption */
    const uint8_t *key; /**< 32 bytes instead of a passphrase, or NULL */
    size_t key_len;     /**< 0 or 32 */
    const char *const *more_passphrases; /**< further passphrases that callers
                                            may use, so that passphrases can be
                                              changed without interruption,
                                              NULL-terminated; or NULL */
    const uint8_t *const *more_keys;     /**< the same for keys of 32 bytes; at
                                              most 15 together */
    uint64_t rekey_packets;    /**< secured: new keys after this many packets;
                                    0: well before the cipher's limit */
    const char *group;         /**< multicast group to which requested files are
                                    sent, once for all peers that request a file
                                    meanwhile; NULL: to each peer separately */
    const char *group_service; /**< its port; NULL: 7542 */
} saratoga_node_config;

/** @brief Sets every option to its default. @param c  config, of any content */
#define saratoga_node_config_init(c) \
    saratoga_node_config_init_sized((c), sizeof(*(c)))

/**
 * @brief Implements saratoga_node_config_init(); do not call directly.
 * @param c     config to fill in
 * @param size  sizeof(saratoga_node_config) as the caller was compiled
 */
SARATOGA_API void saratoga_node_config_init_sized(saratoga_node_config *c,
                                                  size_t size);

/** @brief A transfer requested by this side; start from
 * saratoga_node_transfer_init(). */
typedef struct saratoga_node_transfer {
    size_t struct_size;  /**< set by saratoga_node_transfer_init() */
    uint32_t type;       /**< ::saratoga_request_type */
    bool resume;         /**< resume an earlier transfer */
    bool overwrite;      /**< an existing file may be replaced */
    bool stream;         /**< put: send the data read from `input` until its
                              end. get: if the peer sends a stream, write it to
                              `output` as it arrives, and to no file */
    bool reserved;       /**< false */
    const char *host;    /**< the peer's name or address */
    const char *service; /**< its port; NULL: 7542 */
    const char *path;    /**< path at the peer */
    const char *folder;  /**< local folder, outside which no file is touched;
                              NULL: "." */
    const char *file;    /**< path in the folder; get and take: NULL: the last
                              component of the peer's path */
    const saratoga_options *options; /**< copied; NULL: the node's, whose
                                          rate_bps is shared by all such
                                          transfers and those served */
    void *user;                      /**< copied to events */
    int input;  /**< stream: descriptor to read, such as a pipe; not closed;
                   without O_NONBLOCK it must support poll() */
    int output; /**< stream: descriptor to write; likewise. Ignore SIGPIPE if
                   its reader may go away */
    const char *group; /**< get: group that the answer may go to; the node joins
                            it. NULL: none. A host that is a group is always
                            joined */
    const char *group_service; /**< its port; NULL: 7542 */
} saratoga_node_transfer;

/** @brief Zeroes the struct and sets its size tag. @param t  transfer, of any
 * content */
#define saratoga_node_transfer_init(t) \
    saratoga_node_transfer_init_sized((t), sizeof(*(t)))

/**
 * @brief Implements saratoga_node_transfer_init(); do not call directly.
 * @param t     to set up
 * @param size  sizeof(saratoga_node_transfer) as the caller was compiled
 */
SARATOGA_API void saratoga_node_transfer_init_sized(saratoga_node_transfer *t,
                                                    size_t size);

/** Kinds of events. */
enum saratoga_node_event_type {
    SARATOGA_NODE_NONE = 0,   /**< nothing */
    SARATOGA_NODE_DONE = 1,   /**< a transfer of this side is over */
    SARATOGA_NODE_SERVED = 2, /**< a transfer requested by a peer is over */
    SARATOGA_NODE_PEER = 3    /**< a beacon was received */
};

/** @brief One event. */
typedef struct saratoga_node_event {
    uint32_t type;        /**< ::saratoga_node_event_type */
    int32_t error;        /**< DONE, SERVED: 0 or a negative ::saratoga_error */
    uint64_t id;          /**< DONE: of saratoga_node_start() */
    void *user;           /**< DONE: saratoga_node_transfer::user */
    uint32_t request;     /**< DONE, SERVED: ::saratoga_request_type */
    uint32_t status;      /**< DONE, SERVED: code on the wire */
    bool verified;        /**< received, and its checksum matched */
    bool already;         /**< nothing was missing: the file was complete or up
                               to date */
    bool unheard;         /**< sent to a group: whether all members have
                               received it is not known */
    bool joined;          /**< SERVED: the peer was referred to a transfer of
                               the file to a group in progress */
    uint32_t checksum;    /**< ::saratoga_checksum of the file */
    saratoga_stats stats; /**< DONE, SERVED: at the end */
    saratoga_entry entry; /**< DONE, SERVED: of the file, as far as it is
                               known */
    const uint8_t *record; /**< DONE of getdir: the directory record; valid
                              until the next saratoga_node_next_event() */
    size_t record_len;     /**< its length, bytes */
    uint32_t abilities;    /**< PEER: ::saratoga_ability bits */
    uint32_t descriptor;   /**< PEER: widest ::saratoga_descriptor */
    uint64_t free_kib;     /**< PEER: with ::SARATOGA_FREE_SPACE */
    char address[SARATOGA_NODE_ADDRESS]; /**< PEER, SERVED: HOST:PORT */
    char eid[SARATOGA_EID_MAX + 1];      /**< PEER */
    char path[SARATOGA_PATH_MAX];  /**< DONE, SERVED: the requested path */
    char text[SARATOGA_NODE_TEXT]; /**< why it failed, as a sentence */
    uint32_t denial; /**< DONE, SERVED: ::saratoga_denial; 0: unknown */
} saratoga_node_event;

/**
 * @brief Creates a node and opens its socket.
 * @param[out] u    the node; close it with saratoga_node_close(); NULL after a
 *                  failure
 * @param c         config; strings are copied
 * @param[out] why  error message, ::SARATOGA_NODE_TEXT bytes, "" after success;
 *                  or NULL
 * @retval 0                     open
 * @retval SARATOGA_ERR_INVAL    an option is wrong
 * @retval SARATOGA_ERR_ALGORITHM see saratoga_config_check()
 * @retval SARATOGA_ERR_IO       socket or root cannot be opened, or a host name
 *                               is not known
 * @retval SARATOGA_ERR_NOMEM    no memory
 */
SARATOGA_API int saratoga_node_open(saratoga_node **u,
                                    const saratoga_node_config *c, char *why);
/**
 * @brief Closes and frees a node; partial files and their maps are kept. With a
 * private loop, this blocks until its threads are idle; with the caller's, the
 * node is freed once the loop has run.
 * @param u  node, or NULL
 */
SARATOGA_API void saratoga_node_close(saratoga_node *u);
/**
 * @brief Runs the node's private loop.
 * @param u           node
 * @param timeout_ms  returns after this time, or as soon as there is an event
 */
SARATOGA_API void saratoga_node_run(saratoga_node *u, unsigned timeout_ms);
/**
 * @brief Takes the oldest event.
 * @param u        node
 * @param[out] ev  the event
 * @retval 1 @p ev was filled in
 * @retval 0 there is none
 */
SARATOGA_API int saratoga_node_next_event(saratoga_node *u,
                                          saratoga_node_event *ev);
/**
 * @brief Sets a function that the loop calls when there are events.
 * @param u     node
 * @param fn    the function; must not close the node; NULL: none
 * @param user  handed to it
 */
SARATOGA_API void saratoga_node_on_events(saratoga_node *u,
                                          void (*fn)(void *user), void *user);
/**
 * @brief Begins a transfer or a deletion, or sends a no-op; a
 * ::SARATOGA_NODE_DONE follows.
 * @param u        node
 * @param t        the transfer; strings and options are copied
 * @param[out] id  identifies the transfer
 * @retval 0                  begun
 * @retval SARATOGA_ERR_INVAL something is missing or too long, leads out of the
 *                            folder, or is not possible for this type
 * @retval SARATOGA_ERR_NOMEM no memory
 */
SARATOGA_API int saratoga_node_start(saratoga_node *u,
                                     const saratoga_node_transfer *t,
                                     uint64_t *id);
/**
 * @brief Cancels a transfer of this side; received data is kept. A
 * ::SARATOGA_NODE_DONE follows.
 * @param u   node
 * @param id  of saratoga_node_start(); 0: all transfers that peers requested; a
 *            ::SARATOGA_NODE_SERVED follows for each
 * @retval 0                 the transfer will end
 * @retval SARATOGA_ERR_GONE no such transfer
 */
SARATOGA_API int saratoga_node_cancel(saratoga_node *u, uint64_t id);
/**
 * @brief Changes the sending rate during transfers, for example when a modem
 * changes its rate.
 * @param u         node
 * @param id        of saratoga_node_start(); 0: the rate shared by transfers
 *                  without their own options, current and future
 * @param rate_bps  bit/s of IP packets, at least 1
 * @retval 0                   set
 * @retval SARATOGA_ERR_INVAL  a rate of 0
 * @retval SARATOGA_ERR_STATE  id is 0 and the node was opened without a rate,
 *                             or the transfer does not send
 * @retval SARATOGA_ERR_GONE   no such transfer, or not yet begun
 */
SARATOGA_API int saratoga_node_set_rate(saratoga_node *u, uint64_t id,
                                        uint64_t rate_bps);
/**
 * @brief Takes a snapshot of a transfer of this side.
 * @param u        node
 * @param id       of saratoga_node_start()
 * @param[out] st  initialised by saratoga_stats_init()
 * @retval 0                  filled in
 * @retval SARATOGA_ERR_GONE  no such transfer, or not yet begun
 * @retval SARATOGA_ERR_INVAL @p st was not initialised
 */
SARATOGA_API int saratoga_node_get_stats(saratoga_node *u, uint64_t id,
                                         saratoga_stats *st);
/**
 * @brief Takes a snapshot of the node's statistics.
 * @param u        node
 * @param[out] st  initialised by saratoga_engine_stats_init()
 * @return as saratoga_engine_get_stats()
 */
SARATOGA_API int saratoga_node_get_engine_stats(saratoga_node *u,
                                                saratoga_engine_stats *st);
/**
 * @brief Number of callers with a wrong or missing passphrase or key, and of
 * REQUESTs not signed with auth_key.
 *
 * A stranger can forge the address.
 * @param u          node
 * @param[out] text  HOST:PORT of the newest, ::SARATOGA_NODE_ADDRESS bytes; ""
 *                   when there is none
 * @return number since the node was created
 */
SARATOGA_API uint64_t saratoga_node_rejected(const saratoga_node *u,
                                             char *text);
/**
 * @brief Number of transfers in progress, in both roles.
 * @param u  node
 * @return how many
 */
SARATOGA_API unsigned saratoga_node_active(const saratoga_node *u);
/**
 * @brief The local address.
 * @param u          node
 * @param[out] text  HOST:PORT, ::SARATOGA_NODE_ADDRESS bytes
 * @retval 0               written
 * @retval SARATOGA_ERR_IO the system call failed
 */
SARATOGA_API int saratoga_node_local_address(const saratoga_node *u,
                                             char *text);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_NODE_H */
