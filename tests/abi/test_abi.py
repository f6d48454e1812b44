#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""The comparison of binary interfaces, on small libraries."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parent / "run"
HEADER = """#include <stddef.h>
typedef struct cong_thing cong_thing;
typedef struct cong_plain {
    int a;
} cong_plain;
typedef struct cong_sized {
    size_t struct_size;
    int a;
} cong_sized;
int cong_use(cong_thing *t, const cong_plain *p, const cong_sized *s);
int cong_other(void);
"""
SOURCE = """#include "congestion.h"
struct cong_thing {
    int hidden;
};
int cong_use(cong_thing *t, const cong_plain *p, const cong_sized *s) {
    return t->hidden + p->a + s->a;
}
int cong_other(void) { return 1; }
"""


class Abi(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def build(self, name, *changes):
        """A library, with pieces of text replaced."""
        header, source = HEADER, SOURCE
        for old, new in changes:
            self.assertIn(old, header + source)
            header, source = header.replace(old, new), source.replace(old, new)
        folder = self.folder / name
        for part in "lib", "include", "src":
            (folder / part).mkdir(parents=True)
        (folder / "include" / "congestion.h").write_text(header, "ascii")
        (folder / "src" / "congestion.c").write_text(source, "ascii")
        subprocess.run(
            ["cc", "-g", "-shared", "-fPIC", "-I", folder / "include",
             folder / "src" / "congestion.c", "-o",
             folder / "lib" / "libcongestion.so"], check=True)
        return folder

    def compare(self, *changes):
        old, new = self.build("old"), self.build("new", *changes)
        done = subprocess.run([RUN, "--folders", old, new], check=False,
                              capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()[0]

    def test_nothing_changed(self):
        self.assertEqual(self.compare(), (0, "libcongestion: same"))

    def test_a_new_function_is_taken(self):
        self.assertEqual(
            self.compare(("int cong_other(void)", "int cong_new(void);\n"
                          "int cong_other(void)"),
                         ("{ return 1; }", "{ return cong_new(); }\n"
                          "int cong_new(void) { return 1; }")),
            (0, "libcongestion: grew"))

    def test_a_function_that_went_breaks(self):
        self.assertEqual(self.compare(("cong_other", "cong_another")),
                         (1, "libcongestion: breaks"))

    def test_opaque_and_sized_structures_may_grow(self):
        self.assertEqual(
            self.compare(("int hidden;", "long more;\n    int hidden;"),
                         ("size_t struct_size;\n    int a;",
                          "size_t struct_size;\n    int a;\n    int b;")),
            (0, "libcongestion: same"))

    def test_other_structures_may_not_change(self):
        self.assertEqual(
            self.compare(("cong_plain {\n    int a;",
                          "cong_plain {\n    int b;\n    int a;")),
            (1, "libcongestion: breaks"))

    def test_sized_structures_may_grow_at_their_end_alone(self):
        self.assertEqual(
            self.compare(("size_t struct_size;\n    int a;",
                          "size_t struct_size;\n    int b;\n    int a;")),
            (1, "libcongestion: breaks"))


if __name__ == "__main__":
    if not shutil.which("abidiff"):
        print("skipped: missing: abidiff (Debian: abigail-tools)")
        sys.exit(77)
    unittest.main(verbosity=2)
