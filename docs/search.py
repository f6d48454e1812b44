# SPDX-License-Identifier: MPL-2.0
"""Adds the headings of the pages to the search of the site.

Doxygen finds a page by the first word of its title alone.  Here a page and its
headings are found by each of their words.
"""
import html
import json
import re

import pages

LETTERS = "searchdata.js"
UNSOUGHT = {"a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how",
            "in", "is", "it", "of", "on", "or", "s", "that", "the", "to", "what",
            "which", "who", "with"}
ENTRY = "  ['{}',['{}',['../{}',1,'{}']]]"


def encoded(text):
    """How the script of Doxygen writes what is searched for."""
    return re.sub(r"[^a-z0-9\u0080-\uffff]",
                  lambda c: f"_{ord(c.group()):02x}", text.lower())


def plain(heading):
    """A heading without links and marks of Markdown."""
    return re.sub(r"[`*]", "", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1",
                                      heading))


def headings(root):
    """For each heading of the pages: its words, its address, the page's title."""
    for path in pages.sources(root):
        text = (root / path).read_text(encoding="utf-8")
        name, title = pages.page_id(path), None
        for level, words in pages.HEADING.findall(pages.FENCE.sub("", text)):
            if title is None:
                title = plain(words)
            if path != "docs/index.md":
                place = f"#{name}_{pages.slug(words)}" if len(level) > 1 else ""
                yield plain(words), f"{name}.html{place}", title


def entries(root):
    """Lines of the search by the letter that they begin with."""
    found = {}
    for number, (words, address, title) in enumerate(headings(root)):
        for word in re.finditer(r"\w[\w-]*", words):
            if word.group().lower() not in UNSOUGHT or word.group() == "C":
                name = f"{encoded(words[word.start():])}_h{number}"
                line = ENTRY.format(name, *(
                    html.escape(w).replace("'", "&#39;")
                    for w in (words, address, title)))
                found.setdefault(name[0], []).append((address, line))
    return found


def extend(root, folder):
    """Adds the headings to the part of the search that finds everything."""
    file = folder / LETTERS
    text = file.read_text(encoding="utf-8")
    known = re.search(r'0: ("[^"]*")', text)
    letters = json.loads(known[1])
    for letter, lines in sorted(entries(root).items()):
        if letter not in letters:
            letters += letter
            for first in folder.glob("all_0.*"):
                new = folder / f"all_{len(letters) - 1:x}{first.suffix}"
                new.write_text("var searchData=\n[\n];\n" if
                               first.suffix == ".js" else
                               first.read_text(encoding="utf-8").replace(
                                   "all_0.js", f"{new.stem}.js"),
                               encoding="utf-8")
        part = folder / f"all_{letters.index(letter):x}.js"
        old = re.findall(r"^  \[.*\]\]", part.read_text(encoding="utf-8"), re.M)
        old += [line for address, line in lines
                if not any(f"'../{address}'" in other for other in old)]
        part.write_text("var searchData=\n[\n" + ",\n".join(sorted(old)) +
                        "\n];\n", encoding="utf-8")
    file.write_text(text.replace(known[1], json.dumps(letters), 1),
                    encoding="utf-8")
