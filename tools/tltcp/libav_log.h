/* SPDX-License-Identifier: MPL-2.0 */
/* What libavformat says of the file that it writes: its error numbers rarely
 * name a cause. */
#ifndef PERIGEE_TOOLS_TLTCP_LIBAV_LOG_H
#define PERIGEE_TOOLS_TLTCP_LIBAV_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* From now on it is remembered instead of printed. */
void libav_log_listen(void);

/* Before a call whose words matter. */
void libav_log_forget(void);

/* The last error since then; "" if there was none. */
const char *libav_log_error(void);

/* Whether a codec goes into the file as bytes that no reader recognises, and
 * which. */
bool libav_log_unreadable(char *codec, size_t size);

#endif /* PERIGEE_TOOLS_TLTCP_LIBAV_LOG_H */
