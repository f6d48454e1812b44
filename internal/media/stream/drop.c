/* SPDX-License-Identifier: MPL-2.0 */
/* Names of the reasons for dropping frames. */
#include "internal/media/stream/drop.h"

int media__drop_reason(const tltcp_event *ev) {
    switch (ev->cause) {
    case TLTCP_CAUSE_DEPENDS:
        return MEDIA_DROP_DEPENDS;
    case TLTCP_CAUSE_YIELDED:
        return MEDIA_DROP_YIELDED;
    default:
        return MEDIA_DROP_LATE;
    }
}

const char *media__drop_name(int reason) {
    static const char *const names[MEDIA_DROP_REASONS] = {
        "none", "late", "depends", "yielded", "overflow"};

    return names[reason > 0 && reason < MEDIA_DROP_REASONS ? reason : 0];
}
