/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A window with the state of the stream, from the menu of tools, where Qt's
 * headers for a dock are missing.  It is the properties of a source that nobody
 * sees, which OBS draws with its own means.
 */
#include <obs-frontend-api.h>
#include <obs-module.h>

#include "integrations/obs/lines.h"
#include "integrations/obs/obs_tltcp.h"

#define WINDOW "tltcp_window"
#define RENEW_S 1.0f

struct window {
    obs_source_t *source;
    float age; /* of what it shows, s */
};

static obs_properties_t *window_properties(void *unused) {
    obs_properties_t *p = obs_properties_create();
    obs_data_t *state = obs_data_create();
    char text[128];
    (void)unused;
    obs_tltcp_state(state);
    if (!obs_data_get_bool(state, "streaming")) {
        obs_properties_add_text(p, "idle", "Nothing is streamed by TLTCP.",
                                OBS_TEXT_INFO);
    }
    for (size_t i = 0;
         obs_data_get_bool(state, "streaming") && i < obs_tltcp_lines(); i++) {
        const char *title = obs_tltcp_line_title(i);
        int n = snprintf(text, sizeof(text), "%s: ", title);
        obs_tltcp_line_value(i, state, text + n, sizeof(text) - (size_t)n);
        obs_properties_add_text(p, title, text, OBS_TEXT_INFO);
    }
    obs_data_release(state);
    return p;
}

/* In the thread that draws. */
static void window_tick(void *user, float seconds) {
    struct window *w = user;
    w->age += seconds;
    if (w->age >= RENEW_S) {
        w->age = 0;
        obs_source_update_properties(w->source);
    }
}

static void window_open(void *user) {
    struct window *w = user;
    if (w->source) {
        obs_frontend_open_source_properties(w->source);
    }
}

static void window_on_event(enum obs_frontend_event event, void *user) {
    struct window *w = user;
    if (event == OBS_FRONTEND_EVENT_FINISHED_LOADING) {
        w->source = obs_source_create_private(WINDOW, "TLTCP", NULL);
        if (w->source) {
            obs_add_tick_callback(window_tick, w);
        }
    } else if (event == OBS_FRONTEND_EVENT_EXIT && w->source) {
        obs_remove_tick_callback(window_tick, w);
        obs_source_release(w->source);
        w->source = NULL;
    }
}

static const char *window_name(void *unused) {
    (void)unused;
    return "TLTCP";
}

static void *window_create(obs_data_t *settings, obs_source_t *source) {
    (void)settings;
    return source;
}

static void window_destroy(void *unused) {
    (void)unused;
}

void obs_tltcp_offer_window(void) {
    static const struct obs_source_info info = {
        .id = WINDOW,
        .type = OBS_SOURCE_TYPE_INPUT,
        .output_flags = OBS_SOURCE_CAP_DISABLED,
        .get_name = window_name,
        .create = window_create,
        .destroy = window_destroy,
        .get_properties = window_properties,
    };
    static struct window window;
    obs_register_source(&info);
    obs_frontend_add_event_callback(window_on_event, &window);
    obs_frontend_add_tools_menu_item("TLTCP", window_open, &window);
}
