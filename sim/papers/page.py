# SPDX-License-Identifier: MPL-2.0
"""Pages in Markdown with figures and a table of claims."""
import pathlib
import sys
import typing

from .numbers import half_width, mean

HOLDS = "holds"
FAILS = "does not hold"
QUICK = "*The quick set: few seeds and points, shorter runs.*"
NOTICE = """<!-- Made by ./dev reproduce; changes are lost with the next run. -->
"""


def only(condition):
    """A verdict with a condition."""
    return f"holds only {condition}"


AS_FAR = only("as far as the trials tell them apart: of some differences the "
              "interval reaches past 0")


def above(values, *pairs):
    """The verdict on the first of each pair being above the second, by their
    differences trial by trial."""
    gaps = [[x - y for x, y in zip(values[a], values[b])] for a, b in pairs]
    if any(mean(g) < -half_width(g) for g in gaps):
        return FAILS
    return all(mean(g) > half_width(g) for g in gaps) or AS_FAR


class Claim(typing.NamedTuple):
    """One line of the table of claims."""
    name: str
    text: str
    verdict: str
    numbers: str
    seeds: int
    expect: str


class Page:
    """One page; report() of a module fills it."""

    def __init__(self, name, title, folder, plotter, seeds=1):
        self.name = name
        self.title = title
        self.folder = folder
        self.plotter = plotter
        self.seeds = seeds  # behind a claim that does not say otherwise
        self.claims = []
        self.parts = []

    def text(self, *paragraphs):
        self.parts.extend(paragraphs)

    def heading(self, text):
        self.parts.append(f"## {text}")

    def table(self, head, rows):
        lines = ["| " + " | ".join(map(str, head)) + " |",
                 "|" + " --- |" * len(head)]
        lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
        self.parts.append("\n".join(lines))

    def figure(self, name, caption, draw, size=(6.4, 3.2), columns=1):
        """A picture that draw(axes) fills; axes is a list when columns > 1."""
        file = f"{self.name}-{name}.svg"
        if self.plotter is None:
            self.parts.append(f"*{caption}* (not drawn: no matplotlib)")
            return
        self.plotter.draw(self.folder / file, draw, size, columns)
        self.parts.append(f"![{caption}]({file})\n\n*{caption}*")

    def claim(self, name, text, verdict, numbers, expect=None, seeds=None):
        """A claim of the paper.  expect: the verdict that the tests want; a
        Boolean verdict means that it holds or does not."""
        if isinstance(verdict, bool):
            verdict = HOLDS if verdict else FAILS
        self.claims.append(Claim(f"{self.name}.{name}", text, verdict, numbers,
                                 seeds or self.seeds, expect or HOLDS))

    def markdown(self):
        parts = [NOTICE + f"# {self.title}"]
        if self.claims:
            head = ("claim", "verdict", "numbers", "seeds")
            rows = [(f"{c.text} (`{c.name}`)", f"**{c.verdict}**", c.numbers,
                     c.seeds) for c in self.claims]
            claims = Page("", "", None, None)
            claims.text("A mean of several seeds is given with half the width "
                        "of its 95 % confidence interval.")
            claims.table(head, rows)
            parts += ["## Claims", *claims.parts]
        return "\n\n".join(parts + self.parts) + "\n"


class Plotter:
    """Matplotlib, set so that equal data give equal bytes."""
    COLOURS = ("#1b6ca8", "#d1495b", "#66a182", "#edae49", "#6b4e9b",
               "#2e4057", "#8d96a3", "#b56576")

    def __init__(self):
        import matplotlib  # pylint: disable=import-outside-toplevel
        matplotlib.use("svg")
        from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
        matplotlib.rcParams.update({
            "svg.hashsalt": "perigee", "svg.fonttype": "none",
            "font.size": 9, "axes.grid": True, "grid.alpha": 0.3,
            "axes.spines.top": False, "axes.spines.right": False,
            "path.simplify_threshold": 1.0, "legend.frameon": False,
            "axes.prop_cycle": matplotlib.cycler(color=self.COLOURS),
        })
        self.pyplot = pyplot

    def draw(self, path, draw, size, columns):
        figure, axes = self.pyplot.subplots(1, columns, figsize=size,
                                            layout="constrained")
        draw(list(axes) if columns > 1 else axes)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        self.pyplot.close(figure)
        text = path.read_text(encoding="utf-8")
        path.write_text("\n".join(l.rstrip() for l in text.split("\n")),
                        encoding="utf-8")


def find_plotter():
    try:
        return Plotter()
    except ImportError:
        print("reproduce: no matplotlib (Debian: python3-matplotlib); figures "
              "are left out", file=sys.stderr)
        return None


def check(claims):
    """Tells each claim's verdict; returns how many are not as expected."""
    wrong = 0
    for c in claims:
        good = c.verdict == c.expect
        wrong += not good
        print(f"{'ok    ' if good else 'FAILED'} {c.name}: {c.verdict}"
              f"{'' if good else f', but {c.expect} was expected'}: {c.numbers}")
    return wrong


def write_index(folder, modules):
    """From the pages that are there, whichever run made them."""
    parts = [NOTICE + "# The papers, reproduced"]
    parts.append(
        "Every experiment of the papers that Perigee rests on, done again with "
        "the engines of this library on virtual networks. `./dev reproduce` "
        "makes these pages; [how to change an experiment or add one]"
        "(experiments.md). The quick set has fewer seeds and points and "
        "shorter runs.")
    rows = []
    for name, module in modules.items():
        if (folder / f"{name}.md").is_file():
            text = (folder / f"{name}.md").read_text(encoding="utf-8")
            rows.append((f"[{module.TITLE}]({name}.md)",
                         "quick" if QUICK in text else "full",
                         *(text.count(f"| **{verdict}")
                           for verdict in (f"{HOLDS}**", f"{HOLDS} only",
                                           f"{FAILS}**"))))
    table = Page("", "", None, None)
    table.table(("page", "set", "claims that hold", "hold under a condition",
                 "do not hold"), rows)
    (folder / "index.md").write_text(
        "\n\n".join(parts + table.parts) + "\n", encoding="utf-8")


def absent(lab):
    """Which of the other simulators are not there."""
    return " and ".join(
        f"no {name}" for name, there in (("ns-2", lab.ns2 is not None),
                                         ("ns-3", lab.ns3.is_file()))
        if not there)


def complete(modules, plans, lab):
    """The runs of each page that has the results of all that can be run here."""
    ready = {}
    for name in modules:
        jobs = {k: j for k, j in plans[name].items() if lab.can_run(j)}
        missing = lab.missing(lab.distinct([jobs]))
        if missing:
            print(f"reproduce: {name}: {len(missing)} results are missing; "
                  "the page is left as it was", file=sys.stderr)
            continue
        if len(jobs) < len(plans[name]):
            print(f"reproduce: {name}: {absent(lab)}, so what they give is "
                  "left out; ./dev reproduce --with-ns2 or --with-ns3 installs "
                  "it (Debian: ns2, libns3-dev)", file=sys.stderr)
        ready[name] = jobs
    return ready


def write_all(modules, everything, plans, lab, folder, quick, checking):
    """Makes the pages of modules from the results, and the index of everything;
    returns the exit code."""
    ready = complete(modules, plans, lab)
    if not ready:
        print(f"reproduce: there is nothing to collect in {lab.results}; "
              "without --collect the results are made first", file=sys.stderr)
        return 1
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    plotter = find_plotter()
    claims = []
    for name, jobs in ready.items():
        module = modules[name]
        page = Page(name, module.TITLE, folder, plotter,
                    len(module.seeds(quick)))
        if quick:
            page.text(QUICK)
        module.report(page, {k: lab.load(j) for k, j in jobs.items()}, quick)
        (folder / f"{name}.md").write_text(page.markdown(), encoding="utf-8")
        claims += page.claims
    write_index(folder, everything)
    print(f"reproduce: pages are in {folder}", file=sys.stderr)
    wrong = len(modules) - len(ready) + (check(claims) if checking else 0)
    return 1 if wrong else 0
