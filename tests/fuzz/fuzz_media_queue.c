/* SPDX-License-Identifier: MPL-2.0 */
/* The frame queue under any sequence of calls: nothing is lost from sight,
 * order holds, no header is dropped, and nothing that needs a lost frame is
 * sent before the next key frame. */
#include <string.h>

#include "media/outq.h"
#include "tests/fuzz/script.h"

#define MS INT64_C(1000000)
#define STREAMS 3

struct world {
    struct script s;
    media_outq *q;
    int policy;
    int64_t now;
    uint64_t pushed;  /* items taken, and the mark of the newest */
    uint64_t settled; /* items given out, and the mark of the newest */
    size_t bytes;
    bool broken[STREAMS]; /* a frame that others need was dropped here */
};

static void push(struct world *w) {
    media_item item;

    memset(&item, 0, sizeof(item));
    item.frame.frame_class = (uint8_t)script_below(&w->s, MEDIA_CLASS_COUNT);
    item.frame.key = item.frame.frame_class == MEDIA_CLASS_KEY;
    item.stream = (uint8_t)script_below(&w->s, STREAMS);
    item.bytes = (size_t)script_below(&w->s, 40000);
    item.arrival = w->now;
    item.due = w->now + (int64_t)script_below(&w->s, 400) * MS;
    item.deadline = item.due + (int64_t)script_below(&w->s, 3) * 100 * MS;
    if (item.frame.frame_class == MEDIA_CLASS_HEADER) {
        item.due = item.deadline = MEDIA_NEVER;
    }
    item.user = (void *)(uintptr_t)(w->pushed + 1);
    if (media__outq_push(w->q, &item)) {
        w->pushed++;
        w->bytes += item.bytes;
    }
}

static bool is_reference(const media_item *item) {
    return item->frame.frame_class == MEDIA_CLASS_KEY ||
           item->frame.frame_class == MEDIA_CLASS_REFERENCE;
}

static void check_order(struct world *w, const media_next *next) {
    uint64_t mark = (uint64_t)(uintptr_t)next->item.user;

    FUZZ_CHECK(mark == w->settled + 1);
    w->settled = mark;
    w->bytes -= next->item.bytes;
    FUZZ_CHECK(media__outq_items(w->q) == w->pushed - w->settled);
    FUZZ_CHECK(media__outq_bytes(w->q) == w->bytes);
}

/* Key frames and frames that stand alone begin anew. */
static void check_chain(struct world *w, const media_next *next) {
    const media_item *item = &next->item;
    bool *broken = &w->broken[item->stream];
    bool sent = next->verdict == MEDIA_SEND;

    if (sent && (item->frame.frame_class == MEDIA_CLASS_KEY ||
                 item->frame.frame_class == MEDIA_CLASS_OTHER)) {
        *broken = false;
    }
    FUZZ_CHECK(!(sent && *broken && w->policy != MEDIA_DROP_SECTION &&
                 (is_reference(item) ||
                  item->frame.frame_class == MEDIA_CLASS_DISPOSABLE)));
    if (!sent && is_reference(item)) {
        *broken = true;
    }
}

static void ask(struct world *w) {
    media_link link = {
        .unsent = (size_t)script_below(&w->s, 100000),
        .rate_bps = script_below(&w->s, 8) * 500000,
        .growing = script_below(&w->s, 4) == 0,
        .delay = (int64_t)script_below(&w->s, 200) * MS,
    };
    media_next next;

    media__outq_next(w->q, &link, w->now, &next);
    if (next.verdict == MEDIA_WAIT) {
        FUZZ_CHECK(next.when > w->now);
        FUZZ_CHECK(next.when != MEDIA_NEVER || !media__outq_items(w->q));
        return;
    }
    FUZZ_CHECK(next.verdict == MEDIA_SEND ||
               next.item.frame.frame_class != MEDIA_CLASS_HEADER);
    check_order(w, &next);
    check_chain(w, &next);
}

static void count_left(void *user, media_item *item) {
    struct world *w = user;

    FUZZ_CHECK((uint64_t)(uintptr_t)item->user == ++w->settled);
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    struct world w = {.s = {in, in + size}, .now = 1000 * MS};

    w.policy = (int)script_below(&w.s, 3);
    w.q =
        media__outq_new(w.policy, 1 + (size_t)script_below(&w.s, 64), 1000000);
    FUZZ_CHECK(w.q != NULL);
    int64_t end = w.now + 9000 * MS; /* before a wait for a key frame ends */
    while (script_left(&w.s) && w.now < end) {
        switch (script_below(&w.s, 4)) {
        case 0:
            w.now += (int64_t)script_below(&w.s, 50) * MS;
            break;
        case 1:
            push(&w);
            break;
        default:
            ask(&w);
        }
    }
    media__outq_free(w.q, count_left, &w);
    FUZZ_CHECK(w.settled == w.pushed);
    return 0;
}
