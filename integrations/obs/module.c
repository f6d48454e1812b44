/* SPDX-License-Identifier: MPL-2.0 */
/* OBS Studio: a service and an output for tltcp://. */
#include <obs-module.h>

#include "integrations/obs/obs_tltcp.h"

OBS_DECLARE_MODULE()

bool obs_module_load(void) {
    obs_tltcp_register_output();
    obs_tltcp_register_service();
    return true;
}
