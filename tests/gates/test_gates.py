#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Feeds the gates of code what they must refuse, and what they must let pass."""
import os
import subprocess
import sys
import unittest

import tree
from gate_case import Tree, gate

CC = os.environ.get("CC", "cc")


class Files(Tree):
    def test_a_tree_in_an_ignored_folder_of_a_clone_is_seen(self):
        """./dev release unpacks its tarball into such a folder."""
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        self.put(".gitignore", "/build/\n")
        file = self.put("build/dist/perigee/libtltcp/a.c", "\n")
        root = self.root / "build/dist/perigee"
        self.assertEqual(tree.files(root, ".c"), [file])

    def test_ignored_files_are_not_seen(self):
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        self.put(".gitignore", "/made.c\n")
        self.put("made.c", "\n")
        file = self.put("a.c", "\n")
        self.assertEqual(tree.files(self.root, ".c"), [file])


class Includes(Tree):
    def setUp(self):
        super().setUp()
        self.put("include/congestion/congestion.h", "#include <stdint.h>\n")
        self.put("include/tltcp/conn.h", "#include <stddef.h>\n")
        self.put("internal/common/ranges.h", "#include <stddef.h>\n")
        self.put("libtltcp/engine/conn.h", '#include "internal/common/ranges.h"\n')
        self.put("libtltcp/engine/conn_send.c",
                 '#include <tltcp/conn.h>\n#include "libtltcp/engine/conn.h"\n')
        self.put("libtltcp/socket/udp.c", "#include <uv.h>\n#include <time.h>\n")

    def refuses_include(self, path, line):
        self.put(path, f"#include {line}\n")
        self.refuses(path, "includes", self.root)

    def test_the_layers_as_they_should_be_pass(self):
        self.passes("includes", self.root)

    def test_a_floor_may_not_look_up(self):
        self.refuses_include("internal/common/heap.c", "<tltcp/conn.h>")

    def test_congestion_may_not_see_an_engine(self):
        self.refuses_include("libcongestion/reno.c", "<tltcp/conn.h>")

    def test_a_driver_may_not_see_inside_the_engine(self):
        self.put("libtltcp/engine/acks.h", "")
        self.refuses_include("libtltcp/socket/timer.c", '"libtltcp/engine/acks.h"')

    def test_a_tool_may_not_see_common(self):
        self.refuses_include("tools/send.c", '"internal/common/ranges.h"')

    def test_a_path_through_the_parent_is_recognised(self):
        self.refuses_include("tools/send.c", '"../internal/common/ranges.h"')

    def test_nobody_but_conn_sees_conn(self):
        self.refuses_include("libtltcp/engine/acks.c", '"conn.h"')

    def test_tests_see_conn(self):
        self.put("tests/unit/test_conn.c", '#include "libtltcp/engine/conn.h"\n')
        self.passes("includes", self.root)

    def test_an_engine_has_no_clock(self):
        self.refuses_include("libtltcp/engine/loss.c", "<time.h>")

    def test_an_engine_has_no_stdio(self):
        self.refuses_include("libtltcp/engine/loss.c", "<stdio.h>")

    def test_libuv_stays_in_the_driver(self):
        self.refuses_include("tools/send.c", "<uv.h>")

    def test_openssl_stays_in_the_files_of_ciphers(self):
        self.put("internal/secure/noise.c", "#include <openssl/evp.h>\n")
        self.passes("includes", self.root)
        self.refuses_include("libtltcp/engine/packet.c", "<openssl/evp.h>")

    def test_a_public_header_needs_no_private_one(self):
        self.refuses_include("include/tltcp/stats.h", '"internal/common/ranges.h"')

    def test_headers_in_a_circle_are_refused(self):
        self.put("tools/a.h", '#include "b.h"\n')
        self.put("tools/b.h", '#include "tools/a.h"\n')
        self.refuses("circle: tools/a -> tools/b -> tools/a",
                     "includes", self.root)

    def test_modules_of_a_library_in_a_circle_are_refused(self):
        for name in "a", "b":
            self.put(f"libtltcp/engine/{name}.h", "")
        self.put("libtltcp/engine/a.c", '#include "libtltcp/engine/b.h"\n')
        self.put("libtltcp/engine/b.c", '#include "a.h"\n')
        self.refuses("circle: libtltcp/engine/a -> libtltcp/engine/b -> "
                     "libtltcp/engine/a", "includes", self.root)

    def test_a_module_may_share_a_private_header_between_its_files(self):
        self.put("libtltcp/engine/a.h", "")
        self.put("libtltcp/engine/a_impl.h", '#include "libtltcp/engine/a.h"\n')
        self.put("libtltcp/engine/a.c", '#include "libtltcp/engine/a_impl.h"\n')
        self.passes("includes", self.root)


class Unsafe(Tree):
    def test_what_only_looks_like_a_call_passes(self):
        self.put("tools/a.c", '/* never gets() */\nint x = my_rand(3);\n'
                 'void f(void) { puts("system(1)"); s->system(2); }\n')
        self.passes("unsafe", self.root)

    def test_calls_that_cannot_be_safe_are_refused(self):
        for call in "strcpy(a, b)", "sprintf (a, b)", "system(a)", "atoi(a)":
            self.put("tools/a.c", f"void f(void) {{\n    {call};\n}}\n")
            self.refuses("tools/a.c:2: " + call.split("(", 1)[0].strip(),
                         "unsafe", self.root)


class Hardened(Tree):
    TEXT = ('#include <string.h>\nvoid g(char *);\n'
            'void f(const char *s, size_t n) '
            '{ char b[64]; memcpy(b, s, n); g(b); }\n')
    FLAGS = ["-shared", "-fPIC", "-O2", "-fstack-protector-strong",
             "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-Wl,-z,relro",
             "-Wl,-z,now", "-Wl,-z,noexecstack"]

    def build(self, *flags):
        source, out = self.put("a.c", self.TEXT), self.root / "a.so"
        subprocess.run([CC, "-w", "-o", out, source, *self.FLAGS, *flags],
                       check=True)
        return out

    def test_a_hardened_library_passes(self):
        self.passes("hardened", "guarded", self.build())

    def test_each_thing_left_out_is_refused(self):
        for flag, words in {
                "-Wl,-z,norelro": "read-only relocations",
                "-Wl,-z,lazy": "binds symbols late",
                "-Wl,-z,execstack": "executable stack",
                "-fno-stack-protector": "no stack protector",
                "-U_FORTIFY_SOURCE": "checked function"}.items():
            self.refuses(words, "hardened", "guarded", self.build(flag))

    def test_a_program_at_a_fixed_place_is_refused(self):
        source, out = self.put("b.c", "int main(void) { return 0; }\n"), \
            self.root / "b"
        subprocess.run([CC, "-no-pie", "-o", out, source], check=True)
        self.refuses("position-independent", "hardened", "binary", out)


class Symbols(Tree):
    def compile(self, name, text, *flags):
        source = self.put(f"{name}.c", text)
        out = self.root / name
        subprocess.run([CC, "-o", out, source, *flags], check=True)
        return out

    def shared(self, text):
        return self.compile("lib.so", text, "-shared", "-fPIC")

    def archive(self, text):
        out = self.compile("one.o", text, "-c")
        archive = self.root / "lib.a"
        subprocess.run(["ar", "rcs", archive, out], check=True)
        return archive

    def test_memory_and_strings_are_allowed_in_common(self):
        self.passes("symbols", "undefined", "common", self.compile(
            "mem.c.o", "#include <stdlib.h>\nvoid *cmn__f(void);\n"
            "void *cmn__f(void) { return malloc(1); }\n", "-c"))

    def test_an_engine_takes_memory_through_common_only(self):
        self.refuses("needs malloc", "symbols", "undefined", "engine",
                     self.compile("a.c.o", "#include <stdlib.h>\n"
                                  "void *f(void) { return malloc(1); }\n",
                                  "-c"))

    def test_an_engine_reads_no_clock(self):
        self.refuses("needs clock_gettime", "symbols", "undefined", "engine",
                     self.compile("a.c.o", "#include <time.h>\n"
                                  "int f(struct timespec *t)"
                                  "{ return clock_gettime(0, t); }\n", "-c"))

    def test_an_engine_prints_nothing(self):
        self.refuses("needs printf", "symbols", "undefined", "engine",
                     self.compile("a.c.o", "#include <stdio.h>\n"
                                  "int f(int i)"
                                  '{ return printf("%d", i); }\n', "-c"))

    def test_mathematics_belong_to_congestion(self):
        code = ("#include <math.h>\n"
                "double f(double x) { return cbrt(x); }\n")
        self.passes("symbols", "undefined", "congestion",
                    self.compile("cubic.c.o", code, "-c"))
        self.refuses("needs cbrt", "symbols", "undefined", "common",
                     self.compile("ring.c.o", code, "-c"))

    def test_ciphers_belong_to_the_crypto_file(self):
        code = "int EVP_f(void);\nint f(void) { return EVP_f(); }\n"
        self.passes("symbols", "undefined", "engine",
                    self.compile("noise.c.o", code, "-c"))
        self.refuses("needs EVP_f", "symbols", "undefined", "engine",
                     self.compile("packet.c.o", code, "-c"))

    def test_random_numbers_come_from_the_caller(self):
        code = "int RAND_bytes(void);\nint f(void) { return RAND_bytes(); }\n"
        self.refuses("needs RAND_bytes", "symbols", "undefined", "engine",
                     self.compile("noise.c.o", code, "-c"))

    def test_the_package_lists_what_a_library_exports(self):
        library = self.shared("int tltcp_f(void); int tltcp_f(void)"
                              "{ return 1; }\n")
        listing = self.put("a.symbols", "a.so.0 a #MINVER#\n tltcp_f@Base 1\n")
        self.passes("symbols", "listed", listing, library)
        listing.write_text("a.so.0 a #MINVER#\n", encoding="utf-8")
        self.refuses("a.symbols lacks tltcp_f", "symbols", "listed", listing,
                     library)
        listing.write_text(" tltcp_f@Base 1\n tltcp_g@Base 1\n",
                           encoding="utf-8")
        self.refuses("lib.so lacks tltcp_g", "symbols", "listed", listing,
                     library)

    def test_a_library_exports_its_own_prefix(self):
        self.passes("symbols", "exported", "tltcp_", self.shared(
            "int tltcp_conn_new(void) { return 0; }\n"))

    def test_a_foreign_name_is_refused(self):
        self.refuses("exports ranges_add", "symbols", "exported", "tltcp_",
                     self.shared("int tltcp_a(void) { return 0; }\n"
                                 "int ranges_add(void) { return 0; }\n"))

    def test_an_internal_name_is_refused(self):
        self.refuses("exports tltcp__x", "symbols", "exported", "tltcp_",
                     self.shared("int tltcp_a(void) { return 0; }\n"
                                 "int tltcp__x(void) { return 0; }\n"))

    def test_a_library_that_exports_nothing_is_refused(self):
        self.refuses("exports nothing", "symbols", "exported", "tltcp_",
                     self.shared("static int a;\n"))

    def test_an_archive_defines_only_prefixed_names(self):
        self.passes("symbols", "global", "tltcp_,cmn__", self.archive(
            "int tltcp__a(void) { return 0; }\n"
            "int cmn__b(void) { return 0; }\n"))
        self.refuses("defines helper", "symbols", "global", "tltcp_,cmn__",
                     self.archive("int helper(void) { return 0; }\n"))


class Sizes(Tree):
    def function(self, lines):
        return ("static int f(int a,\n             int b) {\n" +
                "    a += b;\n" * lines + "}\n")

    def test_a_function_of_seventy_lines_passes(self):
        self.put("a.c", self.function(70))
        self.passes("sizes", self.root)

    def test_a_longer_one_is_refused_by_name(self):
        self.put("a.c", "struct s {\n    int a;\n};\n" + self.function(71))
        self.refuses("a.c:4: f() has 71 lines", "sizes", self.root)

    def test_a_long_table_is_no_function(self):
        self.put("a.c", "static const int t[] = {\n" + "    1,\n" * 100 +
                 "};\n")
        self.passes("sizes", self.root)

    def test_a_file_over_600_lines_is_refused(self):
        self.put("a.c", "int a;\n" * 601)
        self.refuses("601 lines", "sizes", self.root)


class Calls(Tree):
    def object(self, folder, name, text):
        """An object where CMake puts that of folder/name.c."""
        source = self.put(f"{folder}/{name}.c", text)
        out = self.root / f"build/{folder}/CMakeFiles/x.dir/{name}.c.o"
        out.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([CC, "-c", "-o", out, source], check=True)
        return out

    CALLER = "void {0}(void);\nvoid {1}(void);\nvoid {0}(void) {{ {1}(); }}\n"
    LEAF = "void {0}(void);\nvoid {0}(void) {{}}\n"

    def test_a_call_downwards_passes(self):
        self.passes("calls", self.root,
                    self.object("libcongestion", "a", self.CALLER.format("f", "g")),
                    self.object("internal/common", "b", self.LEAF.format("g")))

    def test_a_call_upwards_is_refused_without_any_include(self):
        self.refuses("internal/common/b.c may not call f() of libcongestion/a.c",
                     "calls", self.root,
                     self.object("libcongestion", "a", self.LEAF.format("f")),
                     self.object("internal/common", "b",
                                 self.CALLER.format("g", "f")))

    def test_files_that_call_each_other_are_refused(self):
        self.refuses("circle: libcongestion/a.c -> libcongestion/b.c -> "
                     "libcongestion/a.c", "calls", self.root,
                     self.object("libcongestion", "a", self.CALLER.format("f", "g")),
                     self.object("libcongestion", "b", self.CALLER.format("g", "f")))


class Statics(Tree):
    LINES = "static int {}(int a,\n                int b) {{\n    return a + b;\n}}\n"

    def test_the_same_name_in_two_libraries_passes(self):
        self.put("libtltcp/engine/a.c", self.LINES.format("find"))
        self.put("libsaratoga/engine/a.c", self.LINES.format("find"))
        self.passes("statics", self.root)

    def test_the_same_name_twice_in_a_library_is_refused(self):
        self.put("libtltcp/engine/a.c", self.LINES.format("find"))
        self.put("libtltcp/socket/b.c", self.LINES.format("find"))
        self.refuses("find() is static in libtltcp/engine/a.c and "
                     "libtltcp/socket/b.c", "statics", self.root)


class Headers(Tree):
    def test_a_header_that_stands_alone_passes(self):
        self.put("x/a.h", "#ifndef A_H\n#define A_H\n#include <stddef.h>\n"
                          "size_t f(void);\n#endif\n")
        self.passes("headers", CC, self.root)

    def test_a_header_that_lacks_an_include_is_refused(self):
        self.put("x/a.h", "#ifndef A_H\n#define A_H\nuint64_t f(void);\n"
                          "#endif\n")
        self.refuses("x/a.h as C11", "headers", CC, self.root)

    def test_a_header_without_a_guard_is_refused(self):
        self.put("x/a.h", "struct a { int b; };\n")
        self.refuses("x/a.h as C11", "headers", CC, self.root)

    def test_a_header_that_is_no_c_plus_plus_is_refused(self):
        self.put("x/a.h", "#ifndef A_H\n#define A_H\nint f(int class);\n"
                          "#endif\n")
        self.refuses("x/a.h as C++11", "headers", CC, self.root)


class Documentation(Tree):
    def build(self, header):
        self.put("include/a.h", header)
        done = subprocess.run(
            [sys.executable, tree.ROOT / "docs" / "build.py", "--output",
             self.root / "out", "--headers", self.root / "include"],
            capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_a_documented_header_passes(self):
        status, text = self.build(
            "/** @file a.h\n * @brief A. */\n/** One of two. */\n"
            "enum a {\n    A, /**< the first */\n};\n")
        self.assertEqual(status, 0, text)

    def test_a_parameter_without_description_is_refused(self):
        status, text = self.build(
            "/** @file a.h\n * @brief A. */\n"
            "/** Adds.\n * @param a  one\n * @return sum */\n"
            "int f(int a, int b);\n")
        self.assertEqual(status, 1, text)
        self.assertIn("b", text)

    def test_an_enumerator_without_description_is_refused(self):
        status, text = self.build(
            "/** @file a.h\n * @brief A. */\n/** One of two. */\n"
            "enum a {\n    A, /**< the first */\n    BARE\n};\n")
        self.assertEqual(status, 1, text)
        self.assertIn("enumerator without a description: BARE", text)


class Format(Tree):
    def setUp(self):
        super().setUp()
        status, text = gate("format", tree.ROOT / "docs")
        if status == 77:
            self.skipTest(text)
        style = (tree.ROOT / ".clang-format").read_text(encoding="utf-8")
        self.put(".clang-format", style)

    def test_the_style_passes_and_another_is_refused(self):
        self.put("a.c", "int f(int a) {\n    return a;\n}\n")
        self.passes("format", self.root)
        self.put("a.c", "int f(int a)\n{\n\treturn a;\n}\n")
        self.refuses("a.c", "format", self.root)


if __name__ == "__main__":
    unittest.main()
