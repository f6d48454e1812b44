/* SPDX-License-Identifier: MPL-2.0 */
/* Options of live connections, by name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal/credentials/credentials.h"
#include "internal/settings/units.h"
#include "libtltcp/live/options.h"

/* Seconds of any stream: deadlines limit the queue. */
#define SEND_BUFFER ((size_t)64 << 20)
#define QUEUE_BYTES ((size_t)64 << 20)

struct tltcp_live_options {
    tltcp_live_settings settings;
    tltcp_config config;
    struct secrets secrets;
    tltcp_live_url url;
    bool has_mode; /* the URL says it */
    char local_host[256];
    char local_service[32];
    char stream_id[TLTCP_STREAM_ID_MAX + 1];
    char congestion[32];
    char recovery[32];
    char qlog_dir[1024];
};

tltcp_live_options *tltcp_live_options_new(void) {
    tltcp_live_options *o = calloc(1, sizeof(*o));
    if (o) {
        tltcp_config_init(&o->config);
        o->config.send_buffer = SEND_BUFFER;
        o->config.report_fates = true;
        o->settings =
            (tltcp_live_settings){.service = o->url.port,
                                  .reconnect = true,
                                  .latency_ms = 200,
                                  .grace_ms = 1000,
                                  .deadline_mode = TLTCP_LIVE_DEADLINE_PTS,
                                  .queue_bytes = QUEUE_BYTES};
    }
    return o;
}

void tltcp_live_options_free(tltcp_live_options *o) {
    if (o) {
        secrets_clear(&o->secrets);
        free(o);
    }
}

tltcp_live_settings *tltcp_live_options_settings(tltcp_live_options *o) {
    return &o->settings;
}

tltcp_config *tltcp_live_options_config(tltcp_live_options *o) {
    return &o->config;
}

/* ---- Values ---- */

/* The index of a word in a list; -1: not in it. */
static int live_word(const char *text, const char *const *words) {
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            return i;
        }
    }
    return -1;
}

static const char *live_copy(char *to, size_t size, const char *text) {
    if (strlen(text) >= size) {
        return "shorter";
    }
    (void)snprintf(to, size, "%s", text);
    return NULL;
}

static const char *live_set_mode(tltcp_live_options *o, const char *text) {
    static const char *const words[] = {"caller", "listener", NULL};
    int i = live_word(text, words);
    if (i < 0) {
        return "caller or listener";
    }
    o->settings.listens = i == 1;
    return NULL;
}

static const char *live_set_deadline_mode(tltcp_live_options *o,
                                          const char *text) {
    static const char *const words[] = {"pts", "gop", "constant", "none", NULL};
    int i = live_word(text, words);
    if (i < 0) {
        return "pts, gop, constant or none";
    }
    o->settings.deadline_mode = (uint32_t)i;
    return NULL;
}

static const char *live_set_policy(tltcp_live_options *o, const char *text) {
    static const char *const words[] = {"dependents", "section",
                                        "until-keyframe", NULL};
    int i = live_word(text, words);
    if (i < 0) {
        return "section, dependents or until-keyframe";
    }
    o->config.drop_policy = (uint32_t)i;
    if (i == TLTCP_DROP_SECTION) {
        o->settings.grace_ms = 0; /* dependencies are not known */
    }
    o->config.look_ahead = i != TLTCP_DROP_SECTION;
    return NULL;
}

static const char *live_set_reconnect(tltcp_live_options *o, const char *text) {
    static const char *const words[] = {"false", "true", "no", "yes",
                                        "0",     "1",    NULL};
    int i = live_word(text, words);
    if (i < 0) {
        return "true or false";
    }
    o->settings.reconnect = i % 2 != 0;
    return NULL;
}

static const char *live_set_fec(tltcp_live_options *o, const char *text) {
    static const char *const words[] = {"auto", "off", "on", NULL};
    int i = live_word(text, words);
    if (i < 0) {
        return "auto, on or off";
    }
    o->config.fec = (uint32_t)i;
    return NULL;
}

static const char *live_set_transport(tltcp_live_options *o, const char *text) {
    static const char *const words[] = {"udp", "auto", "tcp", NULL};
    int i = live_word(text, words);
    if (i < 0) {
        return "udp, auto or tcp";
    }
    o->config.io.transport = (uint8_t)i;
    return NULL;
}

static const char *live_set_latency(tltcp_live_options *o, const char *text) {
    uint32_t ms = 0;
    const char *why = units_ms(text, &ms);
    if (!why && ms == 0) {
        why = "a time from 1 to 86400000 milliseconds: with none, no frame "
              "could arrive in time";
    }
    if (!why) {
        o->settings.has_latency = true;
        o->settings.latency_ms = ms;
    }
    return why;
}

static const char *live_set_grace(tltcp_live_options *o, const char *text) {
    return units_ms(text, &o->settings.grace_ms);
}

static const char *live_set_connect_timeout(tltcp_live_options *o,
                                            const char *text) {
    return units_ms(text, &o->config.connect_timeout_ms);
}

static const char *live_set_idle_timeout(tltcp_live_options *o,
                                         const char *text) {
    return units_ms(text, &o->config.idle_timeout_ms);
}

static const char *live_set_max_rate(tltcp_live_options *o, const char *text) {
    double bps;
    const char *why = units_rate(text, &bps);
    if (why || !(bps < 1e15)) {
        return "a rate, such as 4mbit";
    }
    o->config.max_rate = (uint64_t)bps;
    return NULL;
}

static const char *live_set_initial_window(tltcp_live_options *o,
                                           const char *text) {
    uint64_t packets;
    const char *why = units_count(text, 0, UINT32_MAX, &packets);
    if (!why) {
        o->config.controller.initial_window = (uint32_t)packets;
    }
    return why;
}

static const char *live_set_dscp(tltcp_live_options *o, const char *text) {
    return units_count(text, 0, 63, &o->config.io.dscp)
               ? "a whole number from 0 to 63"
               : NULL;
}

static const char *live_set_threads(tltcp_live_options *o, const char *text) {
    uint64_t threads;
    if (units_count(text, 1, TLTCP_THREADS_MAX, &threads)) {
        return "a number from 1 to 64";
    }
    o->config.io.threads = (uint8_t)threads;
    return NULL;
}

static const char *live_set_stream_id(tltcp_live_options *o, const char *text) {
    o->config.stream_id = o->stream_id;
    return live_copy(o->stream_id, sizeof(o->stream_id), text);
}

static const char *live_set_congestion(tltcp_live_options *o,
                                       const char *text) {
    o->config.congestion = o->congestion;
    return live_copy(o->congestion, sizeof(o->congestion), text);
}

static const char *live_set_recovery(tltcp_live_options *o, const char *text) {
    o->config.recovery = o->recovery;
    return live_copy(o->recovery, sizeof(o->recovery), text);
}

static const char *live_set_local_host(tltcp_live_options *o,
                                       const char *text) {
    o->config.io.local_host = o->local_host;
    return live_copy(o->local_host, sizeof(o->local_host), text);
}

static const char *live_set_local_service(tltcp_live_options *o,
                                          const char *text) {
    uint64_t port;
    o->config.io.local_service = o->local_service;
    return units_count(text, 0, 65535, &port)
               ? "a port number from 0 to 65535"
               : live_copy(o->local_service, sizeof(o->local_service), text);
}

static const char *live_set_qlog(tltcp_live_options *o, const char *text) {
    o->config.qlog_dir = o->qlog_dir;
    return live_copy(o->qlog_dir, sizeof(o->qlog_dir), text);
}

/* Used by the elements only. */
static const char *live_ignore(tltcp_live_options *o, const char *text) {
    (void)o;
    (void)text;
    return NULL;
}

static const struct live_key {
    const char *name;
    const char *(*set)(tltcp_live_options *o, const char *text);
} live_keys[] = {{"mode", live_set_mode},
                 {"latency", live_set_latency},
                 {"reference-grace", live_set_grace},
                 {"deadline-mode", live_set_deadline_mode},
                 {"drop-policy", live_set_policy},
                 {"auto-reconnect", live_set_reconnect},
                 {"congestion", live_set_congestion},
                 {"congestion-control", live_set_congestion},
                 {"recovery", live_set_recovery},
                 {"streamid", live_set_stream_id},
                 {"max-rate", live_set_max_rate},
                 {"max-send-bitrate", live_set_max_rate},
                 {"initial-window", live_set_initial_window},
                 {"fec", live_set_fec},
                 {"transport", live_set_transport},
                 {"connect-timeout", live_set_connect_timeout},
                 {"idle-timeout", live_set_idle_timeout},
                 {"dscp", live_set_dscp},
                 {"qos-dscp", live_set_dscp},
                 {"threads", live_set_threads},
                 {"localaddress", live_set_local_host},
                 {"localport", live_set_local_service},
                 {"qlog", live_set_qlog},
                 {"qlog-dir", live_set_qlog},
                 {"wait-for-connection", live_ignore},
                 {"force-key-unit", live_ignore},
                 {"keep-listening", live_ignore},
                 {"output", live_ignore},
                 {"delivery", live_ignore},
                 {"drop-until-keyframe", live_ignore},
                 {"encoder", live_ignore},
                 {"encoder-min-bitrate", live_ignore},
                 {"encoder-max-bitrate", live_ignore}};

int tltcp_live_options_set(tltcp_live_options *o, const char *key,
                           const char *value, char *why) {
    const char *wrong = NULL;
    for (size_t i = 0; i < sizeof(live_keys) / sizeof(live_keys[0]); i++) {
        if (strcmp(live_keys[i].name, key) == 0) {
            wrong = live_keys[i].set(o, value);
            return wrong ? tltcp__live_say(why, "%s", wrong) : 0;
        }
    }
    if (secrets_option(&o->secrets, key, value, &wrong)) {
        return wrong ? tltcp__live_say(why, "%s", wrong) : 0;
    }
    (void)tltcp__live_say(why, "no such key");
    return TLTCP_ERR_UNSUPPORTED;
}

void tltcp_live_options_caller_name(const tltcp_live_options *o,
                                    const uint8_t *key, char *name) {
    secrets_identities_name(&o->secrets.identities, key, name);
}

/* ---- Everything ---- */

static int live_on_key(void *user, const char *key, const char *value,
                       char *why) {
    tltcp_live_options *o = user;
    char wrong[TLTCP_LIVE_WHY_MAX];
    int rc = tltcp_live_options_set(o, key, value, wrong);
    o->has_mode = o->has_mode || strcmp(key, "mode") == 0;
    if (rc == TLTCP_ERR_UNSUPPORTED) {
        return tltcp__live_say(why, "no such key");
    }
    return rc < 0 ? tltcp__live_say(why, "must be %s", wrong) : 0;
}

int tltcp_live_options_set_url(tltcp_live_options *o, const char *url,
                               char *why) {
    int rc;
    o->has_mode = false;
    rc = tltcp_live_url_parse(&o->url, url, "tltcp://", live_on_key, o, why);
    if (rc < 0) {
        return rc;
    }
    o->settings.host = o->url.host[0] ? o->url.host : NULL;
    o->settings.service = o->url.port;
    if (o->has_mode) {
        o->url.listens = o->settings.listens;
    }
    o->settings.listens = o->url.listens;
    return tltcp_live_url_check(&o->url, why);
}

int tltcp_live_options_check(tltcp_live_options *o, char *why) {
    char wrong[TLTCP_REASON_MAX + 1] = "";
    int rc;
    secrets_finish(&o->secrets);
    if (o->secrets.passphrase || o->secrets.key ||
        o->secrets.identities.has_secret) {
        secrets_to_config(&o->secrets, &o->config);
    }
    if (o->config.qlog_dir && access(o->config.qlog_dir, W_OK | X_OK) != 0) {
        (void)tltcp__live_say(why, "cannot write into %s: %s",
                              o->config.qlog_dir, strerror(errno));
        return TLTCP_ERR_IO;
    }
    rc = tltcp_config_check(&o->config, wrong);
    if (rc < 0) {
        (void)tltcp__live_say(why, "%s", wrong[0] ? wrong : tltcp_strerror(rc));
    }
    return rc;
}
