/* SPDX-License-Identifier: MPL-2.0 */
/* Command line of the programs that run scenarios. */
#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "sim/show.h"

#define TEXT_MAX ((size_t)1 << 20)

static char *read_text(const char *path) {
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *text = f != NULL ? calloc(1, TEXT_MAX + 1) : NULL;
    if (text != NULL) {
        size_t len = fread(text, 1, TEXT_MAX, f);
        if (len == TEXT_MAX || ferror(f) != 0) {
            free(text);
            text = NULL;
        }
    }
    if (f != NULL && f != stdin) {
        (void)fclose(f);
    }
    return text;
}

/* Lists the scenarios of a folder; false if there are none. */
static bool list_scenarios(const char *folder) {
    char pattern[4096 + 8];
    glob_t found = {0};
    bool any;
    (void)snprintf(pattern, sizeof(pattern), "%s/*.scn", folder);
    any = glob(pattern, 0, NULL, &found) == 0;
    if (any) {
        fputs("; there are:", stderr);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            fprintf(stderr, " %s", found.gl_pathv[i]);
        }
    }
    globfree(&found);
    return any;
}

/* Reports why a scenario cannot be read, and lists those in its folder, or else
 * in the source tree. */
static void command_complain(const char *program, const char *path, int error) {
    char folder[4096];
    fprintf(stderr, "%s: cannot read %s: %s", program, path,
            error != 0 ? strerror(error) : "it is too long");
    (void)snprintf(folder, sizeof(folder), "%s", path);
    if (error == ENOENT && !list_scenarios(dirname(folder))) {
        (void)list_scenarios(PERIGEE_SCENARIOS);
    }
    fputc('\n', stderr);
}

void show_keep_memory(void) {
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
    (void)mallopt(M_TOP_PAD, 1 << 24);
#endif
}

static const char *name_of(const char *program) {
    const char *slash = strrchr(program, '/');
    return slash != NULL ? slash + 1 : program;
}

static int usage(const char *program, const char *more, bool asked) {
    printf("usage: %s SCENARIO [NAME=VALUE ...]\n\n"
           "Runs the experiment that the file SCENARIO (-: standard input)"
           " describes and\nprints lines of JSON.  NAME=VALUE gives "
           "another value to a parameter that the\nfile declares by "
           "\"set\".  docs/papers/experiments.md describes both.\n%s",
           program, more);
    return asked ? 0 : 2;
}

int show_command(int argc, char **argv, const struct show_network *net,
                 const char *more) {
    const char *program = name_of(argv[0]);
    static char why[SCENARIO_WHY_MAX];
    struct scenario s = {0};
    char *text;
    bool ok;
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        return usage(program, more, argc >= 2);
    }
    show_keep_memory();
    errno = 0;
    text = read_text(argv[1]);
    if (text == NULL) {
        command_complain(program, argv[1], errno);
        return 1;
    }
    ok = scenario_read(&s, text, argv + 2, argc - 2, why) &&
         show_run(&s, net, why);
    if (!ok) {
        fprintf(stderr, "%s: %s: %s\n", program, argv[1], why);
    }
    scenario_free(&s);
    free(text);
    return ok && fflush(stdout) == 0 ? 0 : 1;
}
