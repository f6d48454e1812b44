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

#define UNKNOWN "no stream of that name here"
#define NOT_HIS "this stream has another passphrase"
#define TAKEN TLTCP_LIVE_BUSY " of this stream"

struct roster_line {
    char id[TLTCP_STREAM_ID_MAX + 1];
    unsigned secret; /* place in the list of passphrases */
    bool is_taken;
};

/* What a file says. */
struct roster_page {
    struct roster_line *line;
    size_t lines;
    char (*text)[PASSPHRASE_MAX + 1]; /* SECRETS_MAX of them */
    unsigned texts;
    bool plain; /* there are lines without a passphrase */
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
        return "there may be 16 different passphrases at most";
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

static const char *take_caller(struct roster_page *p, const char *id,
                               const char *passphrase) {
    struct roster_line *line;
    if (strlen(id) > TLTCP_STREAM_ID_MAX) {
        return "a stream id has 512 bytes at most";
    }
    if (find(p, id)) {
        return "this stream id is there already";
    }
    line = add_line(p);
    if (!line) {
        return "out of memory";
    }
    memcpy(line->id, id, strlen(id) + 1);
    if (*passphrase) {
        return p->plain ? "passphrases are for all lines or for none"
                        : take_passphrase(p, passphrase, &line->secret);
    }
    p->plain = true;
    return p->texts > 0 ? "the passphrase is missing" : NULL;
}

static const char *take_line(struct roster_page *p, char *line) {
    char *id = line + strspn(line, SPACE);
    char *passphrase;
    size_t len;
    line[strcspn(line, "\r\n")] = '\0';
    if (*id == '\0' || *id == '#') {
        return NULL;
    }
    len = strcspn(id, SPACE);
    passphrase = id + len + strspn(id + len, SPACE);
    id[len] = '\0';
    return take_caller(p, id, passphrase);
}

static const char *read_lines(struct roster_page *p, FILE *f,
                              unsigned *number) {
    char line[LINE_ROOM];
    const char *wrong = NULL;
    for (*number = 1; !wrong && fgets(line, sizeof(line), f); (*number)++) {
        wrong = strlen(line) + 1 == sizeof(line) ? "the line is too long"
                                                 : take_line(p, line);
    }
    secrets_wipe(line, sizeof(line));
    (*number)--;
    return wrong;
}

static bool page_read(struct roster_page *p, const char *path, char *why) {
    FILE *f = fopen(path, "re");
    const char *wrong = NULL;
    unsigned number = 0;
    p->text = calloc(SECRETS_MAX, sizeof(*p->text));
    if (!f || !p->text) {
        (void)snprintf(why, ROSTER_WHY_MAX, "%s: %s", path,
                       f ? "out of memory" : strerror(errno));
    } else {
        wrong = read_lines(p, f, &number);
    }
    if (wrong) {
        (void)snprintf(why, ROSTER_WHY_MAX, "%s, line %u: %s", path, number,
                       wrong);
    }
    if (f) {
        (void)fclose(f);
    }
    if (!f || !p->text || wrong) {
        page_clear(p);
        return false;
    }
    return true;
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

void roster_to_config(const struct roster *r, tltcp_config *c) {
    if (roster_has_secrets(r)) {
        c->passphrase = r->page.text[0];
        c->listener.more_passphrases = r->more;
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
    if (!translate(&r->page, &p) ||
        (p.texts == 0 && p.lines > 0 && r->page.texts > 0)) {
        (void)snprintf(why, ROSTER_WHY_MAX,
                       "%s: new passphrases, and lines without one, need a "
                       "restart",
                       r->path);
        page_clear(&p);
        return false;
    }
    (void)pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < p.lines; i++) {
        old = find(&r->page, p.line[i].id);
        p.line[i].is_taken = old && old->is_taken;
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

const char *roster_objection(struct roster *r, const char *stream_id,
                             unsigned secret) {
    const struct roster_line *line;
    const char *no = NULL;
    (void)pthread_mutex_lock(&r->lock);
    line = find(&r->page, stream_id);
    if (!line) {
        no = UNKNOWN;
    } else if (r->page.texts > 0 && line->secret != secret) {
        no = NOT_HIS;
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
    }
    (void)pthread_mutex_unlock(&r->lock);
}

bool roster_has(struct roster *r, const char *stream_id) {
    bool has;
    (void)pthread_mutex_lock(&r->lock);
    has = find(&r->page, stream_id) != NULL;
    (void)pthread_mutex_unlock(&r->lock);
    return has;
}
