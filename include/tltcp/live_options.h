/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/live_options.h
 * @brief Options of <tltcp/live.h>, which includes this, and the URLs that set
 * them.
 */
#ifndef TLTCP_LIVE_OPTIONS_H
#define TLTCP_LIVE_OPTIONS_H

#include <tltcp/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_live_options
 * @{ */

#if defined(TLTCP_LIVE_STATIC)
/** Put on every function of libtltcp-live. */
#define TLTCP_LIVE_API
#elif defined(_WIN32) && defined(TLTCP_LIVE_BUILDING)
/** Put on every function of libtltcp-live. */
#define TLTCP_LIVE_API __declspec(dllexport)
#elif defined(_WIN32)
/** Put on every function of libtltcp-live. */
#define TLTCP_LIVE_API __declspec(dllimport)
#else
/** Put on every function of libtltcp-live. */
#define TLTCP_LIVE_API __attribute__((visibility("default")))
#endif

/** Room for a sentence that says what is wrong, its zero included. */
#define TLTCP_LIVE_WHY_MAX 384

/* ---- URLs ---- */

/** Room for the host of a URL, its zero included. */
#define TLTCP_LIVE_HOST_MAX 256

/** Where a URL leads. */
typedef struct tltcp_live_url {
    char host[TLTCP_LIVE_HOST_MAX]; /**< without brackets; "": none given */
    char port[8];                   /**< digits, 0 to 65535 */
    bool listens; /**< no host given; for the function that takes the keys to
                       change */
} tltcp_live_url;

/**
 * @brief Takes a key of a URL.
 * @param user      as given to tltcp_live_url_parse()
 * @param key       decoded
 * @param value     decoded
 * @param[out] why  ::TLTCP_LIVE_WHY_MAX bytes: what is wrong with the value, or
 *                  which keys there are
 * @return 0, or a negative ::tltcp_error that ends the parsing
 */
typedef int (*tltcp_live_on_key)(void *user, const char *key, const char *value,
                                 char *why);

/**
 * @brief Takes `SCHEME://HOST:PORT?KEY=VALUE&KEY=VALUE` apart.
 *
 * HOST may be empty; an IPv6 address is in brackets, its zone behind `%` or
 * `%25` (RFC 6874).  Keys and values are escaped as in RFC 3986, section 2.1.
 * There is no user and no path.
 * @param[out] u    host and port, before the first key is taken
 * @param text      zero-terminated
 * @param scheme    such as "tltcp://"
 * @param on_key    takes each key, in order; NULL: no keys are allowed
 * @param user      for @p on_key
 * @param[out] why  what is wrong, with the key at fault; passphrases are not
 *                  repeated
 * @return 0, TLTCP_ERR_INVAL, or what @p on_key returned
 */
TLTCP_LIVE_API int tltcp_live_url_parse(tltcp_live_url *u, const char *text,
                                        const char *scheme,
                                        tltcp_live_on_key on_key, void *user,
                                        char *why);

/** @brief Checks that a caller has a host and a port to call. @param u  parsed
 * @param[out] why  what is wrong @return 0 or TLTCP_ERR_INVAL */
TLTCP_LIVE_API int tltcp_live_url_check(const tltcp_live_url *u, char *why);

/** @brief Overwrites passphrases in a URL, so that neither messages nor lists
 * of processes show them. @param text  any text; changed in place */
TLTCP_LIVE_API void tltcp_live_url_hide(char *text);

/* ---- Options ---- */

/** Options of a sender or receiver; opaque. */
typedef struct tltcp_live_options tltcp_live_options;

/** How a frame gets its deadline. */
enum tltcp_live_deadline_mode {
    TLTCP_LIVE_DEADLINE_PTS = 0,      /**< display time + latency */
    TLTCP_LIVE_DEADLINE_GOP = 1,      /**< as in Mukherjee and Brecht 2000,
                                           section 4 */
    TLTCP_LIVE_DEADLINE_CONSTANT = 2, /**< when it is written + latency */
    TLTCP_LIVE_DEADLINE_NONE = 3      /**< never */
};

/** What an endpoint is and how it sends; see tltcp_live_options_settings(). */
typedef struct tltcp_live_settings {
    const char *host;    /**< to call, or to listen on; NULL: every address */
    const char *service; /**< port, as digits */
    bool listens;        /**< waits for callers */
    bool reconnect;      /**< connects again after a failure; default true */
    bool has_latency;    /**< the latency was chosen */
    uint32_t latency_ms; /**< how long after its display time a frame is useful;
                            default 200 */
    uint32_t grace_ms;   /**< how much longer references are sent; default
                              1000 */
    uint32_t deadline_mode; /**< ::tltcp_live_deadline_mode */
    size_t queue_bytes;     /**< of each connection, beside its send buffer;
                                 default 64 MiB */
    size_t queue_sections;  /**< likewise; 0 (default): any number */
    bool report_frames;     /**< an event for the fate of every frame */
} tltcp_live_settings;

/**
 * @brief Makes options with their defaults.
 * @return free with tltcp_live_options_free(); NULL: out of memory
 */
TLTCP_LIVE_API tltcp_live_options *tltcp_live_options_new(void);

/** @brief Frees options; secrets in them are overwritten.
 * @param o  or NULL */
TLTCP_LIVE_API void tltcp_live_options_free(tltcp_live_options *o);

/**
 * @brief Takes a URL: `tltcp://HOST:PORT?KEY=VALUE&KEY=VALUE`.
 *
 * Without HOST it listens.  Keys and values are escaped as in RFC 3986.  The
 * keys are those of tltcp_live_options_set().
 * @param o         options
 * @param url       zero-terminated text
 * @param[out] why  what is wrong with it, with the key at fault
 * @retval 0                understood
 * @retval TLTCP_ERR_INVAL  it is not; the options may be partly changed
 */
TLTCP_LIVE_API int tltcp_live_options_set_url(tltcp_live_options *o,
                                              const char *url, char *why);

/**
 * @brief Sets one option by its name.
 *
 * | key | value |
 * | --- | --- |
 * | `mode` | `caller`, `listener` |
 * | `latency`, `reference-grace`, `connect-timeout`, `idle-timeout` | ms, or
 * with unit: `1s` | | `passphrase`, `passphrase-file`, `key-file` | secret, or
 * path | | `streamid` | text | | `congestion-control`, `congestion` | a
 * controller | | `recovery` | a loss recovery | | `max-rate`,
 * `max-send-bitrate` | bit/s, or with unit: `4mbit`; 0: no cap | |
 * `initial-window` | packets; 0: the controller's | | `fec` | `auto`, `on`,
 * `off` | | `drop-policy` | `dependents`, `section`, `until-keyframe` | |
 * `deadline-mode` | `pts`, `gop`, `constant`, `none` | | `auto-reconnect` |
 * `true`, `false`, `yes`, `no`, `1`, `0` | | `dscp`, `qos-dscp` | 0 to 63 | |
 * `localaddress`, `localport` | to call from or to listen on | | `qlog`,
 * `qlog-dir` | an existing folder |
 *
 * Keys that only a GStreamer element has a use for (`wait-for-connection`,
 * `force-key-unit`, `keep-listening`, `output`, `delivery`,
 * `drop-until-keyframe`) are known and have no effect, so that a URL written
 * for an element can be used as it is.
 * @param o         options
 * @param key       name
 * @param value     copied
 * @param[out] why  what the value must be, or that there is no such key
 * @retval 0                      done
 * @retval TLTCP_ERR_INVAL        the value is wrong
 * @retval TLTCP_ERR_UNSUPPORTED  there is no such key
 */
TLTCP_LIVE_API int tltcp_live_options_set(tltcp_live_options *o,
                                          const char *key, const char *value,
                                          char *why);

/**
 * @brief The settings, to be read or changed.
 * @param o  options
 * @return the options'; strings put there must outlive them
 */
TLTCP_LIVE_API tltcp_live_settings *
tltcp_live_options_settings(tltcp_live_options *o);

/**
 * @brief The connection's own options, to be read or changed.
 * @param o  options
 * @return the options'; strings put there must outlive them
 */
TLTCP_LIVE_API tltcp_config *tltcp_live_options_config(tltcp_live_options *o);

/**
 * @brief Checks that the options go together, and takes the passphrase from
 * `$PERIGEE_PASSPHRASE` when no secret was given.
 *
 * tltcp_live_open() does it, too.
 * @param o         options
 * @param[out] why  what is wrong
 * @return 0 or a negative ::tltcp_error
 */
TLTCP_LIVE_API int tltcp_live_options_check(tltcp_live_options *o, char *why);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_LIVE_OPTIONS_H */
