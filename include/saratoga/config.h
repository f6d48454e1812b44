/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/config.h
 * @brief Options of an engine and of a transfer, size-tagged so that they can
 * grow.
 */
#ifndef SARATOGA_CONFIG_H
#define SARATOGA_CONFIG_H

#include <saratoga/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Where memory comes from; NULL means the C library's. */
typedef struct saratoga_allocator {
    /** Like realloc(); @p ptr NULL allocates, @p size 0 frees. */
    void *(*realloc)(void *user, void *ptr, size_t size);
    void *user; /**< handed to realloc */
} saratoga_allocator;

/** @brief One trace event, for logs. */
typedef struct saratoga_trace_event {
    const char *name;        /**< e.g. "saratoga:status_received" */
    saratoga_time now;       /**< when */
    saratoga_handle handle;  /**< of which transfer; 0: of none */
    const char *const *keys; /**< names of the values, NULL-terminated */
    const double *values;    /**< one per key */
    const char *text;        /**< an explanation, or NULL */
} saratoga_trace_event;

/** @brief Receives trace events from inside engine calls; it must not call
 * the engine. */
typedef void (*saratoga_trace_fn)(void *user, const saratoga_trace_event *ev);

/**
 * @brief Options of one transfer; start from saratoga_options_init().
 *
 * An engine has one set as its default (saratoga_config::transfer).  Durations
 * are nanoseconds and may be hours; 0 in one of them means at once, and
 * ::SARATOGA_TIME_NEVER never.
 */
typedef struct saratoga_options {
    size_t struct_size;     /**< set by saratoga_options_init() */
    const char *congestion; /**< "open" (the rate alone), "stfrc", "tfrc" or a
                                 window controller as in cong_list(); NULL:
                                 "open" when rate_bps is set, else "stfrc" */
    uint64_t rate_bps;      /**< open loop: bit/s of IP packets; otherwise a
                                 cap; 0: none */
    uint32_t profile;       /**< ::saratoga_profile of the peer */
    uint32_t checksum;      /**< ::saratoga_checksum wanted for files that this
                                 side sends; default MD5 */
    uint32_t descriptor;    /**< ::saratoga_descriptor: of files that this side
                                 sends; default ::SARATOGA_DESCRIPTOR_FIT */
    uint32_t
        max_descriptor;   /**< widest that this side takes; default 64 bits */
    uint32_t timestamps;  /**< ::saratoga_timestamp; default
                               ::SARATOGA_TS_POSIX64_F */
    uint32_t payload;     /**< bytes of data in a DATA packet; 0: what the MTU
                               leaves */
    bool half_open_holes; /**< emit holes whose end is not missing any more;
                               set by profiles */
    bool well_known_port; /**< send to port 7542 only; set by profiles */
    bool wide_entries;    /**< entry width = header width; set by profiles */
    bool accept_ieee_crc; /**< a CRC-32 of IEEE 802.3 passes as CRC-32C */
    bool unreliable;      /**< stream: never ask for STATUS, repair nothing */
    bool no_status;    /**< one-way link: ask for nothing, repeat METADATA, end
                          after the last byte */
    bool multicast;    /**< the peer is a group: no STATUS requests; a
                            transfer that is received from a group becomes
                            one on its own */
    bool lite;         /**< content may have errors: DATA may go by
                            UDP-Lite when the peer takes it */
    bool update_check; /**< get: announce the copy held; saratoga_node: the
                          local file of that name */
    bool emit_bundle;  /**< allow kind 10, of older drafts */
    uint32_t copies;   /**< times that a small last batch of repairs is
                            sent; 1 to 4, default 2 */
    uint32_t cycles;   /**< no_status or multicast: passes over the file;
                            default 1 */
    uint64_t unconfirmed; /**< bytes that may go to a peer beyond three times
                               what it sent, headers included, before it has
                               proven its address by an echo; 0 (default).
                               UINT64_MAX: no limit, for links on which nobody
                               forges addresses */
    uint64_t uplink_bps;  /**< rate of the peer's uplink, bit/s: STATUS requests
                             are spaced to fit; 0: not known */
    saratoga_time request_retry;  /**< first REQUEST retry; 1 s; doubles */
    uint32_t request_tries;       /**< REQUESTs sent at most; 5 */
    uint32_t max_holes;           /**< holes kept at most; 200000; 16 to 2^24 */
    saratoga_time status_spacing; /**< between STATUS requests: once per RTT,
                                       but at least each 1 s */
    saratoga_time first_spacing;  /**< the same without an RTT; 100 ms */
    uint32_t spacing_packets;     /**< and at most each n-th DATA; 64 */
    uint32_t reserved;            /**< 0 */
    saratoga_time quiet_status;   /**< receiver: shortest time without a STATUS
                                       before one is volunteered; 250 ms */
    saratoga_time metadata_wait;  /**< receiver: without METADATA after the last
                                       byte; 2 s */
    saratoga_time inactivity;     /**< end after this silence; 30 s */
    saratoga_time linger;   /**< receiver: answer stray DATA; at least this
                                 and 4 RTT; 5 s */
    saratoga_time poll;     /**< sender: shortest time between polls at the
                                 end; 200 ms */
    saratoga_time poll_max; /**< and longest; 5 s */
    saratoga_time rtt_hint; /**< RTT known beforehand; 0: none */
    double symmetry;        /**< stfrc: forward delay / RTT; 0.5 */
    size_t window;          /**< stream: bytes kept at either end; 1 MiB */
    size_t block;           /**< bytes of one read or write at most; 256 KiB */
    uint32_t blocks;    /**< reads, and as many writes, under way at most; 8 */
    uint32_t reserved2; /**< 0 */
    uint64_t early; /**< receiver: bytes of a file kept before METADATA give its
                       size; 64 MiB */
    const char *const *congestion_params; /**< cong_set() names,
                                               NULL-terminated; or NULL */
    const double *congestion_values;      /**< values for them; all is copied */
} saratoga_options;

/** @brief Fills in every default. @param o  options, of any content */
#define saratoga_options_init(o) saratoga_options_init_sized((o), sizeof(*(o)))

/**
 * @brief Behind saratoga_options_init(); do not call directly.
 * @param o     options to fill in
 * @param size  sizeof(saratoga_options) as the caller was compiled
 */
SARATOGA_API void saratoga_options_init_sized(saratoga_options *o, size_t size);

/**
 * @brief Sets what a profile stands for (timestamps, holes, ports, widths).
 * @param o        options
 * @param profile  a ::saratoga_profile
 * @retval 0                  set
 * @retval SARATOGA_ERR_INVAL there is no such profile; unchanged
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
    const saratoga_options *transfer; /**< of transfers that have none of their
                                           own; copied; NULL: the defaults */
    const char *eid;    /**< Endpoint Identifier for beacons; UTF-8, up
                             to ::SARATOGA_EID_MAX; NULL: no beacons */
    uint8_t id_key[16]; /**< derives Ids that are stable per peer name and path,
                           and unguessable; all zero: random Ids */
    int64_t posix_offset;  /**< ns to add to `now` for POSIX time */
    uint32_t mtu;          /**< of IP packets; 576 to 65535; default 1500 */
    uint32_t overhead;     /**< bytes of the IP and UDP headers; 28 (default);
                                48 at least with ::SARATOGA_PKT_IPV6 */
    uint32_t max_datagram; /**< longest in a batch; 0: from the MTU */
    uint32_t timer_granularity_us; /**< timer accuracy of the application;
                                      bursts cover it; 1000 */
    uint32_t max_transfers;        /**< at once; 1024 */
    uint32_t max_per_host;         /**< of one host; 128 */
    bool can_send;                 /**< capability; true */
    bool willing_to_send;          /**< now; true */
    bool can_receive;              /**< capability; true */
    bool willing_to_receive;       /**< now; true */
    bool streams;                  /**< can take streams; true */
    bool lite;                     /**< can take UDP-Lite; false */
    bool sha256;                   /**< knows the local code point; false */
    bool time_y2k_plain;     /**< wire times are POSIX - 946684800, not the
                                  draft's 946684822 */
    bool update_check;       /**< METADATA may announce a REQUEST */
    bool own_transfers_only; /**< drop unrequested multicast transfers silently;
                                false */
    bool reserved[6];        /**< false */
    uint64_t uplink_bps; /**< rate of the uplink that all STATUS share, bit/s;
                            0: no limit */
    double status_share; /**< of it that they may use; 0.5 */
    uint32_t status_packets;       /**< packets of one hole list at most; 1024;
                                        fewer when uplink_bps is low */
    uint32_t error_rate;           /**< refusals to strangers per second; 20 */
    saratoga_time beacon_interval; /**< 0 (default): none on its own */
    saratoga_pktinfo beacon_to;    /**< where beacons go */
    saratoga_trace_fn on_trace;    /**< NULL: none */
    void *user;                    /**< for on_trace */
    saratoga_allocator allocator;  /**< zeroed: the C library's */
    const uint8_t *auth_key;       /**< copied; shared with the peers: REQUESTs
                                        from here are signed with it, others
                                        refused unless they are; blind puts are
                                        refused; a copy is deleted after a take
                                        or give only when its end is signed.
                                        NULL: none */
    size_t auth_key_len;           /**< 16 to ::SARATOGA_KEY_MAX bytes */
    saratoga_time auth_window; /**< by how much the time in a REQUEST may differ
                                    from this engine's; 5 min */
    bool auth_files;           /**< files are taken only with a checksum of
                                    ::SARATOGA_HMAC_SHA256 */
    bool reserved2[7];         /**< false */
    saratoga_pktinfo group; /**< multicast: where receivers send STATUS, so that
                                 the others hear what is asked for already;
                                 zeroed: to the sender */
    uint32_t carrier_overhead; /**< bytes that something between this engine and
                                    UDP adds to each datagram; 0 */
    uint32_t max_unproven;     /**< transfers at once that peers began who have
                                    not proven their address; 64 */
    uint32_t unproven_rate;    /**< requests of such peers per second that are
                                    passed on; others are first asked to echo a
                                    timestamp; 32 */
    uint32_t reserved3;        /**< 0 */
} saratoga_config;

/** @brief Fills in every default. @param c  config, of any content */
#define saratoga_config_init(c) saratoga_config_init_sized((c), sizeof(*(c)))

/**
 * @brief Behind saratoga_config_init(); do not call directly.
 * @param c     config to fill in
 * @param size  sizeof(saratoga_config) as the caller was compiled
 */
SARATOGA_API void saratoga_config_init_sized(saratoga_config *c, size_t size);

/** Room for the sentence that the checks give. */
#define SARATOGA_WHY_MAX 256

/**
 * @brief Checks the options of a transfer.
 * @param o         options
 * @param[out] why  a sentence, ::SARATOGA_WHY_MAX bytes; NULL: not wanted
 * @retval 0                      usable
 * @retval SARATOGA_ERR_INVAL     a value is out of its range
 * @retval SARATOGA_ERR_ALGORITHM no such controller; @p why lists those there
 *                                are
 */
SARATOGA_API int saratoga_options_check(const saratoga_options *o, char *why);

/**
 * @brief Checks a config, the options in it included.
 * @param c         config
 * @param[out] why  as in saratoga_options_check()
 * @return as saratoga_options_check()
 */
SARATOGA_API int saratoga_config_check(const saratoga_config *c, char *why);

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_CONFIG_H */
