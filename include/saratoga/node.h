/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/node.h
 * @brief A Saratoga node with sockets and files, on libuv: many transfers at
 * once, in both roles.
 *
 * Files are read and written on libuv's thread pool and never held in memory as
 * a whole.  What is received gets its name only when it is whole and verified;
 * until then it lies beside it, with a map of what is there, so that a later
 * transfer can go on, even after a crash.
 *
 * All calls belong to one thread, that of the loop.
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

struct uv_loop_s;

/** A node with its sockets and files. */
typedef struct saratoga_node saratoga_node;

/** Room for the text of an event or an error. */
#define SARATOGA_NODE_TEXT 512
/** Room for an address as text, with its port. */
#define SARATOGA_NODE_ADDRESS 80

/** @brief Options of a node; start from saratoga_node_config_init(). */
typedef struct saratoga_node_config {
    size_t struct_size;            /**< set by saratoga_node_config_init() */
    const saratoga_config *engine; /**< of its engine; copied; NULL: defaults */
    struct uv_loop_s *loop; /**< the caller's, or NULL: one of its own, run by
                                 saratoga_node_run() */
    const char *host;       /**< local address; NULL: any, IPv6 and IPv4 */
    const char *service;    /**< local port; NULL: a free one */
    const char *root;   /**< folder that peers may name; NULL: every request is
                             refused */
    bool may_read;      /**< peers may get and list; true */
    bool may_write;     /**< peers may put; false */
    bool may_delete;    /**< peers may delete and take; false */
    bool overwrite;     /**< puts may replace files; false */
    bool plain_udp;     /**< portable I/O even where faster calls exist */
    bool join;          /**< hear beacons and requests sent to the groups;
                             false */
    bool streams;       /**< named pipes below root are streams that peers may
                             get, one at a time; false */
    bool trust_cache;   /**< a file whose source will be deleted (take, give) is
                             not read back past the cache before the peer is
                             told that it is safe; false */
    uint32_t max_peers; /**< hosts served at once; 0: no limit; default 256 */
    uint32_t reserved2; /**< 0 */
    uint64_t quota;     /**< bytes taken in by puts, in all; 0: no limit */
    const char *beacon_host;    /**< where beacons go; NULL: the IPv4 group */
    const char *beacon_service; /**< NULL: 7542 */
    const char *passphrase;     /**< 8 to 512 bytes, shared with the peers: all
                                     that this node sends and takes is sealed;
                                     not with groups, UDP-Lite or one-way
                                     transfers; see docs/guide/
                                     security-keys.md.  NULL: plain */
    const uint8_t *key; /**< 32 bytes instead of a passphrase, or NULL */
    size_t key_len;     /**< 0 or 32 */
    const char *const
        *more_passphrases;           /**< further ones that callers may use,
                                          so that they can be changed without
                                          a pause, NULL-terminated; or NULL */
    const uint8_t *const *more_keys; /**< the same for keys of 32 bytes; at
                                          most 15 together */
    uint64_t rekey_packets;    /**< secured: new keys after so many packets; 0:
                                  well before the cipher's limit */
    const char *group;         /**< files that peers get go to this group, once
                                    for all who ask meanwhile; NULL: to each who
                                    asks */
    const char *group_service; /**< its port; NULL: 7542 */
} saratoga_node_config;

/** @brief Fills in every default. @param c  config, of any content */
#define saratoga_node_config_init(c) \
    saratoga_node_config_init_sized((c), sizeof(*(c)))

/**
 * @brief Behind saratoga_node_config_init(); do not call directly.
 * @param c     config to fill in
 * @param size  sizeof(saratoga_node_config) as the caller was compiled
 */
SARATOGA_API void saratoga_node_config_init_sized(saratoga_node_config *c,
                                                  size_t size);

/** @brief A transfer that this side asks for; start from
 * saratoga_node_transfer_init(). */
typedef struct saratoga_node_transfer {
    size_t struct_size;  /**< set by saratoga_node_transfer_init() */
    uint32_t type;       /**< ::saratoga_request_type */
    bool resume;         /**< go on where an earlier transfer ended */
    bool overwrite;      /**< a file that is there may be replaced */
    bool stream;         /**< put: what comes out of `input`, until its end;
                              get: should it be a stream, what comes goes into
                              `output` as it comes, and into no file */
    bool reserved;       /**< false */
    const char *host;    /**< the peer: a name or an address */
    const char *service; /**< its port; NULL: 7542 */
    const char *path;    /**< at the peer */
    const char *folder;  /**< local folder, which is never left; NULL: "." */
    const char *file;    /**< path in it; get and take: NULL: the last name of
                              what the peer sends */
    const saratoga_options *options; /**< copied; NULL: the node's, whose
                                          rate_bps all such transfers and those
                                          served share */
    void *user;                      /**< for events */
    int input;                       /**< stream: a descriptor to read, such as
                                          a pipe; not closed; without O_NONBLOCK
                                          it must be one that poll() knows */
    int output;                      /**< stream: one to write; likewise */
    const char *group; /**< get: the answer may go to this group, which is
                            heard; NULL: it will not; a host that is a group is
                            heard in any case */
    const char *group_service; /**< its port; NULL: 7542 */
} saratoga_node_transfer;

/** @brief Zeroes and tags. @param t  transfer, of any content */
#define saratoga_node_transfer_init(t) \
    saratoga_node_transfer_init_sized((t), sizeof(*(t)))

/**
 * @brief Behind saratoga_node_transfer_init(); do not call directly.
 * @param t     to set up
 * @param size  sizeof(saratoga_node_transfer) as the caller was compiled
 */
SARATOGA_API void saratoga_node_transfer_init_sized(saratoga_node_transfer *t,
                                                    size_t size);

/** Kinds of events. */
enum saratoga_node_event_type {
    SARATOGA_NODE_NONE = 0,   /**< nothing */
    SARATOGA_NODE_DONE = 1,   /**< a transfer of ours is over */
    SARATOGA_NODE_SERVED = 2, /**< a transfer that a peer asked for is over */
    SARATOGA_NODE_PEER = 3    /**< a beacon was heard */
};

/** @brief One event. */
typedef struct saratoga_node_event {
    uint32_t type;        /**< ::saratoga_node_event_type */
    int32_t error;        /**< DONE, SERVED: 0 or a negative ::saratoga_error */
    uint64_t id;          /**< DONE: of saratoga_node_start() */
    void *user;           /**< DONE: saratoga_node_transfer::user */
    uint32_t request;     /**< DONE, SERVED: ::saratoga_request_type */
    uint32_t status;      /**< DONE, SERVED: code on the wire */
    bool verified;        /**< received, and its checksum was right */
    bool already;         /**< nothing was missing: resumed, or up to date */
    bool unheard;         /**< sent to a group: whether its members have it all
                               is not known */
    bool joined;          /**< SERVED: the file is on its way to a group, and
                              that was the answer */
    uint32_t checksum;    /**< ::saratoga_checksum of the file */
    saratoga_stats stats; /**< DONE, SERVED: at the end */
    saratoga_entry entry; /**< DONE, SERVED: of the file, as far as known */
    const uint8_t *record; /**< DONE of getdir: the directory record; valid
                              until the next saratoga_node_next_event() */
    size_t record_len;     /**< bytes of it */
    uint32_t abilities;    /**< PEER: of ::saratoga_ability */
    uint32_t descriptor;   /**< PEER: widest ::saratoga_descriptor */
    uint64_t free_kib;     /**< PEER: with ::SARATOGA_FREE_SPACE */
    char address[SARATOGA_NODE_ADDRESS]; /**< PEER, SERVED: HOST:PORT */
    char eid[SARATOGA_EID_MAX + 1];      /**< PEER */
    char path[SARATOGA_PATH_MAX];  /**< DONE, SERVED: what was asked for */
    char text[SARATOGA_NODE_TEXT]; /**< why it failed, a sentence */
} saratoga_node_event;

/**
 * @brief Makes a node and opens its socket.
 * @param[out] u    the node; end it with saratoga_node_close()
 * @param c         config; strings are copied
 * @param[out] why  what went wrong, ::SARATOGA_NODE_TEXT bytes
 * @retval 0                     open
 * @retval SARATOGA_ERR_INVAL    an option is wrong
 * @retval SARATOGA_ERR_ALGORITHM see saratoga_config_check()
 * @retval SARATOGA_ERR_IO       socket or root cannot be opened
 * @retval SARATOGA_ERR_NOMEM    no memory
 */
SARATOGA_API int saratoga_node_open(saratoga_node **u,
                                    const saratoga_node_config *c, char *why);
/**
 * @brief Ends a node: keeps partial files and their maps, frees.  With a loop
 * of its own this blocks until its threads are idle; else it frees once the
 * loop has run.
 * @param u  node, or NULL
 */
SARATOGA_API void saratoga_node_close(saratoga_node *u);
/**
 * @brief Runs the node's own loop.
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
 * @brief Has a function called, from the loop, when there are events.
 * @param u     node
 * @param fn    the function; must not close the node; NULL: none
 * @param user  handed to it
 */
SARATOGA_API void saratoga_node_on_events(saratoga_node *u,
                                          void (*fn)(void *user), void *user);
/**
 * @brief Begins a transfer or a deletion; a ::SARATOGA_NODE_DONE follows.
 * @param u        node
 * @param t        what
 * @param[out] id  names it
 * @retval 0                  begun
 * @retval SARATOGA_ERR_INVAL something is missing or too long
 * @retval SARATOGA_ERR_NOMEM no memory
 */
SARATOGA_API int saratoga_node_start(saratoga_node *u,
                                     const saratoga_node_transfer *t,
                                     uint64_t *id);
/**
 * @brief Ends a transfer of ours; what came is kept.  A ::SARATOGA_NODE_DONE
 * follows.
 * @param u   node
 * @param id  of saratoga_node_start()
 * @retval 0                 will end
 * @retval SARATOGA_ERR_GONE no such transfer
 */
SARATOGA_API int saratoga_node_cancel(saratoga_node *u, uint64_t id);
/**
 * @brief Changes a rate while files are sent, as when a modem changes its own.
 * @param u         node
 * @param id        of saratoga_node_start(); 0: what transfers without options
 * of their own share, now and later
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
 * @brief Takes a snapshot of a transfer of ours.
 * @param u        node
 * @param id       of saratoga_node_start()
 * @param[out] st  set up with saratoga_stats_init()
 * @retval 0                  filled in
 * @retval SARATOGA_ERR_GONE  no such transfer, or not yet begun
 */
SARATOGA_API int saratoga_node_get_stats(saratoga_node *u, uint64_t id,
                                         saratoga_stats *st);
/**
 * @brief Statistics of the node.
 * @param u        node
 * @param[out] st  set up with saratoga_engine_stats_init()
 * @return as saratoga_engine_get_stats()
 */
SARATOGA_API int saratoga_node_get_engine_stats(saratoga_node *u,
                                                saratoga_engine_stats *st);
/**
 * @brief Transfers under way, in both roles.
 * @param u  node
 * @return how many
 */
SARATOGA_API unsigned saratoga_node_active(const saratoga_node *u);
/**
 * @brief The local address.
 * @param u          node
 * @param[out] text  HOST:PORT, ::SARATOGA_NODE_ADDRESS bytes
 * @retval 0               written
 * @retval SARATOGA_ERR_IO the system does not tell
 */
SARATOGA_API int saratoga_node_local_address(const saratoga_node *u,
                                             char *text);

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_NODE_H */
