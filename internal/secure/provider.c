/* SPDX-License-Identifier: MPL-2.0 */
/* Functions of libcrypto's providers. */
#include "internal/secure/provider.h"

#include <stdbool.h>

/* names: those of one algorithm, separated by colons. */
static bool is_first(const char *names, const char *name) {
    while (*name != '\0' && *names == *name) {
        names++;
        name++;
    }
    return *name == '\0' && (*names == ':' || *names == '\0');
}

void sec__provider_find(const OSSL_PROVIDER *provider, int operation,
                        const char *name, sec__take_function *take, void *to) {
    int no_cache;
    const OSSL_ALGORITHM *all =
        OSSL_PROVIDER_query_operation(provider, operation, &no_cache);
    const OSSL_ALGORITHM *a = all;

    while (a != NULL && a->algorithm_names != NULL &&
           !is_first(a->algorithm_names, name)) {
        a++;
    }
    if (a != NULL && a->algorithm_names != NULL) {
        for (const OSSL_DISPATCH *d = a->implementation; d->function_id != 0;
             d++) {
            take(to, d);
        }
    }
    OSSL_PROVIDER_unquery_operation(provider, operation, all);
}
