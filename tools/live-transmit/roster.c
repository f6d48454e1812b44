/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/live-transmit/roster.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal/credentials/credentials.h"
#include "tltcp/live_parts.h"

#define PASSPHRASE_MIN 8u
#define PASSPHRASE_MAX 512u
#define LINE_ROOM (TLTCP_STREAM_ID_MAX + PASSPHRASE_MAX + 16)
#define SPACE " \t"
#define KEY_MARK "key:"

#define UNKNOWN "no stream of that name here"
#define NOT_HIS "this stream has another passphrase"
#define NOT_THIS_KEY "this stream is for another static key"
#define TAKEN TLTCP_LIVE_BUSY " of this stream"

struct roster_line {
    char id[TLTCP_STREAM_ID_MAX + 1];
    unsigned secret;              /* place in the list of passphrases */
    uint8_t key[SECRETS_KEY_LEN]; /* static public key of its caller */
    bool is_taken;
    bool is_revoked; /* the caller that is there has another key */
};

/* What tells callers apart; the same in all lines. */
enum roster_kind {
    ROSTER_EMPTY,
    ROSTER_PLAIN,
    ROSTER_PASSPHRASES,
    ROSTER_KEYS
};

/* What a file says. */
struct roster_page {
    struct roster_line *line;
    size_t lines;
    char (*text)[PASSPHRASE_MAX + 1]; /* SECRETS_MAX of them */
    unsigned texts;
    enum roster_kind kind;
};

struct roster {
    const char *path;
    pthread_mutex_t lock;
    struct roster_page page;
    const char *more[SECRETS_MAX + 1]; /* all passphrases but the first */
};

static void page_clear(struct roster_page *p) {
    if (p->text) {
        secrets_wipe(p->text, SECRETS_MAX * sizeof(*p->text));
    }
    free(p->text);
    free(p->line);
    *p = (struct roster_page){0};
}

static struct roster_line *find(const struct roster_page *p, const char *id) {
    for (size_t i = 0; i < p->lines; i++) {
        if (strcmp(p->line[i].id, id) == 0) {
            return &p->line[i];
        }
    }
    return NULL;
}

/* --- Reading -------------------------------------------------------------- */

/* The place of a passphrase in the list, where it is added when it is new. */
static const char *take_passphrase(struct roster_page *p, const char *text,
                                   unsigned *place) {
    size_t len = strlen(text);
    if (len < PASSPHRASE_MIN || len > PASSPHRASE_MAX) {
        return "a passphrase has 8 to 512 bytes";
    }
    for (*place = 0; *place < p->texts; (*place)++) {
        if (strcmp(p->text[*place], text) == 0) {
            return NULL;
        }
    }
    if (p->texts == SECRETS_MAX) {
        return "at most 16 different passphrases are allowed";
    }
    memcpy(p->text[p->texts++], text, len + 1);
    return NULL;
}

static struct roster_line *add_line(struct roster_page *p) {
    struct roster_line *grown =
        realloc(p->line, (p->lines + 1) * sizeof(*p->line));
    if (!grown) {
        return NULL;
    }
    p->line = grown;
    grown[p->lines] = (struct roster_line){0};
    return &grown[p->lines++];
}

static const char *take_kind(struct roster_page *p, enum roster_kind kind) {
    if (p->kind == ROSTER_EMPTY) {
        p->kind = kind;
    }
    if (p->kind == kind) {
        return NULL;
    }
    if (p->kind == ROSTER_KEYS || kind == ROSTER_KEYS) {
        return "either every line has a static key, or none has";
    }
    return kind == ROSTER_PLAIN
               ? "the passphrase is missing"
               : "either every line has a passphrase, or none has";
}

/* What is behind the stream id. */
static const char *take_secret(struct roster_page *p, struct roster_line *line,
                               const char *text) {
    bool is_key = strncmp(text, KEY_MARK, strlen(KEY_MARK)) == 0;
    const char *wrong = take_kind(p, !*text   ? ROSTER_PLAIN
                                     : is_key ? ROSTER_KEYS
                                              : ROSTER_PASSPHRASES);
    if (wrong || !*text) {
        return wrong;
    }
    if (!is_key) {
        return take_passphrase(p, text, &line->secret);
    }
    return secrets_identities_key(text + strlen(KEY_MARK), line->key)
               ? NULL
               : "a static public key has 64 hexadecimal digits";
}

static const char *take_caller(struct roster_page *p, const char *id,
                               const char *secret) {
    struct roster_line *line;
    if (strlen(id) > TLTCP_STREAM_ID_MAX) {
        return "a stream id has at most 512 bytes";
    }
    if (find(p, id)) {
        return "an earlier line has this stream id";
    }
    line = add_line(p);
    if (!line) {
        return "out of memory";
    }
    memcpy(line->id, id, strlen(id) + 1);
    return take_secret(p, line, secret);
}

static const char *take_line(struct roster_page *p, char *line) {
    char *id = line + strspn(line, SPACE);
    char *secret;
    size_t len;
    line[strcspn(line, "\r\n")] = '\0';
    if (*id == '\0' || *id == '#') {
        return NULL;
    }
    len = strcspn(id, SPACE);
    secret = id + len + strspn(id + len, SPACE);
    id[len] = '\0';
    return take_caller(p, id, secret);
}

static bool read_lines(struct roster_page *p, FILE *f, const char *path,
                       char *why) {
    char line[LINE_ROOM];
    const char *wrong = NULL;
    unsigned number = 0;
    while (!wrong && fgets(line, sizeof(line), f)) {
        number++;
        wrong = strlen(line) + 1 == sizeof(line) ? "the line is too long"
                                                 : take_line(p, line);
    }
    if (wrong) {
        (void)snprintf(why, ROSTER_WHY_MAX, "%s, line %u: %s", path, number,
                       wrong);
    } else if (ferror(f)) {
        (void)snprintf(why, ROSTER_WHY_MAX, "%s: %s", path, strerror(errno));
    }
    secrets_wipe(line, sizeof(line));
    return !wrong && !ferror(f);
}

static bool page_read(struct roster_page *p, const char *path, char *why) {
    FILE *f = fopen(path, "re");
    bool ok = false;
    p->text = calloc(SECRETS_MAX, sizeof(*p->text));
    if (!f || !p->text) {
        (void)snprintf(why, ROSTER_WHY_MAX, "%s: %s", path,
                       f ? "out of memory" : strerror(errno));
    } else {
        ok = read_lines(p, f, path, why);
    }
    if (f) {
        (void)fclose(f);
    }
    if (!ok) {
        page_clear(p);
    }
    return ok;
}

struct roster *roster_read(const char *path, char *why) {
    struct roster *r = calloc(1, sizeof(*r));
    if (!r) {
        (void)snprintf(why, ROSTER_WHY_MAX, "out of memory");
        return NULL;
    }
    (void)pthread_mutex_init(&r->lock, NULL);
    r->path = path;
    if (!page_read(&r->page, path, why)) {
        roster_free(r);
        return NULL;
    }
    for (unsigned i = 1; i < r->page.texts; i++) {
        r->more[i - 1] = r->page.text[i];
    }
    return r;
}

void roster_free(struct roster *r) {
    if (r) {
        (void)pthread_mutex_destroy(&r->lock);
        page_clear(&r->page);
        free(r);
    }
}

bool roster_has_secrets(const struct roster *r) {
    return r->page.texts > 0;
}

bool roster_has_keys(const struct roster *r) {
    return r->page.kind == ROSTER_KEYS;
}

void roster_to_config(const struct roster *r, tltcp_config *c) {
    if (roster_has_secrets(r)) {
        c->passphrase = r->page.text[0];
        c->listener.more_passphrases = r->more;
    }
    if (roster_has_keys(r)) {
        c->identity.callers = NULL; /* roster_objection() decides */
    }
}

/* Gives the lines of a new page the places that the listener knows. */
static bool translate(const struct roster_page *known, struct roster_page *p) {
    for (size_t i = 0; i < p->lines && p->texts > 0; i++) {
        const char *text = p->text[p->line[i].secret];
        unsigned at = 0;
        while (at < known->texts && strcmp(known->text[at], text) != 0) {
            at++;
        }
        if (at == known->texts) {
            return false;
        }
        p->line[i].secret = at;
    }
    return true;
}

bool roster_reread(struct roster *r, char *why) {
    struct roster_page p = {0};
    struct roster_line *old;
    if (!page_read(&p, r->path, why)) {
        return false;
    }
    if (!translate(&r->page, &p) || (p.lines > 0 && p.kind != r->page.kind)) {
        (void)snprintf(why, ROSTER_WHY_MAX,
                       "%s: new passphrases, and lines without any, take "
                       "effect only after a restart",
                       r->path);
        page_clear(&p);
        return false;
    }
    (void)pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < p.lines; i++) {
        old = find(&r->page, p.line[i].id);
        p.line[i].is_taken = old && old->is_taken;
        p.line[i].is_revoked =
            p.line[i].is_taken &&
            (old->is_revoked ||
             memcmp(old->key, p.line[i].key, sizeof(p.line[i].key)) != 0);
    }
    old = r->page.line;
    r->page.line = p.line;
    r->page.lines = p.lines;
    (void)pthread_mutex_unlock(&r->lock);
    free(old);
    p.line = NULL;
    page_clear(&p);
    return true;
}

/* --- Callers -------------------------------------------------------------- */

const char *roster_objection(struct roster *r, const tltcp_caller *caller) {
    const struct roster_line *line;
    const char *no = NULL;
    (void)pthread_mutex_lock(&r->lock);
    line = find(&r->page, caller->stream_id);
    if (!line) {
        no = UNKNOWN;
    } else if (r->page.texts > 0 && line->secret != caller->secret) {
        no = NOT_HIS;
    } else if (r->page.kind == ROSTER_KEYS &&
               (!caller->identity ||
                memcmp(line->key, caller->identity, sizeof(line->key)) != 0)) {
        no = NOT_THIS_KEY;
    } else if (line->is_taken) {
        no = TAKEN;
    }
    (void)pthread_mutex_unlock(&r->lock);
    return no;
}

const char *roster_enter(struct roster *r, const char *stream_id) {
    struct roster_line *line;
    const char *no = NULL;
    (void)pthread_mutex_lock(&r->lock);
    line = find(&r->page, stream_id);
    if (!line) {
        no = UNKNOWN;
    } else if (line->is_taken) {
        no = TAKEN;
    } else {
        line->is_taken = true;
    }
    (void)pthread_mutex_unlock(&r->lock);
    return no;
}

void roster_leave(struct roster *r, const char *stream_id) {
    struct roster_line *line;
    (void)pthread_mutex_lock(&r->lock);
    line = find(&r->page, stream_id);
    if (line) {
        line->is_taken = false;
        line->is_revoked = false;
    }
    (void)pthread_mutex_unlock(&r->lock);
}

bool roster_has(struct roster *r, const char *stream_id) {
    const struct roster_line *line;
    bool has;
    (void)pthread_mutex_lock(&r->lock);
    line = find(&r->page, stream_id);
    has = line && !line->is_revoked;
    (void)pthread_mutex_unlock(&r->lock);
    return has;
}
