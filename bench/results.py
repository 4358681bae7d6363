#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the bench programs, one after the other, and writes bench/RESULTS.md and its pictures.

    cmake --preset bench && cmake --build --preset bench
    cmake --preset release && cmake --build --preset release  # the last two programs measure it
    python3 bench/results.py --data DATA/mnist

What a program has measured and printed, when, and on which commit and machine, is kept in bench/results/NAME.json,
and what it wrote to stderr in build/results. RESULTS.md has all programs that have such a file: with --only, those that
are not run again stay as they were. A program that was not run, or that failed, is named; the exit status is 1 if one
has failed.
"""

import argparse
import dataclasses
import datetime
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

from figures import document, machine, pictures, programs

ROOT = Path(__file__).resolve().parent.parent


def numbers_in(file):
    """The flat object of numbers that a program wrote; what is not finite was not measured."""
    found = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or not all(type(value) in (int, float) for value in found.values()):
        raise ValueError("it is not a flat object of numbers")
    return {name: value for name, value in found.items() if math.isfinite(value)}


def measure(program, options, scratch, folder, setup):
    """Runs a program in `scratch`, and writes <folder>/<name>.json: its Run."""
    file = scratch / "numbers.json"
    for old in (file, *(place / picture for place in (scratch, folder) for picture in program.pictures.values())):
        old.unlink(missing_ok=True)
    run = document.Run(when=f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC", load=os.getloadavg()[0], is_quick=options.quick, **setup)
    began = time.monotonic()
    try:
        with open(scratch / f"{program.name}.log", "w", encoding="utf-8") as log:
            done = subprocess.run(program.command(options, file), cwd=scratch, env=programs.environment(options), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=log, encoding="utf-8", errors="replace", check=False)
        run.printed = done.stdout
        if done.returncode != 0:
            run.failure = f"ended with status {done.returncode}"
        else:
            run.numbers = numbers_in(file)
    except FileNotFoundError as error:
        run.failure = "wrote no numbers" if error.filename == str(file) else "is missing"
    except OSError as error:
        run.failure = f"cannot be run: {error.strerror}"
    except (ValueError, OverflowError, RecursionError) as error:
        run.failure = f"wrote numbers that cannot be read: {error}"
    file.unlink(missing_ok=True)
    run.seconds = time.monotonic() - began
    (folder / f"{program.name}.json").write_text(json.dumps(dataclasses.asdict(run), indent=1) + "\n", encoding="utf-8")
    return run


def run_of(program, folder):
    """What <folder>/<name>.json has; None where the program was not run."""
    try:
        return document.Run(**json.loads((folder / f"{program.name}.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, RecursionError) as error:
        return document.Run(failure=f"has a file that cannot be read: {error}")


def chosen_programs(only):
    known = {program.name: program for program in programs.PROGRAMS}
    names = only.split(",") if only else list(known)
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"results.py: no program is called {', '.join(unknown)}; there are {', '.join(known)}")
    return [known[name] for name in names]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=Path, default=ROOT / "build" / "bench", help="the build folder of the bench programs (build/bench)")
    arguments.add_argument("--release", type=Path, default=ROOT / "build" / "release", help="the build folder of the Python package and the program cairn (build/release)")
    arguments.add_argument("--data", type=Path, help="a folder mnist with MNIST's idx files, beside a folder jester with jester5k.tsv.gz; without it, data is made")
    arguments.add_argument("--only", metavar="NAME,...", help="the programs to run")
    arguments.add_argument("--quick", action="store_true", help="small sizes, to see that all programs work: into build/results_quick, RESULTS.md too")
    arguments.add_argument("--from", dest="source", metavar="DIR", type=Path, help="the folder of what was measured (bench/results); without --only, nothing is run")
    arguments.add_argument("-o", dest="page", metavar="FILE", type=Path, help="the page (bench/RESULTS.md); its pictures go into the folder results beside it")
    options = arguments.parse_args()
    chosen = chosen_programs(options.only)
    if options.source and not options.source.is_dir():
        raise SystemExit(f"results.py: {options.source} is no folder")
    scratch = (options.source or ROOT / "build" / ("results_quick" if options.quick else "results")).resolve()
    page = options.page or (scratch if options.quick else ROOT / "bench") / "RESULTS.md"
    folder = (options.source or page.parent / "results").resolve()

    if options.only or not options.source:
        scratch.mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        setup = {"commit": machine.commit(ROOT), "setup": machine.setup(scratch, options.build)}
        for number, program in enumerate(chosen, 1):
            print(f"{number}/{len(chosen)} {program.name} ...", flush=True)
            run = measure(program, options, scratch, folder, setup)
            print(f"    {run.failure or 'done'}, {run.seconds:.0f} s", flush=True)
    runs = {program: run_of(program, folder) for program in programs.PROGRAMS}
    drawn = {program: pictures.write(program, run.numbers, scratch, page.parent / "results") for program, run in runs.items() if run and not run.failure}
    page.write_text(document.page(runs, drawn), encoding="utf-8")
    failed = [f"{program.name} {run.failure}" for program, run in runs.items() if run and run.failure]
    for line in failed:
        print(f"results.py: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
