/* SPDX-License-Identifier: MPL-2.0 */
/* Keys as text and in files. */
#include "internal/credentials/key_file.h"

#include <stdio.h>
#include <string.h>

#include "internal/credentials/wipe.h"

static int digit_of(char c) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) % 16 : -1;
}

bool secrets_key_of_hex(const char *text, size_t len, uint8_t *key) {
    if (len != 2 * SECRETS_KEY_LEN) {
        return false;
    }
    for (size_t i = 0; i < SECRETS_KEY_LEN; i++) {
        int high = digit_of(text[2 * i]);
        int low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        key[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

bool secrets_key_of_file(const char *path, uint8_t *key) {
    char raw[2 * SECRETS_KEY_LEN + 3];
    FILE *f = fopen(path, "re");
    size_t len;
    bool ok;
    if (!f) {
        return false;
    }
    len = fread(raw, 1, sizeof(raw), f);
    (void)fclose(f);
    ok = len == SECRETS_KEY_LEN;
    if (ok) {
        memcpy(key, raw, SECRETS_KEY_LEN);
    } else {
        while (len > 0 && (raw[len - 1] == '\n' || raw[len - 1] == '\r')) {
            len--;
        }
        ok = secrets_key_of_hex(raw, len, key);
    }
    secrets_wipe(raw, sizeof(raw));
    return ok;
}

const char *secrets_key_why(const char *path, const char *otherwise) {
    FILE *f = fopen(path, "re");
    if (!f) {
        return SECRETS_UNREADABLE;
    }
    (void)fclose(f);
    return otherwise;
}
