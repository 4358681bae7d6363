#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the bench programs, one after the other, and writes one HTML page of their figures.

    cmake --preset bench && cmake --build --preset bench
    python3 bench/page.py -o page.html --figures bench/results

The numbers and the output of each program go into a folder beside the page, from which --from draws the page again. The page names the machine,
the versions, and each figure with its bound. A program that fails or is missing is named on the page, and the exit status is then 1. Needs matplotlib.
"""

import argparse
import dataclasses
import json
import sys
from pathlib import Path

from figures import document, machine, plots, programs
from figures import numbers as measured

# The pictures of the documentation: file, program, which of its panels, what they show. RESULTS.md has them.
PICTURES = (
    ("bench_save_load.svg", "save_load", (0, 2, 3), "Saves and loads of a transformer with Adam, in GB/s"),
    ("bench_stall.svg", "stall", (0, 1), "What a trainer waits for a save, in seconds"),
    ("bench_formats.svg", "study", (0,), "The size of a checkpoint in the formats of deep-learning frameworks"),
    ("bench_pieces.svg", "partition", (0,), "How evenly ranks divide the tensors of BERT-large"),
    ("bench_speed_up.svg", "simulate", (0,), "Predicted speed-up of saves by many ranks"),
    ("evidence_rework.svg", "rework", (0, 1, 2, 3, 4), "Rework after a restart, by method, with 5 % of the bytes per period"),
    ("evidence_buckets.svg", "rework", (5, 6), "How the loss changes if one bucket of a delta is dropped"),
)


@dataclasses.dataclass
class Run:
    """What is known of one program: its numbers, its figures, and what went wrong."""

    program: programs.Program
    numbers: dict
    figures: list
    failure: str
    is_quick: bool


def read_run(program, folder, known):
    """The run of `program` whose file is in `folder`."""
    failure = known.get("failure", "")
    numbers = {}
    try:
        numbers = measured.read(folder / f"{program.name}.json")
    except FileNotFoundError:
        failure = failure or "is missing: there are no numbers of it"
    except (OSError, ValueError, OverflowError, RecursionError) as error:
        failure = failure or f"left numbers that cannot be read: {error}"
    return Run(program, numbers, measured.figures(numbers), failure, known.get("quick", False))


def chosen_programs(only):
    if not only:
        return programs.PROGRAMS
    names = {program.name: program for program in programs.PROGRAMS}
    unknown = [name for name in only.split(",") if name not in names]
    if unknown:
        raise SystemExit(f"page.py: no program is called {', '.join(unknown)}; there are {', '.join(names)}")
    return [names[name] for name in only.split(",")]


def run_all(chosen, options, folder):
    """Runs all programs; facts of the machine and of each run go into <folder>/runs.json."""
    folder.mkdir(parents=True, exist_ok=True)
    root = Path(__file__).resolve().parent.parent
    facts = {"machine": machine.machine(folder), "versions": machine.versions(root, options.build), "programs": {}}
    for number, program in enumerate(chosen, 1):
        print(f"{number}/{len(chosen)} {program.name} ...", flush=True)
        done = programs.run(program, options.build.resolve(), options.release.resolve(), options.data and options.data.resolve(), folder, options.quick)
        print(f"    {done['failure'] or 'done'}, {done['seconds']:.0f} s", flush=True)
        facts["programs"][program.name] = done
        (folder / "runs.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def write_pictures(runs, folder):
    """The pictures of the chosen programs; the names of those that have no numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    by_name = {run.program.name: run for run in runs}
    missing = []
    for file, name, which, description in PICTURES:
        if name not in by_name:
            continue
        panels = [by_name[name].program.panels[number] for number in which]
        text = plots.draw_panels(file.removesuffix(".svg"), panels, by_name[name].numbers, description, is_file=True)
        if text is None:
            missing.append(file)
        else:
            (folder / file).write_text(text + "\n", encoding="utf-8")
    return missing


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=Path, default=Path("build/bench"), help="the build folder of the bench programs (build/bench)")
    arguments.add_argument("--release", type=Path, default=Path("build/release"), help="the build folder of the Python package (build/release)")
    arguments.add_argument("--data", type=Path, help="a folder with MNIST's idx files; without it, digits are drawn")
    arguments.add_argument("--only", metavar="NAME,...", help="the programs to run")
    arguments.add_argument("--quick", action="store_true", help="small sizes, to see that all programs work")
    arguments.add_argument("--from", dest="source", metavar="DIR", type=Path, help="draw the numbers in DIR, and run nothing")
    arguments.add_argument("--runs", metavar="DIR", type=Path, help="where numbers and output go; by default beside the page, page_runs for page.html")
    arguments.add_argument("--figures", metavar="DIR", type=Path, help="also write the pictures of the documentation into DIR")
    arguments.add_argument("-o", dest="page", metavar="FILE", type=Path, default=Path("page.html"), help="the page (page.html)")
    options = arguments.parse_args()
    chosen = chosen_programs(options.only)
    if options.source and not options.source.is_dir():
        raise SystemExit(f"page.py: {options.source} is no folder")

    folder = options.source or options.runs or options.page.with_name(options.page.stem + "_runs")
    if not options.source:
        run_all(chosen, options, folder.resolve())
    known = {}
    if (folder / "runs.json").exists():
        known = json.loads((folder / "runs.json").read_text(encoding="utf-8"))
    runs = [read_run(program, folder, known.get("programs", {}).get(program.name, {})) for program in chosen]
    facts = {title: known.get(title) or [["not recorded", ""]] for title in ("machine", "versions")}
    options.page.write_text(document.page(runs, facts), encoding="utf-8")
    print(f"{options.page}: {sum(len(run.figures) for run in runs)} figures of {len(runs)} programs")

    failed = [f"{run.program.name} {run.failure}" for run in runs if run.failure]
    missing = write_pictures(runs, options.figures) if options.figures else []
    for line in [*failed, *(f"{file} has no numbers and is not drawn" for file in missing)]:
        print(f"page.py: {line}", file=sys.stderr)
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())
