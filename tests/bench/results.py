# SPDX-License-Identifier: MIT
"""bench/results.py, with programs that this test writes. Usage: results.py <bench folder> <scratch folder>"""

import json
import random
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

BENCH, SCRATCH = Path(sys.argv[1]), Path(sys.argv[2])
PROGRAMS, RUNS, PAGE = SCRATCH / "build" / "bench", SCRATCH / "runs", SCRATCH / "RESULTS.md"
NAMES = "save_load stall codecs schedule partition simulate mpi_save levels torch_trainer study rework many_leaves compile_time program load".split()


def write_program(name, numbers=None, printed="", then=""):
    """A program that prints, writes the numbers (or text) into its last argument, and ends with the commands `then`."""
    text = numbers if isinstance(numbers, str) else json.dumps(numbers)
    (SCRATCH / f"{name}.numbers").write_text(text)
    (SCRATCH / f"{name}.printed").write_text(printed)
    write = f'for file; do :; done; cat "{SCRATCH}/{name}.numbers" > "$file"\n' if numbers is not None else ""
    (PROGRAMS / name).write_text(f'#!/bin/sh\necho "$@" > "{SCRATCH}/{name}.words"\ncat "{SCRATCH}/{name}.printed"\n{write}{then}\n')
    (PROGRAMS / name).chmod(0o755)


def write_page(*options):
    """Runs results.py; (what it did, the page, {heading: its section})."""
    done = subprocess.run([sys.executable, str(BENCH / "results.py"), "--build", str(PROGRAMS.parent), "--from", str(RUNS), "-o", str(PAGE), *options],
                          capture_output=True, text=True, check=False)
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return done, text, dict(part.split("\n", 1) for part in text.split("\n## ")[1:])


def rows_of(text):
    """The cells of the rows of tables, without their heads."""
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("| ") and "---" not in line]


def check_figures():
    """Each figure of random ones is met, missed or not measured, as its bound says."""
    rng = random.Random(1)
    numbers, verdicts = {}, {}
    for index in range(60):
        name, bound, is_upper = f"figure.{index}", rng.choice([0.05, 1, 20, 300]), rng.random() < 0.5
        value = rng.choice([None, bound, bound * rng.uniform(0.2, 5), -1.5, float("nan"), 0])
        if value is not None:
            numbers[name] = value
        numbers[f"bound.{'at_most' if is_upper else 'at_least'}.{name}"] = bound
        is_measured = value is not None and value == value
        verdicts[name] = "not measured" if not is_measured else "met" if (value <= bound if is_upper else value >= bound) else "**missed**"
    write_program("stall", numbers)
    done, text, sections = write_page("--only", "stall")
    assert done.returncode == 0, done.stderr
    found = {row[1].strip("`"): row for row in rows_of(sections["Figures"])[1:]}
    assert {name: row[4] for name, row in found.items()} == verdicts
    assert all(row[0] == "[stall](#stall)" for row in found.values())
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)
    met, missed, unknown = (list(verdicts.values()).count(each) for each in ("met", "**missed**", "not measured"))
    assert min(met, missed, unknown) > 0
    assert f"Of 60 figures: {met} met, {missed} **missed**, {unknown} not measured." in text

    write_program("stall", {"a": 0.8501, "bound.at_least.a": 0.85, "b": 1101.8, "bound.at_most.b": 900})
    _, _, sections = write_page("--only", "stall")
    assert [row[2:] for row in rows_of(sections["Figures"])[1:]] == [["at least 0.85", "0.8501", "met"], ["at most 900", "1,102", "**missed**"]]


def check_section():
    """A section has what was measured when and where, the pictures, and the printed text without figures and what is left out."""
    table = "method  GB/s\n------------\ncairn   5.24\n\n"
    figures = "figure   value     bound           met\n-----------------------------------\na.b      1.516  >= 1.60            NO\nc            -   <= 0.10  not measured\n\n"
    write_program("codecs", {"a.b": 1.516, "bound.at_least.a.b": 1.6}, printed=f"fp32 weights, 24 MB\n\n{table}fp32 weights XOR those before, 24 MB\n\n{table}{figures}",
                  then="echo progress >&2; echo '<svg/>' > codecs.svg")
    write_program("save_load", {"gbps.save.cairn": 2.5, "gbps.save.cereal": -1.25})
    done, text, sections = write_page("--only", "codecs,save_load")
    assert done.returncode == 0, done.stderr
    assert re.search(r"\nMeasured \d{4}-\d\d-\d\d \d\d:\d\d UTC on commit \S+(, with changes)?, in 0 s; load average before: [\d.]+\.\n", sections["codecs"])
    assert sections["codecs"].split("```")[1] == f"text\nfp32 weights XOR those before, 24 MB\n\n{table.strip()}\n"
    assert (RUNS / "codecs.log").read_text() == "progress\n"
    assert "kernel" in [row[0] for row in rows_of(sections["Machine and versions"])]
    assert sorted(file.name for file in (SCRATCH / "results").iterdir()) == ["codecs.svg", "save_load.svg"]
    assert "![codecs](results/codecs.svg)" in sections["codecs"] and "![save_load](results/save_load.svg)" in sections["save_load"]
    words = [element.text for element in xml.etree.ElementTree.parse(SCRATCH / "results" / "save_load.svg").iter() if element.text]
    assert words.count("not measured") == 6 and {"Cairn", "cereal", "2.5", "-1.25", "libtorch"} <= set(words), words
    assert list(sections) == ["Machine and versions", "Figures", *NAMES] and "Not run." in sections["partition"] and "`partition`" in sections["Figures"]


def check_failures():
    """A program that is missing or fails, or whose numbers cannot be read, is named, and others are run all the same."""
    write_program("simulate", {"a": 1, "bound.at_most.a": 2}, then="echo said before it failed >&2; exit 3")
    write_program("torch_trainer")
    write_program("partition", {"of_partition": 1, "bound.at_most.of_partition": 2})
    damaged = {"program": "{", "study": '["1"]', "rework": '{"a": 1' + "0" * 400 + "}", "many_leaves": "[" * 100000, "compile_time": '{"a": true}'}
    for name, text in damaged.items():
        write_program(name, text)
    (PROGRAMS / "schedule").write_text("no program")
    done, text, sections = write_page("--only", ",".join(["simulate", "torch_trainer", "load", "mpi_save", "schedule", *damaged, "stall", "partition"]), "--quick")
    assert done.returncode == 1
    reasons = {"simulate": "ended with status 3", "torch_trainer": "wrote no numbers", "schedule": "cannot be run: ", **dict.fromkeys(damaged, "wrote numbers that cannot be read: ")}
    for name, reason in reasons.items():
        assert f"{name} {reason}" in done.stderr and f"**Failed**: {reason}" in sections[name] and f"`{name}` {reason}" in sections["Figures"], (name, done.stderr)
    assert "**Failed**" in sections["load"] and "**Failed**" in sections["mpi_save"]  # python3 and mpiexec have no program to run
    assert (RUNS / "simulate.log").read_text() == "said before it failed\n"
    figures = [row[1] for row in rows_of(sections["Figures"])[1:]]
    assert "`of_partition`" in figures and "`a.b`" in figures and figures.count("`a`") == 1  # of stall: a program that failed has none
    assert "Small sizes" in sections["partition"] and "Small sizes" not in sections["codecs"]
    assert "--leaves" in (SCRATCH / "partition.words").read_text()

    (PROGRAMS / "partition").unlink()
    done, _, sections = write_page("--only", "partition")
    assert done.returncode == 1 and "partition is missing" in done.stderr and "**Failed**: is missing." in sections["partition"]


def check_kept():
    """Programs that are not run again keep what they measured; parts of other commits and machines can be told apart."""
    shutil.rmtree(RUNS)
    RUNS.mkdir()
    write_program("partition", {"a": 1, "bound.at_most.a": 2})
    write_page("--only", "stall,partition")
    first = PAGE.read_text()
    done, again, sections = write_page()
    assert done.returncode == 0 and again == first and "setup" not in again
    old = json.loads((RUNS / "stall.json").read_text())
    (RUNS / "stall.json").write_text(json.dumps({**old, "commit": "abc1234", "when": "2001-02-03 04:05 UTC", "setup": {**old["setup"], "CPU": "another | CPU"}}))
    write_program("partition", {"a": 3, "bound.at_most.a": 2})
    done, text, sections = write_page("--only", "partition")
    assert done.returncode == 0 and "2001-02-03 04:05 UTC on commit abc1234, setup 1" in sections["stall"], text
    assert "abc1234" not in sections["partition"] and ", setup 2," in sections["partition"]
    assert ["[partition](#partition)", "`a`", "at most 2", "3", "**missed**"] in rows_of(sections["Figures"])
    assert len([row for row in rows_of(sections["Figures"]) if row[0] == "[stall](#stall)"]) == 2
    assert rows_of(sections["Machine and versions"])[1][1] == "another \\| CPU"

    for damaged in ("{", "[]", '{"unknown": 1}', "[" * 100000):
        (RUNS / "stall.json").write_text(damaged)
        done, text, sections = write_page()
        assert done.returncode == 1 and "stall has a file that cannot be read" in done.stderr and "**Failed**" in sections["stall"], done.stderr
        assert "`a`" in sections["Figures"]

    done, _, _ = write_page("--only", "save_lod")
    assert done.returncode == 1 and "save_lod" in done.stderr and "save_load" in done.stderr
    shutil.rmtree(RUNS)
    done, _, _ = write_page()
    assert done.returncode == 1 and "is no folder" in done.stderr


shutil.rmtree(SCRATCH, ignore_errors=True)
PROGRAMS.mkdir(parents=True)
RUNS.mkdir()
check_figures()
check_section()
check_failures()
check_kept()
