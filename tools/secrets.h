/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file secrets.h
 * @brief Passphrases and keys, as the users of all tools name them: on the
 * command line, where others on the machine see them; in files; or in the
 * environment.
 */
#ifndef TOOLS_SECRETS_H
#define TOOLS_SECRETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** @brief At most, of both kinds. */
#define SECRETS_MAX 16u
/** @brief Holds a passphrase when no option names a secret. */
#define SECRETS_VARIABLE "PERIGEE_PASSPHRASE"

/** @brief Zeroed: none.  Not to be copied or moved once it has some. */
struct secrets {
    const char *passphrase; /**< own, for calls; or NULL */
    const uint8_t *key;     /**< own, 32 bytes; or NULL */
    const char *more_passphrases[SECRETS_MAX + 1]; /**< listeners: these, too */
    const uint8_t *more_keys[SECRETS_MAX + 1];     /**< listeners: likewise */
    char text[SECRETS_MAX][513];
    uint8_t bytes[SECRETS_MAX][32];
    unsigned texts;
    unsigned keys;
};

/** @brief For help texts, lines of at most 80 characters. */
#define SECRETS_HELP                                                           \
    "  --passphrase P         shared secret; others on this machine can see\n" \
    "                         it: better one of\n"                             \
    "  --passphrase-file FILE its first line is the passphrase\n"              \
    "  --key-file FILE        32 bytes, or 64 hexadecimal digits, instead of " \
    "a\n"                                                                      \
    "                         passphrase; of several such options the first "  \
    "is\n"                                                                     \
    "                         used for calls, a listener takes them all.\n"    \
    "                         Without any: $PERIGEE_PASSPHRASE\n"

/**
 * @brief Takes an option by its name: passphrase, passphrase-file, key-file.
 * @param s     secrets
 * @param name  of the option
 * @param text  its value; copied
 * @param[out] wrong  NULL, or what the value must be
 * @return false when there is no such option
 */
bool secrets_option(struct secrets *s, const char *name, const char *text,
                    const char **wrong);
/** @brief Looks into the environment when there are none. @param s  secrets */
void secrets_finish(struct secrets *s);

/** @brief Callers that a listener turned away; zeroed at first. */
struct secrets_watch {
    uint64_t rejected;
    uint64_t due; /**< when to look again, ns of the monotonic clock */
};

/** @brief Whether it is time to look: once a second. @param w  watch
 * @return true: secrets_tell() should be called */
bool secrets_look(struct secrets_watch *w);
/** @brief Says so on standard error when there are more of them.
 * @param w  what was said before @param tool  whose message it is
 * @param rejected  so far, for a wrong passphrase or key or none */
void secrets_tell(struct secrets_watch *w, const char *tool, uint64_t rejected);

#endif /* TOOLS_SECRETS_H */
