# SPDX-License-Identifier: MIT
"""Pictures of a program: bars of its numbers, and those that it draws itself."""

import html
import shutil

WIDTH, LABELS, BARS, ROW, HEAD = 470, 215, 190, 18, 44  # of a panel, in pixels


def bars(panel, numbers, left, top):
    """One panel as SVG elements."""

    def text(x, y, words, look=""):
        return f'<text x="{left + x:.1f}" y="{top + y:.1f}"{look}>{html.escape(words)}</text>'

    points = panel.points(numbers)
    values = [value for _, value in points if value is not None]
    low, high = min([*values, 0]), max([*values, 0])
    scale = BARS / ((high - low) or 1)
    zero = LABELS - low * scale
    better = {True: "; more is better", False: "; less is better", None: ""}[panel.more_is_better]
    yield text(0, 14, panel.title, ' font-weight="600"')
    yield text(0, 30, panel.unit + better, ' fill="#667085"')
    for row, (label, value) in enumerate(points):
        y = HEAD + ROW * row
        yield text(LABELS - 8, y + 10, label, ' text-anchor="end"')
        if value is not None:
            colour = "#2563c9" if label.startswith("Cairn") else "#b3bccb"
            yield f'<rect x="{left + zero + min(value, 0) * scale:.1f}" y="{top + y}" width="{abs(value) * scale:.1f}" height="12" fill="{colour}"/>'
        yield text(zero + max(value or 0, 0) * scale + 5, y + 10, "not measured" if value is None else f"{value:.3g}")


def draw(panels, numbers):
    """The panels that have numbers, two in a row, as the text of an SVG file; empty where none has."""
    shown = [panel for panel in panels if any(value is not None for _, value in panel.points(numbers))]
    if not shown:
        return ""
    height = HEAD + ROW * max(len(panel.labels) for panel in shown) + 20
    lines = [element for place, panel in enumerate(shown) for element in bars(panel, numbers, 12 + WIDTH * (place % 2), 12 + height * (place // 2))]
    size = (12 + WIDTH * min(len(shown), 2), height * ((len(shown) + 1) // 2))
    begin = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#1d2433">'
    return "\n".join([begin.format(*size), '<rect width="100%" height="100%" fill="#fff"/>', *lines, "</svg>\n"])


def write(program, numbers, folder, to):
    """Writes the pictures of a program into `to`: those of its panels, and those that it has left in `folder`, now or before. Their names."""
    to.mkdir(exist_ok=True)
    names = []
    if text := draw(program.panels, numbers):
        names.append(f"{program.name}.svg")
        (to / names[0]).write_text(text, encoding="utf-8")
    for name in program.pictures.values():
        if (folder / name).exists():
            shutil.copyfile(folder / name, to / name)
        if (to / name).exists():
            names.append(name)
    return names
