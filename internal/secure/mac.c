/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/secure/mac.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

sec__mac *sec__mac_new(const uint8_t *key) {
    static char digest[] = "SHA256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end()};
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *c = hmac != NULL ? EVP_MAC_CTX_new(hmac) : NULL;

    if (c != NULL && EVP_MAC_init(c, key, SEC__MAC_KEY_LEN, params) != 1) {
        EVP_MAC_CTX_free(c);
        c = NULL;
    }
    EVP_MAC_free(hmac);
    return c;
}

bool sec__mac_rekey(sec__mac *m, const uint8_t *key) {
    return EVP_MAC_init(m, key, SEC__MAC_KEY_LEN, NULL) == 1;
}

void sec__mac_free(sec__mac *m) {
    EVP_MAC_CTX_free(m);
}

bool sec__mac_write(sec__mac *m, const void *data, size_t len, uint8_t *out) {
    size_t n;

    return EVP_MAC_init(m, NULL, 0, NULL) == 1 &&
           EVP_MAC_update(m, data, len) == 1 &&
           EVP_MAC_final(m, out, &n, SEC__MAC_LEN) == 1;
}
