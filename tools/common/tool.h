/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/tool.h
 * @brief What all command-line tools share: exit codes, messages, JSON files.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>

/** Exit codes. */
enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

#if defined(__GNUC__)
/** Checked like printf(). */
#define TOOL_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
/** Checked like printf(). */
#define TOOL_PRINTF(a, b)
#endif

/** @brief Prints "TOOL: sentence" on standard error. @return TOOL_FAILED */
int tool_fail(const char *tool, const char *format, ...) TOOL_PRINTF(2, 3);

/** @brief Text as it may be printed: what a terminal would take for a command,
 * and what is no UTF-8, becomes question marks. @param out, room  where to
 * @param text  any string @return @p out */
const char *tool_shown(char *out, size_t room, const char *text);

/** @brief Prints "TOOL: sentence" and where help is. @return TOOL_USAGE */
int tool_misuse(const char *tool, const char *format, ...) TOOL_PRINTF(2, 3);

/** @brief Overwrites the value of an option that is a passphrase: neither
 * messages nor lists of processes show it then. @param name  of the option
 * @param value  from main(), taken already; or NULL */
void tool_hide_secret(const char *name, char *value);

/**
 * @brief Says what getopt_long() did not like.
 * @param tool  for the message
 * @param opt   what it returned: '?' or ':'
 * @param argv  from main()
 * @return TOOL_USAGE
 */
int tool_bad_option(const char *tool, int opt, char **argv);

/** @brief A command line: its options, and what takes them. */
struct tool_line {
    const char *tool;             /**< for messages */
    const char *help;             /**< printed for --help */
    const char *letters;          /**< for getopt_long(), with ":" before */
    const struct option *options; /**< each value is unique */
    /** @brief Takes an option. @param user  as given @param name  its long
     * name @param text  its value, or NULL @return NULL, or what it must be */
    const char *(*take)(void *user, const char *name, const char *text);
};

/**
 * @brief Reads the options; --help and --version are among them. What follows
 * them begins at `argv[optind]`.
 * @param line        the command line
 * @param user        for its take
 * @param argc, argv  from main()
 * @return -1 to go on, else an exit status, said why
 */
int tool_options(const struct tool_line *line, void *user, int argc,
                 char **argv);

/** @brief Prints "TOOL (Perigee) VERSION". @return TOOL_OK */
int tool_version(const char *tool);

/**
 * @brief Writes one JSON object and a newline.
 * @param tool   for the message
 * @param path   file; "-": standard output
 * @param json   taken over and released
 * @return TOOL_OK or TOOL_FAILED
 */
int tool_write_json(const char *tool, const char *path, json_t *json);

/** @brief Writes a line of text into a file. @param tool  for the message
 * @param path  file @param text  without end of line
 * @return TOOL_OK or TOOL_FAILED */
int tool_write_text(const char *tool, const char *path, const char *text);

/** @brief Lets SIGINT and SIGTERM set what tool_is_stopped() tells, and come
 * only while waiting, so that none is missed.
 * @param[out] during_wait  the mask for ppoll() */
void tool_catch_signals(sigset_t *during_wait);

/** @brief Whether a signal asked for the end. */
bool tool_is_stopped(void);

/** @brief Likewise SIGHUP, for tool_was_hung_up().
 * @param[in,out] during_wait  of tool_catch_signals() */
void tool_catch_hangup(sigset_t *during_wait);

/** @brief Whether SIGHUP came since it was asked last. */
bool tool_was_hung_up(void);

/** @brief Whether a file for results can be written, before work begins.
 * @param tool  for the message @param path  file, "-" or NULL */
bool tool_can_write(const char *tool, const char *path);

/** @brief A JSON number with at most @p digits behind the point. */
json_t *tool_number(double x, int digits);

#endif /* TOOLS_TOOL_H */
