/* SPDX-License-Identifier: MPL-2.0 */
/* Options that outlive the call that brought them. */
#include "libsaratoga/node/options.h"

#include "internal/common/sized.h"
#include "internal/common/strings.h"

int saratoga__options_keep(saratoga_options *out, void **block,
                           const saratoga_options *in) {
    const cmn__mem mem = cmn__mem_default();

    saratoga_options_init(out);
    if (in != NULL) {
        cmn__sized_take(out, sizeof(*out), in);
    }
    *block = cmn__strings_copy(
        &mem, &(cmn__strings){.text = {&out->congestion},
                              .names = &out->congestion_params,
                              .values = &out->congestion_values});
    return *block != NULL ? 0 : SARATOGA_ERR_NOMEM;
}
