/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/tltcp/peer_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal/settings/units.h"
#include "tools/common/tool.h"

/* Seconds of any stream, for what waits is given up by its deadline. */
#define SEND_BUFFER (64u << 20)

void peer_options_init(struct peer_options *o) {
    memset(o, 0, sizeof(*o));
    tltcp_config_init(&o->config);
    o->config.send_buffer = SEND_BUFFER;
    o->feed = (struct feed_settings){.deadline_mode = MEDIA_DEADLINE_PTS,
                                     .latency_ms = 200,
                                     .grace_ms = 1000};
}

static const char *set_mode(struct peer_options *o, const char *text) {
    if (strcmp(text, "pts") == 0) {
        o->feed.deadline_mode = MEDIA_DEADLINE_PTS;
    } else if (strcmp(text, "gop") == 0) {
        o->feed.deadline_mode = MEDIA_DEADLINE_GOP;
    } else {
        return "pts or gop";
    }
    return NULL;
}

static const char *set_policy(struct peer_options *o, const char *text) {
    if (strcmp(text, "section") == 0) {
        o->config.drop_policy = TLTCP_DROP_SECTION;
        o->feed.grace_ms = 0; /* nothing is known about who needs whom */
    } else if (strcmp(text, "dependents") == 0) {
        o->config.drop_policy = TLTCP_DROP_DEPENDENTS;
    } else if (strcmp(text, "until-keyframe") == 0) {
        o->config.drop_policy = TLTCP_DROP_UNTIL_KEY;
    } else {
        return "section, dependents or until-keyframe";
    }
    o->config.no_look_ahead = o->config.drop_policy == TLTCP_DROP_SECTION;
    return NULL;
}

static const char *set_latency(struct peer_options *o, const char *text) {
    o->has_latency = true;
    return units_ms(text, &o->feed.latency_ms);
}

static const char *set_grace(struct peer_options *o, const char *text) {
    return units_ms(text, &o->feed.grace_ms);
}

static const char *set_max_rate(struct peer_options *o, const char *text) {
    double bps;
    const char *why = units_rate(text, &bps);
    if (why || !(bps < 1e15)) {
        return "a rate, such as 4mbit";
    }
    o->config.max_rate = (uint64_t)bps;
    return NULL;
}

static const char *set_initial_window(struct peer_options *o,
                                      const char *text) {
    uint64_t packets;
    const char *why = units_count(text, 0, UINT32_MAX, &packets);
    if (!why) {
        o->config.initial_window = (uint32_t)packets;
    }
    return why;
}

static const char *copy(char *to, size_t size, const char *text) {
    if (strlen(text) >= size) {
        return "shorter";
    }
    (void)snprintf(to, size, "%s", text);
    return NULL;
}

static const char *set_stream_id(struct peer_options *o, const char *text) {
    o->config.stream_id = o->stream_id;
    return copy(o->stream_id, sizeof(o->stream_id), text);
}

static const char *set_congestion(struct peer_options *o, const char *text) {
    o->config.congestion = o->congestion;
    return copy(o->congestion, sizeof(o->congestion), text);
}

static const char *set_recovery(struct peer_options *o, const char *text) {
    o->config.recovery = text;
    return NULL;
}

static const char *set_fec(struct peer_options *o, const char *text) {
    if (strcmp(text, "auto") == 0) {
        o->config.fec = TLTCP_FEC_AUTO;
    } else if (strcmp(text, "on") == 0) {
        o->config.fec = TLTCP_FEC_ON;
    } else if (strcmp(text, "off") == 0) {
        o->config.fec = TLTCP_FEC_OFF;
    } else {
        return "auto, on or off";
    }
    return NULL;
}

static const char *set_connect_timeout(struct peer_options *o,
                                       const char *text) {
    return units_ms(text, &o->config.connect_timeout_ms);
}

static const char *set_idle_timeout(struct peer_options *o, const char *text) {
    return units_ms(text, &o->config.idle_timeout_ms);
}

static const char *set_dscp(struct peer_options *o, const char *text) {
    return units_count(text, 0, 63, &o->config.dscp);
}

static const char *set_qlog(struct peer_options *o, const char *text) {
    o->config.qlog_dir = text;
    return NULL;
}

bool peer_option(struct peer_options *o, const char *name, const char *text,
                 const char **wrong) {
    static const struct {
        const char *name;
        const char *(*set)(struct peer_options *o, const char *text);
    } table[] = {{"latency", set_latency},
                 {"deadline-mode", set_mode},
                 {"drop-policy", set_policy},
                 {"reference-grace", set_grace},
                 {"congestion", set_congestion},
                 {"congestion-control", set_congestion},
                 {"recovery", set_recovery},
                 {"streamid", set_stream_id},
                 {"max-rate", set_max_rate},
                 {"initial-window", set_initial_window},
                 {"fec", set_fec},
                 {"connect-timeout", set_connect_timeout},
                 {"idle-timeout", set_idle_timeout},
                 {"dscp", set_dscp},
                 {"qlog", set_qlog}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].name, name) == 0) {
            *wrong = table[i].set(o, text);
            return true;
        }
    }
    return secrets_option(&o->secrets, name, text, wrong);
}

bool peer_key(struct peer_options *o, const char *key, const char *value,
              const char **wrong) {
    return strcmp(key, "qlog") != 0 && strcmp(key, "recovery") != 0 &&
           peer_option(o, key, value, wrong);
}

int peer_options_check(const char *tool, struct peer_options *o) {
    char wrong[TLTCP_REASON_MAX + 1] = "";
    int rc;
    secrets_finish(&o->secrets);
    secrets_to_config(&o->secrets, &o->config);
    if (o->config.qlog_dir && access(o->config.qlog_dir, W_OK | X_OK) != 0) {
        return tool_fail(tool, "cannot write into %s: %s", o->config.qlog_dir,
                         strerror(errno));
    }
    rc = tltcp_config_check(&o->config, wrong);
    if (rc < 0) {
        return tool_misuse(tool, "%s", wrong[0] ? wrong : tltcp_strerror(rc));
    }
    return -1;
}

void peer_turn_away(tltcp_socket *listener) {
    tltcp_socket *caller = NULL;
    while (tltcp_accept(listener, &caller, 0) == 0) {
        (void)tltcp_reject(caller, PEER_BUSY);
    }
}

void peer_watch(struct secrets_watch *w, const char *tool,
                const tltcp_socket *listener) {
    tltcp_stats st;
    if (listener && secrets_look(w)) {
        tltcp_stats_init(&st);
        if (tltcp_get_stats(listener, &st) == 0) {
            secrets_tell(w, tool, st.callers_rejected);
        }
    }
}
