/* SPDX-License-Identifier: MPL-2.0 */
/* Values of options on the command line.  Each returns NULL, or which values
 * there are. */
#ifndef TOOLS_SARATOGA_VALUES_H
#define TOOLS_SARATOGA_VALUES_H

#include <saratoga/transfer.h>

const char *values_checksum(const char *text, uint32_t *value);
const char *values_descriptor(const char *text, uint32_t *value);
/* Without text: on. */
const char *values_timestamps(const char *text, uint32_t *value);
const char *values_profile(const char *text, saratoga_options *o);
const char *values_mtu(const char *text, uint32_t *mtu);
const char *values_parallel(const char *text, unsigned *n);
const char *values_limit(const char *text, uint64_t *n);

#endif /* TOOLS_SARATOGA_VALUES_H */
