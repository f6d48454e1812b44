# SPDX-License-Identifier: MPL-2.0
"""How easily pages read: Flesch's reading ease of their prose, without code,
tables and lists of links.  60 is plain English, 30 is hard."""
import re

CODE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.M | re.S)


def prose(text):
    text = CODE.sub("", text)
    lines = [line for line in text.split("\n")
             if not re.match(r"\s*[|#<!]|- \[", line)]
    text = "\n".join(lines)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "it", text)  # a name: as hard as its sentence
    return re.sub(r"[*_]", "", text)


def syllables(word):
    word = re.sub(r"(?<=[^l])e$|(?<=[^td])ed$", "", word)  # silent
    groups = re.findall(r"[aeiouy]+", word)
    return max(1, len(groups))


def ease(text):
    """Flesch, A new readability yardstick, 1948."""
    text = prose(text)
    sentences = [s for s in re.split(r"[.:!?]\s|\n\s*\n|\n- ", text)
                 if re.search(r"[a-z]{2}", s)]
    words = re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower())
    if not words or not sentences:
        return None
    return (206.835 - 1.015 * len(words) / len(sentences) -
            84.6 * sum(map(syllables, words)) / len(words))


def report(folder):
    """A line for each page of a folder, the hardest first."""
    found = []
    for page in sorted(folder.glob("*.md")):
        value = ease(page.read_text(encoding="utf-8"))
        if value is not None and page.name != "index.md":
            found.append((value, page.name))
    return [f"reading ease {value:.0f}: {name}" for value, name in
            sorted(found)]
