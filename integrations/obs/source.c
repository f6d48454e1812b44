/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The source: what comes by TLTCP as a transport stream, in a scene.
 *
 * A thread receives and decodes as long as the source exists.  OBS shows a
 * picture when its time has come, and keeps pictures and sound together.
 */
#include <obs-module.h>
#include <pthread.h>
#include <util/platform.h>
#include <util/threading.h>

#include "integrations/common/report.h"
#include "integrations/obs/decoder.h"
#include "integrations/obs/obs_tltcp.h"

#define READ_MS 200
#define PAUSE_MS 500 /* before it is tried again after a failure */

struct source {
    obs_source_t *source;
    char *url;
    pthread_t thread;
    bool running;
    volatile bool stopping;
    pthread_mutex_t lock; /* for live and state */
    tltcp_live *live;
    bool over;              /* its stream is at the end; the thread's alone */
    char state[REPORT_MAX]; /* what happened last */
};

/* ---- The connection ---- */

static void source_say(struct source *s, int level, const char *line) {
    blog(level, "[tltcp] %s: %s", obs_source_get_name(s->source), line);
    (void)pthread_mutex_lock(&s->lock);
    (void)snprintf(s->state, sizeof(s->state), "%s", line);
    (void)pthread_mutex_unlock(&s->lock);
}

static void source_report(struct source *s) {
    tltcp_live_event ev;
    char line[REPORT_MAX];
    tltcp_live_event_init(&ev);
    while (tltcp_live_next_event(s->live, &ev, 0) == 1) {
        int level = report_event(&ev, line);
        if (level != REPORT_NOTHING) {
            source_say(s, level == REPORT_INFO ? LOG_INFO : LOG_WARNING, line);
        }
    }
}

/* For the demultiplexer: waits for bytes, until there is an end. */
static int source_read(void *user, uint8_t *data, int len) {
    struct source *s = user;
    ssize_t n = s->over ? 0 : TLTCP_ERR_AGAIN;
    while (n == TLTCP_ERR_AGAIN && !os_atomic_load_bool(&s->stopping)) {
        n = tltcp_live_read_ts(s->live, data, (size_t)len, READ_MS);
        source_report(s);
    }
    if (n == TLTCP_ERR_PROTOCOL) {
        source_say(s, LOG_WARNING,
                   "the sender sends single streams, not a transport stream; "
                   "put mpegtsmux before its tltcpsink");
    }
    s->over = n <= 0; /* the demultiplexer asks again behind the end */
    return n > 0 ? (int)n : AVERROR_EOF;
}

static bool source_open(struct source *s) {
    char why[TLTCP_LIVE_WHY_MAX] = "out of memory";
    tltcp_live_options *o = tltcp_live_options_new();
    tltcp_live *live = NULL;
    if (o == NULL || tltcp_live_options_set_url(o, s->url, why) < 0 ||
        tltcp_live_open(&live, TLTCP_LIVE_RECEIVE, o, why) < 0) {
        tltcp_live_options_free(o);
        source_say(s, LOG_WARNING, why);
        return false;
    }
    (void)pthread_mutex_lock(&s->lock);
    s->live = live;
    (void)pthread_mutex_unlock(&s->lock);
    s->over = false;
    return true;
}

static void source_close(struct source *s) {
    tltcp_live *live = s->live;
    (void)pthread_mutex_lock(&s->lock);
    s->live = NULL;
    (void)pthread_mutex_unlock(&s->lock);
    tltcp_live_close(live, 0);
}

/* ---- The thread ---- */

static void source_pause(struct source *s) {
    for (int ms = 0; ms < PAUSE_MS && !os_atomic_load_bool(&s->stopping);
         ms += 20) {
        os_sleep_ms(20);
    }
}

/* A stream after the other. */
static void *source_run(void *user) {
    struct source *s = user;
    while (!os_atomic_load_bool(&s->stopping)) {
        struct decoder d = {
            .source = s->source, .read = source_read, .user = s};
        if (source_open(s)) {
            decoder_run(&d);
            source_close(s);
        }
        obs_source_output_video(s->source, NULL);
        source_pause(s);
    }
    return NULL;
}

static void source_start(struct source *s) {
    if (s->url[0] != '\0') {
        os_atomic_set_bool(&s->stopping, false);
        s->running = pthread_create(&s->thread, NULL, source_run, s) == 0;
    }
}

static void source_stop(struct source *s) {
    if (s->running) {
        os_atomic_set_bool(&s->stopping, true);
        (void)pthread_join(s->thread, NULL);
        s->running = false;
    }
}

/* ---- What OBS calls ---- */

static const char *source_name(void *unused) {
    (void)unused;
    return "TLTCP";
}

static void source_update(void *data, obs_data_t *settings) {
    struct source *s = data;
    const char *url = obs_data_get_string(settings, "url");
    if (s->url == NULL || strcmp(url, s->url) != 0) {
        source_stop(s);
        bfree(s->url);
        s->url = bstrdup(url);
        source_start(s);
    }
}

static void *source_create(obs_data_t *settings, obs_source_t *source) {
    struct source *s = bzalloc(sizeof(*s));
    s->source = source;
    (void)pthread_mutex_init(&s->lock, NULL);
    source_update(s, settings);
    return s;
}

static void source_destroy(void *data) {
    struct source *s = data;
    source_stop(s);
    (void)pthread_mutex_destroy(&s->lock);
    bfree(s->url);
    bfree(s);
}

/* A line on how it goes. */
static void source_describe(struct source *s, char *text, size_t room) {
    tltcp_live_stats live;
    tltcp_stats st;
    int n;
    tltcp_live_stats_init(&live);
    tltcp_stats_init(&st);
    (void)pthread_mutex_lock(&s->lock);
    n = snprintf(text, room, "%s", s->state);
    if (s->live && n > 0 && (size_t)n < room &&
        tltcp_live_get_stats(s->live, &live) == 0 &&
        tltcp_live_get_connection_stats(s->live, 0, &st) == 0) {
        (void)snprintf(text + n, room - (size_t)n,
                       "\n%.1f MB received, RTT %.1f ms, %llu sections came, "
                       "%llu did not come whole",
                       (double)live.bytes_received / 1e6,
                       (double)st.srtt_ns / 1e6,
                       (unsigned long long)live.sections_complete,
                       (unsigned long long)live.sections_cut);
    }
    (void)pthread_mutex_unlock(&s->lock);
}

static obs_properties_t *source_properties(void *data) {
    obs_properties_t *p = obs_properties_create();
    char text[2 * REPORT_MAX] = "";
    obs_properties_add_text(p, "url", "tltcp://[HOST]:PORT", OBS_TEXT_DEFAULT);
    if (data) {
        source_describe(data, text, sizeof(text));
        obs_properties_add_text(p, "state", text, OBS_TEXT_INFO);
    }
    return p;
}

void obs_tltcp_register_source(void) {
    static const struct obs_source_info info = {
        .id = OBS_TLTCP_SOURCE,
        .type = OBS_SOURCE_TYPE_INPUT,
        .output_flags = OBS_SOURCE_ASYNC_VIDEO | OBS_SOURCE_AUDIO |
                        OBS_SOURCE_DO_NOT_DUPLICATE,
        .get_name = source_name,
        .create = source_create,
        .destroy = source_destroy,
        .update = source_update,
        .get_properties = source_properties,
        .icon_type = OBS_ICON_TYPE_MEDIA,
    };
    obs_register_source(&info);
}
