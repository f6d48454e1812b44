/* SPDX-License-Identifier: MPL-2.0 */
/* Brief help: the whole text less what a tool calls details. */
#include "tools/common/brief.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct brief {
    const char *const *details;
    bool skips;
    size_t depth;     /* of the detail that is skipped; 0: a paragraph */
    bool after_blank; /* the last line shown was blank, or there was none */
};

static bool begins(const char *line, const char *word) {
    size_t len = strlen(word);
    return strncmp(line, word, len) == 0 &&
           !isalnum((unsigned char)line[len]) && line[len] != '-';
}

static bool is_detail(const struct brief *b, const char *line) {
    if (line[0] == '-' && line[1] != '-' && line[2] == ',') {
        line += strlen("-x, ");
    }
    for (const char *const *word = b->details; *word; word++) {
        if (begins(line, *word)) {
            return true;
        }
    }
    return false;
}

/* Whether a line is shown. */
static bool take_line(struct brief *b, const char *line) {
    size_t indent = strspn(line, " ");
    bool blank = line[indent] == '\n' || line[indent] == '\0';
    if (b->skips && b->depth == 0) {
        b->skips = !blank;
        return blank && !b->after_blank; /* no two blank lines in a row */
    }
    if (b->skips && !blank && indent > b->depth) {
        return false;
    }
    b->skips = !blank && is_detail(b, line + indent);
    b->depth = indent;
    return !b->skips;
}

void tool_print_brief(const char *tool, const char *const *texts,
                      const char *const *details) {
    struct brief b = {details, false, 0, true};
    for (; *texts; texts++) {
        const char *line = *texts;
        while (*line) {
            size_t len = strcspn(line, "\n") + 1;
            len = line[len - 1] ? len : len - 1;
            if (take_line(&b, line)) {
                (void)fwrite(line, 1, len, stdout);
                b.after_blank = line[0] == '\n';
            }
            line += len;
        }
    }
    (void)printf("\nAll options: %s --help-all, or man %s\n", tool, tool);
}

void tool_print_whole(const char *const *texts) {
    for (; *texts; texts++) {
        (void)fputs(*texts, stdout);
    }
}
