/* SPDX-License-Identifier: MPL-2.0 */
/* Address tokens inside timestamps. */
#include "libsaratoga/engine/token.h"

#include <string.h>

#include <saratoga/types.h>

#include "internal/common/siphash.h"
#include "internal/common/wire.h"
#include "libsaratoga/engine/digest.h"
#include "libsaratoga/engine/packet.h"

#define KIND_AT (SARATOGA__TIMESTAMP_LEN - 1)
#define MAC_MAX 8u

/* The unused octets of each kind: the first, and how many are used here. */
static bool token_octets(const uint8_t *timestamp, size_t *first, size_t *len) {
    static const uint8_t unused[] = {
        [SARATOGA_TS_LOCAL] = 8,      [SARATOGA_TS_POSIX32] = 4,
        [SARATOGA_TS_POSIX64] = 8,    [SARATOGA_TS_POSIX32_F] = 8,
        [SARATOGA_TS_POSIX64_F] = 12, [SARATOGA_TS_Y2K] = 4};
    uint8_t kind = timestamp[KIND_AT];
    if (kind >= SARATOGA_TS_OFF) {
        return false;
    }
    *first = unused[kind];
    *len = KIND_AT - *first < MAC_MAX ? KIND_AT - *first : MAC_MAX;
    return true;
}

void saratoga__token_seal(const uint8_t *key, uint64_t host, uint32_t id,
                          uint8_t *timestamp) {
    uint8_t text[8 + 4 + SARATOGA__TIMESTAMP_LEN];
    uint8_t mac[MAC_MAX];
    cmn__writer w = cmn__writer_of(text, sizeof(text));
    cmn__writer m = cmn__writer_of(mac, sizeof(mac));
    size_t first;
    size_t len;
    if (!token_octets(timestamp, &first, &len)) {
        return;
    }
    memset(timestamp + first, 0, KIND_AT - first);
    cmn__put64(&w, host);
    cmn__put32(&w, id);
    cmn__put_bytes(&w, timestamp, SARATOGA__TIMESTAMP_LEN);
    cmn__put64(&m, cmn__siphash(key, text, sizeof(text)));
    memcpy(timestamp + first, mac, len);
}

bool saratoga__token_is_genuine(const uint8_t *key, uint64_t host, uint32_t id,
                                const uint8_t *timestamp) {
    uint8_t expected[SARATOGA__TIMESTAMP_LEN];
    if (timestamp[KIND_AT] >= SARATOGA_TS_OFF) {
        return false;
    }
    memcpy(expected, timestamp, sizeof(expected));
    saratoga__token_seal(key, host, id, expected);
    return saratoga__equal(expected, timestamp, sizeof(expected));
}
