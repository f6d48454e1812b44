/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/loopback/costs/changes.h"

#include "internal/common/crc32c.h"
#include "internal/common/wire.h"

#define INITIAL 0x58
#define CALLER_ID_AT 13u /* in an INITIAL */
#define SARATOGA_ID_AT 4u

static void put_random(struct flood *f, uint8_t *at, size_t len) {
    for (size_t i = 0; i < len; i++) {
        at[i] = (uint8_t)flood_draw(f);
    }
}

static void check_anew(struct datagram *d) {
    cmn__writer w = cmn__writer_of(d->data + d->len - 4, 4);

    cmn__put32(&w, cmn__crc32c(0, d->data, d->len - 4));
}

void change_datagram(struct flood *f, struct datagram *d, enum change change) {
    switch (change) {
    case ONE_BIT:
        d->data[flood_draw(f) % d->len] ^= (uint8_t)(1u << flood_draw(f) % 8);
        break;
    case NEW_CALLER:
        if (d->data[0] == INITIAL) {
            put_random(f, d->data + CALLER_ID_AT, 8);
            check_anew(d);
        } else if (d->len >= SARATOGA_ID_AT + 4) {
            put_random(f, d->data + SARATOGA_ID_AT, 4);
        }
        break;
    case CUT_SHORT:
        d->len = flood_draw(f) % d->len;
        break;
    case JUNK:
        put_random(f, d->data, d->len);
        d->data[0] &= (uint8_t)(flood_draw(f) % 2 == 0 ? 0x5f : 0xff);
        break;
    default:
        break;
    }
}
