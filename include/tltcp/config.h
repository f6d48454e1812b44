/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/config.h
 * @brief Options of a connection, size-tagged so that they can grow.
 */
#ifndef TLTCP_CONFIG_H
#define TLTCP_CONFIG_H

#include <tltcp/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @brief A memory allocator; all zero: the C library's. */
typedef struct tltcp_allocator {
    /** Like realloc(); @p ptr NULL allocates, @p size 0 frees. */
    void *(*realloc)(void *user, void *ptr, size_t size);
    void *user; /**< handed to realloc */
} tltcp_allocator;

/** @brief An internal event of a connection, for qlog and debugging. */
typedef struct tltcp_trace_event {
    const char *name;        /**< qlog name, e.g. "recovery:packet_lost" */
    tltcp_time now;          /**< when */
    const char *const *keys; /**< names of the values, NULL-terminated */
    const double *values;    /**< one per key */
    const char *text;        /**< a word of explanation, or NULL */
} tltcp_trace_event;

/** @brief Takes trace events; called from inside engine calls, must not call
 * back into the connection. */
typedef void (*tltcp_trace_fn)(void *user, const tltcp_trace_event *ev);

/** @brief A caller that requests a connection. */
typedef struct tltcp_caller {
    const char *stream_id; /**< the requested stream; "" when none */
    const void *address;   /**< struct sockaddr of the caller, or NULL */
    size_t address_len;    /**< bytes at address */
} tltcp_caller;

/**
 * @brief Accepts or refuses a caller.  Runs on the listener's I/O thread with
 * no lock held; must not block.
 *
 * Accepted callers must still complete the handshake and may never reach
 * tltcp_accept(): count callers there.
 * @param user    tltcp_config::user
 * @param caller  the caller; valid during the call
 * @param[out] reason  TLTCP_REASON_MAX + 1 bytes for a sentence to the caller
 * @return true to accept, false to refuse
 */
typedef bool (*tltcp_accept_fn)(void *user, const tltcp_caller *caller,
                                char *reason);

/** What is dropped with a lost section; see struct tltcp_meta.  Sections
 * without a deadline are never dropped. */
enum tltcp_drop_policy {
    TLTCP_DROP_DEPENDENTS = 0, /**< its dependents, at once */
    TLTCP_DROP_SECTION = 1,    /**< nothing (the paper) */
    TLTCP_DROP_UNTIL_KEY = 2   /**< its dependents; if it is a picture (KEY,
                                    REFERENCE, DISPOSABLE), all pictures of its
                                    stream up to the next KEY, for at most ten
                                    seconds */
};

/** Forward error correction; both ends must be built with it. */
enum tltcp_fec {
    TLTCP_FEC_AUTO = 0, /**< where a deadline leaves no time to retransmit;
                             as much as the loss seen and the section's class
                             ask for; none without loss */
    TLTCP_FEC_OFF = 1,  /**< neither sent nor understood */
    TLTCP_FEC_ON = 2    /**< for all sections, as if nothing could be
                             retransmitted and at least 1 % were lost */
};

/**
 * @brief Options of a connection or a listener.
 *
 * Always start from tltcp_config_init().  Strings are copied when the config is
 * used; the struct may go out of scope afterwards.
 */
typedef struct tltcp_config {
    size_t struct_size; /**< set by tltcp_config_init() */

    const char *congestion; /**< controller by name, as in cong_list(); NULL:
                                 "auto" */
    const char *recovery;   /**< "packet", or the paper's "dupack" with the
                                 variants "dupack-tahoe", "dupack-reno" and
                                 "dupack-newreno"; NULL: "packet" */
    const char *passphrase; /**< shared secret, 8 to 512 bytes; NULL: no
                                 security */
    const uint8_t *key;     /**< 32 bytes instead of a passphrase, or NULL */
    size_t key_len;         /**< 0 or 32 */
    const char *stream_id;  /**< client: the requested stream; at most
                                 ::TLTCP_STREAM_ID_MAX bytes; NULL: none */
    uint32_t latency_ms; /**< time allowed to sections that are sent without a
                              deadline; 0: they never expire */
    bool deadline_at_receiver; /**< deadlines mean arrival: expire when now plus
                                 half the minimum RTT reaches them (paper,
                                 section 3) */
    bool unordered;            /**< receiver: whole sections as they complete */
    bool no_pacing;            /**< send at once whatever the window allows, as
                                    the paper's senders do */
    bool no_ecn;               /**< leave packets Not-ECT */
    bool report_fates;         /**< queue a ::TLTCP_EVENT_FATE per section; the
                                    last 65536 not taken are kept; without
                                    memory events are lost */
    bool no_mtu_probing;       /**< stay at base_datagram bytes */
    bool plain_udp;            /**< socket API: portable I/O even where faster
                                    calls exist */
    bool no_gso;        /**< socket API: no segmentation or receive offload */
    size_t send_buffer; /**< bytes not yet acknowledged or expired, 4 KiB to
                             1 GiB; default 4 MiB.  Sections that expire while
                             the peer reads nothing count beyond 1 GiB */
    size_t recv_buffer; /**< bytes not yet read, 4 KiB to 1 GiB; default
                             4 MiB */
    uint32_t max_sections;  /**< sections waiting at either end, 16 to 2^20;
                                 default 16384 */
    uint32_t max_datagram;  /**< largest UDP payload, 1200 to 65000; default
                                 1472 */
    uint32_t base_datagram; /**< UDP payload known to pass, 1200 up to
                                 max_datagram; default 1200 */
    uint64_t max_rate;      /**< bit/s on the wire; 0: no cap.  The rate of the
                                 "fixed" controller */
    uint32_t connect_timeout_ms; /**< give up connecting; default 5000 */
    uint32_t idle_timeout_ms;    /**< close after this silence; default 30000;
                                 the lower of both ends counts */
    uint32_t keep_alive_ms;      /**< client: ping after this silence; at most,
                                      and by default (0), a third of the idle
                                      timeout, and then every fiftieth of it
                                      until the peer is heard; UINT32_MAX:
                                      never */
    uint32_t ack_every; /**< ask the peer to acknowledge every n-th packet,
                             1 to 64; default 2 */
    uint32_t max_ack_delay_ms; /**< longest wait of our acknowledgements, 0 to
                                 1000; default 25 */
    uint32_t initial_window; /**< initial window in packets.  Raise it only on a
                                 path whose capacity is known and not shared
                                 (RFC 9002, 7.2 recommends 10); 0: the
                                 controller's own */
    uint32_t max_window;     /**< packets in flight at most; 0: no cap */
    uint32_t rto_min_ms;     /**< lower bound of the dupack recovery's RTO, 1
                                  to 60000; default 200 */
    uint32_t timer_granularity_us; /**< precision of the caller's timers;
                                 pacing bursts cover it; default 1000 */
    const char *qlog_dir; /**< folder for qlog traces, one .sqlog file per
                             connection; NULL: none */

    uint32_t max_connections; /**< listener: at most, half-open ones included;
                                   default 65536 */
    uint32_t max_half_open; /**< listener: unvalidated ones beyond which callers
                                 must return a token; default 256 */
    uint32_t max_per_address; /**< listener: at most from one address, half-open
                                 ones included; default 16384 */
    bool always_retry;        /**< listener: ask every caller for a token */
    tltcp_accept_fn on_caller;       /**< listener: decides; NULL: accept all */
    tltcp_trace_fn on_trace;         /**< NULL: none */
    void *user;                      /**< for on_caller and on_trace */
    tltcp_allocator allocator;       /**< zeroed: the C library's */
    const double *congestion_values; /**< values for congestion_params */
    const char *const *congestion_params; /**< cong_set() names,
                                 NULL-terminated; NULL: defaults */
    uint64_t rekey_packets; /**< secured: new keys after this many packets; 0:
                                 well before the cipher's limit */
    const char *const *more_passphrases; /**< listener: further passphrases that
                                 callers may use, at most 15, NULL-terminated,
                                 so that they can be changed without a pause; or
                                 NULL */
    const char *local_host;    /**< socket API, caller: local address or name to
                                    call from; NULL: any */
    const char *local_service; /**< socket API, caller: local port or service
                                    to call from; NULL or "0": any free port */
    uint64_t max_half_open_per_address; /**< listener: unvalidated ones of one
                                    address beyond which its callers must return
                                    a token; default 64 */
    uint32_t drop_policy;  /**< sender: ::tltcp_drop_policy; the dupack
                                recovery takes ::TLTCP_DROP_SECTION */
    bool no_look_ahead;    /**< sender: drop nothing before its deadline.
                                Otherwise, once the path is known to be too slow
                                for what is queued and expected, DISPOSABLE
                                sections are dropped first, then the REFERENCEs
                                before the next KEY, latest first, so that what is
                                kept arrives whole.  Never with the dupack
                                recovery */
    uint8_t fec;           /**< ::tltcp_fec; never with the dupack recovery */
    bool limited_transmit; /**< dupack recovery: the first two duplicates each
                               let a packet out (RFC 3042); the paper's
                               senders do not */
    bool in_order;         /**< sender: sections leave in the order written, as
                                in the paper and always with the dupack
                                recovery.  Otherwise AUDIO, and HEADER and KEY of
                                streams of which nothing else waits, leave
                                before much larger sections that were written
                                before them */
    const uint8_t *const *more_keys; /**< listener: further keys of 32 bytes,
                                 as more_passphrases and at most 15 with
                                 them, NULL-terminated; or NULL */
    uint64_t dscp; /**< DSCP of outgoing packets, 0 to 63; default 0: best
                        effort */
} tltcp_config;

/** @brief Fills in every default. @param c  config, of any content */
#define tltcp_config_init(c) tltcp_config_init_sized((c), sizeof(*(c)))

/**
 * @brief Behind tltcp_config_init(); do not call directly.
 * @param c     config to fill in
 * @param size  sizeof(tltcp_config) as the caller was compiled
 */
TLTCP_API void tltcp_config_init_sized(tltcp_config *c, size_t size);

/**
 * @brief Checks a config and says what is wrong with it.
 *
 * tltcp_config::congestion_params are checked only when a connection is made.
 * @param c  a config
 * @param[out] why  a sentence, TLTCP_REASON_MAX + 1 bytes; NULL: not wanted
 * @retval 0                     usable
 * @retval TLTCP_ERR_INVAL       a value is out of its range
 * @retval TLTCP_ERR_UNSUPPORTED ::TLTCP_FEC_ON, which this build lacks
 * @retval TLTCP_ERR_ALGORITHM   no such controller or recovery; @p why lists
 *                               those that exist
 */
TLTCP_API int tltcp_config_check(const tltcp_config *c, char *why);

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_CONFIG_H */
