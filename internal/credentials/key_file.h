/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/credentials/key_file.h
 * @brief Keys of 32 bytes as text and in files.
 */
#ifndef SECRETS_KEY_FILE_H
#define SECRETS_KEY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** @brief Bytes of a key. */
#define SECRETS_KEY_LEN ((size_t)32)

/** @brief What the path of a secret should be, but is not. */
#define SECRETS_UNREADABLE "a file that exists and that this user may read"

/**
 * @brief Reads a key of 64 hexadecimal digits.
 * @param text  digits
 * @param len   their number
 * @param[out] key  SECRETS_KEY_LEN bytes
 * @return false: that is no key
 */
bool secrets_key_of_hex(const char *text, size_t len, uint8_t *key);

/**
 * @brief Reads a file of 32 bytes, or of 64 hexadecimal digits on a line.
 * @param path  file
 * @param[out] key  SECRETS_KEY_LEN bytes
 * @return false: it cannot be read, or is no key
 */
bool secrets_key_of_file(const char *path, uint8_t *key);

/** @brief Why secrets_key_of_file() failed. @param path  file
 * @param otherwise  what its contents should be */
const char *secrets_key_why(const char *path, const char *otherwise);

#endif /* SECRETS_KEY_FILE_H */
