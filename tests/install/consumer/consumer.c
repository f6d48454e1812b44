/* SPDX-License-Identifier: MPL-2.0 */
/* A program outside the tree; C and C++ compilers take it. */
#include <stdio.h>
#include <string.h>

#include <congestion/congestion.h>
#include <tltcp/socket.h>

static int loopback(void) {
    tltcp_socket *listener = NULL;
    tltcp_config config;
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    tltcp_config_init(&config);
    config.congestion = "newreno";
    int error = tltcp_listen(&listener, "127.0.0.1", "0", &config);
    if (error == 0) {
        error =
            tltcp_local_address(listener, (struct sockaddr *)&address, &len);
    }
    if (error == 0) {
        error = tltcp_close(listener, 0);
    }
    return error;
}

int main(void) {
    if (cong_find("newreno") == NULL || cong_find("no such") != NULL) {
        puts("the congestion library does not know its controllers");
        return 1;
    }
    const int error = loopback();
    if (error != 0) {
        puts(tltcp_strerror(error));
        return 1;
    }
    printf("tltcp %s\n", tltcp_version());
    return 0;
}
