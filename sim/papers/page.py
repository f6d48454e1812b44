# SPDX-License-Identifier: MPL-2.0
"""Pages in Markdown with figures and a table of claims."""
import datetime
import pathlib
import re
import sys
import typing

from .numbers import half_width, mean

HOLDS = "holds"
FAILS = "does not hold"
# Nothing is lost, so that no reaction is needed, or the other controllers in the
# protocol's place pass as well.
IDLE = "holds with any protocol"
QUICK = "*The quick set: few seeds and points, shorter runs.*"
NOTICE = """<!-- Made by ./dev reproduce; changes are lost with the next run. -->
"""


def only(condition):
    """A verdict with a condition."""
    return f"holds only {condition}"


AS_FAR = only("as far as the trials tell them apart: of some differences the "
              "interval reaches past 0")


def telling(verdict, idle):
    """The verdict on a claim; idle: it would hold whatever the protocol."""
    return IDLE if verdict in (True, HOLDS) and idle else verdict


def above(values, *pairs):
    """The verdict on the first of each pair being above the second, by their
    differences trial by trial."""
    gaps = [[x - y for x, y in zip(values[a], values[b])] for a, b in pairs]
    if any(mean(g) <= 0 for g in gaps):
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


# What the pages say of each figure and table of a paper.
NUMBER = "agrees in number"
SHAPE = "agrees in shape"
SOME = "agrees under a condition"
ANY = "agrees with any protocol"
NOT = "does not agree"
UNRUN = "not run"
GRADES = (NUMBER, SHAPE, SOME, ANY, NOT, UNRUN)
GRADING = f"""\
- It *{NUMBER}* if the printed numbers are reproduced within what the claim names.
- It *{SHAPE}* if their order or course is.
- It *{SOME}* if this is so only for some of the values that the paper leaves open, \
or not beyond doubt.
- It *{ANY}* if it is reproduced as printed, but is no evidence for the protocol: \
no packet is lost, so no reaction is needed, or the other controllers in its place \
pass every claim, too."""
SOURCES = (
    "The papers at hand are text without pictures, so curves are known by what "
    "captions and prose say of them. The claims below have the numbers:")
PURPOSE = ("The experiments of {} repeated with the engines of Perigee: a verdict "
           "on each figure, the claims behind it, and the results.")


class Figure(typing.NamedTuple):
    """A figure or table of a paper.  claims, by name without the page's, decide
    on it: it agrees only if all of them hold, and under a condition if one does.
    in_number: they compare with what is printed."""
    title: str
    words: str  # the paper's, with its numbers
    claims: tuple
    in_number: bool = False
    note: str = ""


class Page:
    """One page; report() of a module fills it."""

    def __init__(self, name, title, folder, plotter, seeds=1, purpose=""):
        self.name = name
        self.title = title
        self.purpose = purpose  # the first line
        self.folder = folder
        self.plotter = plotter
        self.seeds = seeds  # behind a claim that does not say otherwise
        self.claims = []
        self.parts = []
        self.figures = []  # rows: a Figure, its scenario

    def papers_figures(self, scenario, *figures):
        """Says of each figure of the paper whether it is reproduced here."""
        self.figures += [(f, scenario) for f in figures]

    def grade(self, figure):
        """One of GRADES, and the claims that decided."""
        by_name = {c.name.split(".", 1)[1]: c for c in self.claims}
        decided = [by_name[n] for n in figure.claims if n in by_name]
        if not decided or len(decided) < len(figure.claims):
            return UNRUN, decided
        if any(c.verdict == FAILS for c in decided):
            return NOT, decided
        if all(c.verdict == IDLE for c in decided):
            return ANY, decided
        if any(c.verdict not in (HOLDS, IDLE) for c in decided):
            return SOME, decided
        if figure.in_number and all(c.verdict == HOLDS for c in decided):
            return NUMBER, decided
        return SHAPE, decided

    def graded(self):
        """The table of the paper's figures."""
        rows, count = [], dict.fromkeys(GRADES, 0)
        for figure, scenario in self.figures:
            grade, decided = self.grade(figure)
            count[grade] += 1
            rows.append((figure.title, figure.words,
                         ". ".join(filter(None, (deciders(decided),
                                                 figure.note))),
                         f"**{grade}**", f"[{scenario}](../../sim/scenarios/"
                         f"{scenario}.scn)"))
        table = Page("", "", None, None)
        table.text(f"{tally(count)} What a figure's verdict means:", GRADING,
                   SOURCES)
        table.table(("figure", "the paper", "its claims here", "verdict",
                     "scenario"), rows)
        return table.parts

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
        parts = [NOTICE + f"# {self.title}", self.purpose]
        if self.figures:
            parts += ["## The paper's figures", *self.graded()]
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


def deciders(claims):
    """Names of claims by their verdict."""
    return "; ".join(
        f"{verdict}: " + ", ".join(f"`{c.name}`" for c in claims
                                   if c.verdict == verdict)
        for verdict in dict.fromkeys(c.verdict for c in claims))


def tally(count):
    """In words that write_index() reads again."""
    total = sum(count.values())
    return f"Of {total} figures and tables, " + ", ".join(
        f"{n} {grade if n == 1 else plural(grade)}"
        for grade, n in count.items() if n) + "."


def plural(grade):
    for one, many in (("agrees", "agree"), ("does", "do")):
        grade = grade.replace(one, many)
    return grade


def tallied(text):
    """The counts of a page; None: it is not about a paper."""
    found = re.search(r"Of (\d+) figures and tables, ([^.]*)\.", text)
    if not found:
        return None
    counts = dict.fromkeys(GRADES, 0)
    for number, words in re.findall(r"(\d+) ([^,]+)", found[2]):
        grade = next(g for g in GRADES if words in (g, plural(g)))
        counts[grade] = int(number)
    return list(counts.values())


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


def papers_figures(module):
    """The figures of a paper that a page is to have."""
    return [f for some in (getattr(module, n, ()) for n in (
        "FIGURES", "DYNAMIC")) if isinstance(some, tuple) for f in some]


def papers_count(module):
    """How many these are."""
    return len(papers_figures(module))


def judgements(modules):
    """How many sets of claims decide on all figures."""
    return sum(len({f.claims for f in papers_figures(m)})
               for m in modules.values())


def write_index(folder, modules):
    """From the pages that are there, whichever run made them."""
    parts = [NOTICE + "# The papers, reproduced"]
    parts.append(
        "Every experiment of the papers that Perigee rests on, done again with "
        "the engines of this library on virtual networks. `./dev reproduce` "
        "makes these pages; [how to change an experiment or add one]"
        "(experiments.md). The quick set has fewer seeds and points and "
        "shorter runs.")
    rows, others, total = [], [], [0] * len(GRADES)
    for name, module in modules.items():
        if not (folder / f"{name}.md").is_file():
            continue
        text = (folder / f"{name}.md").read_text(encoding="utf-8")
        link = f"[{module.TITLE}]({name}.md)"
        count = tallied(text)
        if count is None and papers_count(module) > 0:
            rows.append((link, "earlier form", papers_count(module),
                         *[0] * (len(GRADES) - 1), papers_count(module)))
            total[-1] += papers_count(module)
            continue
        if count is None:
            others.append(f"- {link}")
            continue
        total = [a + b for a, b in zip(total, count)]
        rows.append((link, "quick" if QUICK in text else "full",
                     sum(count), *count))
    page = Page("", "", None, None)
    page.text("The table counts each figure and table of the papers once. "
              "Claims of our own do not count. Figures of the same runs, such "
              "as window and throughput, share their claims, so "
              f"{judgements(modules)} sets of claims decide on all. What agrees "
              "with any protocol is reproduced as printed, too, but is no "
              "evidence for the protocol. A page in an earlier form is of an "
              "earlier engine and counts as not run:")
    page.table(("page", "set", "all", *GRADES),
               rows + [("all", "", sum(total), *total)])
    page.text("[What was learnt from each paper](report.md), and [what is built "
              "differently](differences.md), with the reason.")
    if others:
        page.text("Not about a paper's figures:", "\n".join(others))
    (folder / "index.md").write_text(
        "\n\n".join(parts + page.parts) + "\n", encoding="utf-8")


def purpose(module):
    """The first line of a page: PURPOSE, or that of a page on a paper."""
    return getattr(module, "PURPOSE", "") or PURPOSE.format(module.AUTHORS)


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
            print(f"reproduce: {name}: {lab.absent(plans[name].values())}, so "
                  "what they give is left out; ./dev reproduce --with-ns2 or "
                  "--with-ns3 installs it (Debian: ns2, libns3-dev), "
                  "--with-trials builds it", file=sys.stderr)
        ready[name] = jobs
    return ready


def made(lab, jobs, seeds):
    """When the runs of a page were made, which its text says."""
    newest = max(lab.path(lab.key(j)).stat().st_mtime for j in jobs.values()) \
        if jobs else 0
    day = datetime.datetime.fromtimestamp(newest, datetime.timezone.utc)
    return (f"*{len(jobs)} runs, the newest of {day:%Y-%m-%d}; most points "
            f"with {seeds} seed(s).*")


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
                    len(module.seeds(quick)), purpose(module))
        if quick:
            page.text(QUICK)
        page.text(made(lab, jobs, len(module.seeds(quick))))
        module.report(page, {k: lab.load(j) for k, j in jobs.items()}, quick)
        print(f"reproduce: {name}: {len(jobs)} runs, "
              f"{lab.cost(lab.distinct([jobs])) / 60:.1f} min of processor time",
              file=sys.stderr)
        (folder / f"{name}.md").write_text(page.markdown(), encoding="utf-8")
        claims += page.claims
    write_index(folder, everything)
    print(f"reproduce: pages are in {folder}", file=sys.stderr)
    wrong = len(modules) - len(ready) + (check(claims) if checking else 0)
    return 1 if wrong else 0
