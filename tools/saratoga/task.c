/* SPDX-License-Identifier: MPL-2.0 */
/* One transfer of a batch. */
#include "tools/saratoga/task.h"

#include <stdlib.h>

#include "tools/common/tool.h"

#define TOOL "saratoga"

struct saratoga_task *saratoga_task_new(void) {
    struct saratoga_task *t = calloc(1, sizeof(struct saratoga_task));
    if (!t) {
        (void)tool_fail(TOOL, "not enough memory");
    }
    return t;
}

void saratoga_task_free(struct saratoga_task *t) {
    if (t) {
        free(t->taken);
        free(t);
    }
}
