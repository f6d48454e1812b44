/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file integrations/obs/lines.h
 * @brief What the user is shown of a stream, line by line.
 */
#ifndef OBS_TLTCP_LINES_H
#define OBS_TLTCP_LINES_H

#include <obs-module.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @return how many lines there are */
size_t obs_tltcp_lines(void);

/** @param i  below obs_tltcp_lines() @return its title */
const char *obs_tltcp_line_title(size_t i);

/**
 * @brief The value of a line, with its unit.
 * @param i      below obs_tltcp_lines()
 * @param state  from obs_tltcp_state()
 * @param text   gets the value
 * @param room   size of @p text, bytes
 */
void obs_tltcp_line_value(size_t i, obs_data_t *state, char *text, size_t room);

#ifdef __cplusplus
}
#endif

#endif /* OBS_TLTCP_LINES_H */
