/* SPDX-License-Identifier: MPL-2.0 */
/* Peers on the same machine. */
#include "libtltcp/socket/local.h"

#include <string.h>

#include <tltcp/local.h>

#include "internal/common/siphash.h"

#if defined(__linux__)
#include <fcntl.h>
#include <unistd.h>

/* A random number that is known only here, as text: */
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_LEN 36

static bool local_read(uint8_t key[TLTCP__MACHINE_LEN]) {
    static const uint8_t none[TLTCP__MACHINE_LEN];
    char text[BOOT_ID_LEN];
    uint64_t half[2];
    int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
    bool whole;

    if (fd < 0) {
        return false;
    }
    whole = read(fd, text, sizeof(text)) == (ssize_t)sizeof(text);
    (void)close(fd);
    half[0] = cmn__siphash(none, text, sizeof(text) / 2);
    half[1] = cmn__siphash(none, text + sizeof(text) / 2, sizeof(text) / 2);
    memcpy(key, half, TLTCP__MACHINE_LEN);
    return whole;
}
#else
static bool local_read(uint8_t key[TLTCP__MACHINE_LEN]) {
    (void)key;
    return false;
}
#endif

/* The key of this machine, read once for each thread; NULL: there is none. */
static const uint8_t *local_machine(struct tltcp__io_thread *io) {
    if (!io->machine_known) {
        io->machine_known = local_read(io->machine);
    }
    return io->machine_known ? io->machine : NULL;
}

void tltcp__say_local(tltcp_socket *s, const net__addr *caller) {
    struct {
        struct in6_addr ip;
        uint16_t port;
        uint16_t half;
    } about = {.port = net__addr_port(caller)};
    const uint8_t *key;
    uint64_t token[2];

    if (!net__addr_is_loopback(caller)) {
        return;
    }
    key = local_machine(s->port->io);
    if (key == NULL) {
        return;
    }
    net__addr_ip(caller, &about.ip);
    token[0] = cmn__siphash(key, &about, sizeof(about));
    about.half = 1;
    token[1] = cmn__siphash(key, &about, sizeof(about));
    (void)tltcp_conn_set_local(tltcp__engine(s), (const uint8_t *)token);
}
