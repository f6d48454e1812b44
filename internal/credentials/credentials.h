/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/credentials/credentials.h
 * @brief Passphrases and keys in options of tools and elements: given directly,
 * where other users of the machine may see them; in files; or in the
 * environment.
 */
#ifndef SECRETS_SECRETS_H
#define SECRETS_SECRETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tltcp/config.h>

#include "internal/credentials/identities.h"
#include "internal/credentials/wipe.h"

/** @brief Maximum number of passphrases and keys. */
#define SECRETS_MAX 16u
/** @brief Environment variable with the passphrase if no option names a
 * secret. */
#define SECRETS_VARIABLE "PERIGEE_PASSPHRASE"

/** @brief Zeroed: none. Must not be copied or moved once it holds secrets. End
 * with secrets_clear(). */
struct secrets {
    const char *passphrase; /**< passphrase for calls, or NULL */
    const uint8_t *key;     /**< key for calls, 32 bytes, or NULL */
    const char *more_passphrases[SECRETS_MAX + 1]; /**< also accepted by
                                                        listeners */
    const uint8_t *more_keys[SECRETS_MAX + 1];     /**< likewise */
    char text[SECRETS_MAX][513];
    uint8_t bytes[SECRETS_MAX][SECRETS_KEY_LEN];
    unsigned texts;
    unsigned keys;
    struct identities identities; /**< static keys */
};

/** @brief Help text, in lines of at most 80 characters. */
#define SECRETS_HELP                                                           \
    "  --passphrase P         shared secret; other users of this machine\n"    \
    "                         can see it, so prefer a file\n"                  \
    "  --passphrase-file FILE\n"                                               \
    "                         its first line is the passphrase\n"              \
    "  --key-file FILE        32 bytes, or 64 hexadecimal digits, instead of " \
    "a\n"                                                                      \
    "                         passphrase. Of several such options, a caller\n" \
    "                         uses the first and a listener accepts all.\n"    \
    "                         Without any: $PERIGEE_PASSPHRASE\n"              \
    "  --identity-file FILE   own static key in the same format, the\n"        \
    "                         identity of this end\n"

/**
 * @brief Processes an option by name: passphrase, passphrase-file, key-file,
 * and those of secrets_identities_option().
 * @param s     secrets
 * @param name  of the option
 * @param text  its value; copied
 * @param[out] wrong  NULL, or what the value must be
 * @return false if there is no such option
 */
bool secrets_option(struct secrets *s, const char *name, const char *text,
                    const char **wrong);
/** @brief Reads the environment if there are no secrets. @param s  secrets */
void secrets_finish(struct secrets *s);
/**
 * @brief Sets the secrets in a config.
 * @param s  secrets, which must outlive the use of the config
 * @param c  config
 */
void secrets_to_config(const struct secrets *s, tltcp_config *c);
/** @brief Frees and wipes. @param s  secrets */
void secrets_clear(struct secrets *s);
#endif /* SECRETS_SECRETS_H */
