/* SPDX-License-Identifier: MPL-2.0 */
/*
 * How the stream goes, for programs that steer OBS by its websocket: the vendor
 * request "statistics" of "tltcp".
 */
#include <obs-module.h>

#include "integrations/obs/obs_tltcp.h"

#define VENDOR "tltcp"
#define REQUEST "statistics"

static bool state_of_output(void *data, obs_output_t *output) {
    if (strcmp(obs_output_get_id(output), OBS_TLTCP_OUTPUT) != 0 ||
        !obs_output_active(output)) {
        return true;
    }
    obs_tltcp_output_state(obs_obj_get_data(output), data);
    return false;
}

void obs_tltcp_state(obs_data_t *out) {
    obs_data_set_bool(out, "streaming", false);
    obs_enum_outputs(state_of_output, out);
}

/* ---- obs-websocket ---- */

/* What obs-websocket 5 wants to be given. */
struct vendor_request {
    void (*callback)(obs_data_t *request, obs_data_t *response, void *user);
    void *user;
};

static void on_request(obs_data_t *request, obs_data_t *response, void *user) {
    (void)request;
    (void)user;
    obs_tltcp_state(response);
}

static proc_handler_t *websocket(void) {
    calldata_t cd = {0};
    proc_handler_t *ph = NULL;
    if (proc_handler_call(obs_get_proc_handler(), "obs_websocket_api_get_ph",
                          &cd)) {
        ph = calldata_ptr(&cd, "ph");
    }
    calldata_free(&cd);
    return ph;
}

void obs_tltcp_offer_state(void) {
    static struct vendor_request request = {on_request, NULL};
    proc_handler_t *ph = websocket();
    calldata_t cd = {0};
    if (ph == NULL) {
        return; /* OBS is older than 28, or without the module */
    }
    calldata_set_string(&cd, "name", VENDOR);
    if (proc_handler_call(ph, "vendor_register", &cd) &&
        calldata_ptr(&cd, "vendor") != NULL) {
        calldata_set_string(&cd, "type", REQUEST);
        calldata_set_ptr(&cd, "callback", &request);
        (void)proc_handler_call(ph, "vendor_request_register", &cd);
    }
    calldata_free(&cd);
}
