/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/credentials/identities.h
 * @brief Static keys in options of tools and elements: one's own, a listener's,
 * and those of callers with their names.
 */
#ifndef SECRETS_IDENTITIES_H
#define SECRETS_IDENTITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tltcp/config.h>

#include "internal/credentials/key_file.h"

/** @brief Room for the name of a caller, or the beginning of its key. */
#define IDENTITIES_NAME_MAX 64u

/** @brief A caller that may be let in. */
struct identities_caller {
    uint8_t key[SECRETS_KEY_LEN];   /**< public key */
    char name[IDENTITIES_NAME_MAX]; /**< "": has none */
};

/** @brief Zeroed: none. End with secrets_identities_clear(). */
struct identities {
    bool has_secret;
    bool has_listener;
    bool has_callers;
    uint8_t secret[SECRETS_KEY_LEN];   /**< own */
    uint8_t listener[SECRETS_KEY_LEN]; /**< public key */
    struct identities_caller *caller;
    const uint8_t **list; /**< of their keys, NULL-terminated */
    size_t callers;
};

/** @brief Whether a name is one of the options. @param name  of an option */
bool secrets_identities_is_option(const char *name);
/**
 * @brief Processes an option: identity-file, listener-key, caller-keys.
 * @param ids   identities
 * @param name  of the option
 * @param text  its value
 * @return NULL, or what the value must be
 */
const char *secrets_identities_option(struct identities *ids, const char *name,
                                      const char *text);
/** @brief What is missing. @param ids  identities
 * @param listens  for a listener @return NULL: nothing */
const char *secrets_identities_wrong(const struct identities *ids,
                                     bool listens);
/** @brief Sets them in a config. Without caller keys no caller is accepted.
 * @param ids  must outlive the use of the config @param c  config */
void secrets_identities_to_config(const struct identities *ids,
                                  tltcp_config *c);
/** @brief The name of the holder of a key. @param ids  identities @param key
 * public key
 * @param[out] name  IDENTITIES_NAME_MAX bytes: its name, or how the key begins
 */
void secrets_identities_name(const struct identities *ids, const uint8_t *key,
                             char *name);
/** @brief Reads 64 hexadecimal digits. @param text  zero-terminated
 * @param[out] key  32 bytes @return false: it is something else */
bool secrets_identities_key(const char *text, uint8_t *key);
/** @brief Frees and wipes. @param ids  identities */
void secrets_identities_clear(struct identities *ids);

#endif /* SECRETS_IDENTITIES_H */
