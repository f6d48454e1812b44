/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/command_line.h
 * @brief Reads the options of a command line by getopt_long().
 */
#ifndef TOOLS_COMMAND_LINE_H
#define TOOLS_COMMAND_LINE_H

#include <getopt.h>

/** Not an option, but in the tables of all tools: what many programs call the
 * port must not pass for an abbreviation of --port-file. */
#define TOOL_PORT "port"

/** @brief Reports the option ::TOOL_PORT. @param tool  for the message
 * @return TOOL_USAGE */
int tool_port_option(const char *tool);

/** @brief A command line: its options and their handler. */
struct tool_line {
    const char *tool;        /**< for messages */
    const char *const *help; /**< parts of the text of --help-all, up to NULL */
    /** Its options, up to a NULL name; `val` is the letter, or 0. Not listed
     * are --quiet (-q), --help (-h), --help-all and --version (-V), which every
     * tool has. */
    const struct option *options;
    /** @brief Handles an option, --quiet included. @param user  as given
     * @param name  its long name @param text  its value, or NULL
     * @return NULL, or the expected form */
    const char *(*take)(void *user, const char *name, const char *text);
    const char *const *details; /**< left out by --help: tool_print_brief() */
};

/**
 * @brief Reads the options. The remaining arguments begin at `argv[optind]`.
 * @param line        the command line
 * @param user        for its take
 * @param argc, argv  from main()
 * @return -1 to continue, else an exit status after a message
 */
int tool_options(const struct tool_line *line, void *user, int argc,
                 char **argv);

/**
 * @brief Reports an option that getopt_long() rejected, without its value.
 * @param tool     for the message
 * @param opt      its result: '?' or ':'
 * @param options  the table that it used; each `val` in it is unique
 * @param argv     from main()
 * @return TOOL_USAGE
 */
int tool_bad_option(const char *tool, int opt, const struct option *options,
                    char **argv);

/** @brief Overwrites the value of an option that is a passphrase, so that
 * neither messages nor process lists show it. @param name  of the option
 * @param value  from main(), already read; or NULL */
void tool_hide_secret(const char *name, char *value);

#endif /* TOOLS_COMMAND_LINE_H */
