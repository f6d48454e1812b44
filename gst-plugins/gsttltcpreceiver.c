/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcpreceiver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tltcp/socket.h>

#include "gst-plugins/gsttltcpsignals.h"

#define RETRY_MIN_NS (200 * TLTCP_MS)
#define RETRY_MAX_NS (2 * TLTCP_S)
#define PIECE_BYTES (64u << 10)
/* Largest section that is put together. */
#define SECTION_BYTES (64u << 20)
#define GOODBYE_MS 200

struct GstTltcpReceiver {
    GstElement *element; /* outlives this */
    GstTltcpSettings *settings;
    gchar *where;
    gboolean pieces; /* of sections that are cut are wanted */
    GstPoll *poll;
    gint busy; /* atomic: there is a caller */

    GMutex lock; /* for the pointer; changed by the streaming thread only */
    tltcp_socket *socket;

    tltcp_socket *listener;
    GstPollFD listener_fd;
    GstPollFD data_fd;
    GstPollFD event_fd;
    GSocketAddress *address;
    gboolean connected;
    tltcp_time retry_at;
    tltcp_time retry_delay;
    guint attempt;
    gboolean warned;

    media_assembly assembly;
    media_sequence *sequence;
    GQueue ready; /* of GstTltcpArrival, before anything new */
    guint8 piece[PIECE_BYTES];
};

/* ---- opening ---- */

static GSocketAddress *native_address(const void *address, gsize len) {
    return address
               ? g_socket_address_new_from_native((gpointer)(gsize)address, len)
               : NULL;
}

static bool receiver_on_caller(void *user, const tltcp_caller *caller,
                               char *reason) {
    GstTltcpReceiver *r = user;
    g_autoptr(GSocketAddress) address =
        native_address(caller->address, caller->address_len);
    gboolean busy = g_atomic_int_get(&r->busy);

    if (!busy && gst_tltcp_signals_caller_connecting(r->element, address,
                                                     caller->stream_id)) {
        return true;
    }
    gst_tltcp_signals_caller_rejected(r->element, address, caller->stream_id);
    g_strlcpy(reason,
              busy ? GST_TLTCP_BUSY " with another caller"
                   : "refused by the application",
              TLTCP_REASON_MAX + 1);
    return false;
}

static void receiver_make_config(const GstTltcpReceiver *r,
                                 tltcp_config *config) {
    gst_tltcp_settings_config(r->settings, config);
    config->unordered = !r->pieces;
}

static gint receiver_start_listening(GstTltcpReceiver *r,
                                     tltcp_config *config) {
    g_autofree gchar *service =
        g_strdup_printf("%u", gst_tltcp_settings_bind_port(r->settings));

    config->listener.on_caller = receiver_on_caller;
    config->user = r;
    gint error =
        tltcp_listen(&r->listener, gst_tltcp_settings_bind_host(r->settings),
                     service, config);
    if (!error) {
        r->listener_fd.fd = tltcp_fd(r->listener);
        gst_poll_add_fd(r->poll, &r->listener_fd);
        gst_poll_fd_ctl_read(r->poll, &r->listener_fd, TRUE);
    }
    return error;
}

static void free_receiver(GstTltcpReceiver *r) {
    gst_poll_free(r->poll);
    gst_tltcp_settings_free(r->settings);
    media__assembly_clear(&r->assembly);
    media__sequence_free(r->sequence);
    g_mutex_clear(&r->lock);
    g_free(r->where);
    g_free(r);
}

GstTltcpReceiver *gst_tltcp_receiver_start(GstElement *element,
                                           GstTltcpSettings *settings,
                                           gboolean pieces) {
    GstTltcpReceiver *r = g_new0(GstTltcpReceiver, 1);
    GstTltcpCause cause = {0};
    tltcp_config config;

    r->element = element;
    r->pieces = pieces;
    r->settings = gst_tltcp_settings_copy(settings);
    r->where = gst_tltcp_settings_where(r->settings);
    r->poll = gst_poll_new(TRUE);
    r->retry_delay = RETRY_MIN_NS;
    g_mutex_init(&r->lock);
    g_queue_init(&r->ready);
    gst_poll_fd_init(&r->listener_fd);
    gst_poll_fd_init(&r->data_fd);
    gst_poll_fd_init(&r->event_fd);
    media__assembly_init(&r->assembly, SECTION_BYTES);
    r->sequence = media__sequence_new();
    if (!r->sequence) {
        g_error("out of memory");
    }
    receiver_make_config(r, &config);
    cause.error = gst_tltcp_settings_check(r->settings, &config, cause.reason);
    if (!cause.error && r->settings->mode == GST_TLTCP_MODE_LISTENER) {
        cause.listening = TRUE;
        cause.error = receiver_start_listening(r, &config);
    }
    if (cause.error) {
        gst_tltcp_cause_post(element, &cause, r->where, TRUE);
        free_receiver(r);
        return NULL;
    }
    return r;
}

guint gst_tltcp_receiver_port(const GstTltcpReceiver *r) {
    struct sockaddr_storage storage;
    socklen_t len = sizeof(storage);

    if (!r->listener ||
        tltcp_local_address(r->listener, (struct sockaddr *)&storage, &len) <
            0) {
        return 0;
    }
    g_autoptr(GSocketAddress) address = native_address(&storage, len);
    return G_IS_INET_SOCKET_ADDRESS(address)
               ? g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(address))
               : 0;
}

const gchar *gst_tltcp_receiver_where(const GstTltcpReceiver *r) {
    return r->where;
}

/* ---- one connection ---- */

static void watch(GstTltcpReceiver *r, GstPollFD *pfd, gint fd) {
    gst_poll_fd_init(pfd);
    pfd->fd = fd;
    gst_poll_add_fd(r->poll, pfd);
    gst_poll_fd_ctl_read(r->poll, pfd, TRUE);
}

static void unwatch(GstTltcpReceiver *r, GstPollFD *pfd) {
    if (pfd->fd >= 0) {
        gst_poll_remove_fd(r->poll, pfd);
    }
    gst_poll_fd_init(pfd);
}

static void take_socket(GstTltcpReceiver *r, tltcp_socket *socket) {
    g_mutex_lock(&r->lock);
    r->socket = socket;
    g_mutex_unlock(&r->lock);
    r->connected = FALSE;
    media__assembly_clear(&r->assembly);
    media__sequence_clear(r->sequence);
    watch(r, &r->event_fd, tltcp_event_fd(socket));
}

static void receiver_on_connected(GstTltcpReceiver *r,
                                  GstTltcpArrival *arrival) {
    struct sockaddr_storage storage;
    socklen_t len = sizeof(storage);

    r->connected = TRUE;
    r->attempt = 0;
    r->warned = FALSE;
    r->retry_delay = RETRY_MIN_NS;
    unwatch(r, &r->event_fd);
    watch(r, &r->data_fd, tltcp_fd(r->socket));
    g_clear_object(&r->address);
    if (tltcp_peer_address(r->socket, (struct sockaddr *)&storage, &len) == 0) {
        r->address = native_address(&storage, len);
    }
    gst_tltcp_connection_message(r->element, "connected", r->where, NULL, 0);
    arrival->kind = GST_TLTCP_ARRIVAL_CONNECTED;
    arrival->address = r->address;
}

static void close_socket(GstTltcpReceiver *r, gint linger_ms) {
    g_mutex_lock(&r->lock);
    tltcp_socket *socket = r->socket;
    r->socket = NULL;
    g_mutex_unlock(&r->lock);
    if (!socket) {
        return;
    }
    unwatch(r, &r->event_fd);
    unwatch(r, &r->data_fd);
    tltcp_close(socket, linger_ms);
    r->connected = FALSE;
    g_atomic_int_set(&r->busy, FALSE);
}

void gst_tltcp_receiver_hang_up(GstTltcpReceiver *r) {
    close_socket(r, GOODBYE_MS);
}

void gst_tltcp_receiver_stop(GstTltcpReceiver *r) {
    GstTltcpArrival *left;

    close_socket(r, GOODBYE_MS);
    tltcp_close(r->listener, 0);
    while ((left = g_queue_pop_head(&r->ready))) {
        free(left->section.data);
        g_free(left);
    }
    g_clear_object(&r->address);
    free_receiver(r);
}

/* ---- making a connection ---- */

/* Tells of it, and when to try again. */
static void retry_later(GstTltcpReceiver *r, const GstTltcpCause *cause,
                        gboolean again) {
    gst_tltcp_connection_message(r->element,
                                 cause->was_open ? "lost" : "failed", r->where,
                                 cause, r->attempt);
    if (again && !r->warned) {
        gst_tltcp_cause_post(r->element, cause, r->where, FALSE);
    }
    r->warned = TRUE;
    r->retry_at = tltcp_now() + r->retry_delay;
    r->retry_delay = MIN(2 * r->retry_delay, RETRY_MAX_NS);
}

static void fail(GstTltcpReceiver *r, gint error, const gchar *reason,
                 GstTltcpArrival *arrival) {
    GstTltcpCause *cause = &arrival->cause;

    cause->error = error ? error : TLTCP_ERR_CLOSED;
    cause->was_open = r->connected;
    cause->answered = r->socket && gst_tltcp_cause_was_answered(r->socket);
    g_strlcpy(cause->reason, reason, sizeof(cause->reason));
    gboolean again = r->listener || (r->settings->auto_reconnect &&
                                     !gst_tltcp_cause_is_permanent(cause));
    retry_later(r, cause, again);
    arrival->kind = again ? GST_TLTCP_ARRIVAL_LOST : GST_TLTCP_ARRIVAL_FAILED;
    close_socket(r, 0);
}

gboolean gst_tltcp_receiver_call_again(GstTltcpReceiver *r) {
    GstTltcpCause cause = {
        .error = TLTCP_ERR_CLOSED, .was_open = TRUE, .answered = TRUE};

    if (r->listener || !r->settings->auto_reconnect) {
        return FALSE;
    }
    retry_later(r, &cause, TRUE);
    return TRUE;
}

/* Each of these returns TRUE when `arrival` says something, and FALSE when
 * there is nothing to do before `when`. */

static gboolean accept_caller(GstTltcpReceiver *r, GstTltcpArrival *arrival) {
    tltcp_socket *socket;
    gint error = tltcp_accept(r->listener, &socket, 0);

    if (error == TLTCP_ERR_AGAIN) {
        return FALSE;
    }
    if (error) {
        arrival->kind = GST_TLTCP_ARRIVAL_FAILED;
        arrival->cause.error = error;
        return TRUE;
    }
    g_atomic_int_set(&r->busy, TRUE);
    take_socket(r, socket);
    receiver_on_connected(r, arrival);
    return TRUE;
}

static gboolean receiver_call(GstTltcpReceiver *r, GstTltcpArrival *arrival,
                              tltcp_time *when) {
    tltcp_config config;
    tltcp_socket *socket;
    g_autofree gchar *service = g_strdup_printf("%u", r->settings->port);

    *when = r->retry_at;
    if (tltcp_now() < r->retry_at) {
        return FALSE;
    }
    *when = TLTCP_TIME_NEVER;
    receiver_make_config(r, &config);
    r->attempt++;
    gst_tltcp_connection_message(r->element,
                                 r->attempt > 1 ? "retrying" : "connecting",
                                 r->where, NULL, r->attempt);
    gint error = tltcp_connect(&socket, r->settings->host, service, &config, 0);
    if (error) {
        fail(r, error, "", arrival);
        return TRUE;
    }
    take_socket(r, socket);
    return FALSE;
}

static gboolean finish_call(GstTltcpReceiver *r, GstTltcpArrival *arrival) {
    tltcp_event ev;

    while (tltcp_next_event(r->socket, &ev, 0) == 1) {
        if (ev.type == TLTCP_EVENT_CONNECTED) {
            receiver_on_connected(r, arrival);
            return TRUE;
        }
        if (ev.type == TLTCP_EVENT_CLOSED) {
            fail(r, ev.error, ev.reason, arrival);
            return TRUE;
        }
    }
    return FALSE;
}

/* ---- data ---- */

static GstTltcpArrival *add_ready(GstTltcpReceiver *r,
                                  GstTltcpArrivalKind kind) {
    GstTltcpArrival *arrival = g_new0(GstTltcpArrival, 1);

    arrival->kind = kind;
    g_queue_push_tail(&r->ready, arrival);
    return arrival;
}

static void take_ready(GstTltcpReceiver *r, gboolean all) {
    media_section section;

    while (media__sequence_next(r->sequence, all, &section)) {
        add_ready(r, GST_TLTCP_ARRIVAL_SECTION)->section = section;
    }
}

static void on_piece(GstTltcpReceiver *r, const struct tltcp_segment *piece,
                     gsize len) {
    media_section ended[2];
    gint n = media__assembly_add(&r->assembly, piece, r->piece, len, ended);
    gboolean ok = media__sequence_cover(r->sequence, piece->seq, len) && n >= 0;

    for (gint i = 0; i < n; i++) {
        if (!media__sequence_push(r->sequence, &ended[i])) {
            free(ended[i].data);
            ok = FALSE;
        }
    }
    if (!ok) {
        g_error("out of memory");
    }
    if (piece->kind == TL_GAP) {
        GstTltcpArrival *gap = add_ready(r, GST_TLTCP_ARRIVAL_GAP);
        gap->position = piece->seq;
        gap->size = len;
    }
    take_ready(r, FALSE);
}

/* What the sender said of the piece's section, where it is told. */
static void read_meta(struct msghdr *msg, struct tltcp_meta *meta) {
    struct cmsghdr *head = CMSG_NXTHDR(msg, CMSG_FIRSTHDR(msg));

    memset(meta, 0, sizeof(*meta));
    if (head && head->cmsg_type == TL_META) {
        memcpy(meta, CMSG_DATA(head), sizeof(*meta));
    }
}

static gssize receive_piece(GstTltcpReceiver *r, struct tltcp_segment *piece,
                            gsize *len) {
    union {
        struct cmsghdr head;
        guint8 room[CMSG_SPACE(sizeof(struct tltcp_segment)) +
                    CMSG_SPACE(sizeof(struct tltcp_meta))];
    } control;
    struct iovec iov = {r->piece, sizeof(r->piece)};
    struct msghdr msg;

    memset(&msg, 0, sizeof(msg));
    memset(&control, 0, sizeof(control));
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = &control;
    msg.msg_controllen = sizeof(control.room);
    gssize n =
        tltcp_recvmsg(r->socket, &msg, MSG_TL | MSG_TL_META | MSG_DONTWAIT);
    if (n > 0) {
        memcpy(piece, CMSG_DATA(&control.head), sizeof(*piece));
        read_meta(&msg, &r->assembly.meta);
        *len = iov.iov_len;
    }
    return n;
}

static gboolean take_first(GstTltcpReceiver *r, GstTltcpArrival *arrival) {
    GstTltcpArrival *first = g_queue_pop_head(&r->ready);

    if (!first) {
        return FALSE;
    }
    *arrival = *first;
    g_free(first);
    return TRUE;
}

/* Nothing more will come: what waits for others need not. */
static void on_read_end(GstTltcpReceiver *r, gint result) {
    gchar reason[TLTCP_REASON_MAX + 1] = "";

    take_ready(r, TRUE);
    if (!result) {
        add_ready(r, GST_TLTCP_ARRIVAL_END);
        close_socket(r, GOODBYE_MS);
        return;
    }
    gint error = tltcp_socket_error(r->socket, reason);
    fail(r, error ? error : result, reason,
         add_ready(r, GST_TLTCP_ARRIVAL_LOST));
}

static void receive(GstTltcpReceiver *r) {
    struct tltcp_segment piece;
    gsize len = 0;

    while (g_queue_is_empty(&r->ready)) {
        gssize n = receive_piece(r, &piece, &len);
        if (n == TLTCP_ERR_AGAIN) {
            return;
        }
        if (n > 0) {
            on_piece(r, &piece, len);
        } else {
            on_read_end(r, (gint)n);
        }
    }
}

static gboolean try_next(GstTltcpReceiver *r, GstTltcpArrival *arrival,
                         tltcp_time *when) {
    *when = TLTCP_TIME_NEVER;
    if (r->connected && g_queue_is_empty(&r->ready)) {
        receive(r);
    }
    if (take_first(r, arrival)) {
        return TRUE;
    }
    if (r->connected) {
        return FALSE;
    }
    if (r->listener) {
        return accept_caller(r, arrival);
    }
    if (!r->socket && receiver_call(r, arrival, when)) {
        return TRUE;
    }
    return r->socket && finish_call(r, arrival);
}

void gst_tltcp_receiver_next(GstTltcpReceiver *r, GstTltcpArrival *arrival) {
    tltcp_time when;

    memset(arrival, 0, sizeof(*arrival));
    while (!try_next(r, arrival, &when)) {
        tltcp_time now = tltcp_now();
        gint n = gst_poll_wait(r->poll, when == TLTCP_TIME_NEVER
                                            ? GST_CLOCK_TIME_NONE
                                        : when > now ? when - now
                                                     : 0);
        if (n < 0 && errno == EBUSY) {
            arrival->kind = GST_TLTCP_ARRIVAL_FLUSHING;
            return;
        }
    }
}

void gst_tltcp_receiver_set_flushing(GstTltcpReceiver *r, gboolean flushing) {
    gst_poll_set_flushing(r->poll, flushing);
}

void gst_tltcp_receiver_add_stats(GstTltcpReceiver *r, GstStructure *stats) {
    tltcp_stats st;

    tltcp_stats_init(&st);
    g_mutex_lock(&r->lock);
    if (r->socket && tltcp_get_stats(r->socket, &st) == 0) {
        gst_tltcp_stats_add(stats, &st);
    }
    if (r->listener && tltcp_get_stats(r->listener, &st) == 0) {
        gst_tltcp_stats_add_outside(stats, &st);
    }
    g_mutex_unlock(&r->lock);
}
