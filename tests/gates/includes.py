#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses includes that cross the layers, and modules in a circle.

usage: includes.py [TREE]
"""
import pathlib
import re
import sys

import tree
from layers import ANY, LAYERS, circles, layer_of, module_of

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)', re.M)

# Headers from outside that only some files may see.
RESERVED = {
    re.compile(r"uv\.h$"): re.compile(
        r"internal/net/|libtltcp/(socket|tcp)/|libsaratoga/node/|examples/"),
    re.compile(r"openssl/"): re.compile(
        r"internal/secure/(aead|cipher|curve|gcm|hello|keys|mac|noise|"
        r"packet_key|record|seal|secret|tokens)\.c$|"
        r"internal/secure/provider\.[ch]$|"
        r"libsaratoga/engine/digest\.c$"),
    re.compile(r"intel-ipsec-mb\.h$"): re.compile(r"internal/secure/gcm\.c$"),
    re.compile(r"isa-l/"): re.compile(r"libtltcp/engine/fec\.c$"),
    # Instructions of a processor, chosen at run time.
    re.compile(r"\w+intrin\.h$|arm_acle\.h$"): re.compile(r"internal/common/"),
    # The table of controllers that a program adds, and the functions that were
    # found for the processor.
    re.compile(r"stdatomic\.h$"): re.compile(
        r"libcongestion/register\.c$|internal/secure/gcm\.c$|"
        r"(libtltcp/socket|libtltcp/live|libsaratoga/node|gst-plugins|tools|bench)/"),
}
# Headers of the tree that only some files may see.
PRIVATE = {"libtltcp/engine/conn.h": re.compile(
    r"libtltcp/engine/(conn[a-z_]*|endpoint[a-z_]*)\.[ch]$|tests/")}


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
    """The reason why `path` may not include `name`, or None."""
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
