/* SPDX-License-Identifier: MPL-2.0 */
/* The UDP layer below the sockets, against a socket of the system. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal/net/udp.h"
#include "tests/support/cmocka.h"

#define DATAGRAM ((size_t)1000)
#define BURST 40u

/* The loopback interface never fills up, so the calls are made to fail: linked
 * with --wrap. */
static struct {
    int error;       /* errno; 0: none */
    bool batches;    /* only what has more than one segment */
    unsigned after;  /* calls that go through first */
    unsigned period; /* then every so many fail; 0: all */
    unsigned calls;
    unsigned failed;
} fault;

/* A net__udp on a loop, and a socket of the system that it talks to. */
struct rig {
    uv_loop_t loop;
    net__udp *udp;
    net__addr own;  /* of the net__udp */
    net__addr peer; /* of the system's */
    int fd;
    uint64_t bytes; /* heard so far */
    unsigned calls;
    unsigned bursts;
    unsigned datagrams;
    uint32_t ecn;
    net__route route;
    int error;
    unsigned writable;
    uint64_t wanted;
    uint8_t first[16];
};

static void on_bursts(void *owner, const net__burst *in, size_t count) {
    struct rig *r = owner;

    r->calls++;
    for (size_t i = 0; i < count; i++) {
        if (r->bytes == 0) {
            memcpy(r->first, in[i].data, in[i].len < 16 ? in[i].len : 16);
        }
        r->bursts++;
        r->bytes += in[i].len;
        r->datagrams +=
            (unsigned)((in[i].len + in[i].segment - 1) / in[i].segment);
        r->ecn = in[i].ecn;
        r->route = *in[i].route;
    }
    if (r->bytes >= r->wanted) {
        uv_stop(&r->loop);
    }
}

static void on_writable(void *owner) {
    struct rig *r = owner;

    r->writable++;
    uv_stop(&r->loop);
}

static void on_error(void *owner, int status) {
    struct rig *r = owner;

    r->error = status;
    uv_stop(&r->loop);
}

static const net__udp_ops ops = {
    .on_bursts = on_bursts, .on_writable = on_writable, .on_error = on_error};

static void open_peer(struct rig *r) {
    socklen_t len = sizeof(r->peer);
    int on = 1;

    memset(&r->peer, 0, sizeof(r->peer));
    r->peer.in4.sin_family = AF_INET;
    r->peer.in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    r->fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_true(r->fd >= 0);
    (void)setsockopt(r->fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on));
    assert_int_equal(bind(r->fd, &r->peer.sa, len), 0);
    assert_int_equal(getsockname(r->fd, &r->peer.sa, &len), 0);
}

static int set_up(void **state, bool plain, bool no_offload) {
    struct rig *r = calloc(1, sizeof(*r));
    net__addr any = {.in4 = {.sin_family = AF_INET}};
    net__udp_options o = {.bind = &any,
                          .plain = plain,
                          .no_offload = no_offload,
                          .max_datagram = 2000,
                          .buffer = 1 << 20,
                          .ops = &ops,
                          .owner = r};

    if (r == NULL || uv_loop_init(&r->loop) != 0) {
        return -1;
    }
    any.in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    open_peer(r);
    assert_int_equal(net__udp_open(&r->udp, &r->loop, &o), 0);
    assert_int_equal(net__udp_local(r->udp, &r->own), 0);
    *state = r;
    return 0;
}

static int set_up_fast(void **state) {
    return set_up(state, false, false);
}

static int set_up_no_offload(void **state) {
    return set_up(state, false, true);
}

static int set_up_plain(void **state) {
    return set_up(state, true, false);
}

static int tear_down(void **state) {
    struct rig *r = *state;

    net__udp_close(r->udp);
    while (uv_run(&r->loop, UV_RUN_DEFAULT) != 0) {
    }
    assert_int_equal(uv_loop_close(&r->loop), 0);
    close(r->fd);
    free(r);
    memset(&fault, 0, sizeof(fault));
    return 0;
}

static net__route to_peer(const struct rig *r) {
    net__route route;

    memset(&route, 0, sizeof(route));
    route.remote = r->peer;
    return route;
}

/* Sends a burst whose datagrams are numbered in their first byte. */
static bool send_burst(struct rig *r, size_t len, size_t segment,
                       uint32_t ecn) {
    net__route route = to_peer(r);
    uint8_t *room = net__udp_room(r->udp);

    if (room == NULL) {
        return false;
    }
    for (size_t at = 0; at < len; at += segment) {
        memset(room + at, (int)(at / segment),
               len - at < segment ? len - at : segment);
    }
    net__udp_put(r->udp, &route, ecn, len, segment);
    return true;
}

static void expect_datagram(struct rig *r, size_t len, int number) {
    uint8_t buf[4000];
    ssize_t n = recv(r->fd, buf, sizeof(buf), 0);

    assert_int_equal(n, len);
    assert_int_equal(buf[0], number);
    assert_int_equal(buf[len - 1], number);
}

TEST(a_burst_leaves_as_its_datagrams) {
    struct rig *r = *state;

    assert_true(send_burst(r, BURST * DATAGRAM + 300, DATAGRAM, 0));
    assert_true(send_burst(r, 7, 7, 0));
    assert_true(net__udp_flush(r->udp));
    for (unsigned i = 0; i < BURST; i++) {
        expect_datagram(r, DATAGRAM, (int)i);
    }
    expect_datagram(r, 300, BURST);
    expect_datagram(r, 7, 0);
}

TEST(small_segments_beyond_the_kernels_limit_are_split) {
    struct rig *r = *state;

    assert_true(send_burst(r, 150 * 10, 10, 0)); /* more than 64 or 128 */
    assert_true(net__udp_flush(r->udp));
    for (int i = 0; i < 150; i++) {
        expect_datagram(r, 10, i);
    }
}

TEST(everything_received_is_counted) {
    struct rig *r = *state;
    uint8_t data[DATAGRAM] = {42};

    r->wanted = BURST * DATAGRAM;
    for (unsigned i = 0; i < BURST; i++) {
        assert_int_equal(sendto(r->fd, data, sizeof(data), 0, &r->own.sa,
                                sizeof(r->own.in4)),
                         sizeof(data));
    }
    (void)uv_run(&r->loop, UV_RUN_DEFAULT);
    assert_int_equal(r->bytes, BURST * DATAGRAM);
    assert_int_equal(r->datagrams, BURST);
    assert_int_equal(r->first[0], 42);
    assert_int_equal(r->route.remote.in4.sin_port, r->peer.in4.sin_port);
}

TEST(codepoints_go_out) {
    struct rig *r = *state;
    static const uint32_t codepoints[] = {2, 2, 0, 1, 3, 2};

    for (size_t i = 0; i < 6; i++) {
        uint8_t byte;
        struct iovec iov = {.iov_base = &byte, .iov_len = 1};
        uint8_t control[64];
        struct msghdr m = {.msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof(control)};

        assert_true(send_burst(r, 1, 1, codepoints[i]));
        assert_true(net__udp_flush(r->udp));
        assert_int_equal(recvmsg(r->fd, &m, 0), 1);
        assert_non_null(CMSG_FIRSTHDR(&m));
        assert_int_equal(*CMSG_DATA(CMSG_FIRSTHDR(&m)), codepoints[i]);
    }
}

TEST(codepoints_come_in) {
    struct rig *r = *state;

    for (int ecn = 0; ecn < 4; ecn++) {
        assert_int_equal(
            setsockopt(r->fd, IPPROTO_IP, IP_TOS, &ecn, sizeof(ecn)), 0);
        r->wanted = r->bytes + 1;
        assert_int_equal(
            sendto(r->fd, "x", 1, 0, &r->own.sa, sizeof(r->own.in4)), 1);
        (void)uv_run(&r->loop, UV_RUN_DEFAULT);
        assert_int_equal(r->ecn, ecn);
    }
}

/* Kernels merge only what is alike, so the codepoint of a burst is true. */
TEST(offload_brings_few_calls) {
    struct rig *r = *state;
    net__udp *other;
    struct rig sender = {.fd = -1};
    net__udp_options o = {.family = AF_INET,
                          .max_datagram = 2000,
                          .buffer = 1 << 20,
                          .ops = &ops,
                          .owner = &sender};
    uint8_t *room;

    assert_int_equal(net__udp_open(&other, &r->loop, &o), 0);
    assert_int_equal(net__udp_connect(other, &r->own), 0);
    room = net__udp_room(other);
    memset(room, 1, BURST * DATAGRAM);
    net__udp_put(other, NULL, 2, BURST * DATAGRAM, DATAGRAM);
    assert_true(net__udp_flush(other));
    r->wanted = BURST * DATAGRAM;
    (void)uv_run(&r->loop, UV_RUN_DEFAULT);
    assert_int_equal(r->datagrams, BURST);
    assert_int_equal(r->bursts, 1);
    assert_int_equal(r->ecn, 2);
    net__udp_close(other);
}

TEST(datagrams_longer_than_asked_for_are_dropped) {
    struct rig *r = *state;
    uint8_t data[3000] = {1};

    assert_true(sendto(r->fd, data, sizeof(data), 0, &r->own.sa,
                       sizeof(r->own.in4)) > 0);
    assert_true(sendto(r->fd, "", 0, 0, &r->own.sa, sizeof(r->own.in4)) == 0);
    assert_true(sendto(r->fd, "x", 1, 0, &r->own.sa, sizeof(r->own.in4)) == 1);
    r->wanted = 1;
    (void)uv_run(&r->loop, UV_RUN_DEFAULT);
    assert_int_equal(r->bytes, 1);
}

/* Datagrams that the path does not carry are lost without an error. */
TEST(a_datagram_beyond_the_mtu_is_dropped) {
    struct rig *r = *state;
    uint8_t buf[100];

    assert_true(send_burst(r, 65530, 65530, 0)); /* no UDP payload is so long */
    assert_true(net__udp_flush(r->udp));
    assert_true(send_burst(r, 5, 5, 0));
    assert_true(net__udp_flush(r->udp));
    assert_int_equal(recv(r->fd, buf, sizeof(buf), 0), 5);
    assert_int_equal(r->error, 0);
    assert_int_equal(net__udp_too_big(r->udp), 1);
}

TEST(a_refusal_is_heard_on_a_connected_socket) {
    struct rig *r = *state;

    assert_int_equal(net__udp_connect(r->udp, &r->peer), 0);
    close(r->fd);
    r->fd = -1;
    memcpy(net__udp_room(r->udp), "x", 1);
    net__udp_put(r->udp, NULL, 0, 1, 1);
    assert_true(net__udp_flush(r->udp));
    (void)uv_run(&r->loop, UV_RUN_DEFAULT);
    assert_int_equal(r->error, UV_ECONNREFUSED);
}

/* --- A kernel that does not take everything ------------------------------ */

int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned count, int flags);
int __real_sendmmsg(int fd, struct mmsghdr *msg, unsigned count, int flags);
int __wrap_uv_udp_try_send(uv_udp_t *udp, const uv_buf_t *bufs, unsigned count,
                           const struct sockaddr *to);
int __real_uv_udp_try_send(uv_udp_t *udp, const uv_buf_t *bufs, unsigned count,
                           const struct sockaddr *to);

static bool is_batch(const struct msghdr *m) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL;
         c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)m, c)) {
        if (c->cmsg_level == IPPROTO_UDP) {
            return true;
        }
    }
    return false;
}

static bool fails(void) {
    unsigned n = fault.calls++;

    if (fault.error == 0 || n < fault.after ||
        (fault.period != 0 && (n - fault.after) % fault.period != 0)) {
        return false;
    }
    fault.failed++;
    return true;
}

int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned count, int flags) {
    if ((!fault.batches || is_batch(&msg->msg_hdr)) && fails()) {
        errno = fault.error;
        return -1;
    }
    /* Not all at once, either. */
    return __real_sendmmsg(fd, msg, fault.error != 0 ? 1 : count, flags);
}

int __wrap_uv_udp_try_send(uv_udp_t *udp, const uv_buf_t *bufs, unsigned count,
                           const struct sockaddr *to) {
    if (fails()) {
        return uv_translate_sys_error(fault.error);
    }
    return __real_uv_udp_try_send(udp, bufs, count, to);
}

static void expect_bursts(struct rig *r, unsigned bursts) {
    for (unsigned i = 0; i < bursts * BURST; i++) {
        expect_datagram(r, DATAGRAM, (int)(i % BURST));
    }
}

/* A full send buffer delays; it loses nothing and reorders nothing. */
TEST(datagrams_that_the_kernel_refuses_are_kept) {
    struct rig *r = *state;

    fault.error = EAGAIN;
    fault.period = 3;
    assert_true(send_burst(r, BURST * DATAGRAM, DATAGRAM, 0));
    assert_true(send_burst(r, BURST * DATAGRAM, DATAGRAM, 0));
    assert_false(net__udp_flush(r->udp));
    assert_true(net__udp_blocked(r->udp));
    assert_null(net__udp_room(r->udp));
    assert_false(net__udp_flush(r->udp));
    assert_int_equal(r->writable, 0);
    (void)uv_run(&r->loop, UV_RUN_DEFAULT);
    assert_int_equal(r->writable, 1);
    assert_false(net__udp_blocked(r->udp));
    assert_non_null(net__udp_room(r->udp));
    assert_true(fault.failed > 0);
    expect_bursts(r, 2);
}

TEST(refused_segmentation_is_done_by_hand) {
    static const int errors[] = {EINVAL, EMSGSIZE, EIO};
    struct rig *r = *state;

    fault.batches = true;
    for (size_t i = 0; i < 3; i++) {
        fault.error = errors[i];
        fault.failed = 0;
        assert_true(send_burst(r, BURST * DATAGRAM, DATAGRAM, 0));
        assert_true(net__udp_flush(r->udp));
        expect_bursts(r, 1);
        assert_int_equal(fault.failed, 1);
        assert_int_equal(r->error, 0);
    }
    assert_true(send_burst(r, BURST * DATAGRAM, DATAGRAM, 0));
    assert_true(net__udp_flush(r->udp));
    expect_bursts(r, 1);
    assert_int_equal(fault.failed, 1); /* EIO: not tried any more */
}

/* Such as to a peer whose packets came to an address that is gone. */
TEST(other_failures_do_not_disable_segmentation) {
    struct rig *r = *state;

    fault.error = EINVAL;
    for (int i = 0; i < 20; i++) {
        assert_true(send_burst(r, 2 * DATAGRAM, DATAGRAM, 0));
        assert_true(net__udp_flush(r->udp));
    }
    memset(&fault, 0, sizeof(fault));
    fault.batches = true; /* counts them */
    assert_true(send_burst(r, BURST * DATAGRAM, DATAGRAM, 0));
    assert_true(net__udp_flush(r->udp));
    expect_bursts(r, 1);
    assert_int_equal(fault.calls, 1);
}

TEST(an_interrupted_call_is_repeated) {
    struct rig *r = *state;

    fault.error = EINTR;
    fault.period = 2;
    assert_true(send_burst(r, BURST * DATAGRAM, DATAGRAM, 0));
    assert_true(net__udp_flush(r->udp));
    expect_bursts(r, 1);
}

TEST(a_lost_route_loses_datagrams_and_is_reported) {
    struct rig *r = *state;
    uint8_t byte;

    fault.error = ENETUNREACH;
    assert_true(send_burst(r, DATAGRAM, DATAGRAM, 0));
    assert_true(net__udp_flush(r->udp));
    assert_int_equal(r->error, UV_ENETUNREACH);
    fault.error = 0;
    assert_true(send_burst(r, 1, 1, 0));
    assert_true(net__udp_flush(r->udp));
    assert_int_equal(recv(r->fd, &byte, 1, 0), 1);
}

/* 127.0.0.2 is no address that the kernel would choose here. */
TEST(a_local_address_that_was_asked_for_stays) {
    struct rig *r = *state;

    for (int plain = 0; plain < 2; plain++) {
        net__addr here = {.in4 = {.sin_family = AF_INET}};
        net__udp_options o = {.bind = &here,
                              .plain = plain != 0,
                              .max_datagram = 2000,
                              .buffer = 1 << 20,
                              .ops = &ops,
                              .owner = r};
        net__udp *u;
        here.in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
        assert_int_equal(net__udp_open(&u, &r->loop, &o), 0);
        for (int turn = 0; turn < 2; turn++) {
            net__addr now;
            assert_int_equal(net__udp_connect(u, &r->peer), 0);
            assert_int_equal(net__udp_local(u, &now), 0);
            assert_int_equal(now.in4.sin_addr.s_addr,
                             htonl(INADDR_LOOPBACK + 1));
        }
        net__udp_close(u);
    }
}

#define T(f, how) \
    { #f " (" #how ")", f, set_up_##how, tear_down, NULL }

#if defined(SO_NO_CHECK)
/* Saratoga demands them over IPv4, too. */
TEST(datagrams_have_checksums) {
    const struct rig *r = *state;
    int off = 1;
    socklen_t len = sizeof(off);

    assert_int_equal(getsockopt(net__udp_fileno(r->udp), SOL_SOCKET,
                                SO_NO_CHECK, &off, &len),
                     0);
    assert_int_equal(off, 0);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
#if defined(SO_NO_CHECK)
        T(datagrams_have_checksums, fast),
        T(datagrams_have_checksums, plain),
#endif
        T(a_burst_leaves_as_its_datagrams, fast),
        T(a_burst_leaves_as_its_datagrams, no_offload),
        T(a_burst_leaves_as_its_datagrams, plain),
        T(small_segments_beyond_the_kernels_limit_are_split, fast),
        T(small_segments_beyond_the_kernels_limit_are_split, no_offload),
        T(small_segments_beyond_the_kernels_limit_are_split, plain),
        T(everything_received_is_counted, fast),
        T(everything_received_is_counted, no_offload),
        T(everything_received_is_counted, plain),
        T(codepoints_go_out, fast),
        T(codepoints_come_in, fast),
        T(offload_brings_few_calls, fast),
        T(datagrams_longer_than_asked_for_are_dropped, no_offload),
        T(a_datagram_beyond_the_mtu_is_dropped, fast),
        T(a_datagram_beyond_the_mtu_is_dropped, plain),
        T(a_refusal_is_heard_on_a_connected_socket, fast),
        T(a_refusal_is_heard_on_a_connected_socket, plain),
        T(a_local_address_that_was_asked_for_stays, fast),
        T(datagrams_that_the_kernel_refuses_are_kept, fast),
        T(datagrams_that_the_kernel_refuses_are_kept, no_offload),
        T(datagrams_that_the_kernel_refuses_are_kept, plain),
        T(refused_segmentation_is_done_by_hand, fast),
        T(other_failures_do_not_disable_segmentation, fast),
        T(an_interrupted_call_is_repeated, fast),
        T(a_lost_route_loses_datagrams_and_is_reported, fast),
        T(a_lost_route_loses_datagrams_and_is_reported, plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
