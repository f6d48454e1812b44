/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file integrations/obs/obs_tltcp.h
 * @brief What the parts of the module for OBS share.
 */
#ifndef OBS_TLTCP_H
#define OBS_TLTCP_H

#include <obs-module.h>
#include <tltcp/live.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Name of the output type. */
#define OBS_TLTCP_OUTPUT "tltcp_output"

/** Name of the source type. */
#define OBS_TLTCP_SOURCE "tltcp_source"

/** Name of the service type, and of its settings. */
#define OBS_TLTCP_SERVICE "tltcp_service"
#define OBS_TLTCP_SERVER "server"
#define OBS_TLTCP_PASSPHRASE "passphrase"
#define OBS_TLTCP_LOW_DELAY "low_delay"

/** @brief Tells OBS of the output. */
void obs_tltcp_register_output(void);
/** @brief Tells OBS of the service. */
void obs_tltcp_register_service(void);
/** @brief Tells OBS of the source. */
void obs_tltcp_register_source(void);

/** @brief How a stream goes. @param output  that obs_tltcp_register_output()
 * is about @param out  numbers go into it */
void obs_tltcp_output_state(void *output, obs_data_t *out);
/** @brief How the stream that is sent goes, if one is. @param out  numbers go
 * into it, and "streaming" */
void obs_tltcp_state(obs_data_t *out);
/** @brief Offers obs_tltcp_state() to programs that steer OBS. */
void obs_tltcp_offer_state(void);
/** @brief Offers it to the user, in a dock where Qt's headers were found, else
 * in a window. */
void obs_tltcp_offer_window(void);

/**
 * @brief Options of a stream from the settings of the service.
 * @param settings  those of the service
 * @param o         options to set
 * @param why       TLTCP_LIVE_WHY_MAX bytes, the cause of a failure
 * @return 0 or a negative ::tltcp_error
 */
int obs_tltcp_service_options(obs_data_t *settings, tltcp_live_options *o,
                              char *why);

#ifdef __cplusplus
}
#endif

#endif /* OBS_TLTCP_H */
