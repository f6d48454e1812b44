#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses includes that cross the layers, and modules in a circle.

usage: includes.py [TREE]
"""
import pathlib
import re
import sys

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)', re.M)
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
    "internal/media/stream": ({"internal/media/codec", "include/tltcp"},
                              LIBC | {"stdarg.h", "stdio.h"}),
    "internal/credentials": ({"include/tltcp"}, ANY),
    "libcongestion": ({"include/congestion", "internal/common"}, LIBC | MATHS),
    "libtltcp/engine": ({"include/tltcp", "include/congestion",
                         "internal/common", "internal/secure"}, LIBC | MATHS),
    "libtltcp/socket": (PUBLIC | {"internal/common", "internal/net",
                                  "internal/secure"}, ANY),
    "libtltcp/live": (PUBLIC | MEDIA, ANY),
    "libtltcp/avio": (PUBLIC | {"libtltcp/live"} | MEDIA, ANY),
    "libsaratoga/engine": ({"include/saratoga", "include/congestion",
                            "internal/common"}, LIBC | MATHS),
    "libsaratoga/node": (PUBLIC | {"internal/common", "internal/net",
                                   "internal/secure"}, ANY),
    "gst-plugins": (PUBLIC | MEDIA | {"internal/credentials"}, ANY),
    # linkem puts the simulator's model of a link between real sockets.
    "tools": (PUBLIC | MEDIA | {"internal/credentials", "libtltcp/live", "sim"},
              ANY),
    "examples": (PUBLIC, ANY),
    "bench": (PUBLIC | MEDIA | {"sim"}, ANY),
    "sim": (PUBLIC | {"internal/common"}, ANY),
}
LIBRARIES = {layer for layer in LAYERS
             if layer.startswith(("internal/", "lib"))} - {
                 "libtltcp/socket", "libsaratoga/node"}
# Headers from outside that only some files may see.
RESERVED = {
    re.compile(r"uv\.h$"): re.compile(
        r"internal/net/|libtltcp/socket/|libsaratoga/node/|examples/"),
    re.compile(r"openssl/"): re.compile(
        r"internal/secure/(aead|cipher|hello|keys|noise|record|seal|secret)\.c$|"
        r"libsaratoga/engine/digest\.c$"),
    re.compile(r"isa-l/"): re.compile(r"libtltcp/engine/fec\.c$"),
    # Instructions of a processor, chosen at run time.
    re.compile(r"\w+intrin\.h$|arm_acle\.h$"): re.compile(r"internal/common/"),
    # The table of controllers that a program adds.
    re.compile(r"stdatomic\.h$"): re.compile(
        r"libcongestion/register\.c$|"
        r"(libtltcp/socket|libsaratoga/node|gst-plugins|tools|bench)/"),
}
# Headers of the tree that only some files may see.
PRIVATE = {"libtltcp/engine/conn.h": re.compile(
    r"libtltcp/engine/(conn[a-z_]*|endpoint)\.c$|tests/")}


def layer_of(path):
    for folder in sorted(LAYERS, key=len, reverse=True):
        if path.startswith(folder + "/"):
            return folder
    return None


def resolve(root, path, quoted, name):
    """The included file as a path in the tree, or None."""
    places = [root / name, root / "include" / name]
    if quoted:
        places.insert(0, (root / path).parent / name)
    for place in places:
        # A header that CMake fills in stands as a template in the tree.
        if place.is_file() or place.with_name(place.name + ".in").is_file():
            try:
                return place.resolve().relative_to(root).as_posix()
            except ValueError:
                return None
    return None


def complaint(path, name, target):
    """Why `path` may not include `name`, or None."""
    layer = layer_of(path)
    for header, allowed in RESERVED.items():
        if not target and header.match(name) and layer:
            return None if allowed.match(path) else f"may not include {name}"
    if target in PRIVATE and not PRIVATE[target].match(path):
        return f"may not see {target}"
    if layer is None:
        return None
    folders, outside = LAYERS[layer]
    if target is None:
        if outside is ANY or name in outside:
            return None
    elif layer_of(target) in folders | {layer}:
        return None
    return f"may not include {name}"


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


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else tree.ROOT
    bad, edges, count = [], {}, 0
    for file in tree.files(root, ".c", ".h"):
        path = file.relative_to(root).as_posix()
        text = file.read_text(encoding="utf-8")
        for mark, name in INCLUDE.findall(text):
            count += 1
            target = resolve(root, path, mark == '"', name)
            why = complaint(path, name, target)
            if why:
                bad.append(f"{path}: {why}")
            module, other = module_of(path), module_of(target or "")
            if other and other != module:
                edges.setdefault(module, set()).add(other)
    bad += circles(edges)
    tree.finish("includes", bad, f"{count} includes")


main()
