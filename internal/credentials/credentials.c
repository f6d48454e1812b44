/* SPDX-License-Identifier: MPL-2.0 */
/* Reads passphrases and keys from options, files and the environment. */
#include "internal/credentials/credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal/credentials/key_file.h"

#define BAD_PASSPHRASE \
    "a file whose first line is a passphrase of 8 to 512 bytes"
/* Its first line is the same for everybody. */
#define PEM "-----BEGIN "
#define PEM_PASSPHRASE "a file with a passphrase, not a key in PEM format"
#define BAD_KEY "a file of 32 bytes or 64 hexadecimal digits, the key"

static bool has_own(const struct secrets *s) {
    return s->passphrase || s->key;
}

static bool is_full(const struct secrets *s) {
    return s->texts + s->keys >= SECRETS_MAX;
}

static void add_to(const void **list, const void *secret) {
    while (*list) {
        list++;
    }
    *list = secret;
}

/* The first is used for calls; the others are accepted from callers. */
static void add_passphrase(struct secrets *s) {
    const char *text = s->text[s->texts++];
    if (has_own(s)) {
        add_to((const void **)s->more_passphrases, text);
    } else {
        s->passphrase = text;
    }
}

static void add_key(struct secrets *s) {
    const uint8_t *key = s->bytes[s->keys++];
    if (has_own(s)) {
        add_to((const void **)s->more_keys, key);
    } else {
        s->key = key;
    }
}

static const char *set_passphrase(struct secrets *s, const char *text) {
    if (strlen(text) >= sizeof(s->text[0])) {
        return "8 to 512 bytes";
    }
    (void)snprintf(s->text[s->texts], sizeof(s->text[0]), "%s", text);
    s->passphrase = NULL; /* the last one given directly replaces the others */
    s->key = NULL;
    add_passphrase(s);
    return NULL;
}

static const char *keep_passphrase(struct secrets *s, char *line) {
    line[strcspn(line, "\r\n")] = '\0';
    if (strlen(line) < 8 || strlen(line) >= sizeof(s->text[0])) {
        return BAD_PASSPHRASE;
    }
    if (strncmp(line, PEM, strlen(PEM)) == 0) {
        return PEM_PASSPHRASE;
    }
    memcpy(s->text[s->texts], line, strlen(line) + 1);
    add_passphrase(s);
    return NULL;
}

static const char *read_passphrase(struct secrets *s, const char *path) {
    char line[sizeof(s->text[0]) + 2];
    FILE *f = fopen(path, "re");
    const char *wrong = BAD_PASSPHRASE;
    if (!f) {
        return SECRETS_UNREADABLE;
    }
    if (fgets(line, sizeof(line), f)) {
        wrong = keep_passphrase(s, line);
    }
    (void)fclose(f);
    secrets_wipe(line, sizeof(line));
    return wrong;
}

static const char *read_key(struct secrets *s, const char *path) {
    if (!secrets_key_of_file(path, s->bytes[s->keys])) {
        return secrets_key_why(path, BAD_KEY);
    }
    add_key(s);
    return NULL;
}

bool secrets_option(struct secrets *s, const char *name, const char *text,
                    const char **wrong) {
    static const struct {
        const char *name;
        const char *(*take)(struct secrets *s, const char *text);
    } table[] = {{"passphrase", set_passphrase},
                 {"passphrase-file", read_passphrase},
                 {"key-file", read_key}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].name, name) == 0) {
            *wrong = is_full(s) ? "one of at most 16 passphrases and keys"
                                : table[i].take(s, text);
            return true;
        }
    }
    if (secrets_identities_is_option(name)) {
        *wrong = secrets_identities_option(&s->identities, name, text);
        return true;
    }
    return false;
}

void secrets_finish(struct secrets *s) {
    const char *text = getenv(SECRETS_VARIABLE);
    if (!has_own(s) && text && text[0] != '\0') {
        (void)set_passphrase(s, text);
    }
}

void secrets_to_config(const struct secrets *s, tltcp_config *c) {
    c->passphrase = s->passphrase;
    c->key = s->key;
    c->key_len = s->key ? sizeof(s->bytes[0]) : 0;
    if (has_own(s)) {
        c->listener.more_passphrases = s->more_passphrases;
        c->listener.more_keys = s->more_keys;
    }
    secrets_identities_to_config(&s->identities, c);
}

void secrets_clear(struct secrets *s) {
    secrets_identities_clear(&s->identities);
    secrets_wipe(s, sizeof(*s));
}
