/* SPDX-License-Identifier: MPL-2.0 */
/* The service: where the stream goes. */
#include <obs-module.h>

#include "integrations/obs/obs_tltcp.h"

struct service {
    char *server;
};

static const char *service_name(void *unused) {
    (void)unused;
    return "TLTCP";
}

static void service_update(void *data, obs_data_t *settings) {
    struct service *s = data;
    bfree(s->server);
    s->server = bstrdup(obs_data_get_string(settings, "server"));
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
    obs_data_set_default_bool(settings, "low_delay", true);
}

static obs_properties_t *service_properties(void *unused) {
    obs_properties_t *p = obs_properties_create();
    (void)unused;
    obs_properties_add_text(p, "server", "tltcp://HOST:PORT", OBS_TEXT_DEFAULT);
    obs_properties_add_bool(p, "low_delay", "Set the encoder up for low delay");
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
        .id = "tltcp_service",
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
