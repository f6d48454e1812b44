/* SPDX-License-Identifier: MPL-2.0 */
/* What lines of progress need to know and to draw. */
#include "tools/common/terminal.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_width(void) {
    struct winsize size;
    if (isatty(STDERR_FILENO) != 1) {
        return 0;
    }
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20
               ? 80
               : size.ws_col;
}

void terminal_bar(char out[TERMINAL_BAR + 1], double share) {
    int full = (int)(share * TERMINAL_BAR + 0.5);
    full = full < 0 ? 0 : full;
    full = full > TERMINAL_BAR ? TERMINAL_BAR : full;
    memset(out, '#', (size_t)full);
    memset(out + full, '.', (size_t)(TERMINAL_BAR - full));
    out[TERMINAL_BAR] = '\0';
}
