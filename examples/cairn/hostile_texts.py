#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No text of a checkpoint, a file or an argument reaches the terminal as it is. Usage: hostile_texts.py CAIRN GOLDEN"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from golden_runs import change_index

program, golden = (os.path.realpath(each) for each in sys.argv[1:3])
failures = []

# Clears the screen, sets the title, deletes, begins a sequence of C1, turns the direction of writing.
EVIL = "e\x1b[2J\x1b]0;pwned\x07\x7f\x9b2J\u202ex\r\n"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]")
commands = 0


def run(*words, shows=True):
    """On no terminal, whose colours would be found, too. `shows`: the text is in the output, escaped."""
    global commands
    commands += 1
    ended = subprocess.run([program, *words], capture_output=True, timeout=60)
    text = (ended.stdout + ended.stderr).decode("utf-8", "strict")
    name = "cairn " + " ".join(map(ascii, words))
    if found := OBEYED.search(text):
        failures.append(f"{name}: {ascii(text[max(0, found.start() - 60):found.end() + 20])}")
    if shows and "pwned" not in text:
        failures.append(f"{name}: does not show it: {ascii(text[:300])}")
    if ended.returncode not in (0, 1, 2) or b"terminate" in ended.stderr:
        failures.append(f"{name}: {ended.returncode} {ended.stderr}")
    return ended


def evil_index(text):
    """Each text of an index that its writer can choose: names of metrics, notes, texts, codecs, parents and the structure."""
    evil = json.dumps(EVIL)[1:-1]
    text = text.replace('"metrics":{}', f'"metrics":{{"{evil}":1}},"user":{{"{evil}":"{evil}"}},"notes":{{"{evil}":[1,2],"interval":[1]}}', 1)
    text = re.sub(r'"codec":"[^"]*"', lambda _: f'"codec":"{evil}"', text)
    text = re.sub(r'"parent":{"name":"[^"]*"', lambda _: f'"parent":{{"name":"{evil}"', text)
    return text.replace('"structure":{}', f'"structure":{{"{evil}":{{"type":"{evil}"}},"b":{{"keys":["{evil}"]}}}}', 1)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run_of_evil = "run" + EVIL.strip()
    shutil.copytree(os.path.join(golden, "chain-4"), run_of_evil)
    for index in pathlib.Path(run_of_evil).glob("*/index.json"):
        change_index(index, evil_index)
    whole = os.path.join(run_of_evil, "step-000000001")
    shutil.copytree(whole, os.path.join(run_of_evil, EVIL))  # the name of a checkpoint
    newest = os.path.join(run_of_evil, "step-000000004")
    shutil.copytree(whole, os.path.join("damaged", EVIL))
    index = pathlib.Path("damaged", EVIL, "index.json")
    index.write_text(index.read_text()[:-10])
    pathlib.Path("events" + EVIL).write_text("\n".join(json.dumps({"event": what, "time": 1, "step": 1, "message": EVIL, "checkpoint": EVIL}) for what in ("failed", "published")))

    # A file of another program: the names of its arrays.
    header = json.dumps({"__metadata__": {EVIL: EVIL}, EVIL: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    file = f"file{EVIL}.safetensors"
    pathlib.Path(file).write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    other = json.dumps({EVIL: {"dtype": "F64", "shape": [], "data_offsets": [0, 8]}, EVIL + "2": {"dtype": EVIL, "shape": [], "data_offsets": [8, 16]}}).encode()
    pathlib.Path("bad.safetensors").write_bytes(len(other).to_bytes(8, "little") + other + bytes(16))

    for flags in ([], ["--json"]):
        for place in (run_of_evil, newest, whole, os.path.join(run_of_evil, EVIL), file, "bad.safetensors", "damaged", EVIL):
            for words in (["ls", place], ["show", place], ["verify", place], ["verify", place, "--all"], ["diff", place, file],
                          ["diff", place, newest], ["plan", place, "--ranks", "2"], ["merge", place], ["export", place, "out" + EVIL],
                          ["prune", place, "--keep-last", "1"], ["prune", place, "--keep-best", "1", "--metric", EVIL],
                          ["ls", place, "--keep-best", "1", "--metric", EVIL], ["export", place, "out", "--filter", EVIL],
                          ["report", place, "-o", "page" + EVIL], ["report", place, "-o", "page" + EVIL, "--events", "events" + EVIL],
                          ["report", place, "-o", EVIL, "--events", EVIL], [EVIL], ["ls", place, "--" + EVIL], ["ls", place, EVIL],
                          ["ls", place, "--keep-last", EVIL]):
                run(*words, *flags, shows=False)
            if not flags:
                run("report", place, "-o", "-", "--events", "events" + EVIL, shows=False)
        run("show", whole, *flags)
        run("ls", run_of_evil, *flags)
        run("ls", "damaged", *flags)
        run("report", run_of_evil, "-o", "-", "--events", "events" + EVIL)
        run("diff", file, whole, *flags)
        for each in (file, "bad.safetensors"):
            run("import", each, "made" + EVIL + str(len(flags)) + each[0], *flags, shows=False)
    run("prune", run_of_evil, "--keep-every", "3", shows=False)
    run("prune", run_of_evil, "--keep-every", "3", "--yes", shows=False)

for each in dict.fromkeys(failures):
    print("FAILED:", each)
print(f"{commands} calls with hostile texts, {len(failures)} failed")
sys.exit(bool(failures))
