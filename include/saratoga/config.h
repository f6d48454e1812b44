/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/config.h
 * @brief Options of an engine and of a transfer. Size tags allow later versions
 * to add fields.
 */
#ifndef SARATOGA_CONFIG_H
#define SARATOGA_CONFIG_H

#include <saratoga/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup saratoga_options
 * @{ */

/** @brief Memory allocator; NULL means the C library's. */
typedef struct saratoga_allocator {
    /** Like realloc(); @p ptr NULL allocates, @p size 0 frees. */
    void *(*realloc)(void *user, void *ptr, size_t size);
    void *user; /**< handed to realloc */
} saratoga_allocator;

/** @brief One trace event, for logs. */
typedef struct saratoga_trace_event {
    const char *name;        /**< e.g. "saratoga:status_received" */
    saratoga_time now;       /**< when */
    saratoga_handle handle;  /**< the transfer concerned; 0: none */
    const char *const *keys; /**< names of the values, NULL-terminated */
    const double *values;    /**< one per key */
    const char *text;        /**< an explanation, or NULL */
} saratoga_trace_event;

/** @brief Receives trace events during engine calls; must not call the
 * engine. */
typedef void (*saratoga_trace_fn)(void *user, const saratoga_trace_event *ev);

/**
 * @brief Options of one transfer; start from saratoga_options_init().
 *
 * An engine has one set as its default (saratoga_config::transfer).  Durations
 * are nanoseconds and may be hours; 0 means at once, and ::SARATOGA_TIME_NEVER
 * means never.
 */
typedef struct saratoga_options {
    size_t struct_size;     /**< set by saratoga_options_init() */
    const char *congestion; /**< "open" (a fixed rate), "stfrc", "tfrc" or a
                                 window controller as in cong_list(); NULL:
                                 "open" when rate_bps is set, else "stfrc" */
    uint64_t rate_bps;      /**< open loop: the rate, bit/s of IP packets;
                                 otherwise a limit; 0: none */
    uint32_t profile;       /**< ::saratoga_profile of the peer */
    uint32_t checksum;      /**< ::saratoga_checksum of files that this side
                                 sends; default MD5 */
    uint32_t descriptor;    /**< ::saratoga_descriptor of files that this side
                                 sends; default ::SARATOGA_DESCRIPTOR_FIT */
    uint32_t
        max_descriptor;   /**< widest that this side accepts; default 64 bits */
    uint32_t timestamps;  /**< ::saratoga_timestamp; default
                               ::SARATOGA_TS_POSIX64_F */
    uint32_t payload;     /**< bytes of data per DATA packet; 0: as many as the
                               MTU allows */
    bool half_open_holes; /**< report holes whose end is no longer missing; set
                               by profiles */
    bool well_known_port; /**< send to port 7542 only; set by profiles */
    bool wide_entries;    /**< entry width = header width; set by profiles */
    bool accept_ieee_crc; /**< accept a CRC-32 of IEEE 802.3 as CRC-32C */
    bool unreliable;      /**< stream: never request STATUS, retransmit
                               nothing */
    bool no_status;       /**< one-way link: request no STATUS, repeat METADATA,
                               end after the last byte */
    bool multicast;       /**< the peer is a group: no STATUS requests. Set
                               automatically for a transfer received from a
                               group */
    bool lite;         /**< content may have errors: DATA may go by UDP-Lite if
                            the peer accepts it */
    bool update_check; /**< get: announce the local copy; in saratoga_node, the
                            local file of that name */
    bool emit_bundle;  /**< allow kind 10, of older drafts */
    uint32_t copies;   /**< times that a small last batch of retransmissions is
                            sent; 1 to 4, default 2 */
    uint32_t cycles;   /**< no_status or multicast: passes over the file;
                            default 1 */
    uint64_t unconfirmed; /**< bytes that may go to a peer, beyond three times
                               the bytes received from it (headers included),
                               before an echo proves its address; default 0.
                               UINT64_MAX: no limit, for links without address
                               spoofing */
    uint64_t uplink_bps;  /**< rate of the peer's uplink, bit/s, for the spacing
                               of STATUS requests; 0: not known */
    saratoga_time request_retry;  /**< delay of the first REQUEST retry, then
                                       doubled; default 1 s */
    uint32_t request_tries;       /**< maximum number of REQUESTs sent; default
                                       5 */
    uint32_t max_holes;           /**< maximum number of holes stored; 16 to
                                       2^24, default 200000 */
    saratoga_time status_spacing; /**< longest time between STATUS requests,
                                       which are sent once per RTT; default 1
                                       s */
    saratoga_time first_spacing;  /**< the same until an RTT is known; default
                                       100 ms */
    uint32_t spacing_packets;     /**< at most every n-th DATA packet requests a
                                       STATUS; default 64 */
    uint32_t reserved;            /**< 0 */
    saratoga_time quiet_status;   /**< receiver: time without a STATUS before an
                                       unsolicited one; default 250 ms */
    saratoga_time metadata_wait;  /**< receiver: wait for METADATA after the
                                       last byte; default 2 s */
    saratoga_time inactivity;     /**< the transfer ends after this silence;
                                       default 30 s */
    saratoga_time linger;   /**< receiver: time to answer late DATA, at least
                                 this and 4 RTT; default 5 s */
    saratoga_time poll;     /**< sender: shortest time between polls at the end;
                                 default 200 ms */
    saratoga_time poll_max; /**< sender: longest time between polls; default 5
                                 s */
    saratoga_time rtt_hint; /**< RTT known beforehand; 0: none */
    double symmetry;        /**< stfrc: forward delay / RTT; default 0.5 */
    size_t window;          /**< stream: bytes buffered at each end; default 1
                                 MiB */
    size_t block;           /**< maximum bytes per read or write; default 256
                                 KiB */
    uint32_t blocks;    /**< maximum concurrent reads, and writes; default 8 */
    uint32_t reserved2; /**< 0 */
    uint64_t early; /**< receiver: bytes of a file buffered before METADATA give
                         its size; default 64 MiB */
    const char *const *congestion_params; /**< cong_set() names,
                                               NULL-terminated; or NULL */
    const double *congestion_values;      /**< their values; all copied */
} saratoga_options;

/** @brief Sets every option to its default. @param o  options, of any
 * content */
#define saratoga_options_init(o) saratoga_options_init_sized((o), sizeof(*(o)))

/**
 * @brief Implements saratoga_options_init(); do not call directly.
 * @param o     options to fill in
 * @param size  sizeof(saratoga_options) as the caller was compiled
 */
SARATOGA_API void saratoga_options_init_sized(saratoga_options *o, size_t size);

/**
 * @brief Applies a profile (timestamps, holes, ports, widths).
 * @param o        options
 * @param profile  a ::saratoga_profile
 * @retval 0                  set
 * @retval SARATOGA_ERR_INVAL no such profile; options unchanged
 */
SARATOGA_API int saratoga_options_set_profile(saratoga_options *o,
                                              uint32_t profile);

/**
 * @brief Options of an engine; start from saratoga_config_init().
 *
 * Strings are copied when the config is used.
 */
typedef struct saratoga_config {
    size_t struct_size;               /**< set by saratoga_config_init() */
    const saratoga_options *transfer; /**< options of transfers without their
                                           own; copied; NULL: the defaults */
    const char *eid;    /**< Endpoint Identifier for beacons; UTF-8, up
                             to ::SARATOGA_EID_MAX; NULL: no beacons */
    uint8_t id_key[16]; /**< key from which unguessable Ids are derived, stable
                             per peer name and path; all zero: random Ids */
    int64_t posix_offset;  /**< ns to add to `now` to get POSIX time */
    uint32_t mtu;          /**< MTU of IP packets; 576 to 65535; default 1500 */
    uint32_t overhead;     /**< bytes of the IP and UDP headers; default 28; at
                                least 48 with ::SARATOGA_PKT_IPV6 */
    uint32_t max_datagram; /**< longest datagram in a batch; 0: from the MTU */
    uint32_t timer_granularity_us; /**< timer accuracy of the application, which
                                        bursts compensate; default 1000 */
    uint32_t max_transfers;        /**< concurrent transfers; default 1024 */
    uint32_t max_per_host;         /**< concurrent transfers per host; default
                                        128 */
    bool can_send;                 /**< capability; default true */
    bool willing_to_send;          /**< current willingness; default true */
    bool can_receive;              /**< capability; default true */
    bool willing_to_receive;       /**< current willingness; default true */
    bool streams;                  /**< accepts streams; default true */
    bool lite;                     /**< accepts UDP-Lite; default false */
    bool sha256;                   /**< knows the local code point for SHA-256;
                                        default false */
    bool time_y2k_plain;     /**< wire times are POSIX - 946684800, not the
                                  draft's 946684822 */
    bool update_check;       /**< METADATA may announce a REQUEST */
    bool own_transfers_only; /**< drop unrequested multicast transfers silently;
                                  default false */
    bool reserved[6];        /**< false */
    uint64_t uplink_bps; /**< rate of the uplink shared by all STATUS packets,
                              bit/s; 0: no limit */
    double status_share; /**< fraction of the uplink for STATUS; default 0.5 */
    uint32_t status_packets;       /**< maximum packets per hole list; default
                                        1024; fewer when uplink_bps is low */
    uint32_t error_rate;           /**< refusals per second to unknown peers;
                                        default 20 */
    saratoga_time beacon_interval; /**< interval of automatic beacons; 0
                                        (default): none */
    saratoga_pktinfo beacon_to;    /**< where beacons go */
    saratoga_trace_fn on_trace;    /**< NULL: none */
    void *user;                    /**< for on_trace */
    saratoga_allocator allocator;  /**< zeroed: the C library's */
    const uint8_t *auth_key;       /**< key shared with the peers; copied. It
                                        signs REQUESTs; unsigned ones and blind
                                        puts are refused. After a take or give,
                                        the copy is deleted only if the end of
                                        the transfer is signed. NULL: none */
    size_t auth_key_len;           /**< 16 to ::SARATOGA_KEY_MAX bytes */
    saratoga_time auth_window; /**< maximum age of this engine's challenge in a
                                    signed REQUEST, and maximum difference of
                                    the time in a REQUEST to a group; default 5
                                    min */
    bool auth_files;           /**< files are taken only with a checksum of
                                    ::SARATOGA_HMAC_SHA256 */
    bool reserved2[7];         /**< false */
    saratoga_pktinfo group; /**< multicast: where receivers send STATUS, so that
                                 other members hear what was already requested;
                                 zeroed: to the sender */
    uint32_t carrier_overhead; /**< bytes that a layer between this engine and
                                    UDP adds to each datagram; default 0 */
    uint32_t max_unproven;     /**< concurrent transfers of peers that have not
                                    proven their address; default 64 */
    uint32_t unproven_rate;    /**< requests per second of such peers passed to
                                    the application; further peers must first
                                    echo a timestamp; default 32 */
    uint32_t reserved3;        /**< 0 */
} saratoga_config;

/** @brief Sets every option to its default. @param c  config, of any content */
#define saratoga_config_init(c) saratoga_config_init_sized((c), sizeof(*(c)))

/**
 * @brief Implements saratoga_config_init(); do not call directly.
 * @param c     config to fill in
 * @param size  sizeof(saratoga_config) as the caller was compiled
 */
SARATOGA_API void saratoga_config_init_sized(saratoga_config *c, size_t size);

/** Size of the buffer for the explanation of a failed check, bytes. */
#define SARATOGA_WHY_MAX 256

/**
 * @brief Checks the options of a transfer.
 * @param o         options
 * @param[out] why  explanation, ::SARATOGA_WHY_MAX bytes; may be NULL
 * @retval 0                      usable
 * @retval SARATOGA_ERR_INVAL     a value is out of its range, or @p o was not
 *                                initialised
 * @retval SARATOGA_ERR_ALGORITHM no such controller; @p why lists the existing
 *                                ones
 */
SARATOGA_API int saratoga_options_check(const saratoga_options *o, char *why);

/**
 * @brief Checks a config, the options in it included.
 * @param c         config
 * @param[out] why  as in saratoga_options_check()
 * @return as saratoga_options_check()
 */
SARATOGA_API int saratoga_config_check(const saratoga_config *c, char *why);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_CONFIG_H */
