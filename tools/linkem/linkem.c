/* SPDX-License-Identifier: MPL-2.0 */
/*
 * linkem: an emulated link of limited rate, with delay and faults, for programs
 * that use UDP, or with --tun for any that use IP.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif
#include <time.h>

#include "tools/common/tool.h"
#include "tools/linkem/face.h"

#define TOOL "linkem"

static void deliver_due(struct emulator *em, const struct face *face) {
    for (int d = 0; d < LINKEM_DIRECTIONS; d++) {
        struct sim_packet *p;
        while ((p = emulator_take(em, d)) != NULL) {
            face->deliver(face->impl, d, p);
            sim_packet_free(p);
        }
    }
}

static struct timespec to_timespec(uint64_t ns) {
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
}

static int run(struct emulator *em, const struct face *face, struct pollfd *fds,
               size_t max, const sigset_t *during_wait) {
    while (!tool_is_stopped() && !emulator_is_over(em)) {
        uint64_t wait = emulator_run(em);
        struct timespec timeout = to_timespec(wait);
        size_t n = face->fds(face->impl, fds, max);
        int ready = ppoll(fds, (nfds_t)n, wait == UINT64_MAX ? NULL : &timeout,
                          during_wait);
        if (ready < 0 && errno != EINTR) {
            return tool_fail(TOOL, "cannot wait: %s", strerror(errno));
        }
        if (ready > 0) {
            face->receive(face->impl, fds, n, em);
        }
        deliver_due(em, face);
    }
    return TOOL_OK;
}

static int emulate(const struct linkem_options *o, struct emulator *em,
                   const struct face *face, const sigset_t *during_wait) {
    size_t max = o->pairs + o->clients_max + 2;
    struct pollfd *fds = calloc(max, sizeof(*fds));
    int rc;
    if (!fds) {
        return tool_fail(TOOL, "out of memory");
    }
    rc = run(em, face, fds, max, during_wait);
    free(fds);
    if (rc == TOOL_OK && o->json) {
        json_t *json = emulator_json(em);
        face->report(face->impl, json);
        rc = tool_write_json(TOOL, o->json, json);
    }
    return rc;
}

int main(int argc, char **argv) {
    static struct linkem_options options;
    struct emulator em;
    struct face face;
    sigset_t during_wait;
    int rc = linkem_options_parse(argc, argv, &options);
    if (rc >= 0) {
        return rc;
    }
    if (!tool_can_write(TOOL, options.json)) {
        return TOOL_FAILED;
    }
#if defined(__linux__)
    /* wake up precisely, not with 50 us of slack */
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
#endif
    if (emulator_init(&em, &options) != TOOL_OK) {
        return TOOL_FAILED;
    }
    /* before another program can learn that linkem listens, and stop it */
    tool_catch_signals(&during_wait);
    rc = options.netns[0] ? face_tun(&face, &options)
                          : face_relay(&face, &options);
    if (rc == TOOL_OK) {
        rc = emulate(&options, &em, &face, &during_wait);
        face.free(face.impl);
    }
    return emulator_free(&em) ? rc : TOOL_FAILED;
}
