# SPDX-License-Identifier: MPL-2.0
"""Turns the Markdown pages of the tree into input for Doxygen.

The pages are plain Markdown, as any viewer shows it.  Doxygen wants an id for
each page and heading, and says by @subpage what stands below what: the index.md
of each folder lists its pages, in their order in the navigation.
"""
import os
import re

OUTSIDE = {"CHANGES.md": "changes", "CONTRIBUTING.md": "contributing",
           "SECURITY.md": "security"}
PARENTS = {"CHANGES.md": "docs/index.md", "CONTRIBUTING.md": "docs/index.md",
           "SECURITY.md": "docs/design/index.md"}
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t#]*$", re.M)
BOLD = re.compile(r"\*\*(`[^*]+|[^*\s][^*]*`)\*\*")
QUANTITY = re.compile(r"(?<=\d) (?=(?:%|[mµn]?s|[kMG]?bit/s|[kM]B)(?![\w/]))")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def slug(heading):
    """The anchor that the usual viewers of Markdown give a heading."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def page_id(path):
    """The id of a page, from its path in the tree."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    return re.sub(r"\.md$", "", path[len("docs/"):]).replace("/", "_")


def sources(root):
    """The pages: paths in the tree."""
    found = {f"docs/{p.relative_to(root / 'docs').as_posix()}"
             for p in (root / "docs").rglob("*.md")}
    return sorted(found | {p for p in OUTSIDE if (root / p).exists()})


def outside(text, change, *patterns):
    """Changes what is not in fences and the like."""
    kept = []

    def keep(match):
        kept.append(match.group())
        return f"\x00{len(kept) - 1}\x00"

    for pattern in patterns:
        text = pattern.sub(keep, text)
    text = change(text)
    while "\x00" in text:
        text = re.sub("\x00(\\d+)\x00", lambda m: kept[int(m.group(1))], text)
    return text


class Page:
    """One page on its way to Doxygen."""

    def __init__(self, root, path, known):
        self.root, self.path, self.known = root, path, known
        self.id = page_id(path)
        self.listed = []  # pages below it
        self.images = []
        self.text = (root / path).read_text(encoding="utf-8")

    def target(self, link):
        """The path in the tree that a link leads to, and its anchor."""
        name, _, anchor = link.partition("#")
        if not name:
            return self.path, anchor
        folder = os.path.dirname(self.path)
        return os.path.normpath(os.path.join(folder, name)), anchor

    def link(self, match):
        image, words, where = match.groups()
        if re.match(r"[a-z][a-z+.-]*:", where):
            return match.group()
        path, anchor = self.target(where)
        if image:
            self.images.append(path)
            words = re.sub(r"\s+", " ", words)
            return (f'<img src="{os.path.basename(path)}" alt="{words}" '
                    'class="figure">')
        if path not in self.known:
            return words  # a source, which the site does not show
        name = page_id(path)
        if not anchor and path not in self.listed and self.is_below(path):
            self.listed.append(path)
            return f'@subpage {name} "{words}"'
        if path == "docs/index.md":
            name = "index"
        return f"[{words}](@ref {name}{'_' + anchor if anchor else ''})"

    def heading(self, match):
        level, words = match.groups()
        if len(level) == 1:
            return match.group()  # comment of a shell, or the title
        if self.path == "docs/index.md":  # not to be in the navigation
            return f"<h{len(level)}>{words}</h{len(level)}>"
        return f"{level} {words} {{#{self.id}_{slug(words)}}}"

    def is_below(self, path):
        """Whether this is the index that a page stands below."""
        if os.path.basename(self.path) != "index.md" or path == self.path:
            return False
        if path in OUTSIDE:
            return PARENTS[path] == self.path
        folder = os.path.dirname(path)
        if os.path.basename(path) == "index.md":
            folder = os.path.dirname(folder)
        return folder == os.path.dirname(self.path)

    def converted(self):
        text = re.sub(r"^<!--.*?-->\n", "", self.text, flags=re.M)
        text = outside(text, lambda t: HEADING.sub(self.heading, t), FENCE)
        text = outside(text, lambda t: LINK.sub(self.link, t), FENCE, CODE)
        # Doxygen sees no bold type beside a backtick.
        text = outside(text, lambda t: BOLD.sub(r"<b>\1</b>", t), FENCE)
        # No line ends between a number and its unit.
        text = outside(text, lambda t: QUANTITY.sub("\u00a0", t), FENCE, CODE)
        # The title has the id of the page; Doxygen sets no code in it.
        title = re.search(r"^# (.*)$", text, re.M)
        plain = title.group(1).replace("`", "")
        name = "" if self.path == "docs/index.md" else f" {{#{self.id}}}"
        return text.replace(title.group(), f"# {plain}{name}", 1)


def comments(root):
    """Of each example its name, and its first comment: what it does, the rest."""
    for file in sorted((root / "examples").glob("*.c")):
        text = file.read_text(encoding="utf-8")
        comment = re.search(r"^/\*\n(.*?)\n \*/", text, re.M | re.S).group(1)
        lines = [re.sub(r"^ \*( |$)", "", line)
                 for line in comment.split("\n")]
        first, _, rest = "\n".join(lines).partition("\n\n")
        yield file.name, first, rest.strip()


def examples(root):
    """A page of Doxygen's for each example."""
    return "\n".join(["/* Made by docs/pages.py. */\n"] + [
        f"/** @example {name}\n@details {first}\n\n"
        f"@verbatim\n{rest}\n@endverbatim\n*/\n"
        for name, first, rest in comments(root)])


def write(root, folder):
    """Writes the pages for Doxygen into a folder; returns the images that they
    show, and what is wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    known = sources(root)
    pages = [Page(root, path, set(known)) for path in known]
    images, listed = set(), set()
    for page in pages:
        (folder / f"{page.id}.md").write_text(page.converted(),
                                              encoding="utf-8")
        images.update(page.images)
        listed.update(page.listed)
    (folder / "examples.dox").write_text(examples(root), encoding="utf-8")
    wrong = [f"{path}: no index.md lists it" for path in known
             if path not in listed and path != "docs/index.md"]
    return sorted(images), wrong
