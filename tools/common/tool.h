/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/tool.h
 * @brief Shared by all command-line tools: exit codes, messages, files of
 * results, signals.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

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

/** @brief Printable text: control characters and invalid UTF-8 become question
 * marks. @param out, room  where to
 * @param text  any string @return @p out */
const char *tool_shown(char *out, size_t room, const char *text);

/** @brief Prints "TOOL: sentence" and a pointer to the help. @return
 * TOOL_USAGE */
int tool_misuse(const char *tool, const char *format, ...) TOOL_PRINTF(2, 3);

/** @brief Prints "TOOL (Perigee) VERSION". @return TOOL_OK */
int tool_version(const char *tool);

/**
 * @brief Writes one JSON object and a newline.
 * @param tool   for the message
 * @param path   file; "-": standard output
 * @param json   the call takes ownership
 * @return TOOL_OK or TOOL_FAILED
 */
int tool_write_json(const char *tool, const char *path, json_t *json);

/** @brief Writes a line of text into a file. @param tool  for the message
 * @param path  file @param text  without end of line
 * @return TOOL_OK or TOOL_FAILED */
int tool_write_text(const char *tool, const char *path, const char *text);

/** @brief Lets SIGINT and SIGTERM set the result of tool_is_stopped(). They are
 * delivered only while waiting, so that none is missed.
 * @param[out] during_wait  the mask for ppoll() */
void tool_catch_signals(sigset_t *during_wait);

/** @brief Whether a signal requested the end. */
bool tool_is_stopped(void);

/** @brief Likewise SIGHUP, for tool_was_hung_up().
 * @param[in,out] during_wait  of tool_catch_signals() */
void tool_catch_hangup(sigset_t *during_wait);

/** @brief Whether SIGHUP came since it was asked last. */
bool tool_was_hung_up(void);

/** @brief Whether a file for results can be written, before work begins.
 * @param tool  for the message @param path  file, "-" or NULL */
bool tool_can_write(const char *tool, const char *path);

/** @brief A JSON number with at most @p digits decimals. */
json_t *tool_number(double x, int digits);

#endif /* TOOLS_TOOL_H */
