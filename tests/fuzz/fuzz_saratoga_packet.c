/* SPDX-License-Identifier: MPL-2.0 */
/* Every parser of Saratoga; what was read can be written and reads the same. */
#include <string.h>

#include "libsaratoga/engine/packet.h"
#include "libsaratoga/engine/timestamp.h"
#include "tests/fuzz/script.h"

static uint8_t out[4096];

static size_t written(const cmn__writer *w) {
    FUZZ_CHECK(!w->bad);
    return (size_t)(w->p - out);
}

static void beacon(const uint8_t *data, size_t size) {
    saratoga__beacon a;
    saratoga__beacon b;
    cmn__writer w = cmn__writer_of(out, sizeof(out));
    if (size > 2000 || !saratoga__beacon_parse(data, size, &a)) {
        return;
    }
    saratoga__beacon_write(&w, &a);
    FUZZ_CHECK(saratoga__beacon_parse(out, written(&w), &b));
    FUZZ_CHECK(a.abilities == b.abilities && a.free_kib == b.free_kib &&
               a.eid_len == b.eid_len);
}

static void request(const uint8_t *data, size_t size) {
    saratoga__request a;
    saratoga__request b;
    cmn__writer w = cmn__writer_of(out, sizeof(out));
    if (size > 2000 || !saratoga__request_parse(data, size, &a)) {
        return;
    }
    saratoga__request_write(&w, &a);
    FUZZ_CHECK(saratoga__request_parse(out, written(&w), &b));
    FUZZ_CHECK(a.type == b.type && a.id == b.id && a.path_len == b.path_len &&
               a.auth_len == b.auth_len && strcmp(a.path, b.path) == 0);
}

static void metadata(const uint8_t *data, size_t size) {
    saratoga__metadata a;
    saratoga__metadata b;
    cmn__writer w = cmn__writer_of(out, sizeof(out));
    if (!saratoga__metadata_parse(data, size, &a)) {
        return;
    }
    saratoga__metadata_write(&w, &a);
    FUZZ_CHECK(saratoga__metadata_parse(out, written(&w), &b));
    FUZZ_CHECK(a.sum_len == b.sum_len &&
               (a.entry.huge || a.entry.size == b.entry.size) &&
               strcmp(a.entry.path, b.entry.path) == 0);
}

static void data_packet(const uint8_t *data, size_t size) {
    saratoga__data a;
    uint64_t low;
    uint64_t high;
    if (saratoga__data_parse(data, size, &a) && a.timestamp != NULL &&
        saratoga__timestamp_read(a.timestamp[15] % 6, a.timestamp, &low,
                                 &high)) {
        FUZZ_CHECK(low <= high || high < UINT64_C(1) << 32);
    }
}

static void status(const uint8_t *data, size_t size) {
    saratoga__status_pkt a;
    if (!saratoga__status_parse(data, size, &a)) {
        return;
    }
    for (size_t i = 0; i < a.hole_count; i++) {
        saratoga__wide from;
        saratoga__wide to;
        saratoga__status_hole(&a, i, &from, &to);
    }
}

static void record(const uint8_t *data, size_t size) {
    saratoga_entry e;
    size_t n;
    while ((n = saratoga_entry_read(data, size, &e)) > 0) {
        FUZZ_CHECK(n <= size);
        (void)saratoga_entry_write(&e, SARATOGA_128_BIT, out, sizeof(out));
        data += n;
        size -= n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    beacon(data, size);
    request(data, size);
    metadata(data, size);
    data_packet(data, size);
    status(data, size);
    record(data, size);
    return 0;
}
