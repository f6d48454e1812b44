/* SPDX-License-Identifier: MPL-2.0 */
/* Transfers, a few at a time, with a progress line and a report. */
#include "tools/saratoga/batch.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/tool.h"
#include "tools/saratoga/confirm.h"
#include "tools/saratoga/node.h"
#include "tools/saratoga/report.h"

#define TOOL "saratoga"
#define SLICE_MS 200
/* How long stray packets are answered at the end: a peer that lost the last
 * STATUS repeats its request within this time. */
#define LINGER_MS 100
#define LINGER_LOSS_MS 1000
#define LINGER_TRIPS 4 /* minimum, in round trips */
/* Silence after which a log, too, says that an answer is awaited. A terminal
 * shows it at once. */
#define SILENCE_NS (5 * SARATOGA_S)
/* Limit on successive silent tasks: the first may only have met an outage. */
#define SILENCES_MOST 2

static uint64_t now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SARATOGA_S + (uint64_t)t.tv_nsec;
}

void saratoga_batch_add(struct saratoga_batch *b, struct saratoga_task *t) {
    if (!saratoga_waiting_add(&b->waiting, t)) {
        b->failed++;
        if (!b->told_many) {
            (void)tool_fail(TOOL, "too many files are listed, or there is not "
                                  "enough memory; some are left out");
        }
        b->told_many = true;
    }
    saratoga_task_free(t);
}

unsigned saratoga_batch_drop(struct saratoga_batch *b) {
    return saratoga_waiting_drop(&b->waiting, NULL, NULL);
}

int saratoga_batch_open(struct saratoga_batch *b, const struct saratoga_args *a,
                        const char *service, bool hear) {
    saratoga_node_config c;
    saratoga_config engine;
    struct hostport bind;
    memset(b, 0, sizeof(*b));
    b->args = a;
    b->reports = json_array();
    saratoga_bar_init(&b->bar, a->quiet);
    if (!tool_node_config(a, &c, &engine, &bind) ||
        (a->group && !saratoga_place("--group", a->group, &b->group))) {
        return TOOL_USAGE;
    }
    if (!c.service) {
        c.service = service;
    }
    c.join = hear && !saratoga_is_secured(a); /* beacons are not sealed */
    return tool_node_open(&b->node, &c);
}

/* --- Starting ------------------------------------------------------------ */

static const char *shown(const struct saratoga_task *t, char *out) {
    return saratoga_shown(out, t->file[0] ? t->file : t->path);
}

static bool start(struct saratoga_batch *b, struct saratoga_task *t) {
    char name[SARATOGA_SHOWN];
    saratoga_node_transfer x;
    int rc;
    saratoga_node_transfer_init(&x);
    x.type = t->type;
    x.host = t->host;
    x.service = t->port;
    x.path = t->path;
    x.folder = t->folder[0] ? t->folder : NULL;
    x.file = t->file[0] ? t->file : NULL;
    x.resume = t->resume;
    x.overwrite = t->overwrite;
    x.stream = t->stream;
    x.input = STDIN_FILENO;
    x.output = STDOUT_FILENO;
    if (t->type == SARATOGA_GET && b->args->group) {
        x.group = b->group.host;
        x.group_service = b->group.port;
    }
    rc = saratoga_node_start(b->node, &x, &t->id);
    if (rc != 0) {
        (void)tool_fail(TOOL, "%s: %s", saratoga_remote(name, t),
                        saratoga_strerror(rc));
    }
    return rc == 0;
}

/* Whether a running task concerns the same file. */
static bool is_busy(const struct saratoga_batch *b,
                    const struct saratoga_waiting_names *t) {
    for (const struct saratoga_task *r = b->running; r; r = r->next) {
        if (strcmp(r->path, t->path) == 0 ||
            (strcmp(r->file, t->file) == 0 &&
             strcmp(r->folder, t->folder) == 0)) {
            return true;
        }
    }
    return false;
}

/* Leaves the waiting tasks after a signal. */
static void leave_waiting(struct saratoga_batch *b) {
    unsigned n = saratoga_batch_drop(b);
    if (n > 0) {
        b->failed += n;
        (void)tool_fail(TOOL, "stopped, %u not started", n);
    }
}

/* A task without an answer may mean the end of a pass: no other task starts
 * until a running one makes progress. */
static bool holds(const struct saratoga_batch *b) {
    return b->unreachable && b->n_running > 0;
}

static void start_some(struct saratoga_batch *b) {
    struct saratoga_waiting_names next;
    while (!holds(b) && saratoga_waiting_look(&b->waiting, &next) &&
           b->n_running < b->args->parallel && !is_busy(b, &next)) {
        struct saratoga_task *t = saratoga_waiting_take(&b->waiting);
        if (!t) {
            b->failed += saratoga_batch_drop(b);
            break;
        }
        if (start(b, t)) {
            t->next = b->running;
            b->running = t;
            b->n_running++;
        } else {
            b->failed++;
            saratoga_task_free(t);
        }
    }
}

/* --- Progress ------------------------------------------------------------ */

/* Whether the peer has sent anything. */
static bool has_answered(const saratoga_stats *st) {
    return st->srtt_ns != 0 || st->bytes > st->resumed_bytes ||
           (st->sending != 0
                ? st->status_packets > 0
                : st->data_packets > 0 || st->metadata_packets > 0);
}

/* Once, and only before the first answer. A mirror has a log of its own. */
static void tell_silence(struct saratoga_batch *b,
                         const struct saratoga_task *t,
                         const saratoga_stats *st) {
    bool quiet = b->args->quiet || b->bar.on || b->logs;
    bool heard = b->done > 0 || t->taken || has_answered(st);
    b->told_silence = b->told_silence || heard;
    if (quiet || b->told_silence || t->type == SARATOGA_BLIND_PUT ||
        st->now - st->since < SILENCE_NS) {
        return;
    }
    b->told_silence = true;
    (void)fprintf(stderr, "%s: no answer from %s yet, still trying\n", TOOL,
                  t->host);
}

static void add_up(struct saratoga_progress *p, const saratoga_stats *st) {
    p->size += st->size_bytes == SARATOGA_SIZE_UNKNOWN ? 0 : st->size_bytes;
    p->bytes += st->bytes;
    p->fresh +=
        st->bytes > st->resumed_bytes ? st->bytes - st->resumed_bytes : 0;
    p->now = st->now;
}

static void draw(struct saratoga_batch *b) {
    struct saratoga_progress p = b->over;
    char name[SARATOGA_SHOWN];
    for (const struct saratoga_task *t = b->running; t; t = t->next) {
        saratoga_stats st;
        saratoga_stats_init(&st);
        if (saratoga_node_get_stats(b->node, t->id, &st) == 0) {
            add_up(&p, &st);
            tell_silence(b, t, &st);
        }
    }
    if (b->running) {
        (void)shown(b->running, name);
        if (b->n_running > 1) {
            (void)snprintf(name, sizeof(name), "%u files", b->n_running);
        }
        saratoga_bar_show(&b->bar, name, &p);
    }
}

static void cancel_all(struct saratoga_batch *b) {
    for (const struct saratoga_task *t = b->running; t; t = t->next) {
        if (t->id != 0) {
            (void)saratoga_node_cancel(b->node, t->id);
        }
    }
}

/* --- The end ------------------------------------------------------------- */

/* Whether received data is kept for a later transfer. */
static bool is_kept(const struct saratoga_task *t,
                    const saratoga_node_event *ev) {
    return ev->stats.sending == 0 && ev->stats.bytes > 0 &&
           ev->stats.size_bytes != SARATOGA_SIZE_UNKNOWN && /* a stream */
           !t->stream && saratoga_is_transfer(t->type);
}

static const char *what_allows(uint32_t type) {
    switch (type) {
    case SARATOGA_GET:
    case SARATOGA_GETDIR:
        return "; serve it without --no-read";
    case SARATOGA_PUT:
    case SARATOGA_GIVE:
    case SARATOGA_BLIND_PUT:
        return "; serve it with --write";
    case SARATOGA_TAKE:
        return "; serve it with --delete, and without --no-read";
    default:
        return "; serve it with --delete";
    }
}

/* Other implementations give no reason for a denial. */
static const char *what_may_allow(uint32_t type) {
    switch (type) {
    case SARATOGA_GET:
        return "; is it a folder (-r), or served with --no-read or --auth-key?";
    case SARATOGA_GETDIR:
        return "; is it served with --no-read or --auth-key?";
    case SARATOGA_PUT:
    case SARATOGA_GIVE:
    case SARATOGA_BLIND_PUT:
        return "; is it served with --write, and --overwrite if it exists?";
    default:
        return "; is it served with --delete?";
    }
}

static const char *advice(const saratoga_node_event *ev, uint32_t type) {
    switch (ev->denial) {
    case 0:
        return what_may_allow(type);
    case SARATOGA_DENIED_REQUEST:
        return what_allows(type);
    case SARATOGA_DENIED_KEY:
        return "; give that key with --auth-key";
    case SARATOGA_DENIED_FILE_KEY:
        return "; send it with --checksum hmac-sha256";
    case SARATOGA_DENIED_FOLDER:
        return type == SARATOGA_GET ? "; -r fetches folders" : "";
    case SARATOGA_DENIED_EXISTS:
        return "; serve it with --overwrite";
    default:
        return "";
    }
}

/* Advice on an error. */
static const char *hint(const struct saratoga_task *t,
                        const saratoga_node_event *ev) {
    switch (ev->error) {
    case SARATOGA_ERR_REFUSED:
        if (ev->status == SARATOGA_ACCESS_DENIED) {
            return advice(ev, t->type);
        }
        break;
    case SARATOGA_ERR_TIMEOUT:
    case SARATOGA_ERR_IN_VAIN:
    case SARATOGA_ERR_NO_SPACE:
        break;
    default:
        return "";
    }
    return is_kept(t, ev) ? ", kept for --resume" : "";
}

/* The cause of the end, data that was kept, and advice. */
static const char *outcome(char *out, const struct saratoga_batch *b,
                           const struct saratoga_task *t,
                           const saratoga_node_event *ev) {
    size_t len;
    if (ev->error == SARATOGA_ERR_CANCELLED && tool_is_stopped()) {
        return is_kept(t, ev) ? "stopped; received data is kept for --resume"
                              : "stopped";
    }
    (void)saratoga_outcome(out, ev);
    len = strlen(out);
    if (ev->error == SARATOGA_ERR_TIMEOUT && !has_answered(&ev->stats)) {
        (void)snprintf(
            out + len, SARATOGA_OUTCOME - len,
            "; nothing came from UDP port %s there in %.0f s: is saratoga "
            "serve running%s, and does a firewall let it through?",
            t->port,
            (double)(ev->stats.now - ev->stats.since) / (double)SARATOGA_S,
            saratoga_is_secured(b->args) ? ""
                                         : ", without a passphrase or key");
        return out;
    }
    (void)snprintf(out + len, SARATOGA_OUTCOME - len, "%s", hint(t, ev));
    return out;
}

static void tell(const struct saratoga_batch *b, const struct saratoga_task *t,
                 const saratoga_node_event *ev) {
    bool worth = ev->error != 0 || saratoga_is_transfer(t->type);
    char name[SARATOGA_SHOWN];
    char how[SARATOGA_OUTCOME];
    if (b->logs && worth) {
        saratoga_log("%s: %s", saratoga_remote(name, t),
                     outcome(how, b, t, ev));
    } else if (ev->error != 0) {
        (void)tool_fail(TOOL, "%s: %s", saratoga_remote(name, t),
                        outcome(how, b, t, ev));
    } else if (b->bar.on && worth) {
        (void)fprintf(stderr, "%s: %s\n", shown(t, name),
                      outcome(how, b, t, ev));
    }
}

/* Drops the tasks that wait for this peer. */
static void give_up_peer(struct saratoga_batch *b,
                         const struct saratoga_task *gone) {
    char name[SARATOGA_SHOWN];
    struct saratoga_task peer = *gone;
    unsigned n = saratoga_waiting_drop(&b->waiting, gone->host, gone->port);
    b->failed += n;
    peer.path[0] = '\0';
    if (n > 0) {
        (void)tool_fail(TOOL, "%s: still silent, %u not started",
                        saratoga_remote(name, &peer), n);
    }
}

static void count_silence(struct saratoga_batch *b,
                          const struct saratoga_task *t) {
    if (!b->unreachable) {
        b->silences = 0;
    } else if (b->n_running == 0 && ++b->silences >= SILENCES_MOST) {
        give_up_peer(b, t);
    }
}

static void finish(struct saratoga_batch *b, const struct saratoga_task *t,
                   const saratoga_node_event *ev) {
    saratoga_bar_clear(&b->bar);
    b->done++;
    b->unreachable =
        ev->error == SARATOGA_ERR_TIMEOUT || ev->error == SARATOGA_ERR_IN_VAIN;
    b->repaired = b->repaired || ev->stats.holes_reported > 0;
    if (ev->stats.srtt_ns > b->srtt_ns) {
        b->srtt_ns = ev->stats.srtt_ns;
    }
    add_up(&b->over, &ev->stats);
    if (b->args->json && saratoga_is_transfer(t->type)) {
        json_array_append_new(b->reports, saratoga_report(t, ev));
    }
    b->failed += ev->error != 0 ? 1 : 0;
    if (!b->unreachable || !b->hushed) {
        tell(b, t, ev);
    }
    if (b->on_done) {
        b->on_done(b, t, ev);
    }
    count_silence(b, t);
}

/* Returns the task of a transfer and removes it from the running ones. */
static struct saratoga_task *take_running(struct saratoga_batch *b,
                                          uint64_t id) {
    struct saratoga_task **at = &b->running;
    struct saratoga_task *t;
    while (*at && (*at)->id != id) {
        at = &(*at)->next;
    }
    t = *at;
    if (t) {
        *at = t->next;
        b->n_running--;
    }
    return t;
}

static void put_running(struct saratoga_batch *b, struct saratoga_task *t) {
    t->id = 0; /* until it starts */
    t->next = b->running;
    b->running = t;
    b->n_running++;
}

/* Handles the answer about the peer's copy after a take. */
static void confirm(struct saratoga_batch *b, struct saratoga_task *t,
                    const saratoga_node_event *ev) {
    enum saratoga_confirm c = saratoga_confirm_judge(t, ev);
    if (c == SARATOGA_CONFIRM_THERE && !tool_is_stopped() &&
        saratoga_confirm_again(t, now())) {
        put_running(b, t);
        return;
    }
    saratoga_confirm_end(t, c);
    finish(b, t, t->taken);
    saratoga_task_free(t);
}

static void on_task_done(struct saratoga_batch *b, struct saratoga_task *t,
                         const saratoga_node_event *ev) {
    if (t->taken) {
        confirm(b, t, ev);
    } else if (t->type == SARATOGA_TAKE && ev->error == 0 &&
               saratoga_confirm_begin(t, ev)) {
        put_running(b, t);
    } else {
        finish(b, t, ev);
        saratoga_task_free(t);
    }
}

static void take_events(struct saratoga_batch *b) {
    saratoga_node_event ev;
    while (saratoga_node_next_event(b->node, &ev) == 1) {
        if (ev.type == SARATOGA_NODE_DONE) {
            struct saratoga_task *t = take_running(b, ev.id);
            if (t) {
                on_task_done(b, t, &ev);
            }
        } else if (ev.type == SARATOGA_NODE_PEER && b->on_peer) {
            b->on_peer(b, NULL, &ev);
        }
    }
}

static struct saratoga_task *next_question(struct saratoga_batch *b) {
    struct saratoga_task *t = b->running;
    while (t && (t->id != 0 || (now() < t->start_at && !tool_is_stopped()))) {
        t = t->next;
    }
    return t;
}

/* Starts the questions that are due. */
static void ask(struct saratoga_batch *b) {
    struct saratoga_task *t;
    while ((t = next_question(b)) != NULL) {
        if (!tool_is_stopped() && start(b, t)) {
            continue;
        }
        t->id = UINT64_MAX;
        (void)take_running(b, UINT64_MAX);
        saratoga_confirm_end(t, SARATOGA_CONFIRM_UNKNOWN);
        finish(b, t, t->taken);
        saratoga_task_free(t);
    }
}

static void go_on(struct saratoga_batch *b) {
    if (tool_is_stopped()) {
        leave_waiting(b);
    } else {
        start_some(b);
    }
}

void saratoga_batch_run(struct saratoga_batch *b) {
    bool asked = false;
    go_on(b);
    while (b->running) {
        if (tool_is_stopped() && !asked) {
            cancel_all(b);
            asked = true;
        }
        saratoga_node_run(b->node, SLICE_MS);
        take_events(b);
        ask(b);
        saratoga_tell_mtu(b->args, b->node, &b->told_mtu, &b->bar);
        go_on(b);
        draw(b);
    }
}

void saratoga_batch_wait(struct saratoga_batch *b, uint64_t ns,
                         const bool *stop) {
    uint64_t end = ns < UINT64_MAX - now() ? now() + ns : UINT64_MAX;
    while (!tool_is_stopped() && now() < end && !(stop && *stop)) {
        uint64_t left = (end - now()) / SARATOGA_MS + 1;
        saratoga_node_run(b->node, left < SLICE_MS ? (unsigned)left : SLICE_MS);
        take_events(b);
    }
}

int saratoga_batch_close(struct saratoga_batch *b, int rc) {
    uint64_t ns = (b->repaired ? LINGER_LOSS_MS : LINGER_MS) * SARATOGA_MS;
    uint64_t trips = LINGER_TRIPS * b->srtt_ns;
    if (b->node && b->done > b->failed) {
        saratoga_batch_wait(b, ns > trips ? ns : trips, NULL);
    }
    saratoga_node_close(b->node);
    b->node = NULL;
    json_decref(b->reports);
    (void)saratoga_batch_drop(b);
    return rc == TOOL_OK && b->failed > 0 ? TOOL_FAILED : rc;
}

int saratoga_batch_report(struct saratoga_batch *b) {
    if (!b->args->json) {
        return TOOL_OK;
    }
    return tool_write_json(TOOL, b->args->json,
                           saratoga_report_all(b->reports));
}
