/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/live/ledger.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 1024

bool ledger_init(struct ledger *l, const char *csv) {
    memset(l, 0, sizeof(*l));
    if (!csv) {
        return true;
    }
    l->csv = fopen(csv, "we");
    if (l->csv) {
        (void)fputs("stream,number,type,class,bytes,pts_ms,dts_ms,sent_ms,"
                    "known_ms,deadline_ms,fate,reason\n",
                    l->csv);
    }
    return l->csv != NULL;
}

bool ledger_free(struct ledger *l) {
    bool ok = !l->csv || fclose(l->csv) == 0;
    free(l->entry);
    l->entry = NULL;
    l->csv = NULL;
    return ok;
}

static struct ledger_entry *at(const struct ledger *l, uint64_t number) {
    return &l->entry[number & (l->capacity - 1)];
}

static bool ledger_grow(struct ledger *l) {
    size_t capacity = l->capacity ? l->capacity * 2 : CAPACITY_MIN;
    struct ledger_entry *entry = calloc(capacity, sizeof(*entry));
    if (!entry) {
        return false;
    }
    for (uint64_t n = l->first; n < l->next; n++) {
        entry[n & (capacity - 1)] = *at(l, n);
    }
    free(l->entry);
    l->entry = entry;
    l->capacity = capacity;
    return true;
}

/* Milliseconds since the start, or nothing. */
static void csv_time(const struct ledger *l, int64_t ns, bool known) {
    if (known) {
        (void)fprintf(l->csv, "%.3f,", (double)(ns - (int64_t)l->start) / 1e6);
    } else {
        (void)fputc(',', l->csv);
    }
}

static void csv_line(const struct ledger *l, const struct ledger_entry *e,
                     const char *fate, const char *reason, uint64_t now) {
    const media_header *h = &e->header;
    if (!l->csv || !e->is_frame) {
        return;
    }
    (void)fprintf(l->csv, "%u,%" PRIu32 ",%s,%s,%" PRIu32 ",%.3f,%.3f,",
                  h->stream, h->number, tally_name(tally_kind(h)),
                  media__class_name(h->frame_class), h->length,
                  (double)h->pts / 1e6, (double)h->dts / 1e6);
    csv_time(l, (int64_t)e->written, e->written != 0);
    csv_time(l, (int64_t)now, true);
    csv_time(l, e->deadline, e->deadline != MEDIA_NEVER);
    (void)fprintf(l->csv, "%s,%s\n", fate, reason);
}

static void ledger_offer(struct ledger *l, const struct ledger_entry *e) {
    l->section.offered++;
    l->bytes_offered += e->bytes;
    if (e->is_frame) {
        l->kind[tally_kind(&e->header)].offered++;
    }
}

bool ledger_sent(struct ledger *l, const struct ledger_entry *entry) {
    if (l->next - l->first == l->capacity && !ledger_grow(l)) {
        return false;
    }
    *at(l, l->next) = *entry;
    at(l, l->next)->used = true;
    l->next++;
    l->open++;
    ledger_offer(l, entry);
    return true;
}

void ledger_held_back(struct ledger *l, const struct ledger_entry *entry,
                      int reason, uint64_t now) {
    ledger_offer(l, entry);
    l->section.expired++;
    l->kind[tally_kind(&entry->header)].expired++;
    l->held_back[reason]++;
    l->bytes_held_back += entry->bytes;
    csv_line(l, entry, "held-back", media__drop_name(reason), now);
}

static void count(struct ledger_count *c, uint32_t fate) {
    switch (fate) {
    case TLTCP_FATE_DELIVERED:
        c->delivered++;
        break;
    case TLTCP_FATE_PARTIAL:
        c->partial++;
        break;
    default:
        c->expired++;
        break;
    }
}

static const char *fate_name(uint32_t fate) {
    static const char *const names[] = {"unknown", "delivered", "partial",
                                        "expired", "unsent",    "abandoned"};
    return names[fate <= TLTCP_FATE_ABANDONED ? fate : 0];
}

static void ledger_settle(struct ledger *l, struct ledger_entry *e,
                          const tltcp_event *event) {
    bool unsent = event->fate == TLTCP_FATE_UNSENT;
    int reason =
        unsent || event->cause ? media__drop_reason(event) : MEDIA_DROP_NONE;
    e->used = false;
    l->open--;
    count(&l->section, event->fate);
    if (e->is_frame) {
        count(&l->kind[tally_kind(&e->header)], event->fate);
        l->held_back[reason] += unsent;
    }
    csv_line(l, e, unsent ? "held-back" : fate_name(event->fate),
             reason == MEDIA_DROP_NONE ? "" : media__drop_name(reason),
             event->now);
    while (l->first < l->next && !at(l, l->first)->used) {
        l->first++;
    }
}

void ledger_fate(struct ledger *l, const tltcp_event *event) {
    if (event->section >= l->first && event->section < l->next &&
        at(l, event->section)->used) {
        ledger_settle(l, at(l, event->section), event);
    }
}

void ledger_abandon(struct ledger *l, uint64_t now) {
    for (uint64_t n = l->first; n < l->next; n++) {
        if (at(l, n)->used) {
            const tltcp_event gone = {.fate = TLTCP_FATE_ABANDONED, .now = now};
            ledger_settle(l, at(l, n), &gone);
        }
    }
}
