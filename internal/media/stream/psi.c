/* SPDX-License-Identifier: MPL-2.0 */
/* Parses program association and program map tables. */
#include "internal/media/stream/psi.h"

#include <string.h>

#include "internal/media/codec/bytes.h"

enum {
    TABLE_PAT = 0x00,
    TABLE_PMT = 0x02,
    HEAD = 3,  /* up to section_length */
    FIXED = 8, /* up to last_section_number */
    CRC = 4
};

/* ISO/IEC 13818-1, annex A; zero over a section that includes it. */
static uint32_t crc32(const uint8_t *data, size_t len) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < len; i++) {
        crc ^= (uint32_t)data[i] << 24;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc & 0x80000000u ? crc << 1 ^ 0x04c11db7u : crc << 1;
        }
    }
    return crc;
}

static unsigned pid_at(const uint8_t *p) {
    return media__get16(p) & 0x1fff;
}

static void read_pat(const uint8_t *p, size_t len, media_psi_found found,
                     void *user) {
    for (size_t at = FIXED; at + 4 + CRC <= len; at += 4) {
        if (media__get16(p + at) != 0) { /* 0: the network's table */
            found(user, MEDIA_PSI_MAP, pid_at(p + at + 2), 0);
        }
    }
}

static void read_pmt(const uint8_t *p, size_t len, media_psi_found found,
                     void *user) {
    size_t at = FIXED + 4;
    if (len < at + CRC) {
        return;
    }
    at += media__get16(p + FIXED + 2) & 0xfff;
    while (at + 5 + CRC <= len) {
        found(user, MEDIA_PSI_STREAM, pid_at(p + at + 1), p[at]);
        at += 5 + (media__get16(p + at + 3) & 0xfff);
    }
}

static void read_section(const uint8_t *p, size_t len, media_psi_found found,
                         void *user) {
    /* current_next_indicator: tables not yet valid */
    if (len < FIXED + CRC || !(p[5] & 1) || crc32(p, len) != 0) {
        return;
    }
    if (p[0] == TABLE_PAT) {
        read_pat(p, len, found, user);
    } else if (p[0] == TABLE_PMT) {
        read_pmt(p, len, found, user);
    }
}

/* Extracts complete sections. */
static void read_sections(media_psi *s, media_psi_found found, void *user) {
    while (s->synced && s->len >= HEAD) {
        size_t len = HEAD + (media__get16(s->data + 1) & 0xfff);
        if (s->data[0] == 0xff || len > MEDIA_PSI_MAX) {
            s->synced = false; /* stuffing up to the next start, or damage */
        } else if (s->len < len) {
            return;
        } else {
            read_section(s->data, len, found, user);
            s->len = (uint16_t)(s->len - len);
            memmove(s->data, s->data + len, s->len);
        }
    }
}

static void psi_append(media_psi *s, const uint8_t *data, size_t len,
                       media_psi_found found, void *user) {
    while (s->synced && len) {
        size_t room = MEDIA_PSI_MAX - s->len;
        size_t n = len < room ? len : room;
        memcpy(s->data + s->len, data, n);
        s->len = (uint16_t)(s->len + n);
        data += n;
        len -= n;
        read_sections(s, found, user);
    }
}

void media__psi_push(media_psi *s, bool start, const uint8_t *data, size_t len,
                     media_psi_found found, void *user) {
    if (start && len) {
        size_t pointer = data[0];
        data++;
        len--;
        pointer = pointer < len ? pointer : len;
        psi_append(s, data, pointer, found,
                   user); /* the end of the previous section */
        data += pointer;
        len -= pointer;
        s->len = 0;
        s->synced = true;
    }
    psi_append(s, data, len, found, user);
}
