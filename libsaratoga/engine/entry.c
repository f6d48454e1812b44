/* SPDX-License-Identifier: MPL-2.0 */
/* Directory entries on the wire. */
#include <saratoga/entry.h>

#include "libsaratoga/engine/packet.h"

/* The beginning of 2000 in POSIX time, and as the draft has it: with the 22
 * leap seconds until then. */
#define EPOCH_PLAIN INT64_C(946684800)
#define EPOCH_DRAFT (EPOCH_PLAIN + 22)

#define ENTRY_MARK 0x8000u
#define ENTRY_SPECIAL 0x0200u
#define ENTRY_DIRECTORY 0x0100u
#define ENTRY_LITE 0x0004u

static int64_t epoch(bool plain) {
    return plain ? EPOCH_PLAIN : EPOCH_DRAFT;
}

uint32_t saratoga_time_from_posix(int64_t posix, bool plain) {
    if (posix < epoch(plain)) {
        return 0;
    }
    posix -= epoch(plain);
    return posix > (int64_t)UINT32_MAX ? UINT32_MAX : (uint32_t)posix;
}

int64_t saratoga_time_to_posix(uint32_t wire, bool plain) {
    return (int64_t)wire + epoch(plain);
}

bool saratoga__entry_get(cmn__reader *r, saratoga_entry *e) {
    uint32_t props = cmn__get16(r);
    size_t left;
    size_t n;
    const uint8_t *nul;
    saratoga__wide size;
    e->descriptor = props >> 6 & 3;
    e->directory = (props & ENTRY_DIRECTORY) != 0;
    e->special = (props & ENTRY_SPECIAL) != 0;
    e->lite = (props & ENTRY_LITE) != 0;
    size = saratoga__get_wide(r, e->descriptor);
    e->huge = size.hi != 0;
    e->size = e->huge ? UINT64_MAX : size.lo;
    e->mtime = cmn__get32(r);
    e->ctime = cmn__get32(r);
    e->path[0] = '\0';
    left = cmn__reader_left(r);
    n = left < SARATOGA_PATH_MAX ? left : SARATOGA_PATH_MAX;
    nul = n > 0 && !r->bad ? memchr(r->p, 0, n) : NULL;
    if (r->bad || (props & ENTRY_MARK) == 0 || nul == NULL) {
        r->bad = true;
        return false;
    }
    n = (size_t)(nul - r->p) + 1;
    memcpy(e->path, r->p, n);
    r->p += n;
    return true;
}

void saratoga__entry_put(cmn__writer *w, const saratoga_entry *e) {
    uint32_t d = e->descriptor < SARATOGA_DESCRIPTOR_FIT
                     ? e->descriptor
                     : saratoga__descriptor_for(e->size);
    uint32_t props = ENTRY_MARK | d << 6;
    props |= e->special ? ENTRY_SPECIAL : 0u;
    props |= e->directory ? ENTRY_DIRECTORY : 0u;
    props |= e->lite ? ENTRY_LITE : 0u;
    cmn__put16(w, (uint16_t)props);
    saratoga__put_offset(w, d, e->size);
    cmn__put32(w, e->mtime);
    cmn__put32(w, e->ctime);
    cmn__put_bytes(w, e->path, strlen(e->path) + 1);
}

size_t saratoga_entry_write(const saratoga_entry *e, uint32_t widest, void *buf,
                            size_t cap) {
    saratoga_entry x;
    cmn__writer w = cmn__writer_of(buf, cap);
    if (e == NULL || buf == NULL || e->path[0] == '\0' ||
        memchr(e->path, 0, sizeof(e->path)) == NULL ||
        e->size > saratoga__highest(widest & 3)) {
        return 0;
    }
    x = *e;
    if (x.directory) {
        x.size = 0;
    }
    if (x.descriptor > (widest & 3) ||
        x.size > saratoga__highest(x.descriptor & 3)) {
        x.descriptor = SARATOGA_DESCRIPTOR_FIT;
    }
    saratoga__entry_put(&w, &x);
    return w.bad ? 0 : (size_t)(w.p - (uint8_t *)buf);
}

size_t saratoga_entry_read(const void *buf, size_t len, saratoga_entry *e) {
    cmn__reader r = cmn__reader_of(buf, buf == NULL ? 0 : len);
    saratoga_entry x;
    if (e == NULL || !saratoga__entry_get(&r, &x)) {
        return 0;
    }
    while (r.p < r.end && (*r.p & 0x80) == 0) { /* padding */
        r.p++;
    }
    *e = x;
    return (size_t)(r.p - (const uint8_t *)buf);
}
