#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the units of the matrix test: generate.py FOLDER [--part I/N]

The types are every category nested in every category, and a sample of 2,000 types nested three and four deep. A nesting that C++ does
not allow is left out; one that the library refuses becomes an assertion that it is refused, for the reason in the table. Numbers count as
no level: std::vector<std::optional<int>> is two deep. With --part only one of N parts of the sample is written."""
import argparse
import random
from pathlib import Path

SEED = 20261123
SAMPLE = 2000


class Type:
    """A C++ type, and what the rules ask about it."""

    def __init__(self, name, *, flat=False, equal=True, less=False, key=None, copies=True, size=0, is_bool=False):
        self.name = name
        self.flat = flat  # of fixed layout: a container of them is saved as columns
        self.equal = equal  # has operator==, which compares values
        self.less = less  # has operator<, which compares values
        self.key = less if key is None else key  # the library can order the keys of an unordered container
        self.copies = copies
        self.size = size  # in bytes, of a trivially copyable type; 0: of another one
        self.is_bool = is_bool


class Refused:
    """The library refuses the nesting at compile time."""

    def __init__(self, name, problem):
        self.name, self.problem = name, problem


# Category -> types that contain no other ones.
LEAVES = {
    "scalar": [
        Type("std::int32_t", flat=True, less=True, size=4),
        Type("bool", flat=True, less=True, size=1, is_bool=True),
        Type("matrix::color", flat=True, less=True, size=1),
        Type("cairn::bfloat16", flat=True, size=2),
    ],
    "wide_scalar": [Type("long double", less=True)],
    "distribution": [Type("std::uniform_real_distribution<double>")],
    "complex": [Type("std::complex<float>", flat=True, size=8)],
    "duration": [Type("std::chrono::nanoseconds", flat=True, less=True, size=8)],
    "number": [Type("matrix::number", less=True, size=4)],
    "tensor": [Type("matrix::tensor"), Type("matrix::viewed", equal=False)],
    "bits": [Type("std::bitset<40>", size=8), Type("std::vector<bool>", less=True)],
    "path": [Type("std::filesystem::path", less=True)],
    "sequence": [Type("std::string", less=True)],
    "random": [Type("std::minstd_rand", size=8), Type("std::normal_distribution<double>")],
    "adapted": [Type("matrix::grid")],
}


# A rule returns a problem of the library (a text), False (C++ does not allow the nesting) or None (it is saved).
def needs(trait):
    return lambda t: None if getattr(t, trait) else False


def flat_rule(t):
    return None if t.flat else "element_type"


def key_rule(t):
    if not t.equal:
        return False
    return None if t.key else "keys"


def atomic_rule(t):
    return None if t.size in (1, 2, 4, 8) else False  # larger ones need libatomic


VALUE = "equal copies"
ORDERED = "equal less copies"
# Category -> types that contain one: pattern, traits that are those of the content, other traits, rule.
HOLDERS = {
    "adapted": [("matrix::parted<@>", VALUE, {}, None),
                ("matrix::closed<@>", VALUE, {}, needs("copies"))],
    "skipped": [("cairn::skip<@>", "copies", {"equal": False}, None)],
    "references": [("matrix::scattered<@>", "", {"equal": False}, None)],
    "listed": [("matrix::listed<@>", "flat " + VALUE, {}, None),
               ("matrix::derived<@>", "flat " + ORDERED, {}, None)],
    "per_rank": [("cairn::per_rank<@>", "copies", {"equal": False}, None)],
    "fixed_array": [("std::array<@, 2>", "flat " + ORDERED, {}, None),
                    ("matrix::with_array<@>", "flat key " + VALUE, {}, None)],
    "tuple": [("std::pair<@, std::string>", ORDERED, {}, None),
              ("std::tuple<float, @>", "flat " + ORDERED, {}, None)],
    "record": [("matrix::record<@>", "flat key " + ORDERED, {}, None)],
    "bridged": [("matrix::archived<@>", VALUE, {}, None)],
    "span": [("matrix::spanned<@>", "", {"equal": False}, flat_rule)],
    "valarray": [("std::valarray<@>", "", {"equal": False}, flat_rule)],
    "sequence": [("std::vector<@>", ORDERED, {}, lambda t: False if t.is_bool else None),
                 ("std::deque<@>", ORDERED, {}, None),
                 ("std::list<@>", ORDERED, {}, None),
                 ("std::forward_list<@>", ORDERED, {}, None)],
    "map": [("std::map<std::string, @>", ORDERED, {}, None),
            ("std::unordered_map<std::int32_t, @>", "equal copies", {}, None),
            ("std::multimap<double, @>", ORDERED, {}, None),
            ("std::map<@, std::int32_t>", ORDERED, {}, needs("less"))],
    "set": [("std::set<@>", ORDERED, {}, needs("less")),
            ("std::unordered_set<@, matrix::one_bucket>", "equal copies", {}, key_rule)],
    "container_adaptor": [("std::stack<@>", ORDERED, {}, None),
                          ("std::queue<@>", ORDERED, {}, None),
                          ("std::priority_queue<@>", "copies", {"equal": False}, needs("less"))],
    "optional": [("std::optional<@>", ORDERED, {}, None)],
    "variant": [("std::variant<std::int32_t, @>", ORDERED, {}, None)],
    "unique_pointer": [("std::unique_ptr<@>", "", {"equal": False, "copies": False}, None),
                       ("std::unique_ptr<matrix::shape<@>>", "", {"equal": False, "copies": False}, None)],
    "shared_pointer": [("std::shared_ptr<@>", "", {"equal": False}, None),
                       ("std::shared_ptr<const @>", "", {"equal": False}, None)],
    "weak_pointer": [("matrix::observed<@>", "", {"equal": False}, None)],
    "atomic": [("std::atomic<@>", "", {"equal": False, "copies": False}, atomic_rule)],
}
NUMBER = LEAVES["scalar"][0]


def nest(holder, content):
    """The holder of the content: a Type, a Refused, or None."""
    pattern, kept, other, rule = holder
    name = pattern.replace("@", content.name)
    problem = rule(content) if rule else None
    if problem is False:
        return None
    if problem:
        return Refused(name, problem)
    return Type(name, **{trait: getattr(content, trait) for trait in kept.split()}, **other)


def all_of(holders, content):
    return [made for made in (nest(holder, content) for holder in holders) if made]


class Chooser:
    """Random choices that are the same with every version of Python, which promises this of random() alone."""

    def __init__(self):
        self.random = random.Random(SEED).random

    def sample(self, made, count):
        """At most that many of them, in random order."""
        left, taken = list(made), []
        while left and len(taken) < count:
            taken.append(left.pop(int(self.random() * len(left))))
        return taken


def of_kind(kind, made):
    return [each for each in made if isinstance(each, kind)]


def types_only(made):
    return of_kind(Type, made)


def members():
    """Category -> its types; those that contain one contain a number."""
    return {kind: LEAVES.get(kind, []) + types_only(all_of(HOLDERS.get(kind, []), NUMBER)) for kind in {**LEAVES, **HOLDERS}}


def pairs(choose):
    """Each category nested in each category: of the types that do so, one that is saved and one that is refused, chosen at random. In
    groups of the same content."""
    for contents in members().values():
        group = []
        for holders in HOLDERS.values():
            made = [each for content in contents for each in all_of(holders, content)]
            for kind in (Type, Refused):
                group += choose.sample(of_kind(kind, made), 1)
        yield group


def sample(choose):
    """Groups of types three and four deep that share their contents: so a group takes less time to compile."""
    holders = sum(HOLDERS.values(), [])
    ones = sum(members().values(), [])
    left, seen = SAMPLE, set()
    while left > 0:
        group = []
        content = choose.sample(ones, 1)[0]
        for two in choose.sample(types_only(all_of(holders, content)), 3):
            three = types_only(all_of(choose.sample(holders, 16), two))
            group += three + [t for inner in choose.sample(three, 3) for t in all_of(choose.sample(holders, 5), inner)]
        group = [t for t in types_only(group) if t.name not in seen][:left]
        seen.update(t.name for t in group)
        left -= len(group)
        yield group


def write_if_changed(file, text):
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def unit(index, first, group):
    rows = [f'      row_of<{t.name}, comparison::{"equal" if t.equal else "none"}>({first + i}, "{t.name}"),'
            for i, t in enumerate(types_only(group))]
    refused = [f"static_assert(is_refused<{t.name}, cairn::detail::problem::{t.problem}>);" for t in of_kind(Refused, group)]
    return "\n".join(['#include "matrix/row.hpp"', "", "namespace matrix {", "", *refused, "",
                      f"std::vector<row> rows_{index}() {{", "  return {", *rows, "  };", "}", "", "}  // namespace matrix", ""])


def table(count):
    return "\n".join(['#include "matrix/row.hpp"', "", "namespace matrix {", "",
                      *(f"std::vector<row> rows_{i}();" for i in range(count)), "",
                      "std::vector<row> all_rows() {", "  std::vector<row> all;",
                      "  for (const auto rows : {" + ", ".join(f"rows_{i}" for i in range(count)) + "})",
                      "    for (const row& each : rows()) all.push_back(each);", "  return all;", "}", "",
                      "}  // namespace matrix", ""])


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--part", default="0/1")
    arguments = arguments.parse_args()
    folder = arguments.folder
    part, parts = map(int, arguments.part.split("/"))
    folder.mkdir(parents=True, exist_ok=True)
    choose = Chooser()
    always = [sum(members().values(), []), *pairs(choose)]
    first, units = 0, 0
    for index, group in enumerate([*always, *sample(choose)]):
        if index < len(always) or index % parts == part:
            write_if_changed(folder / f"unit_{units}.cpp", unit(units, first, group))
            units += 1
        first += len(types_only(group))
    write_if_changed(folder / "table.cpp", table(units))
    for old in folder.glob("unit_*.cpp"):
        if int(old.stem.split("_")[1]) >= units:
            old.unlink()


main()
