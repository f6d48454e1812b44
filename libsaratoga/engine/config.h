/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_CONFIG_H
#define LIBSARATOGA_CONFIG_H

#include <congestion/congestion.h>
#include <saratoga/config.h>

#include "internal/common/mem.h"

/* Completes the caller's options with defaults. */
void saratoga__options_take(saratoga_options *out, const saratoga_options *in);
void saratoga__config_take(saratoga_config *out, const saratoga_config *in);

/* Copies the strings and values that options point to into one block, to be
 * freed by cmn__free(). Returns 0, or SARATOGA_ERR_NOMEM without any change. */
int saratoga__options_own(saratoga_options *o, const cmn__mem *mem,
                          void **block);

/* What controls the sending rate. */
enum saratoga__law {
    SARATOGA__OPEN_LOOP, /* a fixed rate */
    SARATOGA__STFRC,     /* loss history at the sender */
    SARATOGA__TFRC,      /* loss fraction of each report */
    SARATOGA__WINDOW,    /* a window controller, fed once per cycle */
    SARATOGA__NO_LAW     /* unknown name */
};

/* *ops becomes the controller, NULL for an open loop. */
enum saratoga__law saratoga__options_law(const saratoga_options *o,
                                         const struct cong_ops **ops);

#endif /* LIBSARATOGA_CONFIG_H */
