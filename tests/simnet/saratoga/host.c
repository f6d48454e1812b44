/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/saratoga/host.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka.h"

static void on_disk(struct sim_timer *t, uint64_t now);
static void on_event(void *user, const saratoga_event *ev);
static bool take_work(void *user);

uint64_t host_now(const struct host *h) {
    return sim_saratoga_now(&h->sim);
}

static void on_send(void *user, const saratoga_pktinfo *to,
                    const uint8_t *dgram, size_t len) {
    struct host *h = user;
    if (h->tap != NULL) {
        h->tap(h->tap_user, h, to, dgram, len);
    }
}

struct host *host_new(struct sim_net *net, const saratoga_config *cfg,
                      uint64_t seed) {
    struct host *h = calloc(1, sizeof(*h));
    const struct sim_saratoga_app app = {on_event, take_work, on_send, h};
    h->checksum = SARATOGA_MD5;
    h->mtime = 1000;
    sim_random_init(&h->luck, seed);
    h->disk_timer = (struct sim_timer){.fire = on_disk, .user = h};
    if (!sim_saratoga_open(&h->sim, net, cfg, seed, &app)) {
        abort();
    }
    return h;
}

void host_free(struct host *h) {
    while (h->xfers != NULL) {
        struct xfer *next = h->xfers->next;
        saratoga_digest_free(h->xfers->digest);
        free(h->xfers);
        h->xfers = next;
    }
    while (h->files != NULL) {
        struct disk_file *next = h->files->next;
        free(h->files->data);
        free(h->files);
        h->files = next;
    }
    sim_loop_stop(sim_net_loop(h->sim.net), &h->disk_timer);
    sim_saratoga_close(&h->sim);
    free(h);
}

saratoga_pktinfo host_address(const struct host *h) {
    return sim_saratoga_address(&h->sim);
}

static struct disk_file *new_file(struct host *h, const char *name) {
    struct disk_file *f = calloc(1, sizeof(*f));
    strncpy(f->name, name, sizeof(f->name) - 1);
    f->next = h->files;
    h->files = f;
    return f;
}

struct disk_file *host_make_file(struct host *h, const char *name,
                                 uint64_t size, uint64_t seed) {
    struct disk_file *f = new_file(h, name);
    uint64_t x = seed;
    f->data = malloc(size > 0 ? size : 1);
    f->size = size;
    f->cap = size;
    f->visible = true;
    for (uint64_t i = 0; i < size; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
        f->data[i] = (uint8_t)(x >> 56);
    }
    return f;
}

struct disk_file *host_find_file(struct host *h, const char *name) {
    struct disk_file *f = h->files;
    while (f != NULL && (!f->visible || strcmp(f->name, name) != 0)) {
        f = f->next;
    }
    return f;
}

bool host_same(const struct disk_file *a, const struct disk_file *b) {
    return a != NULL && b != NULL && a->size == b->size &&
           (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

void host_digest(const struct disk_file *f, uint32_t type, uint8_t *out) {
    saratoga_digest *d = saratoga_digest_new(type);
    if (d != NULL) {
        (void)saratoga_digest_update(d, f->data, f->size);
        (void)saratoga_digest_final(d, out);
    }
    saratoga_digest_free(d);
}

static struct xfer *new_xfer(struct host *h, saratoga_handle handle,
                             uint32_t request, bool sends) {
    struct xfer *x = calloc(1, sizeof(*x));
    x->host = h;
    x->handle = handle;
    x->request = request;
    x->sends = sends;
    x->next = h->xfers;
    h->xfers = x;
    return x;
}

/* ---- answering ---- */

static void describe(const struct host *h, const struct disk_file *f,
                     saratoga_source *src) {
    memset(src, 0, sizeof(*src));
    src->entry.size = f->size;
    src->entry.mtime = h->mtime;
    src->entry.ctime = h->mtime;
    strncpy(src->entry.path, f->name, SARATOGA_PATH_MAX - 1);
    src->checksum = h->checksum;
    src->digest_later = h->digest_later;
    if (h->stream) {
        src->kind = SARATOGA_STREAM;
        src->entry.size = 0;
        src->checksum = SARATOGA_NONE;
        return;
    }
    host_digest(f, h->checksum, src->digest);
}

static void refuse(struct host *h, const saratoga_event *ev, uint32_t status) {
    (void)saratoga_transfer_refuse(h->sim.engine, ev->handle, status,
                                   host_now(h));
}

static void answer_delete(struct host *h, const saratoga_event *ev) {
    struct disk_file *f = host_find_file(h, ev->path);
    if (f != NULL) {
        f->visible = false;
    }
    (void)saratoga_transfer_accept(h->sim.engine, ev->handle, NULL,
                                   host_now(h));
}

/* To the group once for all who ask meanwhile. */
static bool joins(struct host *h, const saratoga_event *ev,
                  const struct disk_file *f) {
    bool joined = false;
    for (const struct xfer *x = h->xfers; x != NULL && !joined; x = x->next) {
        joined = x->file == f && x->sends && !x->done &&
                 saratoga_transfer_join(h->sim.engine, ev->handle, x->handle,
                                        host_now(h)) == 0;
    }
    return joined;
}

static void answer_get(struct host *h, const saratoga_event *ev) {
    struct disk_file *f =
        ev->path[0] == '\0' ? h->files : host_find_file(h, ev->path);
    saratoga_answer a;
    saratoga_source src;
    struct xfer *x;
    if (f == NULL) {
        refuse(h, ev, SARATOGA_NOT_FOUND);
        return;
    }
    if (h->answer_group != NULL && joins(h, ev, f)) {
        return;
    }
    describe(h, f, &src);
    src.unchanged = ev->has_entry && ev->entry.mtime == src.entry.mtime &&
                    ev->entry.size == src.entry.size;
    saratoga_answer_init(&a);
    x = new_xfer(h, ev->handle, ev->request, true);
    x->file = f;
    a.source = &src;
    a.options = h->answer_options;
    a.user = x;
    if (h->answer_group != NULL) {
        a.group = *h->answer_group;
    }
    if (saratoga_transfer_accept(h->sim.engine, ev->handle, &a, host_now(h)) ==
        SARATOGA_ERR_INVAL) {
        refuse(h, ev, SARATOGA_CANNOT_SEND);
    }
    if (h->digest_later && !h->digest_kept) {
        (void)saratoga_transfer_set_digest(
            h->sim.engine, ev->handle, h->checksum, src.digest, host_now(h));
    }
}

static void answer_put(struct host *h, const saratoga_event *ev) {
    struct xfer *x = new_xfer(h, ev->handle, ev->request, false);
    saratoga_answer a;
    saratoga_answer_init(&a);
    a.options = h->answer_options;
    a.partial = h->partial;
    a.user = x;
    x->file = h->partial != NULL ? h->partial_file : new_file(h, ev->path);
    (void)saratoga_transfer_accept(h->sim.engine, ev->handle, &a, host_now(h));
}

static void answer(struct host *h, const saratoga_event *ev) {
    h->requests++;
    h->request = *ev;
    if (h->refuse) {
        refuse(h, ev, h->refuse_status);
    } else if (ev->request == SARATOGA_DELETE) {
        answer_delete(h, ev);
    } else if (ev->request == SARATOGA_PUT || ev->request == SARATOGA_GIVE ||
               ev->request == SARATOGA_BLIND_PUT) {
        answer_put(h, ev);
    } else {
        answer_get(h, ev);
    }
}

static void on_done(struct host *h, struct xfer *x, const saratoga_event *ev) {
    if (x == NULL) {
        (void)saratoga_transfer_release(h->sim.engine, ev->handle, host_now(h));
        return;
    }
    x->done = true;
    x->done_at = host_now(h);
    x->end = *ev;
    saratoga_stats_init(&x->stats);
    (void)saratoga_transfer_get_stats(h->sim.engine, x->handle, &x->stats,
                                      host_now(h));
    if (ev->remove && x->file != NULL) {
        x->file->visible = false;
    }
    if (!h->keep_handles) {
        x->released = true;
        (void)saratoga_transfer_release(h->sim.engine, ev->handle, host_now(h));
    }
}

static void on_event(void *user, const saratoga_event *ev) {
    struct host *h = user;
    struct xfer *x = saratoga_transfer_user(h->sim.engine, ev->handle);
    switch (ev->type) {
    case SARATOGA_EVENT_REQUEST:
        answer(h, ev);
        break;
    case SARATOGA_EVENT_DONE:
        on_done(h, x, ev);
        break;
    case SARATOGA_EVENT_METADATA:
        x->metadata = *ev;
        x->has_metadata = true;
        break;
    case SARATOGA_EVENT_PURGED:
        x->purged = true;
        break;
    case SARATOGA_EVENT_ACCEPTED:
        x->accepted = true;
        break;
    case SARATOGA_EVENT_BEACON:
        h->beacons++;
        h->beacon = *ev;
        break;
    default:
        break;
    }
}

/* ---- the disk ---- */

static int64_t do_read(struct host *h, const struct xfer *x,
                       const saratoga_work *w) {
    uint64_t n = x->file->size > w->offset ? x->file->size - w->offset : 0;
    n = n < w->len ? n : w->len;
    if (h->shrunk && n > 0) {
        n--;
    }
    h->read_bytes += n;
    memcpy(w->buf, x->file->data + w->offset, n);
    return (int64_t)n;
}

static int64_t do_write(struct host *h, struct xfer *x,
                        const saratoga_work *w) {
    struct disk_file *f = x->file;
    uint64_t end = w->offset + w->len;
    if (h->full || end > UINT64_C(1) << 30) {
        return SARATOGA_ERR_NO_SPACE;
    }
    if (end > f->cap) {
        uint64_t cap = f->cap > 0 ? f->cap : 4096;
        while (cap < end) {
            cap *= 2;
        }
        f->data = realloc(f->data, cap);
        memset(f->data + f->cap, 0xEE, cap - f->cap);
        f->cap = cap;
    }
    memcpy(f->data + w->offset, w->buf, w->len);
    f->size = end > f->size ? end : f->size;
    return 0;
}

static int64_t do_digest(struct xfer *x, const saratoga_work *w) {
    if (x->digest == NULL) {
        x->digest = saratoga_digest_new(w->checksum);
        x->digested = 0;
    }
    if (w->offset != x->digested || w->offset + w->length > x->file->size) {
        return SARATOGA_ERR_IO;
    }
    x->digested += w->length;
    return saratoga_digest_update(x->digest, x->file->data + w->offset,
                                  w->length);
}

static int64_t do_commit(struct xfer *x, const saratoga_work *w) {
    uint8_t out[SARATOGA_CHECKSUM_MAX];
    if (x->file->size != w->length) {
        return SARATOGA_ERR_IO;
    }
    if (w->checksum != SARATOGA_NONE) {
        if (x->digest == NULL) { /* an empty file */
            x->digest = saratoga_digest_new(w->checksum);
        }
        (void)saratoga_digest_final(x->digest, out);
        if (memcmp(out, w->digest, saratoga_digest_len(w->checksum)) != 0) {
            return SARATOGA_ERR_CHECKSUM;
        }
    }
    x->file->visible = true;
    x->committed = true;
    return 0;
}

static int64_t do_work(struct host *h, const saratoga_work *w) {
    struct xfer *x = w->user;
    switch (w->type) {
    case SARATOGA_WORK_READ:
        return do_read(h, x, w);
    case SARATOGA_WORK_WRITE:
        return do_write(h, x, w);
    case SARATOGA_WORK_DIGEST:
        return do_digest(x, w);
    case SARATOGA_WORK_COMMIT:
        return do_commit(x, w);
    default:
        x->file->size = w->offset;
        saratoga_digest_free(x->digest);
        x->digest = NULL;
        return 0;
    }
}

static void finish_work(struct host *h, size_t i) {
    struct pending_work p = h->pending[i];
    h->pending[i] = h->pending[--h->n_pending];
    (void)saratoga_engine_work_done(h->sim.engine, p.work.id,
                                    do_work(h, &p.work), host_now(h));
}

static void on_disk(struct sim_timer *t, uint64_t now) {
    struct host *h = t->user;
    size_t i =
        h->n_pending > 0 ? (size_t)sim_random_below(&h->luck, h->n_pending) : 0;
    (void)now;
    if (h->n_pending > 0) {
        finish_work(h, i);
        host_pump(h);
    }
}

static void begin_work(struct host *h) {
    const saratoga_work *w = &h->pending[h->n_pending].work;
    if (h->commit_kept && w->type == SARATOGA_WORK_COMMIT) {
        h->commit = *w;
        return;
    }
    h->n_pending++;
    if (h->disk_delay == 0) {
        finish_work(h, h->n_pending - 1);
    }
}

static bool take_work(void *user) {
    struct host *h = user;
    bool any = false;
    while (h->n_pending < PENDING_MAX &&
           saratoga_engine_next_work(h->sim.engine,
                                     &h->pending[h->n_pending].work) > 0) {
        begin_work(h);
        any = true;
    }
    if (h->n_pending > 0 && h->disk_timer.slot == 0) {
        (void)sim_loop_arm(sim_net_loop(h->sim.net), &h->disk_timer,
                           host_now(h) + h->disk_delay);
    }
    return any;
}

void host_pump(struct host *h) {
    sim_saratoga_pump(&h->sim);
}

void host_commit(struct host *h) {
    (void)saratoga_engine_work_done(h->sim.engine, h->commit.id,
                                    do_work(h, &h->commit), host_now(h));
    host_pump(h);
}

/* ---- starting ---- */

struct xfer *host_start_request(struct host *h, saratoga_request *q,
                                const char *name) {
    saratoga_handle handle = 0;
    struct xfer *x =
        new_xfer(h, 0, q->type,
                 q->type == SARATOGA_PUT || q->type == SARATOGA_GIVE ||
                     q->type == SARATOGA_BLIND_PUT);
    saratoga_source src;
    q->user = x;
    if (x->sends) {
        x->file = host_find_file(h, name);
        describe(h, x->file, &src);
        q->source = q->source != NULL ? q->source : &src;
    } else if (q->partial != NULL) {
        x->file = h->partial_file;
    } else {
        x->file = new_file(h, name);
    }
    if (saratoga_transfer_start(h->sim.engine, q, &handle, host_now(h)) != 0) {
        return NULL;
    }
    x->handle = handle;
    host_pump(h);
    return x;
}

struct xfer *host_start(struct host *h, const struct host *peer, uint32_t type,
                        const char *name, const saratoga_options *opt,
                        saratoga_partial *partial) {
    saratoga_request q;
    saratoga_request_init(&q);
    q.type = type;
    q.to = host_address(peer);
    q.to.flags |= h->sim.six ? (uint32_t)SARATOGA_PKT_IPV6 : 0;
    q.path = name;
    q.options = opt;
    q.partial = partial;
    return host_start_request(h, &q, name);
}

struct xfer *host_start_to(struct host *h, saratoga_pktinfo to, uint32_t type,
                           const char *name, const saratoga_options *opt) {
    saratoga_request q;
    saratoga_request_init(&q);
    q.type = type;
    q.to = to;
    q.path = name;
    q.options = opt;
    return host_start_request(h, &q, name);
}

saratoga_stats host_stats(const struct host *h, const struct xfer *x) {
    saratoga_stats st;
    saratoga_stats_init(&st);
    assert_int_equal(
        saratoga_transfer_get_stats(h->sim.engine, x->handle, &st, host_now(h)),
        0);
    return st;
}
