/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The output: H.264 and AAC as a transport stream into TLTCP.
 *
 * A thread watches over the connection: it has OBS begin once it stands, steers
 * the encoder by what the path carries, and ends the output with the cause when
 * the connection is over, so that OBS connects again or says why not.
 */
#include <obs-module.h>
#include <pthread.h>

#include "integrations/common/report.h"
#include "integrations/obs/encoder.h"
#include "integrations/obs/obs_tltcp.h"
#include "integrations/obs/ts_mux.h"

#define LINGER 1000

struct output {
    obs_output_t *output;
    pthread_mutex_t lock; /* for live and mux */
    tltcp_live *live;
    struct ts_mux mux;
    pthread_t watcher;
    bool watching;
    bool listens;
    bool begun; /* the multiplexer knows its encoders */
    struct steered encoder;
    uint64_t latency_ns;
    uint64_t began_at;
    int connect_ms;
    uint64_t bytes;
};

/* ---- The connection ---- */

static void output_on_connected(struct output *o) {
    o->connect_ms = (int)((tltcp_now() - o->began_at) / TLTCP_MS);
    (void)obs_output_begin_data_capture(o->output, 0);
}

/* Whether the connection is over. */
static bool output_on_event(struct output *o, const tltcp_live_event *ev,
                            bool *stood) {
    char line[REPORT_MAX];
    int level = report_event(ev, line);
    if (level != REPORT_NOTHING) {
        blog(level == REPORT_INFO ? LOG_INFO : LOG_WARNING, "[tltcp] %s", line);
    }
    if (ev->type == TLTCP_LIVE_EVENT_RATE) {
        steered_follow(&o->encoder, ev->target_bps);
    } else if (!*stood && (ev->type == TLTCP_LIVE_EVENT_CONNECTED)) {
        *stood = true;
        output_on_connected(o);
    } else if (!o->listens && (ev->type == TLTCP_LIVE_EVENT_REFUSED ||
                               ev->type == TLTCP_LIVE_EVENT_DISCONNECTED)) {
        obs_output_set_last_error(o->output,
                                  level == REPORT_NOTHING ? "closed" : line);
        obs_output_signal_stop(o->output, *stood ? OBS_OUTPUT_DISCONNECTED
                                                 : OBS_OUTPUT_CONNECT_FAILED);
        return true;
    }
    return false;
}

static void *output_watch(void *user) {
    struct output *o = user;
    tltcp_live_event ev;
    bool stood = false;
    tltcp_live_event_init(&ev);
    while (tltcp_live_next_event(o->live, &ev, -1) == 1) {
        if (output_on_event(o, &ev, &stood)) {
            break;
        }
    }
    return NULL;
}

static void output_disconnect(struct output *o) {
    tltcp_live *live;
    if (o->live) {
        tltcp_live_interrupt(o->live, true);
    }
    if (o->watching) {
        (void)pthread_join(o->watcher, NULL);
        o->watching = false;
    }
    (void)pthread_mutex_lock(&o->lock);
    live = o->live;
    o->live = NULL;
    ts_mux_end(&o->mux);
    o->begun = false;
    (void)pthread_mutex_unlock(&o->lock);
    if (live) {
        tltcp_live_interrupt(live, false);
        (void)tltcp_live_finish(live, LINGER);
        tltcp_live_close(live, LINGER);
    }
}

static int output_connect(struct output *o, obs_data_t *settings, char *why) {
    tltcp_live_options *options = tltcp_live_options_new();
    tltcp_live_settings *s;
    int rc;
    if (options == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    rc = obs_tltcp_service_options(settings, options, why);
    s = tltcp_live_options_settings(options);
    s->reconnect = false; /* OBS does it, and shows it */
    o->listens = s->listens;
    o->latency_ns = s->latency_ms * TLTCP_MS;
    if (rc == 0) {
        rc = tltcp_live_open(&o->live, TLTCP_LIVE_SEND, options, why);
    }
    if (rc < 0) {
        tltcp_live_options_free(options);
    }
    return rc;
}

/* The settings of the service; the caller releases them. */
static obs_data_t *output_settings(struct output *o) {
    obs_service_t *service = obs_output_get_service(o->output);
    obs_data_t *settings =
        service ? obs_service_get_settings(service) : obs_data_create();
    obs_data_set_default_bool(settings, OBS_TLTCP_LOW_DELAY, true);
    return settings;
}

static bool output_watch_over(struct output *o) {
    o->began_at = tltcp_now();
    o->bytes = 0;
    o->watching = pthread_create(&o->watcher, NULL, output_watch, o) == 0;
    return o->watching;
}

static bool output_start(void *data) {
    struct output *o = data;
    char why[TLTCP_LIVE_WHY_MAX] = "out of memory";
    obs_data_t *settings;
    bool low_delay;
    int rc;
    if (!obs_output_can_begin_data_capture(o->output, 0)) {
        return false;
    }
    output_disconnect(o);
    settings = output_settings(o);
    low_delay = obs_data_get_bool(settings, OBS_TLTCP_LOW_DELAY);
    rc = output_connect(o, settings, why);
    obs_data_release(settings);
    if (rc < 0) {
        blog(LOG_WARNING, "[tltcp] %s", why);
        obs_output_set_last_error(o->output, why);
        return false;
    }
    steered_prepare(&o->encoder, obs_output_get_video_encoder(o->output),
                    o->latency_ns, low_delay);
    if (!obs_output_initialize_encoders(o->output, 0) ||
        !output_watch_over(o)) {
        output_disconnect(o);
        steered_release(&o->encoder);
        return false;
    }
    return true;
}

static void output_stop(void *data, uint64_t when) {
    struct output *o = data;
    (void)when;
    obs_output_end_data_capture(o->output);
    output_disconnect(o);
    steered_release(&o->encoder);
}

/* ---- Packets ---- */

static bool output_begin(struct output *o) {
    obs_encoder_t *sound = obs_output_get_audio_encoder(o->output, 0);
    uint8_t *headers = NULL;
    uint8_t *config = NULL;
    size_t headers_len = 0;
    size_t config_len = 0;
    (void)obs_encoder_get_extra_data(obs_output_get_video_encoder(o->output),
                                     &headers, &headers_len);
    if (sound) {
        (void)obs_encoder_get_extra_data(sound, &config, &config_len);
    }
    o->begun = ts_mux_begin(&o->mux, headers, headers_len, config, config_len);
    return o->begun;
}

static int64_t output_ticks(const struct encoder_packet *p, int64_t time) {
    return time * 90000 * p->timebase_num / p->timebase_den;
}

static void output_write(struct output *o, const struct encoder_packet *p) {
    int64_t pts = output_ticks(p, p->pts);
    bool made = p->type == OBS_ENCODER_VIDEO
                    ? ts_mux_picture(&o->mux, p->data, p->size, pts,
                                     output_ticks(p, p->dts), p->keyframe)
                    : ts_mux_sound(&o->mux, p->data, p->size, pts);
    if (made) {
        (void)tltcp_live_write_ts(o->live, o->mux.data, o->mux.len, 0);
        o->bytes += o->mux.len;
    }
}

static void output_on_packet(void *data, struct encoder_packet *packet) {
    struct output *o = data;
    if (packet == NULL) {
        obs_output_signal_stop(o->output, OBS_OUTPUT_ENCODE_ERROR);
        return;
    }
    (void)pthread_mutex_lock(&o->lock);
    if (o->live && (o->begun || output_begin(o))) {
        output_write(o, packet);
    }
    (void)pthread_mutex_unlock(&o->lock);
}

/* ---- What OBS shows ---- */

static uint64_t output_total_bytes(void *data) {
    return ((struct output *)data)->bytes;
}

static int output_dropped(void *data) {
    struct output *o = data;
    tltcp_live_stats st;
    uint64_t n = 0;
    tltcp_live_stats_init(&st);
    (void)pthread_mutex_lock(&o->lock);
    if (o->live && tltcp_live_get_stats(o->live, &st) == 0) {
        for (size_t i = 0; i <= TLTCP_LIVE_KIND_B; i++) {
            n +=
                st.kinds[i].dropped + st.kinds[i].expired + st.kinds[i].partial;
        }
    }
    (void)pthread_mutex_unlock(&o->lock);
    return (int)n;
}

/* How much of the latency delivery takes. */
static float output_congestion(void *data) {
    struct output *o = data;
    tltcp_stats st;
    float share = 0;
    tltcp_stats_init(&st);
    (void)pthread_mutex_lock(&o->lock);
    if (o->live && o->latency_ns > 0 &&
        tltcp_live_get_connection_stats(o->live, 0, &st) == 0) {
        share = (float)st.delivery_delay_ns / (float)o->latency_ns;
    }
    (void)pthread_mutex_unlock(&o->lock);
    return share > 1 ? 1 : share;
}

static void output_state_drops(const tltcp_live_stats *st, obs_data_t *out) {
    for (unsigned k = 0; k < TLTCP_LIVE_KIND_COUNT; k++) {
        const tltcp_live_count *c = &st->kinds[k];
        char name[32];
        (void)snprintf(name, sizeof(name), "dropped_%s",
                       tltcp_live_kind_name(k));
        obs_data_set_int(out, name,
                         (long long)(c->dropped + c->expired + c->partial));
        (void)snprintf(name, sizeof(name), "delivered_%s",
                       tltcp_live_kind_name(k));
        obs_data_set_int(out, name, (long long)c->delivered);
    }
}

static void output_state_path(const tltcp_stats *st, obs_data_t *out) {
    obs_data_set_double(out, "rtt_ms", (double)st->srtt_ns / 1e6);
    obs_data_set_double(out, "loss_percent", st->loss_rate * 100);
    obs_data_set_double(out, "delivery_ms",
                        (double)st->delivery_delay_ns / 1e6);
    obs_data_set_int(out, "target_kbps", (long long)(st->target_bps / 1000));
    obs_data_set_int(out, "estimated_kbps",
                     (long long)(st->estimated_bps / 1000));
}

void obs_tltcp_output_state(void *output, obs_data_t *out) {
    struct output *o = output;
    tltcp_live_stats live;
    tltcp_stats st;
    tltcp_live_stats_init(&live);
    tltcp_stats_init(&st);
    (void)pthread_mutex_lock(&o->lock);
    if (o->live && tltcp_live_get_stats(o->live, &live) == 0) {
        (void)tltcp_live_get_connection_stats(o->live, 0, &st);
        obs_data_set_bool(out, "streaming", true);
        obs_data_set_int(out, "connected", (long long)live.connected);
        output_state_drops(&live, out);
        output_state_path(&st, out);
        obs_data_set_int(out, "encoder_kbps", o->encoder.now_kbps);
    }
    (void)pthread_mutex_unlock(&o->lock);
}

static int output_connect_ms(void *data) {
    return ((struct output *)data)->connect_ms;
}

static const char *output_name(void *unused) {
    (void)unused;
    return "TLTCP";
}

static void *output_create(obs_data_t *settings, obs_output_t *output) {
    struct output *o = bzalloc(sizeof(*o));
    (void)settings;
    o->output = output;
    (void)pthread_mutex_init(&o->lock, NULL);
    return o;
}

static void output_destroy(void *data) {
    struct output *o = data;
    output_disconnect(o);
    steered_release(&o->encoder);
    (void)pthread_mutex_destroy(&o->lock);
    bfree(o);
}

void obs_tltcp_register_output(void) {
    static const struct obs_output_info info = {
        .id = OBS_TLTCP_OUTPUT,
        .flags = OBS_OUTPUT_AV | OBS_OUTPUT_ENCODED | OBS_OUTPUT_SERVICE,
        .encoded_video_codecs = "h264",
        .encoded_audio_codecs = "aac",
        .get_name = output_name,
        .create = output_create,
        .destroy = output_destroy,
        .start = output_start,
        .stop = output_stop,
        .encoded_packet = output_on_packet,
        .get_total_bytes = output_total_bytes,
        .get_dropped_frames = output_dropped,
        .get_congestion = output_congestion,
        .get_connect_time_ms = output_connect_ms,
    };
    obs_register_output(&info);
}
