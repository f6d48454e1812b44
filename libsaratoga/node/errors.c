/* SPDX-License-Identifier: MPL-2.0 */
/* Errors of the node as status codes, API errors and text. */
#include "libsaratoga/node/errors.h"

#include <errno.h>

#include <saratoga/types.h>
#include <uv.h>

unsigned saratoga__status_of(int error, unsigned otherwise) {
    switch (error) {
    case UV_ENOENT:
    case UV_ENOTDIR:
        return SARATOGA_NOT_FOUND;
    case UV_ENAMETOOLONG: /* no such file can be there, nor be made */
        return otherwise == SARATOGA_CANNOT_RECEIVE
                   ? SARATOGA_DENIED(SARATOGA_DENIED_NAME)
                   : (unsigned)SARATOGA_NOT_FOUND;
    case UV_EACCES:
    case UV_EPERM:
        return SARATOGA_DENIED(SARATOGA_DENIED_FILES);
    case UV_EISDIR:
        return SARATOGA_DENIED(SARATOGA_DENIED_FOLDER);
    case UV_EROFS:
        return SARATOGA_DENIED(SARATOGA_DENIED_READ_ONLY);
    case SARATOGA__EXISTS:
        return SARATOGA_DENIED(SARATOGA_DENIED_EXISTS);
    case SARATOGA__BAD_NAME:
        return SARATOGA_DENIED(SARATOGA_DENIED_NAME);
    case UV_EBUSY:
        return SARATOGA_IN_USE;
    case UV_EFBIG:
        return SARATOGA_TOO_LONG;
    default:
        return otherwise;
    }
}

int saratoga__error_of(int error) {
    switch (error) {
    case 0:
        return 0;
    case UV_ENOSPC:
    case UV_EFBIG:
    case SARATOGA__OVER_QUOTA:
#if defined(EDQUOT)
    case -EDQUOT:
#endif
        return SARATOGA_ERR_NO_SPACE;
    case UV_ENOMEM:
        return SARATOGA_ERR_NOMEM;
    case UV_ECANCELED:
        return SARATOGA_ERR_CANCELLED;
    case SARATOGA__CHANGED:
        return SARATOGA_ERR_CHANGED;
    case SARATOGA__BAD_SUM:
        return SARATOGA_ERR_CHECKSUM;
    default:
        return SARATOGA_ERR_IO;
    }
}

const char *saratoga__error_text(int error) {
    switch (error) {
    case SARATOGA__EXISTS:
        return "a file of that name is there already";
    case SARATOGA__CHANGED:
        return "the file has changed";
    case SARATOGA__BAD_SUM:
        return "the checksum is wrong";
    case UV_EACCES:
        return "permission denied, or the path leads out of the folder";
    case UV_EISDIR:
        return "that is a folder";
    case UV_EBUSY:
        return "another transfer is writing that file";
    case SARATOGA__OVER_QUOTA:
        return "the quota is used up";
    case SARATOGA__BAD_NAME:
        return "the peer gives the file a hidden or unprintable name";
    case SARATOGA__NO_GROUP:
        return "that is not a multicast address";
    case SARATOGA__IN_GROUP:
        return "the node has joined another one";
    case UV_EAI_NONAME:
        return "there is no such host or port";
    default:
        return uv_strerror(error);
    }
}
