# SPDX-License-Identifier: MIT
"""Plots as SVG text. Colours are variables of the style sheet (COLOURS), so that one plot serves light and dark pages."""

import io
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

from . import programs  # noqa: E402
from .numbers import text_of  # noqa: E402

# name: (light, dark). The plots are drawn in unused shades of black, which stand for the names.
COLOURS = {
    "surface": ("#ffffff", "#15181e"),
    "ink": ("#1d2433", "#e7eaf0"),
    "faint": ("#5b6577", "#9aa4b5"),
    "grid": ("#e1e5eb", "#323945"),
    "own": ("#1f62d0", "#6aa5ff"),
    "peer": ("#a3adbc", "#6b7688"),
    "missed": ("#b93815", "#ff8a5c"),
    "line2": ("#0f8a6d", "#3fc7a2"),
    "line3": ("#a15c00", "#e0a040"),
}
SHADES = {name: f"#0000{number + 1:02x}" for number, name in enumerate(COLOURS)}
INK, FAINT, GRID, OWN, PEER, MISSED = (SHADES[name] for name in ("ink", "faint", "grid", "own", "peer", "missed"))

plt.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "cairn", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9,
    "text.color": INK, "axes.labelcolor": FAINT, "axes.edgecolor": GRID, "xtick.color": FAINT, "ytick.color": INK, "axes.titlecolor": INK,
    "axes.titlesize": 10, "axes.titlelocation": "left", "axes.titleweight": "bold", "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "grid.color": GRID, "grid.linewidth": 0.8,
})


def style_sheet():
    """The colours as variables, light and dark."""
    light, dark = (";".join(f"--{name}:{pair[which]}" for name, pair in COLOURS.items()) for which in (0, 1))
    return f":root{{{light}}}@media (prefers-color-scheme: dark){{:root{{{dark}}}}}"


def svg_of(drawing, name, description, is_file=False):
    """The SVG text of a matplotlib figure. `name` makes its ids unique in a page; a file of its own has the style sheet and a background."""
    out = io.StringIO()
    drawing.savefig(out, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.1, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close(drawing)
    text = out.getvalue()
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", text)
    for colour, shade in SHADES.items():
        text = text.replace(shade, f"var(--{colour})")
    text = re.sub(r"font: (\d[^;\"]*?)'DejaVu Sans'[^;\"]*", r"font: \1'DejaVu Sans', Verdana, sans-serif", text)
    extra = f"<title>{description}</title>"
    if is_file:
        extra += f"<style>{style_sheet()}</style><rect width=\"100%\" height=\"100%\" fill=\"var(--surface)\"/>"
    first = text.index(">") + 1
    return text[:first].replace("<svg", '<svg role="img"', 1) + extra + text[first:]


def draw_bars(axes, panel, numbers):
    points = panel.points(numbers)
    shown = [value for _, value, _ in points if value is not None]
    places = range(len(points))
    widest = max([*shown, 0])
    lowest = min([*shown, 0])
    for place, (_, value, is_own) in zip(places, points):
        if value is not None:
            axes.barh(place, value, height=0.62, color=OWN if is_own else PEER)
        axes.annotate(text_of(value, 3, value is not None and value != 0 and value != int(value)), (max(value or 0, 0), place), (4, 0), textcoords="offset points", va="center", ha="left", fontsize=8,
                      color=FAINT if value is None else INK)
    axes.set_yticks(list(places), [label for label, _, _ in points])
    axes.set_ylim(len(points) - 0.4, -0.6)
    axes.set_xlim(lowest * 1.05, (widest or 1) * 1.28)
    axes.tick_params(length=0)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_title(panel.title)
    better = {True: "; more is better", False: "; less is better", None: ""}[panel.more_is_better]
    axes.set_xlabel(panel.unit + better, loc="left")


def draw_lines(axes, panel, numbers):
    colours = [OWN, MISSED, SHADES["line2"], SHADES["line3"]] if len(panel.labels) > 2 else [OWN, PEER]
    for (label, points, is_own), colour in zip(panel.series(numbers), colours):
        if not points:
            continue
        xs, ys = zip(*points)
        axes.plot(xs, ys, color=colour, linewidth=2 if is_own else 1.6, marker="o", markersize=3.5, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    low, high = axes.get_ylim()
    if high < 50 * low:
        axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    axes.yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes.tick_params(which="both", length=0, labelsize=8)
    axes.grid(True)
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x_unit, loc="left")
    axes.set_ylabel(panel.unit, loc="top")
    if axes.lines:
        axes.legend(frameon=False, fontsize=8)


def has_numbers(panel, numbers):
    if isinstance(panel, programs.Bars):
        return any(value is not None for _, value, _ in panel.points(numbers))
    return any(points for _, points, _ in panel.series(numbers))


def draw_panels(name, panels, numbers, description, is_file=False):
    """The panels of a program that have numbers, beside each other; None where no panel has any."""
    shown = [panel for panel in panels if has_numbers(panel, numbers)]
    if not shown:
        return None
    columns = min(len(shown), 3)
    rows = -(-len(shown) // columns)
    longest = max((len(panel.labels) for panel in shown), default=1)
    height = max(0.36 * longest + 0.9, 2.6 if any(isinstance(p, programs.Lines) for p in shown) else 0)
    drawing, grid = plt.subplots(rows, columns, figsize=(4.3 * columns, height * rows), squeeze=False, layout="constrained")
    drawing.get_layout_engine().set(h_pad=0.12, w_pad=0.1)
    for axes in grid.flat[len(shown):]:
        axes.set_visible(False)
    for axes, panel in zip(grid.flat, shown):
        (draw_bars if isinstance(panel, programs.Bars) else draw_lines)(axes, panel, numbers)
    return svg_of(drawing, name, description, is_file)


def draw_bounds(name, figures):
    """Each figure against its bound, on one logarithmic axis: how many times better than the bound it is. None without figures."""
    shown = [figure for figure in figures if figure.times_bound is not None]
    if not shown:
        return None
    drawing, axes = plt.subplots(figsize=(8.6, 0.26 * len(shown) + 0.9), layout="constrained")
    ratios = [figure.times_bound for figure in shown]
    low, high = min([*ratios, 1]) / 1.3, max([*ratios, 1]) * 1.3
    for place, (figure, ratio) in enumerate(zip(shown, ratios)):
        is_met = figure.verdict == "met"
        axes.plot([1, ratio], [place, place], color=GRID, linewidth=2, zorder=1)
        axes.plot([ratio], [place], color=OWN if is_met else MISSED, marker="o" if is_met else "X", markersize=6 if is_met else 7, linestyle="none", zorder=2)
    axes.axvline(1, color=INK, linewidth=1)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    ticks = [t for t in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000, 1e4) if low <= t <= high]
    while len(ticks) > 9:
        ticks = [t for t in ticks if t == 1 or ticks.index(t) % 2 == ticks.index(1) % 2]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_yticks(range(len(shown)), [figure.name for figure in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.tick_params(length=0, labelsize=8)
    axes.grid(True, axis="x")
    axes.set_xlabel("times better than the bound; a dot has met it, a cross to the left of the line has missed it", loc="left")
    return svg_of(drawing, name, "figures against their bounds")
