/* SPDX-License-Identifier: MPL-2.0 */
/* AES-256-CMAC of a digest, which proves a key. */
#include "internal/secure/key_proof.h"

#include <string.h>

#include "internal/secure/aead.h"
#include "internal/secure/secret.h"

#define POLYNOMIAL 0x87u

static bool key_proof_block(const sec__key_proof *p, uint8_t *io) {
    return sec__cipher_update(p->cipher, io, io, SEC__PROOF_LEN);
}

/* Multiplies by x in GF(2^128); in constant time. */
static void key_proof_double(uint8_t *b) {
    uint8_t carry = (uint8_t)(b[0] >> 7);

    for (unsigned i = 0; i + 1 < SEC__PROOF_LEN; i++) {
        b[i] = (uint8_t)(b[i] << 1 | b[i + 1] >> 7);
    }
    b[SEC__PROOF_LEN - 1] =
        (uint8_t)((unsigned)b[SEC__PROOF_LEN - 1] << 1 ^ carry * POLYNOMIAL);
}

bool sec__key_proof_init(sec__key_proof *p, const uint8_t *key) {
    *p = (sec__key_proof){
        .cipher = sec__cipher_new("AES-256-ECB", key, SEC__KEY_LEN, true)};
    if (p->cipher == NULL || !key_proof_block(p, p->last)) {
        sec__key_proof_clear(p);
        return false;
    }
    key_proof_double(p->last);
    return true;
}

void sec__key_proof_clear(sec__key_proof *p) {
    sec__cipher_free(p->cipher);
    sec__wipe(p, sizeof(*p));
}

bool sec__key_proof_write(const sec__key_proof *p, const uint8_t *digest,
                          uint8_t *out) {
    memcpy(out, digest, SEC__PROOF_LEN);
    if (!key_proof_block(p, out)) {
        return false;
    }
    for (unsigned i = 0; i < SEC__PROOF_LEN; i++) {
        out[i] ^= digest[SEC__PROOF_LEN + i] ^ p->last[i];
    }
    return key_proof_block(p, out);
}
