/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_PROVIDER_H
#define SECURE_PROVIDER_H

#include <openssl/core.h>
#include <openssl/provider.h>

/* Takes one function of an algorithm. */
typedef void sec__take_function(void *to, const OSSL_DISPATCH *function);

/* Passes the functions that a provider has for an operation, such as
 * OSSL_OP_CIPHER, by the algorithm of that name. */
void sec__provider_find(const OSSL_PROVIDER *provider, int operation,
                        const char *name, sec__take_function *take, void *to);

#endif /* SECURE_PROVIDER_H */
