/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_LOOPBACK_OWN_NETWORK_H
#define TESTS_LOOPBACK_OWN_NETWORK_H

#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* From here on this thread, and those that it starts, have a network of their
 * own: a loopback interface alone.  False: this user may not. */
static bool own_network(void) {
    struct ifreq up = {.ifr_name = "lo"};
    bool fine = unshare(CLONE_NEWNET) == 0;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    fine = fine && fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &up) == 0;
    up.ifr_flags |= IFF_UP;
    fine = fine && ioctl(fd, SIOCSIFFLAGS, &up) == 0;
    close(fd);
    return fine;
}

#endif /* TESTS_LOOPBACK_OWN_NETWORK_H */
