# SPDX-License-Identifier: MIT
"""The page of bench/page.py, drawn from numbers that this test writes. Usage: page.py <bench folder> <scratch folder>"""

import html.parser
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

BENCH, SCRATCH = Path(sys.argv[1]), Path(sys.argv[2])


class Page(html.parser.HTMLParser):
    """The tables as rows of cells, each (text, class); all text; attributes that load something; ids."""

    VOID = {"meta"}

    def __init__(self, text):
        super().__init__()
        self.rows, self.text, self.loaded, self.ids, self.open = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.loaded += [attributes[name] for name in ("src", "href", "xlink:href") if name in attributes]
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append(["", attributes.get("class", "")])

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        self.text.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1][0] += data


def draw(*options):
    done = subprocess.run([sys.executable, str(BENCH / "page.py"), "-o", str(SCRATCH / "page.html"), *options], capture_output=True, text=True, check=False)
    return done, (SCRATCH / "page.html").read_text(encoding="utf-8") if (SCRATCH / "page.html").exists() else ""


def verdict_of(value, bound, is_upper):
    if value is None or value != value:
        return "not measured"
    return "met" if (value <= bound if is_upper else value >= bound) else "missed"


def made_numbers(rng):
    """Random figures, with and without a value, and one with NaN; (numbers, {figure: its verdict})."""
    numbers, verdicts = {}, {}
    for index in range(40):
        name, bound, is_upper = f"figure.{index}<&", rng.choice([0.05, 1, 20, 300]), rng.random() < 0.5
        value = rng.choice([None, bound, bound * rng.uniform(0.2, 5), -1.5, float("nan"), 0])
        if value is not None:
            numbers[name] = value
        numbers[f"bound.{'at_most' if is_upper else 'at_least'}.{name}"] = bound
        verdicts[name] = verdict_of(value, bound, is_upper)
    return numbers, verdicts


def check_figures():
    for seed in range(3):
        numbers, verdicts = made_numbers(random.Random(seed))
        runs = SCRATCH / "runs"
        shutil.rmtree(runs, ignore_errors=True)
        runs.mkdir()
        (runs / "save_load.json").write_text(json.dumps({**numbers, "gbps.save.cairn": 2.5, "gbps.save.cereal": 1.25}))
        facts = {"machine": [["CPU", "an <odd> CPU"]], "versions": [["commit", "abc1234"]], "programs": {"save_load": {"failure": "", "quick": False}}}
        (runs / "runs.json").write_text(json.dumps(facts))
        done, text = draw("--from", str(runs), "--only", "save_load")
        assert done.returncode == 0, done.stderr
        page = Page(text)
        cells = {row[0][0]: row for row in page.rows if len(row) == 4}
        for name, verdict in verdicts.items():
            assert cells[name][3] == [verdict, verdict.replace(" ", "-")], (name, verdict, cells[name])
        summary = {row[1][0] for row in page.rows if len(row) == 5 and row[0][0] == "save_load"}
        assert summary == {name for name, verdict in verdicts.items() if verdict == "missed"}, summary
        words = "".join(page.text)
        assert "an <odd> CPU" in words and "abc1234" in words
        assert not re.search(r"\bnan\b", text, re.IGNORECASE)
        drawn = text[text.index("<svg"):text.index("</svg>")]
        for label in ("Cairn", "cereal", "2.50", "1.25", "libtorch"):
            assert f">{label}</text>" in drawn, label
        assert drawn.count(">not measured</text>") == 6, drawn.count(">not measured</text>")  # the other methods of the one panel
        assert all(target.startswith("#") for target in page.loaded), page.loaded
        assert "@import" not in text and not re.search(r"url\((?!#)", text)
        assert len(page.ids) == len(set(page.ids))
        assert all(target[1:] in page.ids for target in page.loaded + re.findall(r"url\((#[^)]*)\)", text))


def check_colours():
    """Light and dark set the same variables, to different values, and the page and its plots use no others."""
    _, text = draw("--from", str(SCRATCH / "runs"), "--only", "save_load", "--figures", str(SCRATCH / "pictures"))
    light, dark = re.search(r":root{(.*?)}@media \(prefers-color-scheme: dark\){:root{(.*?)}}", text).groups()
    light, dark = (dict(re.findall(r"--(\w+):(#\w+)", colours)) for colours in (light, dark))
    assert light.keys() == dark.keys() and all(light[name] != dark[name] for name in light)
    assert set(re.findall(r"var\(--(\w+)\)", text)) <= light.keys()
    assert {"own", "peer", "ink", "missed"} <= set(re.findall(r"var\(--(\w+)\)", text[text.index("<svg"):]))
    rest = text[text.index("</style>"):]
    assert not re.findall(r"(?:fill|stroke|color): ?#\w+", rest), re.findall(r"(?:fill|stroke|color): ?#\w+", rest)
    picture = (SCRATCH / "pictures" / "bench_save_load.svg").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in picture and ">Cairn</text>" in picture


def check_missing():
    """What is missing or unreadable is named, the rest is drawn, and the status is 1."""
    runs = SCRATCH / "runs"
    damaged = ("{", '["1"]', '{"a": 1' + "0" * 400 + "}", "[" * 100000)
    for content, reason in (*((each, "cannot be read") for each in damaged), (None, "is missing")):
        (runs / "stall.json").unlink(missing_ok=True)
        if content is not None:
            (runs / "stall.json").write_text(content)
        done, text = draw("--from", str(runs), "--only", "stall,save_load")
        words = "".join(Page(text).text)
        assert done.returncode == 1 and reason in done.stderr, done
        assert reason in words and "figure.0<&" in words
    done, _ = draw("--from", str(runs), "--only", "save_lod")
    assert done.returncode == 1 and "save_lod" in done.stderr and "save_load" in done.stderr


def check_runs():
    """Programs that fail, are not there or write nothing do not keep others from being run, and their output is kept."""
    programs = SCRATCH / "build" / "bench"
    programs.mkdir(parents=True)
    scripts = {
        "partition": 'echo drawn; while [ $# -gt 1 ]; do shift; done; echo \'{"a": 1, "bound.at_most.a": 2}\' > "$1"',
        "simulate": "echo said before it failed; exit 3",
        "torch_trainer": "exit 0",
    }
    for name, script in scripts.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    logs = SCRATCH / "page_runs"
    logs.mkdir()
    for file in ("torch_trainer.json", "partition-old.json"):
        (logs / file).write_text('{"of_an_earlier_run": 1, "bound.at_most.of_an_earlier_run": 2}')
    done, text = draw("--build", str(programs.parent), "--only", "simulate,stall,torch_trainer,partition", "--quick")
    words = "".join(Page(text).text)
    assert done.returncode == 1
    for line in ("simulate ended with status 3", "stall cannot be run", "torch_trainer wrote no numbers"):
        assert line in words and line in done.stderr, line
    assert "partition" not in done.stderr and "A quick run" in words
    assert "of_an_earlier_run" not in words
    assert (logs / "simulate.log").read_text() == "said before it failed\n" and (logs / "partition.log").read_text() == "drawn\n"
    again, text = draw("--from", str(logs), "--only", "partition")
    assert again.returncode == 0 and "kernel" in "".join(Page(text).text)


shutil.rmtree(SCRATCH, ignore_errors=True)
SCRATCH.mkdir(parents=True)
check_figures()
check_colours()
check_missing()
check_runs()
