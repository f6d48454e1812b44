#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses symbols that do not belong where they are.

usage: symbols.py undefined LAYER OBJECT...   needs from outside, by allow-list
       symbols.py exported PREFIX LIBRARY     what a shared library exports
       symbols.py listed FILE LIBRARY         what FILE, of debian/, lists for it
       symbols.py global PREFIX[,PREFIX] ARCHIVE   global names of an archive
"""
import os
import pathlib
import re
import subprocess
import sys

import tree

# Pure functions on the caller's memory, and the way out of a failed assertion.
STRINGS = {"abort", "__assert_fail", "memchr", "memcmp", "memcpy", "memmove",
           "memset", "strchr", "strcmp", "strlen", "strncmp", "strncpy",
           "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail",
           "__memcpy_chk", "__memmove_chk", "__memset_chk", "__strncpy_chk"}
# Which instructions the processor has, by the compiler's own library.
PROCESSOR = {"__cpu_indicator_init", "__cpu_model", "__cpu_features2"}
MATHS = {"cbrt", "ceil", "exp", "exp2", "expm1", "fabs", "floor", "fmax",
         "fmin", "fmod", "ldexp", "llround", "log", "log1p", "log2", "lround",
         "nextafter", "pow", "round", "sqrt", "trunc"}
OURS = re.compile(r"(tltcp|cong|cmn|saratoga|sec)_")
CRYPTO = re.compile(r"((EVP|OPENSSL|OSSL|ERR)_|CRYPTO_(memcmp|free|clear_free|zalloc)$|HMAC)")

# The files of the engines that may call libcrypto.
CIPHERS = {"aead", "cipher", "curve", "digest", "gcm", "hello", "keys", "mac",
           "noise", "packet_key", "provider", "seal", "secret", "tokens"}

# The file that may call ipsec-mb, and how.
SEALING = {"gcm": {"alloc_mb_mgr", "init_mb_mgr_auto", "free_mb_mgr"}}

# The file that may call ISA-L.
ERASURE = re.compile(r"(ec_encode_data|ec_init_tables|gf_inv|gf_invert_matrix)$")

# Memory comes through common/mem.c alone: the application may replace it.
ALLOWED = {
    "common": STRINGS | {"calloc", "free", "malloc", "realloc"} | PROCESSOR,
    "congestion": STRINGS | MATHS,
    "engine": STRINGS | MATHS | PROCESSOR,
}


def nm(*args):
    done = subprocess.run([os.environ.get("NM", "nm"), *args], check=True,
                          capture_output=True, text=True)
    return [line.split() for line in done.stdout.splitlines()]


def undefined(layer, *objects):
    bad = []
    for path in objects:
        file = pathlib.Path(path).name.split(".")[0]
        allowed = CRYPTO if file in CIPHERS else ERASURE
        special = layer == "engine" and (file in CIPHERS or file == "fec")
        for fields in nm("-u", path):
            name = fields[-1] if fields else ""
            if len(fields) < 2 or name in ALLOWED[layer] or OURS.match(name):
                continue
            if not (special and (allowed.match(name) or
                                 name in SEALING.get(file, ()))):
                bad.append(f"{pathlib.Path(path).name} needs {name}")
    return bad, f"{len(objects)} objects"


def exported(prefix, library):
    own = re.compile(rf"{prefix}[a-z0-9]+(_[a-z0-9]+)*$")
    names = [f[2] for f in nm("-D", "--defined-only", library) if len(f) == 3]
    names = [n for n in names if n not in ("_init", "_fini")]
    bad = [f"{library} exports {n}" for n in names if not own.match(n)]
    if not names:
        bad.append(f"{library} exports nothing")
    return bad, f"{len(names)} symbols"


def listed(listing, library):
    names = {f[2] for f in nm("-D", "--defined-only", library) if len(f) == 3}
    names -= {"_init", "_fini"}
    text = pathlib.Path(listing).read_text(encoding="utf-8")
    have = set(re.findall(r"^ (\w+)@", text, re.M))
    bad = [f"{listing} lacks {n}" for n in sorted(names - have)]
    bad += [f"{library} lacks {n}" for n in sorted(have - names)]
    return bad, f"{len(names)} symbols"


def global_names(prefixes, archive):
    own = tuple(prefixes.split(","))
    names = [f[2] for f in nm("-g", "--defined-only", archive) if len(f) == 3]
    bad = [f"{archive} defines {n}" for n in names if not n.startswith(own)]
    return bad, f"{len(names)} symbols"


def main():
    verbs = {"undefined": undefined, "exported": exported,
             "listed": listed, "global": global_names}
    bad, summary = verbs[sys.argv[1]](*sys.argv[2:])
    tree.finish(f"{sys.argv[1]} symbols", bad, summary)


main()
