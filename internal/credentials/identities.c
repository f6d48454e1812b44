/* SPDX-License-Identifier: MPL-2.0 */
/* Reads static keys from options and files. */
#include "internal/credentials/identities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal/credentials/key_file.h"
#include "internal/credentials/wipe.h"

#define SPACE " \t"
#define LINE_ROOM 512

#define BAD_FILE "a file of 32 bytes or 64 hexadecimal digits, the secret key"
#define BAD_KEY "64 hexadecimal digits, the listener's public key"
#define BAD_CALLERS                                                  \
    "a file whose lines have a public key of 64 hexadecimal digits " \
    "and a name"

bool secrets_identities_key(const char *text, uint8_t *key) {
    return secrets_key_of_hex(text, strlen(text), key);
}

static const char *read_secret(struct identities *ids, const char *path) {
    ids->has_secret = secrets_key_of_file(path, ids->secret);
    return ids->has_secret ? NULL : secrets_key_why(path, BAD_FILE);
}

static const char *take_listener(struct identities *ids, const char *text) {
    ids->has_listener = secrets_identities_key(text, ids->listener);
    return ids->has_listener ? NULL : BAD_KEY;
}

static bool add_caller(struct identities *ids, const char *key, size_t key_len,
                       const char *name) {
    struct identities_caller *grown = realloc(
        ids->caller, (ids->callers + 1) * sizeof(struct identities_caller));
    if (!grown) {
        return false;
    }
    ids->caller = grown;
    if (!secrets_key_of_hex(key, key_len, grown[ids->callers].key)) {
        return false;
    }
    (void)snprintf(grown[ids->callers].name, IDENTITIES_NAME_MAX, "%s", name);
    ids->callers++;
    return true;
}

static bool take_line(struct identities *ids, char *line) {
    char *key = line + strspn(line, SPACE);
    size_t len;
    key[strcspn(key, "\r\n")] = '\0';
    if (*key == '\0' || *key == '#') {
        return true;
    }
    len = strcspn(key, SPACE);
    return add_caller(ids, key, len, key + len + strspn(key + len, SPACE));
}

static bool make_list(struct identities *ids) {
    const uint8_t **list =
        realloc((void *)ids->list, (ids->callers + 1) * sizeof(*list));
    if (!list) {
        return false;
    }
    for (size_t i = 0; i < ids->callers; i++) {
        list[i] = ids->caller[i].key;
    }
    list[ids->callers] = NULL;
    ids->list = list;
    return true;
}

static const char *read_callers(struct identities *ids, const char *path) {
    char line[LINE_ROOM];
    FILE *f = fopen(path, "re");
    bool ok = f != NULL;
    while (ok && fgets(line, sizeof(line), f)) {
        ok = take_line(ids, line);
    }
    if (f) {
        ok = ok && !ferror(f); /* as a folder is, which can be opened */
        (void)fclose(f);
    }
    ids->has_callers = ok && make_list(ids);
    return ids->has_callers ? NULL : secrets_key_why(path, BAD_CALLERS);
}

static const struct {
    const char *name;
    const char *(*take)(struct identities *ids, const char *text);
} options[] = {{"identity-file", read_secret},
               {"listener-key", take_listener},
               {"caller-keys", read_callers}};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

bool secrets_identities_is_option(const char *name) {
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strcmp(options[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

const char *secrets_identities_option(struct identities *ids, const char *name,
                                      const char *text) {
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strcmp(options[i].name, name) == 0) {
            return options[i].take(ids, text);
        }
    }
    return "of another name";
}

const char *secrets_identities_wrong(const struct identities *ids,
                                     bool listens) {
    if (!ids->has_secret) {
        return ids->has_listener || ids->has_callers
                   ? "listener-key and caller-keys need identity-file"
                   : NULL;
    }
    if (listens) {
        return ids->has_callers
                   ? NULL
                   : "with identity-file a listener needs caller-keys";
    }
    return ids->has_listener ? NULL
                             : "with identity-file a caller needs listener-key";
}

void secrets_identities_to_config(const struct identities *ids,
                                  tltcp_config *c) {
    static const uint8_t *const nobody[] = {NULL};
    if (ids->has_secret) {
        c->identity.secret = ids->secret;
        c->identity.listener = ids->has_listener ? ids->listener : NULL;
        c->identity.callers =
            ids->has_callers ? (const uint8_t *const *)ids->list : nobody;
    }
}

void secrets_identities_name(const struct identities *ids, const uint8_t *key,
                             char *name) {
    for (size_t i = 0; i < ids->callers; i++) {
        const struct identities_caller *c = &ids->caller[i];
        if (memcmp(c->key, key, SECRETS_KEY_LEN) == 0 && c->name[0]) {
            (void)snprintf(name, IDENTITIES_NAME_MAX, "%s", c->name);
            return;
        }
    }
    for (size_t i = 0; i < 8; i++) {
        (void)snprintf(name + 2 * i, 3, "%02x", key[i]);
    }
}

void secrets_identities_clear(struct identities *ids) {
    free(ids->caller);
    free((void *)ids->list);
    secrets_wipe(ids, sizeof(*ids));
}
