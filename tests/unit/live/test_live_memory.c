/* SPDX-License-Identifier: MPL-2.0 */
/* Connections of libtltcp-live while memory is short. */
#include <stdatomic.h>
#include <stdio.h>

#include "tests/unit/live/pair.h"

/* How many callocs of libtltcp-live succeed before one fails; -1: all do. */
static atomic_int callocs_left = -1;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size) {
    if (atomic_load(&callocs_left) >= 0 &&
        atomic_fetch_sub(&callocs_left, 1) == 0) {
        return NULL;
    }
    return __real_calloc(count, size);
}

TEST(a_sender_calls_again_when_there_was_no_memory_for_its_connection) {
    tltcp_live *in =
        open_live(TLTCP_LIVE_RECEIVE, "tltcp://127.0.0.1:0?mode=listener");
    tltcp_live_event ev = {.type = 0};
    tltcp_live_frame f;
    char url[64];
    (void)snprintf(url, sizeof(url), "tltcp://127.0.0.1:%u", port_of(in));
    for (int n = 0; n < 10; n++) {
        tltcp_live_options *o;
        tltcp_live *out;
        int tries = 0;
        atomic_store(&callocs_left, -1);
        o = options(url);
        atomic_store(&callocs_left, n);
        if (tltcp_live_open(&out, TLTCP_LIVE_SEND, o, NULL) < 0) {
            tltcp_live_options_free(o);
            continue;
        }
        do {
            tltcp_live_frame_init(&f);
            (void)tltcp_live_read(in, &f, 1);
            tltcp_live_event_init(&ev);
            (void)tltcp_live_next_event(out, &ev, 0);
            assert_in_range(tries++, 0, FAR);
        } while (ev.type != TLTCP_LIVE_EVENT_CONNECTED);
        tltcp_live_close(out, 0);
    }
    tltcp_live_close(in, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_sender_calls_again_when_there_was_no_memory_for_its_connection),
    };
    return cmocka_run_group_tests_name("live memory", tests, NULL, NULL);
}
