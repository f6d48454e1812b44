/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/live_options.h
 * @brief Options of <tltcp/live.h>, which includes this file, and their URLs.
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
/** Export macro of libtltcp-live. */
#define TLTCP_LIVE_API
#elif defined(_WIN32) && defined(TLTCP_LIVE_BUILDING)
/** Export macro of libtltcp-live. */
#define TLTCP_LIVE_API __declspec(dllexport)
#elif defined(_WIN32)
/** Export macro of libtltcp-live. */
#define TLTCP_LIVE_API __declspec(dllimport)
#else
/** Export macro of libtltcp-live. */
#define TLTCP_LIVE_API __attribute__((visibility("default")))
#endif

/** Size of the buffer for an error message, bytes. */
#define TLTCP_LIVE_WHY_MAX 384

/* ---- URLs ---- */

/** Longest host of a URL including its terminating zero, bytes. */
#define TLTCP_LIVE_HOST_MAX 256

/** Destination of a URL. */
typedef struct tltcp_live_url {
    char host[TLTCP_LIVE_HOST_MAX]; /**< host without brackets; "": none
                                         given */
    char port[8];                   /**< digits, 0 to 65535 */
    bool listens; /**< no host given; the key callback may change it */
} tltcp_live_url;

/**
 * @brief Processes a key of a URL.
 * @param user      as given to tltcp_live_url_parse()
 * @param key       decoded
 * @param value     decoded
 * @param[out] why  error message, ::TLTCP_LIVE_WHY_MAX bytes: what is wrong
 *                  with the value, or which keys exist
 * @return 0, or a negative ::tltcp_error that ends the parsing
 */
typedef int (*tltcp_live_on_key)(void *user, const char *key, const char *value,
                                 char *why);

/**
 * @brief Parses `SCHEME://HOST:PORT?KEY=VALUE&KEY=VALUE`.
 *
 * HOST may be empty; an IPv6 address is in brackets, its zone after `%` or
 * `%25` (RFC 6874). Keys and values are escaped as in RFC 3986 section 2.1.
 * User and path are not allowed.
 * @param[out] u    host and port, set before the first key is processed
 * @param text      zero-terminated
 * @param scheme    such as "tltcp://", with which a URL may also begin with
 *                  "tltcp+tcp://": its first key is then `transport=tcp`
 * @param on_key    processes each key, in order; NULL: no keys are allowed
 * @param user      for @p on_key
 * @param[out] why  error message with the wrong key; passphrases are not
 *                  repeated
 * @return 0, TLTCP_ERR_INVAL, or what @p on_key returned
 */
TLTCP_LIVE_API int tltcp_live_url_parse(tltcp_live_url *u, const char *text,
                                        const char *scheme,
                                        tltcp_live_on_key on_key, void *user,
                                        char *why);

/** @brief Checks that a caller has a host and a port to call. @param u parsed
 * URL
 * @param[out] why error message @return 0 or TLTCP_ERR_INVAL */
TLTCP_LIVE_API int tltcp_live_url_check(const tltcp_live_url *u, char *why);

/** @brief Overwrites passphrases in a URL, so that messages and process lists
 * do not show them. @param text  any text; changed in place */
TLTCP_LIVE_API void tltcp_live_url_hide(char *text);

/* ---- Options ---- */

/** Options of a sender or receiver; opaque. */
typedef struct tltcp_live_options tltcp_live_options;

/** Deadline modes. */
enum tltcp_live_deadline_mode {
    TLTCP_LIVE_DEADLINE_PTS = 0,      /**< display time + latency */
    TLTCP_LIVE_DEADLINE_GOP = 1,      /**< as in Mukherjee and Brecht 2000
                                           section 4 */
    TLTCP_LIVE_DEADLINE_CONSTANT = 2, /**< time of writing + latency */
    TLTCP_LIVE_DEADLINE_NONE = 3      /**< never */
};

/** Settings of an endpoint; see tltcp_live_options_settings(). */
typedef struct tltcp_live_settings {
    const char *host;    /**< host to call, or address to listen on; NULL: all
                              addresses */
    const char *service; /**< port, as digits */
    bool listens;        /**< waits for callers */
    bool reconnect;      /**< reconnects after a failure; default true */
    bool has_latency;    /**< the latency was set explicitly */
    uint32_t latency_ms; /**< time for which a frame stays useful after its
                              display time; default 200 */
    uint32_t grace_ms;   /**< additional time for which references are sent;
                              default 1000 */
    uint32_t deadline_mode; /**< ::tltcp_live_deadline_mode */
    size_t queue_bytes;     /**< maximum bytes queued per connection, beside its
                                 send buffer; default 64 MiB */
    size_t queue_sections;  /**< maximum sections queued per connection; 0
                                 (default): no limit */
    bool report_frames;     /**< report the fate of every frame as an event */
} tltcp_live_settings;

/**
 * @brief Creates options with their defaults.
 * @return options, to be freed with tltcp_live_options_free(); NULL: out of
 * memory
 */
TLTCP_LIVE_API tltcp_live_options *tltcp_live_options_new(void);

/** @brief Frees options and overwrites secrets in them. @param o options, or
 * NULL */
TLTCP_LIVE_API void tltcp_live_options_free(tltcp_live_options *o);

/**
 * @brief Sets options from a URL: `tltcp://HOST:PORT?KEY=VALUE&KEY=VALUE`.
 *
 * `tltcp+tcp://` is short for the key `transport=tcp`.
 *
 * Without HOST, the endpoint listens. Keys and values are escaped as in RFC
 * 3986. The keys are those of tltcp_live_options_set().
 * @param o         options
 * @param url       zero-terminated text
 * @param[out] why  error message with the wrong key
 * @retval 0                done
 * @retval TLTCP_ERR_INVAL  the URL is wrong; the options may be partly changed
 */
TLTCP_LIVE_API int tltcp_live_options_set_url(tltcp_live_options *o,
                                              const char *url, char *why);

/**
 * @brief Sets one option by name.
 *
 * Keys and values:
 * - `mode`: `caller`, `listener`
 * - `latency`, `reference-grace`, `connect-timeout`, `idle-timeout`: ms, or
 *   with a unit: `1s`; a latency is at least 1 ms
 * - `passphrase`, `passphrase-file`, `key-file`: a secret, or a path
 * - `identity-file`: a path; `listener-key`: 64 hexadecimal digits;
 *   `caller-keys`: a path; see ::tltcp_identity_options
 * - `streamid`: text
 * - `congestion-control`, `congestion`: a controller
 * - `recovery`: a loss recovery
 * - `max-rate`, `max-send-bitrate`: bit/s, or with a unit: `4mbit`; 0: no limit
 * - `initial-window`: packets; 0: the controller's
 * - `fec`: `auto`, `on`, `off`
 * - `transport`: `udp`, `auto`, `tcp`; see ::tltcp_transport
 * - `drop-policy`: `dependents`, `section`, `until-keyframe`
 * - `deadline-mode`: `pts`, `gop`, `constant`, `none`
 * - `auto-reconnect`: `true`, `false`, `yes`, `no`, `1`, `0`
 * - `dscp`, `qos-dscp`: 0 to 63
 * - `threads`: I/O threads of a listener, 1 to ::TLTCP_THREADS_MAX
 * - `localaddress`, `localport`: to call from or to listen on
 * - `qlog`, `qlog-dir`: an existing folder
 *
 * Keys that only apply to GStreamer elements (`wait-for-connection`,
 * `force-key-unit`, `keep-listening`, `output`, `delivery`,
 * `drop-until-keyframe`, `encoder`, `encoder-min-bitrate`,
 * `encoder-max-bitrate`) are accepted and ignored, so that a URL written for an
 * element works unchanged.
 * @param o         options
 * @param key       name
 * @param value     copied
 * @param[out] why  error message: valid values, or that there is no such key
 * @retval 0                      done
 * @retval TLTCP_ERR_INVAL        the value is wrong
 * @retval TLTCP_ERR_UNSUPPORTED  there is no such key
 */
TLTCP_LIVE_API int tltcp_live_options_set(tltcp_live_options *o,
                                          const char *key, const char *value,
                                          char *why);

/**
 * @brief The settings, to be read or changed.
 * @param o options
 * @return settings inside @p o; strings stored there must outlive @p o
 */
TLTCP_LIVE_API tltcp_live_settings *
tltcp_live_options_settings(tltcp_live_options *o);

/**
 * @brief The connection options, to be read or changed.
 * @param o options
 * @return config inside @p o; strings stored there must outlive @p o
 */
TLTCP_LIVE_API tltcp_config *tltcp_live_options_config(tltcp_live_options *o);

/**
 * @brief Checks that the options are consistent, and takes the passphrase from
 * `$PERIGEE_PASSPHRASE` if no secret was given.
 *
 * tltcp_live_open() does this as well.
 * @param o         options
 * @param[out] why error message
 * @return 0 or a negative ::tltcp_error
 */
TLTCP_LIVE_API int tltcp_live_options_check(tltcp_live_options *o, char *why);

/** Room for a name of tltcp_live_options_caller_name(). */
#define TLTCP_LIVE_NAME_MAX 64

/**
 * @brief The name of a caller in the file of the option `caller-keys`.
 * @param o    options
 * @param key  its static public key, 32 bytes, as of tltcp_identity()
 * @param[out] name  ::TLTCP_LIVE_NAME_MAX bytes: the name, or if the file has
 *                   none, the first 16 hexadecimal digits of the key
 */
TLTCP_LIVE_API void tltcp_live_options_caller_name(const tltcp_live_options *o,
                                                   const uint8_t *key,
                                                   char *name);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_LIVE_OPTIONS_H */
