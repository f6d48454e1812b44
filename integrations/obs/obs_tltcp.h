/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file integrations/obs/obs_tltcp.h
 * @brief What the parts of the module for OBS share.
 */
#ifndef OBS_TLTCP_H
#define OBS_TLTCP_H

/** Name of the output type. */
#define OBS_TLTCP_OUTPUT "tltcp_output"

/** @brief Tells OBS of the output. */
void obs_tltcp_register_output(void);
/** @brief Tells OBS of the service. */
void obs_tltcp_register_service(void);

#endif /* OBS_TLTCP_H */
