/* SPDX-License-Identifier: MPL-2.0 */
/* The program saratoga. */
#include <signal.h>

#include "tools/common/tool.h"
#include "tools/saratoga/commands.h"

#define TOOL "saratoga"

static int run(const struct saratoga_args *a) {
    switch (a->command) {
    case SARATOGA_CMD_SERVE:
        return saratoga_serve(a);
    case SARATOGA_CMD_GET:
    case SARATOGA_CMD_TAKE:
        return saratoga_fetch(a);
    case SARATOGA_CMD_PUT:
    case SARATOGA_CMD_GIVE:
        return saratoga_store(a);
    case SARATOGA_CMD_LS:
        return saratoga_list(a);
    case SARATOGA_CMD_RM:
        return saratoga_remove(a);
    case SARATOGA_CMD_PEERS:
        return saratoga_peers(a);
    default:
        return saratoga_mirror(a);
    }
}

int main(int argc, char **argv) {
    struct saratoga_args args;
    sigset_t mask;
    int rc = saratoga_args_parse(argc, argv, &args);
    if (rc >= 0) {
        return rc;
    }
    if (!tool_can_write(TOOL, args.json)) {
        return TOOL_FAILED;
    }
    tool_catch_signals(&mask);
    /* With the signal ignored, a limit on file sizes is an error of write(). */
    (void)signal(SIGXFSZ, SIG_IGN);
    /* The loop wakes several times a second, so it needs no signal mask. */
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    return run(&args);
}
