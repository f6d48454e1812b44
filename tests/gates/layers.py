# SPDX-License-Identifier: MPL-2.0
"""Which folder of the tree may use which: the table of CONTRIBUTING.md."""
import re

PUBLIC = {"include/congestion", "include/tltcp", "include/saratoga"}
MEDIA = {"internal/media/codec", "internal/media/stream"}
LIBC = {"assert.h", "inttypes.h", "limits.h", "stdbool.h", "stddef.h",
        "stdint.h", "stdlib.h", "string.h"}
MATHS = {"float.h", "math.h"}
SOCKETS = {"sys/socket.h", "sys/types.h", "sys/uio.h",
           "basetsd.h", "winsock2.h", "ws2tcpip.h"}
ANY = None  # every header from outside the tree, but those of RESERVED

# Folder: folders of the tree that it may include beside itself, and headers
# from outside.  Folders not named here, the tests, may look anywhere.
LAYERS = {
    "include/congestion": (set(), LIBC),
    "include/tltcp": (set(), LIBC | SOCKETS),
    "include/saratoga": (set(), LIBC),
    "internal/common": (set(), LIBC),
    "internal/secure": ({"internal/common"}, LIBC),
    "internal/net": ({"internal/common"}, ANY),
    "internal/media/codec": (set(), LIBC),
    "internal/media/stream": ({"internal/common", "internal/media/codec",
                               "include/tltcp"},
                              LIBC | {"stdarg.h", "stdio.h"}),
    "internal/credentials": ({"include/tltcp"}, ANY),
    "internal/settings": (set(), ANY),
    "libcongestion": ({"include/congestion", "internal/common"}, LIBC | MATHS),
    "libtltcp/engine": ({"include/tltcp", "include/congestion",
                         "internal/common", "internal/secure"}, LIBC | MATHS),
    "libtltcp/tcp": ({"internal/net"}, ANY),
    "libtltcp/socket": (PUBLIC | {"internal/common", "internal/net",
                                  "internal/secure", "libtltcp/tcp"}, ANY),
    "libtltcp/live": (PUBLIC | MEDIA | {"internal/common",
                                        "internal/credentials",
                                        "internal/settings"}, ANY),
    "libtltcp/avio": (PUBLIC, ANY),
    "libsaratoga/engine": ({"include/saratoga", "include/congestion",
                            "internal/common"}, LIBC | MATHS),
    "libsaratoga/node": (PUBLIC | {"internal/common", "internal/net",
                                   "internal/secure"}, ANY),
    "gst-plugins": (PUBLIC | MEDIA | {"internal/credentials"}, ANY),
    # linkem puts the simulator's model of a link between real sockets.
    "tools": (PUBLIC | MEDIA | {"internal/credentials", "internal/settings",
                                "sim"}, ANY),
    "integrations": (PUBLIC, ANY),
    "examples": (PUBLIC, ANY),
    "bench": (PUBLIC | MEDIA | {"sim"}, ANY),
    "sim": (PUBLIC | {"internal/common", "internal/settings"}, ANY),
}
LIBRARIES = {layer for layer in LAYERS
             if layer.startswith(("internal/", "lib"))} - {
                 "libtltcp/socket"}

# Folder: folders whose functions it may call beside its own and those of
# folders that these may call.
ENGINES = {"libtltcp/engine", "libsaratoga/engine"}
CALLS = {
    "internal/common": set(),
    "internal/credentials": set(),
    "internal/settings": set(),
    "internal/media/codec": set(),
    "internal/media/stream": {"internal/common", "internal/media/codec"},
    "internal/net": {"internal/common"},
    "internal/secure": {"internal/common"},
    "libcongestion": {"internal/common"},
    "libtltcp/engine": {"internal/secure", "libcongestion"},
    "libtltcp/tcp": {"internal/net"},
    "libtltcp/socket": {"internal/net", "libtltcp/engine", "libtltcp/tcp"},
    "libtltcp/live": {"internal/media/stream", "internal/credentials",
                      "internal/settings", "libtltcp/socket"},
    "libtltcp/avio": {"libtltcp/live"},
    "libsaratoga/engine": {"internal/secure", "libcongestion"},
    "libsaratoga/node": {"internal/net", "libsaratoga/engine"},
    "gst-plugins": {"libtltcp/live"},
    "sim": {"internal/settings", "libtltcp/engine", "libsaratoga/engine"},
    "tools": {"libtltcp/live", "libsaratoga/node", "sim"},
    "examples": {"libtltcp/avio", "libsaratoga/node"},
    "bench": {"libtltcp/live", "libsaratoga/node", "sim"},
    "integrations": {"libtltcp/live", "libsaratoga/node"},
}


def below(layer):
    """The folders whose functions a folder may call, itself among them."""
    found, open_ = set(), [layer]
    while open_:
        folder = open_.pop()
        if folder not in found:
            found.add(folder)
            open_ += CALLS.get(folder, ())
    return found


def may_call(source, other):
    layer = layer_of(source)
    return layer is None or layer_of(other) in below(layer)


def layer_of(path):
    for folder in sorted(LAYERS, key=len, reverse=True):
        if path.startswith(folder + "/"):
            return folder
    return None


def module_of(path):
    """What must not depend on itself: in the libraries a source and its header
    together, elsewhere every header.

    A header that splits a module's own files is part of that module.
    """
    if layer_of(path) in LIBRARIES or path.endswith(".h"):
        return re.sub(r"(_impl|_internal)?\.[ch]$", "", path)
    return path


def circles(edges):
    state, found = {}, []

    def visit(module, path):
        if state.get(module) == 1:
            ring = path[path.index(module):] + [module]
            found.append("circle: " + " -> ".join(ring))
        elif module not in state:
            state[module] = 1
            for other in sorted(edges.get(module, ())):
                visit(other, path + [module])
            state[module] = 2

    for module in sorted(edges):
        visit(module, [])
    return found
