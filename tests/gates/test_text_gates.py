#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Feeds the gates of pages and words what they must refuse, and what they must
let pass."""
import unittest

import tree
from gate_case import LICENCE, Tree, gate


class Words(Tree):
    def refuses_line(self, words, line):
        self.put("internal/common/a.c", f"{LICENCE}{line}\n")
        self.refuses(words, "words", self.root)

    def test_an_ordinary_source_passes(self):
        self.put("internal/common/a.c", LICENCE + "int a;\n")
        self.put("dev", "#!/bin/sh\n# SPDX-License-Identifier: MPL-2.0\n")
        self.put("docs/a.md", "See https://example.org/home/a.\n")
        self.passes("words", self.root)

    def test_a_source_without_licence_is_refused(self):
        self.put("internal/common/a.c", "int a;\n")
        self.refuses("SPDX", "words", self.root)

    def test_a_script_without_licence_is_refused(self):
        self.put("tests/a.py", "import sys\n")
        self.refuses("SPDX", "words", self.root)

    def test_paths_of_a_machine_are_refused(self):
        for path in "/home/a/x", "/root/x", "/" + "work/x", "/Users/a":
            self.refuses_line("path of a machine", f"/* {path} */")

    def test_marks_of_unfinished_work_are_refused(self):
        for mark in "TODO", "FIXME", "XXX":
            self.refuses_line("unfinished", f"/* {mark}: later */")

    def test_unusable_references_are_refused(self):
        self.refuses_line("reference", f"/* see {'issue'} 7 */")

    def test_blanks_at_the_end_of_a_line_are_refused(self):
        self.refuses_line("blanks", "int a; ")

    def test_binary_files_are_refused(self):
        file = self.put("tools/a.bin", "")
        file.write_bytes(b"\xff\xfe\x00")
        self.refuses("not text", "words", self.root)

    def test_only_small_pictures_may_be_in_the_documentation(self):
        file = self.put("docs/a.png", "")
        file.write_bytes(b"\xff" * 40000)
        self.passes("words", self.root)
        file.write_bytes(b"\xff" * 40001)
        self.refuses("over 40000 bytes", "words", self.root)


class Links(Tree):
    def setUp(self):
        super().setUp()
        self.put("docs/b.md", "# B\n\n## What it does, `why`\n")

    def test_links_that_lead_somewhere_pass(self):
        self.put("README.md", "[b](docs/b.md), `docs/b.md`, [its part]"
                 "(docs/b.md#what-it-does-why), <https://example.org>\n"
                 "```sh\ncat [x](nowhere)\n```\n")
        self.put("a.c", "/* docs/b.md says why. */\n")
        self.passes("links", self.root)

    def test_a_link_to_no_file_is_refused(self):
        self.put("docs/a.md", "[c](c.md)\n")
        self.refuses("docs/a.md: c.md: no such file", "links", self.root)

    def test_a_link_to_no_heading_is_refused(self):
        self.put("docs/a.md", "[b](b.md#how)\n")
        self.refuses("no such heading", "links", self.root)

    def test_a_comment_that_names_no_page_is_refused(self):
        self.put("a.c", "/* docs/c.md says why. */\n")
        self.refuses("a.c: docs/c.md: no such page", "links", self.root)


class Commands(Tree):
    PLACE = "docs/guide/a.md: See it\n"

    def setUp(self):
        super().setUp()
        self.page("play --now")
        self.put("tests/test_a.py", """
PAGE = "guide/a.md"
def test_plays():
    run(commands(PAGE, "See it"))
def test_writes_it_out():
    run("play", "--now")
def test_another():
    run(commands(PAGE, "Hear it"))
""")
        self.list("  play => tests/test_a.py::test_plays")

    def page(self, *lines, language="sh"):
        self.put("docs/guide/a.md", "\n".join((
            "# A\n", "## See it\n", f"```{language}", *lines, "```\n")))

    def list(self, *lines):
        self.put("tests/gates/commands.txt", self.PLACE + "\n".join(lines))

    def refuses_list(self, words, *lines):
        self.list(*lines)
        self.refuses(words, "commands", self.root)

    def test_commands_with_their_tests_pass(self):
        self.passes("commands", self.root)
        self.list("  play => tests/test_a.py::test_writes_it_out")
        self.passes("commands", self.root)

    def test_a_command_over_several_lines_is_one(self):
        self.page("play --now \\", "  --loud", "for i in 1 2; do", "stop", "done")
        self.list("  play --now --loud => tests/test_a.py::test_plays",
                  "  for => tests/test_a.py::test_plays")
        self.passes("commands", self.root)

    def test_a_command_that_is_not_listed_is_refused(self):
        self.page("play --now", "stop")
        self.refuses("See it: stop: 0 entries", "commands", self.root)

    def test_an_entry_stands_for_one_command(self):
        self.page("play --now", "play --later")
        self.refuses("2 such commands", "commands", self.root)
        self.page("stop")
        self.refuses("play: 0 such commands", "commands", self.root)

    def test_a_test_that_is_not_there_is_refused(self):
        for name in "tests/test_a.py::test_none", "tests/none.py::test_plays":
            self.refuses_list("no such test", f"  play => {name}")

    def test_a_test_of_something_else_is_refused(self):
        self.refuses_list("does not have the command",
                          "  play => tests/test_a.py::test_another")

    def test_a_reason_says_something_and_is_rare(self):
        self.list("  play => none: It needs a stage.")
        self.passes("commands", self.root)
        self.refuses_list("no reason", "  play => none: ")
        words = [f"play{i}" for i in range(9)]
        self.page(*words)
        self.refuses_list("9 commands without a test", *(
            f"  {word} => none: It needs a stage." for word in words))

    def test_a_fence_says_what_is_in_it(self):
        self.page("play --now", language="")
        self.refuses("without a language", "commands", self.root)


class Spelling(Tree):
    def setUp(self):
        super().setUp()
        status, text = gate("spelling", tree.ROOT / "docs" / "site")
        if status == 77:
            self.skipTest(text)

    def test_right_words_pass_and_wrong_ones_are_refused(self):
        self.put("a.md", "A packet is received.\n")
        self.passes("spelling", self.root)
        self.put("a.md", "A packet is " + "rec" + "ieved.\n")
        self.refuses("received", "spelling", self.root)

    def test_a_word_of_a_page_that_nobody_knows_is_refused(self):
        self.put("b.md", "A packet is " + "retrans" + "mited.\n")
        self.refuses("b.md:1: " + "retrans" + "mited", "spelling", self.root)
        self.put("b.md", "Run `gst-frobnitz`, as CoDel's IPv6 does:\n\n"
                 "```sh\nfrobnitz\n```\n")
        self.passes("spelling", self.root)

    def test_the_vocabulary_is_small_and_sorted(self):
        self.put("a.md", "The codec of a muxer.\n")
        listed = "tests/gates/vocabulary.txt"
        self.put(listed, "codec\nmuxer\n")
        self.passes("spelling", self.root)
        self.put(listed, "muxer\ncodec\n")
        self.refuses("not sorted", "spelling", self.root)
        self.put(listed, "codec\nfrobnitz\nmuxer\n")
        self.refuses("frobnitz: no page needs it", "spelling", self.root)


class Reference(Tree):
    FILES = ("docs/man/tltcp.7", "docs/reference/configuration.md",
             "docs/reference/elements.md", "docs/reference/statistics.md",
             "tools/saratoga/help.c", "tools/saratoga/settings.c")

    def setUp(self):
        super().setUp()
        elements = (tree.ROOT / "gst-plugins").glob("*.c")
        for file in (*elements, *(tree.ROOT / name for name in self.FILES)):
            path = file.relative_to(tree.ROOT)
            self.put(path, file.read_text(encoding="utf-8"))

    def change(self, path, old, new):
        text = (self.root / path).read_text(encoding="utf-8")
        self.assertIn(old, text)
        self.put(path, text.replace(old, new))

    def test_the_tree_as_it_is(self):
        self.passes("reference", self.root)

    def test_names_that_the_code_has_and_the_reference_lacks(self):
        for path, old, words in (
                ("docs/reference/elements.md", "`keep-listening`",
                 "property (source) keep-listening"),
                ("docs/reference/statistics.md", "`gap-bytes`",
                 "statistic gap-bytes"),
                ("docs/man/tltcp.7", "max-callers", "key max-callers"),
                ("tools/saratoga/help.c", "linger, ", "setting linger")):
            self.change(path, old, "")
            self.refuses(f"{path} lacks the {words}", "reference", self.root)

    def test_names_that_the_reference_has_and_the_code_lacks(self):
        self.change("docs/reference/statistics.md", "`gap-bytes`",
                    "`gap-bytes`, `gap-bits`")
        self.refuses("has the statistic gap-bits", "reference", self.root)


if __name__ == "__main__":
    unittest.main()
