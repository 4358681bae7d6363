#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of `report` for runs of all kinds of numbers, and in a browser. Usage: report.py CAIRN GOLDEN"""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from golden_runs import make_run

program, golden = (os.path.realpath(each) for each in sys.argv[1:3])
failures = []


def run(*words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=60)


class page_reader(html.parser.HTMLParser):
    """Counts plots, and notes what a page must not have: numbers that are none, and addresses of other files."""

    void = {"meta", "link", "circle", "path", "polyline"}

    def __init__(self, text):
        super().__init__()
        self.plots, self.circles, self.problems, self.open, self.gaps = 0, 0, [], [], 0
        self.feed(text)
        if self.open:
            self.problems.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        self.plots += tag == "svg"
        self.circles += tag == "circle"
        for name, value in attributes:
            self.gaps += (name, value) == ("class", "gap")
            if name in ("d", "points", "cx", "cy", "x", "y") and re.search("nan|inf", value, re.I):
                self.problems.append(f"<{tag} {name}={value}>")
            if name in ("cx", "cy", "x", "y") and not -1 <= float(value) <= 700:
                self.problems.append(f"outside: <{tag} {name}={value}>")
            if name in ("href", "src") and not value.startswith("data:"):
                self.problems.append(f"<{tag} {name}={value}>")
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.void:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}>")


def check(name, condition, about=""):
    if not condition:
        failures.append(f"{name}: {about}")


def notes(number):
    return json.dumps(
        {"iterations": [10 * number, 0.1 + number / 100], "raw.stall": [number, 0.01 * number], "whole.stall": [number, 0.02],
         "raw.background": [1, 0.5], "failures": [number // 2, 100.0 * number], "interval": [3 + number]}
    )


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    events = [
        '{"event":"started","time":1.0,"step":%d,"checkpoint":"/near/step-000000001","total":5}\n{"event":"copied","time":1.1,"step":%d,"seconds":0.1}\n'
        '{"event":"published","time":2.5,"step":%d,"bytes":1000,"seconds":1.5}\n' % (step, step, step)
        for step in (1, 2, 3)
    ] + [json.dumps({"event": name, "step": step, "checkpoint": f"s3://bucket/<far>/step-00000000{step}", **more}) + "\n" for name, step, more in (
        ("promoted", 1, {"bytes": 1 << 20, "seconds": 2.5}), ("lagging", 1, {}), ("failed", 2, {"message": "the network is down"}),
        ("promoted", 3, {"bytes": 2 << 20, "seconds": 1}), ("promoted", 3, {}))
    ] + ['{"event":"failed","time":3.0,"step":3,"checkpoint":"/near","message":"is not removed"}\n',
         '{"event":"failed","time":3.0,"step":4,"checkpoint":"/near/step-000000004","message":"no <space> left"}\n', "cut off\n", '{"event":"copied","step":5,"seconds":"NaN"}\n']
    pathlib.Path("events.jsonl").write_text("".join(events))

    # Losses near the ends of double, denormal, equal, and none.
    kinds = {
        "usual": ["2.5", "1.25", "0.7", "0.65"],
        "ends": ["1e308", "-1e308", "1.7976931348623157e308", "-1.7976931348623157e308"],
        "denormal": ["4.9406564584124654e-324", "1e-323", "1.5e-323", "2e-323"],
        "tiny_and_huge": ["4.9406564584124654e-324", "1e308", "0", "-0.0"],
        "equal": ["0.5", "0.5", "0.5", "0.5"],
        "zero": ["0", "0", "0", "0"],
        "neighbours": ["1", "1.0000000000000002", "1", "1.0000000000000004"],
        "gaps": ["1", '"nan"', '"inf"', "0.5"],
        "none": ['"nan"', '"nan"', '"-inf"', '"inf"'],
    }
    for name, losses in kinds.items():
        make_run(golden, name, losses, notes)
        ended = run("report", name, "-o", f"{name}.html", "--events", "events.jsonl")
        check(name, ended.returncode == 0, ended.stderr)
        text = pathlib.Path(f"{name}.html").read_text()
        page = page_reader(text)
        check(name, not page.problems, page.problems)
        check(name, "NaN" not in text and "prefers-color-scheme" in text)
        # loss, sizes, 4 of events, 5 of notes
        check(name, page.plots == 11, f"{page.plots} plots")
        check(name, "step 3: is not removed" in text and "step 4: no &lt;space&gt; left" in text)
        far = "s3://bucket/&lt;far&gt;"
        check(name, f"step 2, copy to {far}: the network is down" in text)
        check(name, f"<tr><td>{far}</td><td>3</td><td>3</td><td>3.5</td><td>1</td><td>1</td></tr>" in text, "no row of copies")
        check(name, ("no value is finite" in text) == (name == "none"))
        check(name, page.gaps == {"gaps": 3, "none": 5}.get(name, 1), f"{page.gaps} gaps")  # one in the events
    printed = run("report", "usual", "-o", "-", "--events", "events.jsonl")
    check("-o -", printed.stdout == pathlib.Path("usual.html").read_text() and not os.path.exists("-"))
    check("--json", json.loads(run("report", "usual", "-o", "json.html", "--json").stdout)["checkpoints"] == 4)
    make_run(golden, "plain", kinds["usual"])
    saved = 1795881600
    for index in pathlib.Path("plain").glob("*/index.json"):
        os.utime(index, (saved, saved))
    check("plain", run("report", "plain", "-o", "plain.html").returncode == 0)
    text = pathlib.Path("plain.html").read_text()
    page = page_reader(text)
    check("when it was saved", text.count(f"<td>{time.strftime('%Y-%m-%d %H:%M', time.localtime(saved))}</td>") == 4)
    check("plain", page.plots == 2 and not page.problems, page.problems)

    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
    if browser and not failures:
        keep = pathlib.Path(os.environ.get("CAIRN_SCREENSHOTS", folder)).resolve()
        for name in ("usual", "ends", "none"):
            for scheme in ("light", "dark"):
                # The browser runs no script of the page: this one counts what it shows.
                text = pathlib.Path(f"{name}.html").read_text()
                counting = """<script>addEventListener('load', () => { const shown = [...document.querySelectorAll('svg')].filter(each =>
                  each.getBoundingClientRect().height > 50).length; const style = getComputedStyle(document.body);
                  document.title = JSON.stringify([shown, /NaN/.test(document.body.innerText), style.backgroundColor, style.color,
                  document.documentElement.scrollWidth <= innerWidth]); });</script></body>"""
                pathlib.Path("shown.html").write_text(text.replace("</body>", counting))
                command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                           f"--user-data-dir={folder}/profile", "--enable-logging=stderr", "--window-size=900,3000",
                           *(["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else ["--blink-settings=preferredColorScheme=1"])]
                ended = subprocess.run([*command, "--dump-dom", f"file://{folder}/shown.html"], capture_output=True, text=True, timeout=120)
                found = re.search(r"<title>(\[.*?\])</title>", ended.stdout)
                check(f"{name}, {scheme}", found, f"the browser shows nothing: {ended.stderr[-2000:]}")
                if not found:
                    continue
                shown, has_nan, background, colour, fits = json.loads(found.group(1))
                check(f"{name}, {scheme}", shown == 11 and not has_nan and fits, found.group(1))
                is_dark = sum(map(int, re.findall(r"\d+", background)[:3])) < 200
                check(f"{name}, {scheme}", is_dark == (scheme == "dark"), f"{background}, {colour}")
                problems = [line for line in ended.stderr.splitlines() if "CONSOLE" in line]
                check(f"{name}, {scheme}", not problems, problems)
                if "CAIRN_SCREENSHOTS" in os.environ:
                    subprocess.run([*command, f"--screenshot={keep}/{name}-{scheme}.png", f"file://{folder}/{name}.html"], capture_output=True, timeout=120)

for each in failures:
    print("FAILED:", each)
print(f"{len(kinds) + 1} pages of a report, {len(failures)} failed" + ("" if browser else "; no chromium: not looked at in a browser"))
sys.exit(1 if failures else 0 if browser else 77)
