/* SPDX-License-Identifier: MPL-2.0 */
#include "integrations/obs/encoder.h"

#include <string.h>

/* What is left for sound, tables and packet headers, bit/s. */
#define RESERVE 250000
#define LOWEST_KBPS 100
#define KEY_SECONDS 2

/* Settings that obs_x264 knows, and the option of x264 by which a user sets the
 * same. */
enum { SET_KEY, SET_TUNE, SET_BUFFER, SET_BUFFER_SIZE, SET_COUNT };

static const struct {
    const char *name;
    const char *option;
} settable[SET_COUNT] = {
    [SET_KEY] = {"keyint_sec", "keyint="},
    [SET_TUNE] = {"tune", "tune="},
    [SET_BUFFER] = {"use_bufsize", "vbv-bufsize="},
    [SET_BUFFER_SIZE] = {"buffer_size", "vbv-bufsize="},
};

/* ---- Settings that the user left open ---- */

static bool steered_is_open(obs_data_t *settings, int which) {
    const char *options = obs_data_get_string(settings, "x264opts");
    const char *name = settable[which].name;
    if (strstr(options, settable[which].option) != NULL) {
        return false;
    }
    switch (which) {
    case SET_TUNE:
        return *obs_data_get_string(settings, name) == '\0';
    case SET_KEY:
        return obs_data_get_int(settings, name) == 0;
    default:
        return !obs_data_get_bool(settings, "use_bufsize");
    }
}

/* What the path carries in half the latency, kbit. */
static long long steered_buffer(const struct steered *s, long long kbps) {
    long long ms = (long long)(s->latency_ns / 2000000);
    long long kbit = kbps * (ms < 1000 ? ms : 1000) / 1000;
    return kbit > 1 ? kbit : 1;
}

static void steered_set_open(struct steered *s, obs_data_t *settings,
                             bool x264) {
    for (int i = 0; i < (x264 ? SET_BUFFER : SET_TUNE); i++) {
        s->set |= steered_is_open(settings, i) ? 1u << i : 0;
    }
    if (x264 && s->latency_ns > 0 && steered_is_open(settings, SET_BUFFER)) {
        s->set |= 1u << SET_BUFFER | 1u << SET_BUFFER_SIZE;
    }
    if (s->set & 1u << SET_KEY) {
        obs_data_set_int(settings, "keyint_sec", KEY_SECONDS);
    }
    if (s->set & 1u << SET_TUNE) {
        obs_data_set_string(settings, "tune", "zerolatency");
    }
    if (s->set & 1u << SET_BUFFER) {
        obs_data_set_bool(settings, "use_bufsize", true);
        obs_data_set_int(
            settings, "buffer_size",
            steered_buffer(s, obs_data_get_int(settings, "bitrate")));
    }
}

/* ---- The rate ---- */

static void steered_set_rate(struct steered *s, long long kbps) {
    obs_data_t *settings = obs_encoder_get_settings(s->encoder);
    obs_data_set_int(settings, "bitrate", kbps);
    if (s->set & 1u << SET_BUFFER) {
        obs_data_set_int(settings, "buffer_size", steered_buffer(s, kbps));
    }
    obs_encoder_update(s->encoder, settings);
    obs_data_release(settings);
    s->now_kbps = kbps;
    blog(LOG_INFO, "[tltcp] the encoder makes %lld kbit/s", kbps);
}

void steered_follow(struct steered *s, uint64_t target_bps) {
    long long kbps =
        target_bps > RESERVE ? (long long)((target_bps - RESERVE) / 1000) : 0;
    kbps = kbps < LOWEST_KBPS ? LOWEST_KBPS : kbps;
    kbps = kbps > s->kbps ? s->kbps : kbps;
    if (s->kbps > 0 && target_bps > 0 && kbps != s->now_kbps) {
        steered_set_rate(s, kbps);
    }
}

void steered_release(struct steered *s) {
    obs_data_t *settings;
    if (s->encoder == NULL) {
        return;
    }
    if (s->kbps > 0 && s->now_kbps != s->kbps) {
        steered_set_rate(s, s->kbps);
    }
    settings = obs_encoder_get_settings(s->encoder);
    for (int i = 0; i < SET_COUNT; i++) {
        if (s->set & 1u << i) {
            obs_data_unset_user_value(settings, settable[i].name);
        }
    }
    obs_data_release(settings);
    obs_encoder_release(s->encoder);
    memset(s, 0, sizeof(*s));
}

void steered_prepare(struct steered *s, obs_encoder_t *encoder,
                     uint64_t latency_ns, bool low_delay) {
    const char *id = obs_encoder_get_id(encoder);
    obs_data_t *settings = obs_encoder_get_settings(encoder);
    steered_release(s);
    s->encoder = obs_encoder_get_ref(encoder);
    s->latency_ns = latency_ns;
    s->kbps = obs_get_encoder_caps(id) & OBS_ENCODER_CAP_DYN_BITRATE
                  ? obs_data_get_int(settings, "bitrate")
                  : 0;
    s->now_kbps = s->kbps;
    if (low_delay && !obs_encoder_active(encoder)) {
        steered_set_open(s, settings, strcmp(id, "obs_x264") == 0);
        obs_encoder_update(encoder, settings);
    }
    obs_data_release(settings);
}
