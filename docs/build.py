#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Builds the site: the pages of docs/ and the reference of the public headers,
by Doxygen.  Any warning is an error, and so is a link that leads nowhere.

Doxygen itself does not notice enumerators without a description, so its XML is
read for those.
"""
import argparse
import html
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True

import pages  # noqa: E402  pylint: disable=wrong-import-position
import reading  # noqa: E402  pylint: disable=wrong-import-position
import search  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
THEME = pathlib.Path("/usr/share/doxygen-awesome-css")
SHEETS = ("doxygen-awesome.css", "doxygen-awesome-sidebar-only.css",
          "doxygen-awesome-sidebar-only-darkmode-toggle.css")
SCRIPTS = ("doxygen-awesome-darkmode-toggle.js",
           "doxygen-awesome-fragment-copy-button.js",
           "doxygen-awesome-paragraph-link.js")


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^\s*VERSION\s+(\S+)", text, re.M).group(1)


# --- What Doxygen is told ----------------------------------------------------

def setting(name, *values):
    return f"{name} = " + " ".join(f'"{v}"' for v in values) + "\n"


def themed(output):
    """The settings of the theme; without its package the site is plain."""
    extra = [DOCS / "site" / "site.css"]
    if not all((THEME / name).exists() for name in SHEETS + SCRIPTS):
        print("docs: plain, for there is no theme (Debian: doxygen-awesome-css)",
              file=sys.stderr)
        return setting("HTML_EXTRA_STYLESHEET", *extra), []
    header = output / "header.html"
    subprocess.run(["doxygen", "-w", "html", header, output / "footer.html",
                    output / "style.css"], check=True, cwd=output,
                   stdout=subprocess.DEVNULL)
    text = header.read_text(encoding="utf-8")
    scripts = "".join(f'<script src="$relpath^{name}"></script>\n'
                      for name in SCRIPTS)
    start = (DOCS / "site" / "start.html").read_text(encoding="utf-8")
    header.write_text(text.replace("</head>", scripts + start + "</head>"),
                      encoding="utf-8")
    return (setting("HTML_EXTRA_STYLESHEET",
                    *(THEME / name for name in SHEETS), *extra) +
            setting("HTML_HEADER", header) +
            "HTML_COLORSTYLE_HUE = 209\nHTML_COLORSTYLE_SAT = 255\n"
            "HTML_COLORSTYLE_GAMMA = 113\n"), [THEME / n for n in SCRIPTS]


def groups(output):
    """The definitions of groups; without Graphviz they have no pictures."""
    text = (DOCS / "groups.dox").read_text(encoding="utf-8")
    if not shutil.which("dot"):
        print("docs: no diagrams, for there is no dot (Debian: graphviz)",
              file=sys.stderr)
        text = re.sub(r"^ \* @(dot|msc)$.*?^ \* @end\1$\n", "", text,
                      flags=re.M | re.S)
    file = output / "pages" / "groups.dox"
    file.write_text(text, encoding="utf-8")
    return file


def site_settings(output):
    """Settings of the whole site, and what is wrong with its pages."""
    images, wrong = pages.write(ROOT, output / "pages")
    look, scripts = themed(output)
    groups(output)
    dot = "YES" if shutil.which("dot") else "NO"
    return look + (
        setting("INPUT", ROOT / "include", output / "pages") +
        setting("USE_MDFILE_AS_MAINPAGE", output / "pages" / "index.md") +
        setting("LAYOUT_FILE", DOCS / "site" / "layout.xml") +
        setting("EXAMPLE_PATH", ROOT / "examples") +
        setting("HTML_EXTRA_FILES", *(ROOT / i for i in images), *scripts) +
        f"HAVE_DOT = {dot}\n"), wrong


def run_doxygen(settings, output):
    config = (DOCS / "Doxyfile").read_text(encoding="utf-8")
    config += (f"\nPROJECT_NUMBER = {version()}\n" +
               setting("OUTPUT_DIRECTORY", output) + settings)
    done = subprocess.run(["doxygen", "-"], input=config, text=True, cwd=ROOT,
                          check=False)
    return done.returncode


# --- The site that it made ---------------------------------------------------

def lift_labels(folder):
    """Raises the labels of sequences, which Doxygen sets onto their arrows."""
    for file in folder.glob("msc_*.svg"):
        text = file.read_text(encoding="utf-8")
        arrows = set(re.findall(r'y1="(\d+)" x2="\d+" y2="\1"', text))
        file.write_text(re.sub(
            r'(<text x="\d+" y=")(\d+)"', lambda m: m[1] + str(
                int(m[2]) - 3 * (str(int(m[2]) + 1) in arrows)) + '"', text),
            encoding="utf-8")


def fill_menu(folder):
    """Names the parts of docs/ in the menu of narrow screens, which has a list
    of pages instead, and that is empty."""
    file = folder / "menudata.js"
    text = file.read_text(encoding="utf-8")
    parts = re.findall(r"^- \[(.*?)\]\((\w+)/index\.md\)", (
        DOCS / "index.md").read_text(encoding="utf-8"), re.M)
    file.write_text(text.replace('{text:"Pages",url:"pages.html"}', ",\n".join(
        f'{{text:"{title}",url:"{name}_index.html"}}'
        for title, name in parts)), encoding="utf-8")


def describe_examples(folder):
    """Says in the list of examples what each does."""
    file = folder / "examples.html"
    text = file.read_text(encoding="utf-8")
    for name, first, _ in pages.comments(ROOT):
        text = text.replace(f">{name}</a></li>", f">{name}</a>: " + html.escape(
            " ".join(first.split())) + "</li>")
    file.write_text(text, encoding="utf-8")


def enumerators_without_description(xml):
    for file in sorted(xml.glob("*.xml")):
        for value in ET.parse(file).getroot().iter("enumvalue"):
            texts = (value.find(f"{kind}description")
                     for kind in ("brief", "detailed"))
            if not any(t is not None and "".join(t.itertext()).strip()
                       for t in texts):
                yield value.findtext("name")


class Links(html.parser.HTMLParser):
    """The links of a page, and the places that links can lead to."""

    def __init__(self, file):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src", "data") and value:
                self.links.append(value)
            elif name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)


def broken_links(folder):
    """Links between files of the site that lead nowhere."""
    site = {file.name: Links(file) for file in folder.glob("*.html")}
    links = {name: page.links for name, page in site.items()}
    links["search"] = [address for _, address, _ in search.headings(ROOT)]
    links["menu"] = re.findall(r'url:"([^"]*)"', (
        folder / "menudata.js").read_text(encoding="utf-8"))
    for name, all_links in sorted(links.items()):
        for link in sorted(set(all_links)):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = urllib.parse.unquote(parts.path) or name
            anchor = urllib.parse.unquote(parts.fragment)
            if not (folder / target).exists():
                yield f"{name}: {link}: no such file"
            elif anchor and target in site and \
                    anchor not in site[target].anchors:
                yield f"{name}: {link}: no such place"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--headers", type=pathlib.Path,
                        help="another folder of headers than the tree's, "
                        "without the pages")
    args = parser.parse_args()
    output = args.output.resolve()
    shutil.rmtree(output / "html", ignore_errors=True)
    shutil.rmtree(output / "xml", ignore_errors=True)
    output.mkdir(parents=True, exist_ok=True)
    if args.headers:
        settings, wrong = setting("INPUT", args.headers.resolve()), []
    else:
        settings, wrong = site_settings(output)
    status = run_doxygen(settings, output)
    wrong += [f"enumerator without a description: {name}" for name in sorted(
        set(enumerators_without_description(output / "xml")))]
    if not args.headers:
        site = output / "html"
        for change in (lift_labels, fill_menu, describe_examples):
            change(site)
        wrong += broken_links(site)
        search.extend(ROOT, site / "search")
        print("\n".join(reading.report(DOCS / "guide")))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if status or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
