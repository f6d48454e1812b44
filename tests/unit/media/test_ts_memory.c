/* SPDX-License-Identifier: MPL-2.0 */
/* Memory that the splitter of a transport stream takes: a gateway splits what
 * any peer sends. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "internal/media/stream/ts.h"
#include "tests/support/cmocka.h"

#define PACKET MEDIA_TS_PACKET
#define STREAMS 60u
#define FIRST_PID 0x100u
#define MIB ((size_t)1 << 20)

/* Of the buffers, which realloc() makes. */
static size_t now;
static size_t most;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size) {
    size_t before = malloc_usable_size(old);
    void *p = __real_realloc(old, size);
    if (p != NULL) {
        now += malloc_usable_size(p) - before;
        most = now > most ? now : most;
    }
    return p;
}

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p) {
    size_t size = malloc_usable_size(p);
    now -= size < now ? size : now;
    __real_free(p);
}

static void ignore(void *user, const media_ts_frame *frame) {
    size_t *bytes = user;
    *bytes += frame->len;
}

static void push(media_ts *ts, unsigned pid, bool start, size_t bytes) {
    uint8_t packet[PACKET];
    for (size_t sent = 0; sent < bytes; sent += PACKET) {
        memset(packet, 0, sizeof(packet));
        packet[0] = 0x47;
        packet[1] = (uint8_t)((start && sent == 0 ? 0x40 : 0) | pid >> 8);
        packet[2] = (uint8_t)pid;
        packet[3] = 0x10;
        packet[6] = 1; /* of a PES packet without a length */
        packet[7] = 0xe0;
        packet[10] = 0x80;
        assert_true(media__ts_push(ts, packet, sizeof(packet)));
    }
}

static media_ts *begin(size_t *bytes) {
    media_ts *ts = media__ts_new(ignore, bytes);
    assert_non_null(ts);
    *bytes = now = most = 0;
    return ts;
}

TEST(frames_that_never_end_take_little_memory_together) {
    size_t bytes;
    media_ts *ts = begin(&bytes);
    for (unsigned i = 0; i < STREAMS; i++) {
        push(ts, FIRST_PID + i, true, 4 * MIB);
    }
    assert_true(most < 128 * MIB);
    media__ts_flush(ts);
    assert_true(bytes >= STREAMS * 4 * MIB);
    media__ts_free(ts);
}

TEST(the_memory_of_large_frames_is_given_back) {
    size_t bytes;
    media_ts *ts = begin(&bytes);
    for (unsigned i = 0; i < STREAMS; i++) {
        push(ts, FIRST_PID + i, true, 4 * MIB);
        push(ts, FIRST_PID + i, true, PACKET);
    }
    media__ts_flush(ts);
    assert_true(now < 64 * MIB);
    media__ts_free(ts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_that_never_end_take_little_memory_together),
        cmocka_unit_test(the_memory_of_large_frames_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
