# SPDX-License-Identifier: MIT
"""The page: one HTML file that needs no other."""

import html
import itertools

from . import plots
from .numbers import AT_LEAST, AT_MOST, text_of

STYLE = """
body{font:15px/1.5 'DejaVu Sans',Verdana,sans-serif;margin:0 auto;padding:1.5rem;max-width:84rem;background:var(--surface);color:var(--ink)}
h1{font-size:1.6rem;margin:0 0 .25rem}h2{font-size:1.2rem;margin:2.5rem 0 .25rem;padding-top:1rem;border-top:1px solid var(--grid)}
p{margin:.25rem 0 .75rem;max-width:60rem}a{color:var(--own)}
table{border-collapse:collapse;font-size:.87rem;margin:.75rem 0}th,td{padding:.2rem .9rem .2rem 0;border-bottom:1px solid var(--grid);text-align:left;vertical-align:top}
th{font-weight:600;color:var(--faint)}td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.scroll{overflow-x:auto}.facts{display:flex;flex-wrap:wrap;gap:0 4rem}.missed,.failure{color:var(--missed);font-weight:600}.not-measured,.faint{color:var(--faint)}
svg{max-width:100%;height:auto;display:block;margin:.5rem 0}summary{cursor:pointer;color:var(--faint)}
.counts{display:flex;flex-wrap:wrap;gap:.5rem 2.5rem;margin:1rem 0;padding:0;list-style:none}.counts b{display:block;font-size:1.7rem;line-height:1.2}
"""


def element(name, content, **attributes):
    text = "".join(f' {key.rstrip("_")}="{html.escape(str(value))}"' for key, value in attributes.items())
    return f"<{name}{text}>{content}</{name}>"


def table(header, rows, caption=""):
    """`rows` of cells, each (text, class or "")."""
    head = element("tr", "".join(element("th", html.escape(cell), scope="col") for cell in header))
    body = "".join(element("tr", "".join(element("td", html.escape(text), **({"class_": kind} if kind else {})) for text, kind in row)) for row in rows)
    caption = element("caption", html.escape(caption)) if caption else ""
    return element("div", element("table", caption + element("thead", head) + element("tbody", body)), class_="scroll")


def figure_rows(figures, program=None):
    for figure in figures:
        kind = figure.verdict.replace(" ", "-")
        bound = ("at most " if figure.is_upper else "at least ") + text_of(figure.bound)
        first = [(program, "")] if program else []
        yield [*first, (figure.name, ""), (text_of(figure.value), "number"), (bound, "number"), (figure.verdict, kind)]


def summary(runs):
    """How many figures have met their bounds, and those that have not."""
    every = [(run, figure) for run in runs for figure in run.figures]
    counts = [(sum(figure.verdict == verdict for _, figure in every), verdict) for verdict in ("met", "missed", "not measured")]
    failed = sum(bool(run.failure) for run in runs)
    items = [*counts, (failed, "programs that failed or are missing")]
    text = element("ul", "".join(element("li", f"<b>{count}</b>{words}") for count, words in items), class_="counts")
    missed = [row for run, figure in every if figure.verdict == "missed" for row in figure_rows([figure], run.program.name)]
    if missed:
        text += element("p", "Figures that miss their bounds:") + table(["program", "figure", "value", "bound", "met"], missed)
    return text


def section(run):
    name = run.program.name
    parts = [element("h2", html.escape(name), id=name), element("p", html.escape(run.program.what) + ".")]
    if run.is_quick:
        parts.append(element("p", "A quick run with small sizes: its figures only show that the program works.", class_="faint"))
    if run.failure:
        parts.append(element("p", html.escape(f"{name} {run.failure}."), class_="failure"))
    parts.append(plots.draw_panels(f"{name}-panels", run.program.panels, run.numbers, html.escape(run.program.what)) or "")
    if run.figures:
        parts.append(plots.draw_bounds(f"{name}-bounds", run.figures) or "")
        parts.append(table(["figure", "value", "bound", "met"], figure_rows(run.figures)))
    others = [[(number, ""), (text_of(value), "number")] for number, value in run.numbers.items() if not number.startswith((AT_MOST, AT_LEAST))]
    if others:
        parts.append(element("details", element("summary", f"All {len(others)} numbers") + table(["number", "value"], others)))
    return "".join(parts)


def page(runs, facts):
    """The text of the page. `facts`: groups of (name, value), by title."""
    links = ", ".join(element("a", html.escape(run.program.name), href=f"#{run.program.name}") for run in runs)
    described = "".join(table([title, ""], [[(name, ""), (value, "")] for name, value in group]) for title, group in facts.items())
    described = element("div", described, class_="facts")
    body = "".join(itertools.chain(
        [element("h1", "Benchmarks of Cairn"), element("p", f"Each program compares Cairn with its peers on the same machine. {links}.")],
        [summary(runs), described], map(section, runs)))
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
            f'<meta name="color-scheme" content="light dark"><title>Benchmarks of Cairn</title><style>{plots.style_sheet()}{STYLE}</style></head><body>{body}</body></html>\n')
