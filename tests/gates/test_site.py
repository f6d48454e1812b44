#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""What docs/ adds to the site of Doxygen: anchors of headings, and a search that
finds them."""
import pathlib
import re
import sys
import tempfile
import unittest

import tree

sys.dont_write_bytecode = True
sys.path.insert(0, str(tree.ROOT / "docs"))

import pages  # noqa: E402  pylint: disable=wrong-import-position
import search  # noqa: E402  pylint: disable=wrong-import-position

TEXT = """# A `page`

First.

## The `--json` option, explained

```sh
# no heading
```
"""


class Site(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.root = pathlib.Path(self.temporary.name)
        (self.root / "docs" / "guide").mkdir(parents=True)
        (self.root / "docs" / "guide" / "one.md").write_text(TEXT)

    def test_a_heading_has_the_anchor_of_usual_viewers(self):
        path = "/".join(("docs", "guide", "one.md"))
        page = pages.Page(self.root, path, set())
        self.assertIn("{#guide_one_the---json-option-explained}",
                      page.converted())

    def test_bold_code_is_bold_and_units_stay_with_their_numbers(self):
        path = "/".join(("docs", "guide", "one.md"))
        (self.root / "docs" / "guide" / "one.md").write_text(
            "# A page\n\n**`fixed` waits** 40 ms, **not** `40 ms`, at 2 %\n")
        text = pages.Page(self.root, path, set()).converted()
        self.assertIn("<b>`fixed` waits</b> 40\u00a0ms, **not** `40 ms`, at "
                      "2\u00a0%\n", text)

    def test_a_heading_is_found_by_each_of_its_words(self):
        folder = self.root / "search"
        folder.mkdir()
        (folder / "searchdata.js").write_text('  0: "ex",\n  1: "e"\n')
        for part, name in (("0", "exit"), ("1", "xor")):
            (folder / f"all_{part}.js").write_text(
                f"var searchData=\n[\n  ['{name}_0',['{name}',"
                "['../old.html',1,'']]]\n];\n")
        search.extend(self.root, folder)
        letters = re.search(r'0: "(\w+)"', (
            folder / "searchdata.js").read_text())[1]
        for word in "json", "option", "explained", "page":
            part = f"all_{letters.index(word[0]):x}.js"
            self.assertIn(f"['{word}", (folder / part).read_text(), word)
        self.assertIn("['exit_0'", (folder / "all_0.js").read_text())


if __name__ == "__main__":
    unittest.main()
