# SPDX-License-Identifier: MIT
"""The numbers of one run of a bench program, and its figures: those that have a bound."""

import dataclasses
import json
import math

AT_MOST, AT_LEAST = "bound.at_most.", "bound.at_least."


@dataclasses.dataclass(frozen=True)
class Figure:
    name: str
    value: float | None  # None: not measured
    bound: float
    is_upper: bool

    @property
    def verdict(self):
        if self.value is None:
            return "not measured"
        return "met" if (self.value <= self.bound if self.is_upper else self.value >= self.bound) else "missed"

    @property
    def times_bound(self):
        """How many times better than its bound the value is; below 1 it misses it. None where no ratio says that."""
        if self.value is None or self.value <= 0 or self.bound <= 0:
            return None
        return self.bound / self.value if self.is_upper else self.value / self.bound


def read(file):
    """The flat object of numbers in `file`; what is not finite counts as not measured. Raises ValueError where it is something else."""
    with open(file, encoding="utf-8") as text:
        found = json.load(text)
    if not isinstance(found, dict) or not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in found.values()):
        raise ValueError("is not a flat object of numbers")
    return {name: value for name, value in found.items() if math.isfinite(value)}


def figures(numbers):
    """All figures with a bound, in the order of the program."""
    found = []
    for name, bound in numbers.items():
        for prefix in (AT_MOST, AT_LEAST):
            if name.startswith(prefix):
                figure = name.removeprefix(prefix)
                found.append(Figure(figure, numbers.get(figure), bound, prefix == AT_MOST))
    return found


def text_of(value, digits=4, keeps_zeros=False):
    """That many significant digits, without an exponent where that is short."""
    if value is None:
        return "not measured"
    if not keeps_zeros and value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    if 1e-3 <= abs(value) < 1e6:
        text = f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
        return text.rstrip("0").rstrip(".") if "." in text and not keeps_zeros else text
    return f"{value:.{digits - 1}g}"
