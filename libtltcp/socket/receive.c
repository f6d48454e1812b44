/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp_recv() and tltcp_recvmsg(). */
#include <string.h>

#include "libtltcp/socket/events.h"
#include "libtltcp/socket/readiness.h"

/* Type of msghdr::msg_iovlen, which is an int in POSIX. */
#if defined(__GLIBC__) || defined(_WIN32)
typedef size_t iov_count;
#else
typedef int iov_count;
#endif

/* Maximum number of pieces taken from the engine in one call. */
#define BATCH ((size_t)64)

/* --- Pieces, for either call --------------------------------------------- */

/* A receive call: pieces go to those of tltcp_recv(), or, if `pieces` is NULL,
 * into a message. */
struct receive_job {
    tltcp_piece *pieces;
    struct msghdr *msg;
    unsigned char *segments; /* of the message, not aligned; or NULL */
    unsigned char *metas;    /* likewise */
    bool gaps;               /* report gaps as pieces; else they end the call */
    size_t wanted;           /* maximum number of pieces */
    size_t count;
    int64_t covered;
};

/* Filled in by one call of the engine. */
struct receive_batch {
    tltcp_buf bufs[BATCH];
    struct tltcp_segment segments[BATCH];
    struct tltcp_meta metas[BATCH];
};

static tltcp_buf receive_buffer(const struct receive_job *j, size_t i) {
    if (j->pieces != NULL) {
        return (tltcp_buf){.base = j->pieces[i].data, .len = j->pieces[i].len};
    }
    return (tltcp_buf){.base = j->msg->msg_iov[i].iov_base,
                       .len = j->msg->msg_iov[i].iov_len};
}

static size_t receive_offer(const struct receive_job *j, tltcp_buf *bufs,
                            size_t most) {
    size_t left = j->wanted - j->count;
    size_t n = 0;

    for (; n < left && n < most; n++) {
        bufs[n] = receive_buffer(j, j->count + n);
        if (bufs[n].base == NULL || bufs[n].len == 0) {
            break;
        }
    }
    return n;
}

static void receive_keep_piece(tltcp_piece *p, const struct receive_batch *b,
                               size_t i) {
    p->kind = b->segments[i].kind;
    p->flags = b->segments[i].flags;
    p->seq = b->segments[i].seq;
    p->section = b->segments[i].section;
    p->meta = b->metas[i];
    p->len = b->bufs[i].len;
}

static void receive_keep_in_message(const struct receive_job *j, size_t at,
                                    const struct receive_batch *b, size_t i) {
    j->msg->msg_iov[at].iov_len = b->bufs[i].len;
    if (j->segments != NULL) {
        memcpy(j->segments + at * sizeof(b->segments[i]), &b->segments[i],
               sizeof(b->segments[i]));
    }
    if (j->metas != NULL) {
        memcpy(j->metas + at * sizeof(b->metas[i]), &b->metas[i],
               sizeof(b->metas[i]));
    }
}

static void receive_keep(struct receive_job *j, const struct receive_batch *b,
                         size_t count) {
    for (size_t i = 0; i < count; i++, j->count++) {
        if (j->pieces != NULL) {
            receive_keep_piece(&j->pieces[j->count], b, i);
        } else {
            receive_keep_in_message(j, j->count, b, i);
        }
    }
}

/* Takes data and gaps in order. Returns the engine's last result. */
static int64_t receive_pieces(tltcp_socket *s, struct receive_job *j) {
    struct receive_batch b;
    int64_t rv = 1;

    while (rv > 0) {
        size_t asked = receive_offer(j, b.bufs, BATCH);
        size_t count = asked;

        if (asked == 0) {
            break;
        }
        rv = tltcp_conn_read_meta(tltcp__engine(s), b.bufs, b.segments, b.metas,
                                  &count, tltcp_now());
        if (rv > 0) {
            receive_keep(j, &b, count);
            j->covered += rv;
        }
        if (rv > 0 && count < asked) {
            break;
        }
    }
    return rv;
}

/* Takes data up to the next gap: piece by piece, since a gap ends the call. */
static int64_t receive_data(tltcp_socket *s, struct receive_job *j) {
    struct receive_batch b;
    int64_t rv = 1;

    if (s->gap) {
        s->gap = false;
        return TLTCP_ERR_GAP;
    }
    while (rv > 0 && receive_offer(j, b.bufs, 1) == 1) {
        size_t count = 1;

        rv = tltcp_conn_read_meta(tltcp__engine(s), b.bufs, b.segments, b.metas,
                                  &count, tltcp_now());
        if (rv > 0 && b.segments[0].kind == TL_GAP) {
            s->gap = j->count > 0;
            return TLTCP_ERR_GAP;
        }
        if (rv > 0) {
            receive_keep(j, &b, 1);
            j->covered += rv;
        }
    }
    return rv;
}

/* The result of the call once there is nothing more to read. */
static ssize_t receive_end(tltcp_socket *s, int64_t rv) {
    if (s->end_reported) {
        return TLTCP_ERR_CLOSED;
    }
    if (rv < 0) { /* cut off: the cause comes with the engine's last event */
        tltcp__take_events(s);
        rv = s->closed ? s->error : TLTCP_ERR_ABORTED;
    }
    s->end_reported = true;
    return (ssize_t)rv;
}

static ssize_t receive_all(tltcp_socket *s, struct receive_job *j, bool wait) {
    int64_t rv;

    for (;;) {
        if (s->end_reported) {
            return TLTCP_ERR_CLOSED;
        }
        rv = j->gaps ? receive_pieces(s, j) : receive_data(s, j);
        if (j->covered > 0 || rv == TLTCP_ERR_GAP) {
            break;
        }
        if (rv != TLTCP_ERR_AGAIN || s->closed) {
            return receive_end(s, rv);
        }
        if (!wait) {
            break;
        }
        (void)tltcp__wait(s, &s->readers, TLTCP_TIME_NEVER);
    }
    tltcp__after_call(s);
    return j->covered > 0 ? (ssize_t)j->covered : (ssize_t)rv;
}

static ssize_t receive_run(tltcp_socket *s, struct receive_job *j, int flags) {
    ssize_t rv;

    uv_mutex_lock(tltcp__mutex(s));
    rv = receive_all(s, j, (flags & MSG_DONTWAIT) == 0);
    uv_mutex_unlock(tltcp__mutex(s));
    return rv;
}

/* --- tltcp_recv() -------------------------------------------------------- */

ssize_t tltcp_recv(tltcp_socket *s, tltcp_piece *pieces, size_t *count,
                   int flags) {
    struct receive_job j = {.pieces = pieces, .gaps = true};
    ssize_t rv;

    if (s == NULL || pieces == NULL || count == NULL || *count == 0 ||
        (flags & ~MSG_DONTWAIT) != 0 || pieces[0].data == NULL ||
        pieces[0].len == 0) {
        return TLTCP_ERR_INVAL;
    }
    if (s->listener) {
        return TLTCP_ERR_STATE;
    }
    j.wanted = *count;
    rv = receive_run(s, &j, flags);
    *count = j.count;
    return rv;
}

/* --- tltcp_recvmsg() ----------------------------------------------------- */

/* The number of pieces for which the control data has room. Both kinds of
 * description are whole numbers of words, so nothing is lost between the
 * two. */
static size_t receive_control_room(const struct msghdr *msg, bool metas) {
    size_t header = metas ? CMSG_SPACE(0) + CMSG_LEN(0) : CMSG_LEN(0);
    size_t each =
        sizeof(struct tltcp_segment) + (metas ? sizeof(struct tltcp_meta) : 0);

    if (msg->msg_control == NULL || msg->msg_controllen < header) {
        return 0;
    }
    return (msg->msg_controllen - header) / each;
}

/* Place for the second kind until the number of the first is known. */
static unsigned char *receive_metas_of(const struct msghdr *msg,
                                       size_t pieces) {
    return (unsigned char *)msg->msg_control +
           CMSG_SPACE(pieces * sizeof(struct tltcp_segment)) + CMSG_LEN(0);
}

static void receive_put_head(unsigned char *at, int type, size_t len) {
    struct cmsghdr head;

    memset(&head, 0, sizeof(head));
    head.cmsg_level = SOL_TLTCP;
    head.cmsg_type = type;
    head.cmsg_len = (socklen_t)CMSG_LEN(len);
    memcpy(at, &head, sizeof(head));
}

/* Returns the number of bytes used, with alignment. */
static size_t receive_finish_control(const struct receive_job *j) {
    unsigned char *at = j->msg->msg_control;
    size_t len = j->count * sizeof(struct tltcp_segment);
    size_t used = CMSG_SPACE(len);

    receive_put_head(at, TL_SEGMENT, len);
    if (j->metas != NULL) {
        len = j->count * sizeof(struct tltcp_meta);
        memmove(receive_metas_of(j->msg, j->count), j->metas, len);
        receive_put_head(at + used, TL_META, len);
        used += CMSG_SPACE(len);
    }
    return used;
}

static void receive_finish(const struct receive_job *j, size_t room) {
    struct msghdr *msg = j->msg;
    size_t used = 0;

    msg->msg_flags = 0;
    if (j->segments != NULL) {
        msg->msg_flags = j->count > 0 ? MSG_TL : 0;
        if (j->count == room && room < (size_t)msg->msg_iovlen) {
            msg->msg_flags |= MSG_CTRUNC; /* more buffers than descriptions */
        }
        used = receive_finish_control(j);
    }
    if (used < msg->msg_controllen) {
        msg->msg_controllen = (socklen_t)used;
    }
    msg->msg_iovlen = (iov_count)j->count;
}

/* False for unknown or meaningless flags. */
static bool receive_flags_are_good(int flags) {
    return (flags & ~(MSG_TL | MSG_TL_META | MSG_DONTWAIT)) == 0 &&
           ((flags & MSG_TL_META) == 0 || (flags & MSG_TL) != 0);
}

ssize_t tltcp_recvmsg(tltcp_socket *s, struct msghdr *msg, int flags) {
    struct receive_job j = {.msg = msg, .gaps = (flags & MSG_TL) != 0};
    size_t room = 0;
    ssize_t rv;

    if (s == NULL || msg == NULL || !receive_flags_are_good(flags) ||
        msg->msg_iov == NULL || msg->msg_iovlen < 1 ||
        msg->msg_iov[0].iov_base == NULL || msg->msg_iov[0].iov_len == 0) {
        return TLTCP_ERR_INVAL;
    }
    if (s->listener) {
        return TLTCP_ERR_STATE;
    }
    j.wanted = (size_t)msg->msg_iovlen;
    if ((flags & MSG_TL) != 0) {
        room = receive_control_room(msg, (flags & MSG_TL_META) != 0);
        if (room == 0) {
            return TLTCP_ERR_CONTROL;
        }
        j.wanted = room < j.wanted ? room : j.wanted;
        j.segments = (unsigned char *)msg->msg_control + CMSG_LEN(0);
    }
    if ((flags & MSG_TL_META) != 0) {
        j.metas = receive_metas_of(msg, j.wanted);
    }
    rv = receive_run(s, &j, flags);
    if (rv >= 0) {
        receive_finish(&j, room);
    }
    return rv;
}
