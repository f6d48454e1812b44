/* SPDX-License-Identifier: MPL-2.0 */
/* Controllers of idle connections, with less memory. */
#include "libtltcp/engine/cc_packed.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define WORD sizeof(uint32_t)
#define WORDS_MAX 1024u

/*   struct cong | a bit for each word that follows it | those that differ from
 *                                                       a new controller's */

/* Room for a new controller. */
typedef union fresh {
    struct cong cong;
    uint8_t bytes[sizeof(struct cong) + WORDS_MAX * WORD];
} fresh;

/* Makes a new controller, the same whenever it is made. */
static void cc_packed_begin(struct cong *cong, const struct cong_ops *ops) {
    cong_init(cong, ops, 1, (double)INFINITY, 0, -1);
}

static size_t words_of(const struct cong *cong) {
    return (cong->ops->size - sizeof(*cong)) / WORD;
}

static size_t bitmap_len(size_t words) {
    return (words + 7) / 8;
}

/* A word of the state behind struct cong. */
static const uint8_t *word_at(const struct cong *cong, size_t i) {
    return (const uint8_t *)(cong + 1) + i * WORD;
}

static bool is_built_in(const struct cong_ops *ops) {
    const char *const *name = cong_list();
    while (*name != NULL && strcmp(*name, ops->name) != 0) {
        name++;
    }
    return *name != NULL && cong_find(*name) == ops;
}

bool tltcp__packed_suits(const struct cong *cong) {
    return (cong->ops->size - sizeof(*cong)) % WORD == 0 &&
           words_of(cong) <= WORDS_MAX && is_built_in(cong->ops);
}

struct cong *tltcp__packed_new(const cmn__mem *mem, const struct cong *cong) {
    uint8_t bitmap[WORDS_MAX / 8] = {0};
    size_t words = words_of(cong);
    size_t kept = 0;
    struct cong *packed;
    uint8_t *to;
    fresh f;
    cc_packed_begin(&f.cong, cong->ops);
    for (size_t i = 0; i < words; i++) {
        if (memcmp(word_at(cong, i), word_at(&f.cong, i), WORD) != 0) {
            bitmap[i / 8] |= (uint8_t)(1u << i % 8);
            kept++;
        }
    }
    packed =
        cmn__resize(mem, NULL, sizeof(*cong) + bitmap_len(words) + kept * WORD);
    if (packed == NULL) {
        return NULL;
    }
    *packed = *cong;
    to = (uint8_t *)(packed + 1);
    memcpy(to, bitmap, bitmap_len(words));
    to += bitmap_len(words);
    for (size_t i = 0; i < words; i++) {
        if ((bitmap[i / 8] >> i % 8 & 1) != 0) {
            memcpy(to, word_at(cong, i), WORD);
            to += WORD;
        }
    }
    return packed;
}

struct cong *tltcp__packed_open(const cmn__mem *mem,
                                const struct cong *packed) {
    const uint8_t *bitmap = (const uint8_t *)(packed + 1);
    size_t words = words_of(packed);
    const uint8_t *from = bitmap + bitmap_len(words);
    struct cong *cong = cmn__resize(mem, NULL, packed->ops->size);
    if (cong == NULL) {
        return NULL;
    }
    cc_packed_begin(cong, packed->ops);
    *cong = *packed;
    for (size_t i = 0; i < words; i++) {
        if ((bitmap[i / 8] >> i % 8 & 1) != 0) {
            memcpy((uint8_t *)(cong + 1) + i * WORD, from, WORD);
            from += WORD;
        }
    }
    return cong;
}
