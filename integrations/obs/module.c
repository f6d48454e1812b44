/* SPDX-License-Identifier: MPL-2.0 */
/* OBS Studio: a service, an output and a source for tltcp://. */
#include <obs-module.h>

#include "integrations/obs/obs_tltcp.h"

OBS_DECLARE_MODULE()

bool obs_module_load(void) {
    obs_tltcp_register_output();
    obs_tltcp_register_service();
#ifdef OBS_TLTCP_HAVE_FFMPEG
    obs_tltcp_register_source();
#endif
    return true;
}

/* The window and the websocket are there by now. */
void obs_module_post_load(void) {
    obs_tltcp_offer_state();
#ifdef OBS_TLTCP_HAVE_FRONTEND
    obs_tltcp_offer_window();
#endif
}
