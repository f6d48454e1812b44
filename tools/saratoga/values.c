/* SPDX-License-Identifier: MPL-2.0 */
/* Values of options that are words. */
#include "tools/saratoga/values.h"

#include <string.h>

#include "internal/settings/units.h"

/* Words and their values; the last entry has no word. */
struct choice {
    const char *word;
    uint32_t value;
};

static const char *values_choose(const struct choice *c, const char *text,
                                 const char *wanted, uint32_t *value) {
    for (; c->word; c++) {
        if (strcmp(c->word, text) == 0) {
            *value = c->value;
            return NULL;
        }
    }
    return wanted;
}

const char *values_checksum(const char *text, uint32_t *value) {
    static const struct choice choices[] = {
        {"none", SARATOGA_NONE},
        {"crc32c", SARATOGA_CRC32C},
        {"md5", SARATOGA_MD5},
        {"sha1", SARATOGA_SHA1},
        {"sha256", SARATOGA_SHA256},
        {"hmac-sha256", SARATOGA_HMAC_SHA256},
        {NULL, 0}};
    return values_choose(
        choices, text, "none, crc32c, md5, sha1, sha256 or hmac-sha256", value);
}

const char *values_descriptor(const char *text, uint32_t *value) {
    static const struct choice choices[] = {{"16", SARATOGA_16_BIT},
                                            {"32", SARATOGA_32_BIT},
                                            {"64", SARATOGA_64_BIT},
                                            {"128", SARATOGA_128_BIT},
                                            {NULL, 0}};
    return values_choose(choices, text, "16, 32, 64 or 128", value);
}

const char *values_timestamps(const char *text, uint32_t *value) {
    static const struct choice choices[] = {{"on", SARATOGA_TS_POSIX64_F},
                                            {"off", SARATOGA_TS_OFF},
                                            {"local", SARATOGA_TS_LOCAL},
                                            {"posix32", SARATOGA_TS_POSIX32},
                                            {"posix64", SARATOGA_TS_POSIX64},
                                            {"y2k", SARATOGA_TS_Y2K},
                                            {"posix32f", SARATOGA_TS_POSIX32_F},
                                            {"posix64f", SARATOGA_TS_POSIX64_F},
                                            {NULL, 0}};
    return values_choose(
        choices, text ? text : "on",
        "on, off, local, posix32, posix64, posix32f, posix64f or y2k", value);
}

const char *values_profile(const char *text, saratoga_options *o) {
    static const struct choice choices[] = {{"draft", SARATOGA_DRAFT},
                                            {"nasa-perl", SARATOGA_NASA_PERL},
                                            {"go", SARATOGA_GO},
                                            {"vallona", SARATOGA_VALLONA},
                                            {NULL, 0}};
    uint32_t profile = 0;
    const char *why = values_choose(
        choices, text, "draft, nasa-perl, vallona or go", &profile);
    if (!why) {
        (void)saratoga_options_set_profile(o, profile);
    }
    return why;
}

const char *values_mtu(const char *text, uint32_t *mtu) {
    uint64_t n = 0;
    if (units_count(text, 576, 65535, &n)) {
        return "a number of bytes from 576 to 65535";
    }
    *mtu = (uint32_t)n;
    return NULL;
}

const char *values_parallel(const char *text, unsigned *n) {
    uint64_t value = 0;
    if (units_count(text, 1, 64, &value)) {
        return "a number from 1 to 64";
    }
    *n = (unsigned)value;
    return NULL;
}

const char *values_limit(const char *text, uint64_t *n) {
    return units_count(text, 1, 1000000, n) ? "a number from 1 to 1000000"
                                            : NULL;
}
