/* SPDX-License-Identifier: MPL-2.0 */
/* Reads the options of a command line by getopt_long(). */
#include "tools/common/command_line.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/brief.h"
#include "tools/common/tool.h"

#define OPTIONS_MAX 64
#define NO_LETTER 256 /* values of options without a letter begin here */
#define MATCHES_MAX 512

static const struct option common[] = {
    {"quiet", no_argument, NULL, 'q'},       {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},     {"help-all", no_argument, NULL, 0},
    {TOOL_PORT, required_argument, NULL, 0}, {NULL, 0, NULL, 0}};

/* Both tables of getopt_long(). */
struct tables {
    struct option options[OPTIONS_MAX];
    char letters[2 * OPTIONS_MAX + 2];
    size_t count;
};

/* Each option gets a value of its own: getopt_long() takes the first of those
 * that an abbreviation fits if their values are equal. */
static void add_options(struct tables *t, const struct option *options) {
    char *letter = t->letters + strlen(t->letters);
    for (; options->name; options++) {
        struct option *o = &t->options[t->count];
        assert(t->count < OPTIONS_MAX - 1);
        *o = *options;
        if (o->val) {
            *letter++ = (char)o->val;
            *letter = o->has_arg == no_argument ? '\0' : ':';
            letter += o->has_arg != no_argument;
        } else {
            o->val = NO_LETTER + (int)t->count;
        }
        t->count++;
    }
}

static const struct option *find(const struct option *options, int opt) {
    while (options->name && options->val != opt) {
        options++;
    }
    return options->name ? options : NULL;
}

/* Lists the options that an abbreviation may mean. */
static int ambiguous(const char *tool, const char *word, int len,
                     const struct option *options) {
    char list[MATCHES_MAX] = "";
    size_t at = 0;
    for (; options->name && at < sizeof(list); options++) {
        if (strcmp(options->name, TOOL_PORT) != 0 &&
            strncmp(options->name, word + 2, (size_t)len - 2) == 0) {
            at += (size_t)snprintf(list + at, sizeof(list) - at, "%s--%s",
                                   at ? ", " : "", options->name);
        }
    }
    return at ? tool_misuse(tool, "option %.*s is ambiguous: %s", len, word,
                            list)
              : tool_misuse(tool, "option %.*s is unknown", len, word);
}

int tool_port_option(const char *tool) {
    return tool_misuse(tool, "option --port is unknown: the port is part of "
                             "the address, as in HOST:PORT");
}

int tool_bad_option(const char *tool, int opt, const struct option *options,
                    char **argv) {
    const char *word = argv[optind - 1];
    int len = (int)strcspn(word, "="); /* the value may be a secret */
    bool is_long = strncmp(word, "--", 2) == 0;
    const struct option *o = find(options, optopt);
    if (opt == ':') {
        return is_long ? tool_misuse(tool, "option %s needs a value", word)
                       : tool_misuse(tool, "option -%c needs a value", optopt);
    }
    if (is_long && word[len] == '=' && o) {
        return tool_misuse(tool, "option --%s takes no value", o->name);
    }
    if (optopt != 0) {
        return tool_misuse(tool, "option -%c is unknown", optopt);
    }
    return ambiguous(tool, word, len, options);
}

void tool_hide_secret(const char *name, char *value) {
    if (value && strcmp(name, "passphrase") == 0) {
        memset(value, '*', strlen(value));
    }
}

static int take_option(const struct tool_line *line, void *user,
                       const char *name) {
    const char *why;
    if (strcmp(name, "version") == 0) {
        return tool_version(line->tool);
    }
    if (strcmp(name, "help") == 0) {
        tool_print_brief(line->tool, line->help, line->details);
        return TOOL_OK;
    }
    if (strcmp(name, TOOL_PORT) == 0) {
        return tool_port_option(line->tool);
    }
    if (strcmp(name, "help-all") == 0) {
        tool_print_whole(line->help);
        return TOOL_OK;
    }
    why = line->take(user, name, optarg);
    tool_hide_secret(name, optarg);
    return why ? tool_misuse(line->tool, "--%s %s: must be %s", name,
                             optarg ? optarg : "", why)
               : -1;
}

/* The option that a word such as -statsout names. */
static const struct option *named(const struct option *options,
                                  const char *word) {
    size_t len = *word == '-' ? strcspn(word + 1, "=:") : 0;
    while (options->name && (strlen(options->name) != len ||
                             strncmp(options->name, word + 1, len) != 0)) {
        options++;
    }
    return options->name ? options : NULL;
}

/* Some programs take -statsout FILE, which here means -s and a value. */
static int refuse_single_dash(const char *tool, const struct option *options,
                              char **argv) {
    for (; *argv && strcmp(*argv, "--") != 0; argv++) {
        const struct option *o = named(options, *argv);
        if (o && strcmp(o->name, "help") != 0) {
            return strcmp(o->name, TOOL_PORT) == 0
                       ? tool_port_option(tool)
                       : tool_misuse(tool, "option -%s is unknown; write --%s",
                                     o->name, o->name);
        }
    }
    return -1;
}

int tool_options(const struct tool_line *line, void *user, int argc,
                 char **argv) {
    struct tables t = {.letters = ":"};
    int rc;
    int opt;
    add_options(&t, line->options);
    add_options(&t, common);
    rc = refuse_single_dash(line->tool, t.options, argv + 1);
    while (rc < 0 &&
           (opt = getopt_long(argc, argv, t.letters, t.options, NULL)) != -1) {
        rc = opt == '?' || opt == ':'
                 ? tool_bad_option(line->tool, opt, t.options, argv)
                 : take_option(line, user, find(t.options, opt)->name);
    }
    return rc;
}
