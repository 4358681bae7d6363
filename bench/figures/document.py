# SPDX-License-Identifier: MIT
"""The page RESULTS.md."""

import dataclasses
import re

AT_MOST, AT_LEAST = "bound.at_most.", "bound.at_least."

HEAD = """# Results of the bench programs

`python3 bench/results.py` has written this page. [README.md](README.md) says how the programs measure and what their
peers are; [docs/performance.md](../docs/performance.md) has the ten figures that matter to a user.
"""


@dataclasses.dataclass
class Run:
    """What is known of one run of a program."""

    when: str = ""
    commit: str = ""
    setup: dict = dataclasses.field(default_factory=dict)  # machine and versions
    load: float = 0  # average of the machine, before
    seconds: float = 0
    is_quick: bool = False
    failure: str = ""
    numbers: dict = dataclasses.field(default_factory=dict)
    printed: str = ""

    def figures(self):
        """(name, bound, value, verdict) of all numbers that have a bound, in the order of the program."""
        for name, bound in self.numbers.items():
            for prefix, word in ((AT_MOST, "at most"), (AT_LEAST, "at least")):
                if name.startswith(prefix):
                    figure = name.removeprefix(prefix)
                    value = self.numbers.get(figure)
                    is_met = value is not None and (value <= bound if prefix == AT_MOST else value >= bound)
                    verdict = "not measured" if value is None else "met" if is_met else "**missed**"
                    yield figure, f"{word} {text_of(bound)}", "" if value is None else text_of(value), verdict


def text_of(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def table(*rows):
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "| " + " | ".join("---" for _ in rows[0]) + " |", *lines[1:]]) + "\n"


def overview(runs):
    """Which figures have met their bounds, and which programs have none."""
    rows = [(f"[{program.name}](#{program.name})", f"`{name}`", *rest) for program, run in runs.items() if run for name, *rest in run.figures()]
    counts = [f"{sum(row[-1] == verdict for row in rows)} {verdict}" for verdict in ("met", "**missed**", "not measured")]
    lists = [("Failed", [f"`{program.name}` {run.failure}" for program, run in runs.items() if run and run.failure]),
             ("Not run", [f"`{program.name}`" for program, run in runs.items() if not run]),
             ("Run with small sizes, which only shows that the program works", [f"`{program.name}`" for program, run in runs.items() if run and run.is_quick])]
    lines = [f"Of {len(rows)} figures: {', '.join(counts)}.", *(f"{title}: {', '.join(names)}." for title, names in lists if names)]
    return "## Figures\n\n" + "".join(f"- {line}\n" for line in lines) + "\n" + table(("program", "figure", "bound", "measured", "met"), *rows)


def printed(program, run):
    """What the program has printed, without its figures and the tables that are left out."""
    text = re.sub(r"^figure +value +bound +met\n-+\n|^\S+ +\S+ +[<>]= \S+ +(yes|NO|not measured)\n", "", run.printed, flags=re.M)
    if program.left_out:
        text = re.sub(rf"^(?:{program.left_out}).*\n\n(?:.+\n)+", "", text, flags=re.M)
    text = re.sub(r" +$", "", re.sub(r"\n{3,}", "\n\n", text), flags=re.M).strip("\n")
    return f"\n```text\n{text}\n```\n" if text else ""


def section(program, run, pictures, setups):
    text = f"\n## {program.name}\n\n{program.about}\n\n"
    if not run:
        return text + "Not run.\n"
    if run.when:
        setup = f", setup {setups.index(run.setup) + 1}" if len(setups) > 1 else ""
        text += f"Measured {run.when} on commit {run.commit}{setup}, in {run.seconds:.0f} s; load average before: {run.load:.2f}.\n"
    if run.is_quick:
        text += "Small sizes, which only show that the program works.\n"
    if run.failure:
        return text + f"**Failed**: {run.failure}.\n"
    return text + "".join(f"\n![{program.name}](results/{name})\n" for name in pictures) + printed(program, run)


def page(runs, pictures):
    """`runs`: of each program, or None; `pictures`: the names of its files."""
    setups = []
    for run in runs.values():
        if run and run.setup and run.setup not in setups:
            setups.append(run.setup)
    names = dict.fromkeys(name for setup in setups for name in setup)
    titles = [f"setup {number}" for number in range(1, len(setups) + 1)] if len(setups) > 1 else ["" for _ in setups]
    described = [(name, *(setup.get(name, "") for setup in setups)) for name in names]
    return "".join([HEAD, "\n## Machine and versions\n\n", table(("", *titles), *described), "\n", overview(runs),
                    *(section(program, run, pictures.get(program, ()), setups) for program, run in runs.items())])
