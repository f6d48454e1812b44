/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "libtltcp/socket/events.h"
#include "libtltcp/socket/readiness.h"

/* Pieces taken from the engine in one call. */
#define BATCH ((size_t)64)

/* A recvmsg on its way. */
struct job {
    struct msghdr *msg;
    unsigned char *segments; /* where they go; NULL: without MSG_TL */
    unsigned char *metas;    /* likewise; NULL: without MSG_TL_META */
    size_t wanted;           /* pieces at most */
    size_t pieces;
    int64_t covered;
};

static void keep(struct job *j, const tltcp_buf *bufs,
                 const struct tltcp_segment *segments,
                 const struct tltcp_meta *metas, size_t count) {
    for (size_t i = 0; i < count; i++) {
        j->msg->msg_iov[j->pieces + i].iov_len = bufs[i].len;
    }
    if (j->segments != NULL) {
        memcpy(j->segments + j->pieces * sizeof(*segments), segments,
               count * sizeof(*segments));
    }
    if (j->metas != NULL) {
        memcpy(j->metas + j->pieces * sizeof(*metas), metas,
               count * sizeof(*metas));
    }
    j->pieces += count;
}

static size_t receive_offer(const struct job *j, tltcp_buf *bufs, size_t most) {
    size_t left = j->wanted - j->pieces;
    size_t count = 0;

    while (count < left && count < most) {
        const struct iovec *v = &j->msg->msg_iov[j->pieces + count];

        if (v->iov_base == NULL || v->iov_len == 0) {
            break;
        }
        bufs[count++] = (tltcp_buf){.base = v->iov_base, .len = v->iov_len};
    }
    return count;
}

/* Data and gaps as they come.  Returns the engine's last word. */
static int64_t read_pieces(tltcp_socket *s, struct job *j) {
    tltcp_buf bufs[BATCH];
    struct tltcp_segment segments[BATCH];
    struct tltcp_meta metas[BATCH];
    int64_t rv = 1;

    while (rv > 0) {
        size_t asked = receive_offer(j, bufs, BATCH);
        size_t count = asked;

        if (asked == 0) {
            break;
        }
        rv = tltcp_conn_read_meta(tltcp__engine(s), bufs, segments, metas,
                                  &count, tltcp_now());
        if (rv > 0) {
            keep(j, bufs, segments, metas, count);
            j->covered += rv;
        }
        if (rv > 0 && count < asked) {
            break;
        }
    }
    return rv;
}

/* Data up to the next gap: piece by piece, since a gap ends the call. */
static int64_t receive_read_data(tltcp_socket *s, struct job *j) {
    tltcp_buf buf;
    struct tltcp_segment segment;
    struct tltcp_meta meta;
    int64_t rv = 1;

    if (s->gap) {
        s->gap = false;
        return TLTCP_ERR_GAP;
    }
    while (rv > 0 && receive_offer(j, &buf, 1) == 1) {
        size_t count = 1;

        rv = tltcp_conn_read_meta(tltcp__engine(s), &buf, &segment, &meta,
                                  &count, tltcp_now());
        if (rv > 0 && segment.kind == TL_GAP) {
            s->gap = j->pieces > 0;
            return TLTCP_ERR_GAP;
        }
        if (rv > 0) {
            keep(j, &buf, &segment, &meta, 1);
            j->covered += rv;
        }
    }
    return rv;
}

/* What the application is told once there is nothing more to read. */
static ssize_t the_end(tltcp_socket *s, int64_t rv) {
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

static ssize_t recv_job(tltcp_socket *s, struct job *j, bool wait) {
    int64_t rv;

    for (;;) {
        if (s->end_reported) {
            return TLTCP_ERR_CLOSED;
        }
        rv = j->segments != NULL ? read_pieces(s, j) : receive_read_data(s, j);
        if (j->covered > 0 || rv == TLTCP_ERR_GAP) {
            break;
        }
        if (rv != TLTCP_ERR_AGAIN || s->closed) {
            return the_end(s, rv);
        }
        if (!wait) {
            break;
        }
        (void)tltcp__wait(s, &s->readable, &s->readers, TLTCP_TIME_NEVER);
    }
    tltcp__after_call(s);
    return j->covered > 0 ? (ssize_t)j->covered : (ssize_t)rv;
}

/* How many pieces the control data has room for.  Both kinds of description
 * are whole numbers of words, so that nothing is lost between the two. */
static size_t control_room(const struct msghdr *msg, bool metas) {
    size_t header = metas ? CMSG_SPACE(0) + CMSG_LEN(0) : CMSG_LEN(0);
    size_t each =
        sizeof(struct tltcp_segment) + (metas ? sizeof(struct tltcp_meta) : 0);

    if (msg->msg_control == NULL || msg->msg_controllen < header) {
        return 0;
    }
    return (msg->msg_controllen - header) / each;
}

/* Where the second kind is written until it is known how many of the first
 * there are. */
static unsigned char *metas_of(const struct msghdr *msg, size_t pieces) {
    return (unsigned char *)msg->msg_control +
           CMSG_SPACE(pieces * sizeof(struct tltcp_segment)) + CMSG_LEN(0);
}

static void receive_put_head(unsigned char *at, int type, size_t len) {
    struct cmsghdr head;

    memset(&head, 0, sizeof(head));
    head.cmsg_level = SOL_TLTCP;
    head.cmsg_type = type;
    head.cmsg_len = CMSG_LEN(len);
    memcpy(at, &head, sizeof(head));
}

/* Returns the bytes used, with what would align more. */
static size_t finish_control(const struct job *j) {
    unsigned char *at = j->msg->msg_control;
    size_t len = j->pieces * sizeof(struct tltcp_segment);
    size_t used = CMSG_SPACE(len);

    receive_put_head(at, TL_SEGMENT, len);
    if (j->metas != NULL) {
        len = j->pieces * sizeof(struct tltcp_meta);
        memmove(metas_of(j->msg, j->pieces), j->metas, len);
        receive_put_head(at + used, TL_META, len);
        used += CMSG_SPACE(len);
    }
    return used;
}

static void finish(const struct job *j, size_t room) {
    struct msghdr *msg = j->msg;
    size_t used = 0;

    msg->msg_flags = 0;
    if (j->segments != NULL) {
        if (j->pieces == room && room < (size_t)msg->msg_iovlen) {
            msg->msg_flags = MSG_CTRUNC; /* more buffers than descriptions */
        }
        used = finish_control(j);
    }
    if (used < msg->msg_controllen) {
        msg->msg_controllen = used;
    }
    msg->msg_iovlen = j->pieces;
}

/* False for flags unknown or without sense. */
static bool flags_are_good(int flags) {
    return (flags & ~(MSG_TL | MSG_TL_META | MSG_DONTWAIT)) == 0 &&
           ((flags & MSG_TL_META) == 0 || (flags & MSG_TL) != 0);
}

ssize_t tltcp_recvmsg(tltcp_socket *s, struct msghdr *msg, int flags) {
    struct job j = {.msg = msg};
    size_t room = 0;
    ssize_t rv;

    if (s == NULL || msg == NULL || !flags_are_good(flags) ||
        msg->msg_iov == NULL || msg->msg_iovlen < 1 ||
        msg->msg_iov[0].iov_base == NULL || msg->msg_iov[0].iov_len == 0) {
        return TLTCP_ERR_INVAL;
    }
    if (s->listener) {
        return TLTCP_ERR_STATE;
    }
    j.wanted = (size_t)msg->msg_iovlen;
    if ((flags & MSG_TL) != 0) {
        room = control_room(msg, (flags & MSG_TL_META) != 0);
        if (room == 0) {
            return TLTCP_ERR_CONTROL;
        }
        j.wanted = room < j.wanted ? room : j.wanted;
        j.segments = (unsigned char *)msg->msg_control + CMSG_LEN(0);
    }
    if ((flags & MSG_TL_META) != 0) {
        j.metas = metas_of(msg, j.wanted);
    }
    uv_mutex_lock(tltcp__mutex(s));
    rv = recv_job(s, &j, (flags & MSG_DONTWAIT) == 0);
    uv_mutex_unlock(tltcp__mutex(s));
    if (rv >= 0) {
        finish(&j, room);
    }
    return rv;
}
