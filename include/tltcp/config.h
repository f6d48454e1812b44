/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/config.h
 * @brief Options of a connection. A size tag allows later versions to add
 * fields.
 */
#ifndef TLTCP_CONFIG_H
#define TLTCP_CONFIG_H

#include <tltcp/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_options
 * @{ */

/** @brief A memory allocator; all zero: the C library's. */
typedef struct tltcp_allocator {
    /** Like realloc(); @p ptr NULL allocates, @p size 0 frees. */
    void *(*realloc)(void *user, void *ptr, size_t size);
    void *user; /**< handed to realloc */
} tltcp_allocator;

/**
 * @brief An internal event of a connection, for qlog and debugging.
 *
 * Events, their values and their text; later versions may have more:
 *
 * - transport:packet_sent, transport:packet_received: packet_number; size in
 *   bytes.
 * - transport:packet_dropped, a packet that was not taken in: text is invalid,
 *   duplicate, unexpected_packet, decryption_failure or limit_reached.
 * - recovery:metrics_updated: congestion_window, bytes_in_flight and ssthresh
 *   in bytes; smoothed_rtt, min_rtt and latest_rtt in ms; pacing_rate in bit/s.
 * - recovery:packets_lost: packets.
 * - tltcp:section_fate: section; bytes; acknowledged, in bytes.  Text is a
 *   ::tltcp_fate: delivered, partial, expired, unsent or abandoned.
 * - connectivity:connection_state_updated: error, a ::tltcp_error.  Text is
 *   open or closed.
 * - security:caller_rejected and security:caller_turned_away, of a listener:
 *   how many so far.  Text says why.
 */
typedef struct tltcp_trace_event {
    const char *name;        /**< qlog name, e.g. "recovery:packets_lost" */
    tltcp_time now;          /**< when */
    const char *const *keys; /**< names of the values, NULL-terminated */
    const double *values;    /**< one per key */
    const char *text;        /**< a short explanation, or NULL */
} tltcp_trace_event;

/** @brief Receives trace events during engine calls; must not call back into
 * the connection. */
typedef void (*tltcp_trace_fn)(void *user, const tltcp_trace_event *ev);

/** @brief A caller that requests a connection. */
typedef struct tltcp_caller {
    const char *stream_id; /**< the requested stream; "" when none */
    const void *address;   /**< struct sockaddr of the caller, or NULL */
    size_t address_len;    /**< bytes at address */
    unsigned secret; /**< which of the listener's secrets the caller has: 0:
                          tltcp_config::passphrase or tltcp_config::key, or none
                          is required; from 1: the entries of
                          tltcp_listener_options::more_keys, followed by those
                          of tltcp_listener_options::more_passphrases */
    const uint8_t *identity; /**< the caller's static public key, 32 bytes, of
                                  which it has the secret; NULL if
                                  tltcp_identity_options::secret is NULL */
} tltcp_caller;

/**
 * @brief Accepts or refuses a caller.  Runs on an I/O thread of the listener
 * with no lock held; must not block. Calls for one listener do not overlap.
 *
 * Accepted callers must still complete the handshake and may never reach
 * tltcp_accept(): count callers there.
 * @param user    tltcp_config::user
 * @param caller  the caller; valid during the call
 * @param[out] reason  buffer of TLTCP_REASON_MAX + 1 bytes for a reason sent to
 *                     the caller
 * @return true to accept, false to refuse
 */
typedef bool (*tltcp_accept_fn)(void *user, const tltcp_caller *caller,
                                char *reason);

/** Sections to drop after a lost section; see struct tltcp_meta. Sections
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
    TLTCP_FEC_AUTO = 0, /**< for sections whose deadline leaves no time to
                             retransmit; as much as the measured loss and the
                             section's class require; none without loss */
    TLTCP_FEC_OFF = 1,  /**< neither sent nor understood */
    TLTCP_FEC_ON = 2    /**< for all sections, as if retransmission were
                             impossible and at least 1 % of packets were lost */
};

/** @brief Options of a listener: who may call, and resource limits.
 *
 * For limits, an IPv4 address or an IPv6 /64 counts as one address; an IPv6 /56
 * gets twice the limit, a /48 four times. */
typedef struct tltcp_listener_options {
    tltcp_accept_fn on_caller; /**< accepts or refuses callers; NULL: accepts
                                    all */
    const char *const *more_passphrases; /**< further passphrases that callers
                                              may use, at most 15,
                                              NULL-terminated, so that a
                                              passphrase can be changed without
                                              interruption; or NULL */
    const uint8_t *const *more_keys; /**< further keys of 32 bytes, likewise, at
                                 most 15 with the passphrases; or NULL */
    uint32_t max_connections; /**< maximum number of connections, including
                                   half-open ones; default 65536 */
    uint32_t max_per_address; /**< maximum from one address; default 16384. An
                                   IPv6 /56 may have twice, a /48 four times as
                                   many, but if this is less than
                                   max_connections, at most three quarters of
                                   those */
    uint32_t max_half_open;   /**< number of half-open connections above which
                                   callers must return a token; default 256.
                                   From 8 times this number, callers with a
                                   token are dropped at random; from 16 times,
                                   all of them */
    uint32_t max_half_open_per_address; /**< likewise, from one address; default
                                             64. With a token, 16 times this
                                             number */
    uint64_t max_memory;  /**< bytes that callers' data may occupy: 32 KiB per
                               connection, which also limits their number, and
                               the rest for connections that need more. One
                               address may use at most a quarter, an IPv6 /56
                               half. Packets beyond the limit count as lost. At
                               least 1 MiB; default 1 GiB */
    bool always_retry;    /**< requires a token from every caller; default
                               false */
    uint8_t reserved[31]; /**< 0 */
} tltcp_listener_options;

/**
 * @brief Static keys that tell peers apart: X25519 (RFC 7748), 32 bytes.
 *
 * Each end proves that it has the secret of its static key (Noise IK). A
 * listener with a static key accepts only callers with one, and a caller with
 * one connects only to the listener that it names. A passphrase or key can be
 * required in addition. Keys are copied when the config is used.
 */
typedef struct tltcp_identity_options {
    const uint8_t *secret;         /**< own secret key; NULL: no static keys */
    const uint8_t *listener;       /**< caller, required: the listener's public
                                        key */
    const uint8_t *const *callers; /**< listener: public keys of callers that
                                        are accepted, NULL-terminated; NULL:
                                        tltcp_listener_options::on_caller, then
                                        required, decides by
                                        tltcp_caller::identity */
    uint8_t reserved[40];          /**< 0 */
} tltcp_identity_options;

/** What carries the datagrams of the socket API. Over TCP, deadlines expire in
 * the sender as usual, but lost packets delay everything behind them. */
enum tltcp_transport {
    TLTCP_TRANSPORT_UDP = 0,  /**< UDP */
    TLTCP_TRANSPORT_AUTO = 1, /**< caller: UDP, or TCP if that answers and UDP
                                   does not within 1.5 s, or half of
                                   tltcp_config::connect_timeout_ms if that is
                                   less. Listener: both, on one port */
    TLTCP_TRANSPORT_TCP = 2   /**< TCP */
};

/** Maximum of tltcp_io_options::threads. */
#define TLTCP_THREADS_MAX 64

/** @brief Options of the socket API: datagram input and output. The engine uses
 * only timer_granularity_us and dscp. */
typedef struct tltcp_io_options {
    const char *local_host;    /**< caller: local address or name to call from;
                                    NULL: any */
    const char *local_service; /**< caller: local port number or name to call
                                    from; NULL or "0": any free port */
    uint64_t dscp; /**< DSCP of sent packets, 0 to 63; default 0: best effort */
    uint32_t timer_granularity_us; /**< accuracy of timers in microseconds,
                                        which pacing compensates by bursts;
                                        default 1000 */
    bool batches;      /**< use system calls for many packets, where available;
                            default true */
    bool offload;      /**< with batches: use segmentation and receive offload;
                            default true */
    bool own_thread;   /**< caller: use a separate I/O thread; default false.
                            For a bulk transfer beside other sockets */
    uint8_t transport; /**< ::tltcp_transport; default ::TLTCP_TRANSPORT_UDP;
                            only with the packet recovery */
    uint8_t threads;   /**< listener: I/O threads, 1 to ::TLTCP_THREADS_MAX;
                            default 1. Each serves a part of the connections, so
                            that a listener can use several processors; limits
                            hold for all together. Connections over TCP have the
                            first thread. More than one needs Linux, batches and
                            UDP */
    uint8_t reserved[31]; /**< 0 */
} tltcp_io_options;

/** @brief Options of packets and acknowledgements. */
typedef struct tltcp_packet_options {
    uint32_t max_datagram;  /**< largest UDP payload in bytes, 1200 to 65000;
                                 default 1472 */
    uint32_t base_datagram; /**< UDP payload known to pass the path in bytes,
                                 1200 to max_datagram; default 1200 */
    uint32_t ack_every;     /**< the peer acknowledges every n-th packet, 1 to
                                 64; default 2 */
    uint32_t max_ack_delay_ms; /**< longest delay of our acknowledgements in
                                    milliseconds, 0 to 1000; default 25 */
    bool mtu_probing;     /**< search for the largest UDP payload that passes,
                               up to max_datagram; default true */
    bool ecn;             /**< mark packets as ECN-capable; default true */
    uint8_t reserved[38]; /**< 0 */
} tltcp_packet_options;

/** @brief Options of the congestion controller. */
typedef struct tltcp_controller_options {
    const char *const *params; /**< parameter names for cong_set(),
                                    NULL-terminated; NULL: defaults */
    const double *values;      /**< their values */
    uint32_t initial_window; /**< initial window in packets, spread over a round
                                  trip. Raise it only on a path whose capacity
                                  is known and not shared (RFC 6928 and RFC 9002
                                  section 7.2 use 10). 0: the controller's */
    uint32_t max_window;     /**< maximum packets in flight; 0: no limit */
    bool pacing; /**< spread packets over the round trip; default true. false:
                      send everything the window allows at once (as the papers'
                      senders) */
    uint8_t reserved[39]; /**< 0 */
} tltcp_controller_options;

/** @brief Options that reproduce the senders of the papers. */
typedef struct tltcp_paper_options {
    bool in_order; /**< send sections in the order written, as in the paper and
                        always with the dupack recovery; default false.
                        Otherwise AUDIO, and HEADER and KEY of streams with
                        nothing else queued, overtake much larger sections */
    bool limited_transmit; /**< dupack recovery: each of the first two
                                duplicates releases a packet (RFC 3042); default
                                false */
    bool hold_skipped;    /**< dupack recovery: skipped data that did not arrive
                               keeps its place in the window until the
                               retransmission timer expires; newer data does not
                               restart the timer. Default false: it counts as
                               delivered */
    uint8_t unused[1];    /**< 0 */
    uint32_t rto_min_ms;  /**< dupack recovery: lower bound of the RTO in
                               milliseconds, 1 to 60000; default 200 */
    uint8_t reserved[40]; /**< 0 */
} tltcp_paper_options;

/**
 * @brief Options of a connection or a listener.
 *
 * Always start from tltcp_config_init().  Strings are copied when the config is
 * used; the caller may then free them and the struct.
 */
typedef struct tltcp_config {
    size_t struct_size; /**< set by tltcp_config_init() */

    const char *congestion; /**< name of the controller, as in cong_list();
                                 NULL: "auto" */
    const char *recovery;   /**< "packet", or the paper's "dupack". The
                                 controller selects the variant of "dupack",
                                 unless "dupack-tahoe", "dupack-reno",
                                 "dupack-newreno" or "dupack-sack" is given;
                                 NULL: "packet" */
    const char *passphrase; /**< shared secret, 8 to 512 bytes; NULL: no
                                 security */
    const uint8_t *key;     /**< 32 bytes instead of a passphrase, or NULL */
    size_t key_len;         /**< 0 or 32 */
    const char *stream_id;  /**< caller: the requested stream, up to
                                 ::TLTCP_STREAM_ID_MAX bytes; NULL: none */
    const char *qlog_dir;   /**< folder for traces, one .sqlog file per
                                 connection; NULL: none */

    size_t send_buffer;    /**< maximum bytes neither acknowledged nor expired,
                                4 KiB to 1 GiB; default 4 MiB. Data that expires
                                while the peer reads nothing counts above 1
                                GiB */
    size_t recv_buffer;    /**< maximum bytes received and not yet read, 4 KiB
                                to 1 GiB; default 4 MiB */
    uint64_t max_rate;     /**< maximum bit/s on the wire; 0: no limit. The rate
                                of the "fixed" controller */
    uint32_t max_sections; /**< maximum sections queued at each end, 16 to 2^20;
                                default 16384 */

    uint32_t latency_ms; /**< deadline of sections without one, in milliseconds
                              after sending; 0: they never expire */
    uint32_t connect_timeout_ms; /**< gives up connecting after this time;
                                      default 5000 */
    uint32_t idle_timeout_ms; /**< closes after this silence; the lower value of
                                   both ends applies; default 30000 */
    uint32_t keep_alive_ms;   /**< caller: pings after this silence, then every
                                   fiftieth of the idle timeout until the peer
                                   answers. At most a third of the idle timeout,
                                   which is also the default (0); UINT32_MAX:
                                   never */
    uint32_t drop_policy;     /**< sender: ::tltcp_drop_policy; the dupack
                                   recovery always has ::TLTCP_DROP_SECTION */
    uint32_t fec;             /**< ::tltcp_fec; never with the dupack
                                   recovery */
    uint64_t rekey_packets;   /**< secured: new keys after this many packets; 0:
                                   well before the cipher's limit */

    bool deadline_at_receiver; /**< deadlines mean arrival: a section expires
                                    when now plus half the minimum RTT reaches
                                    its deadline (paper, section 3) */
    bool unordered;            /**< receiver: deliver whole sections as they
                                    complete */
    bool report_fates; /**< queue a ::TLTCP_EVENT_FATE for each section; the
                            newest 65536 are kept */
    bool look_ahead;   /**< sender: when the path cannot carry the queued
                            sections and those expected from the streams'
                            cadence in time, give up DISPOSABLE sections first,
                            then the REFERENCEs before the next KEY, latest
                            first, so that the rest arrives complete. Default
                            true; never with the dupack recovery */
    uint8_t unused[4]; /**< 0 */

    tltcp_listener_options listener;     /**< options of a listener */
    tltcp_io_options io;                 /**< options of the socket API */
    tltcp_packet_options packets;        /**< options of packets */
    tltcp_controller_options controller; /**< options of congestion control */
    tltcp_paper_options paper;           /**< options for experiments with the
                                              papers */

    tltcp_trace_fn on_trace;   /**< receives trace events; NULL: none */
    void *user;                /**< passed to on_trace and
                                    tltcp_listener_options::on_caller */
    tltcp_allocator allocator; /**< zeroed: the C library's */

    tltcp_identity_options identity; /**< static keys; default: none */
} tltcp_config;

/** @brief Sets every option to its default. @param c  config, of any content */
#define tltcp_config_init(c) tltcp_config_init_sized((c), sizeof(*(c)))

/**
 * @brief Implements tltcp_config_init(); do not call directly.
 * @param c     config to fill in
 * @param size  sizeof(tltcp_config) as the caller was compiled
 */
TLTCP_API void tltcp_config_init_sized(tltcp_config *c, size_t size);

/**
 * @brief Checks a config and describes the first error.
 *
 * tltcp_controller_options::params are checked only when a connection is
 * created.
 * @param c  a config; NULL: defaults
 * @param[out] why  error message, TLTCP_REASON_MAX + 1 bytes; may be NULL
 * @retval 0                     usable
 * @retval TLTCP_ERR_INVAL       a value is out of range, or @p c was not
 *                               initialised
 * @retval TLTCP_ERR_UNSUPPORTED ::TLTCP_FEC_ON is not available in this build,
 *                               the dupack recovery over TCP, or several I/O
 *                               threads over TCP alone, without batches or not
 *                               on Linux
 * @retval TLTCP_ERR_ALGORITHM   no such controller or recovery; @p why lists
 *                               the existing ones
 */
TLTCP_API int tltcp_config_check(const tltcp_config *c, char *why);

/**
 * @brief The public key that belongs to a static secret key.
 * @param secret  32 random bytes
 * @param[out] public_key  32 bytes, to be given to the other side
 * @return 0 or TLTCP_ERR_NOMEM
 */
TLTCP_API int tltcp_identity_public(const uint8_t *secret, uint8_t *public_key);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_CONFIG_H */
