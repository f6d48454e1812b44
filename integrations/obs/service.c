/* SPDX-License-Identifier: MPL-2.0 */
/* The service: where the stream goes. */
#include <obs-module.h>

#include "integrations/obs/obs_tltcp.h"

struct service {
    char *server;
};

int obs_tltcp_service_options(obs_data_t *settings, tltcp_live_options *o,
                              char *why) {
    const char *server = obs_data_get_string(settings, OBS_TLTCP_SERVER);
    const char *secret = obs_data_get_string(settings, OBS_TLTCP_PASSPHRASE);
    int rc;
    if (*server == '\0') {
        (void)snprintf(why, TLTCP_LIVE_WHY_MAX, "no server was named");
        return TLTCP_ERR_INVAL;
    }
    rc = tltcp_live_options_set_url(o, server, why);
    if (rc == 0 && *secret != '\0') {
        rc = tltcp_live_options_set(o, "passphrase", secret, why);
    }
    return rc < 0 ? rc : tltcp_live_options_check(o, why);
}

static const char *service_name(void *unused) {
    (void)unused;
    return "TLTCP";
}

static void service_update(void *data, obs_data_t *settings) {
    struct service *s = data;
    bfree(s->server);
    s->server = bstrdup(obs_data_get_string(settings, OBS_TLTCP_SERVER));
}

static void *service_create(obs_data_t *settings, obs_service_t *service) {
    struct service *s = bzalloc(sizeof(*s));
    (void)service;
    service_update(s, settings);
    return s;
}

static void service_destroy(void *data) {
    bfree(((struct service *)data)->server);
    bfree(data);
}

static void service_defaults(obs_data_t *settings) {
    obs_data_set_default_bool(settings, OBS_TLTCP_LOW_DELAY, true);
}

static obs_properties_t *service_properties(void *unused) {
    obs_properties_t *p = obs_properties_create();
    (void)unused;
    obs_properties_add_text(p, OBS_TLTCP_SERVER, "tltcp://HOST:PORT",
                            OBS_TEXT_DEFAULT);
    obs_properties_add_text(p, OBS_TLTCP_PASSPHRASE, "Passphrase",
                            OBS_TEXT_PASSWORD);
    obs_properties_add_bool(p, OBS_TLTCP_LOW_DELAY,
                            "Set the encoder up for low delay");
    return p;
}

static const char *service_url(void *data) {
    return ((struct service *)data)->server;
}

static const char *service_key(void *unused) {
    (void)unused;
    return "";
}

static const char *service_output(void *unused) {
    (void)unused;
    return OBS_TLTCP_OUTPUT;
}

void obs_tltcp_register_service(void) {
    static const struct obs_service_info info = {
        .id = OBS_TLTCP_SERVICE,
        .get_name = service_name,
        .create = service_create,
        .destroy = service_destroy,
        .update = service_update,
        .get_defaults = service_defaults,
        .get_properties = service_properties,
        .get_url = service_url,
        .get_key = service_key,
        .get_output_type = service_output,
    };
    obs_register_service(&info);
}
