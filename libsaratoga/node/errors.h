/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_ERRORS_H
#define LIBSARATOGA_NODE_ERRORS_H

/* Errors of the node in addition to UV_E..., and their form on the wire, in the
 * API and as text. */

#define SARATOGA__CHANGED (-20001)    /* the file has changed */
#define SARATOGA__EXISTS (-20002)     /* the target already exists */
#define SARATOGA__BAD_SUM (-20003)    /* the checksum is wrong */
#define SARATOGA__OVER_QUOTA (-20004) /* the quota for peers is used up */
#define SARATOGA__BAD_NAME (-20005)   /* the peer's name for the file */
#define SARATOGA__NO_GROUP (-20006)   /* not a multicast address */
#define SARATOGA__IN_GROUP (-20007)   /* a node can join only one group */

/* The status code on the wire; `otherwise` if none fits. */
unsigned saratoga__status_of(int error, unsigned otherwise);
const char *saratoga__error_text(int error);
/* As a saratoga_error. */
int saratoga__error_of(int error);

#endif /* LIBSARATOGA_NODE_ERRORS_H */
