/* SPDX-License-Identifier: MPL-2.0 */
/* When a listener reports the callers that it rejects. */
#include "internal/credentials/rejections.h"

#define SECOND UINT64_C(1000000000)
#define EACH (60 * SECOND)
#define AT_ONCE 10

bool secrets_rejections_look(struct secrets_rejections *r, uint64_t now) {
    bool due = now >= r->look;
    r->look = due ? now + SECOND : r->look;
    return due;
}

bool secrets_rejections_are_news(struct secrets_rejections *r, uint64_t count,
                                 uint64_t now) {
    uint64_t from = r->budget > now ? r->budget : now;
    if (count <= r->told || from - now > (AT_ONCE - 1) * EACH) {
        return false;
    }
    r->told = count;
    r->budget = from + EACH;
    return true;
}
